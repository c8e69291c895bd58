"""What an audit says of a judge: a figure with its interval, and one plain sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring.shares import Share


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

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values; null where a figure is not finite."""
        figures = {name: tell_figure(getattr(self, name)) for name in ("value", "low", "high")}
        about = {"n": self.n, "sentence": self.sentence, "alarm": self.is_alarm}
        return {"key": self.key, **figures, **about}


def alarms(findings: Sequence[Finding]) -> list[str]:
    """Return the sentences of those that must be known."""
    return [finding.sentence for finding in findings if finding.is_alarm]


def tell_figure(value: float, digits: int = 6) -> float | None:
    """Return a figure for JSON; None where it is not finite."""
    return round(float(value), digits) if math.isfinite(value) else None


def tell_share(share: Share) -> dict[str, float | int | None]:
    """Return a share as JSON-ready values; null where a figure is not finite."""
    figures = {name: tell_figure(getattr(share, name)) for name in ("value", "low", "high")}
    return {**figures, "n": share.n}
