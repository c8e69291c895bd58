"""What of a bench is played, as one value: another process can play it, or repeat what it played.

Whatever was played elsewhere is known by the file of calls alone. It is repeated from there, and
ends as if it had been played here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import JournalMiss
from videoautoarena.memory.records.records import Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.play.cast import BenchCast, Player
from videoautoarena.runs.bench.play.game import Game, Outcome
from videoautoarena.runs.bench.play.rules import Rules
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.runs.jobs.paid_job import Generations, KnownFrames
from videoautoarena.runs.run.rundir.context import CallPacing, EarlyEnd, no_frames
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.video.workers.decoders import Decoders

Pair = tuple[str, str]
"""A player's name and a qid."""


class Due(NamedTuple):
    """A question that is to be played for one player."""

    pair: Pair
    videos: tuple[str, ...]
    """Own ids of the videos that are looked at for it, first the one that it is about."""


@dataclass(frozen=True)
class BenchWork:
    """Who is asked what about which videos, by which rules."""

    rules: Rules
    cast: BenchCast
    items: Sequence[Any]
    """In the order in which they are asked."""
    films: BenchVideos
    prompts: PromptSet

    @cached_property
    def videos(self) -> Mapping[str, Video]:
        """Videos by their own ids."""
        return {video.id: video for video in self.films.videos.values()}

    @cached_property
    def pairs(self) -> Mapping[Pair, tuple[Any, Player]]:
        """Every question for every player, in the order in which they are asked."""
        # Question by question, so that a bench that is cut off has the same ones of all players.
        both = product(self.items, self.cast.players)
        return {(player.name, item.qid): (item, player) for item, player in both}

    def frames(self, store: Store, decoders: Decoders) -> RunFrames:
        """Return the way to the frames of the videos."""
        return RunFrames(
            store,
            decoders,
            files=self.films.files,
            sampling=self.cast.config.sampling,
            videos=self.videos,
            preset=self.cast.preset,
        )

    def game(self, asker: Asker, store: Store, run_frames: RunFrames) -> Game[Any]:
        """Return what plays a question for a player."""
        generations = Generations(store)
        prompter = Prompter(asker, self.prompts, self.cast.config.seed, generations=generations)
        return self.rules.game(self.cast, prompter, run_frames, self.films)

    def repeated(self, store: Store) -> Game[Any]:
        """Return a game that calls nobody: JournalMiss where anything was not played."""
        # Without decoders and files: requests are found by the digests of frames that were seen
        # before.
        known = KnownFrames(
            store,
            None,
            files={},
            sampling=self.cast.config.sampling,
            videos=self.videos,
            preset=self.cast.preset,
        )
        return self.game(Asker(store.journal, no_frames, is_replay=True), store, known)


class Repetition:
    """What the file of calls says of questions."""

    def __init__(self, work: BenchWork, store: Store) -> None:
        self._work = work
        self._game = work.repeated(store)

    async def outcome(self, pair: Pair) -> Outcome | None:
        """Return how a question ended for a player; None if it was not played to its end."""
        item, player = self._work.pairs[pair]
        try:
            return await self._game.play(item, player)
        except JournalMiss:
            return None

    def due(self, pair: Pair) -> Due:
        """Return what playing a question takes, whose video must not be lost."""
        item, player = self._work.pairs[pair]
        return Due(pair, self._game.shown(item, player))


@dataclass(frozen=True)
class Remaining:
    """What of a bench is left to be played."""

    work: BenchWork
    due: Sequence[Due]
    file: Path
    """The file of its calls; nobody has it open."""
    called: frozenset[str]
    """Names of the models that may be called."""


OnPlayed = Callable[[Sequence[Pair]], Awaitable[None]]
"""Called with questions that were played to their end: the file of calls says how they ended."""


class BenchEngine(Protocol):
    """Plays a bench elsewhere than in this process."""

    async def play_bench(
        self,
        left: Remaining,
        ending: EarlyEnd,
        *,
        pace: CallPacing,
        listeners: Listeners,
        on_played: OnPlayed,
    ) -> None:
        """Fill the file of calls with what is left, and note in `ending` what ended it early."""
