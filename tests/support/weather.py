"""Servers with limits of their own and bad spells, on virtual time, behind the real way out."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.asking import Pages, Status, load_bytes
from tests.support.virtual import run_virtual
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.memory.records.errors import CallFailed
from videoautoarena.memory.records.records import Nonce, Usage

REFUSING_S = 0.05
"""How long a server takes to say no."""


@dataclass(frozen=True)
class Weather:
    """What a server takes, and when it takes nothing.

    Attributes:
        concurrent: calls at once; one more is refused.
        a_minute: requests a minute, through a bucket that holds `bucket`.
        window: count `a_minute` by windows of 60 seconds in the place of a bucket.
        latency_s: mean latency by the time; each call takes half to one and a half of it.
        knee: from so many calls at once on, latency grows with their number.
        storms: stretches in which all is refused.
        unlucky: share of calls that are refused for no reason.
        every_s: one call in each stretch of so many seconds is refused for no reason.
        hint_s: Retry-After of every refusal.
    """

    concurrent: float = math.inf
    a_minute: float = math.inf
    bucket: float = 10.0
    window: bool = False
    latency_s: Callable[[float], float] = lambda _now_s: 2.0
    knee: float = math.inf
    storms: tuple[tuple[float, float], ...] = ()
    unlucky: float = 0.0
    every_s: float = math.inf
    hint_s: float | None = None

    def ideal(self, until_s: float) -> float:
        """Return how many calls somebody gets done who knows all this, from 0 to `until_s`."""
        steps = int(until_s)
        return sum(self._rate(step + 0.5) for step in range(steps))

    def _rate(self, now_s: float) -> float:
        if any(start <= now_s < end for start, end in self.storms):
            return 0.0
        places = min(self.concurrent, self.knee)
        return min(places / self.latency_s(now_s), self.a_minute / 60)


@dataclass
class Sky:
    """A server in some weather; plays every model's client."""

    weather: Weather
    seed: int = 0
    sent: list[float] = field(default_factory=list)
    """When each try came."""
    refused: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    busy: int = 0
    most_busy: int = 0
    _level: float = 0.0
    _level_at_s: float = 0.0
    _struck: float = 0.0
    _window: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Fill the bucket."""
        self._chance = random.Random(self.seed)
        self._level = self.weather.bucket

    def __call__(self, _model: Model, _load: object) -> Sky:
        """Play every model's client."""
        return self

    async def send(self, _sending: OutgoingCall) -> ReceivedReply:
        """Answer after a while, or refuse."""
        now_s = asyncio.get_running_loop().time()
        self.sent.append(now_s)
        if not self._takes(now_s):
            self.refused.append(now_s)
            await asyncio.sleep(REFUSING_S)
            hint_s = self.weather.hint_s
            raise Status(429, {"retry-after": str(hint_s)} if hint_s is not None else {})
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            crowd = max(1.0, self.busy / self.weather.knee)
            mean_s = self.weather.latency_s(now_s) * crowd
            await asyncio.sleep(mean_s * (0.5 + self._chance.random()))
        finally:
            self.busy -= 1
        self.done.append(asyncio.get_running_loop().time())
        return ReceivedReply("words", Usage(input_tokens=100, output_tokens=10))

    async def aclose(self) -> None:
        """Have nothing to close."""

    def _takes(self, now_s: float) -> bool:
        weather = self.weather
        if any(start <= now_s < end for start, end in weather.storms):
            return False
        if now_s // weather.every_s > self._struck:
            self._struck = now_s // weather.every_s
            return False
        if self.busy >= weather.concurrent or self._chance.random() < weather.unlucky:
            return False
        return weather.a_minute == math.inf or self._has_allowance(now_s)

    def _has_allowance(self, now_s: float) -> bool:
        rate = self.weather.a_minute / 60
        if self.weather.window:
            while self._window and self._window[0] <= now_s - 60:
                self._window.pop(0)
            if len(self._window) >= self.weather.a_minute:
                return False
            self._window.append(now_s)
            return True
        passed_s = now_s - self._level_at_s
        self._level_at_s = now_s
        self._level = min(self.weather.bucket, self._level + passed_s * rate)
        if self._level < 1:
            return False
        self._level -= 1
        return True


@dataclass(frozen=True)
class Spell:
    """How a run fared in some weather."""

    sky: Sky
    until_s: float
    asker: Asker
    failed: int

    @property
    def share(self) -> float:
        """Calls that came back, of what somebody would get who knows every limit."""
        return len(self.sky.done) / self.sky.weather.ideal(self.until_s)

    @property
    def refused(self) -> float:
        """Share of tries that were refused."""
        return len(self.sky.refused) / len(self.sky.sent)


def endure(
    weather: Weather, *, until_s: float = 300.0, lineages: int = 64, seed: int = 0, **settings: Any
) -> Spell:
    """Let lineages ask one call after the other until the time is over."""
    sky = Sky(weather, seed)
    model_settings = {"base_url": "http://127.0.0.1:9/v1", "alias": "far"}
    model = parse_model("openai:far", {**model_settings, **settings.pop("model", {})})
    settings.setdefault("concurrency", 256)
    failed = 0

    async def lineage(asker: Asker, number: int) -> None:
        nonlocal failed
        for ordinal in range(10**6):
            nonce = Nonce(scope=f"v-p{number}", role="contestant", ordinal=ordinal)
            try:
                await asker.ask(model, Request("contestant", "Look.", None, nonce))
            except CallFailed:
                failed += 1

    async def all_lineages() -> Asker:
        asker = Asker(Pages(), load_bytes, make_client=sky, seed=seed, **settings)
        tasks = [asyncio.create_task(lineage(asker, number)) for number in range(lineages)]
        await asyncio.sleep(until_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return asker

    asker = run_virtual(all_lineages())
    return Spell(sky, until_s, asker, failed)
