"""VideoAutoArena: an arena that finds out which multimodal model understands video best.

    import videoautoarena as va

    run = va.simulate("clips", models=["openai:gpt-4o", "google_genai:gemini-2.5-flash"])
    board = run.leaderboard(style=True)
    board.ratings               # {"hawk": 1083.2, "owl": 1011.7, ...}
    board.to_frame()            # a pandas DataFrame, where pandas is installed

`simulate`, `asimulate` and `add` play, `freeze` writes a set. `audit`, `rejudge`, `tag`,
`check_tags`, `realism`, `scenes`, `write_tasks`, `make_dialogues`, `Bench.run` and `Bench.probe`
ask models: `va.tag.plan(..)` says what `va.tag(..)` costs, `va.tag.aio(..)` is to be awaited.
`open_run` reads a run, `open_bench` a frozen bench, and `rate` rates anybody's battles: none of
these calls a model or writes a file, but for embeddings that you name. What a person can act on is
an ArenaError of one line; what was given wrongly is a BadInput, and what ended early Unfinished.
Nothing of this is loaded before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from videoautoarena.memory.records.errors import (
        ArenaError,
        BadInput,
        ForeignRun,
        Unfinished,
    )
    from videoautoarena.runs.api.analyses import audit, check_tags, realism, rejudge, tag
    from videoautoarena.runs.api.bench import (
        Bench,
        BenchOptions,
        DialogueScores,
        ProbeOptions,
        Probes,
        Scores,
        TaskScores,
        open_bench,
    )
    from videoautoarena.runs.api.freezing import FreezeOptions, freeze
    from videoautoarena.runs.api.jobs import JobOptions
    from videoautoarena.runs.api.making import cut_tasks, make_dialogues, scenes, write_tasks
    from videoautoarena.runs.api.play import add, asimulate, simulate
    from videoautoarena.runs.api.results import (
        Audit,
        Categories,
        Costs,
        Frames,
        Labels,
        Leaderboard,
        Pairs,
        Profile,
        Profiles,
        Realism,
        Records,
        Rejudgings,
        Scenes,
        Setup,
        Slices,
        Status,
        TagCheck,
        Topics,
    )
    from videoautoarena.runs.api.run import RatingOptions, Run, open_run, rate
    from videoautoarena.runs.run.config.run_request import RunRequest

    __version__: str

__all__ = [
    "ArenaError",
    "Audit",
    "BadInput",
    "Bench",
    "BenchOptions",
    "Categories",
    "Costs",
    "DialogueScores",
    "ForeignRun",
    "Frames",
    "FreezeOptions",
    "JobOptions",
    "Labels",
    "Leaderboard",
    "Pairs",
    "ProbeOptions",
    "Probes",
    "Profile",
    "Profiles",
    "RatingOptions",
    "Realism",
    "Records",
    "Rejudgings",
    "Run",
    "RunRequest",
    "Scenes",
    "Scores",
    "Setup",
    "Slices",
    "Status",
    "TagCheck",
    "TaskScores",
    "Topics",
    "Unfinished",
    "__version__",
    "add",
    "asimulate",
    "audit",
    "check_tags",
    "cut_tasks",
    "freeze",
    "make_dialogues",
    "open_bench",
    "open_run",
    "rate",
    "realism",
    "rejudge",
    "scenes",
    "simulate",
    "tag",
    "write_tasks",
]
_MODULES = {
    "memory.records.errors": ("ArenaError", "BadInput", "ForeignRun", "Unfinished"),
    "runs.api.analyses": ("audit", "check_tags", "realism", "rejudge", "tag"),
    "runs.api.bench": (
        *("Bench", "BenchOptions", "DialogueScores", "ProbeOptions", "Probes", "Scores"),
        *("TaskScores", "open_bench"),
    ),
    "runs.api.freezing": ("FreezeOptions", "freeze"),
    "runs.api.jobs": ("JobOptions",),
    "runs.api.making": ("cut_tasks", "make_dialogues", "scenes", "write_tasks"),
    "runs.api.results": (
        *("Categories", "Costs", "Labels", "Profile", "Profiles", "Realism", "Setup", "TagCheck"),
        *("Audit", "Frames", "Leaderboard", "Pairs", "Records", "Rejudgings", "Slices", "Status"),
        *("Scenes", "Topics"),
    ),
    "runs.api.play": ("add", "asimulate", "simulate"),
    "runs.api.run": ("RatingOptions", "Run", "open_run", "rate"),
    "runs.run.config.run_request": ("RunRequest",),
}
"""What is loaded from where when it is first asked for."""
_PLACES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("videoautoarena")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
