"""What the evolver wrote down about answers, a line for every answer it looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

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


@dataclass(frozen=True)
class Looks:
    """Every answer that was looked at, and what its weaknesses have in common."""

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
    videos, attempts = dict[str, str](), dict[str, list[Evolution]]()
    for battle in battles:
        videos[battle.id] = battle.video
        for attempt in battle.evolution:
            attempts.setdefault(attempt.battle, []).append(attempt)
    every = [
        _look(videos[id_], place, found)
        for id_, found in attempts.items()
        if id_ in videos
        for place in (0, 1)
    ]
    return Looks(every, embed)


def _look(video: str, place: int, found: Sequence[Evolution]) -> Look:
    weaknesses = [text for of in found for text in (of.weaknesses_a, of.weaknesses_b)[place]]
    faults = [text for of in found for text in (of.faults_a, of.faults_b)[place]]
    # What later attempts say is the same where models answer alike, and is then said once.
    return Look(
        found[0].battle,
        video,
        found[0].pair[place],
        tuple(dict.fromkeys(weaknesses)),
        tuple(dict.fromkeys(faults)),
    )
