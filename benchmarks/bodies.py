"""What it costs to send 128 frames: `python -m benchmarks.bodies`.

Three calls take turns through LangChain's clients, to a server in a process of its own: a short
text without frames, 128 frames as the arena sends them, and 128 frames as LangChain alone would.
All CPU time of this process counts. The least of its turns is what a call is held to, since
whatever else the machine does can only add to it. Memory is measured in a new process, with 64
calls under way at once: the highest resident size among many looks, above that of a process which
has made a call before and holds the frames.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.canned import parser_of, resident_mb
from tests.support.film import PROVIDERS, Film, model_at
from tests.support.loopback import Loopback, serving_apart
from videoautoarena.agents.calls.clients import ChatClient, OutgoingCall
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.transport.splice import FrameBytes
from videoautoarena.runs.cli.program.ending import run_async

FRAMES = 128
FRAME_BYTES = 40_000
IN_FLIGHT = 64
PLAIN_IN_FLIGHT = 8
TURNS = 15
FIRST = 3
MOST_TEXT_CALLS = 3.0
LEAST_OF_PLAIN = 8.0
MOST_MB = 1.0
HELD_S = 3.0
"""How long the server holds an answer back while memory is looked at."""


class Cost(NamedTuple):
    """Least CPU milliseconds of one call of each kind."""

    text_ms: float
    shared_ms: float
    plain_ms: float


class Plain(ChatClient):
    """Sends a chat model that nobody gave a transport of ours."""

    @cached_property
    def _chat(self) -> Any:
        if self._model.provider == "openai":
            from langchain_openai import ChatOpenAI

            return ChatOpenAI(
                model=self._model.name,
                api_key=lambda: "none",
                base_url=self._model.url,
                max_retries=0,
                use_responses_api=False,
            )
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(
            model=self._model.name, google_api_key="none", base_url=self._model.url, max_retries=1
        )

    async def aclose(self) -> None:
        """Close its connections."""
        if self._model.provider == "openai":
            await self._chat.root_async_client.close()
        else:
            await self._chat.client.aio.aclose()


async def cost(model: Model, turns: int) -> Cost:
    """Return what each kind of call costs, least of `turns` taken in turn."""
    film = Film(count=FRAMES, size_bytes=FRAME_BYTES)
    shared = ChatClient(model, film.load, FrameBytes(film.load))
    plain = Plain(model, film.load)
    text = OutgoingCall("k" * 64, "judge", "Well?", None)
    whole = OutgoingCall("k" * 64, "judge", "Well?", film.frames)
    kinds = ((shared, text), (shared, whole), (plain, whole))
    took: list[list[float]] = [[] for _ in kinds]
    for turn in range(FIRST + turns):
        for kind, (client, sending) in enumerate(kinds):
            gc.collect()
            began = time.process_time()
            await client.send(sending)
            # The first turns pay for imports, connections and loading.
            if turn >= FIRST:
                took[kind].append((time.process_time() - began) * 1000)
    await shared.aclose()
    await plain.aclose()
    return Cost(*map(min, took))


class Watch:
    """The highest resident size while the block lasts, looked at every two milliseconds."""

    def __enter__(self) -> Watch:
        """Start looking."""
        gc.collect()
        self.base_mb = self.peak_mb = resident_mb()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.002):
            self.peak_mb = max(self.peak_mb, resident_mb())

    def __exit__(self, *_: object) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()


async def megabytes(client: ChatClient, film: Film, calls: int) -> float:
    """Return the megabytes that each of so many calls at once takes beside the shared frames."""
    whole = OutgoingCall("k" * 64, "judge", "Well?", film.frames)
    await client.send(whole)
    with Watch() as watch:
        await asyncio.gather(*(client.send(whole) for _ in range(calls)))
    await client.aclose()
    return (watch.peak_mb - watch.base_mb) / calls


def memory_here(provider: str, url: str, kind: str, calls: str) -> float:
    """Return the megabytes of a call under way, measured in this process."""
    film = Film(count=FRAMES, size_bytes=FRAME_BYTES)
    maker = Plain if kind == "plain" else ChatClient
    client = maker(model_at(provider, url), film.load, FrameBytes(film.load))
    return run_async(megabytes(client, film, int(calls)))


def memory_apart(provider: str, url: str, kind: str, calls: int) -> float:
    """Return the megabytes of a call under way, measured in a new process."""
    module = (sys.executable, "-m", "benchmarks.bodies")
    command = (*module, "--memory-of", provider, url, kind, str(calls))
    return float(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def costs(server: Loopback, turns: int) -> dict[str, Cost]:
    """Return what calls cost with each provider's client."""

    async def each() -> dict[str, Cost]:
        models = {name: model_at(name, server.gemini_url) for name in PROVIDERS}
        return {name: await cost(model, turns) for name, model in models.items()}

    return run_async(each())


