"""A set of dialogues to review."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dialogue_sets import dialogue, write_dialogues
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.schema import DialogueItem


@pytest.fixture
def made(tmp_path: Path) -> OpenBench[DialogueItem]:
    """Return a set of two dialogues, each of three rounds of which the last two are scored."""
    return write_dialogues(tmp_path / "set", [dialogue("a"), dialogue("b", 1)])
