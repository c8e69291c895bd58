"""Whole runs whose users ask in several languages: balanced, kept, replayed, and continued."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_runs import battles_of, play, play_again
from tests.support.typed import Terminal
from videoautoarena.memory.records.errors import ForeignRun
from videoautoarena.runs.analysis.leaderboard.board import slices_of

LANGUAGES = ("de", "en")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "videos", 2, seconds=2)


@pytest.fixture(scope="module")
def out(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played") / "out"
    play(videos, out, languages=("EN", "de"), rounds=1)
    return out


def spoken(out: Path) -> dict[str, str | None]:
    return {battle.id: battle.language for battle in battles_of(out)}


def test_each_language_has_equally_many_battles(out: Path) -> None:
    assert Counter(spoken(out).values()) == {"de": 3, "en": 3}


def test_a_run_in_languages_replays_byte_for_byte(out: Path) -> None:
    replayed = play_again(out)
    assert (replayed.battles, replayed.differences) == (6, [])


def test_more_rounds_keep_the_languages_and_others_are_another_run(
    videos: Path, out: Path, tmp_path: Path
) -> None:
    longer = shutil.copytree(out, tmp_path / "out")
    play(videos, longer, languages=LANGUAGES, rounds=2)
    assert spoken(out).items() < spoken(longer).items()
    lineages = {(id_.rpartition("-")[0], code) for id_, code in spoken(longer).items()}
    assert len(lineages) == 6
    with pytest.raises(ForeignRun, match=r"languages de,en, here de\)"):
        play(videos, longer, languages=("de",), rounds=2)


def test_an_unknown_language_is_a_usage_error_of_one_line(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--videos", str(videos), "--out", str(tmp_path / "out"))
    said = Terminal(capsys).simulate(*place, "--languages", "en,xx")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "--languages knows no 'xx'; there are ar (Arabic), " in said.err
    assert not (tmp_path / "out").exists()


def test_a_board_by_language_has_a_slice_for_each(out: Path) -> None:
    sliced = slices_of(out, "language")
    assert [(part.name, part.battles) for part in sliced.parts] == [("de", 3), ("en", 3)]
