"""An online machine at the rehearsal services: its commands in this process, and a key in the place of the Ledger."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

from airlock_online.cli.comparing import COMPARED
from airlock_online.cli.main import program
from airlock_online.home import OnlineHome
from airlock_online.journal.journal import Journal, open_journal
from airlock_online.journal.schema import Submission
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import DEFAULT_TRADER
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.ceremony.sections import BY_WORDS
from airlock_shared.cli.ceremony import by_screens as typed_words
from airlock_shared.documents.requests import (
    Answer,
    Request,
    SignaturesHeader,
    parse_requests,
    parse_signatures,
    write_signatures,
)
from airlock_shared.ethereum.signatures import signing_hash
from airlock_shared.host.files import read_input
from commands import FinishedCommand, asked_words, other_screen, run_here
from online.delivering_machine import TRADER_KEY
from plans import plan_head

OPEN = """\
action = "open"
[steps.fields]
trader = "TRADER"
pair = "SOL/USD"
side = "long"
collateralUsdc = "100"
leverage = "5"
orderType = "market"
openPrice = { at_least = "1", at_most = "100000" }
"""
CLOSE = """\
action = "close"
[steps.fields]
trader = "TRADER"
pair = "ETH/USD"
tradeIndex = 0
collateralToCloseUsdc = "500"
expectedPrice = { at_least = "1", at_most = "100000" }
"""
CODE = """\
action = "referral-set-code"
fields = { referee = "TRADER", code = "DESK" }
"""
TWAP = """\
action = "twap-cancel"
fields = { trader = "TRADER", twapId = 41 }
"""
TRIGGER = """\
action = "tpsl-partial"
[steps.fields]
trader = "TRADER"
pair = "ETH/USD"
tradeIndex = 0
kind = "take_profit"
side = "short"
coinExposure = "0.1"
price = "3000"
"""
APPROVAL = """\
action = "token-approve"
fields = { trader = "TRADER", spender = "STORAGE", amountUsdc = "250" }
"""


class OnlineCommand:
    """A machine that has fetched the rehearsal's deployment."""

    def __init__(self, folder: Path, services: RehearsalServices) -> None:
        self.folder, self.services = folder, services
        self.home = folder / "home"
        names = {"batched-market": "batched", "relayer": "relayer", "twap": "twap", "core-api": "core"}
        others = [word for option, name in names.items() for word in (f"--{option}", services.urls[name])]
        words = ("deployment", "fetch", "--name", "rehearsal", "--builder", services.builder_url, *others)
        assert self(*words, "-o", folder / "deployment.json").code == 0
        (self.home / "config.toml").write_text(f'[rpc]\nurl = "{services.rpc_url}"\n')

    def __call__(self, *words: object, **streams: Any) -> FinishedCommand:
        """Run a command; ``streams`` as ``run_here`` takes them."""
        screen = other_screen(words)

        def ask(question: str, _opens: object, *, piped: bool) -> str:
            assert piped
            return asked_words(question, screen)

        with patch.object(typed_words, "ask_opening", ask) if screen else nullcontext():
            return run_here(program, "--home", self.home, *words, **streams)

    def signatures(self, name: str = "signatures.json", *, deadline: str = "30m", **steps: str) -> Path:
        """Prepare the steps of a plan, which end so soon, sign each, and return the signatures document."""
        plan, requests, output = (self.folder / f"{name}.{end}" for end in ("plan.toml", "requests.json", "json"))
        limits = {"deadline_at_most": deadline, "slippage_percent_at_most": "1", "max_fee_gwei_at_most": "50"}
        text = plan_head("desk", roles='["signer"]', signer=DEFAULT_TRADER, **limits)
        plan.write_text(text + "".join(self._step(step, fields) for step, fields in steps.items()))
        ended = self("prepare", plan, "-o", requests)
        assert ended.code == 0, ended.err
        header, items, fingerprint = parse_requests(requests.read_bytes())
        signed = [sign(item) for item in items]
        head = SignaturesHeader(header.ceremony, fingerprint, header.rehearsal, "00" * 32, header.created_ms)
        output.write_bytes(write_signatures(head, signed))
        return output

    def submit(self, signatures: Path, *faults: str, patience: int = 0) -> FinishedCommand:
        """Submit while the services have these faults."""
        self.services.faults = Faults.of(*faults)
        ended = self("submit", signatures, "--patience", patience)
        self.services.faults = Faults()
        return ended

    def _step(self, step: str, fields: str) -> str:
        told = fields.replace("TRADER", DEFAULT_TRADER).replace("STORAGE", self.storage)
        return f'[[steps]]\nid = "{step}"\nsigner = "treasury"\n{told}\n'

    @property
    def storage(self) -> str:
        document = json.loads((self.folder / "deployment.json").read_text())
        return str(document["contracts"]["tradingStorage"])

    def journal(self) -> Journal:
        return open_journal(str(self.home / "journal.sqlite3"), lambda: 0)

    @property
    def submission(self) -> Submission:
        """What the journal has of the one order."""
        with self.journal() as journal:
            [known] = journal.submissions()
        return known

    def states(self) -> dict[str, str]:
        """Return the state of each step."""
        with self.journal() as journal:
            return {known.record.step: known.state.value for known in journal.submissions()}


def sign(item: Request) -> Answer:
    if item.transaction is not None:
        digest = signing_hash(item.payload, item.transaction)
    else:
        digest = bytes.fromhex(item.payload["digest"][2:])
    signature = TRADER_KEY.sign_recoverable(digest, hasher=None)
    rsv = "0x" + signature[:64].hex() + f"{27 + signature[64]:x}"
    return Answer(item.step, "signed", "", "0x" + digest.hex(), rsv, item.signer, "fields", "1.22.0")


def note_compared(folder: Path, signatures: Path) -> None:
    """Record on the machine with this folder that somebody typed the words of a signatures document."""
    answer, _, fingerprint = parse_signatures(read_input(signatures))
    facts = {"ceremony": answer.ceremony, "signatures": fingerprint, "how": BY_WORDS, "positions": [1, 2]}
    OnlineHome(folder).transcript.record(COMPARED, facts, 1)
