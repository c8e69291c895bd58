"""A run of two clips and two rounds, begun with --ocr by the version that read text in pictures."""

from __future__ import annotations

import json
import lzma
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.small_runs import battles_of, play_again
from tests.support.typed import Terminal
from videoautoarena.memory.records.errors import ForeignRun
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.reader import RUN_FILE

GOLDEN = Path(__file__).parents[2] / "golden" / "run-text-read.sqlite.xz"
SIGNS = {"NORTH GATE", "LOW TIDE", "WET PAINT", "OPEN LATE"}
REFUSED = (
    "the run began with text recognition, and text in the picture is no longer read for stand-ins; "
    "use the version that began it"
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / RUN_FILE).write_bytes(lzma.decompress(GOLDEN.read_bytes()))
    return tmp_path / "out"


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("clips") / "clips", 1, seconds=2.0)


def told(*words: Any) -> Any:
    done = invoke(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_its_words_stand_in_its_file_and_its_battles_are_about_them(out: Path) -> None:
    with Store.open(out / RUN_FILE, write=False) as store:
        for video in store.videos():
            frames = store.frames(video.id)
            assert frames is not None
            assert {cue.text for cue in frames.captions} == SIGNS
    answers = [f"{b.answer_a} {b.answer_b}" for b in battles_of(out)]
    assert all(any(sign in said for sign in SIGNS) for said in answers)


def test_every_word_and_every_pair_of_it_comes_out_the_same_again(out: Path) -> None:
    """The keys of its calls hold the text that was read; it is taken from the run's own file."""
    found = play_again(out)
    assert (found.battles, found.others, found.differences) == (12, 0, [])


@pytest.mark.parametrize("command", ["leaderboard", "status", "battles", "audit"])
def test_it_is_read_like_any_run(out: Path, command: str) -> None:
    assert told(command, out)


def test_its_battles_are_shown_and_its_frames_say_what_text_was_read(out: Path) -> None:
    done = invoke("show", out, battles_of(out)[0].id)
    assert (done.exit_code, "hawk" in done.output) == (0, True)
    with Store.open(out / RUN_FILE, write=False) as store:
        assert RunConfig.of_manifest(store.manifest()).sampling.ocr


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--videos", "{videos}", "--rounds", "3", "--out", "{out}"),
        ("simulate", "--videos", "{videos}", "--out", "{out}", "--plan"),
        ("resume", "{out}"),
        ("resume", "{out}", "--videos", "{videos}"),
        ("add", "{out}", "--model", "offline:owl", "--videos", "{videos}"),
        ("add", "{out}", "--model", "offline:owl", "--plan"),
        ("rejudge", "{out}", "--judge", "offline:judge"),
        ("audit", "{out}", "--trials", "repeat", "--plan"),
    ],
)
def test_whatever_would_ask_its_stand_ins_anew_is_refused_in_one_line(
    out: Path, clips: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    # Whoever opens a run to write it brings its layout up to date first, refused or not.
    Store.open(out / RUN_FILE, write=True).close()
    before = dump(out)
    done = Terminal(capsys).arena(*(word.format(out=out, videos=clips) for word in words))
    assert done.code == 1
    assert re.fullmatch(f"arena: {REFUSED}, or (start another|name a real) .*\n", done.err)
    assert dump(out) == before


def test_it_is_frozen_and_stand_ins_cannot_play_that_bench(out: Path, tmp_path: Path) -> None:
    bench = tmp_path / "bench"
    assert invoke("freeze", out, "--to", bench).exit_code == 0
    assert invoke("bench", "verify", bench).exit_code == 0
    done = invoke("bench", "run", bench, "--model", "offline:hawk", "--plan")
    assert isinstance(done.exception, ForeignRun)
    assert str(done.exception).startswith(REFUSED)


def test_a_real_judge_may_still_be_put_on_trial_over_it(out: Path) -> None:
    """Real models were never sent what was read."""
    words = ("--judge", "openai:gpt-4o", "--plan")
    assert told("rejudge", out, *words)["judges"] == ["openai:gpt-4o"]


def dump(out: Path) -> list[str]:
    with closing(sqlite3.connect(out / RUN_FILE)) as file:
        return list(file.iterdump())
