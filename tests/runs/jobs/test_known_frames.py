"""What was played elsewhere is repeated from the file of calls."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.played import video
from videoautoarena.memory.records.errors import JournalMiss, UnusableVideo
from videoautoarena.memory.records.records import Sampling
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.jobs.paid_job import KnownFrames
from videoautoarena.runs.run.rundir.failures import UNUSABLE


def test_a_video_without_frames_is_known_as_one_and_another_was_not_looked_at(
    tmp_path: Path,
) -> None:
    film = video()
    with Store.create(tmp_path / "calls.sqlite", {"schema": 2}) as store:
        store.add_videos([film])
        known = KnownFrames(store, None, files={}, sampling=Sampling(), videos={film.id: film})
        with pytest.raises(JournalMiss, match="nobody has looked"):
            asyncio.run(known.frames(film.id))
        store.put_file(f"{UNUSABLE}{film.id}", "it is damaged", replace=True)
        with pytest.raises(UnusableVideo, match="it is damaged"):
            asyncio.run(known.frames(film.id))
