"""How many battles each pairing rule needs, and whether what it leads to is honest.

    python -m benchmarks.pairing

Tournaments as a run plays them: blocks of 21 videos with three users and four rounds, so waves of
63 battles, and weights from the waves up to two earlier. Eleven models are as far apart as in the
paper, or 25 points each from the next. The judge decides 13 % of battles the wrong way round, ties
7 % and leans to the answer read first by 0.2 nats. Printed are the battles after which every model
stays apart from the next by 1.96 errors, in the right order; Kendall's tau stays above 0.95; the
intervals stay narrower than 40 or 30 points; and the order is apart at any look. Medians over
seeds; intervals of ratios by bootstrap of seeds.

Coverage is that of judges that follow the model. Where a judge errs now and then whatever the gap,
rules that pair differently estimate different scales.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import kendalltau

from benchmarks.coverage import held_by, true_ratings
from videoautoarena.scoring.design.pairing import mix_weights, pick_weighted, roster_pairs
from videoautoarena.scoring.design.power import InterimResult, PlayPlan, StrengthLadder, look, play
from videoautoarena.scoring.fitting.bradley_terry import SCALE
from videoautoarena.scoring.fitting.counts import Floats, count_cells
from videoautoarena.scoring.intervals.proportions import measure_share
from videoautoarena.scoring.ratings.ratings import rate

WAVE = 63
_POINTS = {
    "paper": [1505, 1430, 1365, 1290, 1205, 1130, 1060, 985, 905, 800, 705],
    "cluster": [250, 225, 200, 175, 150, 125, 100, 75, 50, 25, 0],
    "three": [200, 100, 0],
    "two equal": [0, 0],
    "two equal of three": [200, 0, 0],
    "10 points apart": [10, 0],
}
LADDERS: dict[str, Floats] = {
    name: np.array(points, dtype=np.float64) / SCALE for name, points in _POINTS.items()
}
RULES = {"uniform": PlayPlan(is_mixed=False), "mix": PlayPlan()}
MOST_NEEDED = {"paper": 0.5, "cluster": 0.7}
LEAST_COVERED = 0.94
MOST_WRONG = 0.05
MOST_MS = 1.0
NEEDS: dict[str, Callable[[InterimResult, float], bool]] = {
    "order found and apart": lambda seen, _: seen.is_right and float(seen.ratios.min()) > 1.96,
    "tau above 0.95": lambda seen, _: _kendall(seen) >= 0.95,
    "intervals narrow": lambda seen, width: seen.separation.width <= width,
    "apart at any look": lambda seen, _: seen.is_right and seen.separation.is_separated,
}


def battles_until(
    strength: Floats, rule: str, *, seeds: int, battles: int, every: int, width: float
) -> dict[str, Floats]:
    """Return after how many battles each need holds for good, shape (seeds,); infinite if never."""
    at = range(every * WAVE, battles + 1, every * WAVE)
    found = {need: np.full(seeds, np.inf) for need in NEEDS}
    for seed in range(seeds):
        ladder = StrengthLadder(strength, quirk=0.0, blind=0.13, seat=0.2)
        for n, cells in zip(at, play(ladder, RULES[rule], seed=seed, at=at), strict=True):
            seen = look(cells)
            for need, holds in NEEDS.items():
                since = found[need][seed]
                found[need][seed] = min(since, n) if holds(seen, width) else np.inf
    return found


def compare(name: str, **limits: float) -> bool:
    """Print what each rule needs; return whether `mix` keeps its bound."""
    seeds, battles, every = (int(limits[key]) for key in ("seeds", "battles", "every"))
    found = {
        rule: battles_until(
            LADDERS[name], rule, seeds=seeds, battles=battles, every=every, width=limits["width"]
        )
        for rule in RULES
    }
    print(f"{name}, {seeds} seeds of {battles} battles")
    for need in NEEDS:
        uniform = found["uniform"][need]
        mix = found["mix"][need]
        print(f"  {need:22}{np.median(uniform):9.0f}{np.median(mix):9.0f}  {_ratio(uniform, mix)}")
    first = next(iter(NEEDS))
    needed, least = (float(np.median(found[rule][first])) for rule in ("mix", "uniform"))
    most = MOST_NEEDED[name] * least
    line = f"  {needed:.0f} of at most {most:.0f}, {MOST_NEEDED[name]} x uniform"
    return keep(line, needed <= most < np.inf)


def cover(strength: Floats, rule: str, *, sets: int, quirk: float, at: Sequence[int]) -> Floats:
    """Return which intervals held the truth, shape (sets, numbers of battles, models)."""
    ladder = StrengthLadder(strength, quirk=quirk)
    truth = true_ratings(strength, quirk, ties=0.0)
    held = np.empty((sets, len(at), 11))
    for seed in range(sets):
        for k, cells in enumerate(play(ladder, RULES[rule], seed=seed, at=at)):
            table = rate(cells)
            held[seed, k] = held_by(table, truth)
    return held


def cover_at_stop(strength: Floats, *, width: float | None, sets: int, battles: int) -> Floats:
    """Return which intervals held the truth once they were narrow enough, as `--until ci` stops.

    Without a width, once all models were apart, as `--until separated` does. Shape (sets, models).
    Looked at after every wave, played by `mix`.
    """
    at = range(WAVE, battles + 1, WAVE)
    ladder = StrengthLadder(strength, quirk=0.5)
    truth = true_ratings(strength, ladder.quirk, ties=0.0)
    held = np.empty((sets, len(strength)))
    for seed in range(sets):
        for cells in play(ladder, RULES["mix"], seed=seed, at=at):
            seen = look(cells).separation
            is_over = seen.is_separated if width is None else seen.width <= width
            if is_over or cells.counts.sum() == at[-1]:
                table = rate(cells)
                held[seed] = held_by(table, truth)
                break
    return held


def stops(strength: Floats, *, sets: int, battles: int) -> tuple[Floats, Floats]:
    """Return which tournaments stopped wrong by the bound, and by 1.96, looked at every wave.

    To find equal models apart is wrong whatever the order.
    """
    at = range(WAVE, battles + 1, WAVE)
    ladder = StrengthLadder(strength, quirk=0.5)
    wrong = np.zeros((2, sets))
    for seed in range(sets):
        done = [False, False]
        for cells in play(ladder, RULES["mix"], seed=seed, at=at):
            seen = look(cells)
            is_wrong = not seen.is_right or (np.diff(strength) == 0.0).any()
            for k, apart in enumerate((seen.separation.is_separated, seen.separation.ratio > 1.96)):
                if apart and not done[k]:
                    done[k], wrong[k, seed] = True, is_wrong
            if all(done):
                break
    return wrong[0], wrong[1]


def pick_ms(models: int, *, battles: int) -> float:
    """Return CPU milliseconds a pick takes, with its share of weighing once a wave; least of 9."""
    rng = np.random.default_rng(0)
    pairs = roster_pairs(models)
    a, b = pairs[rng.integers(0, len(pairs), battles)].T
    points = (rng.random(battles) < 1 / (1 + np.exp((a - b) / 10))).astype(float)
    video = rng.integers(0, battles // 12, battles)
    took = []
    for _ in range(9):
        began = time.process_time()
        cells = count_cells(a, b, outcome=points, models=models, cluster=video)
        weights = mix_weights(cells)
        for u in rng.random(WAVE):
            pick_weighted(float(u), weights)
        took.append(1000 * (time.process_time() - began) / WAVE)
    return min(took)


def keep(line: str, is_kept: bool) -> bool:
    """Print a figure beside its bound, and return whether it is kept."""
    print(f"{line}: {'kept' if is_kept else 'NOT kept'}", flush=True)
    return is_kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every figure beside its bound; return 1 where one is not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=30, help="tournaments a rule and ladder")
    parser.add_argument("--sets", type=int, default=200, help="tournaments for shares")
    parser.add_argument("--scale", type=float, default=1.0, help="of the lengths of tournaments")
    given = parser.parse_args(arguments)
    paper, cluster, short = (round(given.scale * n) for n in (25_200, 100_800, 6_300))
    print(f"{'battles needed':24}{'uniform':>9}{'mix':>9}  ratio")
    kept = [
        compare("paper", seeds=given.seeds, battles=paper, every=4, width=40.0),
        compare("cluster", seeds=given.seeds, battles=cluster, every=16, width=30.0),
        *_covers(given.sets, [round(given.scale * n) for n in (1008, 2016, 4032)]),
        *_stops(given.sets, short),
    ]
    ms = pick_ms(70, battles=50_000)
    kept.append(keep(f"{ms:.2f} ms a pick of at most {MOST_MS}, 70 models", ms <= MOST_MS))
    return 0 if all(kept) else 1


def _covers(sets: int, at: Sequence[int]) -> list[bool]:
    print(f"\nshare of 95 % intervals that hold the truth, {sets} tournaments, after {at} battles")
    kept = []
    for quirk in (0.0, 0.5):
        for name in ("paper", "cluster"):
            uniform, mix = (
                cover(LADDERS[name], rule, sets=sets, quirk=quirk, at=at) for rule in RULES
            )
            rows = [
                " ".join(f"{share:.3f}" for share in held.mean(axis=(0, 2)))
                for held in (uniform, mix)
            ]
            share, low, high, _ = measure_share(
                mix.ravel(), np.repeat(np.arange(sets), mix[0].size)
            )
            line = f"  {name:8} quirk {quirk}  uniform {rows[0]}  mix {rows[1]}"
            line += f", in all {share:.3f} [{low:.3f}, {high:.3f}] of at least {LEAST_COVERED}"
            kept.append(keep(line, share >= LEAST_COVERED))
    for name, rule, width in (
        ("paper", "ci=70", 70.0),
        ("cluster", "ci=70", 70.0),
        ("three", "separated", None),
    ):
        held = cover_at_stop(LADDERS[name], width=width, sets=sets, battles=2 * at[-1])
        share, low, high, _ = measure_share(held.ravel(), np.repeat(np.arange(sets), held.shape[1]))
        line = f"  {name:8} quirk 0.5  mix, stopped by {rule} {share:.3f} [{low:.3f}, {high:.3f}]"
        kept.append(keep(f"{line} of at least {LEAST_COVERED}", share >= LEAST_COVERED))
    return kept


def _stops(sets: int, battles: int) -> list[bool]:
    print(f"\n{sets} tournaments of {battles} battles looked at after every wave")
    kept = []
    for name in ("two equal", "two equal of three", "10 points apart"):
        bound, single = (
            measure_share(wrong) for wrong in stops(LADDERS[name], sets=sets, battles=battles)
        )
        line = f"  {name:18} stopped wrong: beyond 1.96 {single.value:.3f}, beyond the bound "
        line += f"{bound.value:.3f} [{bound.low:.3f}, {bound.high:.3f}] of at most {MOST_WRONG}"
        kept.append(keep(line, bound.value <= MOST_WRONG))
    return kept


def _kendall(seen: InterimResult) -> float:
    return float(kendalltau(-seen.theta, np.arange(len(seen.theta))).statistic)


def _ratio(uniform: Floats, mix: Floats) -> str:
    """Ratio of the medians and its interval."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(mix), (2, 1000, len(mix)))
    one = np.median(uniform[drawn[0]], axis=1)
    two = np.median(mix[drawn[1]], axis=1)
    ratio = float(np.median(mix)) / float(np.median(uniform))
    if not np.isfinite([one, two]).all():
        return f"x{ratio:.2f}" if ratio > 0.0 else ""
    low, high = np.quantile(two / one, [0.025, 0.975])
    return f"x{ratio:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    sys.exit(main())
