"""Is the known order of the stand-ins found again, by round-robin from both seats?

Five fixed seeds over one folder of videos; every battle is real: frames, prompts, journal, judge.
hawk, owl, mole and terse are the same code and see 64, 16, 4 and 8 frames; blind sees none, parrot
says one thing, windbag pads terse's answer, trickster adds words for the judge to it.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from videoautoarena.agents.offline.players.scoring import asked_right, read_share
from videoautoarena.agents.offline.vision.frame_features import ReceivedFrame, picture
from videoautoarena.memory.records.records import DECIDED, Battle, Sampling, Video
from videoautoarena.runs.api.simulate import simulate
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RunReader, open_run
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.cache import FrameCache
from videoautoarena.video.synth.samples import make_samples

KINDS = ("hawk", "owl", "mole", "blind", "parrot", "terse", "windbag", "trickster")
CAST = tuple(f"offline:{kind}" for kind in KINDS)
SEEDS = (11, 12, 13, 14, 15)
AT_LEAST = 135
"""Battles a seed."""


@dataclass
class Pool:
    """The battles of all seeds, and what was measured on them."""

    seeds: list[list[Battle]] = field(default_factory=list)
    right: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    understood: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def battles(self) -> list[Battle]:
        """All battles, their ids made distinct by seed."""
        return [battle for battles in self.seeds for battle in battles]


def main() -> int:
    """Run the tournaments, print the tables, return 1 where the order was not found again."""
    parser = argparse.ArgumentParser(prog="benchmarks.order", description=__doc__)
    parser.add_argument("--videos", type=Path, help="real clips; the samples where not given")
    parser.add_argument("--samples", type=Path, help="where the samples lie, or are made and stay")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many of the five")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        clips = options.videos or options.samples or place / "samples"
        if options.videos is None:
            make_samples(clips)
        pool = measure(clips, place, SEEDS[: options.seeds])
    print_tables(pool)
    return print_claims(pool, is_real=options.videos is not None)


def measure(clips: Path, place: Path, seeds: Sequence[int]) -> Pool:
    """Play each seed and measure each answer against the judge's own frames."""
    pool = Pool()
    videos = len(find_videos(clips).videos)
    rounds = max(3, math.ceil(AT_LEAST / (3 * videos)))
    for seed in seeds:
        out = place / f"seed-{seed}"
        flags = RunRequest(models=CAST, rounds=rounds, seed=seed, pairing="round-robin", swap="all")
        asyncio.run(
            simulate(flags.model_copy(update={"videos": clips, "out": out}), say=lambda _line: None)
        )
        with open_run(out) as run:
            battles = list(run.battles)
            pool.seeds.append(battles)
            pictures = {v.id: _pictures(run, v) for v in run.store.videos()}
            for battle in battles:
                _measure_answers(pool, battle, pictures[battle.video])
        print(f"seed {seed}: {len(pool.seeds[-1])} battles on {videos} videos", file=sys.stderr)
    return pool


def _pictures(run: RunReader, video: Video) -> list[ReceivedFrame]:
    """Return the frames that the judge of a run was sent."""
    found = run.store.frames(video.id)
    frames = found.frames if found else ()
    sampling = Sampling.model_validate(run.manifest["sampling"])
    jpegs = FrameCache().jpegs(video.sha256, sampling, [frame.digest for frame in frames])
    return [
        picture(round(frame.time_s, 2), base64.b64encode(jpeg).decode())
        for frame, jpeg in zip(frames, jpegs, strict=True)
    ]


def _measure_answers(pool: Pool, battle: Battle, pictures: Sequence[ReceivedFrame]) -> None:
    for model, answer in ((battle.model_a, battle.answer_a), (battle.model_b, battle.answer_b)):
        if model and answer and battle.question:
            pool.right[model, battle.round].append(asked_right(answer, battle.question, pictures))
            pool.understood[model].append(
                read_share(answer, battle.question, duration_s=pictures[-1].time_s)
            )


def print_tables(pool: Pool) -> None:
    """Print ratings, head-to-head shares, asked facts got right, gate and reading."""
    for seed, battles in zip(SEEDS, pool.seeds, strict=False):
        print(f"seed {seed}  {_ladder(ratings(battles))}")
    print(f"pooled   {_ladder(ratings(pool.battles))}  ({len(pool.battles)} battles)\n")
    _print_shares(pool.battles)
    _print_right(pool)
    attempts = [attempt for battle in pool.battles for attempt in battle.evolution]
    passed = sum(attempt.accepted for attempt in attempts) / max(1, len(attempts))
    voids = sum(battle.verdict == "void" for battle in pool.battles)
    splits = sum(battle.verdict == "split" for battle in pool.battles)
    print(f"the gate passed {passed:.0%} of {len(attempts)} evolved questions;", end=" ")
    print(f"{voids} void, {splits} split of {len(pool.battles)} battles")
    shares = ", ".join(f"{_short(m)} {_mean(pool.understood[m]):.2f}" for m in CAST)
    print(f"share of statements understood: {shares}\n")


