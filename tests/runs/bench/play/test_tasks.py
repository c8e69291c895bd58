"""Tasks are asked once, from what a player is shown, and marked by a key."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.small_benches import calls_of, run_bench
from tests.support.task_sets import choice, free, write_set
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import (
    Answers,
    TaskResult,
    View,
    read_tasks,
    write_answers,
)
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.bench.play.cast import CastRequest
from videoautoarena.runs.bench.play.tasks import TaskGame, TaskRules
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.run.rundir.frames import RunFrames
from videoautoarena.video.folder.find import find_videos

PAIR = ("--model", "offline:hawk,offline:blind")
VIEWS: tuple[View, ...] = ("whole", "blind", "one", "shuffled", "other")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips and a set of tasks about them, which no test writes to."""
    place = tmp_path_factory.mktemp("tasks")
    videos = find_videos(draw_folder(place / "videos", 3, seconds=2)).videos
    items = [choice(video.id, k) for video in videos for k in range(2)]
    write_set(place / "set", [*items, *(free(v.id) for v in videos)], videos=place / "videos")
    return place


@pytest.fixture
def tasks(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "set", tmp_path / "set"))


def results_of(folder: Path) -> dict[str, TaskResult]:
    return {one.model: one for one in read_tasks(open_bench(folder))}


def test_every_task_is_asked_once_and_free_text_is_marked(ground: Path, tasks: Path) -> None:
    planned = run_bench(tasks, "--videos", ground / "videos", *PAIR, "--plan", "--json")
    plan = json.loads(planned.stdout)
    assert plan["calls_at_most"] == {"offline:hawk": 9, "offline:blind": 9, "offline:judge": 12}
    played = run_bench(tasks, "--videos", ground / "videos", *PAIR, "--json")
    assert played.return_value == 0, played.output
    made = Counter((row.alias, row.nonce.role) for row in calls_of(tasks))
    assert made["offline:hawk", "contestant"] == made["offline:blind", "contestant"] == 9
    # Equal answers to one task are marked once.
    answers = {
        (line.qid, line.response)
        for one in results_of(tasks).values()
        for line in one.lines
        if line.scores
    }
    assert made["offline:judge", "scene_marker"] == len(answers)
    asked = [item.qid for item in open_bench(tasks).items]
    for result in results_of(tasks).values():
        assert [line.qid for line in result.lines] == asked
        assert {line.end for line in result.lines} == {"answered"}
        assert result.facts["view"] == "whole"
    board = json.loads(played.stdout)["scores"]["boards"][0]
    assert {one["model"] for one in board["models"]} == {"offline:hawk", "offline:blind"}


def test_a_second_run_pays_nothing_and_writes_the_same_bytes(ground: Path, tasks: Path) -> None:
    run_bench(tasks, "--videos", ground / "videos", *PAIR)
    files = {file.name: file.read_bytes() for file in (tasks / "results").glob("*.jsonl")}
    before = len(calls_of(tasks))
    again = run_bench(tasks, *PAIR, "--json")
    assert again.return_value == 0, again.output
    assert len(calls_of(tasks)) == before
    assert {f.name: f.read_bytes() for f in (tasks / "results").glob("*.jsonl")} == files


def test_a_set_of_choices_alone_has_no_judge(ground: Path, tmp_path: Path) -> None:
    ids = [video.id for video in find_videos(ground / "videos").videos]
    write_set(tmp_path / "set", [choice(id_) for id_ in ids], videos=ground / "videos")
    played = run_bench(tmp_path / "set", "--videos", ground / "videos", *PAIR, "--json")
    assert json.loads(played.stdout)["judge"] is None
    assert {row.nonce.role for row in calls_of(tmp_path / "set")} == {"contestant"}


def test_a_sweep_plays_a_model_once_a_number_of_frames(ground: Path, tasks: Path) -> None:
    swept = ("--model", "offline:hawk", "--sweep", "frames=2,8")
    played = run_bench(tasks, "--videos", ground / "videos", *swept)
    assert played.return_value == 0, played.output
    found = results_of(tasks)
    assert sorted(found) == ["offline:hawk (2 frames)", "offline:hawk (8 frames)"]
    frames = Counter(row.frames for row in calls_of(tasks) if row.nonce.role == "contestant")
    assert frames == {2: 9, 8: 9}
    wrong = run_bench(tasks, "--videos", ground / "videos", "--sweep", "frames=two")
    assert "frames=4,16,64" in str(wrong.exception)


