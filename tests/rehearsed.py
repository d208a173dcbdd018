"""What stands on the screen of a whole rehearsal: six ceremonies ended as they should, and people saw what was signed."""

import re

CEREMONIES = {
    "delegate-key": "CONFIRMED",
    "referral-code": "CONFIRMED",
    "usdc-approval": "CONFIRMED",
    "price-trigger": "CONFIRMED",
    "twap-cancel": "CONFIRMED",
    "market-close": "FILLED",
}
CROSSINGS = 1 + 3 * len(CEREMONIES)  # the deployment, and of each ceremony the plan, the requests and the signatures


SHOWN_OF_EACH = (
    "DECIDED BY THE PLAN", "THE LEDGER WILL SHOW", "recovered           0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D",
    "outcome: ",
)  # fmt: skip
SHOWN_OF_INTENTS = ("domain hash", "struct hash", "digest", "CHOSEN BY THE BUILDER, within the plan's limits")
SHOWN_OF_THE_TRANSACTION = ("transaction hash", "approve", "2500 USDC", "Blind signing")
SHOWN_SOMEWHERE = ("100 USDC", "raw 100000000", '"TAKEN"', "2027-", "MarketOrderExecuted")


def require_all_played(screen: str, *, by_codes: bool) -> None:
    """Compare what ``rehearse --yes`` said with what must stand there."""
    assert screen.count("the requests fingerprint is EQUAL on both screens") == len(CEREMONIES)
    assert "NOT EQUAL" not in screen
    summary = screen[screen.rindex("# Summary") :]
    ends = {name: re.search(rf"{name}[\s\S]*?outcome\s+(\w+)", summary) for name in CEREMONIES}
    assert {name: found and found[1] for name, found in ends.items()} == CEREMONIES
    if by_codes:  # every document crosses by pictures of codes, of which some are lost
        assert screen.count("crosses the gap by QR codes") == CROSSINGS
        assert screen.count("the document's fingerprint is EQUAL on both screens") == CROSSINGS
        counts = re.findall(r"(\d+) frames played, (\d+) seen", screen.replace("\n", " "))
        assert sum(int(seen) for _, seen in counts) < 0.8 * sum(int(played) for played, _ in counts)
    # what people saw
    assert [shown for shown in SHOWN_OF_EACH if screen.count(shown) < len(CEREMONIES)] == []
    assert [shown for shown in SHOWN_OF_INTENTS if screen.count(shown) < len(CEREMONIES) - 1] == []
    assert [shown for shown in SHOWN_SOMEWHERE if shown not in screen] == []
    transaction = screen[screen.index("# Let the trading storage take USDC") :]
    assert [shown for shown in SHOWN_OF_THE_TRANSACTION if shown not in transaction] == []
    review = screen[screen.index("STEP 1 of 1") : screen.index("Wrote ")]
    assert [line for line in review.splitlines() if len(line) > 80] == []
