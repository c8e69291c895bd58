"""What calls took is kept on this machine as sums, for plans of runs to come."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from tests.e2e.test_cap import ROSTER, brain
from tests.runs.tournament.test_capped_runs import Stage
from tests.support.ledger import FRAMES, Ledger
from tests.support.loopback import serving
from videoautoarena.agents.calls.clients import MOST_TOKENS
from videoautoarena.memory.records.records import CallRow, Usage
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.tournament import past_calls
from videoautoarena.runs.tournament.forecast import plan_ahead
from videoautoarena.runs.tournament.past_calls import (
    MOST_CALLS,
    KnownCalls,
    PastCalls,
    keep_kinds,
    kind_of,
    measured_kinds,
    remember_calls,
    weakest,
)
from videoautoarena.runs.tournament.plan import Plan, RemainingWork, plan_of
from videoautoarena.runs.tournament.plan_text import as_lines

PRICE = "price = { input_usd = 1.0, output_usd = 4.0 }"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def file(home: Path) -> Path:
    return home / "state" / "videoautoarena" / "calls.json"


def configured(folder: Path, more: str = "") -> RunConfig:
    lines = []
    for name in ("a", "b", "e"):
        lines += [f'[models.{name}]\nmodel = "openai:{name}"\n{PRICE}\n{more}']
        lines += ['base_url = "http://127.0.0.1:9/v1"']
    (folder / "arena.toml").write_text("\n".join(lines))
    request = RunRequest(
        models=("a", "b"), examiner="e", config=folder / "arena.toml", frames=FRAMES
    )
    return resolve(request).config


@pytest.fixture
def config(home: Path) -> RunConfig:
    return configured(home)


def ledger(config: RunConfig) -> Ledger:
    return Ledger(("a", "b"), "e", {}, config.model_of("e").endpoint)


def kept(config: RunConfig, *, videos: int = 2, name: int = 1) -> str:
    return keep_kinds(measured_kinds(ledger(config).run(videos, 2, name=name), config))


def test_a_plan_goes_by_what_past_runs_took(config: RunConfig) -> None:
    work = RemainingWork(first=6, later=6, videos=2, rounds=2)
    assert plan_of(config, work, PastCalls.read()).basis == "guess"
    assert not kept(config)
    plan = plan_of(config, work, PastCalls.read())
    assert plan.basis == "machine"
    assert not any(line.is_measured for line in plan.lines)
    assert "by such calls of past runs on this machine" in " ".join(as_lines(plan, 200))


def test_no_text_no_video_and_no_key_stands_in_the_file(config: RunConfig, file: Path) -> None:
    assert not kept(config)
    text = file.read_text()
    rows = ledger(config).run(2, 2, name=1)
    assert not any(row.nonce.scope[:12] in text or row.key in text for row in rows)
    held = json.loads(text)
    names = {"model", "endpoint", "role", "frames", "settings", "calls", "videos", "squares"}
    assert {*held["kinds"][0]} == names | {"sums", "products", "between"}
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_was_kept_comes_back(config: RunConfig) -> None:
    found = measured_kinds(ledger(config).run(2, 2, name=1), config)
    assert not keep_kinds(found)
    read = PastCalls.read().kinds
    assert {kind: one.to_json() for kind, one in read.items()} == {
        kind: one.to_json() for kind, one in found.items()
    }


def test_runs_add_up_and_older_ones_weigh_less_and_less(config: RunConfig) -> None:
    kind = kind_of(config, config.model_of("e"), "judge", FRAMES)
    for name in (1, 2):
        assert not kept(config, name=name)
    assert PastCalls.read().kinds[kind].videos == 4
    kinds = PastCalls.read().kinds
    much = kinds[kind].weighed(MOST_CALLS / kinds[kind].calls)
    assert not keep_kinds({kind: much})
    assert PastCalls.read().kinds[kind].calls == pytest.approx(MOST_CALLS)


def test_other_frames_sizes_and_thinking_are_other_kinds(config: RunConfig, home: Path) -> None:
    assert not kept(config)
    seen = KnownCalls(past=PastCalls.read())
    judge = config.model_of("e")
    assert seen.of_kind(config, judge, "judge", frames=FRAMES - 2) is not None
    assert seen.of_kind(config, judge, "judge", frames=FRAMES / 2) is None
    larger = config.model_copy(
        update={"sampling": config.sampling.model_copy(update={"size_px": 1024})}
    )
    assert seen.of_kind(larger, judge, "judge", frames=FRAMES) is None
    (home / "other").mkdir()
    thinking = configured(home / "other", 'parameters = { reasoning_effort = "high" }')
    assert seen.of_kind(thinking, thinking.model_of("e"), "judge", frames=FRAMES) is None
    warmer = configured(home / "other", "parameters = { temperature = 0.5 }")
    assert seen.of_kind(warmer, warmer.model_of("e"), "judge", frames=FRAMES) is not None


def test_calls_that_end_at_a_mark_are_another_kind(config: RunConfig) -> None:
    model = config.model_of("a")
    marked = model.with_settings(cache_breakpoint=True)
    assert kind_of(config, model, "judge", 8) != kind_of(config, marked, "judge", 8)


def test_a_server_that_states_beyond_belief_spoils_no_file(config: RunConfig) -> None:
    beyond = Usage(input_tokens=MOST_TOKENS, output_tokens=MOST_TOKENS)
    rows = [row.model_copy(update={"usage": beyond}) for row in ledger(config).run(3, 2, name=1)]
    assert not keep_kinds(measured_kinds(rows, config))
    found = PastCalls.read()
    assert found.kinds
    assert not found.damage


def test_calls_of_stand_ins_and_of_other_places_are_not_kept(config: RunConfig) -> None:
    rows = ledger(config).run(1, 1, name=1)
    elsewhere = [row.model_copy(update={"endpoint": "elsewhere"}) for row in rows]
    uncounted = [row.model_copy(update={"usage": Usage()}) for row in rows]
    stand_ins = [row.model_copy(update={"model": "offline:hawk"}) for row in rows]
    unknown = [row.model_copy(update={"alias": "zoe"}) for row in rows]
    for some in (elsewhere, uncounted, stand_ins, unknown):
        assert measured_kinds(some, config) == {}


DAMAGE = {
    "half a file": '{"schema": 1, "kinds": [{"model"',
    "another version": '{"schema": 2, "kinds": []}',
    "no numbers": '{"schema": 1, "kinds": [{"model": "m", "endpoint": "h", "role": "judge"}]}',
    "bytes": "\x00\x01",
}


@pytest.mark.parametrize("text", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_passed_over_and_told_in_one_line(
    config: RunConfig, file: Path, text: str
) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(text)
    file.chmod(0o600)
    past = PastCalls.read()
    assert not past.kinds
    plan = plan_of(config, RemainingWork(first=3, later=0, videos=1), past)
    assert plan.basis == "guess"
    (told,) = (note for note in plan.notes if "calls.json" in note)
    assert told.endswith("cannot be read and was passed over; the next run writes it anew")
    assert not kept(config)
    assert PastCalls.read().kinds
    assert not PastCalls.read().damage


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1.0", "1e300"])
def test_numbers_that_no_calls_have_are_damage(config: RunConfig, file: Path, number: str) -> None:
    assert not kept(config)
    held = json.loads(file.read_text())
    held["kinds"][0]["sums"][0] = "HERE"
    file.write_text(json.dumps(held).replace('"HERE"', number))
    assert PastCalls.read().damage


def test_a_file_that_others_may_write_is_passed_over(config: RunConfig, file: Path) -> None:
    assert not kept(config)
    file.chmod(0o622)
    assert PastCalls.read().damage


def test_a_state_that_cannot_be_written_ends_no_run(
    config: RunConfig, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "taken").write_text("a file, no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "taken"))
    assert kept(config).startswith("what calls took could not be kept for later plans: ")
    assert not PastCalls.read().kinds


def _keep_often(folder: str, first: int) -> None:
    config = configured(Path(folder))
    for name in range(first, first + 5):
        assert not kept(config, videos=1, name=name)


def test_two_processes_at_once_lose_nothing(home: Path, config: RunConfig) -> None:
    forked = multiprocessing.get_context("fork")
    folders = [home / f"{k}" for k in range(2)]
    for folder in folders:
        folder.mkdir()
    both = [
        forked.Process(target=_keep_often, args=(str(folder), 10 * k))
        for k, folder in enumerate(folders)
    ]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert [one.exitcode for one in both] == [0, 0]
    kind = kind_of(config, config.model_of("e"), "judge", FRAMES)
    assert PastCalls.read().kinds[kind].videos == 10
    left = {name for name in os.listdir(home / "state" / "videoautoarena")}
    assert left == {"calls.json", "calls.lock"}


def test_the_kinds_measured_last_are_kept(
    config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_calls, "MOST_KINDS", 3)
    found = measured_kinds(ledger(config).run(1, 1, name=1), config)
    first, *others = found
    assert not keep_kinds(found)
    assert not keep_kinds({first: found[first]})
    assert [*PastCalls.read().kinds] == [*others[-2:], first]


def test_a_whole_is_a_guess_where_a_tenth_of_it_is_one() -> None:
    assert weakest({"run": 1.0, "guess": 0.05}) == "run"
    assert weakest({"run": 1.0, "guess": 0.2}) == "guess"
    assert weakest({"machine": 0.5, "run": 0.5}) == "machine"
    assert weakest({"guess": 0.0}) == "guess"
    assert weakest({}) is None


@pytest.mark.slow
def test_what_a_run_took_is_expected_of_the_next_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", "loopback-key")
    with serving(home / "log", brain=brain) as server:
        stage = Stage(home, server)
        cast = {"models": ROSTER, "examiner": "examiner", "judge": ("judge",)}
        asked = RunRequest(videos=stage.videos, config=stage.config, rounds=1, **cast)

        def planned(name: str) -> Plan:
            return plan_ahead(asked.model_copy(update={"out": home / name}), say=print)[0]

        assert planned("a").basis == "guess"
        first = stage.play(home / "a", rounds=1)
        # What is left of a run that a cap ended goes by its own calls, where it has any.
        stage.play(home / "b", rounds=1, max_usd=0.7 * first.spent.usd)
        assert {line.basis for line in planned("b").lines} - {"machine"} == {"run"}
        next_one = planned("c")
    assert next_one.basis == "machine"
    assert next_one.expected_usd == pytest.approx(first.spent.usd, rel=0.2)
    assert first.spent.usd < (next_one.bound90_usd or 0.0)


def test_no_more_than_the_latest_calls_of_a_process_are_read(
    config: RunConfig, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_calls, "LATEST", 5)
    rows = ledger(config).run(1, 1, name=1)
    with Store.create(home / "calls.sqlite", {}) as store:
        journal = store.journal

        async def record(some: list[CallRow]) -> None:
            for row in some:
                await journal.record(row)

        assert journal.last_place() == 0
        asyncio.run(record(rows[:2]))
        before = journal.last_place()
        assert before == 2
        assert not remember_calls(journal, config, after=before)
        assert not PastCalls.read().kinds
        asyncio.run(record(rows[2:]))
        assert not remember_calls(journal, config, after=before)
    assert sum(one.calls for one in PastCalls.read().kinds.values()) == 5


def test_on_a_bench_a_call_belongs_to_the_frames_that_it_was_sent(config: RunConfig) -> None:
    rows = ledger(config).run(1, 1, name=1)
    fewer = [row.model_copy(update={"frames": 2}) for row in rows]
    assert {kind.frames for kind in measured_kinds(fewer, config)} == {FRAMES}
    assert {kind.frames for kind in measured_kinds(fewer, config, as_sent=True)} == {2}
