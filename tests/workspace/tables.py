"""The documentation tables that come from code. Run it to write them; a test compares them with the files."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from airlock_offline.home import OfflineConfig
from airlock_offline.ledger.models import MODELS
from airlock_online.cli.machine import everything
from airlock_online.config import OnlineConfig
from airlock_online.journal.order_states import STATE_MEANINGS
from airlock_online.journal.schema import TRANSITIONS
from airlock_online.speech.sections import BODIES, KNOWN, PATHS, REPLIES
from airlock_online.speech.sections import MEANINGS as WORD_MEANINGS
from airlock_shared.checks.catalogue import FAMILIES
from airlock_shared.cli.explain import EXIT_CODES
from airlock_shared.errors import ExitCode
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import CATALOGUE, LEAF_KINDS
from erc7730.descriptor_world import formats, made
from mutation.run import read_mutants
from online.chain.alterations import CONTRACT_IS_STRICTER, GATE_IS_STRICTER
from workspace import trusted_path
from workspace.final_evidence import FINAL_EVIDENCE
from workspace.house import floors
from workspace.man_pages import write_files
from workspace.review_pages import review
from workspace.service_pages import MEMBERS, endpoints, errors, when_it_goes_wrong

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = DOCS / "reference/generated"

PART = re.compile(r"<!-- ([a-z ]+): written by make docs -->\n(.*?)<!-- end -->", re.DOTALL)
_FAMILIES = {name: each.title for name, each in FAMILIES.items()} | {"ROUTE": "Delivery, on the online machine alone"}
_RULES = {
    "plan": "the plan",
    "plan-or-zero": "the plan, else zero",
    "zero": "always zero",
    "builder": "the plan, else the builder",
}


def checks() -> str:
    lines = [
        "# The checks",
        "",
        "Every check has one id, the same in code, messages, JSON, transcript, documentation and tests. Both halves run",
        "all that judge a payload; only the offline verdict counts. There is no way to skip one. An exit code stands",
        f"beside a check unless it is {int(ExitCode.REFUSED)}, refused. This page is written by `make docs`.",
    ]
    known = {item.name: item for item in everything() if item.kind == "check"}
    if unknown := {check.partition("-")[0] for check in known} - set(_FAMILIES):
        raise ValueError(f"no title for the families {sorted(unknown)}")
    for family, title in _FAMILIES.items():
        lines += ["", f"## {family}: {title.lower()}"]
        for check, item in known.items():
            if check.partition("-")[0] == family:
                lines += ["", f"### {check}", "", item.meaning.replace(" Protects from: ", "\n\nProtects from: "), ""]
                code = "" if item.exit_code is ExitCode.REFUSED else f" Exit code {int(item.exit_code)}."
                lines += [f"What to do: {item.do}{code}"]
    return "\n".join(lines) + "\n"


_INTENTS = """\
# The catalogue of intents

What Airlock knows how to show, check and sign. Anything else is refused (`TYPES-KNOWN`). This page is written
from `airlock_shared.venue.structs` and `airlock_shared.venue.actions` by `make docs`.
"""


def intents() -> str:
    lines = [_INTENTS]
    for intent in CATALOGUE.values():
        action = next(a for a in ACTIONS.values() if a.primary_type == intent.name)
        endpoint = f"endpoint `{action.path}`." if action.path else "no documented endpoint."
        lines += [f"## {intent.name}", "", f"{intent.title}. Action `{action.name}`, {endpoint}"]
        lines += ["", "```", intent.encode_type, "```", ""]
        lines += [f"- domain: {intent.domain}; signed by: {intent.signer_rule}", f"- goes to: {intent.route}"]
        if intent.order_types:
            ordinary, pnl = intent.order_types
            pnl_pair = pnl if pnl >= 0 else "none"
            lines += [f"- batched order type: {ordinary} on an ordinary pair, {pnl_pair} on a PnL pair"]
        if intent.abi_order:
            lines += [f"- encoded in another order than hashed: {', '.join(intent.abi_order)}"]
        rows = []
        for field in intent.fields:
            parameter = f" (`{field.rule.parameter}`)" if field.rule.parameter else ""
            rows.append((f"`{field.path}`", field.unit.name, _RULES[field.rule.decider] + parameter, field.meaning))
        lines += ["", table("field | unit | decided by | meaning", rows)]
    return "\n".join(lines).rstrip() + "\n"


def table(heads: str, rows: Iterable[Iterable[object]]) -> str:
    """Return a table of Markdown; the heads stand between bars."""
    lines = [f"| {heads} |", "|" + "---|" * (1 + heads.count(" | "))]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, cells))} |" for cells in rows)]) + "\n"


_EXIT_CODES = """\
# Exit codes

