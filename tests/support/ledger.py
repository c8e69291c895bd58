"""A stand-in for a server's bill: calls of a run with heavy-tailed replies, whatever a plan says.

Nothing here reads a plan. Replies are log-normal, a video makes all calls about it longer or
shorter, tries are paid for that bring no reply, and caches forget at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from videoautoarena.memory.records.records import Attempt, CallRow, Nonce, Role, Usage

FRAMES = 32
FRAME_TOKENS = 250
REPLIES: dict[Role, float] = {
    "examiner": 900,
    "persona": 700,
    "questioner": 120,
    "contestant": 300,
    "judge": 800,
    "evolver": 500,
    "grader": 300,
}
TEXTS: dict[Role, float] = {
    "examiner": 500,
    "persona": 1_100,
    "questioner": 1_000,
    "contestant": 200,
    "judge": 1_700,
    "evolver": 2_900,
    "grader": 800,
}


@dataclass(frozen=True)
class Ledger:
    """A server that bills."""

    models: tuple[str, ...]
    examiner: str
    prices: dict[str, tuple[float, float, float, float]]
    """Name to dollars a million: fresh input, read from a cache, written to one, output."""
    endpoint: str
    is_cached: bool = False
    thought: float = 1.0
    """How many times as many tokens as it says a model takes to reply."""
    share: float = 1.0
    """What of the price is billed: half of it for batches."""
    seed: int = 0

    def run(self, videos: int, rounds: int, *, name: int) -> list[CallRow]:
        """Return the calls of a run, of which each is different by its `name`."""
        chance = np.random.default_rng([self.seed, name])
        return [row for video in range(videos) for row in self._video(chance, name, video, rounds)]

    def answers(self, videos: int, questions: int, *, name: int) -> list[CallRow]:
        """Return the calls of a job: answers to questions, each judged once."""
        chance = np.random.default_rng([self.seed, name])
        rows = []
        for video in range(videos):
            of_video = _OfVideo(self, chance, f"{name:06x}{video:06x}")
            for question in range(questions):
                rows += of_video.call(self.models[0], "contestant", question)
                rows += of_video.call(self.examiner, "judge", question)
        return rows

    def usd(self, rows: list[CallRow]) -> float:
        """Return what is billed for calls, all their tries together."""
        return sum(self._usd(row.alias, one.usage) for row in rows for one in row.tries)

    def _usd(self, alias: str, usage: Usage) -> float:
        fresh_usd, read_usd, written_usd, output_usd = self.prices[alias]
        read = usage.cached_tokens or 0
        written = usage.written_tokens or 0
        fresh = (usage.input_tokens or 0) - read - written
        sums = fresh * fresh_usd + read * read_usd + written * written_usd
        return self.share * (sums + (usage.output_tokens or 0) * output_usd) / 1e6

    def _video(
        self, chance: np.random.Generator, name: int, video: int, rounds: int
    ) -> Iterator[CallRow]:
        of_video = _OfVideo(self, chance, f"{name:06x}{video:06x}")
        yield from of_video.call(self.examiner, "examiner", 0)
        yield from of_video.call(self.examiner, "persona", 0)
        for slot in range(3 * rounds):
            if slot % rounds == 0:
                yield from of_video.call(self.examiner, "questioner", slot)
            else:
                for ask in range(1 + (chance.random() < 0.3)):
                    yield from of_video.call(self.examiner, "evolver", slot, ask)
                    yield from of_video.call(self.examiner, "grader", slot, ask)
            for alias in chance.permutation(self.models)[:2]:
                yield from of_video.call(str(alias), "contestant", slot)
            for seating in range(1 + (chance.random() < 0.1)):
                yield from of_video.call(self.examiner, "judge", slot, seating)


class _OfVideo:
    """Calls about one video."""

    def __init__(self, ledger: Ledger, chance: np.random.Generator, video: str) -> None:
        self._ledger = ledger
        self._chance = chance
        self._video = video
        # What a video shows makes all replies about it longer, and its frames heavier.
        self._wordy = float(chance.lognormal(0, 0.3))
        self._heavy = float(chance.lognormal(0, 0.1))
        self._seen: set[str] = set()

    def call(self, alias: str, role: Role, slot: int, ask: int = 0) -> Iterator[CallRow]:
        """Yield a call, and its repair if its reply has no form."""
        repairs = role != "contestant" and self._chance.random() < 0.03
        for ordinal in (2 * ask, *([2 * ask + 1] if repairs else [])):
            usage = self._usage(alias, role)
            # Paid for, and empty.
            tries = [self._usage(alias, role)] if self._chance.random() < 0.03 else []
            more: dict[str, Any] = {"kind": "empty", "reason": "", "waited_s": 1.0}
            yield CallRow(
                key=f"{self._video} {alias} {role} {slot} {ordinal}",
                nonce=Nonce(scope=f"{self._video}-p1-r{slot}", role=role, ordinal=ordinal),
                model=f"openai:{alias}",
                alias=alias,
                endpoint=self._ledger.endpoint,
                prompt="",
                reply="yes",
                usage=usage,
                frames=FRAMES,
                latency_s=2 + (usage.output_tokens or 0) / 60,
                attempts=tuple(Attempt(**more, usage=one) for one in tries),
            )

    def _usage(self, alias: str, role: Role) -> Usage:
        chance = self._chance
        # A heavy tail: one reply in twenty has 3.5 times the median, and one in a hundred six.
        written = REPLIES[role] * self._wordy * chance.lognormal(-0.28, 0.75)
        thought = written * (self._ledger.thought - 1) * chance.lognormal(-0.125, 0.5)
        frames = round(FRAMES * FRAME_TOKENS * self._heavy)
        read = frames + round(TEXTS[role] * chance.lognormal(0, 0.1))
        is_known = alias in self._seen and chance.random() < 0.9
        self._seen.add(alias)
        cached = frames if self._ledger.is_cached and is_known else 0
        put = frames if self._ledger.is_cached and not is_known else 0
        return Usage(
            input_tokens=read,
            output_tokens=round(written + thought),
            cached_tokens=cached,
            written_tokens=put,
            reasoning_tokens=round(thought),
        )
