"""Do stand-ins answer made tasks as well as they can with what they are sent?

hawk, owl, mole and blind are sent 64, 16, 4 and no frames of 128 that are sampled of a film.
Needles, orders and counts in 30 s, 1, 3 and 10 min of ground are played on the frames alone, pooled
over five seeds. Beside each accuracy stands what follows from the sampled instants, without a look
at any picture: of a needle h + (1 - h) / 4, where h is the share of its possible places that an
instant falls into; of an order 1 over the options that the stretches shown leave; of a count
whether the least option that allows the runs shown is right. The first items of up to 3 min are
encoded, too, under names that say nothing, and sampled as any file: their frames must leave the
same options. `python -m benchmarks.tasks`

Clips are made small and in six orders of colours first, and stay in `--clips`.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from pathlib import Path
from typing import NamedTuple, TypeAlias
from unittest.mock import patch

import numpy as np

from benchmarks.canned import keep, parser_of
from benchmarks.made_items import SAMPLING, Films, Shown, look_at, sent_of, tint
from videoautoarena.agents.offline import KINDS as CAST
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.players.answering import options_left
from videoautoarena.agents.offline.players.viewers import answer
from videoautoarena.agents.offline.vision.frame_features import FrameMeasurement, Memo, ModelInput
from videoautoarena.agents.prompting.fences import offered
from videoautoarena.agents.roles.choose import read_choice
from videoautoarena.runs.making.tasks.items import (
    EDGE_S,
    DraftItem,
    ItemRequest,
    draw_items,
)
from videoautoarena.runs.making.tasks.kinds import CUT_KINDS, OPTIONS, Kind
from videoautoarena.scoring.questions.scores import measure_accuracy
from videoautoarena.scoring.ratings.differences import measure_lead
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.synth.film import encode, sample_film
from videoautoarena.video.synth.samples import make_samples

PLAYERS = ("hawk", "owl", "mole", "blind")
SHUFFLED = "shuffled"
"""hawk, whose pictures stand at each other's times."""
SECONDS = (30, 60, 180, 600)
SEEDS = (21, 22, 23, 24, 25)
LONGEST_FILE_S = 180
CHANCE = 1 / OPTIONS
ERRORS = 3.0
"""Standard errors within which a figure is as predicted."""
RIGHT_WHEN_HIT = 0.98
MOST_GLANCES = 1_000_000


@dataclass
class Cell:
    """What one player came to on one kind at one length, item by item."""

    right: list[float] = field(default_factory=list)
    seen: list[bool] = field(default_factory=list)
    """Whether any frame that it was sent shows what was set in."""
    expected: list[float] = field(default_factory=list)

    def share(self, seen: bool | None = None) -> tuple[float, int]:
        """Return how many are right of those seen, or not seen, and how many these are."""
        some = [r for r, s in zip(self.right, self.seen, strict=True) if seen in (None, s)]
        return (float(np.mean(some)) if some else float("nan")), len(some)

    @property
    def prediction(self) -> float:
        """What the sampled instants let expect."""
        return float(np.mean(self.expected))

    @property
    def error(self) -> float:
        """The standard error of that, as if one item more were open."""
        return error_of(self.expected)


def error_of(expected: Sequence[float]) -> float:
    """Return the standard error of a share by what is expected of each item."""
    p = np.asarray(expected)
    return float(np.sqrt((p * (1 - p)).sum() + CHANCE) / len(p))


Place: TypeAlias = tuple[Kind, int, str]
Cells: TypeAlias = Mapping[Place, Cell]


class Facts(NamedTuple):
    """What a sampling shows of what is set in, by the plan alone."""

    runs: int
    """Of frames in a row that show any of it."""
    found: tuple[int, ...]
    """Which stretches are shown, by their place in the film."""


def facts_of(shown: Shown, numbers: Sequence[int]) -> Facts:
    """Return what these frames of a film show of what is set in."""
    places = shown.timeline.probes
    of = [
        next((k for k, at in enumerate(places) if 0 <= n - at.first < at.frames), None)
        for n in numbers
    ]
    runs = sum(is_in for is_in, _ in groupby(of, lambda k: k is not None))
    return Facts(runs, tuple(dict.fromkeys(k for k in of if k is not None)))


