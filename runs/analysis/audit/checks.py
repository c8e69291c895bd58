"""Names each figure of an audit, its section, and the value that a fair judge would show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import Finding, FindingCheck, Unit

GROUPS = {
    "frames": "Frames",
    "seats": "Seats",
    "swap": "Seats",
    "length": "Length",
    "verdicts": "Verdicts",
    "panel": "Panel",
    "family": "Own family",
    "canary": "Canaries",
    "leak": "Without the video",
    "language": "Languages",
    "repeat": "Trials",
    "attack": "Trials",
    "constant": "Trials",
    "truth": "Trials",
    "trials": "Trials",
    "labels": "People",
}
"""Titles of the sections, by what the keys of their findings begin with."""


class _FigureKind(NamedTuple):
    """What all figures of one kind share, whichever judge or model they are about."""

    name: str
    fair: float | None = None
    """None where no value is right or wrong by itself."""
    unit: Unit = "share"


# A figure without a row here raises KeyError, so that no audit gets one without a name and a value
# to hold it against.
_KINDS = {
    "frames.fewer": _FigureKind("Calls with fewer frames than others", 0.0),
    "frames.none": _FigureKind("Sent no frames"),
    "frames.short": _FigureKind("Calls with too few frames", 0.0),
    "seats.first": _FigureKind("First answer wins", 0.5),
    "swap.flips": _FigureKind("Verdicts changed by order", 0.0),
    "swap.first": _FigureKind("First answer's points, both orders", 0.5),
    "length.longer": _FigureKind("Longer answer wins"),
    "length.only": _FigureKind("Agrees with length alone"),
    "length.matched": _FigureKind("Longer of two equally long wins", 0.5),
    "verdicts.same_answers": _FigureKind("Two models, one answer", 0.0),
    "verdicts.ties": _FigureKind("Ties and splits"),
    "verdicts.both_bad": _FigureKind("Both answers bad"),
    "verdicts.voids": _FigureKind("Void battles", 0.0),
    "verdicts.forfeits": _FigureKind("Forfeits", 0.0),
    "verdicts.abstentions": _FigureKind("Judge could not tell", 0.0),
    "panel.alpha": _FigureKind("Agreement of all judges", unit="coefficient"),
    "panel.agreement": _FigureKind("Two judges agree"),
    "panel.kappa": _FigureKind("Two judges beyond chance", unit="coefficient"),
    "panel.unanimous": _FigureKind("Panel unanimous"),
    "panel.majority": _FigureKind("Panel decided by most votes"),
    "panel.split": _FigureKind("Panel split evenly"),
    "panel.minority": _FigureKind("Judge outvoted"),
    "panel.abstentions": _FigureKind("Judge could not tell", 0.0),
    "family.own": _FigureKind("Prefers its own family"),
    "family.excess": _FigureKind("More than other families' judges", 0.0),
    "canary.any": _FigureKind("Canaries", unit="points"),
    "canary.parrot": _FigureKind("Ahead of the parrot", unit="points"),
    "canary.blind": _FigureKind("Ahead of one without frames", unit="points"),
    "canary.windbag": _FigureKind("Padding gains nothing", 0.0, "points"),
    "canary.trickster": _FigureKind("Words to the judge gain nothing", 0.0, "points"),
    "leak.blind": _FigureKind("Won without the video", 0.0),
    "language.flips": _FigureKind("Verdicts changed by order, by language", 0.0),
    "language.flips_gap": _FigureKind("Beside other languages, changed by order", 0.0),
    "language.first": _FigureKind("First answer wins, by language", 0.5),
    "language.first_gap": _FigureKind("Beside other languages, first answer wins", 0.0),
    "language.longer": _FigureKind("Longer answer wins, by language"),
    "language.longer_gap": _FigureKind("Beside other languages, longer answer wins", 0.0),
    "language.truth": _FigureKind("Right on known answers, by language", 1.0),
    "language.truth_gap": _FigureKind("Beside other languages, right on known answers", 0.0),
    "language.kept": _FigureKind("Questions in the language drawn", 1.0),
    "repeat.same": _FigureKind("Same verdict again", 1.0),
    "attack.fallen": _FigureKind("Attacks that win", 0.0),
    "attack.without": _FigureKind("Same answers without attack", 0.0),
    "attack.by": _FigureKind("Attack wins", 0.0),
    "attack.harmless": _FigureKind("Attacks that never win", 1.0),
    "constant.unbeaten": _FigureKind("Constant answer not beaten", 0.0),
    "truth.accuracy": _FigureKind("Right on known answers", 1.0),
    "truth.needle": _FigureKind("Right on foreign pieces", 1.0),
    "truth.card": _FigureKind("Right on flat colours", 1.0),
    "truth.order": _FigureKind("Right on order", 1.0),
    "truth.count": _FigureKind("Right on counts", 1.0),
    "truth.short-long": _FigureKind("Right answer the shorter", 1.0),
    "truth.long-short": _FigureKind("Right answer the longer", 1.0),
    "truth.short-short": _FigureKind("Right, both answers short", 1.0),
    "truth.long-long": _FigureKind("Right, both answers long", 1.0),
    "truth.longer": _FigureKind("Picks the longer answer", 0.5),
    "truth.abstained": _FigureKind("Could not tell on known answers", 0.0),
    "trials.unheard": _FigureKind("Trials without a verdict", 0.0),
    "labels.agreement": _FigureKind("Agrees with people"),
    "labels.kappa": _FigureKind("Agrees with people beyond chance", unit="coefficient"),
    "labels.agreement_without_ties": _FigureKind("Agrees with people, ties aside"),
    "labels.kappa_without_ties": _FigureKind(
        "Beyond chance with people, ties aside", unit="coefficient"
    ),
    "labels.length_matched": _FigureKind("Agrees with people at equal length"),
    "labels.length_only": _FigureKind("People choose the longer answer"),
    "labels.length_gain": _FigureKind("Better than picking the longer"),
    "labels.people": _FigureKind("Two people agree"),
    **{
        f"labels.people_{name}": _FigureKind(f"Two people agree on {standard.words}")
        for name, standard in STANDARDS.items()
    },
    "labels.krippendorff": _FigureKind("Agreement of all people", unit="coefficient"),
    **{
        f"labels.{name}": _FigureKind(f"People's verdict follows {standard.words}")
        for name, standard in STANDARDS.items()
    },
    **{
        f"labels.judge_{name}": _FigureKind(f"Agrees with people on {standard.words}")
        for name, standard in STANDARDS.items()
    },
}
"""Kinds of figures by section and figure, the start of their keys."""


def with_checks(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings of an audit with their names and fair values."""
    return [replace(found, check=check_of(found.key)) for found in findings]


def check_of(key: str) -> FindingCheck:
    """Return the check of a key, its name followed by its owner: `Same verdict again (gpt)`.

    Raises:
        KeyError: no audit has such a figure.
    """
    # No further, since the name of a model may hold dots.
    section, figure, *whose = key.split(".", 2)
    name, fair, unit = _KINDS[f"{section}.{figure}"]
    owner = f" ({safe(whose[0])})" if whose else ""
    return FindingCheck(f"{name}{owner}", GROUPS[section], unit, fair)
