"""What prompt caches save when one call a prefix goes first: `python -m benchmarks.prefixes`.

Servers of OpenAI's and Anthropic's protocols keep the beginnings of prompts and state what was read
and written: OpenAI's before GPT-5.6 the longest beginning, written for nothing, since then up to a
mark, or all where none is, at 1.25 times the price of input; Claude's, at Anthropic or OpenRouter,
up to a mark alone, at 1.25 times the price as well. Reading costs a tenth of it. A prefix, all of a
body up to the end of its last frame, can be read once the reply to a call that wrote it has begun.
Runs of `simulate` play the same battles there, with and without the mark at the last frame, with
and without a first call that the others wait for; that is, each kind of wait stands beside what it
saves. Once Claude is held to the schema of each role, which stands before the frames. One model is
referee in all its roles, three more of its server are contestants.

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
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.canned import keep, parser_of
from tests.support.clips import draw_folder
from tests.support.prompt_caches import Matching, PromptCache, bill_usd, serving_as
from tests.support.small_runs import play
from tests.support.whole_runs import opened
from videoautoarena.agents.limits.prefixes import CachePrefix
from videoautoarena.agents.providers.base import Provider
from videoautoarena.agents.providers.catalogue import BUILT_IN
from videoautoarena.agents.providers.openai import OPENAI
from videoautoarena.memory.records.records import Price

CLIPS = 12
ROUNDS = 3
SECONDS = 24.0
"""Of each clip, which give it 128 frames."""
LATENCY_S = 0.2


class CachedServer(NamedTuple):
    """A provider whose servers keep prompts, and what is played there."""

    provider: Provider
    matching: Matching
    models: tuple[str, ...]
    """The referee and three contestants."""
    price: Price
    """What the server charges for all of them."""
    frame_tokens: int = 255


_GPT = Price(input_usd=2.5, cached_usd=0.25, output_usd=10)
_CLAUDE = Price(input_usd=3, cached_usd=0.3, written_usd=3.75, output_usd=15)
_CLAUDES = ("claude-sonnet-4-6", "claude-opus-4-6", "claude-opus-4-7", "claude-haiku-4-5")
SERVERS = {
    "GPT-5.5": CachedServer(OPENAI, "beginnings", ("gpt-5.5", "gpt-4o", "gpt-4.1", "gpt-5"), _GPT),
    "GPT-5.6": CachedServer(
        OPENAI,
        "marks",
        ("gpt-5.6", "gpt-5.7", "gpt-5.8", "gpt-5.9"),
        _GPT.model_copy(update={"written_usd": 3.125}),
    ),
    "Claude": CachedServer(
        BUILT_IN["anthropic"], "cache_control", _CLAUDES, _CLAUDE, frame_tokens=350
    ),
    "OpenRouter": CachedServer(
        BUILT_IN["openrouter"],
        "cache_control",
        tuple(f"anthropic/{name}" for name in _CLAUDES),
        _CLAUDE,
        frame_tokens=350,
    ),
}


class Way(NamedTuple):
    """How a run is played."""

    server: str
    has_mark: bool
    has_leader: bool
    has_schema: bool = False
    """Whether replies are held to the schema of each role."""


WAYS = (
    Way("GPT-5.5", has_mark=False, has_leader=False),
    Way("GPT-5.5", has_mark=False, has_leader=True),
    *(
        Way(server, has_mark, has_leader)
        for server in ("GPT-5.6", "Claude", "OpenRouter")
        for has_mark in (False, True)
        for has_leader in (False, True)
    ),
    Way("Claude", has_mark=True, has_leader=False, has_schema=True),
    Way("Claude", has_mark=True, has_leader=True, has_schema=True),
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
    referee_usd: float
    """What of it the referee's calls came to."""
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
    server = SERVERS[way.server]
    price = server.price.model_dump(exclude={"source"}, exclude_none=True)
    said = ", ".join(f"{name} = {value}" for name, value in price.items())
    tables = [
        f'[models."{_alias(name)}"]\nmodel = "{server.provider.name}:{name}"\n'
        f"price = {{ {said} }}\ncache_breakpoint = {str(way.has_mark).lower()}\n"
        f'structured = "{"json_schema" if way.has_schema else "off"}"\n'
        for name in server.models
    ]
    file.write_text("\n".join(tables), encoding="utf-8")
    return file


