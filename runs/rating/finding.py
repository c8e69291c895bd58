"""One figure about judging with its interval and sentence, and how alarms are listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from videoautoarena.runs.text.terminal import safe

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


class Check(NamedTuple):
    """What a figure is called, and what to hold it against."""

    name: str
    group: str
    """What it is shown with."""
    unit: Unit
    fair: float | None
    """What a fair judge would show; None where no value is right or wrong by itself."""


@dataclass(frozen=True)
class Finding:
    """One figure about the judging of a run."""

    key: str
    """Stable name for programs, such as `swap.flips`; the part before the dot is its section."""
    value: float
    """NaN where there is nothing to say it from."""
    low: float
    """Of its 95 % interval, as `high`; NaN where `value` is, or where no interval makes sense."""
    high: float
    n: int
    """Battles, judgings or pairs it stands on."""
    sentence: str
    """What it means, with the figure in it; holds no text of a model or a file unescaped."""
    is_alarm: bool = False
    """Whether a reader must know it before believing the ranking."""
    crosses: Crosses | None = field(default=None, compare=False)
    """Whether it is surely beyond its threshold; None of a figure that has none."""
    is_enough: bool = True
    """Whether it stands on cases enough, of more than one video, to raise an alarm."""
    is_even: bool = False
    """Whether its threshold is what a fair judge comes to, so that chance crosses it."""
    check: Check | None = None
    """None outside an audit."""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values; null where a figure is not finite."""
        figures = {name: figure_json(getattr(self, name)) for name in ("value", "low", "high")}
        about = {"n": self.n, "sentence": self.sentence, "alarm": self.is_alarm}
        check = self.check._asdict() if self.check else {}
        return {"key": self.key, **figures, **about, **check}


def raise_alarms(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with the alarms that they raise together, at most one in twenty by chance.

    An alarm needs ENOUGH cases and an interval beyond its threshold. Its level is 95 % where a fair
    judge stays well clear of the threshold, and Bonferroni's for all those figures together whose
    threshold is what a fair judge comes to. What stands on too few cases says so.
    """
    found = list(findings)
    even = sum(one.crosses is not None and one.is_enough and one.is_even for one in found)
    level = 1.0 - (1.0 - SURE) / max(even, 1)
    for k, one in enumerate(found):
        if one.crosses is not None and one.is_enough:
            found[k] = replace(one, is_alarm=bool(one.crosses(level if one.is_even else SURE)))
        elif one.crosses is not None:
            found[k] = replace(one, sentence=f"{one.sentence} Too few to tell.")
    return found


def alarms(findings: Iterable[Finding]) -> list[str]:
    """Return the sentences of those that must be known."""
    return [finding.sentence for finding in findings if finding.is_alarm]


def figure_json(value: float, digits: int = 6) -> float | None:
    """Return a figure for JSON; None where it is not finite."""
    return round(float(value), digits) if math.isfinite(value) else None


class Figure(NamedTuple):
    """A figure with its 95 % interval, rounded; None where it is not finite."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """What it stands on."""


UNKNOWN = Figure(None, None, None, 0)


def figure_of(share: Share) -> Figure:
    """Return a share, rounded."""
    value, low, high = map(figure_json, share[:3])
    return Figure(value, low, high, share.n)


def share_json(share: Share) -> dict[str, float | int | None]:
    """Return a share as JSON-ready values; null where a figure is not finite."""
    return figure_of(share)._asdict()


def fields_json(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass or named tuple by name, as JSON-ready values."""
    names = getattr(record, "_fields", None) or [field.name for field in fields(record)]
    return {name: _value_json(getattr(record, name)) for name in names}


def _value_json(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__"):
        return fields_json(value)
    if isinstance(value, Mapping):
        return {key: _value_json(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_value_json(one) for one in value]
    return value


def percent(found: Sequence[float | None]) -> str:
    """Return a share with its interval: `23.5 % (18.2 to 29.9)`; `unknown` of nothing."""
    value, low, high = (math.nan if x is None else 100 * x for x in found[:3])
    return "unknown" if math.isnan(value) else f"{value:.1f} % ({low:.1f} to {high:.1f})"


def sure_percent(chance: float) -> str:
    """Return a probability, 0.1 to 99.9 %: more is never sure from battles."""
    return f"{min(max(100 * chance, 0.1), 99.9):.1f} %"


def decimals(found: Sequence[float | None], *, nothing: str = "unknown") -> str:
    """Return a coefficient with its interval: `0.61 (0.48 to 0.74)`; `nothing` without one."""
    value, low, high = (math.nan if x is None else x for x in found[:3])
    return nothing if math.isnan(value) else f"{value:.2f} ({low:.2f} to {high:.2f})"


_USUAL = {
    "swap.flips": "verdicts changed by answer order",
    "length.longer": "wins of the longer answer",
    "length.only": "verdicts predicted by length alone",
    "verdicts.voids": "void battles",
}
_KNOWN = "truth.accuracy."
"""What the key of a judge's accuracy where the right answer is known begins with."""


def is_usual(key: str) -> bool:
    """Return whether a figure stands under every leaderboard, alarm or not."""
    return key in _USUAL or key.startswith(_KNOWN)


def is_by_language(key: str) -> bool:
    """Return whether a figure is of the judge in one language."""
    return key.startswith("language.")


def language_lines(found: Iterable[Finding]) -> list[str]:
    """Return what stands above a board by language: what is known of the judge in each."""
    each = [one for one in found if is_by_language(one.key)]
    marked = [f"{'ALARM' if one.is_alarm else '-'} {one.sentence}" for one in each]
    return [_FIRST, *marked] if marked else [_NOTHING_BY_LANGUAGE]


_FIRST = "First, the judge in each language (95 % intervals, clustered by video):"
_NOTHING_BY_LANGUAGE = (
    "Nothing is known of the judge by language: that takes verdicts in two languages that are "
    "known, and the order or the answers that they were given on."
)


def alarm_lines(found: Iterable[Finding]) -> list[str]:
    """Return the alarms among what an audit found, a line each."""
    return [f"AUDIT ALARM: {sentence}" for sentence in alarms(found)]


def share_lines(found: Iterable[Finding], *, of: str = "") -> list[str]:
    """Return a line of the usual shares among what an audit found, or none.

    `of` says what the shares are of, where that is not what stands above them.
    """
    findings = {one.key: one for one in found}
    known = {key: f"{safe(key.removeprefix(_KNOWN))} right on known answers"
             for key in findings if key.startswith(_KNOWN)}  # fmt: skip
    usual = [
        f"{what} {percent((one.value, one.low, one.high))}"
        for key, what in (_USUAL | known).items()
        if (one := findings.get(key)) is not None
    ]
    return [f"audit: {of}{'; '.join(usual)}. More: arena audit OUT."] if usual else []
