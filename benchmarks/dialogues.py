"""Do dialogues made offline show what they are to? `python -m benchmarks.dialogues`.

For each seed two dialogues of each ability are written about each clip, and their scored rounds
answered with golden history by hawk (64 frames), owl (16), mole (4), goldfish (64, forgets the
history) and eager (64, never says that something is not there). Intervals are by clip. Rounds that
need no memory were refused in making: that goldfish falls is so by choice. Leaks are planted as
answers given again in a question, and in an earlier answer, in words that the examiner knows and
in words that it does not.
"""

from __future__ import annotations

import sys
import tempfile
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.canned import keep, parser_of
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.offline.answers.answering import speak
from videoautoarena.agents.offline.facets.part import Part, part_of
from videoautoarena.agents.offline.language.checks import Gives, Within, hear_answer
from videoautoarena.agents.offline.language.phrasing import BOOKS, book, say
from videoautoarena.agents.offline.language.turns import Facts, resolve
from videoautoarena.agents.offline.language.values import Dice, clock, table
from videoautoarena.agents.offline.players.checklists import Item, is_met, items_of
from videoautoarena.agents.offline.players.dialogist import RATED, draft_of
from videoautoarena.agents.offline.players.drafts import Thing, Wish, Written
from videoautoarena.agents.offline.players.leaks import Round, gathered, is_said
from videoautoarena.agents.offline.players.rounds import search
from videoautoarena.agents.offline.vision.frame_features import picture
from videoautoarena.agents.offline.vision.sequence import Sight, sight
from videoautoarena.memory.records.records import Sampling
from videoautoarena.scoring.intervals.proportions import measure_mean
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.sampler import kept_places, sample
from videoautoarena.video.synth.samples import make_samples

PLAYERS = ("hawk", "owl", "mole", "goldfish", "eager")
SILENT = "silent"
ROWS = (*RATED, "refusal_twin")
MEMORY = ("object_reference", "memory_recall")
LEAKING = ("object_reference", "memory_recall", "content_summary", "topic_shifting")
SEEDS, PER_CLIP, TURNS = 5, 2, 4
PLANTED, LEAST_CAUGHT, MOST_LOST, HABITS = 200, 0.95, 0.05, 50
FREE = {
    "darkest": "hardly a glimmer is left round {t}",
    "brightest": "it glows like nowhere else about {t}",
    "liveliest": "things go wild by {t}",
    "busiest": "your eye has far too much to take in at {t}",
    "plainest": "by {t} next to nothing is on it",
    "first_cut": "the whole look flips over at {t}",
    "last_cut": "it flips over for good at {t}",
}
"""Moments in words that no pattern of the reader is made for."""
PLACES = {"answer": "in an earlier answer", "question": "in a later question"}
BANK = tuple(Thing(f"o{n}", f"thing {n}", (2.0 * n,)) for n in range(1, 30))


class Asked(NamedTuple):
    """A scored round, and the dialogue it stands in."""

    clip: str
    seed: int
    ability: str
    seen: Sight
    draft: Sequence[Written]
    number: int

    @property
    def one(self) -> Written:
        """The round."""
        return self.draft[self.number - 1]

    @property
    def history(self) -> list[tuple[str, str]]:
        """What was said before."""
        return [each.turn for each in self.draft[: self.number - 1]]

    @property
    def items(self) -> list[Item]:
        """Its checklist."""
        return items_of(search(self.seen), self.one.user, self.history)

    def score(self, text: str) -> float:
        """Return the share of items that an answer meets as expected."""
        items = self.items
        answer = hear_answer(text, [item.check for item in items])
        return fmean(answer.meets(item.check) is item.is_yes for item in items)


def look(path: Path) -> Sight:
    """Return what 128 frames of a file show."""
    frames, jpegs = sample(path, sampling=Sampling())
    pairs = zip(frames.frames, jpegs, strict=True)
    return sight([picture(one.time_s, b64encode(jpeg).decode()) for one, jpeg in pairs])


def sent(seen: Sight, frames: int) -> Sight:
    """Return what a player of so many frames is sent."""
    return sight([seen.pictures[place] for place in kept_places(len(seen.pictures), frames)])


