"""Bad questions are asked again, once in effect, and nobody is asked in vain."""

from __future__ import annotations

import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.bad_runs import play_badly, put_behind
from tests.support.lives import Life
from tests.support.loopback import Manners, Mishap, serving
from tests.support.small_runs import altered, play_again
from tests.support.whole_runs import battles, command, folder_bytes
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.freeze.selection import FOREIGN
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.run.rundir.reader import RUN_FILE, open_run
from videoautoarena.runs.run.rundir.spending import costs_of


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose six battles all ended with both answers bad, which no test writes to."""
    place = tmp_path_factory.mktemp("ground")
    play_badly(place)
    return place


@pytest.fixture
def out(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "out", tmp_path / "out"))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-planted-5f0c7d21a4b8e936")


def freeze(out: Path, *typed: object, to: str = "bench") -> Result:
    """Freeze hard questions beside a run; `return_value` is the exit code."""
    line = [str(word) for word in ("freeze", out, "--to", out.parent / to, "--hard", *typed)]
    return CliRunner().invoke(arena, line, standalone_mode=False)


def asked_of(out: Path) -> list[CallRow]:
    """Return the calls that hard questions took."""
    with Store.open(out / RUN_FILE, write=False) as store:
        return [row for row in store.journal.calls() if row.nonce.scope.startswith("trial:hard:")]


def items(out: Path, name: str = "bench") -> list[Item]:
    return list(open_bench(out.parent / name).items)


def test_hard_questions_change_no_battle_and_no_replay(ground: Path, out: Path) -> None:
    assert freeze(out).return_value == 0
    assert battles(out) == battles(ground / "out")
    assert asked_of(out)
    roles = {row.role for row in _costs(out)}
    assert "trial" in roles
    with altered(out) as file:
        # As they were played: the fixture's verdicts are nobody's.
        for id_, body in _played(ground).items():
            file.execute("UPDATE battles SET body = ? WHERE id = ?", (body, id_))
    assert play_again(out).differences == []


def _costs(out: Path) -> Any:
    with open_run(out) as run:
        return costs_of(run).roles


def _played(ground: Path) -> dict[str, str]:
    """Return the battles of the ground with the verdicts of their judges."""
    found = {}
    for id_, body in battles(ground / "out").items():
        battle = json.loads(body)
        battle["verdict"] = battle["verdicts"][0]["verdict"]
        found[id_] = json.dumps(battle, separators=(",", ":"))
    return found


def test_a_question_and_the_card_say_how_many_were_asked_and_failed(out: Path) -> None:
    told = json.loads(freeze(out, "--json").stdout)
    hard = told["hard"]
    assert hard["questions"] == 6
    assert hard["failed"] + hard["passed"] + hard["void"] == hard["asked"] + hard["known"]
    assert hard["calls"] == len(asked_of(out))
    assert hard["cost_usd"] == 0.0
    kept = items(out)
    assert len(kept) == hard["hard"] == told["questions"]
    for item in kept:
        assert item.hard is not None
        assert item.hard.failed * 2 > item.hard.asked - item.hard.void
    card = (out.parent / "bench" / "card.md").read_text()
    assert f"Asked: {hard['asked']} answers ({hard['calls']} calls, $0.00)" in card
    assert f"Failed: {hard['failed']}" in card
    assert f"{hard['hard']} of 6" in card


def test_freezing_again_asks_nobody_and_gives_the_same_bytes(out: Path) -> None:
    freeze(out)
    calls = asked_of(out)
    shutil.rmtree(out.parent / "videos", ignore_errors=True)
    again = freeze(out, to="again")
    assert "at most 0 calls" in again.stderr
    assert asked_of(out) == calls
    assert folder_bytes(out.parent / "bench") == folder_bytes(out.parent / "again")


@pytest.mark.slow
def test_answers_do_not_depend_on_how_many_are_asked_at_once(ground: Path, tmp_path: Path) -> None:
    benches = []
    for crowd in (1, 16):
        out = Path(shutil.copytree(ground / "out", tmp_path / str(crowd) / "out"))
        freeze(out, "--concurrency", crowd)
        benches.append(folder_bytes(out.parent / "bench"))
    assert benches[0] == benches[1]


def test_the_hardest_are_kept(out: Path) -> None:
    freeze(out, to="all")
    freeze(out, "--most", 2, to="two")
    shares = {item.qid: _share(item) for item in items(out, "all")}
    kept = {item.qid for item in items(out, "two")}
    assert len(kept) == min(2, len(shares))
    assert min(shares[qid] for qid in kept) >= max(
        (share for qid, share in shares.items() if qid not in kept), default=0
    )
    assert "the hardest 2" in (out.parent / "two" / "card.md").read_text()


def _share(item: Item) -> float:
    assert item.hard is not None
    return item.hard.failed / (item.hard.asked - item.hard.void)


def test_a_plan_calls_nobody_and_writes_nothing(out: Path) -> None:
    before = (out / RUN_FILE).read_bytes()
    plan = json.loads(freeze(out, "--plan", "--json").stdout)["hard"]
    assert plan["questions"] == 6
    assert plan["known"] == 0
    assert plan["calls_at_most"]["offline:judge"] == 2 * plan["answers"]
    assert plan["cost_usd"] == 0.0
    assert (out / RUN_FILE).read_bytes() == before
    assert not (out.parent / "bench").exists()


def test_a_plan_costs_what_such_calls_of_the_run_took_at_the_price_of_now(
    out: Path, tmp_path: Path
) -> None:
    price = {"input_usd": 1000.0, "output_usd": 3000.0, "source": "arena.toml"}
    with serving(tmp_path / "log") as server:
        put_behind(out, server, "offline:judge", price=price)
        plan = json.loads(freeze(out, "--plan", "--json").stdout)["hard"]
        said = freeze(out, "--plan").stdout
    with Store.open(out / RUN_FILE, write=False) as store:
        judged = [row.usage for row in store.journal.calls() if row.nonce.role == "judge"]
    usd = sum((one.input_tokens or 0) + 3 * (one.output_tokens or 0) for one in judged) / 1000
    assert plan["cost_usd"] == pytest.approx(plan["answers"] * usd / len(judged), rel=1e-3)
    assert plan["basis"] == "run"
    assert plan["cost_usd"] < plan["bound90_usd"] < 2 * plan["cost_usd"]
    assert "by calls of its own" in " ".join(said.split())


@pytest.mark.slow
def test_a_run_that_judges_from_both_seats_does_so_here(out: Path) -> None:
    with altered(out) as file:
        file.execute("UPDATE manifest SET body = json_set(body, '$.swap', 'all')")
    plan = json.loads(freeze(out, "--plan", "--json").stdout)["hard"]
    assert plan["calls_at_most"]["offline:judge"] == 4 * plan["answers"]
    freeze(out)
    judged = [row.nonce.ordinal for row in asked_of(out) if row.nonce.role == "judge"]
    assert len([ordinal for ordinal in judged if ordinal == 2]) == plan["answers"]


def test_nobody_is_asked_what_the_bench_will_not_have(out: Path) -> None:
    with altered(out) as file:
        file.execute("UPDATE battles SET body = json_set(body, '$.language', 'en')")
        file.execute(
            "UPDATE battles SET body = json_set(body, '$.language', 'de') "
            "WHERE id IN (SELECT id FROM battles ORDER BY id LIMIT 4)"
        )
    told = freeze(out, "--language", "de", "--turns", 1, "--plan", "--json")
    plan = json.loads(told.stdout)["hard"]
    assert (plan["questions"], plan["left_out"]) == (4, {FOREIGN: 2})
    told = freeze(out, "--language", "de", "--json")
    assert "(2 more left out: 2 asked in another language)" in told.stderr
    asked = {row.nonce.scope.split(":")[2] for row in asked_of(out)}
    assert len(asked) == 4
    counts = json.loads(told.stdout)
    assert (counts["hard"]["questions"], counts["hard"]["unasked"]) == (6, 2)
    assert counts["dropped"][FOREIGN] == 2
    assert {item.battle for item in items(out)} <= asked


def one_line(out: Path, capsys: pytest.CaptureFixture[str], *typed: object) -> str:
    """Return the line in which a freeze of hard questions is refused."""
    line = ["freeze", str(out), "--to", str(out.parent / "bench"), "--hard", *map(str, typed)]
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == 1
    assert not (out.parent / "bench").exists()
    return capsys.readouterr().err.splitlines()[-1]


def test_a_run_without_both_bad_answers_is_one_line(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with altered(out) as file:
        file.execute("UPDATE battles SET body = json_set(body, '$.verdict', 'tie_good')")
    assert "has no hard questions" in one_line(out, capsys)


def test_wishes_that_leave_no_question_are_one_line(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = one_line(out, capsys, "--language", "zh")
    assert "6 questions with both answers called bad none is left (6 asked in another" in said
    assert asked_of(out) == []


@pytest.mark.parametrize(
    ("typed", "said", "code"),
    [
        (("--to", "{place}"), "holds something else", 1),
        (("--to", "{place}/mine/bench"), "mine is no folder", 1),
        (("--size", "4", "--by", "nonsense"), '--by "nonsense" is none of', 2),
        (("--size", "4", "--by", "question-category"), "arena categories tag", 1),
        (("--name-topics", "offline:judge"), "--name-topics needs topics", 2),
    ],
)
def test_what_could_not_be_written_is_refused_before_anybody_is_asked(
    out: Path,
    tmp_path: Path,
    typed: tuple[str, ...],
    said: str,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / "taken"
    place.mkdir()
    (place / "mine").write_text("mine")
    line = ["freeze", str(out), "--hard", *(word.format(place=place) for word in typed)]
    line += [] if "--to" in typed else ["--to", str(tmp_path / "bench")]
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == code
    assert said in capsys.readouterr().err
    assert asked_of(out) == []
    assert (place / "mine").read_text() == "mine"


@pytest.mark.slow
def test_a_provider_that_is_down_makes_no_question_hard(out: Path, tmp_path: Path) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=1, times=99, status=400),))
    with serving(tmp_path / "log", bad) as server:
        put_behind(out, server, "offline:mole")
        told = freeze(out)
        assert told.return_value == 3
        assert "of the answers asked for have no verdict, since a call failed" in told.stderr
    assert not (out.parent / "bench").exists()


def test_a_run_of_two_models_is_one_line(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with altered(out) as file:
        file.execute(
            "UPDATE battles SET body = json_set(body, '$.model_a', 'offline:hawk', "
            "'$.model_b', 'offline:mole')"
        )
        file.execute(
            "UPDATE manifest SET body = "
            "json_set(body, '$.models', json('[\"offline:hawk\", \"offline:mole\"]'))"
        )
    assert "arena add" in one_line(out, capsys)


def test_videos_that_are_gone_are_one_line_before_any_call(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "--videos" in one_line(out, capsys, "--videos", empty)
    assert asked_of(out) == []


def test_a_model_whose_provider_is_gone_is_one_line(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with altered(out) as file:
        file.execute(
            "UPDATE manifest SET body = "
            "json_set(body, '$.cast.\"offline:mole\".model', 'vanished:mole')"
        )
    assert "needs the provider 'vanished'" in one_line(out, capsys)


def test_options_of_asking_need_something_to_ask(out: Path) -> None:
    for typed in (("--plan",), ("--max-usd", "2"), ("--retry-failed",)):
        line = ["freeze", str(out), "--to", str(out.parent / "bench"), *typed]
        told = CliRunner().invoke(arena, line).exception
        assert isinstance(told, WrongArgument)
        assert f"{typed[0]} needs --hard" in str(told)
    line = ["freeze", str(out), "--to", str(out.parent / "bench"), "--most", "3"]
    assert "it needs --hard" in str(CliRunner().invoke(arena, line).exception)


@pytest.mark.slow
def test_a_failed_call_writes_no_bench_until_it_is_asked_again_which_has_to_be_said(
    out: Path, tmp_path: Path
) -> None:
    bad = Manners(mishaps=(Mishap(do="status", nth=1, times=3, status=400),))
    with serving(tmp_path / "log", bad) as server:
        put_behind(out, server, "offline:judge")
        told = freeze(out, "--concurrency", 1)
        assert told.return_value == 3
        assert "add --retry-failed" in told.stderr
        assert not (out.parent / "bench").exists()
        before = len(asked_of(out))
        assert freeze(out).return_value == 3
        assert len(asked_of(out)) == before
        assert freeze(out, "--retry-failed").return_value == 0
        asked = len(asked_of(out))
        assert asked == before + 3
        for typed in ((), ("--retry-failed",)):
            assert freeze(out, *typed).return_value == 0
            assert len(asked_of(out)) == asked
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert set(sent.values()) == {1}
    assert all(item.hard and item.hard.void == 0 for item in items(out))


@pytest.mark.slow
def test_a_cap_ends_it_with_4_and_more_money_goes_on(out: Path, tmp_path: Path) -> None:
    price = {"input_usd": 0.0, "output_usd": 1000.0, "source": "arena.toml"}
    with serving(tmp_path / "log") as server:
        put_behind(out, server, "offline:judge", price=price, parameters={"max_tokens": 150})
        told = freeze(out, "--max-usd", 0.4, "--concurrency", 1)
        assert told.return_value == 4, told.output
        assert "no bench is written" in told.stderr
        assert not (out.parent / "bench").exists()
        held = len(asked_of(out))
        assert freeze(out, "--concurrency", 1).return_value == 4
        assert len(asked_of(out)) == held
        told = freeze(out, "--max-usd", "none", "--json")
        assert told.return_value == 0
        sent = [event["key"] for event in server.events("arrived")]
    assert len(sent) == len(set(sent))
    assert json.loads(told.stdout)["hard"]["cost_usd"] > 0.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "sent_before"),
    [(signal.SIGINT, 3), (signal.SIGKILL, 4)],
)
def test_what_is_cut_off_goes_on_and_pays_nothing_twice(
    out: Path, tmp_path: Path, number: signal.Signals, sent_before: int
) -> None:
    with serving(tmp_path / "log", Manners(latency_s=(0.2, 0.2))) as server:
        put_behind(out, server, "offline:judge")
        line = command("arena", "freeze", out, "--to", out.parent / "bench", "--hard")
        with Life([*line, "--concurrency", "2"], extra={"TEST_KEY": "k"}) as life:
            life.until(lambda: len(server.events("sent")) >= sent_before)
            life.interrupt(number)
            code = life.end()
        paid = {row.key for row in asked_of(out) if row.reply}
        assert not (out.parent / "bench").exists()
        assert freeze(out, "--concurrency", 12).return_value == 0
        sent = Counter(event["key"] for event in server.events("arrived"))
    assert code == (130 if number == signal.SIGINT else -signal.SIGKILL)
    judged = {row.key for row in asked_of(out) if row.nonce.role == "judge"}
    assert paid & judged
    assert {key: sent[key] for key in paid & judged} == dict.fromkeys(paid & judged, 1)
    assert len(judged) == len([row for row in asked_of(out) if row.nonce.role == "contestant"])
    if number == signal.SIGINT:
        assert set(sent.values()) == {1}
