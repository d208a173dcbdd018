"""A signatures document with the requests that it answers: read, matched, and kept out of every output."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from airlock_online.delivery.deliveries import match_answers
from airlock_online.home import OnlineHome
from airlock_online.secrets import keep_secret
from airlock_shared.cli.terminal import say
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Answer, Header, Request, parse_requests, parse_signatures
from airlock_shared.errors import ExitCode, UsageError
from airlock_shared.host.files import read_input
from airlock_shared.text.safe import safe

_SIGNATURE = re.compile(r'"(?:signature|r|s)"\s*:\s*"([^"]*)')


class MatchedSignatures(NamedTuple):
    """A signatures document with the requests that it answers."""

    header: Header
    pairs: list[tuple[Request, Answer]]
    deployment: Deployment
    requests: str
    signatures: str
    offline_head: str


def read_signatures(home: OnlineHome, data: bytes, requests_file: Path | None) -> MatchedSignatures:
    """Read and match a signatures document, and note which head the signing machine names.

    Raises ``DocumentError``, ``Refusal`` or ``UsageError``.
    """
    keep_signatures_secret(data)
    answer_header, answers, signatures_fingerprint = parse_signatures(data)
    if requests_file is not None:
        answered = read_input(requests_file)
        header, items, fingerprint = parse_requests(answered)
        home.keep_requests(fingerprint, answered)
    else:
        header, items, fingerprint = home.require_requests(answer_header.requests)
    deployment = deployment_of(home, header, "sign")
    pairs = match_answers(answer_header, answers, header, items, fingerprint)
    home.note_signing_head(answer_header)
    return MatchedSignatures(
        header, pairs, deployment, fingerprint, signatures_fingerprint, answer_header.transcript_head
    )


def deployment_of(home: OnlineHome, header: Header, then: str) -> Deployment:
    """Return the deployment of requests. Raises ``UsageError`` where it is another one now, with what to do ``then``."""
    deployment = home.require_deployment(header.deployment_name)
    if deployment.fingerprint != header.deployment:
        raise UsageError(
            "the deployment changed since these requests were prepared",
            do=f"prepare and {then} again; what was sent before is followed: airlock-online follow",
        )
    return deployment


def keep_signatures_secret(data: bytes) -> None:
    """Keep the signatures in a document of JSON out of every output, before anything in it is read or refused."""
    for found in _SIGNATURE.finditer(data.decode("utf-8", "replace")):
        keep_secret(found[1])


def not_signed(request: Request, answer: Answer) -> ExitCode:
    """Say why a step has no signature, and return the exit code that this has."""
    why = safe(answer.why, limit=200)
    say(f"step {request.step} ({safe(request.action)}): not signed, {answer.result} ({why}); nothing to submit")
    refused = answer.result == "refused"
    how = "prepare it again here" if refused else "sign it on the air-gapped machine, into another file"
    say(f"  do:       if you still want it, {how}")
    return ExitCode.REFUSED if refused else ExitCode.DECLINED
