"""What plays the questions of a bench, of whatever kind: an answer, asked once, and what follows.

The contestant and the judge are those of a run, with the same prompts, fences and journal. Nothing
is decided here that the journal does not say again: to play a question twice costs nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple

from typing_extensions import TypeVar

from videoautoarena.agents.calls.replies import answer_of
from videoautoarena.agents.roles.answer import answer
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import CallFailed, FramesLost, UnusableVideo
from videoautoarena.memory.records.records import CallRow, VideoFrames
from videoautoarena.runs.bench.format.schema import Entry, Item, Shape, digest_of
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.run.rundir.frames import RunFrames

NO_VIDEO = "no video"
"""How the reason of a void begins whose video is lost."""
End = Literal["judged", "forfeit", "void"]
E = TypeVar("E", bound=Entry, default=Item)


class Said(NamedTuple):
    """What a player answered; without an answer, why."""

    text: str | None
    reason: str | None = None
    is_ours: bool = False
    """Whether the player was never asked, so that it is not at fault."""
    row: CallRow | None = None
    """The call that gave it; None if none did."""


class Outcome(NamedTuple):
    """How a question ended for one player."""

    lines: Sequence[Shape]
    """Lines as they stand in the file of its result."""
    same: Sequence[bool]
    """Whether the judge said the same twice, for each judging from both seats."""
    end: End
    reason: str | None = None
    """Why it was not judged."""


@dataclass(frozen=True)
class Game(ABC, Generic[E]):
    """Plays questions through a prompter.

    Players of one model are asked a question one at a time, since they may be asked the same, as
    one whose views show it nothing: what the first is answered stands in the journal for others.
    """

    cast: BenchCast
    prompter: Prompter
    run_frames: RunFrames
    films: BenchVideos
    on_failed: Callable[[str], None] = lambda _scope: None
    """Called with the scope of every call that failed for good."""

    @abstractmethod
    async def play(self, item: E, player: Player) -> Outcome:
        """Return how a question ended for one player."""

    @abstractmethod
    def asked(self, item: E) -> str:
        """Return what contestants are asked."""

    async def answer(self, item: E, player: Player) -> Said:
        """Return what a player answers; what was handed in is not asked for."""
        why = self.films.lost.get(item.video_id)
        if why is not None and self.cast.needs_video(player):
            return Said(None, f"{NO_VIDEO}: {why}", is_ours=True)
        if player.model is None:
            given = self._without_thoughts(player.given.get(item.qid, ""))
            return Said(given) if given.strip() else Said(None, "no answer was handed in")
        scope = scope_of(item)
        try:
            async with self.prompter.asker.in_turn(f"{scope} {player.model.resolved}"):
                said = await answer(
                    self.prompter,
                    player.model,
                    frames=await self.seen(item, player),
                    question=self.asked(item),
                    slot=scope,
                    seat=0,
                )
        except UnusableVideo as why:
            return Said(None, f"no answer: {why}", is_ours=True)
        except CallFailed as failure:
            self.on_failed(scope)
            # That frames are gone is no fault of the model, so it forfeits nothing.
            return Said(None, f"no answer: {failure}", is_ours=isinstance(failure, FramesLost))
        return Said(said.answer.text, row=said.row)

    def _without_thoughts(self, given: str) -> str:
        """Return an answer that was handed in without what its model thought."""
        reading = self.prompter.prompts.reading
        # The first way of reading judged it as it came; what is judged is part of a call's key.
        return given if reading == 1 else answer_of(given, reading=reading)

    async def seen(self, item: E, player: Player) -> VideoFrames:
        """Return the frames that a player is shown a part of; its video may not be at hand."""
        return no_frames(item) if player.is_blind else await self.frames(item)

    def shown(self, item: E, player: Player) -> tuple[str, ...]:
        """Return the own ids of the videos a player is shown, first the one it is asked about.

        Empty if the video is not at hand and nobody looks at it.
        """
        video = self.films.videos.get(item.video_id)
        if not self.cast.needs_video(player) and (
            video is None or video.id not in self.films.files
        ):
            return ()
        return (self.films.videos[item.video_id].id,)

    def has_frames(self, item: E) -> bool:
        """Return whether the frames of a question's video were looked at before."""
        return self.run_frames.has(self.films.videos[item.video_id].id)

    async def frames(self, item: E) -> VideoFrames:
        """Return the frames of the video that a question is about."""
        return await self.run_frames.frames(self.films.videos[item.video_id].id)


def no_frames(item: Entry) -> VideoFrames:
    """Return what a model that sees no frames is shown of an item's video."""
    # By the bench's id, whether the video is at hand or not: no call of a blind model depends on
    # it.
    return VideoFrames(video=digest_of(item.video_id)[:12], width_px=0, height_px=0, frames=())


def scope_of(item: Entry) -> str:
    """Return the scope of a question's answers; a qid may hold anything, a scope does not."""
    return f"bench-{digest_of(item.qid)[:16]}"
