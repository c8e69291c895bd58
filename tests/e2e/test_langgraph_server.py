"""A LangGraph server plays whole runs: form, stream, kills, two clients at one run."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.graph_server import LANGGRAPH, GraphServer, graph_server
from tests.support.loopback import serving_apart
from tests.support.serverlog import Log, arrivals, open_calls
from tests.support.typed import run
from tests.support.whole_runs import battles, command, committed_keys, end_well, write_config
from videoautoarena.memory.records.digests import unit_interval

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not LANGGRAPH.exists() and "CI" not in os.environ,
        reason="langgraph-cli is not installed; make .venv-graph/.installed",
    ),
]
KILLS = 10 if "WHOLE_TABLE" in os.environ else 1
AGAIN = 3 if "WHOLE_TABLE" in os.environ else 2
"""Kills of one and the same run."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with graph_server(tmp_path_factory.mktemp("graph")) as served:
        yield served


def test_every_graph_has_schemas_that_say_what_is_asked_for(server: GraphServer) -> None:
    for assistant in server.asked("/assistants/search", {}):
        schemas = server.asked(f"/assistants/{assistant['assistant_id']}/schemas")
        context = schemas["context_schema"]
        assert context["additionalProperties"] is False
        assert all(field["description"] for field in context["properties"].values())
        assert schemas["input_schema"].get("properties", {}) == {}
        assert all(field["description"] for field in schemas["state_schema"]["properties"].values())


def test_two_videos_are_played_as_the_command_plays_them(
    server: GraphServer, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "videos", 2, seconds=4.0)
    asked = {"videos": str(tmp_path / "videos"), "rounds": 2, "concurrency": 4}
    wanted = {**asked, "out": str(tmp_path / "served"), "freeze": str(tmp_path / "bench")}
    events = server.streamed(wanted)
    nodes = [node for kind, data in events if kind == "updates" for node in data]
    assert nodes == ["open", "lane", "lane", "rate", "freeze"], events[-1]
    rated = next(data["rate"] for kind, data in events if kind == "updates" and "rate" in data)
    assert (rated["slots"], rated["settled"], rated["ended"]) == (12, 12, "")
    heard = [data["event"] for kind, data in events if kind == "custom"]
    assert heard.count("settled") == 12
    assert {"begun", "watched", "drawn", "finished", "ended", "frozen"} <= set(heard)
    typed = ("--videos", tmp_path / "videos", "--rounds", "2", "--out", tmp_path / "typed", "-q")
    end_well(command("simulate", *typed))
    assert battles(tmp_path / "served") == battles(tmp_path / "typed")
    assert "12 battles are identical" in run("arena", "replay", tmp_path / "served")
    run("arena", "bench", "verify", tmp_path / "bench")


def test_the_form_plays_sample_clips_where_nothing_is_filled_in(server: GraphServer) -> None:
    events = server.streamed(None)
    assert [kind for kind, _ in events if kind == "error"] == [], events[-1]
    assert (server.place / "arena-out" / "run.sqlite").is_file()
    assert len(list((server.place / "arena-out-clips").glob("*.mp4"))) == 12


def test_a_mistake_of_the_user_is_one_line(server: GraphServer, tmp_path: Path) -> None:
    asked = {"videos": str(tmp_path / "nowhere"), "out": str(tmp_path / "out")}
    errors = [data for kind, data in server.streamed(asked) if kind == "error"]
    assert [(one["error"], "nowhere" in one["message"]) for one in errors] == [("RunRefused", True)]
    assert not (tmp_path / "out").exists()


