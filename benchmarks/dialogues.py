"""Do dialogues made offline show what they are to? `python -m benchmarks.dialogues`.

For each seed two dialogues of each ability are written about each clip, and their scored rounds
answered with golden history by hawk (64 frames), owl (16), mole (4), goldfish (64, forgets the
history) and eager (64, never says that a colour is not there). Intervals are by clip. Rounds that
need no memory were refused in making: that goldfish falls is so by choice. Leaks are planted as
answers given again in a question, and in an earlier answer, in words that the examiner knows and
in words that it does not; what throws rounds out is the rule of `arena dialogues make`.
"""

from __future__ import annotations

import sys
import tempfile
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import nan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.canned import keep, parser_of
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.offline.facets.table import (
    Value,
    VideoPart,
    is_stretch,
    part_of,
    stretch,
)
from videoautoarena.agents.offline.language.dialogues import (
    FactsTurn,
    TimedMoment,
    TimeWindowCheck,
    ValueCheck,
    hear_answer,
    resolve,
    word,
    word_check,
)
from videoautoarena.agents.offline.language.phrasing import BOOKS, book, say
from videoautoarena.agents.offline.language.tables import Dice, table
from videoautoarena.agents.offline.players.answering import speak
from videoautoarena.agents.offline.players.checklists import (
    ChecklistItem,
    DialogueRound,
    gathered,
    is_met,
    items_of,
)
from videoautoarena.agents.offline.players.dialogist import (
    RATED,
    BankObject,
    DialogueRequest,
    DraftRound,
    draft_of,
)
from videoautoarena.agents.offline.players.rounds import search
from videoautoarena.agents.offline.vision.frame_features import picture
from videoautoarena.agents.offline.vision.sequence import FrameSequence, sight
from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles import write_dialogue
from videoautoarena.graph.dialogue_checks import gives_away
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Sampling
from videoautoarena.scoring.intervals.proportions import measure_mean
from videoautoarena.video.folder.find import find_videos
from videoautoarena.video.sampling.policies import sample
from videoautoarena.video.sampling.thinning import kept_places
from videoautoarena.video.synth.samples import make_samples

PLAYERS = ("hawk", "owl", "mole", "goldfish", "eager")
SILENT = "silent"
ROWS = (*RATED, "refusal_twin")
MEMORY = ("object_reference", "memory_recall")
LEAKING = ("object_reference", "memory_recall", "content_summary", "topic_shifting")
SEEDS = 5
PER_CLIP = 2
TURNS = 4
PLANTED = 200
LEAST_CAUGHT = 0.95
MOST_LOST = 0.05
HABITS = 50
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
WAYS = ("{minutes}:{rest:04.1f}", "{time:.1f} s", "{time:.1f} seconds in", "second {time:.1f}")
"""Ways to write a time that do not change it."""
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SYNONYMS = {
    **{"red": "crimson", "orange": "amber", "yellow": "lemon", "green": "olive", "blue": "navy"},
    **{"purple": "violet", "pink": "rosy", "teal": "turquoise", "brown": "tan", "grey": "silvery"},
    **{"black": "pitch dark", "white": "snowy", "first": "what opens it", "second": "what ends it"},
    **{"brighter": "more light", "darker": "less light", "same": "no change", "yes": "it does"},
}
"""Values that are no times, by words that no list of the filter has."""
FREELY = "free words"
OTHERWISE = "free words and other names"
PLACES = {"answer": "in an earlier answer", "question": "in a later question"}
BANK = tuple(BankObject(f"o{n}", f"thing {n}", (2.0 * n,)) for n in range(1, 30))


class Asked(NamedTuple):
    """A scored round, and the dialogue it stands in."""

    clip: str
    seed: int
    ability: str
    seen: FrameSequence
    draft: Sequence[DraftRound]
    number: int

    @property
    def one(self) -> DraftRound:
        """The round."""
        return self.draft[self.number - 1]

    @property
    def history(self) -> list[tuple[str, str]]:
        """What was said before."""
        return [each.turn for each in self.draft[: self.number - 1]]

    @property
    def items(self) -> list[ChecklistItem]:
        """Its checklist."""
        return items_of(search(self.seen), self.one.user, self.history)

    def score(self, text: str) -> float:
        """Return the share of items that an answer meets as expected."""
        items = self.items
        answer = hear_answer(text, [item.check for item in items])
        return fmean(answer.meets(item.check) is item.is_yes for item in items)


