"""A run of another process, watched to its end; and the command, from its link to Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.clips import draw_folder
from tests.support.forks import started
from tests.support.played import battle, lineage, play, slot, video
from tests.support.served import Visitor, serving
from tests.support.whole_runs import command
from videoautoarena.memory.records.errors import ArenaError, BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.console.progress.local_state import Machine, Machines, keep_machines
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.serve.server.guard import Guard, Sessions
from videoautoarena.runs.serve.server.serve import listen, port_of
from videoautoarena.runs.serve.view import events
from videoautoarena.runs.serve.view.app import OneRun, view, view_app
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.workers.decoders import Decoders

ROUNDS = 5


async def heard(
    visitor: Visitor, then: Callable[[Any], Awaitable[None]] | None = None
) -> list[tuple[str, Any]]:
    """Return what the server says until it has no more to say; `then` hears each summary."""
    reader, writer = await asyncio.open_connection("127.0.0.1", visitor.port)
    lines = ["GET /api/events HTTP/1.0", f"Host: 127.0.0.1:{visitor.port}"]
    writer.write("\r\n".join([*lines, f"Cookie: {visitor.cookie}", "", ""]).encode())
    found = []
    name = ""
    seen = [await ids(visitor)]
    async for line in reader:
        kind, _, value = line.decode().strip().partition(": ")
        name = value if kind == "event" else name
        if kind == "data":
            found.append((name, json.loads(value)))
            if name == "summary" and then is not None:
                await then(found[-1][1])
            if name == "battles":
                seen.append(await ids(visitor))
                start = found[-1][1]["from"]
                assert seen[-1][:start] == seen[-2][:start]
                assert len(seen[-1]) >= found[-1][1]["count"]
    writer.close()
    return found


async def ids(visitor: Visitor) -> list[str]:
    found: list[str] = json.loads((await visitor.ask("/api/index")).body)["id"]
    return found


class Watched(NamedTuple):
    """A run that was played in a process of its own, and what a page heard of it meanwhile."""

    out: Path
    told: list[tuple[str, Any]]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    place = tmp_path_factory.mktemp("watched")
    videos = draw_folder(place / "videos", 1, seconds=3.0)
    out = place / "out"
    line = command("simulate", "--videos", videos, "--rounds", str(ROUNDS), "--out", out, "-q")

    async def watch() -> list[tuple[str, Any]]:
        listener = listen(None)
        sessions = Sessions(port_of(listener))
        app = view_app(OneRun(out, Decoders(FrameCache(), workers=1)))
        async with serving(Guard(app, sessions, policy=""), listener) as visitor:
            await visitor.enter(sessions.link())
            return await heard(visitor)

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(events, "LEAST_S", 0.2)
        changed.setattr(events, "SHARE", 1)
        changed.setattr(events, "EVERY_S", 0.1)
        with started(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
            while run.poll() is None and not has_begun(out):
                time.sleep(0.05)
            told = asyncio.run(asyncio.wait_for(watch(), 240))
            assert run.wait() == 0
    return Watched(out, told)


def test_a_page_hears_of_what_is_settled_until_nobody_plays_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = 1
    is_over = False
    monkeypatch.setattr(events, "LEAST_S", 0)
    monkeypatch.setattr(events, "EVERY_S", 0.01)
    monkeypatch.setattr(events, "holder", lambda _lock: None if is_over else 7)
    places = [slot(video(), number) for number in range(4)]
    out = play(tmp_path / "out", [battle(places[0])], slots=places)

    async def play_on(summary: Any) -> None:
        nonlocal played, is_over
        if summary["settled"] < played:
            return
        if is_over := played == len(places):
            return
        with Store.open(out / RUN_FILE, write=True) as store:
            await store.put_battle(battle(places[played]))
        played += 1

    async def watch() -> list[tuple[str, Any]]:
        listener = listen(None)
        sessions = Sessions(port_of(listener))
        app = view_app(OneRun(out, Decoders(FrameCache(), workers=1)))
        async with serving(Guard(app, sessions, policy=""), listener) as visitor:
            await visitor.enter(sessions.link())
            return await heard(visitor, play_on)

    told = asyncio.run(asyncio.wait_for(watch(), 60))
    live = [value for name, value in told if name == "summary"]
    assert list(dict.fromkeys(one["settled"] for one in live)) == [1, 2, 3, 4]
    assert [one["running"] for one in live] == [True] * (len(live) - 1) + [False]
    assert [value["count"] for name, value in told if name == "battles"][-1] == 4
    assert told[-1] == ("end", {})


@pytest.mark.slow
def test_a_run_is_followed_to_its_end(watched: Watched) -> None:
    slots = 3 * ROUNDS
    live = [value for name, value in watched.told if name == "summary"]
    assert live[0]["running"]
    counts = [value["settled"] for value in live]
    assert counts == sorted(counts)
    assert len(set(counts)) > 2
    assert {value["slots"] for value in live} == {slots}
    over = {"settled": slots, "slots": slots, "running": False}
    assert {name: live[-1][name] for name in over} == over
    battles = [value for name, value in watched.told if name == "battles"]
    assert battles[0]["from"] == 0
    assert battles[-1]["count"] == slots
    assert watched.told[-1] == ("end", {})


def has_begun(out: Path) -> bool:
    """Return whether a run can be looked at, with its first battle settled."""
    try:
        return events._stand(out, None).settled > 0
    except ArenaError:
        return False


def get(port: int, path: str, cookie: str = "") -> tuple[int, str]:
    """Return the status of an answer, and the cookie that it sets."""
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", path, headers={"Cookie": cookie})
        with connection.getresponse() as answer:
            return answer.status, (answer.getheader("set-cookie") or "").partition(";")[0]


@pytest.mark.slow
def test_a_pipe_gets_the_link_alone_and_ctrl_c_ends_it(watched: Watched) -> None:
    line = command("arena", "view", watched.out)
    pipe = subprocess.PIPE
    with started(line, stdout=pipe, stderr=pipe, text=True) as served:
        assert served.stdout is not None
        address, _, token = served.stdout.readline().strip().partition("/?token=")
        assert address.startswith("http://127.0.0.1:")
        assert len(token) > 40
        port = int(address.rpartition(":")[2])
        status, cookie = get(port, f"/?token={token}")
        assert status == 303
        assert get(port, "/", cookie)[0] == 200
        assert get(port, f"/?token={token}")[0] == 403
        assert get(port, "/etc/passwd", cookie)[0] == 404
        with pytest.raises(BadInput, match=f"^port {port} is taken; pass another --port, or none$"):
            asyncio.run(view(watched.out, port))
        served.send_signal(signal.SIGINT)
        rest, said = served.communicate(timeout=60)
    assert (served.returncode, rest, said) == (0, "", "")


def test_what_is_no_run_and_holds_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, line in {
        "none": "is no folder; pass the folder of a run",
        "empty": "holds no run; pass that of a run, or a folder of runs",
    }.items():
        with pytest.raises(BadInput) as refused:
            asyncio.run(view(tmp_path / name, None))
        assert str(refused.value) == f"{tmp_path / name} {line}"


def test_the_machines_of_a_run_are_part_of_what_a_page_hears(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    machines = Machines((Machine("<b>alpha</b>", 1, 2, 30, 1),), 1)
    with Store.open(out / RUN_FILE, write=True) as store:
        keep_machines(store, machines, 4321)
    alpha = {"node": "<b>alpha</b>", "workers": 1, "under_way": 2, "calls": 30, "lost": 1}
    assert events._stand(out, 4321).cluster == {"machines": [alpha], "losses": 1}
    assert events._stand(out, None).cluster is None
