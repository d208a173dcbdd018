"""Two words of the other machine's screen, typed at places that the program draws: how a comparison is proved."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator

from airlock_shared.cli.console import ask, say
from airlock_shared.errors import Declined, Refusal
from airlock_shared.text.fingerprint_words import SPOKEN_BYTES, spoken

ASKED_AT_MOST = 3
"""Wrong answers that end the command."""
WRONG_AT_MOST = 9
"""Wrong answers for one document of a ceremony, however often the command is given; a guess is right once in 65,536."""
EMPTY_AT_MOST = 5
"""Empty lines that end the command: Enter is nobody's answer, so it is neither right nor wrong."""
WORDS_ASKED = 2
FIND_THEM = "Find the words on the other machine's screen. Each person types two of them."
SIGN_AGAIN = (
    "compare the whole fingerprint on both screens; if it differs, stop: something was changed on the way; if it is the "
    "same, look again at the places, or have airlock-offline sign write these signatures into another file"
)
"""What to do after wrong words of the signatures: nothing else than words lets them go."""
_A_ROW = 12


def type_words(
    document: str,
    fingerprint: str,
    who: str,
    used: Collection[int],
    wrong: int,
    tell_wrong: Callable[[list[int]], None],
    *,
    piped: bool,
) -> list[int]:
    """Have a person type two words of a document's fingerprint; return their positions, from 1.

    ``used`` are the positions that others answered; ``wrong`` counts the wrong answers on record, and ``tell_wrong`` records
    another one; ``piped`` as for :func:`~airlock_shared.cli.console.ask`. Raises ``Refusal("ROLE-WORDS")`` after three wrong
    answers, and at once after nine for this document; ``Declined`` when only Enter is pressed.
    """
    words = spoken(fingerprint).split()
    for left in reversed(range(min(ASKED_AT_MOST, WRONG_AT_MOST - wrong))):
        positions = sorted(_drawn(used))
        places = " and ".join(f"row {1 + (at - 1) // _A_ROW} word {1 + (at - 1) % _A_ROW}" for at in positions)
        given = _typed(f"{who}, {document}: {places}: ", piped=piped)
        if len(given) == WORDS_ASKED and all(
            secrets.compare_digest(word.encode(errors="replace"), words[at - 1].encode())
            for word, at in zip(given, positions, strict=True)
        ):
            return positions
        tell_wrong(positions)
        wrong += 1
        say(f"These are not the words. Answers left: {left}.")
    raise Refusal("ROLE-WORDS", f"the words of the {document} fingerprint differ", got=f"{wrong} wrong answers",
                  expected="the two words at the places that were asked")  # fmt: skip


def _typed(question: str, *, piped: bool) -> list[str]:
    """Return the words that a person types; after an empty line the same is asked again, a few times."""
    for _ in range(EMPTY_AT_MOST):
        if given := ask(question, piped=piped).casefold().split():
            return given
        say("Enter alone is no answer: two words are needed.")
    raise Declined("not answered: only Enter was pressed", do="find the words on the other machine's screen")


def _drawn(used: Collection[int]) -> Iterator[int]:
    """Yield positions, from 1, that were not asked of another role; all of them again when too few are left."""
    left = [at for at in range(1, SPOKEN_BYTES + 1) if at not in used]
    left = left if len(left) >= WORDS_ASKED else list(range(1, SPOKEN_BYTES + 1))
    for _ in range(WORDS_ASKED):
        yield left.pop(secrets.randbelow(len(left)))