def make(clips: dict[str, Sight], seeds: int) -> Iterator[Asked]:
    """Yield every scored round that is written."""
    for clip, seen in clips.items():
        for seed in range(seeds):
            for ability in ROWS:
                asked: list[str] = []
                for each in range(PER_CLIP):
                    wish = Wish(ability, 5 + (seed + each) % TURNS, tuple(asked), BANK)
                    draft = draft_of(search(seen), wish, Dice("bench", clip, ability, seed, each))
                    for number, one in enumerate(draft, 1):
                        if one.plan.is_scored:
                            asked.append(one.user)
                            yield Asked(clip, seed, ability, seen, draft, number)


def own_history(asked: Asked, player: str) -> float:
    """Return what a player comes to who is sent its own earlier answers."""
    seen, said = sent(asked.seen, KINDS[player]), list[tuple[str, str]]()
    for one in asked.draft[: asked.number]:
        said.append((one.user, speak(player, seen, one.user, said)))
    return asked.score(said[-1][1])


Cells = dict[tuple[str, str], list[tuple[str, int, float]]]


def play(rounds: Sequence[Asked]) -> Cells:
    """Return clip, seed and score of each round by ability and player."""
    cells: Cells = defaultdict(list)
    for one in rounds:
        for player in PLAYERS:
            shown = sent(one.seen, KINDS[player])
            said = speak(player, shown, one.one.user, one.history)
            cells[one.ability, player].append((one.clip, one.seed, one.score(said)))
        silence = one.score("I do not know.")
        cells[one.ability, SILENT].append((one.clip, one.seed, silence))
    return cells


def mean(cells: Cells, ability: str, player: str, seed: int | None = None) -> float:
    """Return the mean of a cell, of all seeds or of one."""
    return fmean(score for _, of, score in cells[ability, player] if seed in (None, of))


def show(cells: Cells) -> None:
    """Print the table, with intervals by clip."""
    print(f"{'':24}{'rounds':>6}{'clips':>6}" + "".join(f"{p:>19}" for p in (*PLAYERS, SILENT)))
    for ability in ROWS:
        clips = [clip for clip, _, _ in cells[ability, "hawk"]]
        names = sorted(set(clips))
        line = f"{ability:24}{len(clips):6}{len(names):6}"
        for player in (*PLAYERS, SILENT):
            places = [names.index(clip) for clip in clips]
            found = measure_mean([score for _, _, score in cells[ability, player]], places)
            line += f"   {found.value:.3f} [{max(0, found.low):.2f},{min(1, found.high):.2f}]"
        print(line)
    macro = {p: fmean(mean(cells, a, p) for a in RATED) for p in (*PLAYERS, SILENT)}
    print("macro mean of six   ", ", ".join(f"{p} {value:.3f}" for p, value in macro.items()))


def claims(cells: Cells, seeds: int, least_clips: int) -> Iterator[tuple[str, bool]]:
    """Yield what has to hold, and whether it does."""
    for seed in range(seeds):
        hawk, owl, mole = (
            fmean(mean(cells, a, p, seed) for a in RATED) for p in ("hawk", "owl", "mole")
        )
        yield f"seed {seed}: macro {hawk:.3f} > {owl:.3f} > {mole:.3f}", hawk > owl > mole
    for ability in ROWS:
        hawk, owl, mole, goldfish, eager, silent = (
            mean(cells, ability, p) for p in (*PLAYERS, SILENT)
        )
        if ability != "answer_refusal":
            yield f"{ability}: hawk {hawk:.3f} > owl {owl:.3f} > mole {mole:.3f}", hawk > owl > mole
            yield f"{ability}: eager equals hawk", eager == hawk
        else:
            least = min(hawk, owl, mole, goldfish, silent)
            yield f"{ability}: eager {eager:.3f} is last, below {silent:.3f}", eager < least
        if ability in MEMORY:
            yield f"{ability}: goldfish {goldfish:.3f} <= silence {silent:.3f}", goldfish <= silent
            served = len({clip for clip, _, _ in cells[ability, "hawk"]})
            yield f"{ability}: {served} clips, of at least {least_clips}", served >= least_clips
        else:
            yield f"{ability}: goldfish equals hawk", goldfish == hawk


# Leaks.


