"""A run whose servers take less than they were sent says so on every page and pays for it once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.e2e.test_cap import ROSTER, brain, write_arena
from tests.support.clips import draw_folder
from tests.support.loopback import serving
from tests.support.manners import Limits, Manners
from tests.support.small_runs import battles_of, play, play_again
from tests.support.typed import Terminal
from videoautoarena.memory.records.records import LearntLimits
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.add import AddRequest, add
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import Listeners, nobody
from videoautoarena.runs.console.progress.follow import Follower
from videoautoarena.runs.run.rundir.call_facts import (
    LIMITS_FILE,
    Shortfall,
    kept_limits,
    limit_lines,
)
from videoautoarena.runs.run.rundir.reader import RUN_FILE

WANTED = {"hawk": 18, "owl": 16, "mole": 4}
"""The clip has 18 frames."""
MOST = 8


class Played(NamedTuple):
    """A run against a server that takes eight images a request."""

    out: Path
    config: Path
    said: list[str]
    events: list[dict[str, Any]]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    root = tmp_path_factory.mktemp("limited")
    videos = draw_folder(root / "videos", 1, seconds=3)
    said = list[str]()
    manners = Manners(limits=Limits(images=MOST))
    with serving(root / "log", manners, brain=brain) as server, pytest.MonkeyPatch.context() as env:
        env.setenv("LOOPBACK_KEY", "loopback-key")
        config = write_arena(root / "arena.toml", server.openai_url, 1.0)
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",)}
        play(videos, root / "out", said=said, config=config, concurrency=1, rounds=1, **cast)
        yield Played(root / "out", config, said, server.events("arrived"))


def refused(events: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many requests of each model the server refused."""
    models = [event["model"] for event in events if event["images"] > MOST]
    return {model: models.count(model) for model in models}


def status_text(terminal: Terminal, out: Path) -> str:
    """Return what is printed of how a run stands, whatever the width of its lines."""
    return " ".join(terminal.arena("status", out).out.split())


def test_each_model_is_refused_once(template: Played) -> None:
    assert refused(template.events) == dict.fromkeys(("hawk", "owl", "examiner", "judge"), 1)


def test_it_is_said_at_once_in_one_line_for_each_model(template: Played) -> None:
    lines = [line for line in template.said if "images a request from now on" in line]
    assert sorted(line.split()[0] for line in lines) == ["examiner", "hawk", "judge", "owl"]
    assert all(line.endswith("takes no more") for line in lines)
    assert template.said.index(lines[0]) < len(template.said) - len(battles_of(template.out))


def test_status_says_what_was_learnt_and_who_saw_how_much(
    template: Played, terminal: Terminal
) -> None:
    told = json.loads(terminal.arena("status", template.out, "--json").out)
    assert {(one["model"], one["images"]) for one in told["server_limits"]} == {
        (f"openai:{model}", MOST) for model in ("hawk", "owl", "examiner", "judge")
    }
    short = {one["model"]: one for one in told["frames_short"] if one["role"] == "contestant"}
    assert short.keys() == {"hawk", "owl"}
    assert (short["hawk"]["least"], short["hawk"]["most"], short["hawk"]["wanted"]) == (8, 8, 18)
    lines = status_text(terminal, template.out)
    assert "hawk (contestant) saw 8 of 18 frames in all its calls" in lines
    assert "takes 8 images a request; 18 were refused" in lines


def test_the_board_says_so_beside_the_name(template: Played, terminal: Terminal) -> None:
    rows = json.loads(terminal.arena("leaderboard", template.out, "--json").out)["models"]
    told = {row["model"]: (row.get("frames"), row["flags"]) for row in rows}
    frames, flags = told["hawk"]
    assert frames is not None
    assert (frames["most"], frames["wanted"], flags[-1]) == (8, 18, "saw 8 of 18 frames")
    assert told["owl"][1][-1] == "saw 8 of 16 frames"
    # It is within what its server takes: its own limit is why it saw less than the others.
    assert told["mole"][1][-1] == "saw 4 of 18 frames"
    text = " ".join(terminal.arena("leaderboard", template.out).out.split())
    assert "saw 8 of" in text
    assert "mole saw fewer frames than others, so that gaps may come from that." in text


def test_slices_of_the_board_say_so_too(template: Played, terminal: Terminal) -> None:
    told = terminal.arena("leaderboard", template.out, "--by", "origin", "--json")
    rows = [row for part in json.loads(told.out)["slices"] for row in part["models"]]
    assert all("saw 8 of 18 frames" in row["flags"] for row in rows if row["model"] == "hawk")


def test_the_audit_raises_an_alarm_for_each(template: Played, terminal: Terminal) -> None:
    found = json.loads(terminal.arena("audit", template.out, "--json").out)["findings"]
    alarms = {one["key"]: one for one in found if one["alarm"]}
    assert {"frames.short.hawk", "frames.short.owl", "frames.short.judge.judge"} <= alarms.keys()
    assert alarms["frames.short.hawk"]["sentence"].startswith("hawk saw 8 of 18 frames in ")
    (fewer,) = (one for one in found if one["key"].startswith("frames.fewer."))
    assert fewer["sentence"].startswith("mole saw 4 of 18 frames in ")
    assert "because its max_frames says so" in fewer["sentence"]
    board = " ".join(terminal.arena("leaderboard", template.out, "--notes").out.split())
    assert "AUDIT ALARM: hawk saw 8 of 18 frames" in board