def _alias(name: str) -> str:
    return name.rpartition("/")[2]


def played(way: Way, clips: Path, folder: Path, *, rounds: int, latency_s: float) -> Bill:
    """Play a run and return what it came to."""
    folder.mkdir()
    server = SERVERS[way.server]
    cache = PromptCache(server.matching, server.frame_tokens, latency_s)
    referee, *contestants = map(_alias, server.models)
    play_it = partial(
        play,
        clips,
        folder / "out",
        models=tuple(contestants),
        examiner=referee,
        judge=(referee,),
        rounds=rounds,
        config=_config(folder / "arena.toml", way),
    )
    is_cached = "videoautoarena.agents.limits.prefixes.caching_of"
    began_s = time.perf_counter()
    with serving_as(server.provider, cache), watching() as waits:
        if way.has_leader:
            finished = play_it()
        else:
            with patch(is_cached, lambda _model, _frames: "none"):
                finished = play_it()
    wall_s = time.perf_counter() - began_s
    if finished.voids:
        raise RuntimeError(f"{finished} is no whole run")
    with opened(folder / "out") as file:
        said = "SELECT sum(body ->> 'cost_usd'), max(body ->> 'latency_s') FROM calls"
        said_usd, longest_s = file.execute(said).fetchone()
    usages = [usage for of in cache.usages.values() for usage in of]
    return Bill(
        len(usages),
        len(cache.calls),
        cache.misses.total(),
        bill_usd(usages, server.price),
        bill_usd(cache.usages[server.models[0]], server.price),
        said_usd,
        waits.seconds,
        longest_s,
        wall_s,
    )


def row(way: Way, bill: Bill) -> str:
    """Return a line about a run."""
    mark = "mark" if way.has_mark else "-"
    leader = "leader" if way.has_leader else "-"
    server = f"{way.server}, held" if way.has_schema else way.server
    waited_s = sum(bill.waits_s)
    longest_s = max(bill.waits_s, default=0)
    return (
        f"{server:12}{mark:>6}{leader:>8}{bill.calls:8}{bill.prefixes:10}{bill.misses:8}"
        f"{bill.usd:10.3f}{bill.referee_usd:10.3f}{len(bill.waits_s):8}{waited_s:10.1f}"
        f"{longest_s:8.2f}{bill.longest_call_s:8.2f}{bill.wall_s:8.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a bound does not hold."""
    figures = {"clips": CLIPS, "rounds": ROUNDS, "seconds": SECONDS, "latency_s": LATENCY_S}
    options = parser_of(__doc__, **figures).parse_args(arguments)
    print(
        f"{'cache':12}{'':>6}{'':>8}{'calls':>8}{'prefixes':>10}{'misses':>8}{'dollars':>10}{'referee':>10}"
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
        said = f"{way.server}, {'mark' if way.has_mark else 'no mark'}: the run's own dollars"
        yield keep(f"{said} {bill.said_usd:.6f}", abs(bill.said_usd - bill.usd) < 1e-6)
        if not way.has_leader:
            continue
        alone = bills[way._replace(has_leader=False)]
        if way.has_mark or SERVERS[way.server].matching == "beginnings":
            figure = f"{bill.misses} misses of {bill.prefixes} prefixes"
            yield keep(figure, bill.misses == bill.prefixes)
            share = bill.usd / alone.usd
            yield keep(f"dollars with a leader: {share:.1%} of those without", share < 1)
        first_calls = sum(bill.waits_s) / (len(bill.waits_s) or 1) / bill.longest_call_s
        yield keep(f"a wait takes {first_calls:.2f} of the longest call", first_calls <= 1)
        if way.has_mark and not way.has_schema:
            unmarked = bills[Way(way.server, has_mark=False, has_leader=False)]
            share = bill.usd / unmarked.usd
            figure = f"{way.server}, dollars with mark and leader: {share:.1%} of those without"
            yield keep(figure, share <= 0.5)


if __name__ == "__main__":
    sys.exit(main())
