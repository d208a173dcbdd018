"""Fingerprints for people: hex in groups of four, and twelve words to read aloud.

The words are Bytewords (BCR-2020-012): 256 four-letter words, one for each byte, chosen to sound apart. Twelve words say
the first 96 bits, out of reach for anybody who wants a second document with the same words; the hex says all 256.
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

SPOKEN_BYTES = 12


def spoken(fingerprint: str) -> str:
    """Return the twelve words of a fingerprint given as 64 hex digits."""
    return " ".join(BYTEWORDS[byte] for byte in bytes.fromhex(fingerprint)[:SPOKEN_BYTES])


def grouped(hex_digits: str) -> str:
    """Return hex digits in groups of four; a ``0x`` in front is left out."""
    digits = hex_digits.removeprefix("0x")
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))
