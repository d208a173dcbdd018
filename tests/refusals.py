"""How a call ends that is refused: the error itself, or the id of its check."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from airlock_shared.errors import AirlockError, DocumentError, Refusal

Kind = TypeVar("Kind", bound=AirlockError)


def error_of(kind: type[Kind], call: Callable[..., object], *arguments: Any, **options: Any) -> Kind:
    """Return the error of this kind with which a call ends."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    return caught.value


def check_of(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """Return the id of the check that refuses what a call is given; a damaged document or code is a ``DocumentError``."""
    error = error_of(Refusal, call, *arguments, **options)
    assert isinstance(error, DocumentError) or not error.check.startswith(("DOC-", "QR-"))
    return error.check
