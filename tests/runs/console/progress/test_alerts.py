"""A model that can do no more is named at once, in every way a run is shown; the run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.events import judged
from tests.support.loopback import Loopback, serving
from tests.support.manners import Manners, Mishap
from tests.support.small_runs import battles_of, play
from tests.support.whole_runs import ROSTER, write_config
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.agents.models.registry import parse_model
from videoautoarena.memory.records.records import Nonce
from videoautoarena.runs.api.simulate import simulate
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import BattleSettled, FailureAlarm, RunEvent
from videoautoarena.runs.console.progress.listeners import audience
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.failures import Forfeits

REFUSED = "Incorrect API key provided"


def finished(alias: str, fault: str | None, text: str = "no more") -> CallEvent:
    nonce = Nonce(scope="v-p1-r0", role="judge")
    return CallEvent("finished", alias, nonce, fault=fault, text=text)


def told_of(*events: RunEvent, before: Forfeits | None = None) -> list[str]:
    said = list[str]()
    heard = list[RunEvent]()

    def count() -> Forfeits:
        found = before or Forfeits()
        for battle in (one.battle for one in heard if isinstance(one, BattleSettled)):
            found.note(battle.model_a, battle.model_b, battle.verdict, reason=battle.reason)
        return found

    alarm = FailureAlarm(
        Path("my out"), said.append, count, accepted=0.05, key_of="as {} says".format
    )
    for event in events:
        heard.append(event)
        alarm.hear(event)
    return said


def test_the_line_says_what_failed_and_what_to_do() -> None:
    (line,) = told_of(finished("gpt", "quota", "RateLimitError: insufficient_quota"))
    assert line == (
        "gpt (judge) fails: its provider's quota or credit is used up: RateLimitError: "
        "insufficient_quota - the run continues, and battles that need it end void or forfeit; "
        "Ctrl-C stops; later, va.simulate(out='my out', retry_failed=True) repeats them and "
        "reuses paid calls"
    )


def test_each_model_is_named_once() -> None:
    events = [finished(alias, fault) for alias in "ab" for fault in ("http-401", "quota")]
    assert [line[0] for line in told_of(*events, *events)] == ["a", "b"]


def test_a_key_that_gemini_refuses_is_a_refused_key() -> None:
    (line,) = told_of(finished("g", "http-400", "400 API key not valid. Please pass one."))
    assert "its API key is refused, as g says: 400 API" in line


@pytest.mark.parametrize("fault", [None, "http-400", "http-500", "timeout", "content-filter"])
def test_what_may_pass_or_befalls_one_call_is_no_alarm(fault: str | None) -> None:
    assert told_of(finished("a", fault)) == []


def test_what_a_server_says_moves_no_terminal() -> None:
    (line,) = told_of(finished("a", "quota", "gone\x1b[2J"))
    assert "\x1b" not in line


def test_a_key_is_told_by_the_name_of_its_variable_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLE_KEY", "sk-secret")
    keyed = parse_model("openai:mole", {"base_url": "http://h/v1", "key_env": "MOLE_KEY"})
    assert keyed.key_source == "which is that in MOLE_KEY"
    bare = parse_model("openai:mole", {"base_url": "http://h/v1"})
    assert bare.key_source == 'as no key was sent; add key_env = "..." to [models.openai:mole]'


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("ground") / "videos", 1, seconds=2)


class Terminalless:
    """A run over HTTP with one mishap, shown in some way."""

    def __init__(self, videos: Path, place: Path, server: Loopback) -> None:
        self.videos = videos
        self.out = place / "out"
        self.config = write_config(place / "arena.toml", "openai", server)
        roles = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",)}
        self.flags = RunRequest(**roles, rounds=1, config=self.config, max_void=1.0)

    def play(self, display: dict[str, Any]) -> None:
        with audience(**display) as listeners:
            work = simulate(
                self.flags.model_copy(update={"videos": self.videos, "out": self.out}),
                say=listeners.say,
                hear=listeners.hear,
            )
            run_async(work)


SHOWN = ({"quiet": True}, {"plain": True}, {"trace": "-"})


QUOTA = (Mishap("quota", model="judge", nth=2, times=99), ["judge (judge)", "quota"])
KEY = (Mishap("status", model="judge", times=99, status=401), ["judge (judge)", "key"])


@pytest.mark.parametrize(
    ("display", "mishap", "words"),
    [(SHOWN[0], *QUOTA), (SHOWN[1], *KEY), (SHOWN[2], *QUOTA)],
    ids=("quiet-quota", "plain-key", "stories-quota"),
)
def test_a_run_says_at_once_that_its_judge_is_gone_and_goes_on(
    videos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    display: dict[str, Any],
    mishap: Mishap,
    words: Sequence[str],
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    with serving(tmp_path / "log", Manners(mishaps=(mishap,))) as server:
        Terminalless(videos, tmp_path, server).play(display)
    lines = [line for line in capsys.readouterr().err.splitlines() if "Ctrl-C stops" in line]
    assert len(lines) == 1
    assert all(word in lines[0] for word in words)
    assert f"va.simulate(out='{tmp_path / 'out'}', retry_failed=True)" in lines[0]
    ended = [battle.verdict for battle in battles_of(tmp_path / "out")]
    assert len(ended) == 3
    assert ended.count("void") >= 2


def test_a_run_without_such_a_failure_says_nothing_of_it(videos: Path, tmp_path: Path) -> None:
    said: list[str] = []
    play(videos, tmp_path / "out", said=said)
    assert not [line for line in said if "Ctrl-C stops" in line]


def lost(
    number: int, verdict: str = "forfeit_a", why: str = "http-400: no such thing"
) -> BattleSettled:
    told = {"id": f"v{number}-p1-r0", "verdict": verdict, "reason": why}
    return BattleSettled(judged("v0-p1-r0").model_copy(update=told))


def test_a_contestant_that_often_gives_no_answer_is_named_once_at_the_third_time() -> None:
    assert told_of(lost(0), lost(1)) == []
    (line,) = told_of(*map(lost, range(9)))
    assert line.startswith(
        "offline:hawk gave no answer in 3 of its 3 battles, more than 5 %: http-400: no"
    )
    assert "va.simulate(out='my out', retry_failed=True)" in line


def test_who_forfeits_no_larger_share_than_is_accepted_is_not_named() -> None:
    won = [lost(number, "a") for number in range(60)]
    assert told_of(*won, *map(lost, range(3))) == []
    assert len(told_of(*won, *map(lost, range(4)))) == 1


def test_forfeits_of_earlier_processes_count() -> None:
    before = Forfeits()
    for _ in range(2):
        before.note("offline:hawk", "owl", "forfeit_a", reason="early")
    (line,) = told_of(lost(0), before=before)
    assert "3 of its 3 battles" in line


def test_what_a_provider_says_cannot_break_the_line() -> None:
    (line,) = told_of(*(lost(n, why="\x1b[2Jgone\nnext: rm") for n in range(3)))
    assert "\x1b" not in line
    assert "\n" not in line
