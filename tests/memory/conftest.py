"""A run to write to, closed in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import runfiles
from videoautoarena.memory.store.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """Open a new run with one video and three slots."""
    with Store.create(path, {"seed": 0}) as store:
        store.add_videos([runfiles.video()])
        store.add_slots([runfiles.slot(ordinal) for ordinal in range(3)])
        yield store
