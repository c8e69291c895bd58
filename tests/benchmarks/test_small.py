"""Each benchmark runs, small, and says what it has to say; how fast is not asked here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import freezing, latency, memory, order, playing, resume, retrieval, watched

HOUSE = Path(__file__).parents[2]


@pytest.mark.slow  # a server in a process of its own
def test_latency_prints_the_share_of_the_least_time_with_and_without_http(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = ["--videos", "2", "--rounds", "2", "--places", "4", "--call-s", "0.002"]
    assert latency.main([*small, "--turns", "1", "--http"]) in (0, 1)
    printed = capsys.readouterr().out
    calls = 2 * 2 + 6 * (1 + 2 + 1) + 6 * (2 + 2 + 1)
    for way in ("in the process", "over HTTP"):
        assert (found := re.search(rf"{way}: (\d+) calls", printed))
        # One more for every battle judged from both seatings.
        assert 0 <= int(found[1]) - calls <= 12
    assert re.search(r"\d% of at least 95%: (NOT )?kept$", printed.strip())


def test_memory_tells_the_curve_and_what_each_table_takes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert memory.main(["--videos", "4", "--rounds", "1"]) in (0, 1)
    told = capsys.readouterr().out
    assert re.search(r"^ +12 +\d+$", told, re.MULTILINE)
    assert {"battles", "calls", "frames"} <= set(re.findall(r"^  (\w+) +\d", told, re.MULTILINE))
    assert len(re.findall(r": (?:NOT )?kept$", told, re.MULTILINE)) == 3


@pytest.mark.slow  # a process of its own, whose memory is looked at over 1,200 battles
def test_memory_does_not_grow_with_battles() -> None:
    # Of fewer battles, what a process and a file begin with is more than what is bounded.
    line = [sys.executable, "-m", "benchmarks.memory", "--videos", "400"]
    done = subprocess.run(line, cwd=HOUSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert len(re.findall(r": kept$", done.stdout, re.MULTILINE)) == 3


@pytest.mark.slow  # a tournament of eight stand-ins
def test_the_known_order_of_stand_ins_is_found_again(
    sample_clips: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--samples", str(sample_clips), "--seeds", "1"]
    monkeypatch.setattr("sys.argv", ["order", *small])
    assert order.main() == 0
    told = capsys.readouterr().out
    assert len(re.findall(r"^holds ", told, re.MULTILINE)) == 10
    assert "FAILS" not in told


@pytest.mark.slow  # eight ways of going on with a run, and of reading it
def test_resume_tells_what_each_thing_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert resume.main(["--videos", "3", "--rounds", "2"]) in (0, 1)
    told = capsys.readouterr().out
    assert told.startswith("a run of 24 battles\n")
    assert len(re.findall(r" ms a battle$", told, re.MULTILINE)) == 8
    assert re.search(r"of at most 20 x: (NOT )?kept$", told.strip())


def test_freezing_tells_what_each_thing_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert freezing.main(["--items", "60"]) in (0, 1)
    told = capsys.readouterr().out
    assert len(re.findall(r"\d s$", told, re.MULTILINE)) == 4
    assert re.search(r"of at most 10 s: (NOT )?kept$", told.strip())


@pytest.mark.parametrize("more", [[], ["--anchor"], ["--tasks"]])
def test_playing_tells_what_a_question_costs(
    capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    assert playing.main(["--items", "12", *more]) in (0, 1)
    told = capsys.readouterr().out
    assert told.startswith("playing 12 questions, ms CPU each")
    most = 4 if "--tasks" in more else 5
    assert re.search(rf"^at most {most} ms: (NOT )?kept$", told, re.MULTILINE)
    assert ("at most 4 KB" in told) is ("--tasks" in more)


@pytest.mark.slow  # every sample is looked at in six tints
def test_retrieval_tells_the_gain_of_each_kind_and_length(
    sample_clips: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert retrieval.main(["--n", "3", "--samples", str(sample_clips)]) in (0, 1)
    told = capsys.readouterr().out
    share = r"(\d\.\d\d): [+-]\d\.\d\d \([^)]+\)"
    line = rf"^(\w+) +\d+ s +3 +\d\.\d\d +{share} +{share} +\d\.\d\d"
    found = re.findall(line, told, re.MULTILINE)
    assert [kind for kind, *_ in found] == [k for k in retrieval.KINDS for _ in retrieval.LENGTHS_S]
    clips, each = (
        sum(float(one[place]) for one in found if one[0] == "order") / len(retrieval.LENGTHS_S)
        for place in (1, 2)
    )
    assert each > 0.75 > clips


@pytest.mark.slow  # a set is written about four clips, and played by four stand-ins
def test_watched_tells_what_each_stand_in_comes_to(
    sample_clips: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for clip in sorted(sample_clips.glob("*.mp4"))[:4]:
        shutil.copy(clip, tmp_path)
    assert watched.main(["--videos", str(tmp_path), "--seeds", "1"]) in (0, 1)
    told = capsys.readouterr().out
    found = re.findall(r"^(\w+) +" + r"(\d+\.\d+) +" * 4 + r"(\d+)$", told, re.MULTILINE)
    assert [kind for kind, *_ in found] == [*watched.KINDS]
    for _, hawk, owl, _, blind, _ in found:
        assert float(hawk) > float(owl) > float(blind)
    assert re.search(r"^blind on choices .*: kept$", told, re.MULTILINE)
