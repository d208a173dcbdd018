"""The transcript: any changed, dropped or moved line breaks the chain."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.documents.transcript import GENESIS, MAX_LINE_BYTES, Entry, next_entry, read_entries
from airlock_shared.errors import AirlockError, DocumentError, UsageError
from airlock_shared.host.files import TranscriptFile, read_transcript
from draws import repeatable
from refusals import check_of
from shared.strategies import json_values


def _lines(count: int = 6) -> list[bytes]:
    lines: list[bytes] = []
    last: Entry | None = None
    for number in range(count):
        last = next_entry(last, 1_790_000_000_000 + number, "signed", {"step": f"s{number}", "note": "é\n\u2028"})
        lines.append(last.line())
    return lines


@pytest.mark.parametrize("at", range(5))
def test_a_line_that_was_moved_dropped_or_doubled_breaks_the_chain(at: int) -> None:
    before, (own, after), rest = (lines := _lines())[:at], lines[at : at + 2], lines[at + 2 :]
    for changed in ([*before, after, own, *rest], [*before, after, *rest], [*before, own, own, after, *rest]):
        assert check_of(read_entries, changed) == "DOC-CHAIN"


def test_a_changed_entry_with_a_new_hash_of_its_own_breaks_the_chain_behind_it() -> None:
    entries = read_entries(_lines())
    forged = next_entry(entries[1], entries[2].at_ms, "signed", {"step": "forged"})
    lines = [entry.line() for entry in (*entries[:2], forged, *entries[3:])]
    assert check_of(read_entries, lines) == "DOC-CHAIN"


@pytest.mark.parametrize(
    ("line", "check"),
    [(b"x", "DOC-JSON"), (b"\xff", "DOC-UTF8"), (b'{"seq": 0, "seq": 0}', "DOC-DUPLICATE"),
     (b" " * (1 << 20) + b"{}", "DOC-SIZE"), (b"[]", "DOC-FIELD"), (b'{"seq": 0}', "DOC-FIELD"),
     (b'{"seq": 0, "at_ms": 0, "event": "e", "data": {}, "hash": "x"}', "DOC-CHAIN"),
     (b'{"seq": 0, "at_ms": 0, "event": "e", "data": {}, "hash": "x", "more": 1}', "DOC-FIELD"),
     (b'{"seq": false, "at_ms": 0, "event": "e", "data": {}, "hash": "x"}', "DOC-FIELD")],
)  # fmt: skip
def test_a_damaged_line_is_refused(line: bytes, check: str) -> None:
    assert check_of(read_entries, [line]) == check


@pytest.mark.parametrize("wrong", [("x", "e", {}), (1.5, "e", {}), (True, "e", {}), (1, ["e"], {}), (1, "e", 5)])
def test_a_member_of_another_type_is_refused_though_the_chain_holds(wrong: Any) -> None:
    first = next_entry(None, 0, "begun", {})
    assert check_of(read_entries, [next_entry(None, *wrong).line()]) == "DOC-FIELD"
    assert check_of(read_entries, [first.line(), next_entry(first, *wrong).line()]) == "DOC-CHAIN"


@repeatable
@given(st.integers(0), st.integers(1, 255))
def test_no_changed_byte_goes_unnoticed(place: int, change: int) -> None:
    lines = _lines(3)
    data = bytearray(b"\n".join(lines))
    data[place % len(data)] ^= change
    try:
        entries = read_entries(bytes(data).split(b"\n"))
    except AirlockError:
        return
    assert [entry.line() for entry in entries] == lines  # at most white space or an escape of the same text


def test_a_transcript_on_disk_goes_on_where_it_ended(tmp_path: Path) -> None:
    transcript = TranscriptFile(tmp_path / "state" / "transcript.jsonl")
    assert transcript.head() == GENESIS
    first = transcript.record("started", {"plan": "x"}, 1)
    again = TranscriptFile(transcript.path)
    second = again.record("signed", {"note": "one\ntwo\r\u2028three"}, 2)
    assert again.entries() == [first, second]
    assert transcript.head() == second.hash
    (tmp_path / "link").symlink_to(transcript.path)
    assert check_of(read_transcript, tmp_path / "link") == "DOC-LINK"
    transcript.path.unlink()  # what was taken away begins anew
    assert transcript.record("started", {}, 2).seq == 0


def test_nothing_is_added_to_a_transcript_whose_chain_is_broken(tmp_path: Path) -> None:
    transcript = TranscriptFile(tmp_path / "transcript.jsonl")
    transcript.record("started", {"plan": "x"}, 1)
    transcript.record("signed", {}, 2)
    changed = transcript.path.read_bytes().replace(b"started", b"stopped")
    transcript.path.write_bytes(changed)
    assert check_of(transcript.record, "signed", {}, 3) == "DOC-CHAIN"
    assert transcript.path.read_bytes() == changed


def test_a_line_that_was_only_half_written_is_noticed(tmp_path: Path) -> None:
    transcript = TranscriptFile(tmp_path / "transcript.jsonl")
    transcript.record("started", {}, 1)
    transcript.record("signed", {}, 2)
    os.truncate(transcript.path, transcript.path.stat().st_size - 20)
    with pytest.raises(DocumentError, match="DOC-CHAIN: the transcript's chain breaks at line 2: it was cut short"):
        transcript.entries()


APPEND = """
import sys
from pathlib import Path
from airlock_shared.host.files import TranscriptFile
transcript = TranscriptFile(Path(sys.argv[1]))
for at_ms in range(50):
    transcript.record("step", {}, at_ms)
"""


def test_processes_that_append_at_once_make_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "state" / "transcript.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", APPEND, str(path)]) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert [entry.seq for entry in read_transcript(path)] == list(range(150))


FULL = """
import resource, sys
from pathlib import Path
from airlock_shared.errors import UsageError
from airlock_shared.host.files import TranscriptFile
transcript = TranscriptFile(Path(sys.argv[1]))
transcript.record("started", {}, 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (transcript.path.stat().st_size + 10, resource.RLIM_INFINITY))
try:
    transcript.record("step", {}, 2)
except UsageError as error:
    assert "cannot be written" in error.what
    sys.exit(7)
"""


def test_a_disk_that_is_full_in_the_middle_of_an_entry_leaves_the_chain_whole(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    assert subprocess.run([sys.executable, "-c", FULL, str(path)], check=False).returncode == 7
    assert [entry.seq for entry in read_transcript(path)] == [0]
    assert TranscriptFile(path).record("step", {}, 3).seq == 1


def test_an_entry_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    transcript = TranscriptFile(tmp_path / "transcript.jsonl")
    room = MAX_LINE_BYTES - len(next_entry(transcript.record("started", {}, 1), 2, "step", {"note": ""}).line())
    for note in ("x" * (room + 1), "é" * (room // 2 + 1)):
        with pytest.raises(UsageError, match="nothing was recorded"):
            transcript.record("step", {"note": note}, 2)
    transcript.record("step", {"note": "x" * room}, 2)
    assert [entry.event for entry in transcript.entries()] == ["started", "step"]


@repeatable
@given(
    st.lists(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values(), max_size=3), max_size=4)
)
def test_any_data_is_recorded_and_read_back(records: list[dict[str, Any]]) -> None:
    lines, last = [], None
    for number, data in enumerate(records):
        last = next_entry(last, number, "event", data)
        lines.append(last.line())
    assert [entry.data for entry in read_entries(lines)] == records
