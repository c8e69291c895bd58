from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from PIL import Image

from tests.support.drawn import boxes_of, size_of, texts_of
from tests.support.figured import DRAWN, HEADER, echoing, sliced, table
from tests.support.played import battle, invoke, manifest, play, slot, video
from tests.support.votes import season, written
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.analysis.audit.verdicts import (
    find_echoes,
    measure_echoes,
)
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.cli.results.leaderboard import DIALOGUE_NAMES, NAMES, SET_NAMES
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.views.figures.album import (
    DIALOGUE_PICTURES,
    PICTURES,
    SET_PICTURES,
    PictureOptions,
    draw_run,
)
from videoautoarena.runs.views.figures.canvas import COLUMN, Form, Picture, render, shown, widest
from videoautoarena.runs.views.figures.ranking import battles, judge, ladder, pairs_of, panels, wins

LONG = {"panels of forty", "battles of forty"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in DRAWN]
)
def test_nothing_leaves_the_sheet_and_no_text_lies_on_another(name: str) -> None:
    drawn = render(DRAWN[name](), "svg")
    width, height = size_of(drawn)
    found = boxes_of(drawn)
    for box in found:
        assert 0 <= box.left < box.right <= width + 0.5, box
        assert 0 <= box.top < box.bottom <= height + 0.5, box
    assert [(a, b) for a, b in combinations(found, 2) if a.meets(b)] == []


def test_a_slice_of_one_video_is_not_drawn_as_if_it_were_sure() -> None:
    told = " ".join(texts_of(render(panels(sliced("one video")), "svg")))
    assert "dotted: no interval" in told
    assert "dotted" not in " ".join(texts_of(render(panels(sliced("rude")), "svg")))
    looks = [line.get_linestyle() for line in panels(sliced("one video")).draw(False).axes[0].lines]
    assert looks.count(":") == 2


def test_nothing_joins_slices_that_cannot_be_compared() -> None:
    found = sliced("three")
    drawn = panels(found).draw(False)
    assert len(drawn.axes) == len(found.parts)
    for axes in drawn.axes:
        assert len(axes.collections) == 0
        for line in axes.lines:
            assert len({float(y) for y in line.get_ydata()}) == 1 or line.get_xdata()[0] == 1000
    told = texts_of(render(panels(found), "svg"))
    assert [told.count(name) for name in ("ant", "up to 8 s", "n = 90")] == [1, 1, 3]
    assert "Each slice has its own scale" in " ".join(told)


def test_figures_under_panels_stand_apart_and_say_how_far_a_gap_is() -> None:
    eleven = replace(sliced("three"), parts=sliced("three").parts * 4)
    for axes in panels(eleven).draw(False).axes:
        ticks = axes.get_xticks()
        assert len(ticks) >= 2
        assert axes.get_xlim()[0] < ticks.min() <= ticks.max() < axes.get_xlim()[1]


@pytest.mark.parametrize("kind", ["broad", "wide", "three"])
def test_figures_under_a_ladder_stand_apart(kind: str) -> None:
    found = [box for box in boxes_of(render(ladder(table(kind)), "svg")) if box.text.isdigit()]
    lowest = max(box.top for box in found)
    ticks = sorted((box for box in found if box.top == lowest), key=lambda box: box.left)
    assert len(ticks) >= 2
    assert all(one.right + 2 < two.left for one, two in pairwise(ticks))


def test_every_model_of_a_ladder_stands_on_it_with_its_figures() -> None:
    found = texts_of(render(ladder(table("three")), "svg"))
    assert {"ant", "bee", "cat", "Ratings"} <= set(found)
    (row,) = (row for row in table("three").to_json()["models"] if row["model"] == "ant")
    assert f"{row['rating']:.0f}" in found
    assert any(text.startswith("−") and "/+" in text for text in found)
    assert "unrated" in texts_of(render(ladder(table("nobody")), "svg"))


def test_what_a_reader_must_know_stands_on_the_picture() -> None:
    told = " ".join(texts_of(render(ladder(table("islands")), "svg")))
    assert "group 2: never met the others, a scale of its own" in told
    assert "ant leads the largest of 2 groups that never met" in told
    assert "hollow: one-sided" in " ".join(texts_of(render(ladder(table("one-sided")), "svg")))
    three = table("three")
    settings = replace(three.settings, stand_ins=True)
    alarm = Finding("k", 0.9, 0.8, 1.0, 40, "Verdicts follow the seats.", is_alarm=True)
    noted = " ".join(texts_of(render(ladder(replace(three, audit=(alarm,))), "svg")))
    assert "AUDIT ALARM: Verdicts follow the seats." in noted
    banner = "rates stand-ins: every model is an offline one"
    assert banner in texts_of(render(ladder(replace(three, settings=settings)), "svg"))