def expect(item: DraftItem, shown: Shown, numbers: Sequence[int], facts: Facts) -> float:
    """Return how likely an item is answered rightly by who recognises all that it is shown."""
    if item.kind == "needle":
        hit = share_of_places(item, shown, numbers)
        return hit + (1 - hit) / OPTIONS
    if not facts.found:
        return CHANCE
    if item.kind == "order":
        left = orders_left(item, facts.found)
        return (item.key in left) / len(left)
    counts = [int(option) for option in item.options]
    least = min([count for count in counts if count >= facts.runs] or [max(counts)])
    return float(counts[item.key] == least)


def share_of_places(item: DraftItem, shown: Shown, numbers: Sequence[int]) -> float:
    """Return at which share of the places that it might stand at a needle is shown."""
    (place,) = shown.timeline.probes
    edge = round(EDGE_S * item.ground.rate)
    # Without the ends, where it never stands, but for the last frame of each.
    length = shown.timeline.frames - 2 * (edge - 1)
    inner = [n - edge + 1 for n in numbers if 0 <= n - edge + 1 < length]
    return share_hit(inner, length, place.frames)


def share_hit(sampled: Sequence[int], frames: int, length: int) -> float:
    """Return the share of places of a stretch at which some sampled frame lies in it.

    Every place is counted: the first and the last frame of a video belong to no stretch, so that it
    starts at one of the frames from 1 to `frames` - `length` - 1. (Frames times length over
    duration is too much: sampling at even steps takes the two ends as well.)

    Args:
        sampled: frames that are looked at, from 0; none for whoever sees nothing.
        frames: how many the video has.
        length: how many of them the stretch has.

    Raises:
        ValueError: a stretch that does not fit, or a frame that is not in the video.
    """
    places = frames - length - 1
    if length < 1 or places < 1:
        raise ValueError(f"a stretch of {length} frames fits nowhere in a video of {frames}")
    seen = np.unique(np.asarray(sampled, dtype=np.int64))
    if len(seen) and (seen[0] < 0 or seen[-1] >= frames):
        raise ValueError("sampled frames must be of the video")
    # A stretch is missed at as many places as it fits between two frames that are seen.
    gaps = np.diff(np.concatenate([[0], seen, [frames - 1]])) - 1
    return 1.0 - float(np.maximum(gaps - length + 1, 0).sum()) / places


def orders_left(item: DraftItem, found: Sequence[int]) -> list[int]:
    """Return the options that break the fewest pairs of the stretches found."""
    texts = [item.texts[place] for place in found]
    broken = []
    for option in item.options:
        order = sorted(texts, key=option.index)
        broken.append(sum(texts.index(a) > texts.index(b) for a, b in combinations(order, 2)))
    return [place for place, pairs in enumerate(broken) if pairs == min(broken)]


def play(item: DraftItem, films: Films, cells: Mapping[Place, Cell]) -> None:
    """Ask every player one item, and note what it came to."""
    shown = films.shown(item)
    for player in (*PLAYERS, SHUFFLED):
        frames, numbers = shown.sent(CAST["hawk" if player == SHUFFLED else player])
        order = list(range(len(numbers)))
        if player == SHUFFLED:
            order = Dice("shuffled", item.plan.sha256).shuffled(order)
        sent = films.message(item, frames, order=order)
        facts = facts_of(shown, [numbers[place] for place in order])
        expected = expect(item, shown, numbers, facts)
        if player == SHUFFLED and item.kind == "order":
            # Which of several frames of one stretch comes first is anybody's guess.
            expected = CHANCE
        said = answer("hawk" if player == SHUFFLED else player, sent)
        cell = cells[item.kind, item.seconds, player]
        cell.right.append(float(read_choice(said, item.options).place == item.key))
        cell.seen.append(bool(facts.found))
        cell.expected.append(expected)


