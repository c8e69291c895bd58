"""Models without frames play without videos; a judge without frames has to be allowed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.loopback import serving
from tests.support.small_benches import calls_of, results_of, run_bench
from tests.support.task_sets import choice, free, write_set
from tests.support.wire import blocks
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import read_dialogues, read_tasks
from videoautoarena.video.folder.find import find_videos

BLIND = ("--model", "offline:blind")
TOML = '[models.seer]\nmodel = "offline:judge"\nmax_frames = 0\n'


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A set about two videos that lie nowhere."""
    items = [choice("one"), choice("one", 1), choice("two"), free("two")]
    write_set(tmp_path / "set", items)
    return tmp_path / "set"


def test_a_blind_model_plays_an_imported_set_without_its_videos(tasks: Path) -> None:
    played = run_bench(tasks, *BLIND)
    assert played.return_value == 0, played.output
    assert "nobody here is sent frames: the videos are not looked at" in played.stderr
    assert "offline:blind saw no frames" in " ".join(played.stdout.split())
    (result,) = read_tasks(open_bench(tasks))
    assert [line.end for line in result.lines] == ["answered"] * 4
    assert result.is_blind
    assert {row.frames for row in calls_of(tasks)} == {0}


def test_a_blind_model_over_the_network_is_sent_words_alone(tmp_path: Path) -> None:
    def reader(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        assert all(block["type"] == "text" for block in blocks(messages[-1]))
        return AIMessage("B")

    write_set(tmp_path / "set", [choice("one"), choice("two")])
    with serving(tmp_path / "log", brain=reader) as server:
        model = f'model = "openai:reader"\nmax_frames = 0\nbase_url = "{server.openai_url}"'
        (tmp_path / "arena.toml").write_text(f"[models.reader]\n{model}\n")
        words = ("--model", "reader", "--config", tmp_path / "arena.toml")
        played = run_bench(tmp_path / "set", *words, "--json")
        host = f"127.0.0.1:{server.port}"
    assert played.return_value == 0, played.output
    assert f"words and no frames go to {host} for reader: at most 2 calls" in played.stderr
    assert "up to 0" not in played.stderr
    (row,) = json.loads(played.stdout)["scores"]["boards"][0]["models"]
    assert (row["is_blind"], row["m_avg"]["value"]) == (True, 100.0)


def test_whether_videos_are_at_hand_changes_no_call_of_a_blind_model(tmp_path: Path) -> None:
    videos = find_videos(draw_folder(tmp_path / "videos", 1, seconds=2)).videos
    items = [choice(video.id) for video in videos]
    for name in ("with", "without"):
        write_set(tmp_path / name, items, videos=tmp_path / "videos")
    pair = ("--model", "offline:blind,offline:hawk", "--videos", tmp_path / "videos")
    assert run_bench(tmp_path / "with", *pair).return_value == 0
    assert run_bench(tmp_path / "without", *BLIND).return_value == 0
    seeing = [row for row in calls_of(tmp_path / "with") if row.alias == "offline:blind"]
    assert [row.key for row in seeing] == [row.key for row in calls_of(tmp_path / "without")]


def test_what_a_blind_model_answered_is_known_when_others_come_with_videos(tmp_path: Path) -> None:
    videos = find_videos(draw_folder(tmp_path / "videos", 1, seconds=2)).videos
    write_set(tmp_path / "set", [choice(one.id) for one in videos], videos=tmp_path / "videos")
    assert run_bench(tmp_path / "set", *BLIND).return_value == 0
    pair = ("--model", "offline:blind,offline:hawk", "--videos", tmp_path / "videos")
    plan = json.loads(run_bench(tmp_path / "set", *pair, "--plan", "--json").stdout)
    assert plan["calls_at_most"] == {"offline:hawk": 1}
    assert run_bench(tmp_path / "set", *pair).return_value == 0


def test_a_lost_video_is_void_for_those_alone_who_look_at_it(tmp_path: Path) -> None:
    videos = find_videos(draw_folder(tmp_path / "videos", 2, seconds=2)).videos
    write_set(tmp_path / "set", [choice(one.id) for one in videos], videos=tmp_path / "videos")
    (tmp_path / "videos" / videos[0].path).unlink()
    pair = ("--model", "offline:blind,offline:hawk", "--videos", tmp_path / "videos")
    typed = (tmp_path / "set", *pair, "--allow-missing")
    planned = "for offline:blind, offline:hawk: 3 to answer, 1 without a usable video; at most 3"
    assert planned in " ".join(run_bench(*typed, "--plan").stdout.split())
    assert json.loads(run_bench(*typed, "--plan", "--json").stdout)["without_video"] == 1
    told = run_bench(*typed)
    assert told.return_value == 3
    assert "an item without its video or a known answer does not count" in " ".join(
        told.stdout.split()
    )
    lines = [line.split() for line in told.stdout.splitlines()]
    counts = {line[1]: line[-1] for line in lines if line[:1] == ["–"]}
    assert counts == {"offline:blind": "2", "offline:hawk": "1", "(chance)": "–"}
    blind, hawk = read_tasks(open_bench(tmp_path / "set"))
    assert [line.end for line in blind.lines] == ["answered", "answered"]
    assert sorted(line.end for line in hawk.lines) == ["answered", "void"]


def test_who_sees_frames_still_needs_the_videos(tasks: Path) -> None:
    told = run_bench(tasks, "--model", "offline:blind,offline:hawk")
    assert isinstance(told.exception, BadInput)
    assert str(told.exception).endswith(
        "of its videos; pass their folder with --videos, where they are found by path, name or id, "
        "or play models that need none (max_frames = 0)"
    )


def test_a_blind_model_is_asked_about_dialogues_without_their_videos(tmp_path: Path) -> None:
    write_dialogues(tmp_path / "set", [dialogue("one", spans=[(0.0, 2.0), (900.0, 901.0)])])
    played = run_bench(tmp_path / "set", *BLIND)
    assert played.return_value == 0, played.output
    (result,) = read_dialogues(open_bench(tmp_path / "set"))
    assert {line.end for line in result.lines} == {"answered"}
    assert "offline:blind saw no frames" in " ".join(played.stdout.split())


def test_a_judge_that_looks_needs_the_videos_and_one_line_says_so(bench: Path) -> None:
    told = run_bench(bench, *BLIND)
    assert isinstance(told.exception, BadInput)
    assert "which offline:judge looks at to judge; pass their folder" in str(told.exception)


def test_an_anchor_that_looks_needs_the_videos_though_nobody_else_does(
    bench: Path, tmp_path: Path
) -> None:
    (tmp_path / "arena.toml").write_text(TOML)
    where = ("--judge", "seer", "--config", tmp_path / "arena.toml", "--allow-blind-referee")
    told = run_bench(bench, *BLIND, *where, "--anchor", "offline:hawk")
    assert isinstance(told.exception, BadInput)
    assert "pass their folder with --videos" in str(told.exception)


@pytest.mark.parametrize("anchor", [(), ("--anchor", "offline:blind")])
def test_a_blind_judge_of_a_bench_is_refused_before_anything_is_sent(
    bench: Path, tmp_path: Path, anchor: tuple[str, ...]
) -> None:
    (tmp_path / "arena.toml").write_text(TOML)
    where = ("--judge", "seer", "--config", tmp_path / "arena.toml", "--model", "offline:hawk")
    told = run_bench(bench, *where, *anchor, "--videos", tmp_path)
    assert isinstance(told.exception, BadInput)
    assert "add --allow-blind-referee" in str(told.exception)
    assert not (bench / "results").exists()


@pytest.mark.slow
def test_what_a_blind_judge_was_allowed_to_judge_is_marked(bench: Path, tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text(TOML)
    where = ("--judge", "seer", "--config", tmp_path / "arena.toml", "--allow-blind-referee")
    # The stand-in has nothing to say without frames, so that all is void; a real model would guess.
    played = run_bench(bench, *BLIND, *where, "--limit", 1)
    assert played.return_value == 3, played.output
    assert "seer refereed without seeing a frame" in played.stderr
    shown = " ".join(played.stdout.split())
    assert "seer judged without seeing a frame: words alone were judged." in shown
    assert "offline:blind saw no frames" in shown
    assert results_of(bench)["offline:blind"].facts["blind_referee"] is True
    board = json.loads(run_bench(bench, "--json", word="score").stdout)
    assert {"saw no frames", "judged without frames"} <= set(board["models"][0]["flags"])
    held = run_bench(bench, *BLIND, *where, "--limit", 1, "--anchor", "selected")
    assert "seer judged without seeing a frame" in " ".join(held.stdout.split())


def test_who_marks_free_text_by_a_key_needs_no_frames(tasks: Path, tmp_path: Path) -> None:
    (tmp_path / "arena.toml").write_text(TOML)
    where = ("--judge", "seer", "--config", tmp_path / "arena.toml")
    assert run_bench(tasks, *BLIND, *where).return_value == 0
    assert "blind_referee" not in read_tasks(open_bench(tasks))[0].facts


def test_a_probe_of_a_blind_model_takes_no_video(tasks: Path) -> None:
    told = run_bench(tasks, *BLIND, "--json", word="probe")
    assert told.return_value == 0, told.output