def test_a_killed_server_takes_its_runs_up_by_itself_and_asks_nothing_again(
    tmp_path: Path,
) -> None:
    draw_folder(tmp_path / "videos", 2, seconds=4.0)
    with serving_apart(tmp_path / "calm") as models:
        asked = context_of(tmp_path, write_config(tmp_path / "calm.toml", "openai", models))
        end_well(typed_like({**asked, "out": str(tmp_path / "undisturbed")}))
    log = Log(tmp_path / "log")
    with serving_apart(tmp_path / "log", "--latency-s", "0.3", "0.8") as models:
        config = write_config(tmp_path / "arena.toml", "openai", models)
        for number in range(KILLS):
            out = tmp_path / f"killed-{number}"
            asked = {**context_of(tmp_path, config), "out": str(out), "concurrency": 2}
            place = tmp_path / f"place-{number}"
            with graph_server(place) as first:
                thread, played = first.begun(asked)
                first.remember()
                time.sleep(4 * unit_interval(0, "kill", number))
                assert first.status(thread, played) == "running", number
                first.kill()
            log.read_on()
            before = committed_keys(out)
            died = len(log.events)
            in_flight = open_calls(log.events)
            with graph_server(place) as second:
                assert second.ended(thread, played) == "success", second.log
                assert second.state(thread)["settled"] == 12
            log.read_on()
            assert not before & set(arrivals(log.events[died:])), number
            assert battles(out) == battles(tmp_path / "undisturbed"), number
            if in_flight:
                assert "of unknown cost" in run("arena", "status", out), number
            log.events.clear()


def test_a_run_whose_server_is_killed_again_and_again_goes_on_with_a_new_request(
    server: GraphServer, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "videos", 2, seconds=4.0)
    out = tmp_path / "out"
    log = Log(tmp_path / "log")
    paid_again: set[str] = set()
    with serving_apart(tmp_path / "log", "--latency-s", "0.2", "0.5") as models:
        config = write_config(tmp_path / "arena.toml", "openai", models)
        asked = {**context_of(tmp_path, config), "out": str(out), "concurrency": 1}
        place = tmp_path / "place"
        for number in range(AGAIN):
            before = committed_keys(out)
            with graph_server(place) as one:
                if number == 0:
                    thread, played = one.begun(asked)
                    one.remember()
                log.read_on()
                born = len(log.events)
                # From its second life on the server goes on by itself.
                at_least(one, log, len(arrivals(log.events)) + 4, thread, played)
                one.kill()
            log.read_on()
            paid_again |= before & set(arrivals(log.events[born:]))
        before = committed_keys(out)
        died = len(log.events)
        # Elsewhere nobody knows of the run, and the same request continues it.
        thread, played = server.begun(asked)
        assert server.ended(thread, played) == "success", server.log
        log.read_on()
        paid_again |= before & set(arrivals(log.events[died:]))
    assert not paid_again
    assert "12 battles are identical" in run("arena", "replay", out)


def test_a_second_client_is_told_that_the_run_is_being_played(
    server: GraphServer, tmp_path: Path
) -> None:
    draw_folder(tmp_path / "videos", 2, seconds=4.0)
    log = Log(tmp_path / "log")
    with serving_apart(tmp_path / "log", "--latency-s", "0.3", "0.6") as models:
        config = write_config(tmp_path / "arena.toml", "openai", models)
        asked = {**context_of(tmp_path, config), "out": str(tmp_path / "out")}
        with graph_server(tmp_path / "other") as other:
            thread, played = server.begun(asked)
            at_least(server, log, 4, thread, played)
            errors = [data for kind, data in other.streamed(asked) if kind == "error"]
            assert [one["error"] for one in errors] == ["RunRefused"]
            assert "is being run" in errors[0]["message"]
            assert server.ended(thread, played) == "success", server.log
    assert len(battles(tmp_path / "out")) == 12


def context_of(place: Path, config: Path) -> dict[str, object]:
    """Return what a run of two videos and two rounds is asked to be."""
    return {
        "videos": str(place / "videos"),
        "config": str(config),
        "rounds": 2,
        "block": 1,
        "concurrency": 6,
    }


def typed_like(asked: dict[str, object]) -> list[str]:
    """Return the command that asks for the same."""
    words = [str(word) for name, value in asked.items() for word in (f"--{name}", value)]
    return command("simulate", *words, "-q")


def at_least(server: GraphServer, log: Log, calls: int, thread: str, played: str) -> None:
    """Wait until so many calls have arrived, or the run has ended."""
    until = time.monotonic() + 60
    while len(arrivals(log.events)) < calls and time.monotonic() < until:
        if server.status(thread, played) not in ("pending", "running"):
            break
        time.sleep(0.05)
        log.read_on()