def cpu_table(found: dict[str, Cost]) -> list[str]:
    """Return the costs as lines."""
    heads = ("text", "shared", "plain", "shared/text", "plain/shared")
    lines = [f"{'CPU ms a call':<16}" + "".join(f"{head:>14}" for head in heads)]
    for provider, ms in found.items():
        ratios = (ms.shared_ms / ms.text_ms, ms.plain_ms / ms.shared_ms)
        lines.append(f"{provider:<16}" + "".join(f"{number:14.2f}" for number in (*ms, *ratios)))
    return lines


def memory_table(found: dict[tuple[str, str], float], calls: dict[str, int]) -> list[str]:
    """Return the sizes as lines."""
    heads = [f"{kind}, {count} at once" for kind, count in calls.items()]
    lines = ["", f"{'MB a call':<16}" + "".join(f"{head:>20}" for head in heads)]
    for provider in PROVIDERS:
        sizes = [found[provider, kind] for kind in calls]
        lines.append(f"{provider:<16}" + "".join(f"{size:20.2f}" for size in sizes))
    return lines


def broken(found: dict[str, Cost], sizes: dict[tuple[str, str], float]) -> list[str]:
    """Return the bounds that do not hold."""
    lines = []
    for provider in PROVIDERS:
        if sizes[provider, "shared"] > MOST_MB:
            lines.append(f"{provider}: more than {MOST_MB:g} MB a call")
    for provider, ms in found.items():
        if ms.shared_ms > MOST_TEXT_CALLS * ms.text_ms:
            lines.append(f"{provider}: more than {MOST_TEXT_CALLS:g} times a text call")
        if ms.shared_ms * LEAST_OF_PLAIN > ms.plain_ms:
            lines.append(f"{provider}: more than 1/{LEAST_OF_PLAIN:g} of plain LangChain")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if a bound does not hold."""
    parser = parser_of(__doc__, turns=TURNS, in_flight=IN_FLIGHT, held_s=HELD_S)
    parser.add_argument("--memory-alone", action="store_true", help="of the arena's calls, no CPU")
    parser.add_argument("--memory-of", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.memory_of:
        print(json.dumps(memory_here(*options.memory_of)))
        return 0
    calls = {"shared": options.in_flight, "plain": PLAIN_IN_FLIGHT}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        if options.memory_alone:
            del calls["plain"]
        else:
            with serving_apart(log, "--say", "A heron.") as server:
                found = costs(server, options.turns)
            print(*cpu_table(found), sep="\n", flush=True)
        held = ("--latency-s", str(options.held_s), str(options.held_s))
        with serving_apart(log, "--say", "A heron.", *held) as server:
            sizes = {
                (provider, kind): memory_apart(provider, server.gemini_url, kind, count)
                for provider in PROVIDERS
                for kind, count in calls.items()
            }
    print(*memory_table(sizes, calls), sep="\n")
    lost = broken(found, sizes)
    print("", *(lost or ["every bound is kept"]), sep="\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