Nothing ever exits 0 without having done what was asked. `echo $?`, right after the command, shows the code. This
page is written from `airlock_online.cli.machine` by `make docs`.

"""


def exit_codes() -> str:
    rows = [(int(code), code.name.lower().replace("_", " "), means, do) for code, (means, do) in EXIT_CODES.items()]
    return _EXIT_CODES + table("code | name | means | what to do", rows)


_JOURNAL = """\
# The journal's states

One row a digest. A state is on the disk before what it announces is done. What was sent, and what is not known to
have been refused, never leads back to SENDING. A journal of another version is refused.
This page is written from `airlock_online.journal.schema` and `order_states` by `make docs`.

"""
_EVIDENCE = """
## What proves a final state

A state is final by one of these rows or not at all; who could lie about it, and what then happens. A confirmed
block is the node's `finalized`, or one that is deep enough (`[rpc] confirmed_by`, `confirmations`). Written from
`tests/workspace/final_evidence.py`.

"""


def journal() -> str:
    states = [
        (
            state,
            STATE_MEANINGS[state],
            ", ".join(sorted(following)) or "nothing, but for what the operator's node proves against a service's word",
        )
        for state, following in TRANSITIONS.items()
    ]
    evidence = [
        (row.state, ", ".join(row.routes), row.proof, row.liar, row.then)
        for state in STATE_MEANINGS
        for row in FINAL_EVIDENCE
        if row.state is state
    ]
    heads = "state | routes | what proves it | who could lie | what then happens"
    return _JOURNAL + table("state | means | may become", states) + _EVIDENCE + table(heads, evidence)


def models() -> str:
    """Return the table of models in ``docs/reference/ledger.md``."""
    rows = []
    for model in MODELS.values():
        if model.offered:
            option = f"`{model.name}`" if model.screen else "none"
            compared = "yes" if model.screen and model.proved else "screenshots alone" if model.screen else "no"
            usb = f"{model.usb_product:02x}xx" + (f", {model.usb_legacy:04x}" if model.usb_legacy is not None else "")
            rows.append((model.product, option, compared, usb, model.advice))
    return table("model | `--model` | compared with the real app | USB product | what `preflight` advises", rows)


def parts_of(page: str) -> dict[str, str]:
    """Return the generated parts of a page by name."""
    return {found[1]: found[2] for found in PART.finditer((DOCS / page).read_text())}


def kinds() -> str:
    """Return the table of what a leaf can be, one row for what is judged alike, in ``docs/reference/venue-profile.md``."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    otherwise = {"plan": "is refused", "plan-or-zero": "it is zero", "zero": "it is zero", "builder": "the builder's"}
    for word, (unit, rule, meaning, held) in LEAF_KINDS.items():
        named = f" (the plan's `{rule.parameter}`)" if rule.parameter not in ("", word) else ""
        limit = f", within the limit {rule.limit}" if rule.limit else ""
        rows.setdefault((held, unit.name, otherwise[rule.decider] + limit), []).append(f"`{word}`{named}: {meaning}")
    cells = [(f"`{held}`", unit, silent, "<br>".join(words)) for (held, unit, silent), words in rows.items()]
    return table("Solidity type | unit | where the plan is silent | the words of a profile", cells)


def service_members() -> str:
    """Return the table of a services file's members in ``docs/reference/venue-services.md``."""
    rows = []
    for (section, name), what in MEMBERS.items():
        ships = [f"`{reply}`" for reply, members in REPLIES.items() if section == "replies" and name in members]
        within = f"{', '.join(ships)}: " if ships else ""
        rows.append((f"`[{section}{'.NAME' if within else ''}]`", f"`{name}`", within + what))
    return table("table | name | what it is", rows)


def shipped_services() -> str:
    """Return what is in force without a services file, as one: what no document has a path for, every body and reply."""
    open_paths = {name: path for name, path in PATHS.items() if name not in ACTIONS or not path}
    tables = [("paths", open_paths), *((f"bodies.{name}", body) for name, body in BODIES.items())]
    tables += [(f"replies.{name}", reply) for name, reply in REPLIES.items()]
    lines = ["```toml"]
    for header, table in tables:
        lines += [f"[{header}]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
    return "\n".join([*lines, "```"]) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml(part)}' for name, part in value.items())} }}"
    return json.dumps(value)


def meanings() -> str:
    """Return the table of what a word can mean in ``docs/reference/venue-services.md``."""
    rows = [(f"`{word}`", f"`{word}`" if word in KNOWN else "", text) for word, text in WORD_MEANINGS.items()]
    return table("meaning | known without a file | what a word of the file says by it, and what follows", rows)


