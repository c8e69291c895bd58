"""What prompt caches save when one call a prefix goes first: `python -m benchmarks.prefixes`.

A server of OpenAI's protocol keeps the beginnings of prompts and states what was read and written:
before GPT-5.6 as the longest beginning, written for nothing, since then up to a mark, at 1.25 times
the price of input. Reading costs a tenth of it. A prefix, all of a body up to the end of its last
frame, can be read once the reply to a call that wrote it has begun. Runs of `simulate` play the
same battles there, with and without the mark behind the last frame, with and without a first call
that the others wait for; that is, each kind of wait stands beside what it saves.

A call waits for one first call at most where each prefix is written once, and never longer than
that call takes. Both are counted; seconds are only printed.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.canned import keep, parser_of
from tests.support.clips import draw_folder
from tests.support.prompt_caches import Matching, PromptCache, bill_usd, serving_openai
from tests.support.small_runs import play
from tests.support.whole_runs import opened
from videoautoarena.agents.limits.prefixes import CachePrefix
from videoautoarena.memory.records.records import Price

CLIPS = 12
ROUNDS = 3
SECONDS = 24.0
"""Of each clip, which give it 128 frames."""
LATENCY_S = 0.2
PRICES: dict[Matching, Price] = {
    "beginnings": Price(input_usd=2.5, cached_usd=0.25, output_usd=10),
    "marks": Price(input_usd=2.5, cached_usd=0.25, written_usd=3.125, output_usd=10),
}
MODELS: dict[Matching, tuple[str, ...]] = {
    "beginnings": ("gpt-5.5", "gpt-4o", "gpt-4.1", "gpt-5"),
    "marks": ("gpt-5.6", "gpt-5.7", "gpt-5.8", "gpt-5.9"),
}
"""The referee and three contestants of servers with either kind of cache."""


class Way(NamedTuple):
    """How a run is played."""

    matching: Matching
    has_mark: bool
    has_leader: bool


WAYS = (
    Way("beginnings", has_mark=False, has_leader=False),
    Way("beginnings", has_mark=False, has_leader=True),
    Way("marks", has_mark=False, has_leader=False),
    Way("marks", has_mark=False, has_leader=True),
    Way("marks", has_mark=True, has_leader=False),
    Way("marks", has_mark=True, has_leader=True),
)


@dataclass
class Waits:
    """What calls waited for others to go first."""

    seconds: list[float] = field(default_factory=list)


class Bill(NamedTuple):
    """What a run came to."""

    calls: int
    prefixes: int
    misses: int
    usd: float
    said_usd: float
    """What the run says that it cost."""
    waits_s: list[float]
    longest_call_s: float
    wall_s: float


@contextmanager
def watching() -> Iterator[Waits]:
    """Give what calls wait for others within the block."""
    waits = Waits()
    opened_ = CachePrefix.opened

    async def timed(prefix: CachePrefix, longest_s: float) -> float:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        left_s = await opened_(prefix, longest_s)
        waits.seconds.append(loop.time() - began_s)
        return left_s

    with patch.object(CachePrefix, "opened", timed):
        yield waits


def _config(file: Path, way: Way) -> Path:
    price = PRICES[way.matching].model_dump(exclude={"source"}, exclude_none=True)
    said = ", ".join(f"{name} = {value}" for name, value in price.items())
    tables = [
        f'[models."{name}"]\nmodel = "openai:{name}"\nprice = {{ {said} }}\n'
        f"cache_breakpoint = {str(way.has_mark).lower()}\n"
        for name in MODELS[way.matching]
    ]
    file.write_text("\n".join(tables), encoding="utf-8")
    return file


def played(way: Way, clips: Path, folder: Path, *, rounds: int, latency_s: float) -> Bill:
    """Play a run and return what it came to."""
    folder.mkdir()
    cache = PromptCache(way.matching, latency_s=latency_s)
    referee, *contestants = MODELS[way.matching]
    flags = {
        "models": tuple(contestants),
        "examiner": referee,
        "judge": (referee,),
        "rounds": rounds,
        "config": _config(folder / "arena.toml", way),
    }
    is_cached = "videoautoarena.agents.limits.prefixes.caching_of"
    began_s = time.perf_counter()
    with serving_openai(cache), watching() as waits:
        if way.has_leader:
            finished = play(clips, folder / "out", **flags)
        else:
            with patch(is_cached, lambda _model, _frames: "none"):
                finished = play(clips, folder / "out", **flags)
    wall_s = time.perf_counter() - began_s
    if finished.voids:
        raise RuntimeError(f"{finished} is no whole run")
    with opened(folder / "out") as file:
        said = "SELECT sum(body ->> 'cost_usd'), max(body ->> 'latency_s') FROM calls"
        said_usd, longest_s = file.execute(said).fetchone()
    return Bill(
        len(cache.usages),
        len(cache.calls),
        cache.misses.total(),
        bill_usd(cache.usages, PRICES[way.matching]),
        said_usd,
        waits.seconds,
        longest_s,
        wall_s,
    )


def row(way: Way, bill: Bill) -> str:
    """Return a line about a run."""
    mark = "mark" if way.has_mark else "-"
    leader = "leader" if way.has_leader else "-"
    waited_s = sum(bill.waits_s)
    return (
        f"{way.matching:12}{mark:>6}{leader:>8}{bill.calls:8}{bill.prefixes:10}{bill.misses:8}"
        f"{bill.usd:10.3f}{len(bill.waits_s):8}{waited_s:10.1f}{max(bill.waits_s, default=0):8.2f}"
        f"{bill.longest_call_s:8.2f}{bill.wall_s:8.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a bound does not hold."""
    figures = {"clips": CLIPS, "rounds": ROUNDS, "seconds": SECONDS, "latency_s": LATENCY_S}
    options = parser_of(__doc__, **figures).parse_args(arguments)
    print(
        f"{'cache':12}{'':>6}{'':>8}{'calls':>8}{'prefixes':>10}{'misses':>8}{'dollars':>10}"
        f"{'waits':>8}{'wait s':>10}{'longest':>8}{'call s':>8}{'wall s':>8}"
    )
    bills: dict[Way, Bill] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips = draw_folder(folder / "clips", options.clips, seconds=options.seconds)
        for number, way in enumerate(WAYS):
            bills[way] = played(
                way,
                clips,
                folder / str(number),
                rounds=options.rounds,
                latency_s=options.latency_s,
            )
            print(row(way, bills[way]), flush=True)
    return 0 if all([*bounds(bills)]) else 1


