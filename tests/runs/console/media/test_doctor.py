"""`arena doctor`: what it finds, what it keeps to itself, and that it asks nobody."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from langsmith.utils import get_env_var, tracing_is_enabled

from tests.support.clips import draw_folder
from tests.support.loopback import serving
from tests.support.small_runs import toml
from tests.support.typed import Said, Terminal
from tests.video.decode.test_truncation import filmed, halved
from videoautoarena.agents.transport.redaction import is_traced

KEY = "sk-planted-0123456789"
REAL = ("--models", "openai:gpt-4o,google_genai:gemini-2.5-flash", "--examiner", "openai:gpt-4.1")


def found(said: Said) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(said.out)
    return report


def test_without_a_word_the_offline_cast_could_play(terminal: Terminal) -> None:
    said = terminal.arena("doctor", "--json")
    assert said.code == 0
    assert said.err == ""
    assert {model["host"] for model in found(said)["models"]} == {"in-process"}
    assert found(said)["ready"] is True


def test_missing_keys_are_named_in_one_line_and_exit_code_1(terminal: Terminal) -> None:
    said = terminal.arena("doctor", *REAL)
    assert said.code == 1
    assert said.err == (
        "arena: a run could not start: 'openai:gpt-4o' needs a key; set OPENAI_API_KEY "
        "(and 2 more, see above)\n"
    )
    assert "set GOOGLE_API_KEY" in said.out


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_no_key_is_shown_and_nothing_of_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    names = ("OPENAI_API_KEY", "GOOGLE_API_KEY", "LANGSMITH_API_KEY", "OUR_KEY")
    for name in names:
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"https://user:{KEY}@example.invalid/v1?key={KEY}")
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", f"https://user:{KEY}@traces.invalid/{KEY}")
    said = terminal.arena("doctor", *REAL, *form)
    assert said.code == 0
    shown = said.out + said.err
    assert "OPENAI_API_KEY" in shown
    assert "example.invalid" in shown
    assert "traces.invalid" in shown
    assert KEY not in shown
    assert KEY[3:9] not in shown


def test_equal_reports_come_of_keys_of_any_length(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    said = set()
    for key in ("a", KEY, KEY * 40):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        report = found(terminal.arena("doctor", *REAL, "--json"))
        said.add(json.dumps({**report, "disk": None}))
    assert len(said) == 1


def test_videos_are_told_apart_from_what_claims_to_be_one(
    terminal: Terminal, tmp_path: Path
) -> None:
    videos = draw_folder(tmp_path / "videos", 2, seconds=2)
    (videos / "no\x1b[2J\nvideo.mp4").write_text("not a video")
    first = sorted(path for path in videos.iterdir() if "video" not in path.name)[0]
    (videos / "zz-copy.mp4").write_bytes(first.read_bytes())
    said = terminal.arena("doctor", "--videos", videos, "--json")
    report = found(said)["videos"]
    assert [len(report[kind]) for kind in ("usable", "skipped", "duplicates")] == [2, 1, 1]
    assert found(said)["calls"]["battles"] == 2 * 3 * 3
    text = terminal.arena("doctor", "--videos", videos).out
    assert "NOT no\\x1b[2J\\x0avideo.mp4: " in " ".join(text.split())
    assert "\x1b" not in text


def test_a_video_that_is_cut_short_is_said_to_be_before_a_run(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "videos").mkdir()
    whole = filmed(tmp_path / "v.mkv")
    halved(whole, tmp_path / "videos")
    text = " ".join(terminal.arena("doctor", "--videos", "videos").out.split())
    assert re.search(r"cut\.mkv: [\d.]+ s, \w+, \w+, cut short: [\d.]+ of 2\.0 s are there", text)
    planned = terminal.simulate("--videos", "videos", "--plan")
    assert "cut.mkv: cut short: " in planned.err


def test_many_copies_are_counted_and_a_program_gets_them_all(
    terminal: Terminal, tmp_path: Path
) -> None:
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    (one,) = videos.iterdir()
    for number in range(9):
        (videos / f"zz-{number}.mp4").write_bytes(one.read_bytes())
    text = terminal.arena("doctor", "--videos", videos).out
    assert text.count(": the same video as") == 5
    assert ".. and 4 more files that are the same video as another" in " ".join(text.split())
    said = terminal.arena("doctor", "--videos", videos, "--json")
    assert len(found(said)["videos"]["duplicates"]) == 9


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--videos", "nowhere"), "there is no folder 'nowhere'"),
        (("--videos", "."), "contains no usable video"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
        (("--models", "nobody:x,offline:owl"), "is no model"),
        (("--models", "openai:a,openai:b"), "no examiner is named"),
    ],
)
def test_whatever_keeps_a_run_from_starting_is_named(
    terminal: Terminal, words: tuple[str, ...], line: str
) -> None:
    said = terminal.arena("doctor", *words)
    assert said.code == 1
    assert line in said.err
    assert said.err.count("\n") == 1
    assert "could not start" in said.out


def test_what_it_says_would_allow_a_run_it_lets_one_allow(terminal: Terminal) -> None:
    Path("arena.toml").write_text('[models.seer]\nmodel = "offline:judge"\nmax_frames = 0\n')
    refused = terminal.arena("doctor", "--judge", "seer")
    assert (refused.code, "add --allow-blind-referee" in refused.err) == (1, True)
    assert terminal.arena("doctor", "--judge", "seer", "--allow-blind-referee").code == 0
    words = ("--models", "openai:a,offline:owl", "--examiner", "offline:examiner")
    assert "--allow-offline-judge" in terminal.arena("doctor", *words).err
    said = terminal.arena("doctor", *words, "--allow-offline-judge")
    assert "allow" not in said.err
    words = ("--models", "openai:a,openai:b", "--examiner", "openai:a")
    assert "--allow-self-judging" in terminal.arena("doctor", *words).err
    assert "allow" not in terminal.arena("doctor", *words, "--allow-self-judging").err


def test_of_a_model_that_is_sent_no_frames_no_number_of_them_is_told(terminal: Terminal) -> None:
    Path("arena.toml").write_text('[models.reader]\nmodel = "openai:a"\nmax_frames = 0\n')
    words = ("--models", "reader,offline:owl", "--examiner", "offline:examiner")
    said = " ".join(terminal.arena("doctor", *words, "--allow-offline-judge").out.split())
    assert "words and no frames go to api.openai.com for reader: at most " in said
    assert "up to 0" not in said


def test_a_cache_that_cannot_be_written_is_missing_and_nothing_is_made(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "sub"))
    said = terminal.arena("doctor")
    assert said.code == 1
    assert "set XDG_CACHE_HOME" in said.err
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not yet"))
    assert terminal.arena("doctor").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_tracing_is_told_as_the_client_would_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING_V2")
    cases = [
        {},
        *({name: v} for name in names for v in ("true", "1")),
        dict.fromkeys(names, "false"),
    ]
    told = []
    for values in cases:
        for name in names:
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        # The client remembers what it once read.
        get_env_var.cache_clear()
        told.append(bool(tracing_is_enabled()))
        assert is_traced() == told[-1], values
    get_env_var.cache_clear()
    assert set(told) == {True, False}


def test_what_it_says_of_calls_is_what_a_run_would_say(terminal: Terminal, tmp_path: Path) -> None:
    table = {"model": "openai:x", "base_url": "http://127.0.0.1:9/v1"}
    (tmp_path / "arena.toml").write_text(
        toml({"a": table, "b": {**table, "model": "openai:y"}, "c": {**table, "model": "openai:z"}})
        + '[roles]\nmodels = ["a", "b"]\nexaminer = "c"\n[run]\nrounds = 1\nswap = 0.0\n'
    )
    text = " ".join(terminal.arena("doctor").out.split())
    assert "a (openai:x): contestant (64 frames), 127.0.0.1:9, at most 3 calls" in text
    assert "c (openai:z): examiner (128 frames) and judge (128 frames), 127.0.0.1:9" in text
    calls = found(terminal.arena("doctor", "--json"))["calls"]
    assert calls["at_most"] == {"a": 3, "b": 3, "c": 16}
    assert calls["notice"] == [
        "frames of 1 video (up to 128 per call) go to 127.0.0.1:9 for a, b, c: at most 22 calls"
    ]


def test_it_reaches_for_no_network_not_even_this_machine(
    tmp_path: Path, terminal: Terminal
) -> None:
    draw_folder(tmp_path / "videos", 1, seconds=2)
    reached = list[str]()
    is_watched = True

    def watch(event: str, _: object) -> None:
        if is_watched and event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
            reached.append(event)

    with serving(tmp_path / "log") as server:
        table = {"base_url": server.openai_url}
        tables = {name: {**table, "model": f"openai:{name}"} for name in ("hawk", "owl", "judge")}
        roles = '[roles]\nmodels = ["hawk", "owl"]\nexaminer = "judge"\n'
        (tmp_path / "arena.toml").write_text(toml(tables) + roles)
        sys.addaudithook(watch)
        said = terminal.arena("doctor", "--videos", "videos", "--json")
        is_watched = False
        assert (said.code, reached) == (0, [])
        assert server.events() == []


def test_credentials_of_a_provider_s_own_are_looked_for_and_only_their_place_is_told(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast = ("--models", "bedrock:a,bedrock:b", "--examiner", "bedrock:c")
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    lacking = terminal.arena("doctor", *cast)
    assert lacking.code == 1
    assert "bedrock: NO credentials" in lacking.out
    assert "'bedrock:a' finds no credentials: no variable, file or role" in lacking.err
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    for form in ([], ["--json"]):
        said = terminal.arena("doctor", *cast, *form)
        assert said.code == 0, said.err
        assert KEY not in said.out + said.err
    assert found(said)["credentials"] == {"bedrock": {"found": True, "source": "AWS_ACCESS_KEY_ID"}}
    assert found(terminal.arena("doctor", "--json"))["credentials"] == {}
