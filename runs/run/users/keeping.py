"""The users of a file as a run keeps them: copied once, and never read from the file again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from videoautoarena.memory.records.digests import (
    canonical_json,
    digest,
    read_body,
    write_body,
)
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.users.bring import BroughtUser, UserFile, digest_of, read_users

if TYPE_CHECKING:
    from videoautoarena.runs.run.config.run_config import RunConfig, Settings
    from videoautoarena.video.folder.find import Findings

FILE = "users"
"""Name in the run's file of the users that were brought; with a video's id, of those seated."""


def users_text(file: UserFile | None) -> dict[str, str]:
    """Return what a run that begins keeps of the users brought to it, by its name there."""
    return {} if file is None else {FILE: write_body(file)}


def kept_file(store: Store) -> UserFile | None:
    """Return the users that were brought to a run; StoreError where they are damaged."""
    found = store.file(FILE)
    return read_body(UserFile, found.text) if found else None


def merged_users(kept: Sequence[UserFile | None]) -> UserFile | None:
    """Return the users of all files that were brought to runs; None where one has them all."""
    # Of one file the same bytes may stand for users of other videos, in each run its own.
    files = list({write_body(file): file for file in kept if file is not None}.values())
    if len(files) < 2:
        return None
    digests = list(dict.fromkeys(file.sha256 for file in files))
    users = dict.fromkeys(write_body(user) for file in files for user in file.users)
    return UserFile(
        name=", ".join(dict.fromkeys(file.name for file in files)),
        sha256=digests[0] if len(digests) == 1 else digest(canonical_json(digests)),
        users=tuple(read_body(BroughtUser, user) for user in users),
    )


def with_users(
    settings: Settings, found: Findings, folder: Path
) -> tuple[RunConfig, UserFile | None]:
    """Return the configuration of a run that begins, and the users brought to it; or BadInput."""
    if settings.personas is None:
        return settings.config, None
    users = read_users(settings.personas, found, folder)
    return settings.config.model_copy(update={"personas": users.sha256}), users


def changed_users(store: Store, begun_with: str | None, file: Path | None) -> tuple[str, ...]:
    """Return what to say of a file of users that changed since the run began.

    Args:
        store: of the run; StoreError where it lacks the users that it began with.
        begun_with: digest of the file that it was begun with; None: it has no such users.
        file: what was named now, if anything was.
    """
    if begun_with is None:
        return ()
    if kept_file(store) is None:
        raise StoreError("the run has lost the users that it began with; pass another --out")
    if file is None or digest_of(file) == begun_with:
        return ()
    return (
        f"{safe(str(file))} is not the file that this run began with; the recorded users are used",
    )
