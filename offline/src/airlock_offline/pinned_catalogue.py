"""What shipped when a deployment without a profile was pinned: an upgrade that ships otherwise is shown and pinned again."""

from __future__ import annotations

from pathlib import Path

from airlock_offline.home import is_as_pinned, shipped_path
from airlock_shared.catalogue.profile import shipped, text_of
from airlock_shared.catalogue.profile_words import profile_words
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import DocumentError
from airlock_shared.host.files import current, make_folder, read_input, write_new


def keep_shipped(home: Path, deployment: Deployment) -> None:
    """Keep what ships now beside a pin, before the pin is made."""
    path = shipped_path(home, deployment)
    if not deployment.signed and not path.exists():
        make_folder(path.parent)
        write_new(path, text_of(shipped()).encode())


def changed_since(home: Path, deployment: Deployment) -> list[str]:
    """Return what was pinned and ships no longer, a line each; empty where what ships is what was pinned."""
    if is_as_pinned(home, deployment):
        return []
    kept = max(current(shipped_path(home, deployment).parent), key=lambda file: file.stat().st_mtime_ns, default=None)
    try:
        words = [*profile_words(read_input(kept).decode())] if kept else []
    except (DocumentError, ValueError) as error:
        words = [f"what was pinned cannot be read by this release: {error}"]
    return words or ["what was pinned is not kept: read everything that ships, in docs/reference/generated"]
