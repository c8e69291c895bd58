"""What each figure of an audit is called, where it belongs, and what a fair judge would show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.rating.finding import Check, Finding, Unit

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
"""Of the sections, by what the keys of their findings begin with."""


class _Kind(NamedTuple):
    """What all figures of one kind have in common, whosever they are."""

    name: str
    fair: float | None = None
    """None where no value is right or wrong by itself."""
    unit: Unit = "share"


_KINDS = {
    "frames.fewer": _Kind("Calls with fewer frames than others", 0.0),
    "frames.none": _Kind("Sent no frames"),
    "frames.short": _Kind("Calls with too few frames", 0.0),
    "seats.first": _Kind("First answer wins", 0.5),
    "swap.flips": _Kind("Verdicts changed by order", 0.0),
    "swap.first": _Kind("First answer's points, both orders", 0.5),
    "length.longer": _Kind("Longer answer wins"),
    "length.only": _Kind("Agrees with length alone"),
    "length.matched": _Kind("Longer of two equally long wins", 0.5),
    "verdicts.same_answers": _Kind("Two models, one answer", 0.0),
    "verdicts.ties": _Kind("Ties and splits"),
    "verdicts.both_bad": _Kind("Both answers bad"),
    "verdicts.voids": _Kind("Void battles", 0.0),
    "verdicts.forfeits": _Kind("Forfeits", 0.0),
    "verdicts.abstentions": _Kind("Judge could not tell", 0.0),
    "panel.alpha": _Kind("Agreement of all judges", unit="coefficient"),
    "panel.agreement": _Kind("Two judges agree"),
    "panel.kappa": _Kind("Two judges beyond chance", unit="coefficient"),
    "panel.unanimous": _Kind("Panel unanimous"),
    "panel.majority": _Kind("Panel decided by most votes"),
    "panel.split": _Kind("Panel split evenly"),
    "panel.minority": _Kind("Judge outvoted"),
    "panel.abstentions": _Kind("Judge could not tell", 0.0),
    "family.own": _Kind("Prefers its own family"),
    "family.excess": _Kind("More than other families' judges", 0.0),
    "canary.any": _Kind("Canaries", unit="points"),
    "canary.parrot": _Kind("Ahead of the parrot", unit="points"),
    "canary.blind": _Kind("Ahead of one without frames", unit="points"),
    "canary.windbag": _Kind("Padding gains nothing", 0.0, "points"),
    "canary.trickster": _Kind("Words to the judge gain nothing", 0.0, "points"),
    "leak.blind": _Kind("Won without the video", 0.0),
    "language.flips": _Kind("Verdicts changed by order, by language", 0.0),
    "language.flips_gap": _Kind("Beside other languages, changed by order", 0.0),
    "language.first": _Kind("First answer wins, by language", 0.5),
    "language.first_gap": _Kind("Beside other languages, first answer wins", 0.0),
    "language.longer": _Kind("Longer answer wins, by language"),
    "language.longer_gap": _Kind("Beside other languages, longer answer wins", 0.0),
    "language.truth": _Kind("Right on known answers, by language", 1.0),
    "language.truth_gap": _Kind("Beside other languages, right on known answers", 0.0),
    "language.kept": _Kind("Questions in the language drawn", 1.0),
    "repeat.same": _Kind("Same verdict again", 1.0),
    "attack.fallen": _Kind("Attacks that win", 0.0),
    "attack.without": _Kind("Same answers without attack", 0.0),
    "attack.by": _Kind("Attack wins", 0.0),
    "attack.harmless": _Kind("Attacks that never win", 1.0),
    "constant.unbeaten": _Kind("Constant answer not beaten", 0.0),
    "truth.accuracy": _Kind("Right on known answers", 1.0),
    "truth.needle": _Kind("Right on foreign pieces", 1.0),
    "truth.card": _Kind("Right on flat colours", 1.0),
    "truth.order": _Kind("Right on order", 1.0),
    "truth.count": _Kind("Right on counts", 1.0),
    "truth.short-long": _Kind("Right answer the shorter", 1.0),
    "truth.long-short": _Kind("Right answer the longer", 1.0),
    "truth.short-short": _Kind("Right, both answers short", 1.0),
    "truth.long-long": _Kind("Right, both answers long", 1.0),
    "truth.longer": _Kind("Picks the longer answer", 0.5),
    "truth.abstained": _Kind("Could not tell on known answers", 0.0),
    "trials.unheard": _Kind("Trials without a verdict", 0.0),
    "labels.agreement": _Kind("Agrees with people"),
    "labels.kappa": _Kind("Agrees with people beyond chance", unit="coefficient"),
    "labels.agreement_without_ties": _Kind("Agrees with people, ties aside"),
    "labels.kappa_without_ties": _Kind("Beyond chance with people, ties aside", unit="coefficient"),
    "labels.length_matched": _Kind("Agrees with people at equal length"),
    "labels.length_only": _Kind("People choose the longer answer"),
    "labels.length_gain": _Kind("Better than picking the longer"),
    "labels.people": _Kind("Two people agree"),
    **{
        f"labels.people_{name}": _Kind(f"Two people agree on {standard.words}")
        for name, standard in STANDARDS.items()
    },
    "labels.krippendorff": _Kind("Agreement of all people", unit="coefficient"),
    **{
        f"labels.{name}": _Kind(f"People's verdict follows {standard.words}")
        for name, standard in STANDARDS.items()
    },
    **{
        f"labels.judge_{name}": _Kind(f"Agrees with people on {standard.words}")
        for name, standard in STANDARDS.items()
    },
}
"""By section and figure."""


def with_checks(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings of an audit that say what they are called and what would be fair."""
    return [replace(found, check=check_of(found.key)) for found in findings]


def check_of(key: str) -> Check:
    """Return what the figure of a key is called, its owner behind it: `Same verdict again (gpt)`.

    Raises:
        KeyError: no audit has such a figure.
    """
    section, figure, *whose = key.split(".", 2)
    name, fair, unit = _KINDS[f"{section}.{figure}"]
    owner = f" ({safe(whose[0])})" if whose else ""
    return Check(f"{name}{owner}", GROUPS[section], unit, fair)
