"""Putting together what the graph is handed: the same for a run and for its replay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agents.ask import Asker
from agents.desk import Desk
from agents.prompts import PromptSet
from graph.context import Arena, Rules, always
from memory.records import Battle, Draw, Frames, Video
from runs.config import RunConfig
from runs.slots import Lineup


@dataclass(frozen=True)
class Ways:
    """How a node reaches frames, draws and battles; see `graph.context.Arena`."""

    frames: Callable[[str], Awaitable[Frames]]
    draw: Callable[[str], Awaitable[Draw]]
    settle: Callable[[Battle], Awaitable[None]]
    settled: Callable[[str], Battle | None]
    wanted: Callable[[str], bool]
    lineup: Lineup
    turn: Callable[[str], Awaitable[bool]] = always


def assemble(
    config: RunConfig,
    asker: Asker,
    *,
    prompts: PromptSet,
    videos: Mapping[str, Video],
    ways: Ways,
) -> Arena:
    """Return the arena of one run."""
    return Arena(
        desk=Desk(asker, prompts, seed=config.seed, generations=ways.lineup.generations),
        examiner=config.model_of(config.examiner),
        judges=tuple(config.model_of(alias) for alias in config.judges),
        cast={alias: config.model_of(alias) for alias in config.models},
        rules=Rules(
            rounds=config.rounds,
            overall_only=config.rules.overall_only,
            share_analyses=config.rules.share_analyses,
            seats_count=config.swap == "all",
        ),
        videos=videos,
        prompts=prompts.digests,
        frames=ways.frames,
        draw=ways.draw,
        settle=ways.settle,
        settled=ways.settled,
        wanted=ways.wanted,
        turn=ways.turn,
        current=ways.lineup.current,
    )