class Files(NamedTuple):
    """How films fare that are encoded."""

    seconds: int
    """Of their ground."""
    items: int
    left_alike: int
    """Whose frames leave every player the same options as the frames alone."""
    sampled_alike: int
    """Whose frames alone, as found here, are those of the sampler that writes no file."""


def encode_some(items: Sequence[DraftItem], films: Films) -> Files:
    """Encode films under names that say nothing, and sample them as any file is sampled."""
    left_alike = sampled_alike = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, item in enumerate(items):
            path = Path(folder) / f"{number}.mp4"
            encode(item.plan, films.files, path)
            file = sample(path, sampling=SAMPLING)
            shown = films.shown(item)
            path.unlink()
            alone = sample_film(item.plan, films.files, sampling=SAMPLING)
            sampled_alike += alone.frames.frames == shown.frames.frames
            left_alike += all(
                left_by(films.message(item, shown.sent(CAST[player])[0]))
                == left_by(sent_of(item, file, CAST[player]))
                for player in PLAYERS
            )
    return Files(items[0].seconds, len(items), left_alike, sampled_alike)


def left_by(sent: ModelInput) -> list[int]:
    """Return the options between which frames leave the choice: one where they decide."""
    offer = offered(sent.question)
    assert offer is not None
    return list(options_left(sent, offer))


# What is held, line by line.


def check(cells: Cells, lengths: Sequence[int]) -> bool:
    """Print every bound beside its figure, and return whether all are kept."""
    return all([keep(line, is_kept) for line, is_kept in claims(cells, lengths)])


def claims(cells: Cells, lengths: Sequence[int]) -> Iterator[tuple[str, bool]]:
    """Yield what has to hold at these lengths, and whether it does."""
    yield from _sight(cells, lengths)
    for kind in CUT_KINDS:
        for seconds in lengths:
            # Of orders and counts the prediction takes for granted that all shown is recognised.
            for player in PLAYERS[:3] if kind == "needle" else ("mole",):
                yield _predicted(cells, (kind, seconds, player))
            yield _by_chance(cells, (kind, seconds, "blind"))
    for kind, better, worse, at in ORDER:
        for seconds in [one for one in lengths if one in at]:
            yield _ahead(cells, kind, seconds, (better, worse))
    for seconds in lengths:
        yield _predicted(cells, ("needle", seconds, SHUFFLED))
        for kind in list(CUT_KINDS)[1:]:
            yield _by_chance(cells, (kind, seconds, SHUFFLED))


ORDER: tuple[tuple[Kind, str, str, tuple[int, ...]], ...] = (
    ("needle", "hawk", "owl", (60, 180, 600)),
    ("needle", "owl", "mole", (30, 60, 180)),
    ("needle", "mole", "blind", (30,)),
    *((kind, "hawk", "owl", (60, 180)) for kind in list(CUT_KINDS)[1:]),
    *((kind, "owl", "mole", (30, 60)) for kind in list(CUT_KINDS)[1:]),
)
"""Who has to lie above whom, and at which lengths."""


def _sight(cells: Cells, lengths: Sequence[int]) -> Iterator[tuple[str, bool]]:
    missed: list[float] = []
    for seconds in lengths:
        for player in PLAYERS:
            cell = cells["needle", seconds, player]
            share, n = cell.share(seen=True)
            if n:
                line = f"needle, {seconds} s, {player}: right when hit {share:.3f} of {n}"
                yield f"{line}, at least {RIGHT_WHEN_HIT:.2f}", share >= RIGHT_WHEN_HIT
            missed += [r for r, s in zip(cell.right, cell.seen, strict=True) if not s]
    if missed:
        found = measure_accuracy(missed)
        line = f"needle: right when missed {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
        yield f"{line} of {found.n}, holds {CHANCE:.2f}", found.low <= CHANCE <= found.high


def _predicted(cells: Cells, place: Place) -> tuple[str, bool]:
    cell = cells[place]
    share = cell.share()[0]
    error = cell.error
    line = f"{_named(place)}: {share:.3f}, predicted {cell.prediction:.3f} +- {error:.3f}"
    return f"{line}, within {ERRORS:g} errors", abs(share - cell.prediction) <= ERRORS * error


