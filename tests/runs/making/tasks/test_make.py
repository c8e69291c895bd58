"""A set appears whole or not at all, shows what it says, and is the same for the same seed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.films import frames_of
from tests.support.forks import ended, started
from tests.support.looks import fit
from tests.support.played import invoke
from tests.support.set_cards import read_card
from tests.support.task_sets import write_set
from videoautoarena.agents.offline.vision.frame_features import FrameMeasurement, seen_in
from videoautoarena.agents.offline.vision.looks import FITS
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import open_bench, sha256_of
from videoautoarena.runs.bench.format.results import read_tasks
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.formats.words import roughly
from videoautoarena.runs.making.tasks.items import ItemRequest, draw_items
from videoautoarena.runs.making.tasks.make import ENCODED_A_SECOND, Order, make
from videoautoarena.runs.making.tasks.options import Bank
from videoautoarena.video.workers.pool import HANDS

WISH = ItemRequest(n=3, seconds=(15,), seed=7)
TYPED = ("--n", 3, "--seconds", 15, "--seed", 7)
STRANGE = (
    "-rf.mp4",
    "a\nb.mp4",
    "'; rm *.mp4",
    "日本.mp4",
    "\udcff\udcfe.mp4",
    "%s {0}.mp4",
    "$(x)",
)


@pytest.fixture(scope="session")
def made(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of three items, one of each kind; read it only."""
    to = tmp_path_factory.mktemp("made") / "set"
    asyncio.run(make(Order(videos, to, WISH)))
    return to


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def first_of(videos: Path, count: int, folder: Path) -> Path:
    """Return a folder of some of the videos."""
    folder.mkdir()
    for path in sorted(videos.iterdir())[:count]:
        shutil.copy(path, folder)
    return folder


def fitting(glances: list[FrameMeasurement], text: str) -> list[int]:
    """Return the numbers of the frames that a description fits."""
    return [number for number, seen in enumerate(glances) if fit(text, seen) > FITS]


def lasting(probe: dict[str, Any]) -> list[int]:
    return list(range(probe["first"], probe["first"] + probe["frames"]))


def test_a_set_is_intact_and_says_how_it_was_made(made: Path, videos: Path) -> None:
    assert invoke("bench", "verify", made).exit_code == 0
    bench = open_bench(made)
    assert bench.manifest.kind == "choice"
    assert bench.manifest.source.kind == "made"
    assert [item.task for item in bench.items] == ["needle", "order", "count"]
    known = {sha256_of(path) for path in videos.iterdir()}
    for item in bench.items:
        assert item.qid == item.own_qid()
        assert len(item.keys) == 1
        assert {probe["video"] for probe in item.made["probes"]} <= known
    card = read_card(made)
    assert "pass\nthis set on only where" in card
    assert BEFORE_PASSING_ON in card
    assert sorted(path.name for path in made.parent.iterdir()) == [made.name]


@pytest.mark.parametrize(
    "task", ["needle", *(pytest.param(task, marks=pytest.mark.slow) for task in ("order", "count"))]
)
def test_what_was_set_in_is_seen_at_the_said_frames_and_nowhere_else(made: Path, task: str) -> None:
    (item,) = (item for item in open_bench(made).items if item.task == task)
    film = made / "videos" / f"{item.video_id}.mp4"
    glances = [seen_in(picture) for picture in frames_of(film)]
    assert len(glances) == item.made["frames"]
    probes = item.made["probes"]
    for text in {probe["text"] for probe in probes}:
        said = [frame for one in probes if one["text"] == text for frame in lasting(one)]
        assert fitting(glances, text) == said
    if task == "needle":
        wrong = [option for option in item.options if option != item.answer]
        assert [fitting(glances, option) for option in wrong] == [[], [], []]
    if task == "count":
        assert item.answer == str(len(probes))


def test_the_same_seed_gives_the_same_bytes_however_the_files_are_called(
    made: Path, videos: Path, tmp_path: Path
) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    for path, name in zip(sorted(videos.iterdir()), STRANGE, strict=True):
        shutil.copy(path, os.path.join(os.fsencode(strange), os.fsencode(name)))
    done = invoke("tasks", "make", strange, "--to", tmp_path / "set", *TYPED)
    assert done.exit_code == 0, done.stderr
    assert contents(tmp_path / "set") == contents(made)


def test_what_is_there_is_not_made_again_and_nothing_else_is_overwritten(
    made: Path, videos: Path
) -> None:
    before = contents(made)
    again = invoke("tasks", "make", videos, "--to", made, *TYPED, "--json")
    assert f"videos cut from yours are in {made}: before others get them," in again.stderr
    assert json.loads(again.stdout)["was_there"] is True
    for other in (("--n", 4), ("--seed", 8), ("--licence", "MIT")):
        refused = invoke("tasks", "make", videos, "--to", made, *TYPED, *other)
        assert isinstance(refused.exception, BadInput)
        assert "holds something else" in str(refused.exception)
    assert contents(made) == before


