"""The groups of a document at ``sign``: the form of each shown once, then page after page of rows, a ``Yes`` for each page.

A page is shown when its first step comes. Its ``Yes`` is on record, with the digest of each row, before anything of it is
signed; so it is not asked again when the command goes on another day, and it counts for these digests alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic

from airlock_offline.cli.review_pages import ReviewPages
from airlock_offline.signing.review import section_lines
from airlock_offline.signing.review_groups import QUESTION_ROWS, Group, rows_of_page
from airlock_shared.cli.terminal import say, say_all, screen_rows
from airlock_shared.errors import Declined
from airlock_shared.units import span_text

_ROWS_WITHOUT_A_SCREEN = 24


class GroupPages:
    """The pages of a document's groups. ``confirmed`` has each digest (0x-hex) asked about, and whether it was confirmed.

    It begins with ``before``, the digests confirmed in earlier runs. ``record`` puts those of a page on record.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        before: Iterable[str],
        screen: ReviewPages | None,
        ask: Callable[[str], None],
        record: Callable[[list[str]], None],
    ) -> None:
        self.confirmed = dict.fromkeys(before, True)
        self._groups = {digest: group for group in groups for digest in group.rows}
        self._screen, self._ask, self._record = screen, ask, record
        self._form: list[list[str]] = []
        self._began_s, self._signed = monotonic(), 0

    def show_from(self, digest: str, can_be_signed: Callable[[str], bool]) -> None:
        """Show the page that begins with a digest, and have it answered, where it is one of a group and was not answered.

        ``can_be_signed`` tells whether a step can be signed now, and was not yet.
        """
        group = self._groups.get(digest)
        if group is None or digest in self.confirmed:
            return
        rows = list(group.rows)
        left = [each for each in rows[rows.index(digest) :] if each not in self.confirmed and can_be_signed(each)]
        if left[:1] != [digest]:
            return
        if self._form is not group.form:
            self._form = group.form
            if self._screen:
                self._screen.show(group.form, [], [])
            else:
                say_all(section_lines(group.form))
        page = left[: rows_of_page(group, left, screen_rows() or _ROWS_WITHOUT_A_SCREEN)]
        lines = [*group.heading, *(line for each in page for line in group.rows[each])]
        if self._screen:
            self._screen.show_group_page(lines, QUESTION_ROWS)
        else:
            say_all(["", *lines])
        try:
            self._ask(f"Sign these {len(page)} steps of {len(group.rows)}, which differ from the form in this alone?")
        except Declined as declined:
            self.confirmed |= dict.fromkeys(page, False)
            say(f"Declined: {declined.what}.")
            return
        self._record(page)
        self.confirmed |= dict.fromkeys(page, True)

    def signed(self, left: int) -> str:
        """Return how long the rest will take, after one more was signed: ``left`` are not signed yet."""
        self._signed += 1
        each_s = (monotonic() - self._began_s) / self._signed
        return f", about {span_text(int(each_s * left))} left" if left else ""
