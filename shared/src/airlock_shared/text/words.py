"""Fingerprints for people: hex in groups of four, and twenty-four numbered words to read aloud, in three rows.

The words are Bytewords (BCR-2020-012): 256 four-letter words, one for each byte, chosen to sound apart. Twenty-four words
say the first 192 bits: also an author who prepares two documents beforehand needs about 2^96 tries for two that share them
(docs/adr/0017). The hex says all 256.
"""

from __future__ import annotations

BYTEWORDS = tuple(
    """
    able acid also apex aqua arch atom aunt away axis back bald barn belt beta bias blue body brag brew bulb buzz calm cash
    cats chef city claw code cola cook cost crux curl cusp cyan dark data days deli dice diet door down draw drop drum dull
    duty each easy echo edge epic even exam exit eyes fact fair fern figs film fish fizz flap flew flux foxy free frog fuel
    fund gala game gear gems gift girl glow good gray grim guru gush gyro half hang hard hawk heat help high hill holy hope
    horn huts iced idea idle inch inky into iris iron item jade jazz join jolt jowl judo jugs jump junk jury keep keno kept
    keys kick kiln king kite kiwi knob lamb lava lazy leaf legs liar limp lion list logo loud love luau luck lung main many
    math maze memo menu meow mild mint miss monk nail navy need news next noon note numb obey oboe omit onyx open oval owls
    paid part peck play plus poem pool pose puff puma purr quad quiz race ramp real redo rich road rock roof ruby ruin runs
    rust safe saga scar sets silk skew slot soap solo song stub surf swan taco task taxi tent tied time tiny toil tomb toys
    trip tuna twin ugly undo unit urge user vast very veto vial vibe view visa void vows wall wand warm wasp wave waxy webs
    what when whiz wolf work yank yawn yell yoga yurt zaps zero zest zinc zone zoom
    """.split()
)

SPOKEN_BYTES = 24
_A_ROW = 8  # words: 63 columns with their numbers


def spoken(fingerprint: str) -> str:
    """Return the twenty-four words of a fingerprint given as 64 hex digits."""
    return " ".join(_words(fingerprint))


def spoken_rows(fingerprint: str) -> list[str]:
    """Return the same words as three rows of eight, each word behind its number, 1 to 24."""
    words = [f"{at:>2} {word}" for at, word in enumerate(_words(fingerprint), 1)]
    return [" ".join(words[at : at + _A_ROW]) for at in range(0, len(words), _A_ROW)]


def _words(fingerprint: str) -> list[str]:
    return [BYTEWORDS[byte] for byte in bytes.fromhex(fingerprint)[:SPOKEN_BYTES]]


def grouped(hex_digits: str) -> str:
    """Return hex digits in groups of four; a ``0x`` in front is left out."""
    digits = hex_digits.removeprefix("0x")
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))
