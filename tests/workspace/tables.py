"""The documentation tables that come from code. Run it to write them; a test compares them with the files."""

from __future__ import annotations

import re
from pathlib import Path

from airlock_offline.ledger.models import MODELS
from airlock_online.journal.order_states import MEANINGS
from airlock_online.journal.schema import TRANSITIONS
from airlock_shared.catalogue.actions import ACTIONS
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.checks.catalogue import CHECKS
from airlock_shared.errors import AirlockError, ExitCode
from workspace import trusted_path
from workspace.review_pages import review
from workspace.service_pages import endpoints, errors
from workspace.wrong_page import when_it_goes_wrong

DOCS = Path(__file__).parents[2] / "docs"

PART = re.compile(r"<!-- ([a-z ]+): written by make docs -->\n(.*?)<!-- end -->", re.DOTALL)
_FAMILIES = {
    "DOC": "The document as a whole",
    "QR": "Documents and requests as QR codes",
    "PIN": "The pinned deployment",
    "AIRGAP": "The network guard",
    "TYPES": "The type definitions",
    "DOMAIN": "The EIP-712 domain",
    "MSG": "The message's values",
    "DIGEST": "The digest",
    "ENC": "The ABI encoding",
    "PLAN": "The plan",
    "ROLE": "The people of a ceremony",
    "SIGNER": "The signer",
    "TIME": "Times",
    "NONCE": "Nonces",
    "TEXT": "Texts",
    "TX": "Transactions",
    "ORDER": "Route and order type",
    "SIG": "Signatures",
    "PROOF": "A delegate key's proof",
    "KIT": "The kit, and what was installed from it",
    "REPORT": "The report of a ceremony",
}
_RULES = {
    "plan": "the plan",
    "plan-or-zero": "the plan, else zero",
    "zero": "always zero",
    "builder": "the plan, else the builder",
}


def checks() -> str:
    """Return ``docs/checks.md``."""
    lines = [
        "# The checks",
        "",
        "Every check has one id, the same in the code, in messages, in JSON, in the transcript, here and in the tests.",
        "Both halves run all of them; only the offline verdict counts, and there is no way to skip one. This page is",
        "written from `airlock_shared.checks.catalogue` by `make docs`.",
    ]
    if unknown := {check.partition("-")[0] for check in CHECKS} - set(_FAMILIES):
        raise ValueError(f"no title for the families {sorted(unknown)}")
    for family, title in _FAMILIES.items():
        lines += ["", f"## {family}: {title.lower()}"]
        for check, info in CHECKS.items():
            if check.split("-")[0] == family:
                lines += ["", f"### {check}", "", f"Refuses: {info.refusal}.", "", f"Protects from: {info.protects}"]
                lines += ["", f"What to do: {info.do}"]
    return "\n".join(lines) + "\n"


def intents() -> str:
    """Return ``docs/intents.md``."""
    lines = [
        "# The catalogue of intents",
        "",
        "What Airlock knows how to show, check and sign. Anything else is refused (`TYPES-KNOWN`). This page is written",
        "from `airlock_shared.catalogue.intents` and `airlock_shared.catalogue.actions` by `make docs`.",
    ]
    for intent in CATALOGUE.values():
        action = next(a for a in ACTIONS.values() if a.primary_type == intent.name)
        lines += ["", f"## {intent.name}", "", f"{intent.title}. Action `{action.name}`, "]
        lines[-1] += f"endpoint `{action.path}`." if action.path else "no documented endpoint."
        lines += [
            "",
            "```",
            intent.encode_type,
            "```",
            "",
            f"- domain: {intent.domain}; signed by: {intent.signer_rule}",
        ]
        lines += [f"- goes to: {intent.route}"]
        if intent.order_types:
            ordinary, pnl = intent.order_types
            lines += [
                f"- batched order type: {ordinary} on an ordinary pair, {pnl if pnl >= 0 else 'none'} on a PnL pair"
            ]
        if intent.abi_order:
            lines += [f"- encoded in another order than hashed: {', '.join(intent.abi_order)}"]
        lines += ["", "| field | unit | decided by | meaning |", "|---|---|---|---|"]
        for field in intent.fields:
            parameter = f" (`{field.rule.parameter}`)" if field.rule.parameter else ""
            lines += [
                f"| `{field.path}` | {field.unit.name} | {_RULES[field.rule.kind]}{parameter} | {field.meaning} |"
            ]
    return "\n".join(lines) + "\n"


def exit_codes() -> str:
    """Return ``docs/exit-codes.md``."""
    lines = [
        "# Exit codes",
        "",
        "Nothing ever exits 0 without having done what was asked. This page is written from `airlock_shared.errors` by",
        "`make docs`.",
        "",
        "| code | name | when |",
        "|---|---|---|",
        "| 0 | done | what was asked was done |",
    ]
    kinds = {kind.exit_code: kind for kind in reversed(AirlockError.__subclasses__() + _below(AirlockError))}
    for code in ExitCode:
        if code in kinds and code is not ExitCode.DONE:
            said = (kinds[code].__doc__ or "").split("\n")[0]
            lines += [f"| {int(code)} | {code.name.lower().replace('_', ' ')} | {said} |"]
    return (
        "\n".join([*lines, "| 130 | interrupted | Ctrl-C; what was done is recorded, the same command goes on |"])
        + "\n"
    )


def _below(kind: type[AirlockError]) -> list[type[AirlockError]]:
    shared = [sub for sub in kind.__subclasses__() if sub.__module__ == "airlock_shared.errors"]
    return [sub for child in shared for sub in (child, *_below(child))]


def journal() -> str:
    """Return ``docs/journal.md``."""
    lines = [
        "# The journal's states",
        "",
        "One row a digest. A state is on the disk before what it announces is done. What was sent, and what is not known to",
        "have been refused, never leads back to SENDING. A journal of an earlier version is migrated when it is opened.",
        "This page is written from `airlock_online.journal.schema` and `order_states` by `make docs`.",
        "",
        "| state | means | may become |",
        "|---|---|---|",
    ]
    lines += [
        f"| {state} | {MEANINGS[state]} | {', '.join(sorted(following)) or 'nothing: it is final'} |"
        for state, following in TRANSITIONS.items()
    ]
    return "\n".join(lines) + "\n"


def models() -> str:
    """Return the table of models in ``docs/ledger.md``."""
    lines = ["| model | `--model` | app recorded | USB product | what `preflight` advises |", "|---|---|---|---|---|"]
    for model in MODELS.values():
        option, app = (f"`{model.name}`", model.screen.app_version) if model.screen else ("none", "none")
        lines += [f"| {model.product} | {option} | {app} | {model.usb_product:02x}xx | {model.advice} |"]
    return "\n".join(lines) + "\n"


def parts_of(page: str) -> dict[str, str]:
    """Return the generated parts of a page by name."""
    return {found[1]: found[2] for found in PART.finditer((DOCS / page).read_text())}


PARTS = {("ledger.md", "models"): models, ("auditors.md", "trusted path"): trusted_path.table}
"""Generated parts of pages that people write: the page, and the name in the part's mark."""

PAGES = {
    "errors.md": errors,
    "endpoints.md": endpoints,
    "checks.md": checks,
    "intents.md": intents,
    "exit-codes.md": exit_codes,
    "journal.md": journal,
    "review.md": review,
    "when-it-goes-wrong.md": when_it_goes_wrong,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page())
    for (name, part), write in PARTS.items():
        text = (DOCS / name).read_text()
        before = next(found for found in PART.finditer(text) if found[1] == part)
        (DOCS / name).write_text(text[: before.start(2)] + write() + text[before.end(2) :])