_SHOWN_AS = {
    "addressName": "an address, or a local or ENS name",
    "calldata": "the call within, by the descriptor of the same contract",
    "date": "unix seconds",
    "enum": "names of the file's own table; the number where none are pinned",
    "raw": "as it is signed",
    "tokenAmount": 'of the token that is called; "{message}" at {threshold}',
    "unit": "{base}, {decimals} decimals",
}


def labels() -> str:
    """Return the table of what a wallet shows by our descriptors, in ``docs/reference/erc-7730.md``."""
    fields = [field for _, content in formats(made()) for field in content["fields"]]
    rows = {(field["format"], field["label"]): field.get("params") or {} for field in fields}
    limit = {"threshold": "2^256 - 1"}  # the only one
    cells = [
        (label, f"`{form}`", _SHOWN_AS[form].format(**shown | limit)) for (form, label), shown in sorted(rows.items())
    ]
    return table("label | format | what", cells)


def differences() -> str:
    """Return where the checks and the rehearsal's contracts judge otherwise, for ``docs/reference/chain.md``."""
    gate = table("the checks refuse, the contract accepts | why", GATE_IS_STRICTER.items())
    return gate + "\n" + table("the contract rejects, the checks let pass | why", CONTRACT_IS_STRICTER.items())


def mutants_of_claims() -> str:
    """Return how many mutants each claim has, and the tests that have to notice them, in ``docs/claims.md``."""
    tests: dict[str, list[str]] = {}
    for mutant in (mutants := read_mutants()):
        tests.setdefault(mutant.claim, []).extend(mutant.tests)
    counted = Counter(mutant.claim for mutant in mutants)
    rows = [(f"`{name}`", counted[name], " ".join(f"`{test}`" for test in sorted({*tests[name]}))) for name in tests]
    return f"{len(mutants)} mutants:\n\n" + table("claim | mutants | tests that must notice them", rows)


def attacks() -> str:
    """Return what each check protects from, and the tests of its mutant, in ``docs/threat-model.md``."""
    mutants = {mutant.id: mutant for mutant in read_mutants()}
    rows = []
    for item in everything():
        if item.kind == "check" and (mutant := mutants.get(item.name)):
            tests = " ".join(f"`{test}`" for test in mutant.tests)
            rows.append((f"`{item.name}`", item.meaning.partition(" Protects from: ")[2], f"`{mutant.claim}`", tests))
    return table("check | protects from | claim | tests", rows)


def _settings(config: OnlineConfig | OfflineConfig) -> str:
    """Return for each section of ``config.toml`` what its record in the code says, and its names with their defaults."""
    lines = []
    for section, values in config._asdict().items():
        if section != "speech":  # the services file's
            told = " ".join((type(values).__doc__ or "").split()).replace("``", "`")
            rows = [(f"`[{section}]`", f"`{name}`", f"`{_toml(value)}`") for name, value in values._asdict().items()]
            lines += [f"`[{section}]`: {told}", "", table("section | name | default", rows)]
    return "\n".join(lines)


PARTS = {
    ("reference/configuration.md", "online settings"): lambda: _settings(OnlineConfig()),
    ("reference/configuration.md", "offline settings"): lambda: _settings(OfflineConfig()),
    ("threat-model.md", "checks"): attacks,
    ("claims.md", "mutants"): mutants_of_claims,
    ("reference/chain.md", "differences"): differences,
    ("reference/erc-7730.md", "labels"): labels,
    ("reference/ledger.md", "models"): models,
    ("reference/venue-profile.md", "kinds"): kinds,
    ("reference/venue-services.md", "members"): service_members,
    ("reference/venue-services.md", "ships"): shipped_services,
    ("reference/venue-services.md", "meanings"): meanings,
    ("auditors.md", "trusted path"): trusted_path.table,
}
"""Generated parts of pages that people write: the page, and the name in the part's mark."""

PAGES = {
    "errors.md": errors,
    "endpoints.md": endpoints,
    "checks.md": checks,
    "intents.md": intents,
    "exit-codes.md": exit_codes,
    "floors.md": floors,
    "journal.md": journal,
    "review.md": review,
    "when-it-goes-wrong.md": when_it_goes_wrong,
}


if __name__ == "__main__":
    for name, page in PAGES.items():
        (GENERATED / name).write_text(page())
    for (name, part), write in PARTS.items():
        text = (DOCS / name).read_text()
        before = next(found for found in PART.finditer(text) if found[1] == part)
        (DOCS / name).write_text(text[: before.start(2)] + write() + text[before.end(2) :])
    write_files()
