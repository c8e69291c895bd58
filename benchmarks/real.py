"""Does structured output make a small model judge? `python -m benchmarks.real`.

SmolLM2-135M, served by llama.cpp on one thread, judges made-up pairs of answers: 400 tokens a
reply, each pair once without structured output and once with `structured = "json_schema"`, in our
own words and read by our own reader. A reply is valid where the judge's contract is kept at the
first ask.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import binomtest

from tests.support.asking import Pages, load_bytes
from tests.support.real_model import NAME, lacking, real_model
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.replies import CUT_OFF, BadReply, read_reply
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.prompting.contracts import judge_reply
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.roles.prompter import Prompter, Task
from videoautoarena.agents.transport.answers import was_cut
from videoautoarena.memory.records.records import Structured
from videoautoarena.runs.cli.program.ending import run_async

TOKENS = 400
SETTINGS: tuple[Structured, ...] = ("off", "json_schema")
PERSONAS = ("A nurse on a break.", "A student of physics.", "A father of two children.")
THINGS = ("lamp", "kettle", "bicycle", "door", "umbrella")
COLOURS = ("red", "blue", "green", "white", "yellow")


class Outcome(NamedTuple):
    """What came of one judging."""

    fault: str
    """Why it cannot be read; empty where it can."""
    is_cut: bool
    seconds: float


def tasks(count: int) -> list[Task]:
    """Return so many judgings, no two alike."""
    pairs = [(a, b) for a, b in itertools.permutations(COLOURS, 2)]
    every = itertools.product(PERSONAS, THINGS, pairs)
    spread = sorted(enumerate(every), key=lambda one: (one[0] * 89) % 300)
    return [
        Task(
            "judge",
            None,
            scope=f"0123456789ab-p{number}-r0",
            texts={
                "persona": persona,
                "question": f"Which colour is the {thing} at the end of the video?",
                "answer_a": f"The {thing} is {first}.",
                "answer_b": f"At the end, in t=8.00s, one sees a {second} {thing} on the left.",
            },
        )
        for number, (_, (persona, thing, (first, second))) in enumerate(spread[:count])
    ]


async def judge(url: str, count: int, tokens: int) -> dict[Structured, list[Outcome]]:
    """Return what came of every judging, by the setting it was asked with."""
    found: dict[Structured, list[Outcome]] = {setting: [] for setting in SETTINGS}
    asker = Asker(Pages(), load_bytes, concurrency=1)
    prompter = Prompter(asker, PromptSet.load())
    try:
        for number, task in enumerate(tasks(count)):
            # In turns, so that the second finds the first one's prompt in the server's cache.
            for setting in SETTINGS:
                model = smollm2(url, setting, tokens=tokens, seed=number)
                found[setting].append(await _outcome(prompter, model, task))
            print(f"{number + 1} of {count}", file=sys.stderr, flush=True)
    finally:
        await asker.aclose()
    return found


def smollm2(url: str, structured: Structured, *, tokens: int, seed: int) -> Model:
    """Return the model as it is asked."""
    drawn = {"max_tokens": tokens, "temperature": 0.7, "seed": seed}
    settings = {"base_url": url, "parameters": drawn, "max_frames": 0, "timeout_s": 900.0}
    return parse_model(NAME, {**settings, "structured": structured})


async def _outcome(prompter: Prompter, model: Model, task: Task) -> Outcome:
    began_s = time.monotonic()
    row = await prompter.ask_row(model, task, judge_reply(2))
    took_s = time.monotonic() - began_s
    fault = ""
    try:
        read_reply(row.reply or "", judge_reply(2), ending=row.ending)
    except BadReply as wrong:
        said = str(wrong).removeprefix(f"{CUT_OFF}; ")
        fault = said.partition(";")[0].partition(":")[0]
    return Outcome(fault, was_cut(row.ending), took_s)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the shares; 1 where structured output did not raise them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=40, help="pairs of answers")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="most tokens of a reply")
    chosen = parser.parse_args(argv)
    if reason := lacking():
        print(reason, file=sys.stderr)
        return 1
    with real_model() as server:
        found = run_async(judge(server.url, chosen.n, chosen.tokens))
    print(f"SmolLM2-135M as judge, {chosen.tokens} tokens a reply, {chosen.n} pairs of answers")
    print(f"{'structured':12} {'valid':>9} {'share':>6} {'95 %':>12} {'cut off':>8} {'s each':>7}")
    shares = {setting: _print_share(setting, outcomes) for setting, outcomes in found.items()}
    is_kept = shares["json_schema"] > shares["off"]
    print(f"more valid replies with a schema than without: {'' if is_kept else 'NOT '}kept")
    return int(not is_kept)


def _print_share(setting: Structured, outcomes: Sequence[Outcome]) -> float:
    """Print what came of the judgings with one setting; return the share that can be read."""
    count = len(outcomes)
    valid = sum(not one.fault for one in outcomes)
    low, high = binomtest(valid, count).proportion_ci(method="wilson")
    cut = sum(one.is_cut for one in outcomes)
    seconds = sum(one.seconds for one in outcomes) / count
    print(
        f"{setting:12} {f'{valid} of {count}':>9} {valid / count:6.2f} "
        f"{f'{low:.2f} to {high:.2f}':>12} {cut:8} {seconds:7.1f}"
    )
    for fault, times in Counter(one.fault for one in outcomes if one.fault).most_common(3):
        print(f"{'':12} {times} x {fault}")
    return valid / count


if __name__ == "__main__":
    sys.exit(main())
