"""A bench played by several workers comes to what one process makes of it, byte for byte."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.clips import draw_folder
from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.loopback import serving
from tests.support.manners import Manners
from tests.support.one_loop import OneLoop
from tests.support.small_benches import calls_of, freeze_ground
from tests.support.task_sets import choice, free, write_set
from tests.support.whole_runs import write_config
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.runs.analysis.trials.trial import Leave
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.kinds.scorings import scoring_of
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.bench.play.cast import CastRequest
from videoautoarena.runs.bench.play.runner import BenchOrder, Ran
from videoautoarena.runs.jobs.paid_job import NOBODY
from videoautoarena.video.folder.find import find_videos

PAIR = ("offline:hawk", "offline:parrot")
VIEWS = ("whole", "blind", "one", "shuffled", "other")
TOML = """
[models]
finder.retrieval = { model = "offline:mole", frames_per_clip = 2, embeddings = "offline:colours" }
[models.reader.retrieval]
model = "offline:mole"
frames_per_clip = 2
embeddings = "letters"
captioner = "offline:terse"
[models.letters]
model = "tests.support.letters.Letters:small"
price = { input_usd = 0.1, output_usd = 0.0 }
"""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, and benches about them of every kind that nobody has played."""
    folder = freeze_ground(tmp_path_factory.mktemp("ground"), seconds=2)
    videos = draw_folder(folder / "three", 3, seconds=2)
    ids = [video.id for video in find_videos(videos).videos]
    tasks = [make(id_, k) for id_ in ids for k, make in enumerate((choice, choice, free))]
    write_set(folder / "tasks", tasks, videos=videos)
    write_set(folder / "choice", [choice(i, k) for i in ids for k in (0, 1)], videos=videos)
    spans = [(0.0, 0.8), (1.2, 1.8)]
    spoken = [dialogue(ids[0]), dialogue(ids[1], spans=spans), dialogue(ids[2], 1)]
    write_dialogues(folder / "dialogues", spoken, videos=videos)
    (folder / "arena.toml").write_text(TOML)
    return folder


def asked(ground: Path, bench: str, wanted: CastRequest, **typed: object) -> BenchOrder:
    videos = ground / ("videos" if bench == "bench" else "three")
    leave = Leave(True, True)
    return replace(BenchOrder(wanted._replace(leave=leave), videos=videos, concurrency=4), **typed)


def play(bench: Path, how: BenchOrder) -> Ran:
    opened = open_bench(bench)
    run = scoring_of(opened).run
    return asyncio.run(run(opened, how, NOBODY))


def results_of(bench: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (bench / "results").glob("*.jsonl")}


def both(ground: Path, place: Path, bench: str, how: BenchOrder) -> tuple[Path, Path, OneLoop]:
    """Play a bench once in one process and once by two workers."""
    alone, shared = (Path(shutil.copytree(ground / bench, place / name)) for name in "ab")
    engine = OneLoop()
    assert play(alone, how).tally.done == play(shared, replace(how, engine=engine)).tally.total
    assert results_of(alone)
    assert engine.jobs
    return alone, shared, engine


CASES = {
    "references": ("bench", CastRequest(PAIR, swap=0.5)),
    "anchor": ("bench", CastRequest(PAIR, anchor="offline:mole")),
    "tasks": ("tasks", CastRequest(PAIR)),
    "dialogues": ("dialogues", CastRequest(PAIR)),
    "own history": ("dialogues", CastRequest(PAIR, history="own", preset="paper")),
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case == "tasks" else pytest.mark.slow) for case in CASES],
)
def test_two_workers_write_the_bytes_of_one_process_and_make_its_calls(
    ground: Path, tmp_path: Path, case: str
) -> None:
    bench, wanted = CASES[case]
    alone, shared, _ = both(ground, tmp_path, bench, asked(ground, bench, wanted))
    assert results_of(shared) == results_of(alone)
    assert {row.key for row in calls_of(shared)} == {row.key for row in calls_of(alone)}


@pytest.mark.slow
def test_whoever_is_shown_another_video_pays_no_clip_of_it_twice(
    ground: Path, tmp_path: Path
) -> None:
    models = ("finder", "reader", "offline:mole")
    wanted = CastRequest(models, config=ground / "arena.toml", views=VIEWS)
    alone, shared, engine = both(ground, tmp_path, "choice", asked(ground, "choice", wanted))
    assert results_of(shared) == results_of(alone)
    assert {row.key for row in calls_of(shared)} == {row.key for row in calls_of(alone)}
    besides = [len(job.unit.beside) for job in engine.jobs]
    assert besides == sorted(besides)
    assert besides[-1] == 1


