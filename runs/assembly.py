"""Putting together what the graph is handed: the same for a run and for its replay."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from agents.ask import Asker
from agents.desk import Desk
from agents.prompts import PromptSet
from graph.context import Arena, Rules
from memory.records import Video
from runs.config import RunConfig
from runs.slots import Lineup


def assemble(
    config: RunConfig,
    asker: Asker,
    *,
    prompts: PromptSet,
    videos: Mapping[str, Video],
    lineup: Lineup,
) -> partial[Arena]:
    """Return the arena of a run, to be called with its ways to frames, draws and battles."""
    return partial(
        Arena,
        desk=Desk(asker, prompts, seed=config.seed, generations=lineup.generations),
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
        current=lineup.current,
    )
