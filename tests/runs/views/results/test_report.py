"""Tables, sentences that quote them, and their forms."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from videoautoarena.runs.formats.terminal_text import ASCII, Axis, DrawnInterval, axis_of, bar
from videoautoarena.runs.formats.words import FORMATS, Kind
from videoautoarena.runs.views.results.forms import ReportView, as_text, csv_text, marked_up
from videoautoarena.runs.views.results.remarks import legend_of, marks_of
from videoautoarena.runs.views.results.report import (
    Column,
    ModelName,
    QuoteDifference,
    Report,
    Sentence,
    Table,
    Verbatim,
    named,
    sentence,
    tally_table,
)

EVIL = "x (b)\x1b[2J\u202e|&_9"
SCORES = Table(
    name="scores",
    caption="Scores",
    columns=(
        Column("model", "model", "name"),
        Column("rating", "rating", "rating"),
        Column("share", "right", "share"),
        Column("reach", "interval", "share_interval", ("low", "high"), spare=2),
        Column("record", "won-tied-lost", "record", ("wins", "ties", "losses"), spare=1),
        Column("refused", "refused", "share_with_interval", ("r", "r_low", "r_high"),
               is_detail=True),
    ),
    rows=(
        {"model": "hawk", "rating": 1342.4, "share": 0.6149, "low": 0.5, "high": 0.71,
         "wins": 19, "ties": 4, "losses": 17, "r": 0.031, "r_low": 0.012, "r_high": 0.06},
        {"model": EVIL, "rating": 1164.6, "share": None, "low": None, "high": None,
         "wins": 1200, "ties": 0, "losses": 3, "r": None},
        {"model": "all", "rating": 12},
    ),
    fields=("model", "rating", "share", "low", "high"),
    starts=frozenset({2}),
    feet={2: "count"},
)  # fmt: skip


def printed(report: Report, *, width: int = 80, details: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    console.print(ReportView(report, details=details))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    ("kind", "fields", "cell", "said"),
    [
        ("rating", [1342.4], "1342", "1342"),
        ("rating", [None], "unrated", "unrated"),
        ("rating", [-0.4], "0", "0"),
        ("count", [12345], "12,345", "12,345"),
        ("counts", [[12, 1300]], "12+1,300", "12+1,300"),
        ("share", [0.59149], "59.1", "59.1 %"),
        ("share", [float("nan")], "–", "–"),
        ("share_with_interval", [0.031, 0.012, 0.06], "3.1 (1.2 to 6.0)", "3.1 % (1.2 to 6.0)"),
        ("share_interval", [0.5, 1.0], "50.0 to 100.0", "50.0 to 100.0 %"),
        ("share_gap", [-0.034], "-3.4", "-3.4"),
        ("probability", [0.99999], "99.9", "99.9 %"),
        ("probability", [0.0], "0.1", "0.1 %"),
        ("rating_interval", [-12.4, 1342.6], "-12 to 1343", "-12 to 1343"),
        ("rating_interval", [None, None], "–", "–"),
        ("moved_place", [3, -2, "few"], "few 3 (-2)", "few 3 (-2)"),
        ("moved_place", [3, 0, "few"], "few 3", "few 3"),
        ("counts_in_a_row", [[1, 3]], "1 3", "1 3"),
        ("moments", [[0.25, 12.0]], "0.2 12.0", "0.2 12.0 s"),
        ("places", [2, 6], "2-6", "2-6"),
        ("places", [2, 2], "2", "2"),
        ("places", [None, None], "–", "–"),
        ("reach", [1000.0, 959.0, 1038.0], "-41/+38", "-41/+38"),
        ("reach", [1000.0, 1000.0, 1009.96], "-0.1/+10", "-0.1/+10"),
        ("reach", [1000.0, None, None], "–", "–"),
        ("reach", [1000.0, -8_999.0, 10_999.7], "-9999/+10k", "-9999/+10k"),
        ("reach", [1232.0, -23_542.0, 44_503.0], "-25k/+43k", "-25k/+43k"),
        ("points_with_interval", [12.3, 3.2, 21.4], "+12 (+3 to +21)", "+12 (+3 to +21)"),
        ("points_with_interval", [12.3, None, None], "+12 (interval unknown)",
         "+12 (interval unknown)"),
        ("record", [19, 4, 17], "19-4-17", "19-4-17"),
        ("coefficient", [0.6149], "0.61", "0.61"),
        ("money", [1234.5], "$1,234.50", "$1,234.50"),
        ("seconds", [12.34], "12.3", "12.3 s"),
        ("p", [0.0004], "<.001", "<.001"),
        ("marked_rating", [1042.2, "apart", 18], "apart 1042 (18)", "apart 1042 (18)"),
        ("marked_rating", [1042.2, "", 18], "1042 (18)", "1042 (18)"),
        ("flags", [["one", "two"]], "one, two", "one, two"),
    ],
)  # fmt: skip
def test_each_kind_of_figure_has_one_way_to_be_written(
    kind: Kind, fields: list[object], cell: str, said: str
) -> None:
    assert FORMATS[kind].cell(fields) == cell
    assert FORMATS[kind].said(fields) == said


def test_a_sentence_repeats_what_its_table_shows() -> None:
    gap = QuoteDifference(SCORES.quote("hawk", "rating"), SCORES.quote(EVIL, "rating"))
    said = sentence(
        "{model} ({rating}, {share}) is {gap} above {rival}.",
        SCORES.quotes("hawk"),
        gap=gap,
        rival=ModelName("owl"),
    )
    assert said.text == "hawk (1342, 61.5 %) is 177 above owl."
    figure = {"figure": "177", "cells": [["scores", 0, "rating"], ["scores", 1, "rating"]]}
    assert figure in said.to_json()
    assert {"model": "owl"} in said.to_json()


@pytest.mark.parametrize("template", ["hawk won 19 battles.", "{n} of 40"])
def test_a_sentence_with_a_figure_of_its_own_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="quotes its figures"):
        sentence(template, n=Verbatim("9"))
    with pytest.raises(ValueError, match="quotes its figures"):
        sentence("{n} battles", n="19")


def test_a_figure_of_several_numbers_has_no_difference() -> None:
    with pytest.raises(ValueError, match="quote one number"):
        _ = QuoteDifference(SCORES.quote(0, "record"), SCORES.quote(1, "record")).text


def test_names_in_a_sentence_are_safe() -> None:
    said = sentence("{who} lead.", who=named(["hawk", EVIL, "owl"]))
    assert said.text == "hawk, x (b)\\x1b[2J\\u202e|&_9 and owl lead."


def test_spare_columns_go_where_a_terminal_is_narrow_and_are_named() -> None:
    report = Report((SCORES,), ())
    assert "19-4-17" in printed(report, width=90)
    narrow = printed(report, width=48)
    assert "19-4-17" not in narrow
    assert "50.0 to 71.0" in narrow
    assert "A wider terminal also shows: won-tied-lost." in narrow
    least = printed(report, width=32)
    assert "A wider terminal also shows: won-tied-lost, interval %." in " ".join(least.split())
    assert max(map(len, least.splitlines())) <= 32


def test_a_foot_is_written_by_a_kind_of_its_own() -> None:
    assert SCORES.cell(2, SCORES.column("rating")) == "12"
    assert SCORES.cell(2, SCORES.columns[0]) == "all"
    foot = SCORES.quote(2, "rating")
    assert (foot.text, foot.seen) == ("12", 12)


def test_details_stand_below_with_the_interval_under_its_figure() -> None:
    report = Report((SCORES,), (Sentence(("More.",), role="detail"),))
    assert "refused" not in printed(report)
    lines = printed(report, details=True, width=100).splitlines()
    first = next(k for k, line in enumerate(lines) if line.split() == ["hawk", "3.1"])
    assert lines[first + 1].split() == ["1.2", "to", "6.0"]
    assert "x (b)\\x1b" in lines[first + 2]
    assert lines[-1] == "More."
    assert "| 3.1 (1.2 to 6.0) |" in marked_up(report, "markdown", details=True)


def test_columns_that_find_no_room_stand_below_where_a_table_wraps() -> None:
    each = tuple(Column(f"c{k}", f"slice {k}", "rating") for k in range(12))
    row = {"model": "hawk", **{f"c{k}": 1000 + k for k in range(12)}}
    table = Table("by", "By", (Column("model", "model", "name"), *each), (row,), wraps=True)
    text = printed(Report((table,), ()), width=40)
    assert max(map(len, text.splitlines())) <= 40
    assert text.count("hawk") == text.count("model") > 2
    assert re.findall(r"10\d\d", text) == [str(1000 + k) for k in range(12)]


def test_a_list_stands_below_its_caption() -> None:
    rows = ({"item": "one"}, {"item": EVIL})
    table = Table("wins", "Telling wins", (Column("item", ""),), rows, is_list=True)
    lines = printed(Report((table,), ())).splitlines()
    assert lines[:2] == ["Telling wins", "  - one"]
    assert lines[2].startswith("  - x (b)\\x1b[2J\\u202e|&_9")


def test_every_form_escapes_names_and_csv_holds_all_digits() -> None:
    report = Report((SCORES,), (sentence("{who} leads.", who=ModelName(EVIL)),))
    assert "| x (b)\\\\x1b\\[2J\\\\u202e\\|\\&\\_9 |" in marked_up(report, "markdown")
    assert r"x (b)\textbackslash{}x1b" in marked_up(report, "latex")
    assert "&amp;_9</td>" in marked_up(report, "html")
    assert csv_text(SCORES).splitlines()[:2] == [
        "model,rating,share,low,high", "hawk,1342.4,0.6149,0.5,0.71",
    ]  # fmt: skip
    for text in (as_text(report), *(marked_up(report, of) for of in ("markdown", "html", "csv"))):
        assert not {"\x1b", "\u202e"} & set(text)


def test_what_is_said_above_and_below_a_table_stands_there_in_every_form() -> None:
    above = Sentence(("Before.",))
    below = Sentence(("After.",))
    report = Report((SCORES, SCORES), (below,), above=(above,))
    for text in (as_text(report), *(marked_up(report, of) for of in ("markdown", "latex", "html"))):
        assert text.count("Before.") == text.count("After.") == 1
        assert text.index("Before.") < text.index("hawk") < text.rindex("hawk")
        assert text.rindex("hawk") < text.index("After.")


def test_a_table_as_a_page_reads_it_holds_texts_and_the_fields_behind_them() -> None:
    found = Report((SCORES,), ()).to_json()["tables"]["scores"]
    assert found["rows"][0]["cells"]["share"] == "61.5"
    assert found["rows"][0]["fields"]["share"] == 0.6149
    assert found["columns"][2] == {
        "key": "share", "title": "right", "kind": "share", "unit": "%", "is_figure": True,
        "is_detail": False, "about": "", "is_aside": False,
    }  # fmt: skip
    assert [row["is_foot"] for row in found["rows"]] == [False, False, True]
    assert found["starts"] == [2]


def test_what_the_words_of_a_cell_mean_is_told_where_one_carries_them() -> None:
    marks = {"thin": ("few", "too few"), "odd": ("odd", "strange"), "never": ("never", "unused")}
    assert marks_of(["odd", "thin", "other"], marks) == "few, odd"
    assert [one.text for one in legend_of({"odd", "thin"}, marks)] == [
        "few: too few; odd: strange."
    ]
    assert list(legend_of(set(), marks)) == []


@pytest.mark.parametrize(
    ("drawn", "cells"),
    [
        (DrawnInterval(50.0, 30.0, 70.0), "   --o--   "),
        (DrawnInterval(50.0, None, None), "     o     "),
        (DrawnInterval(50.0, -900.0, 900.0), "<----o---->"),
        (DrawnInterval(-5.0, -900.0, 20.0), "<o-        "),
        (DrawnInterval(100.0, 90.0, 300.0), "         o>"),
    ],
)
def test_an_interval_is_drawn_in_cells_with_arrows_where_the_axis_is_cut(
    drawn: DrawnInterval, cells: str
) -> None:
    assert bar(Axis(0.0, 100.0), drawn, 11, ASCII) == cells


def test_an_axis_is_cut_before_an_interval_far_wider_than_most() -> None:
    usual = [DrawnInterval(1000.0 + k, 980.0 + k, 1020.0 + k) for k in range(5)]
    assert axis_of(usual) == (980.0, 1024.0)
    axis = axis_of([*usual, DrawnInterval(900.0, 0.0, 2000.0)])
    assert axis == (900.0, 1024.0)
    assert axis.place(900.0) == 0.0
    assert axis.place(2000.0) > 1.0
    assert axis_of([DrawnInterval(5.0, None, None)]).place(5.0) == 0.0


def test_a_counted_figure_takes_its_noun() -> None:
    quotes = {"wins": replace(SCORES.quote(1, "rating"), column=Column("wins", "won", "count"))}
    assert sentence("{wins:battle} won.", quotes).text == "1,200 battles won."
    one = replace(SCORES, rows=({"wins": 1},))
    quotes = {"wins": replace(quotes["wins"], table=one, row=0)}
    assert sentence("{wins:decided battle} won.", quotes).text == "1 decided battle won."


@pytest.mark.parametrize(
    ("videos", "void", "text"),
    [
        (2, 1, "won on 2 videos; 1 was void"),
        (1, 2, "won on 1 video; 2 were void"),
        (None, 0, "won"),
        (float("nan"), None, "won"),
    ],
)
def test_words_in_brackets_are_said_where_there_is_something_to_say(
    videos: float | None, void: int | None, text: str
) -> None:
    counts = tally_table({"videos": videos, "void": void})
    template = "{who}[ on {videos:video}][; {void} {void|was|were} void][ by {nobody}]"
    assert sentence(template, counts.quotes(), who="won", nobody=()).text == text


def test_an_interval_without_bounds_is_nothing_to_say() -> None:
    column = Column("interval", "interval", "reach", ("rating", "low", "high"))
    fields = [{"rating": 1000.0, "low": low, "high": 1020.0} for low in (990.0, None)]
    table = Table("models", "Models", (column,), tuple(fields))
    said = [sentence("rated[ ({interval})]", table.quotes(k)).text for k in range(2)]
    assert said == ["rated (-10/+20)", "rated"]


def test_lines_of_a_list_stand_below_each_other_and_none_begins_with_a_percent_sign() -> None:
    rows = tuple({"line": f"{'x' * k} in 12.5 % of them, and so on"} for k in range(1, 30))
    table = Table("list", "A list", (Column("line", ""),), rows, is_list=True)
    text = printed(Report((table,), ()), width=30)
    first, *lines = text.rstrip("\n").splitlines()
    assert first == "A list"
    assert all(line.startswith(("  - ", "    ")) for line in lines)
    assert sum(line.startswith("  - ") for line in lines) == 29
    assert not any(line.strip().startswith("%") for line in lines)
    assert max(map(len, lines)) <= 30
