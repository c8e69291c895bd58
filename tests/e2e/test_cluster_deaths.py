"""A run on a real cluster of four nodes comes to the battles of one process, whatever dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_cap import write_arena
from tests.support import rayed
from tests.support.cluster_deaths import (
    LATENCY_S,
    LEASE_S,
    Ground,
    died,
    hung,
    lost_head,
    running,
    until,
)
from tests.support.loopback import serving_apart
from tests.support.rayed import LENDER, OWNER, WORKER, Rayed
from tests.support.serverlog import Log, arrivals

pytestmark = pytest.mark.slow
NODES = 3
CAP_USD, CALL_USD, TAKES = 2.0, 0.02, 1400
"""A run of about 300 calls would cost three times the cap; each takes so many tokens of 1,500."""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    rayed.require()
    return Ground.made(tmp_path_factory.mktemp("ground"), clips=6)


@pytest.fixture(scope="module")
def cluster(ground: Ground) -> Iterator[Rayed]:
    with rayed.cluster(NODES) as up:
        yield up


# Each of these alone, and of the worker and the owner, five times: `make bench-cluster`.
DEATHS = ("lender", "node", "two", "driver")


def test_whatever_dies_nothing_is_lost_and_what_was_under_way_is_listed(
    ground: Ground, cluster: Rayed
) -> None:
    found = died(ground, cluster, DEATHS, "died")
    assert found.code == 0, found.said[-2000:]
    assert found.battles == ground.calm
    assert not found.late
    assert set(found.again) <= found.listed
    again = sum(found.again.values()) - len(found.again)
    assert again <= found.in_flight + 12 * len(DEATHS)


def test_a_worker_that_stood_still_sends_and_commits_nothing_when_it_goes_on(
    ground: Ground, cluster: Rayed
) -> None:
    found, sent, gained = hung(ground, cluster, 1.5 * LEASE_S)
    assert found.code == 0, found.said[-2000:]
    assert found.battles == ground.calm
    assert set(found.again) <= found.listed
    assert not sent
    assert not gained


def test_the_cap_is_kept_by_the_servers_own_ledger_though_worker_lender_and_owner_die(
    ground: Ground, cluster: Rayed, tmp_path: Path
) -> None:
    log_path = tmp_path / "log"
    out = tmp_path / "capped"
    manners = ("--canned", "--takes", str(TAKES), "--latency-s", *LATENCY_S)
    with serving_apart(log_path, *manners) as server:
        # Only what is written costs anything, so that a call comes to nearly all that it may.
        usd = CALL_USD * 1e6 / TAKES
        config = write_arena(tmp_path / "arena.toml", server.openai_url, usd)
        config.write_text(config.read_text().replace(f"input_usd = {usd}", "input_usd = 0"))
        typed = ["--videos", str(ground.folder / "videos"), "--out", str(out), "--rounds", "3"]
        engine = ["--engine", "ray", "--address", cluster.address, "--lease", str(LEASE_S)]
        cap = ["--max-usd", str(CAP_USD), "--config", str(config), "--json", "-q"]
        log = Log(log_path)
        line = rayed.command("simulate", *typed, *cap, *engine)
        with running(line) as driver:
            for title, calls in ((WORKER, 15), (LENDER, 15), (OWNER, 30)):
                until(driver, lambda calls=calls: _came(log) >= calls)
                cluster.kill(title)
            told, err = driver.communicate(timeout=300)
        log.read_on()
    assert driver.returncode == 4, err.decode()[-2000:]
    assert json.loads(told)["capped"]
    assert 30 <= len(arrivals(log.events)) <= CAP_USD / CALL_USD


# The last of these: its cluster is gone.
def test_a_run_goes_on_on_a_new_cluster_after_the_heads_death(
    ground: Ground, cluster: Rayed
) -> None:
    found = lost_head(ground, cluster, "headless")
    assert found.code == 0, found.said[-2000:]
    assert found.battles == ground.calm
    assert not found.late
    assert set(found.again) <= found.listed


def _came(log: Log) -> int:
    if log.path.exists():
        log.read_on()
    return len(arrivals(log.events))
