"""TEXT: a code that is signed reads as it is written."""

from __future__ import annotations

from airlock_shared.catalogue.kinds import leaf
from airlock_shared.checks.case import AGREED, Case, Finding, Found, check
from airlock_shared.plan.model import Exact
from airlock_shared.units import CODE


@check(
    "TEXT-SCRIPT", AGREED,
    "a referral code that is not plain ASCII", "A code that reads like another one.",
    "Compare the code points with the code that you mean. If it is meant, give all 32 bytes in the plan.",
)  # fmt: skip
def code_is_plain(case: Case) -> Found | None:
    """A referral code is plain ASCII: another is signed only when the plan gives all its bytes, in 0x-hex."""
    coded = [field for field in case.fields if field.unit is CODE]
    raw = leaf(case.message, coded[0].path) if coded else None
    if type(raw) is not bytes:
        return None
    from airlock_shared.catalogue.referral_code import code_letters, is_plain_code

    field = coded[0]
    wanted = case.step.values.get(field.rule.parameter)
    in_hex = isinstance(wanted, Exact) and wanted.text.lower().startswith("0x")

    def got() -> str:
        return code_letters(raw) if is_plain_code(raw) else f"0x{raw.hex()}, which reads {code_letters(raw)}"

    return Finding(in_hex or is_plain_code(raw), got, "plain ASCII, or all 32 bytes in hex in the plan", field.path)


CHECKS = (code_is_plain,)
