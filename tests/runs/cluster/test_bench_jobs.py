"""What is left of a bench goes out a video at a time, and nobody looks at one beside another."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.task_sets import choice, write_set
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.memory.records.records import Nonce
from videoautoarena.memory.store.shares import Unit
from videoautoarena.runs.bench.play.calls import load_prompts
from videoautoarena.runs.bench.play.cast import CastRequest
from videoautoarena.runs.bench.play.game import scope_of
from videoautoarena.runs.bench.play.tally import BenchTally
from videoautoarena.runs.bench.play.tasks import TaskRules
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.bench.play.work import BenchWork, Due, Remaining
from videoautoarena.runs.cluster.bench import DrainedOnce, jobs_of, play_apart
from videoautoarena.runs.cluster.jobs import Job
from videoautoarena.runs.console.progress.events import Listeners
from videoautoarena.video.folder.find import find_videos


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> BenchWork:
    """Two questions about each of two videos, for one model."""
    place = tmp_path_factory.mktemp("work")
    folder = draw_folder(place / "videos", 2, seconds=2)
    found = {video.id: video for video in find_videos(folder).videos}
    items = [choice(id_, k) for id_ in found for k in (0, 1)]
    bench = write_set(place / "set", items, videos=folder)
    files = {id_: folder / video.path for id_, video in found.items()}
    films = BenchVideos(found, files, {}, frozenset(), folder)
    rules = TaskRules()
    cast = rules.cast(bench, CastRequest(("offline:hawk",)))
    return BenchWork(rules, cast, items, films, load_prompts())


def left_of(work: BenchWork, *dues: Due) -> Remaining:
    return Remaining(work, dues, Path("calls.sqlite"), frozenset())


def test_all_that_looks_at_one_video_is_one_job_and_another_beside_it_one_more(
    work: BenchWork,
) -> None:
    a, b = work.videos
    one, two, three, four = work.pairs
    dues = [Due(one, (a, b)), Due(two, (a,)), Due(three, (b,)), Due(four, (b,))]
    jobs = jobs_of(left_of(work, *dues))
    assert [job.questions for job in jobs] == [(two,), (three, four), (one,)]
    assert [job.unit.videos for job in jobs] == [(a,), (b,), (a, b)]
    assert [job.size_bytes for job in jobs[:2]] == [work.videos[one].size_bytes for one in (a, b)]
    assert all(Path(job.path).is_absolute() for job in jobs)


def test_a_job_has_the_scopes_of_its_questions_and_of_its_videos_clips(work: BenchWork) -> None:
    a, b = work.videos
    (job,) = jobs_of(left_of(work, *(Due(pair, (a, b)) for pair in list(work.pairs)[:2])))
    items = [item for item, _ in list(work.pairs.values())[:2]]
    assert job.unit.scopes == (a, b, *map(scope_of, items))


def test_what_is_to_be_played_can_be_sent(work: BenchWork) -> None:
    sent = pickle.loads(pickle.dumps(work))
    assert list(sent.pairs) == list(work.pairs)
    assert sent.videos == work.videos


def job(*videos: str) -> Job:
    own, *beside = videos
    return Job(Unit(own, videos, tuple(beside)), "", 0)


def order_of(jobs: list[Job], *, most: int) -> list[str]:
    """Return what begins and what ends; jobs with longer names take longer."""
    seen: list[str] = []

    async def play(one: Job) -> None:
        name = "".join(one.unit.videos)
        seen.append(f"+{name}")
        for _ in range(3 * len(one.unit.name)):
            await asyncio.sleep(0)
        seen.append(f"-{name}")

    asyncio.run(play_apart(jobs, play, most=most))
    return seen


def test_no_video_is_looked_at_by_two_jobs_at_once() -> None:
    jobs = [job("a"), job("a", "b"), job("b"), job("c")]
    seen = order_of(jobs, most=4)
    assert seen[:3] == ["+a", "+b", "+c"]
    assert seen.index("+ab") > max(seen.index("-a"), seen.index("-b"))


def test_a_job_waits_until_nobody_looks_at_what_it_looks_at_beside_its_own() -> None:
    seen = order_of([job("a"), job("long"), job("b", "long")], most=2)
    assert seen == ["+a", "+long", "-a", "-long", "+blong", "-blong"]


def test_no_more_jobs_are_in_hand_than_asked_for() -> None:
    seen = order_of([job(name) for name in "abcd"], most=2)
    assert seen == ["+a", "+b", "-a", "-b", "+c", "+d", "-c", "-d"]


def test_a_job_that_fails_ends_those_under_way() -> None:
    ended: list[str] = []

    async def play(one: Job) -> None:
        if one.unit.name == "b":
            raise RuntimeError("a bug")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(one.unit.name)

    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(play_apart([job("a"), job("b"), job("c")], play, most=2))
    assert ended == ["a"]


def finished(alias: str, fault: str | None) -> CallEvent:
    nonce = Nonce(scope="bench-0", role="contestant")
    return CallEvent("finished", alias, nonce, fault=fault, text="no credit")


def test_a_model_that_can_do_no_more_drains_all_workers_once() -> None:
    heard: list[Any] = []
    tally = BenchTally(total=4)
    drained = list[str]()
    hearing = DrainedOnce(tally, Listeners(lambda _line: None, heard.append))
    hearing.drain = lambda: drained.append("now")
    hearing.hear(finished("fine", None))
    assert (drained, tally.is_early) == ([], False)
    for alias in ("broke", "broke", "refused"):
        hearing.hear(finished(alias, "quota"))
    assert drained == ["now"]
    assert tally.hopeless.startswith("broke: its provider's quota")
    assert tally.is_early
    assert len(heard) == 4