def ratings(battles: Iterable[Battle]) -> dict[str, float]:
    """Return model to rating, best first; NaN where a model has none."""
    board = build(list(battles), CAST, stand_ins=True)
    return {row.model: math.nan if row.rating is None else row.rating for row in board.models}


def share(battles: Iterable[Battle], model: str, other: str) -> float:
    """Return the share of decided battles that `model` won against `other`, ties half."""
    points = []
    for battle in battles:
        if {battle.model_a, battle.model_b} == {model, other} and battle.verdict in DECIDED:
            winner = {"a": battle.model_a, "b": battle.model_b}.get(battle.verdict)
            points.append(0.5 if winner is None else float(winner == model))
    return _mean(points)


def _print_shares(battles: Sequence[Battle]) -> None:
    print("share of battles won (row against column, ties half)")
    print(" " * 10 + "".join(f"{_short(m):>10}" for m in CAST))
    for model in CAST:
        cells = ("" if m == model else f"{share(battles, model, m):.2f}" for m in CAST)
        print(f"{_short(model):10}" + "".join(f"{cell:>10}" for cell in cells))
    print()


def _print_right(pool: Pool) -> None:
    rounds = sorted({round_ for _, round_ in pool.right})
    print("mean share of asked facts got right, chance taken off")
    print(" " * 10 + "".join(f"{f'q{r}':>8}" for r in rounds))
    for model in CAST:
        cells = (f"{_mean(pool.right[model, r]):8.2f}" for r in rounds)
        print(f"{_short(model):10}" + "".join(cells))
    print()


def print_claims(pool: Pool, *, is_real: bool) -> int:
    """Print each claim about the order with its figure, and return 1 where one fails."""
    claims = [*_order_claims(pool, is_real=is_real), *_evolution_claims(pool)]
    for held, words in claims:
        print(f"{'holds ' if held else 'FAILS '} {words}")
    return 0 if all(held for held, _ in claims) else 1


def _order_claims(pool: Pool, *, is_real: bool) -> list[tuple[bool, str]]:
    pooled = ratings(pool.battles)
    hawk, owl, mole, blind, parrot, terse, windbag, trickster = (pooled[m] for m in CAST)
    seeds = [ratings(battles) for battles in pool.seeds]
    ordered = sum(s[CAST[0]] > s[CAST[1]] > s[CAST[2]] for s in seeds)
    last = sum(list(s)[-1] == "offline:parrot" for s in seeds)
    hawk_owl = share(pool.battles, "offline:hawk", "offline:owl")
    owl_mole = share(pool.battles, "offline:owl", "offline:mole")
    claims = [
        (hawk > owl > mole, f"hawk {hawk:.0f} > owl {owl:.0f} > mole {mole:.0f} pooled"),
        (ordered >= 0.8 * len(seeds), f"hawk > owl > mole in {ordered} of {len(seeds)} seeds"),
        (last == len(seeds) and parrot == min(pooled.values()), f"parrot last in {last} seeds"),
        (windbag <= terse, f"windbag {windbag:.0f} not above terse {terse:.0f}"),
        (trickster <= terse, f"trickster {trickster:.0f} not above terse {terse:.0f}"),
        (hawk_owl >= 0.65, f"hawk against owl {hawk_owl:.2f}, at least .65"),
        (owl_mole >= 0.65, f"owl against mole {owl_mole:.2f}, at least .65"),
    ]
    if is_real:
        claims.append((mole > blind, f"mole {mole:.0f} > blind {blind:.0f} pooled"))
    return claims


def _evolution_claims(pool: Pool) -> list[tuple[bool, str]]:
    fall = {
        kind: _mean(pool.right[f"offline:{kind}", 0]) - _mean(pool.right[f"offline:{kind}", 2])
        for kind in ("hawk", "owl", "mole")
    }
    words = "share of asked facts right falls from q0 to q2 by"
    return [
        (fall["owl"] > 0, f"owl's {words} {fall['owl']:.2f}"),
        (fall["mole"] > 0, f"mole's {words} {fall['mole']:.2f}"),
        (
            fall["hawk"] < min(fall["owl"], 0.1),
            f"hawk's {words} {fall['hawk']:.2f}: hardly, and less than owl's",
        ),
    ]


def _ladder(rated: dict[str, float]) -> str:
    return " > ".join(f"{_short(model)} {rating:.0f}" for model, rating in rated.items())


def _short(model: str) -> str:
    return model.removeprefix("offline:")


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan


if __name__ == "__main__":
    sys.exit(main())
