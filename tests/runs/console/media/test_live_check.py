"""`arena doctor --live`: one small call to each model, and one clear line about each."""

from __future__ import annotations

import base64
import json
import socket
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from tests.support import wire
from tests.support.bodies import HttpReply, Kept, keeping
from tests.support.cards import colours_of
from tests.support.loopback import Loopback, serving
from tests.support.manners import Limits, Manners, Mishap
from tests.support.small_runs import toml
from tests.support.typed import Said, Terminal
from tests.support.wire import blocks
from videoautoarena.agents.models.registry import Model
from videoautoarena.memory.records.records import LearntLimits
from videoautoarena.runs.console.media import live_check
from videoautoarena.runs.console.media.live_check import hints
from videoautoarena.runs.run.config.cast import CastEntry

KEY = "sk-planted-0123456789"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once: how long a person waits for it is no matter here."""
    monkeypatch.setattr(live_check, "LONGEST_PAUSE_S", 0)


def watcher(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Answer as the model's name says; all but one go by the pixels."""
    frame, *_ = [block for block in blocks(messages[-1]) if block["type"] == "image"]
    seen = colours_of(base64.b64decode(frame["base64"]), 3)
    said = {"prose": f"I see {', '.join(seen)}.", "guesser": '{"stripes": ["red", "red", "red"]}'}
    usage = {"input_tokens": 1200, "output_tokens": 8, "total_tokens": 1208}
    content = said.get(model, json.dumps({"stripes": seen}))
    return AIMessage.model_validate({"content": content, "usage_metadata": usage})


def cast(server: Loopback, *names: str, **settings: Any) -> None:
    """Write an arena.toml in which these play under `settings`, and the first one examines."""
    table = {"base_url": server.openai_url, **settings}
    tables = {name: {**table, "model": f"openai:{name}"} for name in ("referee", *names)}
    roles = f'[roles]\nmodels = {json.dumps([*names, "offline:hawk"])}\nexaminer = "referee"\n'
    Path("arena.toml").write_text(toml(tables) + roles)


def ask(terminal: Terminal, *words: str, frames: bool = False) -> tuple[Said, dict[str, Any]]:
    """Ask one question of each model, or both."""
    typed = words if frames else (*words, "--no-frames")
    said = terminal.arena("doctor", "--live", "--json", *typed)
    return said, {one["model"]: one for one in json.loads(said.out)["live"]}


def test_each_model_over_the_network_is_asked_once_and_told_of(
    terminal: Terminal, tmp_path: Path
) -> None:
    price = {"input_usd": 1.0, "output_usd": 10.0}
    with serving(tmp_path / "log", brain=watcher) as server:
        cast(server, "plain", "prose")
        with Path("arena.toml").open("a") as file:
            file.write(f"[models.plain.price]\ninput_usd = {price['input_usd']}\noutput_usd = 10.0")
        said, found = ask(terminal)
        assert [event["images"] for event in server.after(3) if event["event"] == "arrived"] == [
            1,
            1,
            1,
        ]
    assert said.code == 0
    assert [(one["sees"], one["json"]) for one in found.values()] == [
        (True, True),
        (True, False),
        (True, True),
    ]
    assert found["plain"]["cost_usd"] == pytest.approx(0.00128)
    assert found["plain"]["usage"]["input_tokens"] == 1200
    host = f"127.0.0.1:{server.port}"
    assert said.err.splitlines()[0] == (
        f"one question with one drawn picture goes to {host} for plain, prose, referee: 3 calls, "
        "tried at most 2 times, 18,945 tokens at most ($0.04 at most; price of prose, referee "
        "unknown)"
    )
    assert "prose (openai:prose): answered, sees images; does NOT reply in JSON" in said.err


def test_gemini_is_asked_likewise(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    with serving(tmp_path / "log", Manners(api_key=KEY), brain=watcher) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.gemini_url)
        words = ("--models", "google_genai:m,offline:owl", "--examiner", "google_genai:referee")
        said, found = ask(terminal, *words)
    assert (said.code, [one["sees"] for one in found.values()]) == (0, [True, True])


def test_a_model_that_guesses_is_found_out(terminal: Terminal, tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=watcher) as server:
        cast(server, "guesser")
        said, found = ask(terminal)
    assert said.code == 1
    assert found["guesser"]["sees"] is False
    assert "'guesser' does not see the images it is sent" in said.err
    assert found["guesser"]["reason"].startswith("shown ")


