"""A long text, a screen at a time: no line scrolls away before somebody pressed a key below it.

The keys are those of a review's pages; they turn a page and answer nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from airlock_shared.ceremony.roles import HOW, NO_PAPER
from airlock_shared.ceremony.sections import BY_PAPER, BY_WORDS
from airlock_shared.cli import terminal
from airlock_shared.cli.terminal import (
    ENDED,
    LAYOUT,
    SWAPPED,
    Opens,
    SingleKeys,
    ask_opening,
    filled,
    forget_typed,
    led,
    next_key,
    say,
)
from airlock_shared.errors import Declined, NotAnswered, Refusal
from airlock_shared.text.safe import BYTEWORDS, SPOKEN_BYTES, spoken
from airlock_shared.wire.strict_json import JsonObject

_ROWS_LEFT_FREE = 4
"""Left free on each screen: for the task's own lines above, and for the key or the question below."""


def show_by_screens(lines: Sequence[str], tell: Callable[[str], None] = say, *, stays: int = 0) -> None:
    """Show lines; where a ceremony is led at a terminal, a screen at a time, of which the last ``stays`` are not turned.

    Raises ``Declined`` when the input ends below a screen that nobody has read.
    """
    _show(lines, tell, whole=not led(), stays=stays)


def show_above_question(lines: Sequence[str]) -> None:
    """Show lines before a question of one or two rows; at a terminal a screen at a time, and the last one stays above it.

    Raises as :func:`show_by_screens`.
    """
    _show(lines, say, whole=False, stays=1)


def _show(lines: Sequence[str], tell: Callable[[str], None], *, whole: bool, stays: int) -> None:
    """Tell lines a screen at a time, or ``whole``; a screen that has another size when a key comes is told again."""
    if whole or terminal.screen_rows() is None:
        for line in lines:
            tell(line)
        return
    left, number = [row for line in lines for row in filled(line).split("\n")], 1
    while left:
        rows = terminal.screen_rows() or 0
        size = max(rows - _ROWS_LEFT_FREE, 1)
        for row in left[:size]:
            tell(row)
        if stays and len(left) <= size:
            return
        _await_key(f"{number} of {number - 1 - (-len(left) // size)}")
        if rows == (terminal.screen_rows() or 0):
            left, number = left[size:], number + 1


def turn_page() -> None:
    """At a terminal, wait for a key below what stands there, which the next task of a led ceremony would push away."""
    if terminal.screen_rows() is not None:
        with suppress(Declined):  # nobody reads on; what was done is done
            _await_key()


def _await_key(place: str = "") -> None:
    with SingleKeys() as keys:
        forget_typed()
        if next_key(keys, place) == ENDED:
            raise NotAnswered


# ---- typed words ----------------------------------------------------------------------------------------------------
# Two words of one's own paper, or of the other machine's screen, typed at drawn places: how a comparison is proved.


ASKED_AT_MOST = 3
"""Wrong answers that end the command."""
WRONG_AT_MOST = 9
"""Wrong answers for one document of a ceremony, however often the command is given; a guess is right once in 65,536."""
UNANSWERED_AT_MOST = 5
"""Lines of other than two words that end the command: they are nobody's answer, so neither right nor wrong."""
WORDS_ASKED = 2
_Y_AND_Z = str.maketrans("yz", "zy")
_FEWER = {0: "Enter alone is no answer", 1: "The second word is missing"}
WITHOUT = "no paper"
_MARKS = str.maketrans(",.;:/", " " * 5)  # what people write between two words, and behind them
NOT_TAKEN = f"'{WITHOUT}' counts only where YOUR PAPER is asked, before a wrong answer: two words are needed."
FIND_THEM = "Find the words on the other machine's screen. Each person types two of them."
FROM_PAPER = f"Each person types from THEIR OWN PAPER, and looks at no screen. None: {WITHOUT}"
SIGN_AGAIN = (
    "compare the whole fingerprint on both screens; if it differs, stop: something was changed on the way; if it is the "
    "same, look again at the places, or have airlock-offline sign write these signatures into another file"
)
"""What to do after wrong words of the signatures: nothing else than words lets them go."""
LOOK_AT_PAPER = (
    "stop. Compare your whole paper again on a machine of your own, not here. If the paper is right, this machine was given "
    "something else: find out by whom. If a word on it was written wrongly, correct it, and give the command again"
)
"""What to do after wrong words of a paper."""


