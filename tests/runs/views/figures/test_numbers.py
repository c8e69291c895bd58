"""Every number that is written in a figure stands in the table it is drawn from, written alike."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import ScalarFormatter

from tests.runs.views.results.test_leaderboard import boards, numbers
from tests.support.figured import DRAWN, folder, table
from tests.support.played_dialogues import Talked, play_dialogues
from tests.support.played_sets import Played, play_set
from videoautoarena.memory.records.records import Record
from videoautoarena.runs.analysis.audit.verdicts import SWAPPED, Echoes
from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices, Slice
from videoautoarena.runs.bench.dialogues.score import DialogueSetScores, score_dialogues
from videoautoarena.runs.bench.score.task_points import ScoreFigure
from videoautoarena.runs.bench.score.task_score import TaskSetScores, score_tasks
from videoautoarena.runs.rating.finding import UNKNOWN
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.views.figures.album import DIALOGUE_PICTURES, SET_PICTURES, is_rated
from videoautoarena.runs.views.figures.canvas import GREY, Picture, signed
from videoautoarena.runs.views.figures.ranking import (
    battles,
    by_category,
    judge,
    ladder,
    panels,
    wins,
)
from videoautoarena.runs.views.figures.sets import POSITIONS
from videoautoarena.scoring.intervals.proportions import Share

CONSTANTS = {"95", "10", "100", "50", "1000"}
"""The level, what is few of pairs, battles and videos, and where the mean of a slice lies."""


def written(drawing: Drawing) -> Iterator[str]:
    """Every text in the body of a drawing, but for the scales of its axes."""
    for axes in drawing.axes:
        yield from (text.get_text() for text in axes.texts)
        yield from (axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel())
        for axis in (axes.xaxis, axes.yaxis):
            if not isinstance(axis.get_major_formatter(), ScalarFormatter):
                yield from (label.get_text() for label in axis.get_ticklabels())


def strays(picture: Picture, *others: str) -> list[str]:
    """Return the texts with a number of no table; `others` is what somebody else said."""
    cells = {
        signed(table.cell(k, column))
        for table in picture.tables
        for k in range(len(table.rows))
        for column in table.columns
    }
    cells |= {f"({cell})" for cell in cells}
    heads = {column.title for table in picture.tables for column in table.columns}
    known = {number for text in (*cells, *heads, *others) for number in numbers(text)}
    known |= CONSTANTS | {str(row.get("group")) for t in picture.tables for row in t.rows}
    drawing = picture.draw(False)
    found = []
    for text in written(drawing):
        figures = re.findall(r"n = ([^)]*)|^([−+\d.,]+)$", text)
        if not known.issuperset(numbers(text)) or not cells.issuperset(map("".join, figures)):
            found.append(text)
    around = " ".join(text.get_text() for text in drawing.texts)
    around = re.sub(r"\d+ more notes?: arena", "", around)
    return [*found, *[around] * (not known.issuperset(numbers(around)))]


def sliced(*of: RatedLeaderboard) -> LeaderboardSlices:
    parts = (Slice(f"slice {'xy'[k]}", b.settings.totals.decided, UNKNOWN, (), b)
             for k, b in enumerate(of))  # fmt: skip
    return LeaderboardSlices("duration", tuple(parts))


def pictures_of(one: RatedLeaderboard, other: RatedLeaderboard) -> Iterator[Picture]:
    """Yield what can be drawn of a board, and of it beside another one."""
    yield ladder(one)
    if one.pairs is not None and len(one.pairs.models) > 1:
        yield wins(one)
        yield battles(one)
    if is_rated(both := sliced(one, other)):
        yield panels(both)
        yield by_category(both)


def strays_of(one: RatedLeaderboard, other: RatedLeaderboard) -> list[str]:
    told = (*one.settings.warnings, *other.settings.warnings)
    return [text for picture in pictures_of(one, other) for text in strays(picture, *told)]


def counts_of(one: RatedLeaderboard, other: RatedLeaderboard) -> tuple[list[str], list[str]]:
    """Return how many battles the panels of two boards say, and how many these have."""
    if not is_rated(both := sliced(one, other)):
        return [], []
    said = [text for text in written(panels(both).draw(False)) if "n = " in text]
    return said, [f"n = {board.settings.totals.decided:,}" for board in (one, other)]


@settings(max_examples=2)
@given(boards(), boards())
def test_every_number_in_a_figure_of_a_board_is_in_its_table(
    one: RatedLeaderboard, other: RatedLeaderboard
) -> None:
    assert strays_of(one, other) == []
    said, counted = counts_of(one, other)
    assert said == counted


@pytest.mark.slow
@settings(max_examples=30)
@given(boards(), boards())
def test_so_it_is_in_figures_of_many_boards(one: RatedLeaderboard, other: RatedLeaderboard) -> None:
    assert strays_of(one, other) == []
    said, counted = counts_of(one, other)
    assert said == counted


@settings(max_examples=4)
@given(boards())
def test_a_ladder_names_the_leader_the_rivals_and_the_ranks_of_its_board(
    board: RatedLeaderboard,
) -> None:
    picture = ladder(board)
    drawing = picture.draw(False)
    report = picture.caption.report
    assert report.headline is not None
    told = " ".join(text.get_text() for text in drawing.texts)
    begin, cut, _ = told.removeprefix("Ratings ").partition(" … ")
    assert report.headline.text in told or (cut and begin.split(". ")[-1] in report.headline.text)
    (axes,) = drawing.axes
    table = report.tables[0]
    ranks = [table.cell(k, table.column("rank")) for k in range(len(table.rows))]
    assert [text.get_text() for text in axes.texts][: len(ranks)] == ranks
    below = {name for lead in board.leads for name in lead.above}
    rated = [row for row in board.models if row.rating is not None]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [float(np.asarray(dot.get_xdata())[0]) for dot in dots] == [r.rating for r in rated]
    greys = [dot.get_markeredgecolor() == GREY for dot in dots]
    assert greys == [row.model in below for row in rated]
    ranked = any(lead.is_ranked for lead in board.leads)
    assert any(greys) == (f"grey: {'cannot be best' if ranked else 'so far below'}" in told)


def shaken(found: Any, rng: random.Random) -> Any:
    """Return records with other figures in the place of theirs."""
    if isinstance(found, tuple):
        return tuple(shaken(one, rng) for one in found)
    if isinstance(found, dict):
        return {key: shaken(one, rng) for key, one in found.items()}
    if not isinstance(found, Record):
        return found
    if isinstance(found, ScoreFigure):
        low, value, high = sorted(rng.uniform(0, 100) for _ in range(3))
        n = rng.choice((1, 9, 40, 12_345))
        update: dict[str, Any] = {"value": value, "low": low, "high": high, "n": n}
        if rng.random() < 0.2:
            update |= {"low": None, "high": None}
        return found.model_copy(update=update)
    fields = {name: shaken(getattr(found, name), rng) for name in type(found).model_fields}
    return found.model_copy(update=fields)


@cache
def scores() -> tuple[TaskSetScores, DialogueSetScores]:
    played = Played(models=("hawk", "owl"), frames=(4, 64), needles=24)
    talked = Talked(models=("hawk", "owl"), videos=2)
    return (
        score_tasks(play_set(folder() / "tasks", played)),
        score_dialogues(play_dialogues(folder() / "dialogues", talked)),
    )


def strays_of_sets(seed: int) -> list[str]:
    tasks, dialogues = (shaken(one, random.Random(seed)) for one in scores())
    made = [make(tasks, tasks.boards[0]) for make in SET_PICTURES.values()]
    made += [make(dialogues) for make in DIALOGUE_PICTURES.values()]
    pictures = [picture for picture in made if isinstance(picture, Picture)]
    assert pictures == made
    return [text for picture in pictures for text in strays(picture, *POSITIONS, "2 points")]


def test_every_number_in_a_figure_of_a_set_is_in_its_table() -> None:
    assert strays_of_sets(1) == []


@pytest.mark.slow
@settings(max_examples=4)
@given(st.integers(0, 2**32 - 1))
def test_so_it_is_whatever_a_set_came_to(seed: int) -> None:
    assert strays_of_sets(seed) == []


def test_so_it_is_in_figures_of_style_and_of_the_judge() -> None:
    assert strays(DRAWN["style"]()) == []
    shares = [Share(0.5, 0.4, 0.6, 617)] * 2
    picture = judge(table("three"), [Echoes(SWAPPED, np.array([10.0, 80.0]), shares, 1234)])
    assert strays(picture) == []
    assert "seats swapped (n = 1,234)" in written(picture.draw(False))
