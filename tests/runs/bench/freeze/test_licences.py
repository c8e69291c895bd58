"""A bench of videos under named licences alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.memory.records.digests import write_body
from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.records import VideoFacts
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.freeze.freeze import BenchExtras, freeze, refuse_vain
from videoautoarena.runs.bench.freeze.items import unasked
from videoautoarena.runs.bench.freeze.selection import UNLICENSED, UNSTATED, BenchSelection
from videoautoarena.runs.run.inputs.facts import FILE, Facts
from videoautoarena.runs.run.rundir.reader import open_run

STATED = {"BY": "CC-BY-4.0", "by": "cc by 4.0", "zero": "CC0-1.0", "own": "mine, ask me"}
FILMS = {name: video(name.encode(), path=f"{name}.mp4") for name in (*STATED, "silent", "unseen")}
IDS = {film.id: name for name, film in FILMS.items()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run with a question about each video but one, whose licence is like no other."""
    battles = [
        battle(slot(film, 0, ordinal=number))
        for number, (name, film) in enumerate(FILMS.items())
        if name != "unseen"
    ]
    out = play(tmp_path / "out", battles, videos=FILMS.values())
    said = {FILMS[name].id: VideoFacts(licence=licence) for name, licence in STATED.items()}
    said[FILMS["unseen"].id] = VideoFacts(licence="MIT")
    with Store.open(out / "run.sqlite", write=True) as store:
        store.put_file(FILE, write_body(Facts(columns=("licence",), videos=said)))
    return out


def taken(bench: Path) -> set[str]:
    return {IDS[item.video_id] for item in open_bench(bench).items}


def selection_of(bench: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((bench / "manifest.json").read_bytes())["selection"]
    return found


def test_only_videos_under_a_named_licence_are_taken_however_it_is_spelled(
    out: Path, tmp_path: Path
) -> None:
    bench = tmp_path / "bench"
    found = freeze(out, bench, BenchSelection(only_licence=("cc-BY_4.0",)))
    assert taken(bench) == {"BY", "by"}
    assert found.dropped == {UNSTATED: 1, UNLICENSED: 2}
    kept = selection_of(bench)
    assert kept["only_licence"] == ["cc-by-4.0"]
    assert kept["licence_videos"] == {"taken": 2, UNSTATED: 1, UNLICENSED: 2}
    card = (bench / "card.md").read_text()
    assert "- Only those about videos whose licence is stated as cc-by-4.0;\n" in card
    assert "left out: 1 video without a stated licence; 2 videos under another licence." in card
    assert f"| {UNSTATED} | 1 |" in card


def test_a_bench_without_the_wish_says_nothing_of_it(out: Path, tmp_path: Path) -> None:
    freeze(out, tmp_path / "bench")
    assert not {"only_licence", "licence_videos"} & set(selection_of(tmp_path / "bench"))
    assert taken(tmp_path / "bench") == {*STATED, "silent"}


def test_the_option_is_repeated_or_parted_by_commas(out: Path, tmp_path: Path) -> None:
    for number, typed in enumerate(
        [
            ("--only-licence", 'CC0-1.0, "Mine, ask me"'),
            ("--only-licence", "CC0-1.0", "--only-licence", '"mine, ask me"'),
        ]
    ):
        to = tmp_path / f"bench{number}"
        done = invoke("freeze", out, "--to", to, *typed, "--json")
        assert done.exit_code == 0, done.output
        assert taken(to) == {"zero", "own"}
        assert json.loads(done.stdout)["dropped"] == {UNSTATED: 1, UNLICENSED: 2}


@pytest.mark.parametrize("licence", ["GPL-3.0", "MIT"])
def test_where_no_video_is_left_the_line_says_which_licences_there_are(
    licence: str, out: Path, tmp_path: Path
) -> None:
    to = tmp_path / "bench"
    for ask in (
        lambda: freeze(out, to, BenchSelection(only_licence=(licence,))),
        lambda: refuse_vain(out, to, BenchSelection(only_licence=(licence,)), BenchExtras()),
    ):
        with pytest.raises(BadInput) as refused:
            ask()
        found = re.sub("cc.by.4.0", "CC-BY-4.0", str(refused.value), flags=re.IGNORECASE)
        assert found == (
            f"only_licence= {licence.lower()}: no question of {out} is about such a video; there "
            "are CC-BY-4.0 (2 videos), CC0-1.0 (1 video), mine, ask me (1 video), "
            "1 video without a stated one"
        )
    assert not to.exists()


def test_many_licences_and_long_ones_still_make_one_line(tmp_path: Path) -> None:
    films = [video(bytes([n]), path=f"{n}.mp4") for n in range(20)]
    out = play(
        tmp_path / "many",
        [battle(slot(film, 0, ordinal=n)) for n, film in enumerate(films)],
        videos=films,
    )
    said = {
        film.id: VideoFacts(licence=f"licence {n:02} \x1b[31m" + "x" * 1000)
        for n, film in enumerate(films)
    }
    with Store.open(out / "run.sqlite", write=True) as store:
        store.put_file(FILE, write_body(Facts(columns=("licence",), videos=said)))
    with pytest.raises(BadInput) as refused:
        freeze(out, tmp_path / "bench", BenchSelection(only_licence=("MIT",)))
    assert "12 other licences" in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert "\x1b" not in str(refused.value)


def test_a_name_over_two_lines_is_refused_in_one(out: Path, tmp_path: Path) -> None:
    done = invoke("freeze", out, "--to", tmp_path / "bench", "--only-licence", "CC0\nMIT")
    assert done.exit_code == 2
    assert "names between commas stand in one line" in done.output


@pytest.mark.parametrize("licence", ["", " ", "-"])
def test_a_licence_without_a_name_is_refused(licence: str) -> None:
    with pytest.raises(WrongArgument, match="only_licence= needs the name of a licence"):
        BenchSelection(only_licence=("CC0", licence)).check()


def test_nobody_is_asked_about_videos_under_other_licences(out: Path) -> None:
    wish = BenchSelection(hard=True, only_licence=("CC0-1.0",))
    with open_run(out) as run:
        why_not = unasked(wish)(run)
        tied = [one.model_copy(update={"verdict": "tie_bad"}) for one in run.battles]
        whys = {IDS[one.video]: why_not(one) for one in tied}
    assert whys == {
        "zero": None, "BY": UNLICENSED, "by": UNLICENSED, "own": UNLICENSED, "silent": UNSTATED,
    }  # fmt: skip