def test_a_refusal_is_one_line_with_a_hint(terminal: Terminal, tmp_path: Path) -> None:
    hints = {
        400: "as planned",
        401: 'no key was sent; add key_env = "..." to [models.bad401]',
        404: "check the model's name and base_url",
        429: "rate limit",
        500: "",
    }
    refusals = [
        Mishap("status", model=f"bad{status}", status=status, retry_after=0, times=99)
        for status in hints
    ]
    with serving(tmp_path / "log", Manners(mishaps=tuple(refusals)), brain=watcher) as server:
        cast(server, *(f"bad{status}" for status in hints))
        said, found = ask(terminal)
        tries = Counter(event["model"] for event in server.events("arrived"))
    assert said.code == 1
    assert found["referee"]["answered"]
    for status, hint in hints.items():
        bad = found[name := f"bad{status}"]
        assert (bad["answered"], bad["failure"]) == (False, f"http-{status}")
        assert bad["tries"] == tries[name] <= 2
        assert hint in bad["reason"]
        line = next(line for line in said.err.splitlines() if line.startswith(f"{name} "))
        assert f"FAILED: http-{status}: " in line


def test_each_is_asked_again_with_as_many_as_a_run_sends(
    terminal: Terminal, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", brain=watcher) as server:
        cast(server, "plain", max_frames=20)
        said, found = ask(terminal, frames=True)
        arrived = [event["images"] for event in server.after(4) if event["event"] == "arrived"]
    assert sorted(arrived) == [1, 1, 20, 20]
    assert (said.code, found["plain"]["frames_asked"], found["plain"]["frames_taken"]) == (
        0,
        20,
        20,
    )
    assert "takes 20 images in a call" in said.err
    assert said.err.startswith("two questions, with one drawn picture and with up to 20, go to ")


def test_a_server_that_takes_fewer_images_than_a_run_sends_is_told_of(
    terminal: Terminal, tmp_path: Path
) -> None:
    manners = Manners(limits=Limits(images=8))
    with serving(tmp_path / "log", manners, brain=watcher) as server:
        cast(server, "small", max_frames=20)
        said, found = ask(terminal, frames=True)
    assert (found["small"]["answered"], found["small"]["frames_taken"]) == (True, 8)
    line = next(line for line in said.err.splitlines() if line.startswith("small (openai:small):"))
    assert "takes only 8 of 20 images" in line
    assert line.endswith("in arena.toml under [models.small]: limits = { images_per_request = 8 }")
    assert found["small"]["arena_toml"] == "limits = { images_per_request = 8 }"
    assert said.code == 0


def test_a_model_that_fails_with_many_images_could_not_play(
    terminal: Terminal, tmp_path: Path
) -> None:
    failure = Mishap("status", model="small", nth=2, status=403, times=9)
    with serving(tmp_path / "log", Manners(mishaps=(failure,)), brain=watcher) as server:
        cast(server, "small", max_frames=20)
        said, found = ask(terminal, frames=True)
    assert (found["small"]["answered"], found["small"]["frames_taken"]) == (True, 0)
    assert "'small' fails with 20 images: http-403" in said.err
    assert found["small"]["frames_reason"].startswith("http-403")
    assert said.code == 1


def test_a_limit_that_no_number_names_is_halved_down_to(terminal: Terminal, tmp_path: Path) -> None:
    with serving(tmp_path / "log", Manners(limits=Limits(long_images=6)), brain=watcher) as server:
        cast(server, "small", max_frames=32)
        _, found = ask(terminal, frames=True)
    assert (found["small"]["frames_asked"], found["small"]["frames_taken"]) == (32, 4)
    assert found["small"]["arena_toml"] == "limits = { images_per_request = 4 }"


def test_the_name_of_the_limit_of_tokens_that_a_server_takes_is_found(
    terminal: Terminal, tmp_path: Path
) -> None:
    manners = Manners(limits=Limits(unknown_field="max_tokens"))
    with serving(tmp_path / "log", manners, brain=watcher) as server:
        cast(server, "new")
        said, found = ask(terminal)
    assert said.code == 0
    assert found["new"]["arena_toml"] == 'token_limit_field = "max_completion_tokens"'


def test_who_says_the_system_text_and_in_what_replies_come_is_found(terminal: Terminal) -> None:
    words = {"system": "System role not supported", "stream": "Stream must be set to true"}

    def script(request: Kept) -> HttpReply:
        told = json.loads(request.body)
        if told["messages"][0]["role"] == "system":
            return HttpReply(wire.error("openai", 400, words["system"]), 400)
        if not told.get("stream"):
            return HttpReply(wire.error("openai", 400, words["stream"]), 400)
        asked = wire.read(request.target, told)
        return HttpReply(
            wire.pieces(wire.reply(asked, watcher(asked.model, asked.messages))),
            kind="text/event-stream",
        )

    with keeping(script=script) as book:
        cast(Loopback(book.port, Path()), "gemma")
        with Path("arena.toml").open("a") as file:
            file.write('[models.gemma.parameters]\ntop_p = 0.5\nstop = ["."]\n')
        said, found = ask(terminal)
    assert (said.code, found["gemma"]["answered"]) == (0, True)
    toml = 'system = "user" and parameters = { top_p = 0.5, stop = ["."], stream = true }'
    assert found["gemma"]["arena_toml"] == toml


def test_a_suggested_line_is_read_as_toml_whatever_it_holds() -> None:
    alias = "owl \U0001f989 \x7f"
    parameters = {"stop": ["\U0001f6d1", "\x7f\n"], "\U0001f989": {"deep": '"\\'}, "top_p": 0.5}
    entry = {"model": "openai:x", "endpoint": "host", "parameters": parameters}
    model = CastEntry.model_validate(entry).as_model(alias)
    line = live_check._settings(
        model, LearntLimits(model="openai:x", endpoint="host", is_streaming=True)
    )
    found = live_check.ModelCheck(alias, "openai:x", "host", answered=True, arena_toml=line)
    found = replace(found, sees=True, json=True, latency_s=1.0)
    table, _, key = live_check.verdict(found).partition("under ")[2].partition(": ")
    read = tomllib.loads(f"{table}\n{key}\n")["models"][alias]
    assert read == {"parameters": {**parameters, "stream": True}}


def test_what_went_wrong_first_is_not_covered_by_what_goes_wrong_next(
    terminal: Terminal, tmp_path: Path
) -> None:
    failure = Mishap("status", model="guesser", nth=2, status=403, times=9)
    with serving(tmp_path / "log", Manners(mishaps=(failure,)), brain=watcher) as server:
        cast(server, "guesser", max_frames=20)
        _, found = ask(terminal, frames=True)
    assert found["guesser"]["reason"].startswith("shown ")
    assert found["guesser"]["frames_reason"].startswith("http-403")


@pytest.mark.parametrize("option", ["--frames", "--no-frames"])
def test_frames_belong_to_a_visit(terminal: Terminal, option: str) -> None:
    said = terminal.arena("doctor", option)
    assert said.code == 2
    assert "--live" in said.err


def test_a_dead_server_is_one_line(terminal: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        server = Loopback(gone.getsockname()[1], Path())
    cast(server, "bad")
    said, found = ask(terminal)
    assert (said.code, found["bad"]["failure"]) == (1, "unreachable")
    assert "is the server running" in found["bad"]["reason"]


def test_a_page_in_place_of_an_api_is_one_line(terminal: Terminal, tmp_path: Path) -> None:
    page = Manners(mishaps=(Mishap("not-json", model="bad", times=9),))
    with serving(tmp_path / "log", page, brain=watcher) as server:
        cast(server, "bad")
        _, found = ask(terminal)
    assert "base_url" in found["bad"]["reason"]


def test_a_wrong_key_is_shown_nowhere(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_KEY", KEY)
    with serving(tmp_path / "log", Manners(api_key="another")) as server:
        cast(server, "bad", key_env="HOUSE_KEY")
        said, found = ask(terminal)
        text = terminal.arena("doctor", "--live")
    assert found["bad"]["failure"] == "http-401"
    shown = " ".join(text.out.split())
    assert "- 'bad' does not answer: http-401: " in shown
    assert "check the key (in HOUSE_KEY)" in shown
    assert KEY not in said.out + said.err + text.out + text.err
    assert "FAILED: http-401" in " ".join(text.out.split())


def test_a_model_without_its_key_is_not_asked(terminal: Terminal, tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=watcher) as server:
        cast(server, "bad")
        words = ("--models", "bad,openai:far", "--examiner", "referee")
        said, found = ask(terminal, *words)
    assert (found["openai:far"]["failure"], found["openai:far"]["tries"]) == ("settings", 0)
    assert "api.openai.com" not in said.err
    assert "set OPENAI_API_KEY" in said.err
    assert found["bad"]["answered"]


def test_a_model_that_is_sent_no_frames_is_shown_none(terminal: Terminal, tmp_path: Path) -> None:
    def reader(_model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        assert all(block["type"] == "text" for block in blocks(messages[-1]))
        return AIMessage('{"stripes": ["red", "green", "blue"]}')

    with serving(tmp_path / "log", brain=reader) as server:
        cast(server, "reader", max_frames=0)
        said, found = ask(terminal, "--allow-blind-referee")
    assert (said.code, found["reader"]["sees"], found["reader"]["json"]) == (0, None, True)


def test_a_run_should_not_start_with_a_referee_that_does_not_keep_to_the_form(
    terminal: Terminal, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", brain=watcher) as server:
        cast(server, "prose")
        assert ask(terminal)[0].code == 0
        said, found = ask(terminal, "--models", "referee,offline:owl", "--examiner", "prose")
        text = terminal.arena("doctor", "--live", "--no-frames", "--judge", "prose,referee").out
    assert (said.code, found["prose"]["json"]) == (1, False)
    why = "'prose' does not reply in JSON when asked to, as it must to be examiner and judge; "
    assert f"{why}name another model\n" in said.err
    assert said.err.splitlines()[-1].startswith(
        "arena: a run should not start yet, though simulate would: "
    )
    # What a run does refuse is no mere doubt.
    assert "could not start:" in text


def test_more_tokens_are_advised_only_where_the_reply_was_cut_off(
    terminal: Terminal, tmp_path: Path
) -> None:
    def talker(model: str, messages: Sequence[BaseMessage]) -> AIMessage:
        said = watcher(model, messages)
        ending = "cut" if model == "prose" else "stop"
        return said.model_copy(update={"response_metadata": {"ending": ending}})

    with serving(tmp_path / "log", brain=talker) as server:
        cast(server, "prose")
        said, found = ask(terminal, "--models", "referee,offline:owl", "--examiner", "prose")
    assert found["prose"]["was_cut"]
    assert "was_cut" not in found["referee"]
    assert "examiner and judge; raise its max_tokens, where its reply was cut off" in said.err


@pytest.mark.parametrize(
    ("said", "frames", "hint"),
    [
        ("BadRequestError: Error code: 400", 64, ["does it accept images and all parameters?"]),
        ("HTTPStatusError: 400 Bad Request", 64, ["does it accept images and all parameters?"]),
        ("BadRequestError: Error code: 400", 0, ["does it accept all parameters?"]),
        ("BadRequestError: Error code: 400 - {'detail': 'no such voice'}", 64, []),
        ("BadRequestError: 图片过大", 64, []),
    ],
)
def test_what_a_server_may_mean_is_guessed_only_where_it_says_nothing(
    said: str, frames: int, hint: list[str]
) -> None:
    assert (
        list(hints("http-400", Model(alias="m", model="openai:m", max_frames=frames), said)) == hint
    )


def test_of_stand_ins_nobody_is_asked(terminal: Terminal) -> None:
    said = terminal.arena("doctor", "--live")
    assert (said.code, said.err) == (0, "")
    assert "no model; all run in this process" in said.out


def test_what_a_model_says_cannot_move_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    with serving(tmp_path / "log", brain=lambda *_: AIMessage("\x1b[2J\nred\u202e")) as server:
        cast(server, "rude")
        said = terminal.arena("doctor", "--live")
    assert said.code == 1
    assert "\x1b" not in said.out + said.err
    assert "\u202e" not in said.out + said.err


def test_a_server_behind_a_wrong_proxy_is_told_with_the_variable(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://heron:lake@127.0.0.1:9")
    with serving(tmp_path / "log", brain=watcher) as server:
        cast(server, "bad")
        said, found = ask(terminal)
        text = terminal.arena("doctor")
    assert found["bad"]["reason"].endswith("HTTP_PROXY in the environment may redirect the calls")
    assert "proxies     HTTP_PROXY set" in text.out
    assert "lake" not in said.out + said.err + text.out
