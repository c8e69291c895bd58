"""One figure about judging with its interval, and the words that tell it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast

from videoautoarena.runs.formats.record_json import LEFT_OUT, SPREAD, fields_json, keyed
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import FORMATS, Kind

if TYPE_CHECKING:
    from videoautoarena.scoring.intervals.proportions import Share


Crosses = Callable[[float], bool]
"""Takes a level, such as 0.95, and says whether an interval of it lies beyond a threshold."""
SURE = 0.95
"""How likely a fair judge is to raise no alarm at all, at least."""
ENOUGH = 20
"""Cases below which no alarm is raised."""


Unit = Literal["share", "coefficient", "points"]
"""Shares, and differences of shares, are of 1; coefficients say agreement beyond chance."""


class FindingCheck(NamedTuple):
    """The name of a figure, and what to compare it with."""

    name: str
    """What it is called in short, its owner in brackets: `Same verdict again (gpt)`. This and the
    rest stand in an audit, not in a leaderboard."""
    group: str
    """What it is shown with: `Seats`, `Length`, `Verdicts`, `Panel`, `Own family`, `Canaries`,
    `Without the video`, `Frames`, `Languages`, `Trials` or `People`."""
    unit: Unit
    """`share` (also a difference of shares), `coefficient` (agreement beyond chance) or `points`
    (of rating)."""
    fair: float | None
    """What a fair judge, asked and answered in full, would show: 0.5, 0 or 1; None where no value
    is right or wrong by itself."""


Told = str | float | Sequence[float | None] | None
"""A name or a setting; a count or another single figure; a figure and its interval."""


class WordPlace(NamedTuple):
    """A figure or a name among the words of a finding."""

    name: str
    kind: Kind | None
    """How it is written; None of a name, which is no figure."""
    fields: tuple[Any, ...]
    noun: str = ""
    """What is counted, as one is called."""

    @property
    def is_plural(self) -> bool:
        """Whether its noun takes an s."""
        return bool(self.noun) and self.fields[0] != 1

    @property
    def text(self) -> str:
        """What stands there, safe for a terminal."""
        if self.kind is None:
            return safe(str(self.fields[0]))
        return f"{FORMATS[self.kind].said(self.fields)} {self.noun}{'s' * self.is_plural}".rstrip()


@dataclass(frozen=True)
class Finding:
    """One figure about the judging of a run."""

    FIGURES: ClassVar = ("value", "low", "high")
    SHOWN: ClassVar = (
        *("key", *FIGURES, "n", "sentence", "is_alarm", "too_few", "videos", "check"),
    )
    key: str
    """Section and [figure](commands/trust.md#arena-audit-out), then whose: `swap.flips`,
    `swap.flips.gpt`; of two judges `panel.kappa.gpt, flash`."""
    value: float
    """A share, 0 to 1; an agreement beyond chance, up to 1; of `family.excess` a difference of
    shares; of a canary rating points. Not finite, in JSON null, where nothing is known."""
    low: float
    """Lower end of its 95 % interval; not finite, in JSON null, where `value` is not, or where no
    interval makes sense."""
    high: float
    """Upper end."""
    n: int
    """Number of battles, judgings or pairs behind it."""
    words: str
    """What it means, without a number or name: these stand in `{places}`.

    `{figure}` is the figure and its interval, `{n}` the number of cases behind it, `{videos}` how
    many videos these are about; all others are keys of `told`. A colon is followed by the kind of
    the figure, or by the noun that is counted: `{figure:coefficient_with_interval}`, `{n:battle}`.
    """
    is_alarm: bool = field(default=False, metadata=keyed("alarm"))
    """Whether it exceeds its threshold: a reader must know it before believing the ranking."""
    crosses: Crosses | None = field(default=None, compare=False)
    """Whether it is surely beyond its threshold; None of a figure that has none."""
    is_enough: bool = True
    """Whether it has enough cases, from more than one video, to raise an alarm."""
    is_even: bool = False
    """Whether a fair judge sits on its threshold, so that chance alone crosses it."""
    check: FindingCheck | None = field(default=None, metadata=SPREAD)
    """None outside an audit."""
    told: Mapping[str, Told] = field(default_factory=dict)
    """What else the words name."""
    videos: int | None = field(default=None, metadata=LEFT_OUT)
    """Videos behind it, which are the clusters of its interval; left out where nobody counts
    them."""

    @property
    def too_few(self) -> bool:
        """Whether it has a threshold, but too few cases to pass or to raise an alarm."""
        return self.crosses is not None and not self.is_enough

    @property
    def parts(self) -> Iterator[str | WordPlace]:
        """The words, and what stands among them."""
        for words, name, spec, _ in Formatter().parse(self.words):
            if words:
                yield words
            if name is not None:
                yield self._place(name, spec or "")

    def _place(self, name: str, spec: str) -> WordPlace:
        figure = (self.value, self.low, self.high)
        given = {"figure": figure, "n": self.n, "videos": self.videos, **self.told}[name]
        if isinstance(given, str):
            return WordPlace(name, None, (given,))
        each = (given,) if given is None or isinstance(given, int | float) else given[:3]
        values = tuple(x if x is None or isinstance(x, int) else figure_json(x) for x in each)
        if spec in FORMATS:
            # Only kinds that are made of one number have digits.
            some = values[:1] if FORMATS[cast(Kind, spec)].digits else values
            return WordPlace(name, cast(Kind, spec), some)
        return WordPlace(name, "share_with_interval" if len(values) > 1 else "count", values, spec)

    @property
    def sentence(self) -> str:
        """What it means, with the figure in it; safe for a terminal."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values; null where a figure is not finite."""
        figures = {name: figure_json(getattr(self, name)) for name in self.FIGURES}
        return fields_json(self) | figures


def raise_alarms(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with the alarms that they raise together, at most one in twenty by chance.

    An alarm needs ENOUGH cases and an interval beyond its threshold. Its level is 95 % where a fair
    judge stays well clear of the threshold, and Bonferroni's for all those figures together whose
    threshold a fair judge sits on. A figure on too few cases says so.
    """
    found = list(findings)
    even = sum(one.crosses is not None and one.is_enough and one.is_even for one in found)
    # With 95 % for each figure a fair judge raised some alarm in 6 % of runs, and four right
    # answers of four on one video were enough to brand a judge.
    level = 1.0 - (1.0 - SURE) / max(even, 1)
    for k, one in enumerate(found):
        if one.crosses is not None and one.is_enough:
            # Bonferroni everywhere would be too much: a judge that always takes the longer answer
            # then raised an alarm on 12 videos in only 8 runs of 20.
            found[k] = replace(one, is_alarm=bool(one.crosses(level if one.is_even else SURE)))
        # Said in words, since a figure without an alarm otherwise reads as one that passed.
        elif one.too_few:
            found[k] = replace(one, words=f"{one.words} Too few to tell.")
    return found


def alarms(findings: Iterable[Finding]) -> list[str]:
    """Return the sentences of the findings that raise an alarm."""
    return [finding.sentence for finding in findings if finding.is_alarm]


def figure_json(value: float, digits: int = 6) -> float | None:
    """Return a figure for JSON; None where it is not finite."""
    # JSON has neither NaN nor infinity.
    return round(float(value), digits) if math.isfinite(value) else None


class Figure(NamedTuple):
    """A figure with its 95 % interval, rounded; None where it is not finite."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """Units it is a figure of: battles, judgings, pairs or answers."""


UNKNOWN = Figure(None, None, None, 0)


def figure_of(share: Share) -> Figure:
    """Return a share, rounded."""
    value, low, high = map(figure_json, share[:3])
    return Figure(value, low, high, share.n)


USUAL = {
    "swap.flips": "verdicts changed by answer order",
    "length.longer": "wins of the longer answer",
    "length.only": "verdicts predicted by length alone",
    "verdicts.voids": "void battles",
}
"""What stands under every leaderboard, alarm or not."""
KNOWN = "truth.accuracy."
"""Start of the key of a judge's accuracy on cases whose right answer is known."""


def is_usual(key: str) -> bool:
    """Return whether a figure stands under every leaderboard, alarm or not."""
    return key in USUAL or key.startswith(KNOWN)


def is_by_language(key: str) -> bool:
    """Return whether a figure is about the judge in one language."""
    return key.startswith("language.")
