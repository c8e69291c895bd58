"""Labels of a run on a terminal and as JSON: by whom, how many, how far people and judges agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from videoautoarena.memory.records.records import DECIDED, SCHEMA
from videoautoarena.runs.audit.checks import with_checks
from videoautoarena.runs.audit.human_agreement import (
    TIE,
    Spoken,
    calibrate,
    compare,
    judge_labels,
    spoken_of,
)
from videoautoarena.runs.rating.finding import raise_alarms, share_json
from videoautoarena.runs.rundir.reader import Run, counted
from videoautoarena.runs.text.tables import plain_grid
from videoautoarena.runs.text.terminal import safe

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST_NAME = 30


def show_labels(run: Run) -> dict[str, Any]:
    """Return who labelled how much, how far people and judges agree, as JSON-ready values."""
    spoken, every = spoken_of(run), run.store.evidence.labels()
    samples = run.store.evidence.samples()
    verdicts = run.store.verdicts()
    decided = {id_ for id_ in run.settled if verdicts[id_] in DECIDED}
    drawn = {id_ for sample in samples for id_ in sample.drawn} & decided
    labelled = {of.battle.id for of in spoken}
    said = judge_labels(spoken, seats_count=run.manifest.get("swap") == "all")
    return {
        "schema": SCHEMA,
        "labels": len(spoken),
        "battles": len(labelled),
        "left_out": len(every) - len(spoken),
        "sample": {"drawn": len(drawn), "labelled": len(drawn & labelled), "decided": len(decided)},
        "labellers": _labellers(spoken),
        "findings": [finding.to_json() for finding in with_checks(raise_alarms(said))],
        "calibration": calibrate(run.battles, spoken) if spoken else [],
    }


def _labellers(spoken: Sequence[Spoken]) -> list[dict[str, Any]]:
    counts = Counter(of.label.labeller for of in spoken)
    rows = []
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        mine = compare([of for of in spoken if of.label.labeller == name])
        rows.append(
            {
                "labeller": name,
                "labels": counts[name],
                "ties": int((mine.people == TIE).sum()),
                "agreed": share_json(mine.agreement().share),
            }
        )
    return rows


def render_labels(shown: dict[str, Any]) -> RenderableType:
    """Return what `show_labels` found for a console of 80 columns or more."""
    if not shown["labels"]:
        return Group(*(Text(line) for line in _head(shown)))
    people = plain_grid("labeller", "labels", "ties", "agrees with the judge", gap=2)
    for row in shown["labellers"]:
        name = safe(row["labeller"])
        short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
        people.add_row(Text(short), str(row["labels"]), str(row["ties"]), percent(row["agreed"]))
    titles = ("rating gap", "labels", "judge agrees", "people pick better", "expected")
    gaps = plain_grid(*titles, gap=2)
    for row in shown["calibration"]:
        to = "and more" if row["gap_to"] is None else f"to {row['gap_to']:.0f}"
        gaps.add_row(
            f"{row['gap_from']:.0f} {to}",
            str(row["agreed"]["n"]),
            percent(row["agreed"]),
            percent(row["better"]),
            f"{100 * row['expected']:.0f} %",
        )
    findings = [Text(f"- {finding['sentence']}") for finding in shown["findings"]]
    below: list[RenderableType] = (
        [Text(""), gaps, Text(_ABOUT_GAPS)] if shown["calibration"] else []
    )
    head = [Text(line) for line in _head(shown)]
    return Group(*head, Text(""), people, Text(""), *findings, *below)


_ABOUT_GAPS = (
    "Without ties. Gaps are between the judge's ratings; expected: how often "
    "people should prefer the higher-rated model."
)


def percent(share: dict[str, Any]) -> str:
    """Return a share with its interval: `72 % (64 to 79)`."""
    if share["value"] is None:
        return "-"
    low, high = 100 * share["low"], 100 * share["high"]
    return f"{100 * share['value']:.0f} % ({low:.0f} to {high:.0f})"


def _head(shown: dict[str, Any]) -> list[str]:
    sample, lines = shown["sample"], []
    if not shown["labels"]:
        lines.append("No labels yet; arena labels import adds them.")
    else:
        lines.append(
            f"{counted(shown['labels'], 'label')} of {counted(shown['battles'], 'battle')} by "
            f"{len(shown['labellers'])} {'person' if len(shown['labellers']) == 1 else 'people'}."
        )
    if shown["left_out"]:
        lines.append(f"{counted(shown['left_out'], 'label')} of superseded battles left out.")
    drawn = f"{sample['drawn']} of {counted(sample['decided'], 'decided battle')}"
    lines.append(
        f"Drawn at random: {drawn}, {sample['labelled']} of them labelled."
        if sample["drawn"]
        else "No battles were drawn at random yet; arena labels sample draws some."
    )
    return lines
