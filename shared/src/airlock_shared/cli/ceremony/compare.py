"""``ceremony compare``: each role compares for itself, and proves it by words of its paper or the other screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

import click

from airlock_shared.ceremony.roles import (
    CHECKPOINTS,
    HOW,
    NO_PAPER,
    check_holder,
    check_people,
    last_on_record,
    other_half,
    require_open,
    wrong_words,
)
from airlock_shared.ceremony.sections import CHECKPOINT_CONFIRMED, EXCEPTION, WORDS_WRONG, section_of
from airlock_shared.cli.ceremony.by_screens import (
    FIND_THEM,
    FROM_PAPER,
    LOOK_AT_PAPER,
    SIGN_AGAIN,
    Asked,
    show_by_screens,
    type_words,
)
from airlock_shared.cli.ceremony.status import CeremonyMachine, people_lines, plan_with_roles, record_lines, word_lines
from airlock_shared.cli.comparison_lines import deployment_lines, plan_lines
from airlock_shared.cli.terminal import (
    INPUT,
    MACHINES,
    Opens,
    ask,
    at_a_terminal,
    explain_error,
    json_option,
    led,
    plan_option,
    rows,
    say,
    say_all,
    show_if_json,
    yes_or_other,
)
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.errors import Declined, Refusal, UsageError
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import APART, Plan
from airlock_shared.text.safe import fingerprint_lines, grouped, safe
from airlock_shared.wire.strict_json import JsonObject

DOCUMENTS = ("deployment", "requests", "signatures")
"""The checkpoints at which a document is compared."""
_NO_MORE = "There is no more to show here: look at what is named, and answer."
BY_TYPING = ("plan", *DOCUMENTS)
"""The checkpoints at which two machines have the same document: words of one are typed on the other."""


@click.command("compare", short_help="Have each role compare a checkpoint, and prove it by typing words.")
@click.argument("checkpoint", type=click.Choice(list(CHECKPOINTS)), metavar="CHECKPOINT")
@plan_option
@click.option(
    "--by", multiple=True, metavar="ROLE", help="Who compared it whole, and answers with Yes; once for each role."
)
@click.option("--file", "file", type=INPUT, help="The document that is compared: a deployment, requests or signatures.")
@json_option
@click.pass_obj
def compare(
    place: CeremonyMachine, checkpoint: str, plan_file: Path, by: tuple[str, ...], file: Path | None, as_json: bool
) -> None:
    r"""Have each role compare CHECKPOINT for itself, one after the other, and record it.

    The plan, the deployment and the kit have words on each person's own paper, from days before. The words of requests and
    signatures are on the screen of the machine that made them. Each role types two, before this machine shows its own. A
    wrong answer is recorded. Three end the command; after nine it asks no more. Who has no paper types: no paper. At the
    other checkpoints each role answers with Yes.

    With --by, the roles that you name answer with Yes at every checkpoint: they have compared the whole fingerprint. Without
    --file it is what is on record here.

    \b
    Examples:
      PROGRAM ceremony compare requests --plan plan.toml \
        --file requests.json
      PROGRAM ceremony compare requests --plan plan.toml --by witness
    """
    plan, here = plan_with_roles(plan_file), CHECKPOINTS[checkpoint]
    stands = place.standing(plan)
    require_open(stands)
    if file is not None and checkpoint not in DOCUMENTS:
        raise UsageError(f"checkpoint {checkpoint} compares no document", do="leave --file out")
    if file is None and checkpoint in DOCUMENTS and not by:
        raise UsageError(f"checkpoint {checkpoint} compares a document", do="give it with --file")
    roles = tuple(dict.fromkeys(by)) or here.needs(place.half, plan)
    if not roles or place.half not in here.by:
        there = other_half(place.half)
        raise UsageError(
            f"checkpoint {checkpoint} is compared on {MACHINES[there]}",
            do=f"type it there: airlock-{there} ceremony compare {checkpoint} ...",
        )
    for role in roles:
        check_holder(role, stands.names, plan)
    compared = _fingerprint_of(place, plan, checkpoint, file)
    confirmed = stands.confirmed_by(checkpoint, compared)
    people = {role: stands.names[role] for role in roles if role not in confirmed}
    if not people:
        say(f"Checkpoint {checkpoint} is confirmed already by {' and '.join(roles)}; nothing to do.")
    else:
        _have_compared(place, plan, checkpoint, compared, file, people, by_words=not by)
        if not led():
            say(f"Checkpoint {checkpoint} is confirmed by {' and '.join(roles)}.")
            missing = place.standing(plan).missing
            say_all(f"Still missing: {line}" for line in missing if line.startswith(f"checkpoint {checkpoint} "))
    data = {"checkpoint": checkpoint, "by": list(roles), "compared": compared}
    show_if_json(as_json, ceremony=plan.id, **data, head=place.transcript.head())


def _have_compared(
    place: CeremonyMachine,
    plan: Plan,
    checkpoint: str,
    compared: str,
    file: Path | None,
    people: Mapping[str, str],
    *,
    by_words: bool,
) -> None:
    """Have each of these people, by their roles, prove or say that they compared a checkpoint, and record it."""
    here = CHECKPOINTS[checkpoint]
    mark = _in_words(place, checkpoint, compared) if by_words else ""
    short, whole = _shown(place, plan, checkpoint, file)
    opens = {"?": partial(show_by_screens, whole or [_NO_MORE], stays=1)} if led() else {}
    no_kit = by_words and here.paper and not mark
    if not mark:
        _refuse_after_wrong(place, plan, checkpoint, people)
    _introduce(checkpoint, compared, short, whole, by_words=by_words)
    if mark and not (led() and checkpoint == "deployment"):  # where it is led, it was said at the plan
        say(FROM_PAPER if here.paper else FIND_THEM)
    elif no_kit:
        say(f"No kit: the report will say '{HOW[NO_PAPER]}'.")
    for role, name in people.items():
        who = f"{safe(name)} ({role})"
        data: JsonObject = {"checkpoint": checkpoint, "by": [role], "compared": compared}
        if mark:
            proof = _prove(place, plan, who, data, mark, opens)
        else:
            _agree(place, plan, who, data, opens)
            proof = {"how": NO_PAPER} if no_kit else {}
        place.record(CHECKPOINT_CONFIRMED, plan, data | proof)
    if mark:  # after every answer: what this machine has
        words = (word_lines if led() else fingerprint_lines)(_called(checkpoint), mark)
        if checkpoint == "plan":
            show_by_screens([*plan_lines(plan, words=False), *words], say)
        else:
            say_all(words)


def _refuse_after_wrong(place: CeremonyMachine, plan: Plan, checkpoint: str, by: Collection[str]) -> None:
    """Raise ``Refusal("ROLE-WORDS")`` for a role whose paper has other words on record: its Yes does not put that right."""
    wrong = [
        entry.data for entry in wrong_words(place.transcript.entries(), plan) if entry.data["checkpoint"] == checkpoint
    ]
    if CHECKPOINTS[checkpoint].paper and any(set(by) & set(each["by"]) for each in wrong):
        raise Refusal(
            "ROLE-WORDS",
            f"words of the {checkpoint} were typed from paper, and they differ",
            got=f"{len(wrong)} wrong answers",
            expected="the words of the paper",
            do=LOOK_AT_PAPER,
        )


_NAME_THE_FILE = "do the checkpoint's work on this machine, or name the document that was compared with --file"


def _fingerprint_of(place: CeremonyMachine, plan: Plan, checkpoint: str, file: Path | None) -> str:
    """Return what a checkpoint compares: a document, or what is on record here.

    Raises ``DocumentError``, and ``Refusal("ROLE-EARLY")`` when nothing is there.
    """
    if file is not None:
        data = read_input(file)
        if checkpoint == "deployment":
            return parse_deployment(data).fingerprint
        return (parse_requests(data) if checkpoint == "requests" else parse_signatures(data))[2]
    if checkpoint == "deployment":
        return place.deployment(plan.deployment)
    found = last_on_record(section_of(place.transcript.entries(), plan)[0], plan, CHECKPOINTS[checkpoint])
    if found is None:
        raise Refusal(
            "ROLE-EARLY",
            f"nothing of checkpoint {checkpoint} is recorded on this machine since the ceremony began",
            got="no entry in the transcript",
            expected=" or ".join(CHECKPOINTS[checkpoint].events),
            do=_NAME_THE_FILE if checkpoint in DOCUMENTS else "",
        )
    return found


def _in_words(place: CeremonyMachine, checkpoint: str, compared: str) -> str:
    """Return the fingerprint whose words are typed at a checkpoint: of the kit at ``preflight``; empty where Yes is."""
    if checkpoint != "preflight":
        return compared if checkpoint in BY_TYPING else ""
    page = next(entry.data for entry in place.transcript.entries() if entry.hash == compared)
    return str(page.get("installed", {}).get("fingerprint", ""))


def _called(checkpoint: str) -> str:
    return "kit" if checkpoint == "preflight" else checkpoint


def _shown(place: CeremonyMachine, plan: Plan, checkpoint: str, file: Path | None) -> tuple[list[str], list[str]]:
    """Return what people decide at a checkpoint, and every line on record for it, or in the deployment that is pinned."""
    if checkpoint == "deployment":
        whole = [] if file is None else list(deployment_lines(parse_deployment(read_input(file)), words=False))
        return whole[:1], whole
    section = section_of(place.transcript.entries(), plan)[0]
    return list(place.shows(checkpoint, section, False)), list(place.shows(checkpoint, section, True))


def _introduce(checkpoint: str, compared: str, short: list[str], whole: list[str], *, by_words: bool) -> None:
    """Show what is agreed to, also when it was shown on another day; where it is led, what people decide there.

    How much more there is to read is said. A deployment's lines were compared when its paper was made. For who has no paper,
    ``trust`` shows them.
    """
    if led():
        show_by_screens(short, stays=1)
        if len(short) < len(whole):
            say(f"? and Enter, below, shows all {len(whole)} lines.")
    else:
        if not (by_words and checkpoint in BY_TYPING):
            say_all(rows("", CHECKPOINTS[checkpoint].compares))
        say_all(whole)
        if checkpoint == "deployment" and whole:
            say("Compare each line with what the venue publishes. One differs: Ctrl-C.")
    if checkpoint == "seal" and led():
        say(f"on record  {grouped(compared[:32])}")  # the Ledger shows these digits and no words
        say(f"           {grouped(compared[32:])}")
    elif not by_words or checkpoint in ("address", "seal"):
        say_all(record_lines(compared))


_NOT_SO = "not confirmed: the answer was not Yes"


def _agree(place: CeremonyMachine, plan: Plan, who: str, data: JsonObject, opens: Opens) -> None:
    """Have a person say that it is so; a slip of ``Yes`` is asked again.

    ``data`` names the checkpoint and the role. Raises ``Declined`` for any other answer, once it is on record.
    """
    question, again = f"{who}: I compared it myself, and it is so. Type Yes: ", f"{who}: type Yes: "
    if yes_or_other(question, again, opens, piped=place.all_worth_nothing()) != "Yes":
        no = {"checkpoint": data["checkpoint"], "by": data["by"][0], "reason": _NOT_SO}
        place.record(EXCEPTION, plan, no)
        raise Declined(_NOT_SO, do="find out what differs: this No is on record, and the same command asks again")


def _prove(place: CeremonyMachine, plan: Plan, who: str, data: JsonObject, mark: str, opens: Opens) -> JsonObject:
    """Have a person prove a comparison by two words of ``mark``; return what is recorded of it.

    ``data`` names the checkpoint and the role; with it each wrong answer is recorded. ``opens`` has what can be read first.
    Raises ``Refusal("ROLE-WORDS")``.
    """
    checkpoint, entries = data["checkpoint"], place.transcript.entries()
    of_this, of_mark = ({"checkpoint": checkpoint, "compared": each}.items() for each in (data["compared"], mark))
    right = [each.data for each in entries if each.event == CHECKPOINT_CONFIRMED and of_this <= each.data.items()]
    used = {position for each in right for position in each.get("positions", ())}  # nobody's answer serves another
    wrong = [each.data for each in wrong_words(entries, plan) if of_mark <= each.data.items()]
    paper, signatures_here = CHECKPOINTS[checkpoint].paper, (checkpoint, place.half) == ("signatures", "online")
    do = LOOK_AT_PAPER if paper else SIGN_AGAIN if signatures_here else ""
    asked = Asked(who, _called(checkpoint), mark, used, wrong, data["by"], do, paper)

    def tell_wrong(positions: list[int]) -> None:
        place.record(WORDS_WRONG, plan, {**data, "compared": mark, "positions": positions})

    return type_words(asked, tell_wrong, opens, piped=place.all_worth_nothing())


# ---- naming ---------------------------------------------------------------------------------------------------------
# Who holds each role: names given with the command, or typed when it asks.


_SLIPS = 3
_BACK = "<"
_AGREED = f"Enter begins with these names, {_BACK} asks for them again: "


def names_given(given: Iterable[str]) -> dict[str, str]:
    """Return the names of arguments ROLE=NAME. Raises ``UsageError``."""
    names: dict[str, str] = {}
    for argument in given:
        role, equals, name = argument.partition("=")
        if not equals or role in names:
            raise UsageError(
                f"{argument!r} is not ROLE=NAME, once for a role", do='such as --role signer="Ada Lovelace"'
            )
        names[role] = name
    return names


def ask_names(plan: Plan, known: Mapping[str, str]) -> dict[str, str]:
    """Return the names that are known, and ask for each other role of the plan.

    ``<`` goes back to the one before. Where a ceremony is led, the names are looked at before it begins. Raises ``Refusal``,
    and ``UsageError`` when nobody can type.
    """
    while True:
        names = dict(known)
        while asked := [role for role in plan.roles if role not in names]:
            name = _ask_name(asked[0], plan, names)
            if name != _BACK:
                names[asked[0]] = name
            elif len(names) > len(known):
                names.popitem()  # the one that was typed last
        check_people(names, plan)
        if names == known or not led() or _are_these(names):
            return names


def _ask_name(role: str, plan: Plan, given: Mapping[str, str]) -> str:
    """Return the name that is typed for a role, or ``<``; one that cannot be is asked a few times, and then refused."""
    if not at_a_terminal():
        lacking = [name for name in plan.roles if name not in given]
        raise UsageError(
            f"nobody is named as {', '.join(lacking)}",
            do="give each as --role ROLE=NAME; an empty name says that nobody holds it",
        )
    needed = _is_needed(role, plan)
    for left in reversed(range(_SLIPS)):
        name = ask(f"Who is the {role}?{'' if needed else ' (empty: nobody)'} ", piped=False).strip()
        if name == _BACK:
            break
        name = name if any(map(str.isalpha, name)) else ""  # such as ?
        try:
            check_people({**given, role: name}, plan)
            if needed:
                check_holder(role, {**given, role: name}, plan)
        except Refusal as error:
            if not left:
                raise
            say(
                explain_error(error)
                if name
                else f"nobody holds the role of {role}: type a name: this person confirms during the ceremony."
            )
        else:
            break
    return name


def _is_needed(role: str, plan: Plan) -> bool:
    """Tell whether somebody must hold a role: the plan requires it, or a ceremony is led in which this role confirms."""
    if plan.requires_witness and role in APART:
        return True
    return led() and any(role in each.needs(half, plan) for each in CHECKPOINTS.values() for half in each.by)


def _are_these(names: Mapping[str, str]) -> bool:
    """Show the names, and have people look at them; ``<`` says that one is wrong. Nothing is compared by it."""
    say_all(people_lines(names))
    while (answer := ask(_AGREED, piped=False).strip()) != _BACK:
        if answer.casefold() in ("", "yes"):
            return True
        say(f"Nothing was changed. Enter, or {_BACK}.")
    return False
