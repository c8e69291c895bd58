"""A plan says what is expected and what nine of ten stay below; it learns from what was done."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.support.clips import draw_clip, draw_folder
from tests.support.small_runs import TRIO, play, toml
from tests.support.typed import Terminal
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce, Role, Usage
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.runs.run.rundir.spending import CapUse
from videoautoarena.runs.tournament.forecast import plan_ahead
from videoautoarena.runs.tournament.plan import (
    Plan,
    RemainingWork,
    Whole,
    most_calls,
    plan_of,
    prefix_read,
    prefix_reads,
)
from videoautoarena.runs.tournament.plan_text import as_lines, cap_notice, money_notice
from videoautoarena.scoring.design.power import separable_gap
from videoautoarena.scoring.fitting.bradley_terry import SCALE

SMALL = ("--rounds", "2", "--models", "offline:hawk,offline:mole,offline:parrot")


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    return resolve(RunRequest(models=("a", "b", "c"), examiner="e", config=arena(tmp_path))).config


def arena(folder: Path, **left_out: object) -> Path:
    lines = []
    for name in ("a", "b", "c", "e"):
        lines += [f"[models.{name}]", f'model = "openai:{name}"', "max_frames = 10"]
        lines += ['base_url = "http://127.0.0.1:9/v1"', "frame_tokens = 100"]
        lines += ["parameters = { max_tokens = 1000 }"]
        if name not in left_out:
            lines += ["price = { input_usd = 1.0, output_usd = 10.0 }"]
    path = folder / "arena.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def calls(plan: Plan) -> dict[tuple[str, Role], tuple[float, int]]:
    return {(line.alias, line.role): (line.calls, line.most_calls) for line in plan.lines}


def row(role: Role, *, ordinal: int = 0, tokens: int = 500, alias: str = "e") -> CallRow:
    return CallRow(
        key=f"{role} {ordinal} {tokens}",
        nonce=Nonce(scope="v-p1-r0", role=role, ordinal=ordinal),
        model=f"openai:{alias}",
        alias=alias,
        endpoint="h",
        prompt="",
        reply="yes",
        usage=Usage(input_tokens=tokens, output_tokens=10),
    )


def test_calls_follow_from_slots_rates_and_seatings(config: RunConfig) -> None:
    found = calls(plan_of(config, RemainingWork(first=3, later=6, videos=1)))
    assert found[("e", "examiner")] == (1.02, 2)
    assert found[("e", "questioner")][0] == pytest.approx((3 + 6 * 0.04) * 1.02)
    assert found[("e", "questioner")][1] == 18
    assert found[("e", "evolver")][0] == pytest.approx(6 * 1.2 * 1.02)
    assert found[("e", "evolver")][1] == 24
    assert found[("a", "contestant")] == (6.0, 9)
    assert found[("e", "judge")][0] == pytest.approx(9 * 1.1 * 1.02)
    assert found[("e", "judge")][1] == 36


def test_dollars_are_tokens_at_the_price(config: RunConfig) -> None:
    plan = plan_of(config, RemainingWork(first=3, later=0, videos=1))
    (line,) = (line for line in plan.lines if (line.alias, line.role) == ("a", "contestant"))
    assert line.input_tokens == 2 * (250 + 10 * 106)
    assert line.usd == pytest.approx((line.input_tokens * 1 + line.output_tokens * 10) / 1e6)
    assert line.most_call_usd == pytest.approx((4000 + 10 * 112 + 1000 * 10) / 1e6)
    whole = sum(line.usd or 0 for line in plan.lines)
    assert plan.expected_usd == plan.cost_usd == pytest.approx(whole, abs=1e-6)
    told = plan.to_json()
    assert told["expected_usd"] < told["bound90_usd"] < 2.5 * told["expected_usd"]
    assert (told["cap_usd"], told["basis"]) == (None, "guess")


def test_nothing_that_is_shown_is_a_product_of_maxima(config: RunConfig) -> None:
    plan = plan_of(config, RemainingWork(first=3, later=6, videos=1), sized=True)
    usd = sum(line.most_call_usd * line.most_calls for line in plan.lines)
    shown = "\n".join(as_lines(plan, 200))
    assert (plan.bound90_usd or 0) < usd / 5
    assert "at most" not in shown
    assert "at_most" not in json.dumps({**plan.to_json(), "lines": []})


def test_calls_at_most_are_two_answers_a_battle_whoever_of_three_meets(config: RunConfig) -> None:
    plan = plan_of(config, RemainingWork(first=3, later=6, videos=1))
    officials = sum(line.most_calls for line in plan.lines if line.role != "contestant")
    assert most_calls(plan) == officials + 2 * 9
    assert most_calls(plan, "ab") == 2 * 9
    assert most_calls(plan, "a") == 9


def test_what_the_journal_has_is_not_counted_again(config: RunConfig) -> None:
    done = Counter[tuple[str, Role]]({("e", "examiner"): 1, ("e", "judge"): 2})
    found = calls(plan_of(config, RemainingWork(first=3, later=0, videos=1, done=done)))
    assert found[("e", "examiner")][0] == pytest.approx(0.02)
    assert found[("e", "examiner")][1] == 1
    assert found[("e", "judge")][0] == pytest.approx(3 * 1.1 * 1.02 - 2)
    assert found[("e", "judge")][1] == 10


def test_expectations_are_measured_as_soon_as_there_is_something(config: RunConfig) -> None:
    rows = (row("judge", tokens=400), row("judge", tokens=600))
    plan = plan_of(config, RemainingWork(first=3, later=0, videos=1, rows=rows))
    (judge,) = (line for line in plan.lines if line.role == "judge")
    assert judge.is_measured
    assert judge.input_tokens == pytest.approx(judge.calls * 500)
    assert (judge.basis, plan.basis) == ("run", "guess")
    assert "partly a guess, as the table says" in "".join(as_lines(plan, 200))
    (shown,) = (line for line in as_lines(plan, 200) if " judge " in line)
    assert shown.split()[-2:] == ["this", "run"]


def test_a_call_is_expected_to_take_what_its_empty_replies_took_as_well(config: RunConfig) -> None:
    usage = Usage(input_tokens=400, output_tokens=0)
    tried = Attempt(kind="empty", reason="", waited_s=1.0, usage=usage, cost_usd=0.0)
    again = row("judge", tokens=400).model_copy(update={"attempts": (tried,)})
    plan = plan_of(
        config, RemainingWork(first=3, later=0, videos=1, rows=(again, row("judge", tokens=600)))
    )
    (judge,) = (line for line in plan.lines if line.role == "judge")
    assert judge.input_tokens == pytest.approx(judge.calls * (400 + 400 + 600) / 2)


def test_rates_are_those_of_the_run_once_twenty_calls_tell_them(config: RunConfig) -> None:
    rows = [row("evolver") for _ in range(20)] + [row("evolver", ordinal=2) for _ in range(10)]
    few = calls(plan_of(config, RemainingWork(first=0, later=10, videos=1, rows=tuple(rows[:19]))))
    many = calls(plan_of(config, RemainingWork(first=0, later=10, videos=1, rows=tuple(rows))))
    assert few[("e", "evolver")][0] == pytest.approx(10 * 1.2 * 1.02)
    assert many[("e", "evolver")][0] == pytest.approx(10 * 1.5)


def test_an_unknown_price_makes_the_sum_unknown_and_is_named(tmp_path: Path) -> None:
    flags = RunRequest(models=("a", "b"), examiner="e", config=arena(tmp_path, b=None))
    plan = plan_of(resolve(flags).config, RemainingWork(first=3, later=0, videos=1))
    assert (plan.expected_usd, plan.bound90_usd, plan.unpriced) == (None, None, ["b"])
    told = "\n".join(as_lines(plan, 80, date(2026, 1, 2)))
    assert "price is known for b; write price = { input_usd = 1.0, output_usd = 4.0 } in" in told
    assert "prices of a, e: arena.toml\n" in told
    (line,) = (line for line in told.splitlines() if line.startswith(" b "))
    assert line.split()[-2:] == ["unknown", "unknown"]
    assert next(money_notice(plan)).startswith("cost unknown")


def test_a_beginning_is_missed_first_and_again_after_five_idle_minutes() -> None:
    assert prefix_read("none", 9.0, busy_s=60.0) is None
    assert prefix_read("implicit", 1.0, busy_s=60.0) is None
    # Nine calls in a minute: the first misses.
    assert prefix_read("implicit", 9.0, busy_s=60.0) == pytest.approx((8 / 9, 0.0))
    # One every 300 s on average: 37 % of the gaps are longer than that.
    forgotten = math.exp(-1)
    read, written = prefix_read("marks", 9.0, busy_s=2_700.0) or (0.0, 0.0)
    assert read == pytest.approx(8 / 9 * (1 - forgotten))
    assert read + written == pytest.approx(1)


def test_where_nothing_is_measured_frames_come_from_the_cache_of_a_model(tmp_path: Path) -> None:
    file = arena(tmp_path)
    text = file.read_text().replace("output_usd", "cached_usd = 0.1, output_usd")
    file.write_text(text.replace("frame_tokens = 100", "frame_tokens = 200"))
    flags = RunRequest(models=("a", "b", "c"), examiner="e", config=file)
    found = resolve(flags).config
    work = RemainingWork(first=3, later=6, videos=1, rounds=3)
    (judge,) = (line for line in plan_of(found, work).lines if line.role == "judge")
    full = (judge.input_tokens * 1 + judge.output_tokens * 10) / 1e6
    assert judge.usd is not None
    # Of 2,000 tokens of frames nine tenths are saved, of nearly all calls.
    saved = 0.9 * judge.calls * 10 * 206 / 1e6
    assert saved < full - judge.usd < 1.4 * saved
    # Smaller frames make a beginning that no cache keeps.
    few = resolve(flags.model_copy(update={"config": arena(tmp_path)})).config
    (small,) = (line for line in plan_of(few, work).lines if line.role == "judge")
    assert small.usd == pytest.approx((small.input_tokens + small.output_tokens * 10) / 1e6)


def test_a_model_that_thinks_unasked_is_expected_to_write_as_much(tmp_path: Path) -> None:
    work = RemainingWork(first=3, later=6, videos=1, rounds=3)
    written = {}
    for name, thinking in (
        ("anthropic:claude-sonnet-5", ""),
        ("anthropic:claude-sonnet-5", 'thinking = { type = "disabled" }, '),
        ("bedrock:anthropic.claude-sonnet-4-5", ""),
        (
            "bedrock:anthropic.claude-sonnet-4-5",
            "additional_model_request_fields = { thinking = "
            '{ type = "enabled", budget_tokens = 2000 } }, ',
        ),
    ):
        file = arena(tmp_path)
        before, head, table = file.read_text().partition("[models.e]")
        table = table.replace('base_url = "http://127.0.0.1:9/v1"\n', "")
        table = table.replace("{ max_tokens = 1000", f"{{ {thinking}max_tokens = 9000")
        file.write_text(before + head + table.replace("openai:e", name))
        flags = RunRequest(models=("a", "b", "c"), examiner="e", config=file)
        lines = plan_of(resolve(flags).config, work).lines
        (written[name, thinking],) = (
            round(line.output_tokens / line.calls) for line in lines if line.role == "judge"
        )
    assert list(written.values()) == [5_000, 1_000, 1_000, 5_000]


@pytest.mark.parametrize(
    "model",
    [
        "bedrock:amazon.nova-pro-v1:0",
        'anthropic:claude-sonnet-4-5"\ncache_breakpoint = false #',
        # Ten frames of 200 tokens are too few for it.
        "anthropic:claude-opus-4-6",
    ],
)
def test_no_cache_is_counted_on_that_keeps_nothing_of_a_call(tmp_path: Path, model: str) -> None:
    file = arena(tmp_path)
    text = file.read_text().replace("output_usd", "cached_usd = 0.1, output_usd")
    text = text.replace('base_url = "http://127.0.0.1:9/v1"\n', "").replace("openai:e", model)
    file.write_text(text.replace("frame_tokens = 100", "frame_tokens = 200"))
    flags = RunRequest(models=("a", "b", "c"), examiner="e", config=file)
    plan = plan_of(resolve(flags).config, RemainingWork(first=3, later=6, videos=1, rounds=3))
    (judge,) = (line for line in plan.lines if line.role == "judge")
    assert judge.usd == pytest.approx((judge.input_tokens + judge.output_tokens * 10) / 1e6)


def test_a_schema_gives_each_role_a_beginning_of_its_own(tmp_path: Path) -> None:
    judged = {}
    for structured in ("off", "json_object", "json_schema", "auto"):
        file = arena(tmp_path)
        text = file.read_text().replace("output_usd", "cached_usd = 0.1, output_usd")
        text = text.replace("frame_tokens = 100", "frame_tokens = 200")
        before, head, table = text.partition("[models.e]")
        file.write_text(f'{before}{head}\nstructured = "{structured}"{table}')
        flags = RunRequest(models=("a", "b", "c"), examiner="e", config=file)
        found = resolve(flags).config
        lines = plan_of(found, RemainingWork(first=3, later=6, videos=1, rounds=3)).lines
        reads = prefix_reads(found, lines, videos=1, busy_s=60.0)
        (judge,) = (line.usd for line in lines if line.role == "judge")
        judged[structured] = judge, {one.schema for one in reads if one.alias == "e"}
    usd, shared = judged["off"]
    assert shared == {None}
    assert judged["json_object"] == judged["off"]
    # The first call of each role misses.
    own_usd, own = judged["json_schema"]
    assert own > {"judge", "grader", "questioner"}
    assert None not in own
    assert own_usd > usd
    assert judged["auto"] == judged["json_schema"]


def test_a_cap_is_said_with_what_happens_there(config: RunConfig) -> None:
    work = RemainingWork(first=3, later=6, videos=1, spent_usd=0.04, cap_use=CapUse(0.1, 900))
    plan = plan_of(config, work)
    shown = " ".join(as_lines(plan, 200))
    assert "max_usd= sets one; calls stop below it" in shown
    assert "spent so far $0.0400, $0.1000 with what is possibly paid" in shown
    usd = plan.expected_usd or 0.0
    capped = replace(plan, caps=SpendCaps(usd=0.1 + usd / 2))
    shown = " ".join(as_lines(capped, 200))
    assert "of it left; calls stop below it, and go on under a higher max_usd=" in shown
    assert "expected after 50% of this" in shown
    assert capped.to_json()["cap_usd"] == 0.1 + usd / 2
    enough = replace(plan, caps=SpendCaps(usd=0.1 + 2 * usd))
    assert "expected after" not in " ".join(as_lines(enough, 200))
    tokens = replace(plan, caps=SpendCaps(tokens=5_000))
    assert "go on under a higher max_tokens=" in " ".join(as_lines(tokens, 200))


def test_what_an_answer_takes_is_a_table_of_videos_and_battles(config: RunConfig) -> None:
    plan = plan_of(config, RemainingWork(first=3, later=6, videos=1), sized=True)
    assert [(one.videos, one.battles) for one in plan.sizes] == [
        (12, 108), (30, 270), (60, 540), (200, 1_800),
    ]  # fmt: skip
    dollars = [one.expected_usd or 0.0 for one in plan.sizes]
    assert dollars == sorted(dollars)
    twelve = plan_of(config, RemainingWork(first=36, later=72, videos=12, rounds=3))
    assert plan.sizes[0].expected_usd == twelve.expected_usd
    assert plan.sizes[0].duration_s == twelve.duration_s
    lines = as_lines(plan, 80)
    head = next(k for k, line in enumerate(lines) if line.startswith("What an answer takes"))
    assert lines[head + 2].split()[:2] == ["videos", "battles"]
    assert plan.to_json()["sizes"][0]["battles"] == 108


@pytest.mark.parametrize("columns", [36, 48, 60, 80])
def test_a_narrow_terminal_cuts_no_figure_of_an_answer(config: RunConfig, columns: int) -> None:
    plan = plan_of(config, RemainingWork(first=3, later=6, videos=1), sized=True)
    lines = as_lines(plan, columns)
    head = next(k for k, line in enumerate(lines) if line.startswith("What an answer"))
    assert any("$" in line for line in lines[head:])
    assert max(map(len, lines)) <= columns
    assert not any("…" in line for line in lines[head:])


@pytest.mark.parametrize("columns", [80, 120])
def test_a_plan_fits_the_terminal_whatever_models_are_called(tmp_path: Path, columns: int) -> None:
    names = ("b", "e", "a-model-of-my-own-with-a-name-that-never-ends" * 2)
    tables = {
        f'"{name}"': {"model": f"openai:{name}", "base_url": "http://127.0.0.1:9/v1"}
        for name in names
    }
    (tmp_path / "arena.toml").write_text(toml(tables))
    flags = RunRequest(models=(names[0], names[2]), examiner="e", config=tmp_path / "arena.toml")
    plan = plan_of(
        resolve(flags).config, RemainingWork(first=300_000, later=9_000_000, videos=100_000)
    )
    assert max(map(len, as_lines(plan, columns))) <= columns


def test_a_plan_takes_as_long_as_its_calls_or_as_the_longest_lineage(config: RunConfig) -> None:
    """2 s a call, 1 s more for 8,000 tokens read or 50 written: worked by hand for a contestant."""
    plan = plan_of(config, RemainingWork(first=30, later=60, videos=10, rounds=3))
    (line,) = (one for one in plan.lines if (one.alias, one.role) == ("a", "contestant"))
    assert line.seconds == pytest.approx(60 * (2 + (250 + 10 * 106) / 8_000 + 350 / 50))
    in_turn = sum(one.seconds for one in plan.lines)
    assert replace(plan, concurrency=1).duration_s == pytest.approx(in_turn, abs=0.06)
    assert replace(plan, concurrency=4).duration_s == pytest.approx(in_turn / 4, abs=0.06)
    each = {one.role: one.seconds / one.calls for one in plan.lines}
    chain = each["examiner"] + each["persona"] + each["questioner"]
    chain += 3 * (each["contestant"] + each["judge"]) + 2 * (each["evolver"] + each["grader"])
    assert replace(plan, concurrency=10_000).duration_s == pytest.approx(chain, abs=0.06)


def test_a_call_takes_as_long_as_those_of_the_run_took(config: RunConfig) -> None:
    rows = tuple(
        row("judge", tokens=tokens).model_copy(update={"latency_s": latency_s})
        for tokens, latency_s in ((400, 10.0), (600, 30.0))
    )
    plan = plan_of(config, RemainingWork(first=3, later=0, videos=1, rows=rows))
    (judge,) = (line for line in plan.lines if line.role == "judge")
    assert judge.seconds == pytest.approx(judge.calls * 20.0)


def test_a_plan_of_stand_ins_alone_tells_no_time() -> None:
    plan = plan_of(
        resolve(RunRequest(models=TRIO)).config, RemainingWork(first=3, later=6, videos=1)
    )
    assert (plan.duration_s, plan.to_json()["duration_s"]) == (None, None)
    assert not [line for line in as_lines(plan, 80) if line.startswith("takes about")]


def test_a_plan_tells_what_its_run_can_tell_apart(tmp_path: Path) -> None:
    assert Whole(models=2, battles=81, videos=9).separable_gap is None
    assert Whole(models=1, battles=810, videos=90).separable_gap is None
    told = {}
    clips = draw_folder(tmp_path / "clips", 9, seconds=2)
    for count in (9, 10):
        if count == 10:
            draw_clip(clips / "tenth.mp4", 10, seconds=2)
        plan, _ = plan_ahead(
            RunRequest(videos=clips, out=tmp_path / "out", models=TRIO, rounds=2), say=print
        )
        told[count] = "\n".join(as_lines(plan, 200))
    assert "54 battles on 9 videos in all: too few videos to rank models (10 are needed)" in told[9]
    gap = round(SCALE * separable_gap(3, battles=60, videos=10))
    assert f"60 battles on 10 videos in all: two models {gap} points apart are told" in told[10]
    assert plan.to_json()["separable_gap"] == gap


def test_a_cap_that_one_call_may_exceed_is_named_before_the_run(config: RunConfig) -> None:
    plan = plan_of(config, RemainingWork(first=3, later=0, videos=1))
    # The judge's text is the longest: 24,000 tokens, 10 frames of 112, and 1,000 of output.
    (usd,) = cap_notice(plan, SpendCaps(0.05, None), SpendCaps(0.02, 0))
    assert usd.startswith("one call to e as judge may cost up to $0.0351, and $0.0300 of the cap")
    (tokens,) = cap_notice(plan, SpendCaps(None, 30_000), SpendCaps(0.0, 4_000))
    assert "as judge may take up to 26,120 tokens, and 26,000 of the cap are left" in tokens
    assert not [*cap_notice(plan, SpendCaps(0.0552, 30_120), SpendCaps(0.02, 4_000))]
    assert not [*cap_notice(plan, SpendCaps(None, None), SpendCaps(9.0, 9))]


def test_no_run_makes_more_calls_than_its_plan_said(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 1, seconds=2)
    out = tmp_path / "out"
    flags = RunRequest(models=TRIO, rounds=2)
    plan, _ = plan_ahead(flags.model_copy(update={"videos": videos, "out": out}), say=print)
    assert not out.exists()
    play(videos, out)
    with Store.open(out / RUN_FILE, write=False) as store:
        made = Counter((row.alias, row.nonce.role) for row in store.journal.calls())
    assert made.keys() <= calls(plan).keys()
    assert all(count <= calls(plan)[who][1] for who, count in made.items())
    after, _ = plan_ahead(flags.model_copy(update={"videos": videos, "out": out}), say=print)
    assert (after.battles, after.lines, after.cost_usd) == (0, [], 0.0)
    grown, _ = plan_ahead(RunRequest(videos=videos, out=out, models=TRIO, rounds=3), say=print)
    assert grown.battles == 3
    assert {line.role for line in grown.lines if line.is_measured} >= {"judge", "evolver"}


def test_plan_sends_nothing_and_yes_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    clips = draw_folder(tmp_path / "clips", 1, seconds=2)
    terminal = Terminal(capsys)
    told = terminal.simulate("--videos", clips, *SMALL, "--plan", "--json")
    assert (told.code, json.loads(told.out)["battles"]) == (0, 6)
    told = terminal.simulate("--videos", clips, *SMALL, "--plan")
    assert told.code == 0
    assert "cost nothing" in told.out
    assert not Path("arena-out").exists()
    told = terminal.simulate("--videos", clips, *SMALL, "--plan", "--yes", "--json")
    assert (told.code, told.out) == (2, "")
    assert "--plan --json prints the plan and stops; leave out --json or --yes" in told.err
    assert not Path("arena-out").exists()
    told = terminal.simulate("--videos", clips, *SMALL, "--plan", "--yes")
    assert told.code == 0
    assert Path("arena-out", RUN_FILE).exists()


def test_a_plan_tells_no_tokens_of_stand_ins_which_nobody_bills() -> None:
    plan = plan_of(
        resolve(RunRequest(models=TRIO)).config, RemainingWork(first=3, later=6, videos=1)
    )
    told = plan.to_json()
    assert (told["input_tokens"], told["output_tokens"]) == (None, None)
    assert {line["input_tokens"] for line in told["lines"]} == {None}
    lines = list(as_lines(plan, 80))
    assert all(" - " in line for line in lines if line.startswith(("offline:", "all ")))
    assert not list(cap_notice(plan, SpendCaps(tokens=1), SpendCaps(0.0, 0)))


def test_beside_stand_ins_a_plan_sums_the_tokens_that_are_billed(tmp_path: Path) -> None:
    flags = RunRequest(models=("a", "offline:hawk"), examiner="e", config=arena(tmp_path))
    plan = plan_of(resolve(flags).config, RemainingWork(first=3, later=0, videos=1))
    billed = [line for line in plan.lines if line.alias != "offline:hawk"]
    assert plan.to_json()["input_tokens"] == round(sum(line.input_tokens for line in billed))
