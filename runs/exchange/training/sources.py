"""What rows say beside the battle: file and licence of the video, categories, frames as sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Battle, Frames, Video
from videoautoarena.runs.analysis.categories.tags import categories_of as question_categories
from videoautoarena.runs.exchange.training.rows import SentFrames
from videoautoarena.runs.formats.language import UNKNOWN, asked_language
from videoautoarena.runs.run.rundir.account import places_of
from videoautoarena.runs.run.rundir.reader import Run

FRAMES_KEPT = 64
"""Videos whose frames' digests are in memory at once."""


class Sources:
    """What a run knows of its videos and questions, read once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._frames = lru_cache(maxsize=FRAMES_KEPT)(self._read_frames)

    @cached_property
    def videos(self) -> Mapping[str, Video]:
        """The videos by their ids."""
        return {video.id: video for video in self._run.store.videos()}

    @cached_property
    def licences(self) -> Mapping[str, str]:
        """The licence of each video that has one, by its id."""
        return licences_of(self._run)

    @cached_property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """The categories of each battle's question that was tagged, by the battle's id."""
        return categories_of(self._run)

    def categories_of(self, battle: Battle) -> tuple[str, ...] | None:
        """Return the categories of a battle's question; None where it was not tagged."""
        found = self.categories.get(battle.id)
        return None if found is None else tuple(found)

    def about(self, battle: Battle) -> dict[str, Any]:
        """Return the fields of `About`."""
        video = self.videos.get(battle.video)
        if video is None:
            raise StoreError(f"battle {battle.id} is about a video that the run file does not hold")
        language = asked_language(battle.language, battle.question)
        return {
            "video": video.id,
            "path": video.path,
            "sha256": video.sha256,
            "duration_s": battle.duration_s,
            "category": battle.category,
            "licence": self.licences.get(video.id),
            "persona": there(battle, "persona_text"),
            "persona_index": battle.persona,
            "language": None if language == UNKNOWN else language,
        }

    def sent(self, video: str, times: tuple[float, ...]) -> SentFrames:
        """Return frames that were sent, at these times; without digests where one is not known."""
        frames = self._frames(video)
        if frames is None:
            return SentFrames(times_s=times, digests=None if times else ())
        places = places_of([frame.time_s for frame in frames.frames], times)
        digests = tuple(frames.frames[place].digest for place in places)
        return SentFrames(times_s=times, digests=digests if len(digests) == len(times) else None)

    def _read_frames(self, video: str) -> Frames | None:
        return self._run.store.frames(video)


def licences_of(run: Run) -> Mapping[str, str]:
    """Return the licence of each video of a run that has one, by the video's id."""
    return {video: one.licence for video, one in run.facts().items() if one.licence}


def categories_of(run: Run) -> Mapping[str, Sequence[str]]:
    """Return the categories of each battle's question that was tagged, by the battle's id."""
    return question_categories(run)


def there(battle: Battle, name: str) -> Any:
    """Return a part of a decided battle; StoreError where it has none."""
    value = getattr(battle, name)
    if value is None:
        raise StoreError(f"battle {battle.id} is decided but has no {name}; the file is damaged")
    return value
