"""What style and position are worth in each slice: which are told, and in which forms."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.battles import draw_styled
from tests.support.played import battle, slot, video
from tests.support.sliced import build_slices
from videoautoarena.memory.records.records import Battle, Video
from videoautoarena.runs.analysis.leaderboard.slices import LeaderboardSlices
from videoautoarena.runs.rating.fit import UNCONTROLLED
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.views.results.forms import ReportView, marked_up
from videoautoarena.runs.views.results.slices import slices_report
from videoautoarena.scoring.texts.style import FEATURES

CAST = ["hawk", "owl", "mole"]
BOTH = RatingMethod(style=True, seats=True)


def film_of(category: str, number: int) -> Video:
    return video(f"{category} {number}".encode())


def fought(category: str, *, videos: int, each: int) -> list[Battle]:
    drawn = draw_styled(2, models=3, videos=videos, each=each, own=0.2, worth=0.5)
    rows = zip(*drawn[:4], drawn.sizes.astype(int).tolist(), strict=True)
    return [
        battle(
            slot(film_of(category, film), k % each),
            category=category,
            model_a=CAST[a],
            model_b=CAST[b],
            verdict="a" if won else "b",
            answer_a="so " * sizes[0],
            answer_b="so " * sizes[1],
        )
        for k, (a, b, won, film, sizes) in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def battles() -> list[Battle]:
    """Many battles of one category, few of another, and a third on few videos."""
    return [
        *fought("Movies", videos=60, each=8),
        *fought("STEM", videos=12, each=2),
        *fought("other", videos=8, each=60),
    ]


@pytest.fixture(scope="module")
def sliced(battles: list[Battle]) -> LeaderboardSlices:
    return build_slices(battles, CAST, by="category", method=BOTH)


def test_an_effect_is_told_where_its_interval_is_narrow_and_the_videos_are_many(
    sliced: LeaderboardSlices,
) -> None:
    movies, stem, other = sliced.effects
    assert (movies.slice, movies.battles, movies.videos) == ("Movies", 480, 60)
    assert set(movies.effects) == {*FEATURES, "seat"}
    length = movies.effects["length"]
    assert length is not None
    assert length.low is not None
    assert length.low > 0
    assert movies.effects["seat"] is not None
    assert movies.effects["bold"] is None
    assert (stem.slice, stem.battles, stem.videos) == ("STEM", 24, 12)
    assert (other.slice, other.battles, other.videos) == ("other", 480, 8)
    assert set(stem.effects.values()) == set(other.effects.values()) == {None}


def test_the_json_has_what_is_told_beside_what_was_fitted(sliced: LeaderboardSlices) -> None:
    found = sliced.to_json()
    movies, stem, _ = found["effects"]
    fitted = [part["settings"]["terms"][0] for part in found["slices"]]
    assert movies["effects"]["length"] == fitted[0]["style"]["length"]
    assert movies["effects"]["seat"] == fitted[0]["seat"]
    assert stem["effects"]["length"] is None
    assert fitted[1]["style"]["length"]["points"] is not None
    flags = [UNCONTROLLED in part["flags"] for part in found["slices"]]
    assert flags == [not of["control"]["identified"] for of in fitted] == [False, True, False]


def test_the_terminal_shows_effects_beside_the_boards(sliced: LeaderboardSlices) -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(ReportView(slices_report(sliced)))
    told = captured.get()
    assert max(map(len, told.splitlines())) <= 80
    (movies,) = re.findall(r"^Movies .*\)$|^Movies .*–$", told, re.MULTILINE)[:1]
    assert re.search(r"480 +60 +\+\d+ \(\+\d+ to \+\d+\)", movies)
    assert re.search(r"^STEM +24 +12 +–", told, re.MULTILINE)
    assert "read first" in told
    assert re.search(r"^hawk .*style in \d+ \(\d+\)", told, re.MULTILINE)
    assert "style in: style or position bias is left in" in " ".join(told.split())
    assert "Effects are rating points per standard deviation" in told


def test_markdown_has_a_table_of_them_and_csv_columns(sliced: LeaderboardSlices) -> None:
    report = slices_report(sliced)
    pasted = marked_up(report, "markdown")
    assert "| effects by category | battles | videos | length |" in pasted
    assert "| STEM | 24 | 12 | – |" in pasted
    rows = list(csv.DictReader(io.StringIO(marked_up(report, "csv"))))
    lengths = {row["slice"]: row["slice_length_low"] for row in rows}
    assert float(lengths["Movies"]) > 0
    assert lengths["STEM"] == ""
    assert "slice_seat_high" in rows[0]


def test_without_a_control_there_are_no_effects(battles: list[Battle]) -> None:
    for method in (RatingMethod(), RatingMethod(ties="davidson")):
        plain = build_slices(battles, CAST, by="category", method=method)
        assert plain.effects == ()
        assert "effects" not in plain.to_json()
        assert "Effects" not in marked_up(slices_report(plain), "markdown")


def test_effects_are_written_down() -> None:
    text = (Path(__file__).parents[4] / "docs" / "records.md").read_text()
    part = text.partition("### Slices")[2].partition("\n## ")[0]
    for name in ("effects", "slice", "battles", "videos", "seat", "slice_length_low"):
        assert f"`{name}`" in part