def restated(asked: Asked, style: str | None) -> str:
    """Return the right answer again, in a book's words or in free ones."""
    turn = asked.one.plan.turn
    assert isinstance(turn, Facts)
    part: Part | None = Part(asked.seen)
    if turn.part is not None:
        at_s = resolve(turn.part, asked.history)
        assert at_s is not None
        part = part_of(asked.seen, search(asked.seen).part(turn.part.side, at_s))
    assert part is not None
    values = {key: part.measure(key) for key in turn.ask.keys}
    dice = Dice("leak", asked.one.user)
    if style is not None:
        return " ".join(say(k, v, style=book(style), dice=dice) for k, v in values.items())
    said = [
        FREE[key].format(t=clock(value[0]))
        if key in FREE and isinstance(value, tuple) and isinstance(value[0], float)
        else f"then there is {value}"
        for key, value in values.items()
    ]
    return f"{' and '.join(said).capitalize()}."


def is_caught(asked: Asked, planted: str | None, place: str) -> bool:
    """Return whether a round is thrown out: by the blind answer, or by its values."""
    rest = [
        Round(one.user, None if number == asked.number else one.assistant)
        for number, one in enumerate(asked.draft, 1)
    ]
    if planted and place == "answer":
        rest[0] = Round(rest[0].user, f"{rest[0].assistant} {planted}")
    if planted and place == "question":
        rest.append(Round(f"{planted} {asked.one.user}", ""))
    right = [i for i in asked.items if i.is_yes and isinstance(i.check, Within | Gives)]
    text = " ".join(f"{one.user} {one.assistant or ''}" for one in rest)
    return all(is_said(item.check, text) for item in right) or is_met(
        right, gathered(rest, asked.one.user), only_yes=True
    )


def check_leaks(rounds: Sequence[Asked]) -> Iterator[tuple[str, bool]]:
    """Yield how many planted leaks are caught and clean rounds lost, and whether that will do."""
    drawn = Dice("leaks").shuffled([one for one in rounds if one.ability in LEAKING])[:PLANTED]
    every: list[bool] = []
    for style in (*BOOKS, None):
        for place in PLACES:
            caught = [is_caught(one, restated(one, style), place) for one in drawn]
            every += caught
            print(f"leaks in {style or 'free words'}, {PLACES[place]}: {fmean(caught):.3f} caught")
    yield f"{fmean(every):.3f} of {len(every)} planted leaks caught", fmean(every) >= LEAST_CAUGHT
    lost = fmean(is_caught(one, None, "") for one in drawn)
    yield f"{lost:.3f} of {len(drawn)} clean rounds lost", lost <= MOST_LOST


def habits(rounds: Sequence[Asked]) -> None:
    """Print how many facts are right by habit alone."""
    usual = table("answers", "priors")
    items = [
        item
        for one in Dice("habits").shuffled(rounds)
        for item in one.items
        if item.is_yes and isinstance(item.check, Within | Gives)
    ][:HABITS]
    right = sum(is_met([item], usual[item.check.key]) for item in items)  # type: ignore[union-attr]
    print(f"by habit alone {right} of {len(items)} facts are right")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and return 0 where all bounds are kept."""
    parser = parser_of(__doc__, seeds=SEEDS)
    parser.add_argument("--videos", type=Path, help="clips in place of the samples")
    parser.add_argument("--least-clips", type=int, default=6)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        if options.videos is None:
            paths = list(make_samples(Path(place)))
        else:
            found = find_videos(options.videos)
            paths = [options.videos / video.path for video in found.videos]
        clips = {path.stem: look(path) for path in paths}
    rounds = list(make(clips, options.seeds))
    cells = play(rounds)
    show(cells)
    for ability in MEMORY:
        some = [one for one in rounds if one.ability == ability]
        own = {p: fmean(own_history(one, p) for one in some) for p in ("hawk", "owl", "mole")}
        print(f"own history, {ability}:", ", ".join(f"{p} {v:.3f}" for p, v in own.items()))
    habits(rounds)
    lines = [*claims(cells, options.seeds, options.least_clips), *check_leaks(rounds)]
    return 0 if all([keep(line, is_kept) for line, is_kept in lines]) else 1


if __name__ == "__main__":
    sys.exit(main())
