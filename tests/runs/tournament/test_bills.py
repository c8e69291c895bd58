"""What plans say beforehand, against the bills that follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.ledger import FRAME_TOKENS, FRAMES, Ledger
from videoautoarena.runs.jobs.paid_job import ExpectedCalls, JobPlan, plan_lines
from videoautoarena.runs.run.config.run_config import RunConfig, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.tournament.past_calls import PastCalls, keep_kinds, measured_kinds
from videoautoarena.runs.tournament.plan import RemainingWork, plan_of

MODELS = ("ant", "bee", "cow")
PRICES = {
    "ant": (2.5, 1.25, 2.5, 10.0),
    "bee": (0.3, 0.075, 0.3, 2.5),
    "cow": (3.0, 0.3, 3.75, 15.0),
    "owl": (2.0, 0.5, 2.0, 8.0),
}
RUNS = 20
NEAR = 0.2
ROUNDS = 3
LEDGERS = {
    "plain": {},
    "cached": {"is_cached": True},
    "thinking": {"thought": 5.0},
    "batched": {"share": 0.5},
}


@dataclass
class Bills:
    """What plans said of runs, and what was billed."""

    said: list[float]
    bounds: list[float]
    billed: list[float]

    @property
    def errors(self) -> list[float]:
        """How far each plan was off, as a share of its bill."""
        return [abs(a / b - 1) for a, b in zip(self.said, self.billed, strict=True)]

    @property
    def above(self) -> list[float]:
        """How many times what is expected each bound is."""
        return [a / b for a, b in zip(self.bounds, self.said, strict=True)]

    @property
    def shown(self) -> str:
        """The figures in a line."""
        return (
            f"off by {np.mean(self.errors):.1%} on average and {max(self.errors):.1%} at most, "
            f"bound kept in {self.kept} of {len(self.billed)}, at {np.mean(self.above):.2f} times"
        )

    @property
    def kept(self) -> int:
        """How many bills lie below the bound."""
        return sum(a <= b for a, b in zip(self.billed, self.bounds, strict=True))


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    lines = []
    for name, prices in PRICES.items():
        names = ("input_usd", "cached_usd", "written_usd", "output_usd")
        priced = ", ".join(f"{field} = {usd}" for field, usd in zip(names, prices, strict=True))
        lines += [f'[models.{name}]\nmodel = "openai:{name}"\nprice = {{ {priced} }}']
        lines += ['base_url = "http://127.0.0.1:9/v1"', f"frame_tokens = {FRAME_TOKENS}"]
    file = tmp_path_factory.mktemp("bills") / "arena.toml"
    file.write_text("\n".join(lines))
    request = RunRequest(models=MODELS, examiner="owl", config=file, rounds=ROUNDS, frames=FRAMES)
    return resolve(request).config


def ledger(config: RunConfig, kind: str, seed: int) -> Ledger:
    endpoint = config.model_of("owl").endpoint
    return Ledger(MODELS, "owl", PRICES, endpoint, seed=seed, **LEDGERS[kind])


def work(videos: int) -> RemainingWork:
    lineages = 3 * videos
    return RemainingWork(
        first=lineages, later=lineages * (ROUNDS - 1), videos=videos, rounds=ROUNDS
    )


def bills_after_past_runs(config: RunConfig, kind: str, home: Path, *, past: int) -> Bills:
    """Plan runs of 12 videos by one of `past` videos that was played before, and play them."""
    found = Bills([], [], [])
    for seed in range(RUNS):
        server = ledger(config, kind, seed)
        with pytest.MonkeyPatch.context() as env:
            env.setenv("XDG_STATE_HOME", str(home / f"{seed}"))
            if kind == "batched":
                assert not keep_kinds(measured_kinds(server.answers(past, 8, name=1), config))
                calls = [
                    ExpectedCalls(alias, role, 1.0 + repaired, 2, videos=(f"{video}",))
                    for video in range(12)
                    for alias, role, repaired in (("ant", "contestant", 0), ("owl", "judge", 0.02))
                    for _ in range(8)
                ]
                plan = JobPlan(
                    tuple(line.at_share(0.5) for line in plan_lines(config, calls, None)), 0, ()
                )
                rows = server.answers(12, 8, name=2)
            else:
                assert not keep_kinds(measured_kinds(server.run(past, ROUNDS, name=1), config))
                plan = plan_of(config, work(12), PastCalls.read())
                rows = server.run(12, ROUNDS, name=2)
        assert plan.basis == "machine"
        found.said.append(plan.expected_usd or 0.0)
        found.bounds.append(plan.bound90_usd or 0.0)
        found.billed.append(server.usd(rows))
    return found


def bills_of_begun_runs(config: RunConfig, kind: str, *, played: int) -> Bills:
    """Plan what is left of runs of 12 videos by those that were played, and play it."""
    found = Bills([], [], [])
    for seed in range(RUNS):
        server = ledger(config, kind, seed)
        rows = server.run(12, ROUNDS, name=1)
        videos = list(dict.fromkeys(row.nonce.scope.partition("-")[0] for row in rows))
        known = [row for row in rows if row.nonce.scope.partition("-")[0] in videos[:played]]
        left = [row for row in rows if row.nonce.scope.partition("-")[0] in videos[played:]]
        plan = plan_of(config, replace(work(12 - played), rows=tuple(known)))
        assert plan.basis == "run"
        found.said.append(plan.expected_usd or 0.0)
        found.bounds.append(plan.bound90_usd or 0.0)
        found.billed.append(server.usd(left))
    return found


QUICK = pytest.param("batched")
THOROUGH = [pytest.param(kind, marks=pytest.mark.slow) for kind in LEDGERS if kind != "batched"]


@pytest.mark.parametrize("kind", [QUICK, *THOROUGH])
def test_a_bill_is_near_what_past_runs_let_expect_and_nine_of_ten_stay_below_the_bound(
    config: RunConfig, kind: str, tmp_path: Path
) -> None:
    found = bills_after_past_runs(config, kind, tmp_path, past=6)
    assert max(found.errors) <= NEAR, found.shown
    assert found.kept >= 17, found.shown
    # A bound that frightens says nothing.
    assert max(found.above) <= 1.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in LEDGERS if kind != "batched"])
def test_a_run_that_is_begun_is_planned_by_its_own_first_videos(
    config: RunConfig, kind: str
) -> None:
    found = bills_of_begun_runs(config, kind, played=3)
    assert sum(error <= NEAR for error in found.errors) >= 18, found.shown
    assert found.kept >= 17, found.shown
    assert max(found.above) <= 1.6


@pytest.mark.parametrize("kind", ["plain", "cached", "thinking"])
def test_a_guess_is_called_one_and_is_wide_enough_where_no_cache_finds_anything(
    config: RunConfig, kind: str
) -> None:
    if kind == "thinking":
        cast = {
            alias: entry.model_copy(update={"parameters": {"reasoning_effort": "high"}})
            for alias, entry in config.cast.items()
        }
        config = config.model_copy(update={"cast": cast})
    plan = plan_of(config, work(4))
    server = ledger(config, kind, 1)
    assert plan.basis == "guess"
    assert server.usd(server.run(4, ROUNDS, name=1)) <= (plan.bound90_usd or 0.0)
    assert (plan.bound90_usd or 0.0) <= 2.5 * (plan.expected_usd or 0.0)
