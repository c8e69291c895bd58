"""Scenes that were found once, kept as JSON beside the frames of their videos."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from memory.errors import BadInput
from video.index import Index
from video.scenes import Stretch, find_scenes
from video.shelf import PART, touch

FINDER = "2"
"""Goes up whenever the same video would give other scenes by this code."""


def found_scenes(path: Path, index: Index, *, sha256: str, folder: Path) -> tuple[Stretch, ...]:
    """Return the scenes that were kept for these bytes, else find and keep them. Blocks.

    Raises:
        UnusableVideo: the file cannot be opened.
        BadInput: they cannot be kept.
    """
    kept = kept_scenes(folder, sha256)
    if kept is not None and kept[-1].end_s == index.duration_s:
        return kept
    scenes = find_scenes(path, index)
    keep_scenes(folder, sha256, scenes)
    return scenes


def kept_scenes(folder: Path, sha256: str) -> tuple[Stretch, ...] | None:
    """Return the scenes that were kept; None where there are none or they are damaged."""
    try:
        with _file(folder, sha256).open("rb") as file:
            touch(file)
            content = json.load(file)
    except (OSError, ValueError):
        return None
    return _scenes(content)


def keep_scenes(folder: Path, sha256: str, scenes: Sequence[Stretch]) -> None:
    """Write scenes whole or not at all; several processes may do so at once.

    Raises:
        BadInput: the folder cannot be written to.
    """
    file, draft = _file(folder, sha256), None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=PART)
        with os.fdopen(handle, "w") as text:
            json.dump([list(scene) for scene in scenes], text)
        os.replace(draft, file)
    except OSError as error:
        if draft is not None:
            with suppress(OSError):
                os.unlink(draft)
        raise BadInput(
            f"the frame cache {os.fspath(folder)!a} cannot be written: "
            f"{error.strerror}; set XDG_CACHE_HOME to a folder that can"
        ) from None


def _file(folder: Path, sha256: str) -> Path:
    return folder / sha256[:2] / f"{sha256}-{FINDER}.scenes"


def _scenes(content: Any) -> tuple[Stretch, ...] | None:
    """Return what JSON says of scenes, if it can be so: from 0 on without a gap."""
    try:
        scenes = tuple(Stretch(float(start), float(end)) for start, end in content)
    except (TypeError, ValueError):
        return None
    ends = [0.0, *(scene.end_s for scene in scenes)]
    is_whole = [scene.start_s for scene in scenes] == ends[:-1] and all(
        earlier < later < math.inf for earlier, later in pairwise(ends)
    )
    return scenes if scenes and is_whole else None
