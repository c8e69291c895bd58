"""CPU that a question of a bench costs beside the models: `python -m benchmarks.playing`.

A question is one answer, asked for and judged by both references; a judge of every tenth rules from
both seats. With `--anchor` it is two answers, compared from both seats; with `--tasks` it is one
answer, a letter among four. The models answer at once and frames are digests only; prompts, keys,
parsing, journal, store and the written result are those of `arena bench run`. Then all of it is
repeated, as the same command does, which asks nobody. All CPU time of the process counts. Of tasks
memory is looked at as well, after a fifth of them and at the end.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.canned import USAGE, Canned, keep, no_bytes, parser_of, resident_mb, run_frames
from benchmarks.freezing import lay_run
from tests.support.task_sets import choice, write_set
from videoautoarena.agents.calls.ask import Asker
from videoautoarena.agents.calls.clients import OutgoingCall, ReceivedReply
from videoautoarena.agents.prompting.fences import LETTERS
from videoautoarena.agents.roles.prompter import Prompter
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import write_result
from videoautoarena.runs.bench.freeze.freeze import freeze
from videoautoarena.runs.bench.play.calls import begin_calls, load_prompts, own_prompts
from videoautoarena.runs.bench.play.cast import BenchCast, CastRequest, Player
from videoautoarena.runs.bench.play.game import Game, Outcome
from videoautoarena.runs.bench.play.plan import look_ahead
from videoautoarena.runs.bench.play.rules import PreferenceRules, Rules
from videoautoarena.runs.bench.play.tally import BenchTally
from videoautoarena.runs.bench.play.tasks import TaskRules
from videoautoarena.runs.bench.play.videos import BenchVideos
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.run.rundir.budget import Budget
from videoautoarena.runs.run.rundir.context import work_off
from videoautoarena.runs.run.rundir.frames import RunFrames

BOUND_MS = 5.0
TASK_BOUND_MS = 4.0
ITEMS = 3_000
TASKS = 10_000
TASKS_A_VIDEO = 12
MOST_GROWTH_KB = 4.0
"""Of memory, an item: what is held of it until the result is written."""
AT_ONCE = 32
"""Model calls under way at once."""


class Chooser(Canned):
    """Stands where a chat model's client stands, and names an option."""

    async def send(self, sending: OutgoingCall) -> ReceivedReply:
        """Return a letter, without looking at a frame."""
        return ReceivedReply(text=f"({LETTERS[len(sending.text) % 4]})", usage=USAGE, ending="stop")


class Cost(NamedTuple):
    """What one bench took."""

    played_ms: float
    """CPU, a question, and so below."""
    repeated_ms: float
    growth_kb: float
    """Memory, a question, after the first fifth of them."""


async def play(bench: OpenBench[Any], store: Store, rules: Rules, wanted: CastRequest) -> Cost:
    """Return what playing a bench takes, and repeating it."""
    cast = rules.cast(bench, wanted)
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
        make_client=Chooser if cast.marking is not None else Canned,
        spend_cap=budget.spend_cap,
        estimates=budget.estimates,
    )
    game = _game(rules, asker, store, cast=cast, films=films)
    tally = BenchTally(total=len(bench.items))
    jobs = [(item, player) for item in bench.items for player in cast.players]
    outcomes: dict[tuple[str, str], Outcome] = {}
    fifth = len(jobs) // 5
    seen_mb = list[float]()

    async def settle(job: tuple[Any, Player]) -> None:
        item, player = job
        outcome = outcomes[player.name, item.qid] = await game.play(item, player)
        tally.settle(outcome, player.name)
        if len(outcomes) == fifth:
            seen_mb.append(resident_mb())

    await work_off(jobs, settle, workers=2 * AT_ONCE)
    grown_mb = resident_mb() - min(seen_mb, default=0.0)
    (result,) = rules.results(bench, cast, bench.items, outcomes, prompts=own_prompts(store))
    write_result(bench, result)
    played = time.process_time() - began
    again = time.process_time()
    repeating = Asker(store.journal, no_bytes, is_replay=True)
    replay = _game(rules, repeating, store, cast=cast, films=films)
    left = await look_ahead(rules.unknown, replay, cast, items=bench.items, films=films)
    repeated = time.process_time() - again
    if left.known != len(bench.items) or tally.voids or tally.forfeits:
        raise RuntimeError(f"{left.known} of {len(bench.items)} known, {tally}")
    count = len(bench.items)
    growth_kb = grown_mb * 1000 / max(1, count - fifth)
    return Cost(played * 1000 / count, repeated * 1000 / count, growth_kb)


def _game(
    rules: Rules, asker: Asker, store: Store, *, cast: BenchCast, films: BenchVideos
) -> Game[Any]:
    videos = films.videos
    sampling = cast.config.sampling
    shown = RunFrames(store, None, files={}, sampling=sampling, videos=videos)
    prompter = Prompter(asker, own_prompts(store), cast.config.seed)
    return rules.game(cast, prompter, shown, films)


def lay_tasks(folder: Path, count: int) -> OpenBench[Any]:
    """Write a set of so many items of choice about videos that lie nowhere, and return it."""
    videos = [run_frames(k // TASKS_A_VIDEO)[0].id for k in range(count)]
    return write_set(folder, [choice(video, k) for k, video in enumerate(videos)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what a question costs; return 1 if that is more than the bound."""
    parser = parser_of(__doc__, items=0)
    parser.add_argument("--anchor", action="store_true", help="hold them against an anchor")
    parser.add_argument("--tasks", action="store_true", help="items of choice, with a key")
    given = parser.parse_args(arguments)
    items = given.items or (TASKS if given.tasks else ITEMS)
    anchor = "openai:held" if given.anchor else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rules = TaskRules() if given.tasks else PreferenceRules()
        judges = () if given.tasks else ("openai:referee",)
        wanted = CastRequest(("openai:player",), judges, anchor=anchor)
        if given.tasks:
            bench = lay_tasks(folder / "bench", items)
        else:
            lay_run(folder / "out", items)
            freeze(folder / "out", folder / "bench")
            bench = open_bench(folder / "bench")
        with begin_calls(bench, load_prompts()) as store:
            cost = run_async(play(bench, store, rules, wanted))
    print(f"playing {items} questions, ms CPU each    {cost.played_ms:8.2f}")
    print(f"repeating them, ms CPU each         {cost.repeated_ms:8.2f}")
    bound_ms = TASK_BOUND_MS if given.tasks else BOUND_MS
    kept = keep(f"at most {bound_ms:g} ms", cost.played_ms <= bound_ms)
    if given.tasks:
        print(f"memory after a fifth, KB an item    {cost.growth_kb:8.2f}")
        kept &= keep(f"at most {MOST_GROWTH_KB:g} KB", cost.growth_kb <= MOST_GROWTH_KB)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
