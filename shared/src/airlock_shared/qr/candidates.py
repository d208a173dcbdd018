"""The transfers whose frames a scan has seen: a stray frame of another one, even the very first, stands in nobody's way.

The candidate with the most parts leads, and the first one that is complete is the scan's message; people confirm its kind
and its fingerprint in either case. At most four are kept, so that a hostile screen costs bounded memory.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_shared.ur.decode import Decoder, Taken

MOST = 4


class Candidate(NamedTuple):
    """One transfer: its decoder, and the texts of its useful frames."""

    decoder: Decoder
    texts: list[str]

    @property
    def useful(self) -> int:
        """How many parts of it are known."""
        return self.decoder.progress.useful

    def take(self, text: str) -> Taken:
        """Give it a frame's text, and keep the text when it is of use."""
        taken = self.decoder.receive(text)
        if taken is Taken.USEFUL:
            self.texts.append(text)
        return taken


class Candidates:
    """The leader, which every frame is given to first, and its rivals."""

    def __init__(self, leader: Decoder) -> None:
        self.leader = Candidate(leader, [])
        self._rivals: list[Candidate] = []

    def overtaken_by(self, text: str, *, at_once: bool) -> bool:
        """Give a rival a frame that is not the leader's; return whether that rival leads from now on.

        It does when it is complete or has more parts than the leader; with ``at_once`` already with its first.
        """
        rival = self._rival_of(text)
        if rival is None or not (at_once or rival.decoder.result is not None or rival.useful > self.leader.useful):
            return False
        self._rivals.remove(rival)
        self._keep(self.leader)
        self.leader = rival
        return True

    def _rival_of(self, text: str) -> Candidate | None:
        """Return the rival to which a frame was of use, a new one for the first frame of a transfer."""
        for rival in self._rivals:
            taken = rival.take(text)
            if taken is not Taken.MIXED:
                return rival if taken is Taken.USEFUL else None
        fresh = Candidate(Decoder(), [])
        if fresh.take(text) is not Taken.USEFUL:
            return None
        self._keep(fresh)
        return fresh

    def _keep(self, candidate: Candidate) -> None:
        """Keep one more rival; when there are too many, the one with the fewest parts makes room."""
        self._rivals.append(candidate)
        if len(self._rivals) >= MOST:
            self._rivals.remove(min(self._rivals[:-1], key=lambda rival: rival.useful))
