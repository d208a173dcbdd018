"""Frame texts back into a message: in any order, with losses, repetitions and strangers between them.

Nothing that a frame says is believed beyond the limits, and no frame raises an error: it is counted, and ``reason``
says why it was not used. CRC-32 holds a message together, but it can be forged: who relies on the message compares its
fingerprint (:mod:`airlock_shared.ur.envelope`) or recovers its signature.
"""

from __future__ import annotations

import zlib
from enum import Enum
from typing import NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.ur.fountain import choose_fragments, is_ur, parse_frame
from airlock_shared.wire.strict_json import damaged

FRAMES_AT_MOST = 4096
"""Of the longest message that is received: twelve minutes at five a second."""
BYTES_AT_MOST = 2 << 20


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


_Identity = tuple[str, tuple[int, int, int, int]]
"""What all frames of one message have in common: its UR type, and :attr:`FountainPart.message`."""


class Decoder:
    """Collects frames until ``result`` is there. ``restart`` forgets everything, at any moment."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget every frame; the next one begins a message."""
        self.result: Message | None = None
        self.reason = ""
        self._counts = dict.fromkeys(Taken, 0)
        self._begin(None)

    def _begin(self, message: _Identity | None) -> None:
        self._message = message
        self._solver = Solver(message[1][0] if message else 0)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        done, expected = self._solver.rank, self._solver.count
        percent = 100 * done // expected if expected else 0  # all are there: then the message is, too
        repeated, foreign, mixed, bad = list(self._counts.values())[1:]
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
        ur_type, part = parse_frame(text)
        if part.seq_len > FRAMES_AT_MOST or part.message_len > BYTES_AT_MOST:
            got = f"{part.seq_len} frames, {part.message_len} bytes"
            expected = f"<= {FRAMES_AT_MOST} frames, {BYTES_AT_MOST} bytes"
            raise damaged("QR-LIMIT", "too long for codes", got=got, expected=expected, do="take it by file")
        message = (ur_type, part.message)
        if self._message is not None and message != self._message:
            do = "if the other screen shows something else now, start again"
            raise damaged("QR-MIXED", "a frame of another message", do=do)
        if self._message is None:
            self._begin(message)
        mask = sum(1 << index for index in choose_fragments(part.seq_num, part.seq_len, part.checksum))
        if not self._solver.add(mask, int.from_bytes(part.data, "big")):
            return Taken.REPEATED
        self._finish(message)
        return Taken.USEFUL

    def _finish(self, message: _Identity) -> None:
        if self._solver.rank < self._solver.count:
            return
        ur_type, (_, length, checksum, width) = message
        cbor = b"".join(value.to_bytes(width, "big") for value in self._solver.values())[:length]
        if zlib.crc32(cbor) != checksum:
            self._begin(None)
            raise damaged("QR-CRC", "the message's checksum is wrong", do="start again: scan all its frames again")
        self.result = Message(ur_type, cbor)


class Solver:
    """The unmixing of mixed fragments: Gauss and Jordan's elimination over GF(2), one part at a time.

    Equations over ``count`` unknown fragments, kept so that each solved unknown stands in no other equation. Every part that
    says anything new raises the rank by one, so as many new parts as fragments are always enough, nothing is kept that is
    not needed, and a part that contradicts the others is noticed. Sets and fragments are held as integers.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._rows: dict[
            int, tuple[int, int]
        ] = {}  # a solved unknown: the set of its equation, and the XOR of the values

    @property
    def rank(self) -> int:
        """How many parts have said something new."""
        return len(self._rows)

    def add(self, mask: int, value: int) -> bool:
        """Take one equation: the XOR of the unknowns in ``mask`` is ``value``; tell whether it says anything new.

        Raises ``DocumentError("QR-MIXED")`` when it contradicts those before it.
        """
        for bit, (row, known) in self._rows.items():
            if mask & bit:
                mask ^= row
                value ^= known
        if not mask and value:
            do = "if it happens again, start again: somebody may be mixing two messages"
            raise damaged("QR-MIXED", "a frame that contradicts those before it", do=do)
        solved = mask & -mask
        if solved:
            for bit, (row, known) in self._rows.items():
                if row & solved:
                    self._rows[bit] = (row ^ mask, known ^ value)
            self._rows[solved] = (mask, value)
        return bool(solved)

    def values(self) -> list[int]:
        """Return all unknowns in order, once as many parts as fragments have said something new."""
        return [value for _, (_, value) in sorted(self._rows.items())]