def look(path: Path) -> FrameSequence:
    """Return what 128 frames of a file show."""
    frames, jpegs = sample(path, sampling=Sampling())
    pairs = zip(frames.frames, jpegs, strict=True)
    return sight([picture(one.time_s, b64encode(jpeg).decode()) for one, jpeg in pairs])


def sent(seen: FrameSequence, frames: int) -> FrameSequence:
    """Return what a player of so many frames is sent."""
    return sight([seen.pictures[place] for place in kept_places(len(seen.pictures), frames)])


def make(clips: dict[str, FrameSequence], seeds: int) -> Iterator[Asked]:
    """Yield every scored round that is written."""
    for clip, seen in clips.items():
        for seed in range(seeds):
            for ability in ROWS:
                asked: list[str] = []
                for each in range(PER_CLIP):
                    wish = DialogueRequest(ability, 5 + (seed + each) % TURNS, tuple(asked), BANK)
                    draft = draft_of(search(seen), wish, Dice("bench", clip, ability, seed, each))
                    for number, one in enumerate(draft, 1):
                        if one.plan.is_scored:
                            asked.append(one.user)
                            yield Asked(clip, seed, ability, seen, draft, number)


def own_history(asked: Asked, player: str) -> float:
    """Return what a player comes to who is sent its own earlier answers."""
    seen = sent(asked.seen, KINDS[player])
    said = list[tuple[str, str]]()
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
    """Return the mean of a cell, of all seeds or of one; NaN, which keeps no bound, of nothing."""
    scores = [score for _, of, score in cells[ability, player] if seed in (None, of)]
    return fmean(scores) if scores else nan


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
            same = cells[ability, "eager"] == cells[ability, "hawk"] != []
            yield f"{ability}: eager equals hawk in every round", same
        else:
            least = min(hawk, owl, mole, goldfish, silent)
            yield f"{ability}: eager {eager:.3f} is last, below {silent:.3f}", eager < least
        if ability in MEMORY:
            yield f"{ability}: goldfish {goldfish:.3f} <= silence {silent:.3f}", goldfish <= silent
            served = len({clip for clip, _, _ in cells[ability, "hawk"]})
            yield f"{ability}: {served} clips, of at least {least_clips}", served >= least_clips
        else:
            same = cells[ability, "goldfish"] == cells[ability, "hawk"] != []
            yield f"{ability}: goldfish equals hawk in every round", same


# Leaks.


def restated(asked: Asked, style: str) -> str:
    """Return the right answer again, in a book's words or in free ones."""
    turn = asked.one.plan.turn
    assert isinstance(turn, FactsTurn)
    part: VideoPart | None = VideoPart(asked.seen)
    if turn.part is not None:
        at_s = resolve(turn.part, asked.history)
        assert at_s is not None
        part = part_of(asked.seen, search(asked.seen).part(turn.part.side, at_s))
    assert part is not None
    values = {key: part.measure(key) for key in turn.ask.keys}
    dice = Dice("leak", asked.one.user)
    if style in BOOKS:
        return " ".join(say(k, v, style=book(style), dice=dice) for k, v in values.items())
    names = SYNONYMS if style == OTHERWISE else {}
    said = [freely(key, value, names, dice) for key, value in values.items()]
    return f"{' and '.join(said).capitalize()}."


def freely(key: str, value: Value | None, names: Mapping[str, str], dice: Dice) -> str:
    """Return a value in words that the reader does not know; one that is no time by these names."""
    if value is not None and is_stretch(value):
        minutes, rest = divmod(round(stretch(value)[0], 1), 60)
        time = 60 * minutes + rest
        said = dice.one(WAYS).format(minutes=int(minutes), rest=rest, time=time)
        return FREE[key].format(t=said)
    if isinstance(value, int):
        return f"you would count {COUNTS[value] if value < len(COUNTS) else value} of them"
    return f"then there is {names.get(str(value), value)}"


def as_reply(one: DraftRound) -> RoundReply:
    """Return a round as the examiner sends it."""
    turn = one.plan.turn
    meant_s = one.plan.meant_s
    explicit = ""
    if isinstance(turn, FactsTurn) and meant_s is not None:
        explicit = word(turn.at(TimedMoment(meant_s)), Dice("explicit", one.user))
    return RoundReply(user=one.user, assistant=one.assistant, scored="yes", explicit=explicit)


