"""Files that people write, saved in another form than UTF-8: nobody reads them, and how to save them is told."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from airlock_shared.cli.machine import settings_of
from airlock_shared.errors import DocumentError, PlanError, UsageError
from airlock_shared.plan.mistakes import find_mistakes
from airlock_shared.plan.reader import parse_plan
from airlock_shared.wire.strict_json import ONLY, parse_json
from airlock_shared.wire.toml import parse_toml

PLAN = 'format = "airlock/plan@1"\n'
FORMS = {
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "utf-32-be": "UTF-32",
    "utf-32-le": "UTF-32",
}


class NoSections(NamedTuple):
    """A configuration without sections."""


@pytest.mark.parametrize(("encoding", "form"), FORMS.items())
def test_a_text_in_another_form_is_refused_with_the_form_and_the_way_out(
    tmp_path: Path, encoding: str, form: str
) -> None:
    told, toml = f"it is saved as {form}: save it as UTF-8 without a byte order mark (BOM)", PLAN.encode(encoding)
    with pytest.raises(ValueError, match="is saved as") as wrong:
        parse_toml(toml)
    assert str(wrong.value) == told
    with pytest.raises(PlanError) as plan:
        parse_plan(toml)
    assert (plan.value.check, told in plan.value.what) == ("PLAN-FORM", True)
    (mistake,) = find_mistakes(toml)
    assert (*mistake.span, mistake.line, mistake.example) == (1, 1, 1, "", "")
    assert told in mistake.error.what
    (tmp_path / "config.toml").write_bytes(toml)
    with pytest.raises(UsageError, match="is not TOML: it is saved as") as config:
        list(settings_of(tmp_path / "config.toml", NoSections(), {}))
    assert told in config.value.what


@pytest.mark.parametrize(("encoding", "form"), FORMS.items())
@pytest.mark.parametrize("text", ['{"a": 1}', "[]", "1"])
def test_a_document_in_another_form_is_refused_with_the_form_and_the_way_out(
    encoding: str, form: str, text: str
) -> None:
    with pytest.raises(DocumentError) as document:
        parse_json(text.encode(encoding))
    readable = not text.encode(encoding).startswith((b"\xff", b"\xfe", b"\0\0\xfe"))
    assert document.value.check == ("DOC-JSON" if readable else "DOC-UTF8")
    assert document.value.what == f"saved as {form}"
    assert (document.value.expected, document.value.do) == (ONLY, "save it in that form, or copy it again")