def test_names_are_text_and_nothing_else() -> None:
    svg = render(ladder(table("rude")), "svg")
    found = texts_of(svg)
    assert {"$x_1$", "</text><script>", "\\frac{1}{2}$", "\\x1b[31m\\u202e"} <= set(found)
    assert "openai:a-mode…n-2024-05-13" in found
    assert b"<script" not in svg


@pytest.mark.parametrize(
    ("name", "seen"),
    [("ant", "ant"), ("", '""'), ("a\nb", "a b"), ("x" * 40, "x" * 13 + "…" + "x" * 12),
     ("视" * 20, "视" * 6 + "…" + "视" * 6)],
)  # fmt: skip
def test_a_long_name_is_cut_in_its_middle(name: str, seen: str) -> None:
    assert shown(name) == seen


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "form", ["svg", pytest.param("png", marks=SLOW), pytest.param("pdf", marks=SLOW)]
)
def test_the_same_picture_has_the_same_bytes_without_a_date(form: Form) -> None:
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        first = render(ladder(table("one video")), form)
    assert first == render(ladder(table("one video")), form)
    assert b"Date" not in first
    assert b"atplotlib.org" not in first


def test_a_picture_loads_nothing_and_is_as_wide_as_a_column() -> None:
    svg = render(ladder(table("three")), "svg")
    assert size_of(svg)[0] == pytest.approx(72 * COLUMN)
    assert b'href="http' not in svg
    assert b"<image" not in svg
    assert widest(["x"]) < 0.1


def test_drawing_opens_no_window_and_brings_no_global_state() -> None:
    render(ladder(table("three")), "png")
    assert "matplotlib.pyplot" not in sys.modules


def test_a_cell_says_how_many_battles_its_share_stands_on_and_few_are_pale() -> None:
    board = table("three")
    counts = np.array(pairs_of(board).battles)
    found = texts_of(render(wins(board), "svg"))
    assert "Small figures: battles" in " ".join(found)
    apart = counts[~np.eye(3, dtype=bool)]
    assert [found.count(str(count)) >= 1 for count in apart] == [True] * 6
    few = counts.copy()
    few[0, 1] = few[1, 0] = 9
    thin = replace(board, pairs=replace(pairs_of(board), battles=few.tolist()))
    colours, paler = (_cells_of(wins(of)) for of in (board, thin))
    assert (paler[0, 1] > colours[0, 1])[:3].any()
    assert (paler[0, 2] == colours[0, 2]).all()
    assert "pale: fewer than 10 battles" in " ".join(texts_of(render(wins(thin), "svg")))
    assert "pale" not in " ".join(found)


def _cells_of(picture: Picture) -> Any:
    """Return the colours of a heat map, shape (n, n, 4)."""
    (mesh,) = picture.draw(False).axes[0].collections
    return np.asarray(mesh.get_array())


def test_a_cell_says_what_share_the_row_won() -> None:
    grid = table("three").to_json()["pairs"]
    found = texts_of(render(wins(table("three")), "svg"))
    assert f"{100 * grid['wins'][0][2]:.1f}" in found
    assert str(grid["battles"][0][2]) in texts_of(render(battles(table("three")), "svg"))


def test_what_never_differs_is_said_beside_the_terms() -> None:
    told = " ".join(texts_of(render(DRAWN["style"](), "svg")))
    assert "length" in told
    assert "read first" in told
    assert "Never differs: bold." in told


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("run") / "out", echoing())


def test_the_agreement_of_a_judge_says_on_how_many_battles_it_stands(run: Path) -> None:
    board = board_of(run)
    svg = render(judge(board, measure_echoes(board, find_echoes(echoing()))), "svg")
    assert "seats swapped (n = 30)" in texts_of(svg)
    assert all(box.right < size_of(svg)[0] for box in boxes_of(svg))


def test_the_command_writes_every_picture_that_there_is_data_for(run: Path, tmp_path: Path) -> None:
    said = json.loads(invoke("pictures", run, "--to", tmp_path / "p", "--json").output)
    assert [Path(one["file"]).name for one in said["pictures"]] == [
        "ladder.svg", "wins.svg", "battles.svg", "duration.svg", "style.svg", "judge.svg"
    ]  # fmt: skip
    assert [one["name"] for one in said["left_out"]] == ["categories", "topics"]
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == sorted(
        f"{name}.svg" for name in NAMES if name not in ("categories", "topics")
    )


def test_the_names_that_help_tells_are_those_there_are() -> None:
    assert tuple(PICTURES) == NAMES
    assert tuple(SET_PICTURES) == SET_NAMES
    assert tuple(DIALOGUE_PICTURES) == DIALOGUE_NAMES


def test_what_a_run_has_no_data_for_is_left_out_and_named(tmp_path: Path) -> None:
    run = play(tmp_path / "out", [battle(slot(video(), 0), answer_a="so", answer_b="so")])
    said = invoke("pictures", run, "--to", tmp_path / "p", width=200).output.splitlines()
    assert [line.split(":")[0] for line in said[5:]] == [
        "no picture judge",
        "no picture categories",
        "no picture topics",
    ]
    assert sorted(path.stem for path in (tmp_path / "p").iterdir()) == sorted(
        ("ladder", "wins", "battles", "duration", "style")
    )


