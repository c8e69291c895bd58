"""Contestants that give no answer: how often, of how many battles, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from memory.store import Store
from runs.reading import one_line

MANY = 3
"""Fewer forfeits than this may happen to anybody."""
_LONGEST = 200


class Faulty(NamedTuple):
    """A contestant that forfeits more often than is accepted."""

    model: str
    forfeits: int
    battles: int
    """Those it was drawn for that ended, or questions that it was asked; voids aside."""
    reason: str
    """The most frequent one; may hold a provider's words."""

    def told(self, accepted: float, *, to: str = "battles") -> str:
        """Return it in a sentence; `to` says what it is drawn for or asked."""
        return (
            f"{one_line(self.model, 80)} gave no answer in {self.forfeits} of its {self.battles} "
            f"{to}, more than {100 * accepted:g} %: {one_line(self.reason, _LONGEST)}"
        )


class Forfeits:
    """How the battles of each contestant ended, as far as forfeits go."""

    def __init__(self) -> None:
        self.battles = Counter[str]()
        self.verdicts = Counter[str]()
        """Of all battles, voids among them."""
        self.reasons: dict[str, Counter[str]] = {}
        """By contestant."""

    @classmethod
    def of(cls, store: Store, *, superseded: Container[str]) -> Forfeits:
        """Return those of a run, without the battles that were played again."""
        found = cls()
        for id_, a, b, verdict in store.each_ending():
            if id_ not in superseded and verdict is not None:
                found.note(a, b, verdict, reason=_reason_of(store, id_, verdict))
        return found

    def note(self, a: str | None, b: str | None, verdict: str, *, reason: str | None) -> None:
        """Take in one battle."""
        self.verdicts[verdict] += 1
        if verdict == "void":
            return
        self.battles.update(name for name in (a, b) if name is not None)
        if verdict in ("forfeit_a", "forfeit_b"):
            loser = (a if verdict == "forfeit_a" else b) or "?"
            self.reasons.setdefault(loser, Counter())[reason or "no reason recorded"] += 1

    @property
    def counts(self) -> dict[str, int]:
        """How many forfeits each contestant has that has any, by name."""
        return {name: self.reasons[name].total() for name in sorted(self.reasons)}

    def faulty(self, accepted: float) -> tuple[Faulty, ...]:
        """Return the contestants with many forfeits and a larger share of them than accepted."""
        return tuple(
            Faulty(name, count, self.battles[name], self.reasons[name].most_common(1)[0][0])
            for name, count in self.counts.items()
            if count >= MANY and count > accepted * self.battles[name]
        )

    def as_json(self) -> Mapping[str, Any]:
        """Return the figures of `arena status --json`."""
        reasons = {name: dict(self.reasons[name].most_common()) for name in self.counts}
        return {"forfeits": self.counts, "forfeit_reasons": reasons}

    def as_lines(self) -> list[str]:
        """Return a line for each contestant and reason."""
        return [
            f"  forfeits of {one_line(name, 80)}, {count}: {one_line(reason, 120)}"
            for name in self.counts
            for reason, count in self.reasons[name].most_common()
        ]


def _reason_of(store: Store, id_: str, verdict: str) -> str | None:
    """Return why a battle was forfeit; the others are not read."""
    battle = store.battle(id_) if verdict.startswith("forfeit") else None
    return battle.reason if battle else None