def _by_chance(cells: Cells, place: Place) -> tuple[str, bool]:
    share, n = cells[place].share()
    error = error_of([CHANCE] * n)
    line = f"{_named(place)}: {share:.3f}, {CHANCE:.2f} within {ERRORS:g} errors of {error:.3f}"
    return line, abs(share - CHANCE) <= ERRORS * error


def _named(place: Place) -> str:
    kind, seconds, player = place
    return f"{kind}, {seconds} s, {player}"


def _ahead(cells: Cells, kind: Kind, seconds: int, pair: tuple[str, str]) -> tuple[str, bool]:
    lead = measure_lead(*(cells[kind, seconds, player].right for player in pair))
    line = f"{kind}, {seconds} s: {pair[0]} above {pair[1]} by {lead.value:.3f}"
    return f"{line} [{lead.low:.3f}, {lead.high:.3f}], above 0", lead.low > 0


def table(cells: Cells, lengths: Sequence[int]) -> Iterator[str]:
    """Yield a row a cell: accuracy and its interval, prediction, right when hit and when missed."""
    yield "kind    length  player    accuracy [95 %]            predicted      hit           missed"
    for kind in CUT_KINDS:
        for seconds in lengths:
            for player in (*PLAYERS, SHUFFLED):
                cell = cells[kind, seconds, player]
                found = measure_accuracy(cell.right)
                parts = [f"{share:.3f} ({n:4d})" for share, n in map(cell.share, (True, False))]
                yield (
                    f"{kind:6s} {seconds:5d} s  {player:8s}  "
                    f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}] of {found.n:4d}  "
                    f"{cell.prediction:.3f}+-{cell.error:.3f}  {'  '.join(parts)}"
                )


def measure(folder: Path, n: int, files: int, lengths: Sequence[int]) -> tuple[Cells, list[Files]]:
    """Play the items of all seeds, and encode the first of them."""
    bank, paths = asyncio.run(look_at(folder))
    glances: Memo[bytes, FrameMeasurement] = Memo(MOST_GLANCES)
    cells: Mapping[Place, Cell] = defaultdict(Cell)
    encoded = []
    with patch("videoautoarena.agents.offline.vision.frame_features._GLANCES", glances):
        films = Films(paths, glances)
        for seconds in lengths:
            firsts: list[DraftItem] = []
            for seed in SEEDS:
                for kind in CUT_KINDS:
                    wish = ItemRequest((kind,), -(-n // len(SEEDS)), (seconds,), seed=seed)
                    items = draw_items(bank, wish).items
                    firsts += items[: -(-files // len(CUT_KINDS))] if seed == SEEDS[0] else []
                    for item in items:
                        play(item, films, cells)
            if firsts and files and seconds <= LONGEST_FILE_S:
                encoded.append(encode_some(firsts[:files], films))
            print(f"{seconds} s: played", file=sys.stderr, flush=True)
    return cells, encoded


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each player came to, and every bound; return 1 where one is not kept."""
    parser = parser_of(__doc__, n=1000, files=25)
    parser.add_argument("--videos", type=Path, help="real clips; the samples where not given")
    parser.add_argument("--clips", type=Path, default=Path("arena-out/clips-tasks"))
    parser.add_argument("--seconds", type=int, nargs="+", default=SECONDS)
    given = parser.parse_args(arguments)
    if given.videos is None:
        make_samples(given.clips / "samples")
    folder = tint(given.videos or given.clips / "samples", given.clips / "tinted")
    cells, encoded = measure(folder, given.n, given.files, given.seconds)
    print("\n".join(table(cells, given.seconds)))
    is_kept = check(cells, given.seconds)
    for found in encoded:
        same = (
            f"{found.seconds} s: {found.left_alike} of {found.items} files leave the same options"
        )
        is_kept &= keep(same, found.left_alike == found.items)
        alone = f"{found.seconds} s: {found.sampled_alike} of {found.items} the same without a file"
        is_kept &= keep(alone, found.sampled_alike == found.items)
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