def test_of_a_run_without_a_decided_battle_there_is_nothing_to_draw(tmp_path: Path) -> None:
    void = battle(slot(video(), 0), verdict="void", reason="no judge", verdicts=())
    for name, battles_ in (("void", [void]), ("none", [])):
        run = play(tmp_path / name, battles_)
        with pytest.raises(BadInput, match="nothing to draw yet: no battle is decided"):
            draw_run(run, PictureOptions(tmp_path / "p"))
        assert not (tmp_path / "p").exists()
        for more in ((), ("--by", "duration")):
            said = invoke("leaderboard", run, *more, "--picture", tmp_path / "l.svg")
            assert isinstance(said.exception, BadInput)
            assert "nothing to draw yet" in str(said.exception)
            assert said.stdout.strip()
            assert not (tmp_path / "l.svg").exists()


def test_a_png_has_three_hundred_dots_an_inch(run: Path, tmp_path: Path) -> None:
    invoke("pictures", run, "--to", tmp_path, "--format", "both", "--only", "ladder")
    assert {path.name for path in tmp_path.iterdir()} == {"ladder.svg", "ladder.png"}
    with Image.open(tmp_path / "ladder.png") as picture:
        assert picture.width == round(300 * COLUMN)


def test_the_commands_draw_bare_figures(run: Path, tmp_path: Path) -> None:
    invoke("pictures", run, "--to", tmp_path / "full", "--only", "ladder,judge")
    invoke("pictures", run, "--to", tmp_path / "bare", "--only", "ladder,judge", "--bare")
    invoke("leaderboard", run, "--picture", tmp_path / "one.svg", "--bare")
    for name in ("ladder", "judge"):
        full, bare = ((tmp_path / of / f"{name}.svg").read_bytes() for of in ("full", "bare"))
        assert size_of(bare)[1] < size_of(full)[1]
    assert "Ratings" in texts_of((tmp_path / "full" / "ladder.svg").read_bytes())
    assert "Ratings" not in texts_of((tmp_path / "bare" / "ladder.svg").read_bytes())
    assert "Ratings" not in texts_of((tmp_path / "one.svg").read_bytes())


def test_a_picture_that_is_there_is_replaced_only_when_told(run: Path, tmp_path: Path) -> None:
    (tmp_path / "ladder.svg").write_text("mine")
    words = ("pictures", run, "--to", tmp_path, "--only", "ladder")
    assert "already exists" in str(invoke(*words).exception)
    assert (tmp_path / "ladder.svg").read_text() == "mine"
    assert invoke(*words, "--force").exit_code == 0
    assert b"<svg" in (tmp_path / "ladder.svg").read_bytes()
    assert invoke("pictures", run, "--to", tmp_path, "--only", "lader").exit_code == 2
    said = invoke("pictures", run, "--to", tmp_path / "ladder.svg")
    assert "is a file; pass a folder" in str(said.exception)


def test_rating_and_leaderboard_draw_what_they_print(run: Path, tmp_path: Path) -> None:
    votes = written(tmp_path / "b.csv", season(), HEADER)
    said = invoke("rate", votes, "--json", "--picture", tmp_path / "r.png")
    assert json.loads(said.stdout)["schema"] == 1
    assert "drawn into" in said.stderr
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    invoke("leaderboard", run, "--by", "duration", "--picture", tmp_path / "l.svg")
    assert "Ratings by duration" in texts_of((tmp_path / "l.svg").read_bytes())
    assert "must end in .svg" in str(
        invoke("rate", votes, "--picture", tmp_path / "r.gif").exception
    )
    assert "already exists" in str(invoke("rate", votes, "--picture", tmp_path / "r.png").exception)
    nowhere = invoke("rate", votes, "--picture", tmp_path / "no" / "r.svg")
    assert "cannot be written: No such file" in str(nowhere.exception)
    assert invoke("rate", votes, "--force").exit_code == 2
    assert invoke("rate", votes, "--bare").exit_code == 2
    assert (
        invoke("leaderboard", run, "--by", "pair", "--picture", tmp_path / "p.svg").exit_code == 2
    )


def test_stand_ins_and_cautions_of_a_run_stand_on_its_pictures(tmp_path: Path) -> None:
    run = play(tmp_path / "out", echoing(), settings=manifest(self_judging=True))
    invoke("pictures", run, "--to", tmp_path / "p")
    for file in (tmp_path / "p").iterdir():
        told = " ".join(texts_of(file.read_bytes()))
        assert "rates stand-ins: every model is an offline one" in told, file.name
        assert "a judge or the examiner of this run also competed" in told, file.name
