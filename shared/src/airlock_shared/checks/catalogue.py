"""Every id with its description, by family, put together from where each stands: for the documentation and ``explain``.

A check that is a function of its own is described there, by :func:`airlock_shared.checks.model.check`, and those that one
reading answers for beside that reading; what parsers raise is described here. What judges or signs needs none of it.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_shared.checks import agreement, document, intent, nonces, times, transaction
from airlock_shared.checks.judge import SIG_CHECKS
from airlock_shared.checks.model import COPY, PLAN, STOP, Check, Info

SCAN = "Scan the code again, from its source; if it is refused again, bring the document by file."
REPORT_FAULT = "Do not sign. Report the payload to the maintainers: this should never happen."


class Family(NamedTuple):
    """A family of ids: its title, and the ids of it that no check of its own stands behind."""

    title: str
    raised: dict[str, Info]


FAMILIES: dict[str, Family] = {
    "DOC": Family("The document as a whole", {
        "DOC-FILE": Info("not a regular file", "A device or pipe in place of a document.", "Give the name of a file."),
        "DOC-LINK": Info("a symbolic link", "A file that is replaced between two reads.", "Copy the file itself."),
        "DOC-SIZE": Info("too large", "A document that exhausts the signing machine.", COPY),
        "DOC-UTF8": Info("not UTF-8", "Bytes that two programs read as different texts.", COPY),
        "DOC-JSON": Info("not JSON", "A damaged document.", COPY),
        "DOC-CBOR": Info("not deterministic CBOR", "Two encodings of one document, with two fingerprints.", COPY),
        "DOC-TRUNCATED": Info("ends too early", "A document that lost its end on the way.", COPY),
        "DOC-DUPLICATE": Info("the same member twice", "One reader takes the first value, another the last.", STOP),
        "DOC-NUMBER": Info("an unreadable number", "Numbers that are not JSON, such as NaN, or have thousands of digits.", STOP),
        "DOC-FLOAT": Info("a fractional number", "Amounts that lose digits as floating-point numbers.", STOP),
        "DOC-DEPTH": Info("nested too deep", "A document that exhausts the parser.", STOP),
        "DOC-COUNT": Info("a wrong number of items", "A document with more items than it says.", COPY),
        "DOC-FORMAT": Info("a document of the wrong kind or version", "The wrong file, or a version that this program does not know.",
                          "Check which file was opened, and that both machines run the same version."),
        "DOC-FIELD": Info("a member missing, unknown or of the wrong type", "Data that no check would look at.", COPY),
        "DOC-DEPLOYMENT": Info("the deployment contradicts itself or our scales", "Interchangeable intents, and amounts shown wrong.",
                              "Fetch the deployment again, and ask the venue."),
        "DOC-VENUE": Info("a venue's profile that Airlock does not take", "A file that renames a function, drops a limit or hides a value.",
                         "Correct the profile, and compare it with the venue's contract (docs/reference/venue-profile.md)."),
        "DOC-CHAIN": Info("the transcript's chain breaks", "A record that was changed after the fact.",
                         "Do not go on; keep the file as evidence and tell the facilitator."),
        "DOC-SEAL": Info("a seal of the transcript is wrong", "A transcript that was rewritten after it was sealed.",
                        "Do not go on; keep the file as evidence and tell the facilitator."),
    }),
    "QR": Family("Documents and requests as QR codes", {
        "QR-FORM": Info("not a ur:… text in Bytewords", "Codes of other programs, and damaged ones.", SCAN),
        "QR-CRC": Info("a wrong checksum, of a frame or of the whole message", "A code that was misread, frames that do not belong together.",
                      SCAN),
        "QR-LIMIT": Info("too long for a transfer by codes", "Codes that exhaust the machine that scans them.",
                        "Take the document by file."),
        "QR-PART": Info("a part whose numbers disagree", "Frames made to confuse the receiver.", SCAN),
        "QR-MIXED": Info("a frame of another message, or one that contradicts the others", "Two messages mixed into one.",
                        "If the other screen shows something else now, start again; otherwise find out where the frame comes from."),
        "QR-CBOR": Info("not CBOR within bounds", "Codes that exhaust the parser, or are read differently by two programs.", SCAN),
        "QR-IMAGE": Info("not a picture or video that can be read", "Files that crash a picture library.",
                        "Take or copy the picture again."),
        "QR-INCOMPLETE": Info("the pictures end before the transfer is complete", "Half a document taken for a whole one.",
                             "Take more pictures of the page, or let it play longer, and scan again."),
        "QR-TYPE": Info("a code of the wrong kind", "A wallet's code taken for a document, or the other way round.",
                       "Check what the other screen shows, and for which command."),
        "QR-FIELD": Info("a member missing, unknown or out of range in a wallet's code (EIP-4527)", "Data that no check would look at; private keys.",
                        "Check that the other wallet speaks EIP-4527, and scan again."),
        "QR-ENVELOPE": Info("not an Airlock document, or one of another ceremony", "The wrong code, or a version that this program does not know.",
                           "Check what the other screen shows, and that both machines run the same version."),
        "QR-INFLATE": Info("it cannot be decompressed, or becomes too large", "A small code that becomes too large for the machine.", SCAN),
        "QR-FINGERPRINT": Info("the document's fingerprint is wrong", "Two documents mixed into one, which no checksum notices.",
                              "Stop: this is not the document that was shown. Scan it again, and compare the fingerprint on both screens."),
    }),
    "PIN": Family("The pinned deployment", {}),
    "AIRGAP": Family("The network guard", {
        "AIRGAP-SOCKET": Info("something tried to use the network", "A signing machine that sends data.",
                             "Stop. Sign nothing until you know which program or library did it."),
        "AIRGAP-SECCOMP": Info("the kernel does not refuse sockets to this program", "Native code and child processes that use the network.",
                              "Use a Linux kernel with seccomp on x86_64 or arm64 (docs/reference/kernel.md), and start again."),
        "AIRGAP-INTERFACE": Info("a network interface of the signing machine is up", "A signing machine that somebody can reach.",
                                "Unplug the cable, switch the interface off (nmcli networking off, or ip link set NAME down), and look again."),
        "AIRGAP-ROUTE": Info("a route leads out of the signing machine", "A signing machine that sends data.",
                            "Take down the interface that the route uses, and look again."),
        "AIRGAP-RADIO": Info("a radio of the signing machine is not blocked", "A way out of the room that no cable shows.",
                            "Switch it off in the firmware's set-up, or run: rfkill block all, and look again."),
    }),
    "TYPES": Family("The type definitions", {
        "TYPES-DOCUMENT": Info("not an EIP-712 document", "Members beside the typed data, which nobody signs.", STOP),
        "TYPES-FORM": Info("a malformed type definition", "Definitions that two programs read differently.", STOP),
        "TYPES-UNDEFINED": Info("an undefined type", "A type that hashes differently from program to program.", STOP),
        "TYPES-PRIMARY": Info("no such primary type", "A message of another type than the one shown.", STOP),
    }),
    "DOMAIN": Family("The EIP-712 domain", {
        "DOMAIN-EMPTY": Info("an empty domain", "A signature that is valid for any contract on any chain.", STOP),
        "DOMAIN-ORDER": Info("the domain's fields are reordered", "A separator that no contract computes.", STOP),
    }),
    "MSG": Family("The message's values", {}),
    "DIGEST": Family("The digest", {
        "DIGEST-OPINION": Info("no second opinion on the digest", "A digest that only one program has computed.",
                              "Sign again. If it happens again, sign nothing until you know why the second process does not answer."),
        "DIGEST-LEDGER": Info("the Ledger's app signs another digest for data of this kind", "A signature that recovers to nobody's address.",
                              "Have the signer sign it by hashes, or not with a Ledger: no setting of the app changes it."),
        "DIGEST-DISAGREE": Info("two implementations disagree on the digest", "A fault in one of them.",
                               REPORT_FAULT),
    }),
    "ENC": Family("The ABI encoding", {
        "ENC-DISAGREE": Info("two implementations disagree on the encoding", "A fault in one of them.",
                            REPORT_FAULT),
    }),
    "PLAN": Family("The plan", {
        "PLAN-FORM": Info("the plan is malformed", "A plan that people and program read differently.", PLAN),
        "PLAN-ADDRESS": Info("not an address in the plan", "A mistyped address agreed on by everybody.", PLAN),
        "PLAN-AMOUNT": Info("not an exact amount in the plan", "An amount that is rounded or read differently.", PLAN),
        "PLAN-OWN-LIMIT": Info("the plan breaks its own limits", "A limit that people rely on and that has no effect.", PLAN),
        "PLAN-CODE": Info("not a referral code", "A code that is padded, or that is another code than it seems.", PLAN),
        "PLAN-PATH": Info("a path at which the Ledger signs nothing", "A ceremony that fails at the Ledger.",
                          "Give the path of the account as it was made: m/44'/60'/x'/0/0 by Ledger, m/44'/60'/0'/x by older wallets."),
        "PLAN-SIGNER": Info("no such signer in the plan", "A step without a signer.", PLAN),
        "PLAN-WIDTH": Info("the Ledger takes no integers of this width", "A ceremony that fails at the Ledger, with a message about a setting.",
                           "Sign this struct by its hashes, or not with a Ledger: no setting of the app changes it."),
    }),
    "ROLE": Family("The people of a ceremony", {
        "ROLE-TEXT": Info("a name or a reason that is empty, too long or not readable", "A record that people cannot read, or that changes the screen.",
                         "Type it again, in one line and in letters that every screen shows."),
        "ROLE-KNOWN": Info("a role that the plan does not name, or that nobody holds", "A confirmation without a person.",
                          "Name a role of the plan that somebody holds: see ceremony show."),
        "ROLE-SAME": Info("one person is both signer and witness", "One person who checks their own work.",
                         "Find a second person. Without one, the ceremony stays incomplete."),
        "ROLE-OPEN": Info("no ceremony with this plan and these people is open", "A confirmation that belongs to another plan or day.",
                         "Begin the ceremony with this plan: ceremony begin. An ended ceremony is not opened again."),
        "ROLE-EARLY": Info("confirmed before it happened", "A checkpoint that people confirm before they could compare anything.",
                          "First do the checkpoint's work on this machine, then confirm it."),
        "ROLE-WORDS": Info("words that are not on the paper, or not on the other machine's screen",
                          "A plan, a deployment or a program that was exchanged before the day. Two documents that people take for one, because nobody "
                          "read both screens.",
                          "Stop. Compare the whole fingerprint with the paper, or on both screens. If it differs, something was changed on the way. "
                          "If a word on the paper was written wrongly, correct it, and give the command again. If both screens are the same, "
                          "record it by `ceremony compare --by ROLE`; a document that is not on record yet is named with `--file`."),
        "ROLE-INCOMPLETE": Info("the ceremony ended with something missing", "A ceremony without its witness that is taken for a complete one.",
                               "Tell those who rely on it what is missing. Only a new ceremony can be complete."),
    }),
    "SIGNER": Family("The signer", {
        "SIGNER-DEVICE": Info("the Ledger has another account at this path", "Signing with the wrong Ledger or path.",
                             "Check that this is the right Ledger, and the path in the plan."),
    }),
    "TIME": Family("Times", {}),
    "NONCE": Family("Nonces", {}),
    "TEXT": Family("Texts", {}),
    "TX": Family("Transactions", {
        "TX-DISAGREE": Info("two implementations disagree on the transaction", "A fault in one of them.",
                           REPORT_FAULT),
    }),
    "AUTH": Family("EIP-7702 authorizations", {}),
    "ORDER": Family("Route and order type", {}),
    "SIG": Family("Signatures", {}),
    "PROOF": Family("A delegate key's proof", {
        "PROOF-CHALLENGE": Info("a proof made for something else", "A proof of another ceremony, plan, step or account that is used again.",
                               "Have the delegate key sign this plan's own challenge: airlock-offline delegate challenge."),
        "PROOF-SIGNER": Info("the delegate key did not sign this challenge", "A delegate key that a stranger holds, or that nobody holds.",
                            "Check the delegate's address in the plan and which key signed, and have it sign the challenge unchanged."),
    }),
    "KIT": Family("The kit, and what was installed from it", {
        "KIT-MANIFEST": Info("the kit's list does not match the kit's fingerprint", "A kit that somebody else made.",
                            "Compare the fingerprint with the one that you received by another way. If they differ, do not install; get the kit again."),
        "KIT-FILE": Info("a file of the kit is changed, missing or not in its list", "A program altered on its way to the signing machine.",
                        "Do not install from this kit: get it again, and find out where it was altered."),
        "KIT-INSTALLED": Info("an installed file is changed, missing or not in the kit's list", "A program altered on the signing machine.",
                             "Sign nothing here. Run verify.sh from the kit's medium, find out who changed it, and install again into a new folder."),
    }),
    "REPORT": Family("The report of a ceremony", {
        "REPORT-ARTEFACT": Info("the folder's artefacts are not those that its report names", "Evidence swapped, lost or added after the fact.",
                               "Do not rely on this folder: find the original folder, or make the report again."),
        "REPORT-FIELD": Info("report.json does not match its artefacts", "A report that does not match its evidence.",
                            "Do not rely on this report: make it again from the artefacts."),
        "REPORT-PAGE": Info("report.html is not the page of its report", "A page for people that does not match the evidence.",
                           "Do not rely on this page: make it again from the artefacts."),
        "REPORT-MATCH": Info("artefacts that contradict each other", "Evidence put together from several ceremonies.",
                            "Find out which file belongs to another ceremony, plan or machine, and give the right one."),
    }),
}  # fmt: skip
"""In the order in which the documentation has them."""

ALL_CHECKS: tuple[Check, ...] = (
    *document.CHECKS, times.time_is_stated, *intent.BEFORE_MESSAGE, *intent.AFTER_MESSAGE, *agreement.STEP_CHECKS,
    *agreement.PLAN_CHECKS, *agreement.INTENT_CHECKS, *times.CHECKS, *agreement.TEXT_CHECKS, *transaction.CHECKS,
    *transaction.AUTHORIZATION_CHECKS[:-1], *nonces.CHECKS, document.key_is_proved,
)  # fmt: skip
"""Every check that is a function of its own, in the order in which they run."""

READINGS: tuple[Check, ...] = (
    *intent.MSG_CHECKS,
    *transaction.CALL_CHECKS,
    *transaction.FORM_CHECKS,
    *SIG_CHECKS,
)
"""Checks of which one reading answers for several."""

_DESCRIBED = {check.id: check.info for check in (*ALL_CHECKS, *READINGS)}

CHECKS_BY_ID: dict[str, Info] = {
    check: info
    for name, family in FAMILIES.items()
    for check, info in (family.raised | {c: i for c, i in _DESCRIBED.items() if c.split("-")[0] == name}).items()
}
"""Every id, family by family."""
