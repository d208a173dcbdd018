"""Every check id: what a refusal says, what the check protects from, and what the operator does.

``docs/checks.md`` is generated from this table; a test compares it with the ids that the code raises.
"""

from __future__ import annotations

from typing import NamedTuple


class Info(NamedTuple):
    """A check for people: the sentence of its refusal, what it protects from, what to do."""

    refusal: str
    protects: str
    do: str


_REBUILD = "Build the request again on the online machine; if it is refused again, stop and find out who altered it."
_STOP = "Stop. Somebody or something altered the payload: keep the file and find out where before going on."
_PLAN = "Compare the payload with the plan. If the plan is wrong, correct it, agree on it again, and prepare again."
_COPY = "Copy or scan the document again from its source, and compare the fingerprint on both screens."
_SCAN = "Scan the code again, from its source; if it is refused again, bring the document by file."
_ONE_SPELLING = "A value with several spellings, which two programs could read differently."

CHECKS: dict[str, Info] = {
    # the document as a whole
    "DOC-FILE": Info("not a regular file", "A device or pipe in place of a document.", "Give the name of a file."),
    "DOC-LINK": Info("a symbolic link", "A file swapped for another between two looks.", "Copy the file itself."),
    "DOC-SIZE": Info("too large", "A document that exhausts the signing machine.", _COPY),
    "DOC-UTF8": Info("not UTF-8", "Bytes that two programs read as different texts.", _COPY),
    "DOC-JSON": Info("not JSON", "A damaged document.", _COPY),
    "DOC-CBOR": Info("not deterministic CBOR", "Two encodings of one document, with two fingerprints.", _COPY),
    "DOC-TRUNCATED": Info("ends too early", "A document that lost its end on the way.", _COPY),
    "DOC-DUPLICATE": Info("a member twice", "One reader takes the first value, another the last.", _STOP),
    "DOC-NUMBER": Info("an unreadable number", "Numbers that are not JSON, such as NaN, or have thousands of digits.", _STOP),
    "DOC-FLOAT": Info("a fractional number", "Amounts that lose digits as floating-point numbers.", _STOP),
    "DOC-DEPTH": Info("nested too deep", "A document that exhausts the parser.", _STOP),
    "DOC-COUNT": Info("a wrong number of items", "A document with more items than it says.", _COPY),
    "DOC-FORMAT": Info("another kind of document", "The wrong file, or a version that this program does not know.",
                       "Check which file was opened, and that both machines run the same version."),
    "DOC-FIELD": Info("a member missing, unknown or of the wrong type", "Data that no check would look at.", _COPY),
    "DOC-DEPLOYMENT": Info("the deployment contradicts itself or our scales", "Interchangeable intents, and amounts shown wrong.",
                           "Fetch the deployment again, and ask the venue."),
    "DOC-CHAIN": Info("the transcript's chain breaks", "A record that was changed after the fact.",
                      "Do not go on; keep the file as evidence and tell the facilitator."),
    "DOC-SEAL": Info("a seal of the transcript is wrong", "A transcript that was written anew after it was sealed.",
                     "Do not go on; keep the file as evidence and tell the facilitator."),
    # codes
    "QR-FORM": Info("not a ur:… text in Bytewords", "Codes of other programs, and damaged ones.", _SCAN),
    "QR-CRC": Info("a wrong checksum, of a frame or of the whole message", "A code that was misread, frames that do not belong together.",
                   _SCAN),
    "QR-LIMIT": Info("longer than a transfer by codes may be", "Codes that exhaust the machine before the camera.",
                     "Take the document by file."),
    "QR-PART": Info("a part whose numbers disagree", "Frames made to confuse the receiver.", _SCAN),
    "QR-MIXED": Info("a frame of another message, or one that contradicts the others", "Two messages mixed into one.",
                     "If the other screen shows something else now, start again; otherwise find out where the frame comes from."),
    "QR-CBOR": Info("not CBOR within bounds", "Codes that exhaust the parser, or are read differently by two programs.", _SCAN),
    "QR-IMAGE": Info("not a picture, video or sheet that can be read", "Files that a picture library would choke on.",
                     "Take or copy the picture again."),
    "QR-INCOMPLETE": Info("the pictures end before the transfer is complete", "Half a document taken for a whole one.",
                          "Show the missing frames, or let it play longer, and scan again."),
    "QR-TYPE": Info("a code of another kind than asked for", "A wallet's code taken for a document, or the other way round.",
                    "Check what the other screen shows, and for which command."),
    "QR-FIELD": Info("a member missing, unknown or out of range in a wallet's code (EIP-4527)", "Data that no check would look at; private keys.",
                     "Check that the other wallet speaks EIP-4527, and scan again."),
    "QR-ENVELOPE": Info("not an Airlock document, or of another ceremony", "The wrong code, or a version that this program does not know.",
                        "Check what the other screen shows, and that both machines run the same version."),
    "QR-INFLATE": Info("it does not inflate, or beyond all measure", "A small code that becomes more than the machine can hold.", _SCAN),
    "QR-FINGERPRINT": Info("the document's fingerprint is wrong", "A blend of two documents that no checksum notices.",
                           "Stop: this is not the document that was shown. Scan it again, and compare the fingerprint on both screens."),
    # reports
    "REPORT-ARTEFACT": Info("the folder's artefacts are not those that its report names", "Evidence swapped, lost or added after the fact.",
                            "Do not rely on this folder: find it as it was made, or make the report again."),
    "REPORT-FIELD": Info("report.json is not what the artefacts give", "A report that says something else than its evidence.",
                         "Do not rely on this report: make it again from the artefacts."),
    "REPORT-PAGE": Info("report.html is not the page of its report", "A page for people that says something else than the evidence.",
                        "Do not rely on this page: make it again from the artefacts."),
    "REPORT-MATCH": Info("artefacts that contradict each other", "Evidence put together from several ceremonies.",
                         "Find out which file is of another ceremony, plan or machine, and give the right one."),
    # pins
    "PIN-DEPLOYMENT": Info("prepared under another deployment than the pinned one", "A venue swapped for another.",
                           "Compare both fingerprints. Fetch and trust the deployment again only if you know why it changed."),
    "PIN-REHEARSAL": Info("rehearsal and production are mixed", "A rehearsal payload signed with a real key.",
                          "Use the rehearsal's own folder for rehearsals, and never its files elsewhere."),
    "AIRGAP-SOCKET": Info("something tried to use the network", "A signing machine that talks.",
                          "Stop, and find out which program or library did it before anything is signed."),
    "AIRGAP-SECCOMP": Info("the kernel does not refuse sockets to this program", "Native code and child processes that use the network.",
                           "Use a Linux kernel with seccomp on x86_64 or arm64 (docs/kernel.md), and start again."),
    "AIRGAP-INTERFACE": Info("a network interface of the signing machine is up", "A signing machine that somebody can reach.",
                             "Unplug the cable, switch the interface off (nmcli networking off, or ip link set NAME down), and look again."),
    "AIRGAP-ROUTE": Info("a route leads out of the signing machine", "A signing machine that talks.",
                         "Take the interface down that it goes through, and look again."),
    "AIRGAP-RADIO": Info("a radio of the signing machine is not blocked", "A way out of the room that no cable shows.",
                         "Switch it off in the firmware's set-up, or run: rfkill block all, and look again."),
    # the kit
    "KIT-MANIFEST": Info("the kit's list is not the one of its fingerprint", "A kit of somebody else's making.",
                         "Compare the fingerprint with the one that came by another way. If they differ, do not install; get the kit again."),
    "KIT-FILE": Info("a file of the kit is changed, missing or not in its list", "A program altered on its way to the signing machine.",
                     "Do not install from this kit: get it again, and find out where it was altered."),
    "KIT-INSTALLED": Info("an installed file is changed, missing or not in the kit's list", "A program altered on the signing machine.",
                          "Sign nothing here. Run verify.sh from the kit's medium, find out who changed it, and install again into a new folder."),
    # types
    "TYPES-DOCUMENT": Info("not an EIP-712 document", "Members beside the typed data, which nobody signs.", _STOP),
    "TYPES-FORM": Info("a malformed type definition", "Definitions that two programs read differently.", _STOP),
    "TYPES-UNDEFINED": Info("an undefined type", "A type that hashes differently from program to program.", _STOP),
    "TYPES-PRIMARY": Info("no such primary type", "A message of another type than the one shown.", _STOP),
    "TYPES-KNOWN": Info("a struct that Airlock does not know", "A message whose meaning nobody here can show.", _STOP),
    "TYPES-INTENT": Info("the payload calls itself something else than its type", "A label that hides the type.", _STOP),
    "TYPES-PINNED": Info("the type definition is not the pinned one", "A field renamed, retyped, moved or added.", _STOP),
    # domain
    "DOMAIN-EMPTY": Info("an empty domain", "A signature that is valid for any contract on any chain.", _STOP),
    "DOMAIN-ORDER": Info("the domain's fields are reordered", "A separator that no contract computes.", _STOP),
    "DOMAIN-FIELDS": Info("the domain has other fields than the four", "A domain that binds less, or something else.", _STOP),
    "DOMAIN-NAME": Info("the domain's name is not the pinned one", "An intent for another application.", _STOP),
    "DOMAIN-VERSION": Info("the domain's version is not the pinned one", "An intent for another contract version.", _STOP),
    "DOMAIN-CHAIN": Info("the chain id is not the pinned one", "An intent that executes on another chain.",
                         "Check which network the builder serves, and fetch the deployment again if you meant to change it."),
    "DOMAIN-CONTRACT": Info("the verifying contract is not the pinned one for this struct",
                            "An intent for another contract, or a trading intent under the referral domain.", _STOP),
    # message
    "MSG-FIELDS": Info("fields missing or too many", "A field that is shown but not signed, or signed but not shown.", _STOP),
    "MSG-STRUCT": Info("not an object", "A nested struct replaced by something else.", _STOP),
    "MSG-INT": Info("an integer in another spelling than the accepted one", _ONE_SPELLING, _STOP),
    "MSG-RANGE": Info("an integer outside its type", "A number that wraps around into another.", _STOP),
    "MSG-BOOL": Info("not true or false", 'The text "false", which many programs read as true.', _STOP),
    "MSG-ADDRESS": Info("not an address, or its checksum is wrong", "An address mistyped or altered.", _STOP),
    "MSG-BYTES": Info("not bytes of the type's length", _ONE_SPELLING, _STOP),
    "MSG-STRING": Info("not a text", "A text without a UTF-8 form.", _STOP),
    "MSG-ARRAY": Info("not an array of the type's length", "Elements beyond what the type holds.", _STOP),
    # consistency
    "DIGEST-MATCH": Info("the payload's digest is not that of its message", "A digest of something else than is shown.", _STOP),
    "DIGEST-OPINION": Info("no second opinion on the digest", "A digest that only one program has computed.",
                           "Sign again; if it happens again, find out why the second process does not answer before anything is signed."),
    "DIGEST-DISAGREE": Info("two implementations disagree on the digest", "A fault in one of them.",
                            "Do not sign. Report the payload to the maintainers: this should never happen."),
    "ENC-MATCH": Info("encodedIntent is not the encoding of the message", "Executing something else than was signed.", _STOP),
    "ENC-CANONICAL": Info("an encoding that is not canonical", "Bytes that a contract may read differently.", _STOP),
    "ENC-DISAGREE": Info("two implementations disagree on the encoding", "A fault in one of them.",
                         "Do not sign. Report the payload to the maintainers: this should never happen."),
    # the plan
    "PLAN-FORM": Info("the plan is malformed", "A plan that people and program read differently.", _PLAN),
    "PLAN-ACTION": Info("another action than the plan's step", "A delegate registration in place of a close.", _PLAN),
    "PLAN-ADDRESS": Info("not an address in the plan", "A mistyped address agreed on by everybody.", _PLAN),
    "PLAN-AMOUNT": Info("not an exact amount in the plan", "An amount that is rounded or read differently.", _PLAN),
    "PLAN-CODE": Info("not a referral code", "A code that pads or reads differently.", _PLAN),
    "PLAN-SIGNER": Info("no such signer in the plan", "A step that nobody is named for.", _PLAN),
    "PLAN-FINGERPRINT": Info("prepared for another plan", "A plan swapped or edited after it was agreed.", _PLAN),
    "PLAN-NAME": Info("the plan is for another deployment or ceremony", "Signing for the wrong venue.", _PLAN),
    "PLAN-STEPS": Info("steps missing, extra, repeated or out of order", "A payload that nobody planned.", _PLAN),
    "PLAN-STEP": Info("not a step of the plan", "A payload that nobody planned.", _PLAN),
    "PLAN-REQUEST": Info("asked of the builder otherwise than the plan says", "A request altered on the online machine.",
                         _REBUILD),
    "PLAN-FIELD": Info("a field is not what the plan says", "Another amount, account, pair, code or time.", _PLAN),
    "PLAN-UNDECIDED": Info("nobody decides this field", "A field that the builder sets as it likes.", _PLAN),
    "PLAN-LIMIT": Info("the builder chose beyond the plan's limit", "A price tolerance or text nobody agreed to.", _PLAN),
    # the people of a ceremony
    "ROLE-TEXT": Info("a name or a reason that is empty, too long or not readable", "A record that nobody can read, or that acts on a screen.",
                      "Type it again, in one line and in letters that every screen shows."),
    "ROLE-KNOWN": Info("a role that the plan does not name, or that nobody holds", "A confirmation by nobody in particular.",
                       "Name a role of the plan that somebody holds: see ceremony show."),
    "ROLE-SAME": Info("one person is both signer and witness", "A second pair of eyes that is the first one.",
                      "Find a second person; or name nobody, and the ceremony stays incomplete."),
    "ROLE-OPEN": Info("no ceremony with this plan is open, or one with other people is", "A confirmation that belongs to another plan or day.",
                      "Begin the ceremony with this plan: ceremony begin. What was ended is not opened again."),
    "ROLE-EARLY": Info("confirmed before it happened", "A station that people sign off without having looked at anything.",
                       "Do first what the station is about, on this machine, and confirm it then."),
    "ROLE-INCOMPLETE": Info("the ceremony ended with something missing", "A ceremony without its witness that passes for a whole one.",
                            "Tell those who rely on it what is missing. Only another ceremony can be complete."),
    # the signer
    "SIGNER-RULE": Info("signerRule is not the one for this struct", "A delegate registering delegates.", _STOP),
    "SIGNER-PLANNED": Info("another signer or path than the plan's", "The wrong key.", _PLAN),
    "SIGNER-ALLOWED": Info("this key may not sign for this trader", "A signature that the contract would reject.",
                           "Look at the plan: its signer is the account that it acts for, or says delegate_of = that account. "
                           "Correct the plan, or, if it is right, find out who altered the payload."),
    "SIGNER-DELEGATE": Info("the delegate's registration is not live", "A signature that the contract would reject.",
                            "Register the delegate, or renew it, and prepare again."),
    "SIGNER-DEVICE": Info("the Ledger has another account at this path", "Signing with the wrong Ledger or path.",
                          "Check that this is the right Ledger, and the path in the plan."),
    # time
    "TIME-UNIT": Info("milliseconds and seconds are mixed up", "A deadline fifty thousand years away.", _REBUILD),
    "TIME-REMAINING": Info("too little time is left", "A signature that expires on its way.", _REBUILD),
    "TIME-HORIZON": Info("the deadline is too far away", "A signature that can be kept and used later.", _REBUILD),
    "TIME-STAMP": Info("signTimestamp is in the future or old", "A trigger without a deadline, signed long ago.", _REBUILD),
    "TIME-EXPIRY": Info("the delegate's expiry is past", "A registration that does nothing.", _PLAN),
    "TIME-OPENED": Info("the position would have been opened in the future", "A made-up position.", _REBUILD),
    "TIME-CLOCK": Info("nobody has vouched for this machine's clock today", "A clock that makes an old signature look young.",
                       "Read the time from a watch and run airlock-offline preflight --time, then go on."),
    # nonces
    "NONCE-USED": Info("another intent was signed with this nonce", "Two signatures of which only one can ever be used.",
                       "Prepare again: the builder draws another nonce. If it repeats one again, stop and find out why."),
    "NONCE-PENDING": Info("an earlier signature for this step may still execute", "A step that is executed twice.",
                          "Wait until it can no longer execute, and find out whether it did; without a deadline, cancel it "
                          "at the venue and agree on a new plan, with another id for the step."),
    "NONCE-BATCH": Info("two items of the document have one nonce", "Two signatures of which only one can ever be used.",
                        _REBUILD),
    # texts
    "TEXT-SCRIPT": Info("a referral code in other letters than plain ASCII", "A code that reads like another one.",
                        "Compare the code points with the code that you mean. If it is meant, give all 32 bytes in the plan."),
    # the order
    "ORDER-ROUTE": Info("sent to another service than this struct's", "An intent executed by the wrong service.", _REBUILD),
    "ORDER-TYPE": Info("the order type is not this struct's on this pair", "An intent decoded as another one.", _REBUILD),
    "ORDER-OPEN": Info("not a market order of this pair's kind", "A limit order sent to the market.", _PLAN),
    # transactions
    "TX-KEYS": Info("members that an unsigned transaction does not have", "Access lists, blobs or authorisations.", _STOP),
    "TX-HEX": Info("calldata that is not hex", "Bytes that two programs read differently.", _STOP),
    "TX-SELECTOR": Info("a function that Airlock does not know", "A call whose meaning nobody here can show.", _STOP),
    "TX-NESTED": Info("a delegated call within a delegated call", "A call hidden one level deeper than is shown.", _STOP),
    "TX-DELEGABLE": Info("a call that a delegate may not make", "A delegate that approves or names delegates.", _STOP),
    "TX-CHAIN": Info("the chain id is not the pinned one", "A transaction for another chain.",
                     "Check which network the builder serves, and fetch the deployment again if you meant to change it."),
    "TX-TO": Info("not the pinned contract of this function", "A call to a contract of somebody else's.", _STOP),
    "TX-FROM": Info("from is not the signer", "A transaction that another account would have to send.", _REBUILD),
    "TX-VALUE": Info("it sends native currency", "Money that goes along with a call that needs none.", _STOP),
    "TX-TRADER": Info("made for another account than the plan's", "A delegated call for somebody else's account.", _STOP),
    "TX-DELEGATE": Info("the delegate's registration is not live", "A call that the contract would reject.",
                        "Register the delegate, or renew it, and prepare again."),
    "TX-PAIR": Info("a pair that is not pinned, or not of this call's kind", "An order on another market than is shown.", _PLAN),
    "TX-SPENDER": Info("the approval is not for the pinned trading storage", "A contract that takes the USDC.", _STOP),
    "TX-UNLIMITED": Info("an unlimited approval that the plan does not ask for", "A contract that may take everything.",
                         'Write the amount into the plan; or the word unlimited, if that is really meant.'),
    "TX-FEES": Info("fees above the plan's limit, or contradicting themselves", "A treasury spent on fees.", _REBUILD),
    "TX-GAS": Info("a gas limit out of reason", "A transaction that cannot succeed, or pays for nothing.", _REBUILD),
    "TX-NONCE": Info("an account nonce out of reason", "A transaction that never executes.", _REBUILD),
    "TX-DISAGREE": Info("two implementations disagree on the transaction", "A fault in one of them.",
                        "Do not sign. Report the payload to the maintainers: this should never happen."),
    # possession of a delegate key
    "PROOF-CHALLENGE": Info("a proof made for something else", "A proof of another ceremony, plan, step or account used once more.",
                            "Have the delegate key sign this plan's own challenge: airlock-offline delegate challenge."),
    "PROOF-SIGNER": Info("the delegate key did not sign this challenge", "A delegate key that is somebody else's, or nobody's.",
                         "Check the delegate's address in the plan and which key signed, and have it sign the challenge as it is."),
    "PROOF-DELEGATE": Info("nobody has shown that the delegate key is held", "An address registered by mistake, which somebody else may hold.",
                           "Run airlock-offline delegate challenge, have the delegate key sign it, then airlock-offline delegate check."),
    # signatures
    "SIG-LENGTH": Info("not 65 bytes", "A compact or damaged signature.", _COPY),
    "SIG-V": Info("v is neither 27 nor 28", "A signature in another convention.", _COPY),
    "SIG-RANGE": Info("r or s is not a number of the curve", "A made-up signature.", _STOP),
    "SIG-LOW-S": Info("s is in the upper half", "A second valid form of the same signature.", _STOP),
    "SIG-DIGEST": Info("signed over another digest", "A signature for something else.", _STOP),
    "SIG-SIGNER": Info("signed by another key", "The wrong account, or a fault in the device.",
                       "Check the derivation path and that the right Ledger is plugged in."),
}  # fmt: skip
