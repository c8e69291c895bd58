"""A bench played over HTTP: failures, caps and kills, and nothing is paid twice."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.support.lives import Life
from tests.support.loopback import Loopback, Manners, Mishap, serving
from tests.support.manners import Limits
from tests.support.small_benches import calls_of
from tests.support.small_benches import run_bench as run
from tests.support.whole_runs import command
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import Result as Played
from videoautoarena.runs.bench.format.results import read_results

pytestmark = pytest.mark.slow

KEY = "sk-planted-91d0c2aa6e4b7f35"
PAIR = ("--model", "offline:hawk,offline:parrot")


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


def results_of(bench: Path) -> dict[str, Played]:
    return {result.model: result for result in read_results(open_bench(bench))}


def config(place: Path, server: Loopback, *, price: str = "") -> Path:
    """Write an arena.toml in which `far` answers and `stranger` judges over HTTP."""
    path = place / "far.toml"
    names = {"far": "hawk", "stranger": "judge"}
    path.write_text(
        "\n".join(
            f'[models.{name}]\nmodel = "openai:{kind}"\nbase_url = "{server.openai_url}"\n'
            f'key_env = "TEST_KEY"\n{price}\n'
            for name, kind in names.items()
        )
    )
    return path


def test_another_model_and_another_judge_use_what_is_there(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    films = ("--videos", ground / "videos", "--swap", "none")
    run(bench, "--model", "offline:hawk", *films)
    questions = len(open_bench(bench).items)
    first = len(calls_of(bench))
    assert first == 3 * questions
    run(bench, *PAIR, *films)
    assert len(calls_of(bench)) == 2 * first
    with serving(tmp_path / "log") as server:
        judged = ("--judge", "stranger", "--config", config(tmp_path, server))
        told = run(bench, *PAIR, *films, *judged)
        sent = server.events("arrived")
    assert told.return_value == 0, told.output
    assert len(sent) == 4 * questions
    assert "127.0.0.1" in told.stderr
    assert {result.judge for result in read_results(open_bench(bench))} == {
        "offline:judge",
        "stranger",
    }


def test_a_model_that_fails_forfeits_and_can_be_asked_again(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=1, model="hawk", status=400),))
    with serving(tmp_path / "log", bad) as server:
        typed = ("--videos", ground / "videos", "--model", "far", "--swap", "none", "--limit", 2)
        named = ("--judge", "stranger", "--config", config(tmp_path, server))
        told = run(bench, *typed, *named, "--concurrency", 1)
        lost = [r for r in results_of(bench)["far"].rulings if r.response is None]
        assert [ruling.verdict for ruling in lost] == ["loss", "loss"]
        assert "400" in (lost[0].reason or "")
        assert "lost, 1: no answer" in told.stderr
        asked = len(server.events("arrived"))
        again = run(bench, *typed, *named, "--retry-failed")
        assert len(server.events("arrived")) == asked + 3
    assert again.return_value == 0
    assert all(ruling.response for ruling in results_of(bench)["far"].rulings)
    # What was asked again stays known.
    assert run(bench, *typed, *named).return_value == 0


def test_a_judging_that_fails_is_void_with_its_reason(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=1, model="judge", status=400),))
    with serving(tmp_path / "log", bad) as server:
        typed = ("--videos", ground / "videos", "--model", "offline:hawk", "--swap", "none")
        named = ("--judge", "stranger", "--config", config(tmp_path, server))
        told = run(bench, *typed, *named)
        void = [r for r in results_of(bench)["offline:hawk"].rulings if r.verdict == "void"]
        assert told.return_value == 3
        assert len(void) == 1
        assert "400" in (void[0].reason or "")
        assert run(bench, *typed, *named, "--retry-failed").return_value == 0
    assert "void" not in {r.verdict for r in results_of(bench)["offline:hawk"].rulings}


def test_a_refused_key_ends_it_at_once_and_stands_nowhere(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", Manners(api_key="another")) as server:
        named = ("--judge", "stranger", "--config", config(tmp_path, server))
        told = run(bench, "--videos", ground / "videos", "--model", "far", *named)
    assert told.return_value == 3
    assert "its API key is refused" in told.stderr
    assert KEY not in told.output
    for file in (bench / "results").iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_what_a_server_takes_is_learnt_once_for_all_that_play_the_bench(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", Manners(limits=Limits(images=4))) as server:
        typed = ("--videos", ground / "videos", "--model", "far", "--swap", "none")
        named = ("--judge", "stranger", "--config", config(tmp_path, server), "--concurrency", 1)
        told = [run(bench, *typed, *named, *more) for more in (("--limit", 1), ())]
        refused = [e["model"] for e in server.events("arrived") if e["images"] > 4]
    assert sorted(refused) == ["hawk", "judge"]
    assert told[0].stderr.count("is sent at most 4 images a request from now on") == 2
    assert "from now on" not in told[1].stderr


def test_a_cap_ends_it_with_4_and_more_money_goes_on(
    ground: Path, bench: Path, tmp_path: Path
) -> None:
    # A call may cost 15 cents at most and does cost some eleven.
    price = "price = { input_usd = 0.0, output_usd = 1000.0 }\nparameters = { max_tokens = 150 }"
    with serving(tmp_path / "log") as server:
        named = ("--judge", "stranger", "--config", config(tmp_path, server, price=price))
        typed = ("--videos", ground / "videos", "--model", "far", "--swap", "none", *named)
        told = run(bench, *typed, "--max-usd", 0.7, "--concurrency", 1)
        assert told.return_value == 4, told.output
        assert "repeat it with --limit 2" in told.stderr
        assert results_of(bench) == {}
        kept = len(calls_of(bench))
        assert run(bench, *typed, "--limit", 2).return_value == 0
        assert len(calls_of(bench)) == kept
        assert run(bench, *typed, "--max-usd", "none").return_value == 0
        sent = [event["key"] for event in server.events("arrived")]
    assert len(sent) == len(set(sent)) == 3 * len(open_bench(bench).items)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_is_cut_off_goes_on_and_pays_nothing_twice(
    ground: Path, bench: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with serving(tmp_path / "log", Manners(latency_s=(0.1, 0.1))) as server:
        named = ("--judge", "stranger", "--config", config(tmp_path, server))
        typed = ("--videos", ground / "videos", "--model", "far", "--concurrency", 2, *named)
        line = command("arena", "bench", "run", bench, *map(str, typed))
        with Life(line, extra={"TEST_KEY": KEY}) as life:
            life.until(lambda: len(server.events("sent")) >= 4)
            life.interrupt(number)
            code = life.end()
        paid = {row.key for row in calls_of(bench)}
        assert run(bench, *typed).return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert paid
    assert {key: sent[key] for key in paid} == dict.fromkeys(paid, 1)
    if number == signal.SIGINT:
        assert set(sent.values()) == {1}
