"""What differs in playing benches of one kind and another: who plays, what is asked, what ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    AnyResult,
    read_anchored,
    read_results,
)
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.play.cast import (
    BenchCast,
    CastRequest,
    Player,
    cast_against,
    refuse_dialogue_options,
    swept,
)
from videoautoarena.runs.bench.play.forecast import PlannedCall
from videoautoarena.runs.bench.play.game import Game
from videoautoarena.runs.bench.play.plan import Unknown, unknown_of
from videoautoarena.runs.bench.play.question import AnchorGame, JudgedGame, ReferenceGame
from videoautoarena.runs.bench.play.tally import Outcomes, results_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.run.rundir.frames import RunFrames


class Rules(ABC):
    """How benches of one kind are played."""

    @abstractmethod
    def cast(self, bench: OpenBench[Any], wanted: CastRequest) -> BenchCast:
        """Return who plays and who judges; or BadInput."""

    def items(self, bench: OpenBench[Any], _wanted: CastRequest) -> list[Any]:
        """Return the items that are asked."""
        return list(bench.items)

    @abstractmethod
    def game(
        self, cast: BenchCast, prompter: Prompter, run_frames: RunFrames, films: BenchVideos
    ) -> Game[Any]:
        """Return what plays one item for one player."""

    @abstractmethod
    async def unknown(self, game: Any, cast: BenchCast, item: Any) -> Unknown:
        """Return what is left of an item; `game` repeats what is known, None if nothing is."""

    @abstractmethod
    def kept(self, bench: OpenBench[Any], cast: BenchCast) -> Sequence[AnyResult]:
        """Return the results in the folder that new ones would replace."""

    @abstractmethod
    def results(
        self,
        bench: OpenBench[Any],
        cast: BenchCast,
        items: Sequence[Any],
        outcomes: Outcomes,
        *,
        prompts: PromptSet,
    ) -> list[AnyResult]:
        """Return the result of each player, its lines in the order of the bench."""


class PlayerRules(Rules):
    """Rules of benches on which each player is looked at by itself."""

    async def unknown(self, game: Any, cast: BenchCast, item: Any) -> Unknown:
        """Return what is left of an item: a player of whom nothing is missing is known."""
        known = 0
        asks = list[PlannedCall]()
        for player in cast.players:
            mine = await self.unknown_of_player(game, cast, item, player)
            known += not mine
            asks += mine
        return Unknown(known, tuple(asks))

    @abstractmethod
    async def unknown_of_player(
        self, game: Any, cast: BenchCast, item: Any, player: Player
    ) -> list[PlannedCall]:
        """Return the calls of one item for one player that a repetition lacks."""


class PreferenceRules(Rules):
    """How questions with an answer that won and one that lost are played."""

    def cast(self, bench: OpenBench, wanted: CastRequest) -> BenchCast:
        """Return who plays and who judges, and the anchor if there is one; or BadInput."""
        if wanted.frames:
            raise BadInput(f"{swept()} is for tasks with a right answer; leave it out")
        refuse_dialogue_options(wanted)
        return cast_against(bench, wanted)

    def game(
        self, cast: BenchCast, prompter: Prompter, run_frames: RunFrames, films: BenchVideos
    ) -> JudgedGame[Any]:
        """Return a game against both references, or against an anchor."""
        kind = ReferenceGame if cast.anchor is None else AnchorGame
        return kind(cast, prompter, run_frames, films)

    async def unknown(self, game: JudgedGame[Any] | None, cast: BenchCast, item: Item) -> Unknown:
        """Return which answers and judgings are left of a question."""
        return await unknown_of(game, cast, item)

    def kept(self, bench: OpenBench, cast: BenchCast) -> Sequence[AnyResult]:
        """Return the results against the references, or against this anchor."""
        if cast.anchor is None:
            return read_results(bench)
        return [one for one in read_anchored(bench) if one.anchor == cast.anchor.name]

    def results(
        self,
        bench: OpenBench,
        cast: BenchCast,
        items: Sequence[Item],
        outcomes: Outcomes,
        *,
        prompts: PromptSet,
    ) -> list[AnyResult]:
        """Return the rulings on each player's answers."""
        return [*results_of(bench, cast, items, outcomes, prompts=prompts)]
