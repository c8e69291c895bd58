"""Lenders on a clock of one's own, and what workers tell them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from tests.support.played import manifest
from tests.support.runfiles import slot, video
from videoautoarena.agents.limits.caps import SpendCaps
from videoautoarena.agents.limits.scheduler import EndpointKey, PlaceDemand
from videoautoarena.memory.records.records import CallLimits, Nonce
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cluster.jobs import WorkerReport
from videoautoarena.runs.cluster.lender import Lender
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import keep_caps

T = TypeVar("T")
LEASE_S = 10.0
HOST: EndpointKey = ("127.0.0.1:8000", ("KEY",))
NONCE = Nonce(scope="v-p1-r0", role="judge", ordinal=2)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def config(**limits: Any) -> RunConfig:
    base = RunConfig.of_manifest(manifest())
    entry = next(iter(base.cast.values())).model_copy(
        update={
            "model": "openai:one",
            "base_url": f"http://{HOST[0]}/v1",
            "endpoint": HOST[0],
            "key_env": HOST[1][0],
            "limits": CallLimits(**limits),
        }
    )
    return base.model_copy(update={"cast": {**base.cast, "one": entry}})


def busy(under_way: int, waiting: int, boot: str = "") -> WorkerReport:
    wants = PlaceDemand(under_way, waiting)
    return WorkerReport(wants, {HOST: wants}, calls=0, boot=boot)


async def is_open(lender: Lender) -> bool:
    """Return whether a lender lends by now; where it has begun to read the books, wait for that."""
    if lender._opening is not None:
        await lender._opening
    return lender._is_open


async def opened(lender: Lender) -> None:
    """Wait until the books are read."""
    while not lender._is_open:
        await asyncio.sleep(0.01)


def capped_run(tmp_path: Path) -> Path:
    """Return a run of one slot with a cap of a dollar."""
    file = tmp_path / "run.sqlite"
    with Store.create(file, manifest()) as store:
        store.add_videos([video()])
        store.add_slots([slot()])
        keep_caps(store, SpendCaps(usd=1.0))
    return file


def lending(path: Path, clock: Clock, *, concurrency: int = 12, **limits: Any) -> Lender:
    return Lender(
        str(path), config(**limits), concurrency=concurrency, lease_s=LEASE_S, clock=clock
    )


def nonce_of(number: int) -> Nonce:
    """Return the nonce of one call of many."""
    return NONCE.model_copy(update={"ordinal": number})
