"""Plain videos, drawn and looked at once for all tests of a worker."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.plain_videos import draw_plain_videos
from videoautoarena.runs.making.tasks.options import Bank
from videoautoarena.runs.making.tasks.sight import Looked, look
from videoautoarena.video.folder.find import find_videos


@pytest.fixture(scope="session")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of seven videos that look different; copy, never change."""
    return draw_plain_videos(tmp_path_factory.mktemp("plain") / "videos")


@pytest.fixture(scope="session")
def looked(videos: Path) -> Looked:
    """What these videos look like."""
    found = find_videos(videos).videos
    return asyncio.run(look(videos, found, on_progress=lambda _done, _total, _words: None))


@pytest.fixture(scope="session")
def bank(looked: Looked) -> Bank:
    return Bank(looked.footage)
