"""A run of two clips and two rounds, begun with --ocr by the version that read text in pictures."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from memory.store import Store
from runs.reading import RUN_FILE
from tests.support.played import invoke
from tests.support.small_runs import battles_of, play_again

GOLDEN = Path(__file__).parent / "golden" / "run-text-read.sqlite.xz"
SIGNS = {"NORTH GATE", "LOW TIDE", "WET PAINT", "OPEN LATE"}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / RUN_FILE).write_bytes(lzma.decompress(GOLDEN.read_bytes()))
    return tmp_path / "out"


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