def bounds(bills: dict[Way, Bill]) -> Iterator[bool]:
    """Print what is to hold, and yield whether it does."""
    for way, bill in bills.items():
        said = f"{way.matching}, {'mark' if way.has_mark else 'no mark'}: the run's own dollars"
        yield keep(f"{said} {bill.said_usd:.6f}", abs(bill.said_usd - bill.usd) < 1e-6)
        if not way.has_leader:
            continue
        alone = bills[way._replace(has_leader=False)]
        if way.matching == "beginnings" or way.has_mark:
            figure = f"{bill.misses} misses of {bill.prefixes} prefixes"
            yield keep(figure, bill.misses == bill.prefixes)
            share = bill.usd / alone.usd
            yield keep(f"dollars with a leader: {share:.1%} of those without", share < 1)
        first_calls = sum(bill.waits_s) / (len(bill.waits_s) or 1) / bill.longest_call_s
        yield keep(f"a wait takes {first_calls:.2f} of the longest call", first_calls <= 1)
    marked = bills[Way("marks", has_mark=True, has_leader=True)].usd
    share = marked / bills[Way("marks", has_mark=False, has_leader=False)].usd
    yield keep(f"dollars with mark and leader: {share:.1%} of those without", share <= 0.5)


if __name__ == "__main__":
    sys.exit(main())
