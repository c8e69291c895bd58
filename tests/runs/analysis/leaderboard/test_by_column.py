"""Boards by what somebody's file says of the videos: names from anybody, shown as mere text."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import play
from tests.support.typed import Terminal
from videoautoarena import open_run
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.runs.analysis.leaderboard.slices import MOST_PARTS, known_of
from videoautoarena.runs.views.page.data import PageData

EVIL = "=cmd|'/C calc'!A0 <img onerror=a()> [red]**b** \\input{x}"
CONTENT = f'path,site,duration,"{EVIL}",title\nclip00.mp4,north,short,"{EVIL}",a\nclip01.mp4,,long,'
CONTENT += "x,b\nclip02.mp4,south,long,x,c\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run over three videos, of which one has no site."""
    folder = tmp_path_factory.mktemp("by")
    videos = draw_folder(folder / "videos", 3, seconds=2)
    (videos / "videos.csv").write_text(CONTENT)
    play(videos, folder / "out", rounds=1)
    return folder / "out"


def test_a_column_parts_the_battles_and_a_gap_is_unknown(out: Path, terminal: Terminal) -> None:
    found = json.loads(terminal.arena("leaderboard", out, "--by", "site", "--json").out)
    assert found["by"] == "site"
    assert [(one["slice"], one["battles"]) for one in found["slices"]] == [
        ("north", 3), ("south", 3), ("unknown", 3),
    ]  # fmt: skip


def test_a_column_called_like_another_trait_has_a_name_of_its_own(
    out: Path, terminal: Terminal
) -> None:
    own = json.loads(terminal.arena("leaderboard", out, "--by", "duration", "--json").out)
    assert [one["slice"] for one in own["slices"]] == ["up to 8 s"]
    theirs = terminal.arena("leaderboard", out, "--by", "column:duration", "--json")
    assert [one["slice"] for one in json.loads(theirs.out)["slices"]] == ["long", "short"]


def test_a_wrong_trait_is_a_usage_error_that_names_what_the_run_has(
    out: Path, terminal: Terminal
) -> None:
    said = terminal.arena("leaderboard", out, "--by", "colour\x1b[2J")
    assert said.code == 2
    assert said.out == ""
    assert said.err.removesuffix("\n").isprintable()
    for name in ("category", "standard", "site", "column:duration", "pair"):
        assert f" {name}" in said.err


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_names_out_to_do_harm_are_text_in_every_form(
    out: Path, terminal: Terminal, form: str
) -> None:
    said = terminal.arena("leaderboard", out, "--by", EVIL, "--format", form)
    assert said.code == 0
    if form == "csv":
        (name,) = {row["slice"] for row in csv.DictReader(said.out.splitlines())} - {"x"}
        assert name == f"'{EVIL}"
    elif form == "markdown":
        assert "<img" not in said.out.replace("\\<img", "")
        assert "\\[red\\]\\*\\*b" in said.out
    elif form == "latex":
        assert "\\input" not in said.out
        (label,) = (line for line in said.out.splitlines() if line.startswith("\\label"))
        assert label.removeprefix("\\label{tab:by-").removesuffix("}").isalnum()
    elif form == "json":
        assert json.loads(said.out)["by"] == EVIL
    else:
        assert "[red]**b**" in said.out


def test_python_has_facts_and_boards_by_column(out: Path) -> None:
    run = open_run(out)
    assert sorted(one.title or "" for one in run.facts().values()) == ["a", "b", "c"]
    assert {row["slice"] for row in run.leaderboard(by="site").rows} == {
        "north",
        "south",
        "unknown",
    }
    with pytest.raises(WrongArgument, match=r"this run has duration, .*site"):
        run.leaderboard(by="sites")


def test_the_report_has_the_columns_that_part_the_videos_into_kinds(out: Path) -> None:
    slices = PageData.read(out).summary["slices"]
    assert [name for name in slices if name not in ("duration", "category", "round", "origin",
            "persona", "format")] == ["site", "column:duration", EVIL]  # fmt: skip
    assert [one["slice"] for one in slices["site"]] == ["north", "south", "unknown"]


def test_a_column_has_up_to_a_hundred_parts() -> None:
    def run_of(values: int) -> Any:
        videos = [str(k) for k in range(values)]
        return SimpleNamespace(
            known_facts=SimpleNamespace(
                columns=("site",), videos=videos, cell=lambda video, _column: video
            )
        )

    assert known_of(run_of(MOST_PARTS), "site") is not None
    with pytest.raises(WrongArgument, match="has 101 different values"):
        known_of(run_of(MOST_PARTS + 1), "site")
