"""What calls took is what adding up the exported calls gives, by role, model and battle."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest

from tests.support.golden import exported, unpack
from tests.support.played import battle, call, invoke, play, slot, video
from videoautoarena.memory.records.records import Attempt, Nonce, Usage
from videoautoarena.memory.store.evidence import TRIAL_SCOPE
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.run.rundir.spending import RunCosts, costs_of

ID = slot(video(), 0).id


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("golden") / "out")


def costs(out: Path) -> RunCosts:
    with open_run(out) as run:
        return costs_of(run)


def of_calls(tmp_path: Path, *calls: Any, **more: Any) -> RunCosts:
    settled = more.pop("battles", [battle(slot(video(), 0))])
    return costs(play(tmp_path / "out", settled, calls=calls, **more))


def added(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what exported calls come to, by plain arithmetic."""
    tries = [one for row in rows for one in (*row["attempts"], row)]
    waits = [row["latency_s"] for row in rows if row["reply"] is not None]
    ninth = quantiles(waits, n=10, method="inclusive")[8] if len(waits) > 1 else waits[0]
    return {
        "calls": len(rows),
        "failed": sum(row["reply"] is None for row in rows),
        "input_tokens": sum(one["usage"]["input_tokens"] or 0 for one in tries),
        "output_tokens": sum(one["usage"]["output_tokens"] or 0 for one in tries),
        "cost_usd": sum(row["cost_usd"] for row in rows),
        "latency_s": {
            "median": pytest.approx(median(waits), abs=1e-6),
            "p90": pytest.approx(ninth, abs=1e-6),
        },
    }


def test_sums_by_role_and_model_are_those_of_the_exported_calls(golden: Path) -> None:
    (found,), calls = exported(golden, "costs"), exported(golden, "calls")
    parts: dict[tuple[str, str | None], list[dict[str, Any]]] = defaultdict(list)
    for row in calls:
        parts[row["role"], None].append(row)
        parts[row["role"], row["alias"]].append(row)
    rows = {(row["role"], row["model"]): row for row in (*found["roles"], *found["models"])}
    assert rows.keys() == parts.keys()
    assert len(found["models"]) > len(found["roles"]) > 5
    for key, part in parts.items():
        expected = added(part)
        assert {name: rows[key][name] for name in expected} == expected, key


def test_what_battles_took_is_what_their_exported_calls_took(golden: Path) -> None:
    (found,), calls = exported(golden, "costs"), exported(golden, "calls")
    battles = [row["id"] for row in exported(golden, "battles")]
    assert list(found["battles"]) == battles
    took = 0
    for one in battles:
        mine: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in calls:
            if row["scope"] == one:
                mine[f"{row['role']}:{row['alias']}"].append(row)
        assert found["battles"][one].keys() == mine.keys()
        for who, rows in mine.items():
            sums = added(rows)
            told = found["battles"][one][who]
            assert told["calls"] == sums["calls"]
            assert (told["in"], told["out"]) == (sums["input_tokens"], sums["output_tokens"])
            assert told["s"] == pytest.approx(sum(row["latency_s"] for row in rows), abs=1e-6)
            took += told["calls"]
    assert 0 < took < len(calls)


def test_roles_are_those_of_a_status_to_the_last_digit(golden: Path) -> None:
    status = json.loads(invoke("status", golden, "--json").stdout)["calls"]
    for row in costs(golden).roles:
        same = status[row.role]
        assert (row.calls, row.failed) == (same["calls"], same["failures"])
        assert row.known_usd == same["cost_usd"]
        assert (row.unknown_cost, row.untold_tokens) == (
            same["unknown_cost"],
            same["untold_tokens"],
        )


def test_one_unknown_cost_leaves_the_sum_unknown_and_is_counted(tmp_path: Path) -> None:
    found = of_calls(tmp_path, call(ID, cost_usd=0.5), call(ID), call(ID, cost_usd=0.25))
    (judge,) = found.roles
    assert (judge.cost_usd, judge.known_usd, judge.unknown_cost) == (None, 0.75, 1)
    assert found.battles[ID]["judge:judge"].cost_usd is None


def test_a_call_whose_provider_counted_half_of_its_tokens_is_counted_as_untold(
    tmp_path: Path,
) -> None:
    half = Usage(input_tokens=10)
    (judge,) = of_calls(tmp_path, call(ID), call(ID, usage=half)).roles
    assert (judge.untold_tokens, judge.input_tokens, judge.output_tokens) == (1, 1010, 50)


def test_earlier_attempts_count_with_their_tokens_and_cost(tmp_path: Path) -> None:
    usage = Usage(input_tokens=7, output_tokens=3)
    before = Attempt(kind="empty", reason="x", waited_s=1.0, usage=usage, cost_usd=0.125)
    found = of_calls(tmp_path, call(ID, cost_usd=0.5, attempts=(before, before)))
    (judge,) = found.models
    assert (judge.calls, judge.cost_usd) == (1, 0.75)
    assert (judge.input_tokens, judge.output_tokens) == (1014, 56)
    assert found.battles[ID]["judge:judge"].input_tokens == 1014


def test_a_failed_call_has_no_part_in_how_long_replies_took(tmp_path: Path) -> None:
    lost = {"reply": None, "failure": "x", "failure_kind": "timeout", "usage": Usage()}
    alone = of_calls(tmp_path, call(ID, latency_s=99.0, **lost))
    assert (alone.roles[0].failed, alone.roles[0].latency_s) == (1, None)
    both = of_calls(tmp_path / "2", call(ID, latency_s=2.0), call(ID, latency_s=99.0, **lost))
    waits = both.roles[0].latency_s
    assert waits is not None
    assert (waits.median, waits.p90) == (2.0, 2.0)


def test_trials_of_judges_are_a_role_of_their_own_and_part_of_no_battle(tmp_path: Path) -> None:
    found = of_calls(tmp_path, call(f"{TRIAL_SCOPE}repeat:{ID}:judge"), call(ID))
    assert [(row.role, row.calls) for row in found.roles] == [("judge", 1), ("trial", 1)]
    assert found.battles[ID]["judge:judge"].calls == 1


def test_a_battle_that_supersedes_another_took_the_calls_of_both(tmp_path: Path) -> None:
    slots = [slot(video(), 0, generation=g, ordinal=g) for g in (0, 2)]
    calls = [
        call(ID, nonce=Nonce(scope=ID, role="judge", generation=g), latency_s=g + 1.0)
        for g in (0, 2, 3)
    ]
    found = of_calls(tmp_path, *calls, battles=map(battle, slots), slots=slots)
    assert list(found.battles) == [slots[1].id]
    assert found.battles[slots[1].id]["judge:judge"].seconds == 4.0
    shown = json.loads(invoke("show", tmp_path / "out", slots[1].id, "--json").stdout)
    assert len(shown["calls"]) == 2


def test_a_battle_without_a_call_took_nothing(tmp_path: Path) -> None:
    found = of_calls(tmp_path)
    assert (found.roles, found.models, found.battles) == ((), (), {ID: {}})