class Asked(NamedTuple):
    """What a person is asked: who, and words of which document and fingerprint (hex), from their paper or the other screen.

    ``used`` are the positions that others answered; ``wrong`` is the data of the wrong answers on record for this
    fingerprint, and ``by`` who this person is there, as in its ``by``. ``do`` says what to do after wrong words.
    """

    who: str
    document: str
    fingerprint: str
    used: Collection[int]
    wrong: Sequence[JsonObject]
    by: list[str] | None
    do: str
    paper: bool = False


def type_words(asked: Asked, tell_wrong: Callable[[list[int]], None], opens: Opens, *, piped: bool) -> JsonObject:
    """Have a person type two words; return what is recorded of it: ``how``, and ``positions`` from 1.

    After a wrong answer it is the same two, also of another day: nobody gets another draw. ``tell_wrong`` records a wrong
    answer; ``opens`` has what can be read before one; ``piped`` as for :func:`~airlock_shared.cli.terminal.ask`.
    Raises ``Refusal("ROLE-WORDS")`` after three wrong answers, and at once after nine for this fingerprint; ``Declined``
    when two words are never typed.
    """
    words, wrong = spoken(asked.fingerprint).split(), len(asked.wrong)
    own = [each["positions"] for each in asked.wrong if each.get("by") == asked.by]
    positions = own[-1] if own else _drawn(asked.used)
    places = " and ".join(f"word {at}" for at in positions)
    question = f"{asked.who}, {asked.document}{', YOUR PAPER' if asked.paper else ''}: {places}: "
    for left in reversed(range(min(ASKED_AT_MOST, WRONG_AT_MOST - wrong))):
        given = _typed(question, opens, lacks=asked.paper and not own, piped=piped)
        if given == WITHOUT.split():
            say(f"On record: {HOW[NO_PAPER]}.")
            return {"how": NO_PAPER}
        if all(
            secrets.compare_digest(word.encode(errors="replace"), words[at - 1].encode())
            for word, at in zip(given, positions, strict=True)
        ):
            return {"how": BY_PAPER if asked.paper else BY_WORDS, "positions": positions}
        tell_wrong(positions)
        own.append(positions)
        wrong += 1
        say(f"One of these two words is wrong, or both, or their order. Answers left: {left}.")
    raise Refusal(
        "ROLE-WORDS",
        f"the words of the {asked.document} fingerprint differ",
        got=f"{wrong} wrong answers",
        expected="the two words at the places that were asked",
        do=asked.do,
    )


def _typed(question: str, opens: Opens, *, lacks: bool, piped: bool) -> list[str]:
    """Return two words that a person types; what can be no answer is asked again, a few times.

    Who ``lacks`` a paper may say so.
    """
    for _ in range(UNANSWERED_AT_MOST):
        typed = ask_opening(question, opens, piped=piped).casefold().translate(_MARKS).split()
        given = [word for word in typed if not word.isdecimal()]  # the places, as the paper has them
        slip = NOT_TAKEN if given == WITHOUT.split() and not lacks else _slip(given)
        if len(given) == WORDS_ASKED and not slip:
            return given
        say(slip or f"{_FEWER.get(len(given), 'These are too many')}: two words are needed.")
    raise Declined(
        "not answered: two words were never typed", do="type both words that are asked, with a blank between"
    )


def _slip(given: Sequence[str]) -> str:
    """Return why what was typed can be nobody's answer, apart from how many words it has; empty when nothing says so."""
    if not all(map(str.isascii, given)):
        return LAYOUT
    return SWAPPED if len(given) == WORDS_ASKED and any(map(_is_swapped, given)) else ""


def _is_swapped(word: str) -> bool:
    """Tell whether a word is in the list of all words once y and z change places, and not before: no word is given away."""
    return word not in BYTEWORDS and word.translate(_Y_AND_Z) in BYTEWORDS


def _drawn(used: Collection[int]) -> list[int]:
    """Return positions, from 1, that were not asked of another role; any when too few are left."""
    left = [at for at in range(1, SPOKEN_BYTES + 1) if at not in used]
    left = left if len(left) >= WORDS_ASKED else list(range(1, SPOKEN_BYTES + 1))
    return sorted(left.pop(secrets.randbelow(len(left))) for _ in range(WORDS_ASKED))
