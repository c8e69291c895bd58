"""Runs from Python and from a graph alone: the same battles as the command's, the same refusals."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from pydantic import ValidationError

import videoautoarena as va
from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, serving, serving_apart
from tests.support.typed import Terminal, run
from tests.support.whole_runs import KEY, battles, committed_keys
from videoautoarena.runs.api.simulate import arena

CAST = ("offline:hawk", "offline:mole", "offline:parrot")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, and two rounds over them as the command plays them."""
    root = tmp_path_factory.mktemp("ground")
    clips = draw_folder(root / "clips", 2, seconds=2)
    words = ("--rounds", "2", "--models", ",".join(CAST), "--out", root / "typed")
    run("simulate", "--videos", clips, *words)
    return root


def test_python_plays_the_battles_of_the_command(ground: Path, tmp_path: Path) -> None:
    played = va.simulate(
        ground / "clips", out=tmp_path / "out", models=CAST, rounds=2, concurrency=1, quiet=True
    )
    assert battles(tmp_path / "out") == battles(ground / "typed")
    assert played.status().settled == 12
    assert played.leaderboard().ratings == va.open_run(ground / "typed").leaderboard().ratings


def test_an_event_loop_of_ones_own_plays_them_too(ground: Path, tmp_path: Path) -> None:
    async def play() -> va.Run:
        return await va.asimulate(
            ground / "clips", out=tmp_path / "out", models=CAST, rounds=2, quiet=True
        )

    assert asyncio.run(play()).status().settled == 12
    assert battles(tmp_path / "out") == battles(ground / "typed")


def test_a_notebook_whose_loop_is_running_may_call_the_plain_form(
    ground: Path, tmp_path: Path
) -> None:
    async def cell() -> va.Run:
        return va.simulate(
            ground / "clips", out=tmp_path / "out", models=CAST, rounds=1, quiet=True
        )

    assert asyncio.run(cell()).status().settled == 6


def test_the_graph_alone_plays_them_and_goes_on_with_more_rounds(
    ground: Path, tmp_path: Path
) -> None:
    asked = {"videos": ground / "clips", "out": tmp_path / "out", "models": CAST}
    bench = tmp_path / "bench"

    async def play() -> list[Any]:
        first = await arena().ainvoke({}, context={**asked, "rounds": 1})
        # Without a folder it goes on with the run's own.
        again = await arena().ainvoke({}, context={"out": tmp_path / "out"})
        more = await arena().ainvoke({}, context={**asked, "rounds": 2, "freeze": bench})
        return [first, again, more]

    first, again, more = asyncio.run(play())
    assert (first["left"], first["settled"], first["ended"]) == (6, 6, "")
    assert (again["left"], again["settled"]) == (0, 6)
    assert (more["slots"], more["left"], more["settled"]) == (12, 6, 12)
    assert more["bench"] == str(bench)
    assert {row["model"] for row in more["board"]} == set(CAST)
    assert len(va.open_bench(bench)) > 0
    run("arena", "replay", tmp_path / "out")


