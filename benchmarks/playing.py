"""CPU that a question of a bench costs beside the models: `python -m benchmarks.playing`.

A question is one answer, asked for and judged by both references; a judge of every tenth rules from
both seats. With `--anchor` it is two answers, compared from both seats. The models answer at once
and frames are digests only; prompts, keys, parsing, journal, store and the written result are those
of `arena bench run`. Then all of it is repeated, as the same command does, which asks nobody. All
CPU time of the process counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.canned import Canned, keep, no_bytes, parser_of, run_frames
from benchmarks.freezing import lay_run
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import write_result
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play.calls import begin_calls, load_prompts, own_prompts
from videoautoarena.runs.bench.play.cast import BenchCast, Player, Wanted, cast_against
from videoautoarena.runs.bench.play.game import Game, Outcome
from videoautoarena.runs.bench.play.plan import look_ahead, unknown_of
from videoautoarena.runs.bench.play.rules import PreferenceRules
from videoautoarena.runs.bench.play.tally import BenchTally, results_of
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.cli.ending import run_async
from videoautoarena.runs.rundir.budget import Budget
from videoautoarena.runs.rundir.context import work_off
from videoautoarena.runs.rundir.frames import RunFrames

BOUND_MS = 5.0
ITEMS = 3_000
AT_ONCE = 32
"""Model calls under way at once."""


async def play(bench: OpenBench, store: Store, anchor: str | None) -> tuple[float, float]:
    """Return CPU milliseconds a question of playing a bench, and of repeating it."""
    wanted = Wanted(("openai:player",), ("openai:referee",), anchor=anchor)
    cast = cast_against(bench, wanted)
    shown = dict(run_frames(k) for k in range(len(bench.manifest.videos)))
    store.add_videos(shown)
    for frames in shown.values():
        await store.put_frames(frames)
    videos = {video.id: video for video in shown}
    films = BenchVideos(videos, {}, {}, frozenset(), None)
    began = time.process_time()
    budget = Budget.of(store, cast.config)
    asker = Asker(
        store.journal,
        no_bytes,
        concurrency=AT_ONCE,
        make_client=Canned,
        spend_cap=budget.spend_cap,
        estimates=budget.estimates,
    )
    game = _game(asker, store, cast, films)
    tally = BenchTally(len(bench.items))
    jobs = [(item, player) for item in bench.items for player in cast.players]
    outcomes: dict[tuple[str, str], Outcome] = {}

    async def settle(job: tuple[Item, Player]) -> None:
        item, player = job
        outcome = outcomes[player.name, item.qid] = await game.play(item, player)
        tally.count(outcome, player.name)

    await work_off(jobs, settle, workers=2 * AT_ONCE)
    (result,) = results_of(bench, cast, bench.items, outcomes, prompts=own_prompts(store))
    write_result(bench, result)
    played = time.process_time() - began
    again = time.process_time()
    replay = _game(Asker(store.journal, no_bytes, is_replay=True), store, cast, films)
    left = await look_ahead(unknown_of, replay, cast, items=bench.items, films=films)
    repeated = time.process_time() - again
    if left.known != len(bench.items) or tally.voids or tally.forfeits:
        raise RuntimeError(f"{left.known} of {len(bench.items)} known, {tally}")
    return played * 1000 / len(bench.items), repeated * 1000 / len(bench.items)


def _game(asker: Asker, store: Store, cast: BenchCast, films: BenchVideos) -> Game[Any]:
    videos, sampling = films.videos, cast.config.sampling
    shown = RunFrames(store, None, files={}, sampling=sampling, videos=videos)
    prompter = Prompter(asker, own_prompts(store), cast.config.seed)
    return PreferenceRules().game(cast, prompter, shown, films)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what a question costs; return 1 if that is more than the bound."""
    parser = parser_of(__doc__, items=ITEMS)
    parser.add_argument("--anchor", action="store_true", help="hold them against an anchor")
    given = parser.parse_args(arguments)
    items, anchor = given.items, "openai:held" if given.anchor else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_run(folder / "out", items)
        freeze(folder / "out", folder / "bench")
        bench = open_bench(folder / "bench")
        with begin_calls(bench, load_prompts()) as store:
            played, repeated = run_async(play(bench, store, anchor))
    print(f"playing {items} questions, ms CPU each    {played:8.2f}")
    print(f"repeating them, ms CPU each         {repeated:8.2f}")
    return 0 if keep(f"at most {BOUND_MS:g} ms", played <= BOUND_MS) else 1


if __name__ == "__main__":
    sys.exit(main())
