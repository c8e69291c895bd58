"""Leaderboards and slices to draw: few models and many, rude names, islands, one video."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from tests.support.played import battle, judging, slot, video
from tests.support.votes import season, written
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices, Slice
from videoautoarena.runs.rating.finding import UNKNOWN
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.rate import rate_file
from videoautoarena.runs.views.figures.canvas import Picture
from videoautoarena.runs.views.figures.ranking import (
    battles,
    by_category,
    by_topic,
    ladder,
    panels,
    style,
    wins,
)

HEADER = ("model_a", "model_b", "winner", "video")
STYLED = (*HEADER, "style_length_a", "style_length_b", "style_bold_a", "style_bold_b")
RUDE = (
    "openai:a-model-with-a-name-that-goes-on-and-on-2024-05-13",
    "$x_1$",
    "</text><script>",
    "\\frac{1}{2}$",
    "\x1b[31m\u202e",
)


def rows(names: tuple[str, ...], count: int) -> list[tuple[str, str, str, str]]:
    rng = np.random.default_rng(4)
    drawn = []
    for k in range(count):
        a, b = (int(x) for x in rng.permutation(len(names))[:2])
        won = rng.random() < 1 / (1 + np.exp((a - b) * 4 / len(names)))
        drawn.append((names[a], names[b], "a" if won else "b", f"v{k % 60}"))
    return drawn


def renamed(more: str) -> list[tuple[str, str, str, str]]:
    return [(f"{a}-{more}", f"{b}-{more}", won, film) for a, b, won, film in season()]


@cache
def folder() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp())


@cache
def table(kind: str) -> RatedLeaderboard:
    many = {
        "three": lambda: season(),
        "rude": lambda: rows(RUDE, 400),
        "forty": lambda: rows(tuple(f"provider:model-name-{k:02d}" for k in range(40)), 3000),
        "wide": lambda: renamed("x" * 22),
        "broad": lambda: renamed("W" * 22),
        "islands": lambda: [*season(90), *rows(("isle-1", "isle-2"), 40)],
        "one-sided": lambda: [*season(90), *(("king", x, "a", f"v{k}") for k in range(20)
                                             for x in ("ant", "bee"))],
        "one video": lambda: [("p", "q", "a", "v"), ("q", "p", "a", "v")],
        "nobody": lambda: [("p", "q", "void", "v")],
    }  # fmt: skip
    file = written(folder() / f"{kind}.csv", many[kind](), HEADER)
    return rate_file(file, RatingMethod(pairs=True))


def sliced(kind: str) -> LeaderboardSlices:
    board = table(kind)
    rows = tuple(
        replace(
            row,
            rating=row.rating and row.rating + 30,
            flags=(*row.flags, "under 100 battles"),
        )
        for row in board.models
    )
    boards = (board, replace(board, models=rows), board)
    names = ("up to 8 s", "8-15 s", "above 3600 s")
    parts = (Slice(name, 90, UNKNOWN, (), of) for name, of in zip(names, boards, strict=True))
    return LeaderboardSlices("duration", tuple(parts))


def echoing(count: int = 30) -> list[Battle]:
    """Battles judged from both seats, of which every third was judged differently."""
    film = video()
    return [
        battle(
            slot(film, 0).model_copy(update={"id": f"{film.id}-p1-r{k}"}),
            model_b="owl" if k % 2 else "mole",
            verdict="a",
            verdicts=(
                judging(seats="ab", verdict="a"),
                judging(seats="ba", verdict="b" if k % 3 == 0 else "a"),
            ),
        )
        for k in range(count)
    ]


def styled() -> RatedLeaderboard:
    rng = np.random.default_rng(1)
    measured = [(*row, *rng.integers(1, 99, 2), 0, 0) for row in season()]
    return rate_file(
        written(folder() / "s.csv", measured, STYLED), RatingMethod(style=True, seats=True)
    )


def drawn_style() -> Picture:
    found = style(styled())
    assert isinstance(found, Picture)
    return found


DRAWN: dict[str, Callable[[], Picture]] = {
    **{f"ladder of {kind}": partial(lambda kind: ladder(table(kind)), kind)
       for kind in ("three", "rude", "islands", "one-sided", "one video", "nobody", "forty")},
    **{f"wins of {kind}": partial(lambda kind: wins(table(kind)), kind)
       for kind in ("rude", "islands")},
    "battles of forty": lambda: battles(table("forty")),
    **{f"panels of {kind}": partial(lambda kind: panels(sliced(kind)), kind)
       for kind in ("rude", "islands", "forty")},
    **{f"categories of {kind}": partial(lambda kind: by_category(sliced(kind)), kind)
       for kind in ("rude", "islands", "forty")},
    "topics of rude": lambda: by_topic(sliced("rude")),
    "style": drawn_style,
}  # fmt: skip
