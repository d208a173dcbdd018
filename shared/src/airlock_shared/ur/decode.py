"""Frame texts back into a message: in any order, with losses, repetitions and strangers between them.

Nothing that a frame says is believed beyond :class:`Limits`, and no frame raises an error: it is counted, and ``reason``
says why it was not used. CRC-32 holds a message together, but it can be forged: who relies on the message compares its
fingerprint (:mod:`airlock_shared.ur.envelope`) or recovers its signature.
"""

from __future__ import annotations

import zlib
from enum import Enum
from typing import NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.ur.fountain import FountainPart
from airlock_shared.ur.fragments import choose_fragments
from airlock_shared.ur.part import Part, is_ur, parse_part
from airlock_shared.ur.solve import Added, Solver
from airlock_shared.wire.codec import damaged


class TransferLimits(NamedTuple):
    """The longest message that is received: twelve minutes of frames at five a second."""

    seq_len: int = 4096
    message_bytes: int = 2 << 20


class Taken(Enum):
    """What became of a frame."""

    USEFUL = "useful"
    REPEATED = "repeated"  # it says nothing new
    FOREIGN = "foreign"  # some other QR code
    MIXED = "mixed"  # of another message than the one begun
    BAD = "bad"  # damaged, malformed or beyond the limits


class Progress(NamedTuple):
    """Counted frames; ``expected`` useful ones are enough (0 while unknown), ``percent`` is 100 at the end alone."""

    useful: int
    repeated: int
    foreign: int
    mixed: int
    bad: int
    expected: int
    percent: int


class Message(NamedTuple):
    """A whole message: its UR type and its CBOR."""

    ur_type: str
    cbor: bytes

    def expect(self, *ur_types: str) -> bytes:
        """Return the CBOR of a message of one of these types. Raises ``DocumentError("QR-TYPE")``."""
        if self.ur_type not in ur_types:
            wanted = " or ".join(f"ur:{name}" for name in ur_types)
            do = "check what the other screen shows, and for which command"
            raise damaged("QR-TYPE", "a code of another kind", got=f"ur:{self.ur_type}", expected=wanted, do=do)
        return self.cbor


class Decoder:
    """Collects frames until ``result`` is there. ``restart`` forgets everything, at any moment."""

    def __init__(self, limits: TransferLimits | None = None) -> None:
        self._limits = limits or TransferLimits()
        self.restart()

    def restart(self) -> None:
        """Forget every frame; the next one begins a message."""
        self.result: Message | None = None
        self.reason = ""
        self._counts = dict.fromkeys(Taken, 0)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._message: tuple[str, tuple[int, int, int, int]] | None = None
        self._solver = Solver(0)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        counts = self._counts
        done, expected = self._solver.rank, self._solver.count
        percent = 100 * done // expected if expected else 0  # all are there: then the message is, too
        repeated, foreign = counts[Taken.REPEATED], counts[Taken.FOREIGN]
        mixed, bad = counts[Taken.MIXED], counts[Taken.BAD]
        return Progress(done, repeated, foreign, mixed, bad, expected, percent)

    def receive(self, text: str) -> Taken:
        """Take the text of one QR code, and tell what became of it; ``reason`` is empty when it was of use or repeated."""
        self.reason = ""
        try:
            taken = self._take(text)
        except DocumentError as error:
            taken = Taken.MIXED if error.check == "QR-MIXED" else Taken.BAD
            self.reason = str(error)
        self._counts[taken] += 1
        return taken

    def _take(self, text: str) -> Taken:
        if not is_ur(text):
            self.reason = "a QR code that is not of a transfer (no ur:… text)"
            return Taken.FOREIGN
        part = parse_part(text)
        return self._whole(part) if part.seq_num is None else self._one_of_many(part)

    def _whole(self, part: Part) -> Taken:
        self._bound(1, len(part.payload))
        message = (part.type, (1, len(part.payload), zlib.crc32(part.payload), len(part.payload)))
        return self._add(message, [0], part.payload)

    def _one_of_many(self, part: Part) -> Taken:
        self._bound(part.seq_len or 0, 0)  # before anything of the part is looked at
        inner = FountainPart.from_cbor(part.payload)
        if (part.seq_num, part.seq_len) != (inner.seq_num, inner.seq_len):
            got = f"{part.seq_num}-{part.seq_len} and {inner.seq_num}-{inner.seq_len}"
            raise damaged("QR-PART", "a frame has two different numbers", got=got)
        self._bound(inner.seq_len, inner.message_len)
        message = (part.type, inner.message)
        self._require_same(message)
        return self._add(message, choose_fragments(inner.seq_num, inner.seq_len, inner.checksum), inner.data)

    def _bound(self, seq_len: int, message_bytes: int) -> None:
        if seq_len > self._limits.seq_len or message_bytes > self._limits.message_bytes:
            got = f"{seq_len} frames, {message_bytes} bytes"
            expected = f"<= {self._limits.seq_len} frames, {self._limits.message_bytes} bytes"
            raise damaged("QR-LIMIT", "too long for codes", got=got, expected=expected, do="take it by file")

    def _require_same(self, message: tuple[str, tuple[int, int, int, int]]) -> None:
        if self._message is not None and message != self._message:
            do = "if the other screen shows something else now, start again"
            raise damaged("QR-MIXED", "a frame of another message", do=do)

    def _add(self, message: tuple[str, tuple[int, int, int, int]], fragments: list[int], data: bytes) -> Taken:
        self._require_same(message)
        if self._message is None:
            self._message = message
            self._solver = Solver(message[1][0])
        added = self._solver.add(fragments, int.from_bytes(data, "big"))
        if added is Added.CONTRADICTS:
            do = "if it happens again, start again: somebody may be mixing two messages"
            raise damaged("QR-MIXED", "a frame that contradicts those before it", do=do)
        if added is Added.KNOWN:
            return Taken.REPEATED
        self._finish()
        return Taken.USEFUL

    def _finish(self) -> None:
        values = self._solver.values()
        if values is None or self._message is None:
            return
        ur_type, (_, length, checksum, width) = self._message
        cbor = b"".join(value.to_bytes(width, "big") for value in values)[:length]
        if zlib.crc32(cbor) != checksum:
            self._begin_anew()
            raise damaged("QR-CRC", "the message's checksum is wrong", do="start again: scan all its frames again")
        self.result = Message(ur_type, cbor)