def test_answers_name_the_frames_they_were_made_from_and_replay_agrees(template: Played) -> None:
    for battle in battles_of(template.out):
        for model, frames in ((battle.model_a, battle.frames_a), (battle.model_b, battle.frames_b)):
            assert len(frames) == min(WANTED[model or ""], MOST)
    assert not play_again(template.out).differences


def test_a_run_that_goes_on_starts_with_what_was_learnt(
    template: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    out = Path(shutil.copytree(template.out, tmp_path / "out"))
    said: list[str] = []
    videos = template.out.parent / "videos"
    play(
        videos,
        out,
        said=said,
        config=template.config,
        models=ROSTER,
        examiner="examiner",
        judge=("judge",),
        rounds=2,
    )
    assert any("openai:hawk at" in line and "takes 8 images" in line for line in said)
    assert not any("from now on" in line for line in said)
    assert not play_again(out).differences


def test_a_newcomer_does_not_pay_for_what_the_judge_has_learnt(
    template: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    out = Path(shutil.copytree(template.out, tmp_path / "out"))
    said: list[str] = []
    request = AddRequest(out=out, model="offline:terse", battles=2, concurrency=1)
    run_async(add(request, say=said.append, hear=nobody))
    assert not any("from now on" in line for line in said)


def test_who_follows_a_run_is_told_each_limit_once(template: Played) -> None:
    said = list[str]()
    follower = Follower(template.out, Listeners(said.append, nobody))
    for _ in range(2):
        follower.look()
    assert sum("takes 8 images a request" in line for line in said) == len(said) == 4


def test_a_declared_limit_is_said_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    said = list[str]()
    with serving(tmp_path / "log", Manners(limits=Limits(images=MOST)), brain=brain) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        limit = "limits = { images_per_request = 8 }\nbase_url ="
        config.write_text(config.read_text().replace("base_url =", limit))
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",)}
        play(videos, tmp_path / "out", said=said, config=config, rounds=1, **cast)
        assert not refused(server.events("arrived"))
    assert "hawk is sent 8 of 64 frames (limits.images_per_request)" in said
    rows = json.loads(terminal.arena("leaderboard", tmp_path / "out", "--json").out)["models"]
    flags = {row["model"]: row["flags"] for row in rows}
    assert "saw 8 of 12 frames" in flags["hawk"]
    assert "saw 4 of 12 frames" in flags["mole"]


@pytest.mark.slow
def test_a_refused_name_of_the_limit_is_paid_for_once_by_a_run_and_what_goes_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    said = list[str]()
    manners = Manners(limits=Limits(unknown_field="max_tokens"))
    with serving(tmp_path / "log", manners, brain=brain) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",), "config": config}
        for rounds in (1, 2):
            play(videos, tmp_path / "out", said=said, rounds=rounds, concurrency=1, **cast)
        wrong = [e["model"] for e in server.events("arrived") if "max_tokens" in e["sampling"]]
    assert sorted(wrong) == sorted((*ROSTER, "examiner", "judge"))
    assert sum("is sent max_completion_tokens from now on" in line for line in said) == 5
    assert not any(battle.verdict == "void" for battle in battles_of(tmp_path / "out"))
    assert not play_again(tmp_path / "out").differences
    lines = status_text(terminal, tmp_path / "out")
    assert "takes the output limit as max_completion_tokens" in lines


PLACES = 2
LIMIT = 1500
TOOK = 6000


def test_a_cap_holds_where_servers_ignore_the_limit_but_for_what_was_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    def chatty(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        reply = brain(model, messages)
        usage = {"input_tokens": 10, "output_tokens": TOOK, "total_tokens": TOOK + 10}
        return AIMessage.model_validate({"content": reply.content, "usage_metadata": usage})

    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    said = list[str]()
    with serving(tmp_path / "log", brain=chatty) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",), "config": config}
        cap = 0.1
        run = play(videos, tmp_path / "out", said=said, max_usd=cap, concurrency=PLACES, **cast)
    assert run.is_capped
    assert run.spent.usd <= cap + PLACES * (TOOK - LIMIT) / 1e6
    told = [line for line in said if "does not keep" in line]
    assert len(told) == len({line.split()[4] for line in told}) >= 2
    assert f"a reply took {TOOK:,}" in told[0]
    assert "does not keep to 1,500 output tokens" in status_text(terminal, tmp_path / "out")


def test_an_old_run_has_learnt_nothing(tmp_path: Path) -> None:
    with Store.create(tmp_path / RUN_FILE, {}) as store:
        assert kept_limits(store) == ()


def test_what_is_kept_is_read_as_it_was_learnt(tmp_path: Path) -> None:
    learnt = LearntLimits(model="openai:\x1b[2J", endpoint="h", images=1, refused_images=2)
    with Store.create(tmp_path / RUN_FILE, {}) as store:
        store.put_file(LIMITS_FILE, f"[{learnt.model_dump_json()}]")
        assert kept_limits(store) == (learnt,)
        (line,) = limit_lines(kept_limits(store))
    assert line == "openai:\\x1b[2J at h takes 1 image a request; 2 were refused"


def test_what_a_server_refused_of_structured_output_is_said() -> None:
    place = {"model": "openai:m", "endpoint": "h"}
    learnt = [
        LearntLimits(**place, structured="json_object"),
        LearntLimits(**place, structured="off"),
    ]
    assert list(limit_lines(learnt)) == [
        "openai:m at h holds replies to JSON, to no schema",
        "openai:m at h holds replies to no form",
    ]


def test_different_shortfalls_are_told_as_a_range() -> None:
    some = Shortfall("m", "contestant", 4, 32, 64, 3, 5)
    assert some.line == "m (contestant) saw 4 to 32 of 64 frames in 3 of 5 calls"