@pytest.mark.slow
def test_what_was_encoded_before_an_interruption_is_used_if_it_is_whole(
    made: Path, videos: Path, bank: Bank, tmp_path: Path
) -> None:
    order = Order(videos, tmp_path / "set", WISH)

    async def interrupt() -> None:
        work = asyncio.create_task(make(order))
        while not list(order.draft.glob("*.json")):
            await asyncio.sleep(0.01)
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work

    asyncio.run(interrupt())
    whole = {note.stem for note in order.draft.glob("*.json")}
    plans = {item.plan.sha256 for item in draw_items(bank, WISH).items}
    assert not order.to.exists()
    assert whole < plans

    marked = min(whole)
    damaged = min(plans - whole)
    film, note = (order.draft / f"{marked}{suffix}" for suffix in (".mp4", ".json"))
    shutil.copy(film, order.draft / f"{damaged}.mp4")
    shutil.copy(note, order.draft / f"{damaged}.json")
    with film.open("ab") as file, (order.draft / f"{damaged}.mp4").open("ab") as other:
        file.write(b"marked")
        other.write(b"damaged")
    about = json.loads(note.read_text())
    note.write_text(json.dumps({**about, "sha256": sha256_of(film)}))
    asyncio.run(make(order))

    was, now = (set(contents(folder / "videos").values()) for folder in (made, order.to))
    assert [film.endswith(b"marked") for film in now - was] == [True]
    assert len(now & was) == WISH.n - 1
    assert not order.draft.exists()


