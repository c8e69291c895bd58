"""VideoAutoArena: an arena that finds out which multimodal model understands video best.

    import videoautoarena as va

    run = va.simulate("clips", models=["openai:gpt-4o", "google_genai:gemini-2.5-flash"])
    board = run.leaderboard(style=True)
    board.ratings               # {"hawk": 1083.2, "owl": 1011.7, ...}
    board.to_frame()            # a pandas DataFrame, where pandas is installed

`simulate`, `asimulate` and `add` play, `freeze` writes a set. `open_run` reads a run, `open_bench`
a frozen bench, and `rate` rates anybody's battles: none of these calls a model or writes a file,
but for embeddings that you name. What a person can act on is an ArenaError of one line; what was
given wrongly is a BadInput. Nothing of this is loaded before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from videoautoarena.memory.records.errors import ArenaError, BadInput, ForeignRun
    from videoautoarena.runs.api.bench import Bench, DialogueScores, Scores, TaskScores, open_bench
    from videoautoarena.runs.api.play import add, asimulate, freeze, simulate
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
        Setup,
        Slices,
        Status,
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
    "Categories",
    "Costs",
    "DialogueScores",
    "ForeignRun",
    "Frames",
    "Labels",
    "Leaderboard",
    "Pairs",
    "Profile",
    "Profiles",
    "RatingOptions",
    "Realism",
    "Records",
    "Run",
    "RunRequest",
    "Scores",
    "Setup",
    "Slices",
    "Status",
    "TaskScores",
    "Topics",
    "__version__",
    "add",
    "asimulate",
    "freeze",
    "open_bench",
    "open_run",
    "rate",
    "simulate",
]
_MODULES = {
    "memory.records.errors": ("ArenaError", "BadInput", "ForeignRun"),
    "runs.api.bench": ("Bench", "DialogueScores", "Scores", "TaskScores", "open_bench"),
    "runs.api.results": (
        *("Categories", "Costs", "Labels", "Profile", "Profiles", "Realism", "Setup"),
        *("Audit", "Frames", "Leaderboard", "Pairs", "Records", "Slices", "Status", "Topics"),
    ),
    "runs.api.play": ("add", "asimulate", "freeze", "simulate"),
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
