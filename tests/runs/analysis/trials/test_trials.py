"""Trials of a judge: held once, kept, counted, and never a word on a battle."""

from __future__ import annotations

import json
import shutil
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.clips import draw_folder
from tests.support.gullible import obey, obey_anything
from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, serving
from tests.support.played import invoke
from tests.support.small_runs import play, play_again
from tests.support.whole_runs import battles, command
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.evidence import Trial
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.run.rundir.reader import RUN_FILE

KEY = "sk-planted-5f0c7d21a4b8e936"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run over two clips, which no test writes to."""
    place = tmp_path_factory.mktemp("ground")
    play(draw_folder(place / "videos", 2, seconds=3), place / "out", rounds=1)
    return place


@pytest.fixture
def out(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "out", tmp_path / "out"))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def trials_of(out: Path) -> list[Trial]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return store.evidence.trials()


def calls_of(out: Path) -> list[CallRow]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return store.journal.calls()


def named_judge(place: Path, server: Loopback, *, price: str = "") -> Path:
    """Write an arena.toml in which `stranger` is a judge over HTTP."""
    path = place / "judges.toml"
    path.write_text(
        f'[models.stranger]\nmodel = "openai:judge"\nbase_url = "{server.openai_url}"\n'
        f'key_env = "TEST_KEY"\n{price}\n'
    )
    return path


def hold(out: Path, *typed: object) -> Result:
    """Hold trials; `return_value` is the exit code."""
    line = [str(word) for word in ("audit", out, "--trials", *typed)]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def test_trials_change_no_battle_and_no_replay(ground: Path, out: Path) -> None:
    assert hold(out, "repeat,attack,constant", "--cases", 3).return_value == 0
    assert {trial.kind for trial in trials_of(out)} == {"repeat", "attack", "constant"}
    assert battles(out) == battles(ground / "out")
    assert play_again(out).differences == []
    for reader in (("battles",), ("status", "--json"), ("leaderboard", "--json")):
        before, after = (invoke(reader[0], place, *reader[1:]) for place in (ground / "out", out))
        assert _without_calls(after) == _without_calls(before)


def _without_calls(told: Result) -> object:
    """Return what a command says besides of calls, which trials are, and of what audits find."""
    if not told.output.startswith("{"):
        return told.output
    found: dict[str, Any] = json.loads(told.output)
    about_calls = ("calls", "calls_by_model", "cache", "next", "audit")
    return {key: value for key, value in found.items() if key not in about_calls}


def test_what_was_held_is_not_asked_again(out: Path) -> None:
    hold(out, "repeat", "--cases", 2)
    calls = calls_of(out)
    trials = trials_of(out)
    assert len(trials) == 2
    again = hold(out, "repeat", "--cases", 3)
    assert "2 of them known" in again.stderr
    assert len(calls_of(out)) == len(calls) + 1


def test_an_equal_prompt_is_an_independent_sample(out: Path) -> None:
    hold(out, "repeat", "--cases", 1)
    rows = [row for row in calls_of(out) if row.nonce.role == "judge"]
    (mine,) = [row for row in rows if row.nonce.scope.startswith("trial:")]
    first = [r for r in rows if r.nonce.scope == trials_of(out)[0].battle and not r.nonce.ordinal]
    assert [row.reply for row in first] == [mine.reply]
    assert first[0].key != mine.key


def test_a_plan_calls_nobody_and_writes_nothing(out: Path) -> None:
    before = (out / RUN_FILE).read_bytes()
    told = hold(out, "attack", "--cases", 5, "--judge", "openai:gpt-4o", "--plan", "--json")
    plan = json.loads(told.stdout)
    assert plan["judgings"]["attack"] == 5
    assert plan["calls_at_most"] == {"openai:gpt-4o": 2 * sum(plan["judgings"].values())}
    assert plan["notices"][0].startswith("frames of ")
    assert "api.openai.com" in plan["notices"][0]
    assert (out / RUN_FILE).read_bytes() == before


def test_a_judge_that_obeys_what_stands_inside_the_fences_is_found_out(
    out: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", brain=obey_anything) as server:
        told = hold(out, "attack", "--cases", 8, "--json", *_stranger(tmp_path, server))
    findings = {found["key"]: found for found in json.loads(told.stdout)["findings"]}
    assert findings["attack.fallen.stranger"]["value"] == 1.0
    assert findings["attack.without.stranger"]["value"] == 0.0
    assert findings["attack.harmless.stranger"]["value"] == 0.0


def _stranger(place: Path, server: Loopback, **settings: str) -> tuple[object, ...]:
    config = named_judge(place, server, **settings)
    return ("--judge", "stranger", "--config", config, "--allow-offline-judge")


def unfolded(text: str) -> str:
    """Return printed sentences on one line, wherever they were broken."""
    return " ".join(text.split())


def test_a_gullible_judge_over_http_falls_for_no_attack_through_the_whole_tool(
    out: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", brain=obey) as server:
        told = hold(out, "attack", "--cases", 8, "--json", *_stranger(tmp_path, server))
    assert "go to 127.0.0.1" in told.stderr
    findings = {found["key"]: found for found in json.loads(told.stdout)["findings"]}
    fallen = findings["attack.fallen.stranger"]
    assert (fallen["value"], fallen["n"], fallen["alarm"]) == (0.0, 8, False)
    mine = [trial for trial in trials_of(out) if trial.kind == "attack"]
    assert {(trial.judging.judge, trial.model) for trial in mine} == {("stranger", "openai:judge")}
    assert {trial.judging.seats for trial in mine} == {"ab", "ba"}
    assert all(trial.texts["persona"] and trial.right for trial in mine)


def test_a_failed_judging_is_a_record_with_a_reason_and_can_be_had_again(
    out: Path, tmp_path: Path
) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=2, status=400),))
    with serving(tmp_path / "log", bad) as server:
        typed = ("repeat", "--cases", 2, *_stranger(tmp_path, server))
        told = hold(out, *typed)
        assert told.return_value == 3
        assert "add --retry-failed" in told.stderr
        (failed,) = [t for t in trials_of(out) if t.judging.verdict == "failed"]
        assert "400" in (failed.judging.reason or "")
        assert "1 failed" in unfolded(told.stdout)
        assert hold(out, *typed, "--retry-failed").return_value == 0
    again = next(t for t in trials_of(out) if t.id == f"{failed.id}~1")
    assert again.judging.verdict not in ("failed", "abstain")
    assert "1 failed" not in unfolded(invoke("audit", out).stdout)


def test_a_refused_key_ends_it_at_once_and_stands_nowhere(out: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "log", Manners(api_key="another")) as server:
        told = hold(
            out, "repeat", "--cases", "all", "--concurrency", 1, *_stranger(tmp_path, server)
        )
        asked = len(server.events("arrived"))
    assert told.return_value == 3
    assert "its API key is refused" in told.stderr
    assert asked <= 2
    assert KEY not in told.output
    for file in out.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_a_cap_ends_it_with_4_and_more_money_goes_on(out: Path, tmp_path: Path) -> None:
    # A call may cost 15 cents at most and does cost some eleven.
    price = "price = { input_usd = 0.0, output_usd = 1000.0 }\nparameters = { max_tokens = 150 }"
    with serving(tmp_path / "log") as server:
        typed = ("repeat", "--cases", "all", *_stranger(tmp_path, server, price=price))
        told = hold(out, *typed, "--max-usd", 0.4, "--concurrency", 1)
        assert told.return_value == 4, told.output
        held = len(trials_of(out))
        assert hold(out, *typed, "--max-usd", "none").return_value == 0
        sent = [event["key"] for event in server.events("arrived")]
    assert held < len(trials_of(out))
    assert len(sent) == len(set(sent))


def test_another_judge_over_http_that_thinks_alike_agrees_wholly(out: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "log") as server:
        line = ["rejudge", str(out), "--json", *map(str, _stranger(tmp_path, server))]
        told = CliRunner().invoke(arena, line, standalone_mode=False)
    assert told.return_value == 0, told.output
    (judge,) = json.loads(told.stdout)["judges"]
    assert (judge["judge"], judge["model"], judge["failed"]) == ("stranger", "openai:judge", 0)
    assert judge["battles"] == 6
    assert judge["agreement"]["value"] == 1.0
    assert battles(out).keys() == {trial.battle for trial in trials_of(out)}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--judge", "offline:hawk"), "cannot judge"),
        (("--judge", "offline:judge,offline:judge"), "twice"),
        (("--judge", "nobody"), "is no model"),
        (("--judge", "openai:gpt-4o"), "needs a key"),
        (("--videos", "/nowhere"), "/nowhere"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    out: Path, typed: Sequence[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["audit", str(out), "--trials", "repeat", *typed]
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == 1
    assert words in capsys.readouterr().err.splitlines()[-1]


def test_options_of_trials_need_trials(out: Path) -> None:
    told = invoke("audit", out, "--judge", "offline:judge").exception
    assert isinstance(told, WrongArgument)
    assert str(told) == "--judge needs --trials"
    told = invoke("audit", out, "--trials", "nix").exception
    assert isinstance(told, WrongArgument)
    assert "'nix' is not a kind of trial" in str(told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "sent_before"), [(signal.SIGKILL, 4), (signal.SIGKILL, 9), (signal.SIGINT, 4)]
)
def test_what_is_cut_off_goes_on_and_pays_nothing_twice(
    out: Path, tmp_path: Path, number: signal.Signals, sent_before: int
) -> None:
    with serving(tmp_path / "log", Manners(latency_s=(0.3, 0.3))) as server:
        typed = ("repeat", "--cases", "all", "--concurrency", 2, *_stranger(tmp_path, server))
        line = command("arena", "audit", out, "--trials", *map(str, typed))
        with Life(line, extra={"TEST_KEY": KEY}) as life:
            life.until(lambda: len(server.events("sent")) >= sent_before)
            life.interrupt(number)
            code = life.end()
        paid = {row.key for row in calls_of(out) if row.nonce.scope.startswith("trial:")}
        assert hold(out, *typed, "--concurrency", 12).return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert paid
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)
    assert len({trial.id for trial in trials_of(out)}) == 12
    if number == signal.SIGINT:
        assert set(sent.values()) == {1}