def test_only_what_is_not_known_is_played_by_workers(ground: Path, tmp_path: Path) -> None:
    bench = Path(shutil.copytree(ground / "tasks", tmp_path / "bench"))
    how = asked(ground, "tasks", CastRequest(PAIR))
    engine = OneLoop()
    play(bench, replace(how, limit=4))
    known = {row.key for row in calls_of(bench)}
    assert play(bench, replace(how, engine=engine)).results
    assert sum(len(job.questions) for job in engine.jobs) == (9 - 4) * len(PAIR)
    assert known < {row.key for row in calls_of(bench)}
    again = OneLoop()
    assert play(bench, replace(how, engine=again)).results
    assert again.jobs == []


def test_the_video_that_no_machine_has_makes_its_questions_void_with_the_reason(
    ground: Path, tmp_path: Path
) -> None:
    bench = Path(shutil.copytree(ground / "tasks", tmp_path / "bench"))
    videos = Path(shutil.copytree(ground / "three", tmp_path / "videos"))
    gone = find_videos(videos).videos[0]

    class Elsewhere(OneLoop):
        async def play_bench(self, *given: object, **named: object) -> None:
            (videos / gone.path).unlink()
            await super().play_bench(*given, **named)

    how = replace(asked(ground, "tasks", CastRequest(PAIR)), videos=videos, engine=Elsewhere())
    tally = play(bench, how).tally
    assert (tally.done, tally.voids) == (9 * 2, 3 * 2)
    (reason,) = tally.failures
    assert reason == "no answer: no machine has its file (No such file or directory)"


@pytest.mark.slow
def test_a_cap_ends_a_bench_early_and_a_higher_one_goes_on(ground: Path, tmp_path: Path) -> None:
    wanted = CastRequest(("reader",), config=ground / "arena.toml")
    how = asked(ground, "choice", wanted)
    alone, shared = (Path(shutil.copytree(ground / "choice", tmp_path / name)) for name in "ab")
    play(alone, how)
    cap = sum(row.may_have_cost_usd or 0 for row in calls_of(alone)) / 2
    low = replace(how, caps=SpendCaps(usd=cap), engine=OneLoop())
    tally = play(shared, low).tally
    assert tally.is_capped
    assert not tally.is_interrupted
    assert tally.done < tally.total
    assert 0 < sum(row.may_have_cost_usd or 0 for row in calls_of(shared)) <= cap
    assert play(shared, replace(how, caps=SpendCaps(usd=1.0), engine=OneLoop())).results
    assert results_of(shared) == results_of(alone)
    assert {row.key for row in calls_of(shared)} == {row.key for row in calls_of(alone)}


def fail_one(bench: Path) -> None:
    """Make the first answer and the last judging of a bench calls that failed for good."""
    failed = (
        "json_set(body, '$.reply', NULL, '$.failure', 'HTTP 500', '$.failure_kind', 'http-500')"
    )
    ends = (
        "SELECT min(place) FROM calls WHERE role = 'contestant' UNION SELECT max(place) FROM calls"
    )
    with closing(sqlite3.connect(bench / "results" / CALLS)) as file:
        file.execute(f"UPDATE calls SET body = {failed} WHERE place IN ({ends})")
        file.commit()


@pytest.mark.slow
def test_what_failed_is_asked_again_by_workers_and_nothing_else(
    ground: Path, tmp_path: Path
) -> None:
    how = replace(asked(ground, "bench", CastRequest(PAIR)), retry_failed=True)
    first = Path(shutil.copytree(ground / "bench", tmp_path / "first"))
    play(first, how)
    whole = results_of(first)
    fail_one(first)
    alone, shared = (Path(shutil.copytree(first, tmp_path / name)) for name in "ab")
    engine = OneLoop()
    play(alone, how)
    play(shared, replace(how, engine=engine))
    assert results_of(shared) == results_of(alone) == whole
    assert {row.key for row in calls_of(shared)} == {row.key for row in calls_of(alone)}
    assert 1 <= sum(len(job.questions) for job in engine.jobs) <= 2


@pytest.mark.slow
def test_a_refused_key_ends_a_bench_on_workers_as_in_one_process(
    ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "another")
    with serving(tmp_path / "log", Manners(api_key="the one")) as server:
        config = write_config(tmp_path / "served.toml", "openai", server)
        how = asked(ground, "choice", CastRequest(("hawk",), config=config))
        alone, shared = (Path(shutil.copytree(ground / "choice", tmp_path / name)) for name in "ab")
        one = play(alone, how).tally
        other = play(shared, replace(how, engine=OneLoop())).tally
    assert one.hopeless.startswith("hawk: its API key is refused")
    assert other.hopeless == one.hopeless
    assert (other.is_interrupted, other.is_capped) == (False, False)