@pytest.mark.slow
def test_answers_come_from_the_frames_and_not_from_names_or_what_is_said_of_the_making(
    made: Path, tmp_path: Path
) -> None:
    shown = tmp_path / "videos"
    shown.mkdir()
    for path, name in zip(sorted((made / "videos").iterdir()), STRANGE, strict=False):
        shutil.copy(path, os.path.join(os.fsencode(shown), os.fsencode(name)))
    items = open_bench(made).items
    # Each is said to be what the next one is, in another order.
    said = [item.made for item in items]
    lied = [
        item.model_copy(update={"made": other, "category": "needle first", "duration_s": 1.0})
        for item, other in zip(items, [*said[1:], said[0]], strict=True)
    ]
    other = write_set(tmp_path / "set", lied[::-1], videos=shown)
    same = Path(shutil.copytree(made, tmp_path / "same"))
    cast = ("--model", "offline:hawk,offline:owl,offline:mole,offline:blind")
    for folder, videos in ((same, same / "videos"), (other.folder, shown)):
        assert invoke("bench", "run", folder, "--videos", videos, *cast).exit_code == 0
    answers = [
        {
            (one.model, line.qid): line.response
            for one in read_tasks(open_bench(of))
            for line in one.lines
        }
        for of in (same, other.folder)
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 4 * len(items)


@pytest.mark.slow
def test_a_ladder_is_made_played_and_scored_as_the_same_items_at_each_length(
    videos: Path, tmp_path: Path
) -> None:
    to = tmp_path / "set"
    typed = ("--kind", "needle,order", "--n", 2, "--ladder", "--seconds", "40,15", "--seed", 3)
    planned = json.loads(
        invoke("tasks", "make", videos, "--to", to, *typed, "--plan", "--json").stdout
    )
    done = invoke("tasks", "make", videos, "--to", to, *typed, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    cell = {"wanted": 1, "made": 1}
    assert (
        found["cells"]
        == planned["cells"]
        == [
            {"kind": kind, "seconds": seconds, **cell}
            for kind in ("needle", "order")
            for seconds in (15, 40)
        ]
    )
    assert (found["items"], found["wanted"]) == (4, 4)
    assert [part["keyed"] for part in found["shortcuts"]["parts"]] == [1, 1]
    assert found["shortcuts"]["defects"] == []
    assert "Each item stands at every length" in read_card(to)
    items = open_bench(to).items
    for short, long in zip(items[::2], items[1::2], strict=True):
        assert (short.made["rung"], long.made["rung"]) == (1, 2)
        assert (short.background_s, long.background_s) == (15, 40)
        assert (short.ladder, short.cluster) == (long.ladder, long.cluster)
        assert (short.question, short.options, short.answer) == (
            long.question,
            long.options,
            long.answer,
        )
        assert short.video_id != long.video_id
    assert len({item.ladder for item in items}) == 2
    played = invoke("bench", "run", to, "--model", "offline:hawk,offline:mole", "--json")
    assert played.exit_code == 0, played.stderr
    (board,) = json.loads(invoke("bench", "score", to, "--json").stdout)["boards"]
    (hawk,) = (
        one for one in board["ladders"] if one["model"] == "offline:hawk" and not one["task"]
    )
    assert [(rung["seconds"], rung["accuracy"]["value"]) for rung in hawk["rungs"]] == [
        (15, 100.0),
        (40, 100.0),
    ]


@pytest.mark.slow
def test_a_ladder_has_six_lengths_where_none_are_given(videos: Path, tmp_path: Path) -> None:
    typed = ("--kind", "needle", "--n", 1, "--ladder", "--plan")
    planned = invoke("tasks", "make", videos, "--to", tmp_path / "set", *typed)
    said = " ".join(planned.output.split())
    assert "1 needle at each of 60, 180, 360, 600, 1200, 3600 s" in said
    assert "6 items of 6, 1 h 40 min of video to encode, roughly" in said


def test_a_ladder_of_one_length_is_refused(videos: Path, tmp_path: Path) -> None:
    typed = ("--to", tmp_path / "set", "--ladder", "--seconds", "60")
    refused = invoke("tasks", "make", videos, *typed)
    assert "two lengths at least" in str(refused.exception)


@pytest.mark.slow
def test_a_set_that_was_killed_again_and_again_comes_out_the_same(
    videos: Path, tmp_path: Path
) -> None:
    wish = ItemRequest(n=6, seconds=(15,), seed=7)
    order = Order(videos, tmp_path / "set", wish)
    typed = ("--n", "6", "--seconds", "15", "--seed", "7", "--to", str(order.to))
    command = [str(Path(sys.executable).with_name("arena")), "tasks", "make", str(videos), *typed]
    kept = 0
    for _ in range(2):
        process = started(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while len(list(order.draft.glob("*.json"))) <= kept and process.poll() is None:
            time.sleep(0.01)
        if not kept:
            process.send_signal(signal.SIGSTOP)
            second = ended(command)
            assert (second.returncode, second.stdout, second.stderr.count("\n")) == (1, "", 1)
            assert f"{order.to} is being made by process {process.pid};" in second.stderr
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not order.to.exists()
        now = len(list(order.draft.glob("*.json")))
        assert now > kept
        kept = now
    last = ended(command)
    assert last.returncode == 0, last.stderr[-3000:]
    asyncio.run(make(Order(videos, tmp_path / "whole", wish)))
    assert contents(order.to) == contents(tmp_path / "whole")


def test_two_do_not_make_one_set_at_once(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = Order(videos, tmp_path / "link", WISH)
    (tmp_path / "set").mkdir()
    order.to.symlink_to("set")
    typed = ["tasks", "make", str(videos), "--to", str(tmp_path / "set"), *map(str, TYPED)]

    async def meet() -> int:
        first = asyncio.create_task(make(order))
        while not list(tmp_path.glob(".set.making.lock")) and not first.done():
            await asyncio.sleep(0)
        code = await asyncio.to_thread(guarded, lambda: arena.main(typed, standalone_mode=False))
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        return code

    assert asyncio.run(meet()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    busy = f"{tmp_path / 'set'} is being made by process {os.getpid()}; wait for it to end"
    assert line.startswith(f"arena: {busy}")
    assert {path.name for path in tmp_path.iterdir()} <= {"link", "set", ".set.making"}


def test_a_plan_writes_nothing(videos: Path, tmp_path: Path) -> None:
    to = tmp_path / "set"
    planned = invoke("tasks", "make", videos, "--to", to, *TYPED, "--plan", "--json")
    found = json.loads(planned.stdout)
    assert (found["items"], found["bench"]) == (3, None)
    assert found["film_s"] > 3 * 15
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_plan_says_how_long_encoding_takes(videos: Path, tmp_path: Path) -> None:
    to = tmp_path / "set"
    planned = invoke("tasks", "make", videos, "--to", to, *TYPED, "--plan", "--json")
    found = json.loads(planned.stdout)
    seconds = roughly(found["size_bytes"] / ENCODED_A_SECOND / HANDS)
    told = invoke("tasks", "make", videos, "--to", to, *TYPED, "--plan").stdout
    assert f"encoding takes about {seconds} on " in told


def test_a_folder_that_gives_too_little_is_refused_with_how_much_and_why(
    videos: Path, tmp_path: Path
) -> None:
    one = first_of(videos, 1, tmp_path / "one")
    to = tmp_path / "set"
    refused = invoke("tasks", "make", one, "--to", to, "--n", 3)
    assert "gives 0 of 3 items" in str(refused.exception)
    assert "has to come from another video" in str(refused.exception)
    assert not to.exists()


@pytest.mark.slow
def test_of_a_folder_that_gives_too_little_what_there_is_can_be_taken(
    videos: Path, tmp_path: Path
) -> None:
    some = first_of(videos, 5, tmp_path / "some")
    to = tmp_path / "set"
    wish = ("--kind", "needle", "--n", 50, "--seconds", 15)
    refused = invoke("tasks", "make", some, "--to", to, *wish)
    assert "of 50 items" in str(refused.exception)
    assert "--at-most" in str(refused.exception)
    planned = invoke("tasks", "make", some, "--to", to, *wish, "--at-most", "--plan", "--json")
    assert 0 < json.loads(planned.stdout)["items"] < 50
    assert not to.exists()