@pytest.mark.parametrize("view", VIEWS)
def test_a_player_is_shown_its_view_and_nothing_else(ground: Path, tasks: Path, view: View) -> None:
    run_bench(tasks, "--videos", ground / "videos", "--model", "offline:owl")
    bench = open_bench(tasks)
    wanted = CastRequest(("offline:owl",), views=(view,))
    cast = TaskRules().cast(bench, wanted)
    (player,) = cast.players
    with Store.open(tasks / "results" / CALLS, write=False) as store:
        videos = {video.id: video for video in store.videos()}
        whole = {id_: [f.digest for f in store.frames(id_).frames] for id_ in videos}
        frames = RunFrames(store, None, files={}, sampling=cast.config.sampling, videos=videos)
        films = BenchVideos(videos, {}, {}, frozenset(), None)
        game = TaskGame(cast, Prompter(None, None), frames, films)  # type: ignore[arg-type]
        for item in bench.items:
            seen = asyncio.run(game.seen(item, player))
            shown = [frame.digest for frame in seen.frames]
            own = whole[item.video_id]
            again = asyncio.run(game.seen(item, player))
            assert [frame.digest for frame in again.frames] == shown
            times = [frame.time_s for frame in seen.frames]
            assert times == sorted(times)
            if view == "blind":
                assert shown == []
            elif view == "one":
                assert shown == [own[len(own) // 2]]
            elif view == "shuffled":
                kept = [own[k] for k in range(len(own)) if own[k] in shown]
                assert len(shown) == min(16, len(own))
                assert shown != kept
                assert sorted(shown) == sorted(kept)
            elif view == "other":
                assert len(shown) == min(16, len(own))
                assert seen.video != item.video_id
                assert set(shown) <= set(whole[seen.video])
            else:
                assert shown == own


def test_players_that_are_asked_the_same_are_asked_once(ground: Path, tasks: Path) -> None:
    where = ("--videos", ground / "videos")
    probed = run_bench(tasks, *where, "--model", "offline:blind", "--json", word="probe")
    assert probed.return_value == 0, probed.output
    # Four views of a model that is sent no frames are one question, and only choices are asked.
    assert Counter(row.frames for row in calls_of(tasks)) == {0: 6}
    assert {one["view"] for one in json.loads(probed.stdout)["asked"]} == {
        "blind", "one", "shuffled", "other",
    }  # fmt: skip
    swept = ("--model", "offline:hawk", "--sweep", "frames=500,1000")
    assert run_bench(tasks, *where, *swept).return_value == 0
    answers = [row for row in calls_of(tasks) if row.alias == "offline:hawk"]
    assert len(answers) == 9


def test_of_one_video_there_is_no_other_to_show(ground: Path, tmp_path: Path) -> None:
    (first, *_) = find_videos(ground / "videos").videos
    write_set(tmp_path / "set", [choice(first.id)], videos=ground / "videos")
    with pytest.raises(BadInput, match="no other to show"):
        TaskRules().cast(open_bench(tmp_path / "set"), CastRequest(views=("other",)))


def test_what_was_handed_in_is_scored_and_nobody_is_asked(ground: Path, tasks: Path) -> None:
    bench = open_bench(tasks)
    given = {item.qid: "B" for item in bench.items if item.is_choice}
    answers = Answers(bench=bench.bench, model="theirs", how="import", responses=given)
    write_answers(bench, answers)
    played = run_bench(tasks, "--videos", ground / "videos", "--model", "theirs",
                       "--judge", "offline:judge", "--allow-offline-judge", "--json")  # fmt: skip
    assert played.return_value == 3, played.output
    (result,) = results_of(tasks).values()
    assert Counter(line.end for line in result.lines) == {"answered": 6, "forfeit": 3}
    assert calls_of(tasks) == []
    board = json.loads(played.stdout)["scores"]["boards"][0]
    assert board["models"][0]["m_avg"]["value"] == 100.0


def test_an_item_that_offers_no_choice_is_void_and_the_others_are_asked(
    ground: Path, tmp_path: Path
) -> None:
    (video, *_) = find_videos(ground / "videos").videos
    items = [choice(video.id, 0), choice(video.id, 1, options=["a dog"])]
    write_set(tmp_path / "set", items, videos=ground / "videos")
    where = ("--videos", ground / "videos", "--model", "offline:owl")
    played = run_bench(tmp_path / "set", *where)
    assert played.return_value == 3
    assert "2 to 26 options can be asked, not 1 option" in played.output
    (result,) = results_of(tmp_path / "set").values()
    assert [line.end for line in result.lines] == ["answered", "void"]
    planned = json.loads(run_bench(tmp_path / "set", *where, "--plan", "--json").stdout)
    assert planned["calls_at_most"] == {}
