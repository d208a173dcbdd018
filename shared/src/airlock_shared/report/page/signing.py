"""The page that people sign by hand: the values that decide, the report's own fingerprint, and a line for each role."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from airlock_shared.report.page.front import Fact, names_of, state_of, step_facts, transaction_of
from airlock_shared.report.page.html import Html, bad, element, hexes, joined, listed, pairs, table, words
from airlock_shared.report.page.labels import label
from airlock_shared.report.rows import Row, headline, report_text
from airlock_shared.text.fingerprint_words import spoken

_WITHOUT_ROLES = ("signer",)
_LONGEST = 300
_DECIDERS = ("plan", "builder", "nobody")


def signing_page(report: Row) -> Html:
    """Return the page; the report's fingerprint is computed over ``report.json`` as it is written."""
    roles: Sequence[str] = report["ceremony"]["roles"] or _WITHOUT_ROLES
    names = names_of(report["people"])
    rows = [(role, names.get(role, ""), "", "") for role in roles]
    said = f"{headline(report)}. {len(report['missing'])} missing, {len(report['look'])} to look at, on the first page."
    return element(
        "section",
        element("h2", "Signed by hand"),
        element("p", "I have read this report, the values on this page, and compared these fingerprints."),
        element("p", f"This report says: {said}"),
        *_values(report),
        pairs("Fingerprints", _marks(report)),
        table("By each role", ("role", "name", "date", "signature"), rows, css="wide sign"),
        css="signatures",
    )


def _values(report: Row) -> Iterator[Html]:
    for step in report["steps"]:
        if step["in_part"]:
            facts = [*step_facts(step, report)[1:], ("values", _decided(step["request"]))]
            if outcome := step["outcome"]:
                facts.append(("outcome", state_of(outcome, good=True)))
                facts.append(("transaction", transaction_of(outcome) or "none is known"))
            yield pairs(f"{step['title']} ({step['id']})", facts)


def _decided(request: Row | None) -> object:
    """Return the values that are signed: what the plan and the builder decided, without nonces and fixed zeros."""
    if request is None:
        return bad("nothing came back")
    rows = [row for row in request["decided"] if row["by"] in _DECIDERS and row["unit"] not in ("nonce", "address")]
    rows += [row for row in request["decided"] if row["unit"] == "address" and row["value"] != request["account"]]
    return listed(map(_value, rows)) if rows else "no value beside the account"


def _value(row: Row) -> str:
    long = len(row["value"]) > _LONGEST
    value = f"{len(row['value'])} characters, which are in the evidence" if long else row["value"]
    plan = f" (plan: {row['expected']})" if row["by"] == "plan" and row["expected"] != row["value"] else ""
    return f"{label(row['field'])}: {value}{plan}" + ("" if row["ok"] else " NOT KEPT")


def _marks(report: Row) -> Iterator[Fact]:
    mark = hashlib.sha256(report_text(report)).hexdigest()
    yield "this report", joined(hexes(mark), element("p", words(spoken(mark))))
    for row in report["fingerprints"]:
        yield row["of"], hexes(row["hex"])
