"""Reports of the first and the second form are verified still, page and all.

``tests/vectors/before/report`` and ``report-2`` hold them, as they were made then (README.md of the folder above).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airlock_shared.cli.report_folder import read_folder
from airlock_shared.errors import DocumentError
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import make, verify

MADE = Path(__file__).parents[2] / "vectors/before/report"
FOLDERS = sorted(path.name for path in MADE.iterdir())
SECOND = MADE.with_name("report-2")
"""Reports of the second form, of the artefacts of the same name in ``MADE``."""


def _refused(report: bytes, html: bytes, files: dict[str, bytes]) -> tuple[str, str]:
    with pytest.raises(DocumentError) as caught:
        verify(report, html, files, judge)
    return caught.value.check, caught.value.where


def test_each_kind_of_report_is_among_them() -> None:
    values = [json.loads(read_folder(MADE / name)[0]) for name in FOLDERS]
    assert {value["format"] for value in values} == {"airlock/report@1"}
    assert {value["made_by"] for value in values} == {"online", "offline"}
    assert {value["complete"] for value in values} == {True, False}
    assert {value["part"] is None for value in values} == {True, False}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_report_of_the_first_form_is_verified_with_its_page(name: str) -> None:
    report, html, files = read_folder(MADE / name)
    found = verify(report, html, files, judge)
    assert found.value == json.loads(report)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_changed_report_of_the_first_form_is_refused(name: str) -> None:
    report, html, files = read_folder(MADE / name)
    assert _refused(report, html.replace(b"<h1>", b"<h1> ", 1), files)[0] == "REPORT-PAGE"
    assert _refused(report.replace(b'"complete": ', b'"complete":  ', 1), html, files) == ("REPORT-FIELD", "")
    value = json.loads(report)
    value["steps"][0]["signer"] += "x"
    changed = json.dumps(value, indent=1).encode() + b"\n"
    assert _refused(changed, html, files) == ("REPORT-FIELD", "steps[0].signer")


def _second(name: str) -> tuple[bytes, bytes, dict[str, bytes]]:
    return (SECOND / f"{name}.json").read_bytes(), (SECOND / f"{name}.html").read_bytes(), read_folder(MADE / name)[2]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_report_of_the_second_form_is_verified_with_its_page(name: str) -> None:
    report, html, files = _second(name)
    found = verify(report, html, files, judge)
    assert (found.value["format"], found.value) == ("airlock/report@2", json.loads(report))
    today = make(files, judge)
    assert (today.value["format"], today.html != html) == ("airlock/report@3", True)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_form_has_its_own_page_and_no_other(name: str) -> None:
    report, html, files = _second(name)
    today = make(files, judge)
    assert _refused(report, today.html, files)[0] == "REPORT-PAGE"
    assert _refused(today.json, html, files)[0] == "REPORT-PAGE"
    assert _refused(report.replace(b"report@2", b"report@4", 1), html, files) == ("REPORT-FIELD", "format")
