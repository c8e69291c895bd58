"""A run that would cost about five dollars, told to stop at two, over HTTP as people type it."""

from __future__ import annotations

import json
import shlex
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support.clips import draw_folder
from tests.support.forks import ended
from tests.support.lives import Life
from tests.support.loopback import ask_offline, serving
from tests.support.manners import Manners, Mishap
from tests.support.played import invoke
from tests.support.typed import Terminal, run
from tests.support.whole_runs import KEY, battles, command, committed_keys, environment
from videoautoarena.agents.offline import KINDS
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.rundir.budget import spent_so_far
from videoautoarena.runs.run.rundir.reader import open_run

FRAME = 250
"""Tokens a frame counts as here."""
ROSTER = ("hawk", "owl", "mole")


def brain(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Answer as the offline model does, and count tokens as a provider may."""
    images = sum(
        part.get("type") in ("image", "image_url")
        for message in messages
        if isinstance(message.content, list)
        for part in message.content
        if isinstance(part, dict)
    )
    reply = ask_offline(model, messages)
    assert reply.usage_metadata
    said = reply.usage_metadata["output_tokens"]
    into = reply.usage_metadata["input_tokens"] + images * (FRAME - 1)
    usage = {"input_tokens": into, "output_tokens": said, "total_tokens": into + said}
    return AIMessage.model_validate({"content": reply.content, "usage_metadata": usage})


def write_arena(path: Path, url: str, usd: float) -> Path:
    lines = [f'[roles]\nmodels = {list(ROSTER)}\nexaminer = "examiner"\njudge = "judge"']
    for kind in (*ROSTER, "examiner", "judge"):
        lines += [f"[models.{kind}]", f'model = "openai:{kind}"', f"max_frames = {KINDS[kind]}"]
        lines += [f'base_url = "{url}"', 'key_env = "LOOPBACK_KEY"', f"frame_tokens = {FRAME}"]
        lines += [f"price = {{ input_usd = {usd}, output_usd = {usd} }}"]
        lines += ["parameters = { max_tokens = 1500 }"]
    path.write_text("\n".join(lines) + "\n")
    return path


def status(out: Path) -> dict[str, float]:
    calls = json.loads(invoke("status", out, "--json").stdout)["calls"].values()
    return {
        "usd": sum(of["cost_usd"] for of in calls),
        "unknown": sum(of["unknown_cost"] for of in calls),
        "calls": sum(of["calls"] for of in calls),
    }


@pytest.mark.slow
@pytest.mark.parametrize("places", [1, 16])
def test_a_capped_run_stops_in_time_and_goes_on_to_the_same_end(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    places: int,
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    terminal = Terminal(capsys)
    videos = draw_folder(tmp_path / "videos", 2, seconds=2)
    with serving(tmp_path / "log", brain=brain) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        typed: list[str | Path] = ["--videos", videos, "--config", config, "--rounds", "2"]
        typed += ["--concurrency", str(places)]
        whole = tmp_path / "whole"
        run("simulate", *typed, "--out", whole)
        cost = status(whole)
        assert cost["unknown"] == 0
        write_arena(config, server.openai_url, 5.0 / cost["usd"])

        out = tmp_path / "capped"
        trace = tmp_path / "trace"
        cap = ("--max-usd", "2", f"--trace={trace}")
        capped = terminal.simulate(*typed, "--out", out, *cap, "--json")
        assert capped.code == 4, capped.err[-2000:]
        assert f"arena resume {out} --max-usd 4" in capped.err
        told = json.loads(capped.out)
        assert told["capped"]
        assert not told["interrupted"]
        assert 1.8 <= told["cost_usd"] <= 2.0
        keys = committed_keys(out)
        server.after(int(cost["calls"]) + len(keys))
        answered = {row["key"] for row in server.events("sent")[int(cost["calls"]) :]}
        assert answered == keys
        events = [json.loads(line)["event"] for line in trace.read_text().splitlines()]
        assert events.count("finished") == len(keys)
        assert len(battles(out)) == told["settled"] > 0

        again = terminal.arena("resume", out, "--concurrency", str(places))
        assert again.code == 4
        assert "it stays in force until changed" in again.err
        run("arena", "resume", out, "--max-usd", "6")
        server.after(2 * int(cost["calls"]))
        keys_sent = [row["key"] for row in server.events("sent")[int(cost["calls"]) :]]
    assert battles(out) == battles(whole)
    assert status(out)["usd"] == pytest.approx(5.0)
    assert len(keys_sent) == len(set(keys_sent)) == cost["calls"]


KILLS = 2
CAP_USD = 0.07


@pytest.mark.slow
def test_what_kills_cut_off_counts_against_the_cap_and_is_listed(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    billed: list[float] = []

    def billing(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        reply = brain(model, messages)
        assert reply.usage_metadata
        billed.append(reply.usage_metadata["total_tokens"] / 1e6)
        return reply

    with serving(tmp_path / "log", Manners(latency_s=(0.3, 0.6)), brain=billing) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        out = tmp_path / "out"
        typed = ["--videos", videos, "--config", config, "--rounds", "2", "--concurrency", "6"]
        line = command("simulate", *typed, "--out", out, "--max-usd", str(CAP_USD), "-q")
        for _ in range(KILLS):
            before = len(server.events("sent"))
            with Life(line) as life:
                life.until(lambda so_far=before: len(server.events("sent")) >= so_far + 3)
                life.until(lambda: len(server.events("arrived")) > len(server.events("sent")))
                life.interrupt(signal.SIGKILL)
        at_last = ended(line, env=environment())
        assert at_last.returncode == 4, at_last.stderr[-2000:]
        arrived = Counter(row["key"] for row in server.events("arrived"))
        server.after(arrived.total())
    told = json.loads(invoke("status", out, "--json").stdout)
    assert sum(billed) <= CAP_USD
    assert sum(billed) <= told["cost_usd"] + told["lost"]["usd"] <= CAP_USD
    # Each try without a reply is one that the server got, or was about to get.
    open_ = Counter(one["key"] for one in told["possibly_paid"])
    assert open_.total() == told["lost"]["tries"] >= KILLS
    assert arrived.total() <= open_.total() + len(committed_keys(out))
    assert "of unknown cost" in at_last.stderr


def test_a_model_without_a_price_is_named_and_nothing_starts(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    config = write_arena(tmp_path / "arena.toml", "http://127.0.0.1:9/v1", 1.0)
    text = config.read_text()
    lines = [line for line in text.splitlines() if not line.startswith("price")]
    config.write_text("\n".join(lines))
    out = tmp_path / "out"
    typed = ("--videos", videos, "--config", config, "--out", out, "--max-usd", "2")
    refused = terminal.simulate(*typed)
    assert refused.code == 1
    assert refused.err.count("\n") == 1
    assert "no price is known for hawk, owl, mole, examiner, judge" in refused.err
    assert "price = { input_usd" in refused.err
    assert not out.exists()


def test_what_broke_off_counts_against_the_cap_and_is_shown_wherever_a_cost_is(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two connections are cut behind the request, and the third try is answered."""
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    manners = Manners(mishaps=(Mishap("cut", model="judge", times=2),))
    out = tmp_path / "out"
    with serving(tmp_path / "log", manners, brain=brain) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        typed = ["--videos", videos, "--config", config, "--rounds", "1", "--out", out]
        whole = terminal.simulate(*typed, "--max-usd", "3", "--json")
        assert whole.code == 0, whole.err[-2000:]
        with open_run(out) as run:
            found = RunConfig.of_manifest(run.manifest)
            counted = spent_so_far(found, run.store.journal)
        usd = counted.nano / 1e9
        told = json.loads(invoke("status", out, "--json").stdout)
        assert [one["fault"] for one in told["possibly_paid"]] == ["connection"] * 2
        assert told["lost"]["tries"] == 2
        assert told["cap_use"] == {"usd": usd, "tokens": counted.tokens}
        assert told["cost_usd"] + told["lost"]["usd"] == pytest.approx(usd)
        assert 0 < told["cost_usd"] < usd

        ended = json.loads(whole.out)
        assert (ended["lost"], ended["cap_use"]) == (told["lost"], told["cap_use"])
        most = f"2 attempts of unknown cost, up to ${told['lost']['usd']:.4f}"
        assert f"plus {most}: arena status; caps count ${usd:.4f} of $3.00" in whole.err
        page = invoke("status", out, width=200).stdout
        assert f"possibly paid: {most}; caps count them" in page
        assert page.count(" (connection)\n") == 2
        assert f"cap on the whole run: ${usd:.4f} of $3.00 counted" in page

        plan = json.loads(terminal.simulate(*typed, "--plan", "--json").out)
        assert plan["cap_use"] == told["cap_use"]
        typed[5] = "2"
        left = " ".join(terminal.simulate(*typed, "--plan").out.split())
        assert f"${usd:.4f} with what is possibly paid" in left
        assert f"${3 - usd:.2f} of it left" in left


def test_a_run_that_stands_at_its_cap_is_shown_the_command_with_which_it_goes_on(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    out = tmp_path / "out"

    def shown() -> str:
        following: str = json.loads(invoke("status", out, "--json").stdout)["next"]
        assert f"next: {following}\n" in invoke("status", out, width=400).stdout
        return following

    with serving(tmp_path / "log", brain=brain) as server:
        config = write_arena(tmp_path / "arena.toml", server.openai_url, 1.0)
        typed = ["--videos", videos, "--config", config, "--rounds", "2", "--out", out]
        capped = terminal.simulate(*typed, "--max-usd", "0.02")
        assert capped.code == 4, capped.err[-2000:]
        assert shown().startswith(f"arena resume {out} --max-usd ")
        assert f"to continue: {shown()}\n" in capped.err
        assert "stopped at its cap" in invoke("status", out).stdout
        program, *words = shlex.split(shown())
        assert program == "arena"
        while (again := terminal.arena(*words)).code == 4:
            assert shown() != shlex.join(["arena", *words])
            words = shlex.split(shown())[1:]
        assert again.code == 0, again.err[-2000:]
    assert shown() == f"arena leaderboard {out}"
