"""Building what the graph is handed: the same for a run and for its replay."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.graph.context import Arena, Rules
from videoautoarena.memory.records.records import Video
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.runs.rundir.slots import Lineup


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
        prompter=Prompter(asker, prompts, seed=config.seed, generations=lineup.generations),
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
