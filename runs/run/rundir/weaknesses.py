"""What the evolver wrote about answers, one record for each answer it looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from videoautoarena.memory.records.records import Battle

if TYPE_CHECKING:
    from videoautoarena.scoring.texts.themes import Embed


@dataclass(frozen=True)
class Look:
    """One answer in which the evolver looked for faults."""

    battle: str
    video: str
    model: str
    weaknesses: tuple[str, ...]
    """Weaknesses as they were written, each once; empty if none was found."""
    faults: tuple[str, ...]


class Fought(NamedTuple):
    """A battle without its texts."""

    id: str
    video: str
    model_a: str | None
    model_b: str | None
    verdict: str
    difficulty: float | None


@dataclass(frozen=True)
class Looks:
    """All answers that were looked at, and the themes of their weaknesses."""

    battles: Sequence[Fought]
    """Battles that count, in slot order."""
    every: Sequence[Look]
    """Looks in the order in which battles were first looked at, model_a's before model_b's."""
    embed: Embed | None = None
    """Makes vectors of weaknesses; None: their words are compared."""

    @cached_property
    def counts(self) -> Counter[str]:
        """Weakness to the number of answers of which it was written."""
        return Counter(weakness for look in self.every for weakness in look.weaknesses)

    @cached_property
    def theme_of(self) -> dict[str, str]:
        """Weakness to its theme: the written weakness that is most like all of its kind."""
        if len(self.counts) < 2:
            return {weakness: weakness for weakness in self.counts}
        from videoautoarena.scoring.texts.themes import find_themes

        return find_themes(self.counts, self.embed)

    def themes_of(self, weaknesses: Iterable[str]) -> list[str]:
        """Return the themes of some of these weaknesses, each once."""
        return list(dict.fromkeys(self.theme_of[weakness] for weakness in weaknesses))


def read_looks(battles: Iterable[Battle], embed: Embed | None = None) -> Looks:
    """Return the answers of `battles` that an attempt to evolve a question looked at.

    A battle counts once, however many attempts looked at it, with all that they wrote of it. What
    was looked at, but is none of `battles`, is left out.
    """
    fought = dict[str, Fought]()
    written = dict[str, tuple[_Written, _Written]]()
    for of in battles:
        about = (of.video, of.model_a, of.model_b, of.verdict, of.difficulty)
        fought[of.id] = Fought(of.id, *about)
        for attempt in of.evolution:
            a, b = written.setdefault(attempt.battle, (_Written({}, {}), _Written({}, {})))
            a.add(attempt.weaknesses_a, attempt.faults_a)
            b.add(attempt.weaknesses_b, attempt.faults_b)
    every = [
        Look(id_, battle.video, model or "", tuple(of.weaknesses), tuple(of.faults))
        for id_, both in written.items()
        if (battle := fought.get(id_)) is not None
        for model, of in zip((battle.model_a, battle.model_b), both, strict=True)
    ]
    return Looks(list(fought.values()), every, embed)


class _Written(NamedTuple):
    """What was written about one answer, each text once and in order."""

    weaknesses: dict[str, None]
    faults: dict[str, None]

    def add(self, weaknesses: Iterable[str], faults: Iterable[str]) -> None:
        self.weaknesses.update(dict.fromkeys(weaknesses))
        self.faults.update(dict.fromkeys(faults))
