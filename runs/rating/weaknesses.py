"""What the evolver wrote down about answers, a line for every answer it looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from videoautoarena.memory.records.records import Battle, Evolution

if TYPE_CHECKING:
    from videoautoarena.runs.text.themes import Embed


@dataclass(frozen=True)
class Look:
    """One answer whose faults were looked for."""

    battle: str
    video: str
    model: str
    weaknesses: tuple[str, ...]
    """As they were written, each once; none where the answer was found to have none."""
    faults: tuple[str, ...]


class Fought(NamedTuple):
    """A battle without what was said in it."""

    id: str
    video: str
    model_a: str | None
    model_b: str | None
    verdict: str
    difficulty: float | None


@dataclass(frozen=True)
class Looks:
    """Every answer that was looked at, and what its weaknesses have in common."""

    battles: Sequence[Fought]
    """Those that count, in slot order."""
    every: Sequence[Look]
    """In the order in which battles were first looked at, model_a's answer before model_b's."""
    embed: Embed | None = None
    """Makes vectors of weaknesses; None: their words are compared."""

    @cached_property
    def counts(self) -> Counter[str]:
        """Of how many answers each weakness was written."""
        return Counter(weakness for look in self.every for weakness in look.weaknesses)

    @cached_property
    def theme_of(self) -> dict[str, str]:
        """The theme of each weakness: one that was written and is most like all of its kind."""
        if len(self.counts) < 2:
            return {weakness: weakness for weakness in self.counts}
        from videoautoarena.runs.text.themes import find_themes

        return find_themes(self.counts, self.embed)

    def themes_of(self, weaknesses: Iterable[str]) -> list[str]:
        """Return the themes of weaknesses that were written down here, each once."""
        return list(dict.fromkeys(self.theme_of[weakness] for weakness in weaknesses))


def read_looks(battles: Iterable[Battle], embed: Embed | None = None) -> Looks:
    """Return the answers of `battles` that an attempt to evolve a question looked at.

    A battle counts once, however many attempts looked at it, with all that they wrote of it. What
    was looked at, but is none of `battles`, is left out.
    """
    fought, attempts = dict[str, Fought](), dict[str, list[Evolution]]()
    for of in battles:
        about = (of.video, of.model_a, of.model_b, of.verdict, of.difficulty)
        fought[of.id] = Fought(of.id, *about)
        for attempt in of.evolution:
            attempts.setdefault(attempt.battle, []).append(attempt)
    every = [
        look
        for id_, found in attempts.items()
        if id_ in fought
        for look in _both(fought[id_], found)
    ]
    return Looks(list(fought.values()), every, embed)


def _both(battle: Fought, found: Sequence[Evolution]) -> Iterator[Look]:
    """Yield what was written of the two answers of a battle."""
    of_a = [(of.weaknesses_a, of.faults_a) for of in found]
    of_b = [(of.weaknesses_b, of.faults_b) for of in found]
    for model, written in ((battle.model_a, of_a), (battle.model_b, of_b)):
        weaknesses = dict.fromkeys(text for texts, _ in written for text in texts)
        faults = dict.fromkeys(text for _, texts in written for text in texts)
        yield Look(battle.id, battle.video, model or "", tuple(weaknesses), tuple(faults))