def test_a_setting_that_there_is_not_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="roundz"):
        asyncio.run(arena().ainvoke({}, context={"roundz": 3}))
    with pytest.raises(va.BadInput, match="there is no setting 'roundz'"):
        va.simulate(tmp_path, roundz=3)
    with pytest.raises(va.BadInput, match="rounds is 'many'"):
        va.simulate(tmp_path, rounds="many")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"models": "offline:hawk"}, "write models="),
        ({"models": [7]}, "a int is no model"),
        ({"models": ["hawk"]}, "offline:hawk if you mean the stand-in"),
        ({"examiner": FakeListChatModel(responses=[""])}, "does not say what it is made of"),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(
    ground: Path, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(va.BadInput, match=said) as refused:
        va.simulate(ground / "clips", out=tmp_path / "out", quiet=True, **given)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_not_there_is_not_continued(tmp_path: Path) -> None:
    with pytest.raises(va.BadInput, match="holds no run; pass the folder of its videos"):
        va.simulate(out=tmp_path / "out")


def test_settings_without_a_folder_are_heard(ground: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked: dict[str, Any] = {"out": out, "models": CAST, "quiet": True}
    va.simulate(ground / "clips", rounds=1, **asked)
    assert va.simulate(out=out, quiet=True).status().slots == 6
    more = va.simulate(rounds=2, **asked)
    assert (more.status().slots, more.status().settled) == (12, 12)
    with pytest.raises(va.ArenaError, match="seed"):
        va.simulate(seed=7, **asked)


def test_a_newcomer_meets_stored_answers_and_a_run_is_frozen(ground: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    played = va.simulate(ground / "clips", out=out, models=CAST, rounds=1, quiet=True)
    grown = va.add(out, "offline:owl", battles=3, quiet=True)
    assert grown.models.keys() - set(CAST) == {"offline:owl"}
    assert grown.status().settled == 9
    assert len(va.freeze(played, tmp_path / "bench")) > 0
    with pytest.raises(va.BadInput, match="there is no setting 'speed'"):
        va.add(out, "offline:owl", speed=3)
    with pytest.raises(va.BadInput, match="by the settings of its run"):
        va.add(out, "offline:owl", rounds=3)
    again = va.add(grown, "offline:owl", battles=4, max_usd=1.0, max_tokens=1e6, quiet=True)
    assert again.status().settled == 10
    status = again.status().to_json()
    assert (status["max_usd"], status["max_tokens"]) == (1.0, 1e6)


def objects(server: Loopback, **more: Any) -> dict[str, Any]:
    """Return a cast of chat models as objects, two contestants and an examiner."""

    def openai(name: str, **settings: Any) -> ChatOpenAI:
        return ChatOpenAI(
            model=name, base_url=server.openai_url, api_key=KEY, max_retries=0, **settings
        )

    gemini = ChatGoogleGenerativeAI(
        model="mole", base_url=server.gemini_url, google_api_key=KEY, max_retries=1
    )
    return {
        "models": [openai("hawk", temperature=0.5), gemini],
        "examiner": openai("examiner"),
        "judge": openai("judge"),
        **more,
    }


def test_chat_models_play_as_objects_under_class_and_parameters(
    ground: Path, tmp_path: Path, terminal: Terminal
) -> None:
    out = tmp_path / "out"
    with serving(tmp_path / "log") as server:
        cast = objects(server, rounds=1, limit=1)
        played = va.simulate(ground / "clips", out=out, quiet=True, **cast)
        status = played.status()
        assert (status.settled, status.to_json()["verdicts"].get("void", 0)) == (3, 0)
        made = committed_keys(out)
        names = list(played.models)
        assert 'object:langchain_openai.ChatOpenAI(model_name="hawk", temperature=0.5)' in names
        assert any(name.startswith("object:langchain_google_genai.Chat") for name in names)
        # The same objects built anew go on, and nothing is asked again.
        asked = len(server.events("arrived"))
        again = objects(server, rounds=2, limit=1)
        more = va.simulate(ground / "clips", out=out, quiet=True, **again)
        assert more.status().settled == 6
        assert len(server.events("arrived")) > asked
        assert made < committed_keys(out)
    whole = (out / "run.sqlite").read_bytes()
    assert KEY.encode() not in whole
    assert f"127.0.0.1:{server.port}".encode() not in whole


def test_a_command_says_that_it_does_not_have_an_object(
    ground: Path, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with serving(tmp_path / "log") as server:
        va.simulate(
            ground / "clips",
            out=out,
            quiet=True,
            **objects(server, rounds=1, limit=1, max_tokens=1),
        )
    monkeypatch.setattr("videoautoarena.agents.providers.chat_objects._HELD", {})
    refused = terminal.arena("resume", out, "--max-tokens", "none")
    assert refused.code == 1
    assert "passed as an object by a program that is gone" in refused.err


PROGRAM = """
import sys, videoautoarena as va
run = va.simulate(sys.argv[1], out=sys.argv[2], config=sys.argv[3], rounds=1, concurrency=2)
print("settled", run.status().settled)
"""


@pytest.mark.slow
def test_ctrl_c_in_a_program_lets_paid_calls_finish_and_the_same_call_goes_on(
    ground: Path, tmp_path: Path
) -> None:
    from tests.support.forks import ended, started
    from tests.support.whole_runs import environment, write_config

    out = tmp_path / "out"
    with serving_apart(tmp_path / "log", "--latency-s", "0.3", "0.6") as server:
        config = write_config(tmp_path / "arena.toml", "openai", server)
        line = [sys.executable, "-c", PROGRAM, str(ground / "clips"), str(out), str(config)]
        pipe = subprocess.PIPE
        with started(line, env=environment(), stdout=pipe, stderr=pipe, text=True) as program:
            until = time.monotonic() + 60
            while len(committed_keys(out)) < 6 and time.monotonic() < until:
                time.sleep(0.1)
            program.send_signal(signal.SIGINT)
            told, said = program.communicate(timeout=60)
        assert program.returncode == 0, said
        assert told.startswith("settled "), said
        assert "finishing" in said or "interrupt" in said
        sent = len(server.events("arrived"))
        assert len(committed_keys(out)) == sent
        again = ended(line, env=environment())
        assert again.stdout == "settled 6\n", again.stderr
        keys = [event["key"] for event in server.events("arrived")]
        assert len(keys) == len(set(keys))


def test_models_are_let_at_a_bench_and_what_was_played_costs_nothing_again(
    ground: Path, tmp_path: Path
) -> None:
    bench = va.freeze(ground / "typed", tmp_path / "bench")
    scores = bench.run(["offline:owl"], judge="offline:judge", videos=ground / "clips", quiet=True)
    assert [row["model"] for row in scores.rows] == ["offline:owl"]
    before = committed_keys(tmp_path / "bench" / "results", "calls.sqlite")
    assert before
    again = bench.run(["offline:owl"], judge=["offline:judge"], videos=ground / "clips", quiet=True)
    assert again.to_json() == scores.to_json()
    assert committed_keys(tmp_path / "bench" / "results", "calls.sqlite") == before


def test_a_graph_of_ones_own_may_play_a_run_in_a_node(ground: Path, tmp_path: Path) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class Settled(TypedDict):
        settled: int

    async def tournament(_state: Settled) -> Settled:
        played = await va.asimulate(
            ground / "clips", out=tmp_path / "out", models=CAST, rounds=1, quiet=True
        )
        return {"settled": played.status().settled}

    async def refused(_state: Settled) -> Settled:
        with pytest.raises(va.BadInput):
            await va.asimulate(tmp_path / "nowhere", out=tmp_path / "other", quiet=True)
        return {"settled": 0}

    builder = StateGraph(Settled)
    builder.add_node("refused", refused)
    builder.add_node("tournament", tournament)
    builder.add_edge(START, "refused")
    builder.add_edge("refused", "tournament")
    builder.add_edge("tournament", END)
    saver = InMemorySaver()
    whole = builder.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "one"}}
    assert asyncio.run(whole.ainvoke({"settled": 0}, config)) == {"settled": 6}
    # Of its own three steps alone, and nothing of the run within.
    assert len(list(saver.list(config))) == 4


def test_the_count_of_battles_leaves_each_line_to_itself(
    ground: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    va.simulate(ground / "clips", out=tmp_path / "out", models=CAST, rounds=1)
    lines = capsys.readouterr().err.split("\n")
    (counted,) = [line for line in lines if "\r" in line]
    assert counted.split("\r")[-1] == "6 of 6 battles"
    assert counted.startswith("\r")
    assert lines[-1] == ""
