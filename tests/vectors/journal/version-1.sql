-- A journal of schema version 1, as the program of that version wrote it: one accepted order with its first event.
CREATE TABLE journal_schema (
	version INTEGER NOT NULL
);
INSERT INTO "journal_schema" VALUES(1);
CREATE TABLE submissions (
	digest VARCHAR(66) NOT NULL,
	step TEXT NOT NULL,
	ceremony TEXT NOT NULL,
	primary_type TEXT NOT NULL,
	route TEXT NOT NULL,
	url TEXT NOT NULL,
	trader TEXT NOT NULL,
	signer TEXT NOT NULL,
	contract TEXT NOT NULL,
	nonce TEXT NOT NULL,
	deadline_ms BIGINT,
	body_sha256 VARCHAR(64) NOT NULL,
	state VARCHAR(16) NOT NULL,
	tracking_id TEXT NOT NULL,
	last_seq BIGINT,
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	code TEXT NOT NULL,
	note TEXT NOT NULL,
	PRIMARY KEY (digest)
);
INSERT INTO "submissions" VALUES('0xabababababababababababababababababababababababababababababababab','desk-key','2026-12-delegates','OpenTradeReq','batched-market','https://market.example','0x1111111111111111111111111111111111111111','0x2222222222222222222222222222222222222222','0x3333333333333333333333333333333333333333','115792089237316195423570985008687907853269984665640564039457584007913129639935',1790000060000,'cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd','ACCEPTED','t-1',0,1790000000000,1790000000000,'','');
CREATE INDEX ix_submissions_state ON submissions (state);
CREATE TABLE events (
	digest VARCHAR(66) NOT NULL,
	ordinal INTEGER NOT NULL,
	kind VARCHAR(8) NOT NULL,
	seq BIGINT,
	type TEXT NOT NULL,
	payload TEXT NOT NULL,
	at_ms BIGINT,
	received_ms BIGINT NOT NULL,
	PRIMARY KEY (digest, ordinal),
	UNIQUE (digest, seq),
	FOREIGN KEY(digest) REFERENCES submissions (digest)
);
INSERT INTO "events" VALUES('0xabababababababababababababababababababababababababababababababab',0,'event',0,'MarketOrderAccepted','{"trackingId":"t-1"}',NULL,1790000000000);
