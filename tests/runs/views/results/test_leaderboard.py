"""A leaderboard as a report: what its sentences say, and that its table says the same."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.runs.rating.test_table import CAST, battle, season, shown, summarize
from tests.support.drawn import texts_of
from tests.support.quoted import may_be_said, numbers
from videoautoarena.runs.formats.terminal_text import Axis, DrawnInterval
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.rating.leaderboard import (
    Behaviour,
    BoardLead,
    LeaderboardRow,
    RatedLeaderboard,
)
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.views.figures.canvas import render
from videoautoarena.runs.views.figures.ranking import ladder
from videoautoarena.runs.views.page.document import FRONT
from videoautoarena.runs.views.results.forms import Bar, as_text, csv_text, marked_up
from videoautoarena.runs.views.results.leaderboard import (
    COLUMNS,
    FIGURES,
    IN_OTHER_FORMS,
    ROW_FIELDS,
    leaderboard_report,
    models_table,
)

VERDICTS = ("a", "a", "b", "tie_good", "split", "forfeit_a", "void")


@dataclass(frozen=True)
class Bout:
    """A battle of which only pair, video and verdict matter."""

    video: str
    model_a: str | None
    model_b: str | None
    verdict: str


@st.composite
def boards(draw: st.DrawFn) -> RatedLeaderboard:
    """A leaderboard of two to seven models: few videos or many, islands, one-sided ones."""
    names = ["ant", "bee", "cat", "dog", "emu", "fox", "gnu"][: draw(st.integers(2, 7))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    videos = draw(st.sampled_from([1, 4, 9, 10, 12, 40]))
    islands = draw(st.booleans()) and len(names) > 3
    groups = [names[:2], names[2:]] if islands else [names]
    bias = draw(st.sampled_from([0.0, 1.0, 20.0]))
    battles = []
    for k in range(draw(st.integers(0, 120))):
        group = groups[int(rng.integers(len(groups)))]
        a, b = (group[int(n)] for n in rng.permutation(len(group))[:2])
        won = rng.random() < 1 / (1 + np.exp(bias * (names.index(a) - names.index(b))))
        odd = str(rng.choice(VERDICTS)) if rng.random() < 0.2 else ""
        battles.append(Bout(f"v{k % videos}", a, b, odd or ("a" if won else "b")))
    asked = {name: draw(st.booleans()) for name in ("elo", "pairs", "simultaneous")}
    return build(battles, names, method=RatingMethod(**asked))


def misquoting_of(board: RatedLeaderboard) -> list[str]:
    """Return the sentences of ours on a board with a number that its tables do not show."""
    report = leaderboard_report(board)
    known = may_be_said(report)
    others = ("note", "alarm", "more")  # somebody else's words
    ours = (said.text for said in report.sentences if said.role not in others)
    return [text for text in ours if not known.issuperset(numbers(text))]


@settings(max_examples=25)
@given(boards())
def test_every_number_of_a_sentence_is_in_its_table_or_the_difference_of_two_of_it(
    board: RatedLeaderboard,
) -> None:
    assert misquoting_of(board) == []


@pytest.mark.slow
@settings(max_examples=200)
@given(boards())
def test_so_it_is_for_two_hundred_boards(board: RatedLeaderboard) -> None:
    assert misquoting_of(board) == []


@settings(max_examples=25)
@given(boards())
def test_a_table_shows_the_figures_of_its_board(board: RatedLeaderboard) -> None:
    table = models_table(board)
    read = {name: table.column(name) for name in ("rating", "rank", "record", "win_rate")}
    for k, row in enumerate(board.models):
        cells = {name: table.cell(k, column) for name, column in read.items()}
        assert cells["record"] == f"{row.wins}-{row.ties}-{row.losses}"
        assert cells["rating"] == ("unrated" if row.rating is None else f"{row.rating:.0f}")
        best = row.rank_best
        worst = row.rank_worst
        places = f"{best}" if best == worst else f"{best}-{worst}"
        assert cells["rank"] == ("–" if best is None else places)
        assert cells["win_rate"] == ("–" if not row.battles else f"{100 * row.win_rate:.1f}")  # type: ignore[operator]


@settings(max_examples=15)
@given(boards())
def test_every_form_says_the_same_in_one_sentence(board: RatedLeaderboard) -> None:
    report = leaderboard_report(board)
    assert report.headline is not None
    said = report.headline.text
    plain = " ".join(as_text(report).split())
    assert said in plain
    assert said in marked_up(report, "markdown")
    assert said in marked_up(report, "latex")
    assert said in html.unescape(marked_up(report, "html"))
    parts = report.to_json()["headline"]
    each = (p if isinstance(p, str) else p.get("model") or p["figure"] for p in parts)
    assert "".join(each) == said


@settings(max_examples=25)
@given(boards())
def test_what_was_counted_is_what_there_is(board: RatedLeaderboard) -> None:
    counted = leaderboard_report(board).sentence("counted")
    assert counted is not None
    totals = board.settings.totals
    videos = board.settings.videos or (0,)
    counts = (totals.decided, *videos, totals.ties, totals.splits, totals.forfeits, totals.voids)
    assert numbers(counted.text) == [f"{count:,}" for count in counts]


def test_the_picture_of_a_leaderboard_says_so_too() -> None:
    board = build(season(12), CAST)
    told = " ".join(texts_of(render(ladder(board), "svg")))
    assert summarize(board) in told


def led(**about: Any) -> str:
    """Return the headline of four models of which is known what is said here."""
    fights = season(12) + [battle(v, "ab"[v % 2], "mole", "blind") for v in range(12)]
    board = build(fights, [*CAST, "blind"])
    plain = BoardLead(("hawk",), True, (), ("owl", "mole", "blind"), None, "max-t of differences")
    lead = replace(plain, **about)
    group = (*board.components[0], *(name for name in lead.rivals if len(name) == 1))
    return summarize(replace(board, components=(group,), leads=(lead,)))


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, "hawk leads, and no other may be best."),
        (
            {"is_simultaneous": True},
            "hawk leads, and in all comparisons at once no other may be best.",
        ),
        (
            {"rivals": ("owl", "blind"), "above": ("mole",), "nearest": "owl", "more": 40},
            "hawk leads, but owl and blind may be as good; about 40 more videos would separate "
            "hawk and owl at the current gap.",
        ),
        (
            {"rivals": ("owl",), "nearest": "owl", "more": 1},
            "hawk leads, but owl may be as good; one more video would separate hawk and owl at "
            "the current gap.",
        ),
        (
            {"rivals": ("owl",), "nearest": "owl", "more": 1234},
            "hawk leads, but owl may be as good; about 1,300 more videos would separate hawk and "
            "owl at the current gap.",
        ),
        (
            {"rivals": ("owl",), "nearest": "owl"},
            "hawk leads, but owl may be as good; no realistic number of videos would separate "
            "hawk and owl.",
        ),
        (
            {
                "rivals": ("owl", "mole", "blind", "x", "y"),
                "above": (),
                "nearest": "owl",
                "more": 5,
            },
            "hawk leads, but any of the others may be as good; about 5 more videos would separate "
            "hawk and owl at the current gap.",
        ),
        ({"rivals": ("blind",)}, "hawk leads, but blind may be as good."),
        (
            {"rivals": ("owl", "mole", "x", "y", "z"), "above": ("blind",)},
            "hawk leads, but owl, mole, x and 2 others may be as good.",
        ),
        (
            {"rivals": ("owl", "mole", "blind"), "above": (), "nearest": "owl", "more": 5},
            "hawk leads, but owl, mole and blind may be as good; about 5 more videos would "
            "separate hawk and owl at the current gap.",
        ),
        (
            {"first": ("hawk", "owl"), "rivals": ("mole",), "above": ("blind",)},
            "hawk and owl share the first place, and mole may be as good; more videos may never "
            "separate those who share it.",
        ),
        (
            {"first": ("hawk", "owl")},
            "hawk and owl share the first place; more videos may never separate those who share "
            "it.",
        ),
        (
            {"is_ranked": False, "rivals": ("owl",), "above": ("mole", "blind")},
            "12 videos are too few to rank (10 are needed): hawk, rated highest, is above mole "
            "and blind as of now.",
        ),
        (
            {"is_ranked": False, "rivals": ("owl", "mole", "blind"), "above": ()},
            "12 videos are too few to rank (10 are needed): hawk is rated highest, but not surely "
            "above any other.",
        ),
        (
            {"is_ranked": False, "first": ("hawk", "owl"), "above": ("mole",)},
            "12 videos are too few to rank (10 are needed): hawk and owl, rated highest, are "
            "above mole as of now.",
        ),
    ],
)
def test_the_headline_says_who_may_be_best_and_no_more(about: dict[str, Any], said: str) -> None:
    assert led(**about) == said


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ({"mole": 4}, "; mole saw fewer frames than others, so that gaps may come from that."),
        ({"hawk": 8, "owl": 8, "mole": 4}, "; mole saw fewer frames than others, so"),
        ({"hawk": 8, "owl": 8, "mole": 8}, None),
    ],
)
def test_the_headline_names_who_saw_fewer_frames(seen: dict[str, int], told: str | None) -> None:
    board = build(season(9), CAST)
    rows = (
        replace(row, frames={"least": seen[row.model], "most": seen[row.model], "wanted": 32})
        if row.model in seen
        else row
        for row in board.models
    )
    said = summarize(replace(board, models=tuple(rows)))
    assert ("fewer frames" in said) == (told is not None)
    assert told is None or told in said


def test_where_too_few_videos_rank_nobody_a_rank_is_a_dash() -> None:
    board = build(season(9), CAST)
    rows = (replace(r, rank=None, rank_best=None, rank_worst=None) for r in board.models)
    table = models_table(replace(board, models=tuple(rows)))
    assert [table.cell(k, table.column("rank")) for k in range(3)] == ["–", "–", "–"]
    assert "leads" not in summarize(board)
    assert csv_text(table).splitlines()[1].startswith("1,hawk,") is True


def test_the_first_group_of_several_is_called_the_largest() -> None:
    island = [battle(v, "ab"[v % 2], "x", "y") for v in range(12)]
    board = build([*season(12), *island], [*CAST, "x", "y"])
    assert summarize(board).startswith("hawk leads the largest of 2 groups that never met, but ")
    few = build([*season(9), *island], [*CAST, "x", "y"])
    assert summarize(few).startswith(
        "9 videos are too few to rank in the largest of 2 groups that never met (10 are needed)"
    )


def test_nothing_fought_is_nothing_rated() -> None:
    assert summarize(build([], CAST)) == "No battle was decided, so no model is rated."


@pytest.mark.parametrize("alarms", [0, 1, 3])
@pytest.mark.parametrize("warnings", [[], ["one"], ["one", "two"]])
@pytest.mark.parametrize("stand_ins", [False, True])
def test_three_lines_stand_under_a_table_and_say_how_many_more_there_are(
    alarms: int, warnings: list[str], stand_ins: bool
) -> None:
    raised = tuple(
        Finding(f"k{k}", 0.9, 0.8, 1.0, 40, "Bad {which}.", is_alarm=True, told={"which": str(k)})
        for k in range(alarms)
    )
    table = replace(build(season(9), CAST, stand_ins=stand_ins, warnings=warnings), audit=raised)
    report = leaderboard_report(table)
    few = report.lines()
    every = report.lines(notes=True)
    assert len(few) == 3
    assert summarize(table) in few
    assert few[0] == (every[1] if alarms else every[0])
    assert ("rates stand-ins" in few[2]) == stand_ins
    # The headline says it already.
    assert "too few videos to rank" not in few[2]
    hidden = sum(map(int, re.findall(r"(\d+) more (?:note|alarm)", few[2])))
    assert len(every) == 2 + stand_ins + hidden


def test_a_table_fits_eighty_columns_and_is_plain_in_a_pipe() -> None:
    text = shown(build(season(12), CAST, stand_ins=True))
    grid = text.split("\n\n")[0].splitlines()[:5]
    assert max(len(line) for line in grid) <= 80
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [80, 60, 44])
@pytest.mark.parametrize("name", ["owl", "a-provider/a-model-with-a-longer-name-preview"])
def test_flags_keep_their_words_whole_however_narrow_a_terminal_is(width: int, name: str) -> None:
    board = build([battle(v, "ab"[v % 2], name, "mole") for v in range(12)], [name, "mole"])
    first, *rest = board.models
    seen = replace(first, flags=("saw no frames", "one-sided"))
    text = shown(replace(board, models=(seen, *rest)), width=width)
    grid = text[: text.index("12 battles decided")].splitlines()
    place = next(line.index("flags") for line in grid if "flags" in line)
    words = " ".join(line[place:].strip() for line in grid[2:])
    assert "saw no frames, one-sided" in words
    assert max(map(len, grid)) <= width


def test_what_a_narrow_terminal_leaves_out_of_a_board_is_named() -> None:
    board = build(season(12), CAST)
    assert "A wider terminal" not in shown(board, width=60)
    text = " ".join(shown(board, width=30).split())
    assert "A wider terminal also shows: win %, battles." in text


def test_every_bar_stands_on_the_same_scale() -> None:
    text = shown(build(season(30), CAST))
    dots = [line.index("●") for line in text.splitlines() if "●" in line]
    assert len(dots) == 3
    assert dots == sorted(dots, reverse=True)
    assert text.split(maxsplit=1)[0] == "axis"
    assert re.search(r"interval +-?\d+ to \d+ ", text.splitlines()[1])


def axis_shown(board: RatedLeaderboard) -> Axis | None:
    return models_table(board).axis


def test_an_axis_holds_every_rating_and_no_interval_that_is_far_wider_than_most() -> None:
    board = build(season(30), CAST)
    rows = board.models
    low, high = axis_shown(board)
    assert low == min(row.low or 0.0 for row in rows)
    assert high == max(row.high or 0.0 for row in rows)
    wide = replace(rows[2], model="rare", low=0.0, high=2000.0)
    assert axis_shown(replace(board, models=(*rows, wide))) == (low, high)
    assert axis_shown(replace(board, models=())) == (0.0, 0.0)


def test_a_console_without_unicode_gets_plain_bars_and_dashes() -> None:
    text = shown(build(season(30), [*CAST, "idle"]), encoding="ascii")
    assert "o" in text
    assert not {"●", "–"} & set(text)
    assert re.search(r"^- +.idle +.unrated", text, re.M)


def test_an_interval_is_never_shown_as_zero() -> None:
    table = build(season(12), CAST)
    hawk, *rest = table.models
    assert hawk.rating is not None
    near = replace(hawk, low=hawk.rating - 0.001, high=hawk.rating + 0.001)
    assert "-0.1/+0.1" in shown(replace(table, models=(near, *rest)))


def test_a_hostile_name_is_shown_and_not_obeyed() -> None:
    evil = "[red]x[/]\x1b[2J\u202egpt"
    table = build([battle(v, "ab"[v % 2], evil, "owl") for v in range(12)], [evil, "owl"])
    text = shown(table, width=120)
    assert "[red]x[/]\\x1b[2J\\u202egpt" in text
    assert "\x1b" not in text
    assert table.to_json()["models"][0]["model"] == evil


def test_a_long_name_is_folded_and_not_lost() -> None:
    name = "a-provider-with-a-very-long-name/a-model-with-a-longer-name-2026-11-21-preview"
    table = build([battle(v, "ab"[v % 2], name, "owl") for v in range(12)], [name, "owl"])
    lines = shown(table).splitlines()
    grid = lines[: next(k for k, line in enumerate(lines) if "battles decided" in line)]
    assert max(len(line) for line in grid) <= 80
    assert "preview" in "".join(line[5:30].strip() for line in grid)


def test_a_bar_has_its_middle_inside() -> None:
    console = Console(width=20, file=io.StringIO())
    console.print(Bar(Axis(0.0, 12.0), DrawnInterval(2.0, 0.0, 4.0)))
    assert console.file.getvalue().rstrip() == "──●──"  # type: ignore[attr-defined]


def test_csv_holds_the_figures_with_all_their_digits() -> None:
    board = build(season(12), CAST)
    table = models_table(board)
    rows = list(csv.DictReader(io.StringIO(csv_text(table))))
    for k, row in enumerate(board.models):
        assert float(rows[k]["rating"]) == row.rating
        assert rows[k]["flags"] == "; ".join(row.flags)
    assert list(rows[0]) == list(table.data_fields)


def test_every_field_of_a_row_has_a_column_or_is_told_in_another_form() -> None:
    shown = {of for column in COLUMNS for of in column.fields}
    lacking = {one.name for one in fields(LeaderboardRow)} - shown - set(IN_OTHER_FORMS)
    # Of a rank the places are shown, of forfeits their share.
    assert lacking == {"rank", "forfeits"}
    computed = {"own_flags", "tokens_from", *IN_OTHER_FORMS}
    assert {of.removesuffix("_low").removesuffix("_high") for of in shown} - computed <= {
        *ROW_FIELDS
    }


def test_every_figure_of_behaviour_has_a_column_and_every_such_column_a_figure() -> None:
    shown = {column.key for column in COLUMNS}
    assert {one.name for one in fields(Behaviour)} == FIGURES.keys() <= shown


def test_what_the_page_draws_in_a_way_of_its_own_are_columns_of_the_board() -> None:
    text = (FRONT / "app" / "ladder.js").read_text()
    drawn = re.findall(r'"(\w+)"', text.partition("DRAWN = new Set([")[2].partition("]")[0])
    assert drawn
    assert set(drawn) <= {column.key for column in COLUMNS if not column.is_detail}