def is_caught(asked: Asked, planted: str = "", place: str = "") -> bool:
    """Return whether a round is thrown out: by its values, or by the blind answer."""
    rounds = [as_reply(one) for one in asked.draft]
    if place == "answer":
        told = f"{rounds[0].assistant} {planted}"
        rounds[0] = rounds[0].model_copy(update={"assistant": told})
    if place == "question":
        again = f"{planted} {asked.one.user}"
        rounds.append(RoundReply(user=again, assistant="As I said.", scored="no"))
    dice = Dice("wording", asked.one.user)
    items = [
        write_dialogue.ChecklistQuestion(word_check(one.check, dice), one.is_yes)
        for one in asked.items
    ]
    if gives_away(items, rounds, asked.number):
        return True
    rest = [
        DialogueRound(one.user, None if number == asked.number else one.assistant)
        for number, one in enumerate(rounds, 1)
    ]
    return is_met(asked.items, gathered(rest, asked.one.user), only_yes=True)


def check_leaks(rounds: Sequence[Asked]) -> Iterator[tuple[str, bool]]:
    """Yield how many planted leaks are caught and clean rounds lost, and whether that will do."""
    drawn = Dice("leaks").shuffled([one for one in rounds if one.ability in LEAKING])[:PLANTED]
    if not drawn:
        yield "no round in which a leak could be planted", False
        return
    for style in (*BOOKS, FREELY, OTHERWISE):
        for place, where in PLACES.items():
            caught = fmean(is_caught(one, restated(one, style), place) for one in drawn)
            line = f"leaks in {style}, {where}: {caught:.3f} of {len(drawn)} caught"
            if style == OTHERWISE:
                print(line)
            else:
                yield line, caught >= LEAST_CAUGHT
    lost = fmean(is_caught(one) for one in drawn)
    yield f"{lost:.3f} of {len(drawn)} clean rounds lost", lost <= MOST_LOST


def habits(rounds: Sequence[Asked]) -> None:
    """Print how many facts are right by habit alone."""
    usual = table("players", "priors")
    items = [
        item
        for one in Dice("habits").shuffled(rounds)
        for item in one.items
        if item.is_yes and isinstance(item.check, TimeWindowCheck | ValueCheck)
    ][:HABITS]
    right = sum(is_met([item], usual[item.check.key]) for item in items)  # type: ignore[union-attr]
    print(f"by habit alone {right} of {len(items)} facts are right")


def look_at(folder: Path) -> dict[str, FrameSequence]:
    """Return what is seen of each video below a folder, by its path."""
    return {one.path: look(folder / one.path) for one in find_videos(folder).videos}


def different(rounds: Sequence[Asked]) -> Counter[str]:
    """Return how many rounds of each ability ask something else, in whatever words."""
    plans = {(one.clip, one.ability, one.one.plan.turn, one.one.plan.meant_s) for one in rounds}
    return Counter(ability for _, ability, _, _ in plans)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and return 0 where all bounds are kept."""
    parser = parser_of(__doc__, seeds=SEEDS)
    parser.add_argument("--videos", type=Path, help="clips in place of the samples")
    parser.add_argument("--least-clips", type=int, default=6)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        if options.videos is None:
            make_samples(Path(place))
        try:
            clips = look_at(options.videos or Path(place))
        except BadInput as error:
            parser.error(str(error))
    rounds = list(make(clips, options.seeds))
    cells = play(rounds)
    show(cells)
    print("different questions: ", ", ".join(f"{a} {n}" for a, n in different(rounds).items()))
    for ability in MEMORY:
        some = [one for one in rounds if one.ability == ability]
        own = {p: [own_history(one, p) for one in some] for p in ("hawk", "owl", "mole")}
        told = (f"{p} {fmean(scores):.3f}" for p, scores in own.items() if scores)
        print(f"own history, {ability}:", ", ".join(told))
    habits(rounds)
    lines = chain(claims(cells, options.seeds, options.least_clips), check_leaks(rounds))
    return 0 if all([keep(line, is_kept) for line, is_kept in lines]) else 1


if __name__ == "__main__":
    sys.exit(main())
