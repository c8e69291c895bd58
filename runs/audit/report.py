"""The audit of a run's judges on a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.audit.biases import audit_family, audit_length, audit_seats
from videoautoarena.runs.audit.canaries import audit_canaries, audit_frames, audit_leak
from videoautoarena.runs.audit.evidence import AuditInput
from videoautoarena.runs.audit.verdicts import audit_panel, audit_verdicts
from videoautoarena.runs.rating.finding import Finding, is_usual, raise_alarms
from videoautoarena.runs.rating.table import count_verdicts
from videoautoarena.runs.rundir.reader import (
    STAND_INS,
    Run,
    counted,
    open_run,
    rates_stand_ins,
    warnings_of,
)
from videoautoarena.runs.text.terminal import safe


def _trials(given: AuditInput) -> list[Finding]:
    """Return what trials say; a run without them needs none of the modules that read them."""
    if not given.trials:
        return []
    from videoautoarena.runs.audit.trial_figures import audit_trials
    from videoautoarena.runs.audit.truth_figures import audit_truth

    return [*audit_trials(given), *audit_truth(given)]


def _labels(given: AuditInput) -> list[Finding]:
    if given.is_brief and not given.labels:
        return []
    from videoautoarena.runs.audit.human_agreement import audit_labels

    return audit_labels(given)


Report = dict[str, Any]
SECTIONS: tuple[Callable[[AuditInput], list[Finding]], ...] = (
    audit_frames,
    audit_seats,
    audit_length,
    audit_verdicts,
    audit_panel,
    audit_family,
    audit_canaries,
    audit_leak,
    _trials,
    _labels,
)
"""In the order in which they are shown; the key of a finding begins with its section's name."""


def audit(folder: Path) -> Report:
    """Return what the run in `folder` tells of its judges, as JSON-ready values.

    Raises:
        BadInput: no such folder, or no run in it.
    """
    with open_run(folder) as run:
        given = read_input(run)
        findings = find_all(given)
        return {
            "schema": SCHEMA,
            "judges": {judge: given.model_of(judge) for judge in given.judges},
            "totals": count_verdicts(Counter(battle.verdict for battle in given.battles)),
            "stand_ins": rates_stand_ins(run.manifest),
            "warnings": warnings_of(run),
            "findings": [found.as_json() for found in findings],
        }


def brief(run: Run) -> list[dict[str, Any]]:
    """Return the findings that stand under a leaderboard, as JSON-ready values."""
    return [found.as_json() for found in chosen(find_all(read_input(run, is_brief=True)))]


def chosen(found: Sequence[Finding]) -> list[Finding]:
    """Return the findings that stand under a leaderboard: the alarms, then the usual.

    An alarm about one judge is left out where all judges together raise it.
    """
    raised = {f.key for f in found if f.is_alarm}
    alarms = [f for f in found if f.is_alarm and _of_all(f.key) not in raised - {f.key}]
    usual = [f for f in found if is_usual(f.key) and not f.is_alarm]
    return [*alarms, *usual]


def _of_all(key: str) -> str:
    """Return the key of a figure of all judges, for that of one: `swap.flips`."""
    return ".".join(key.split(".", 2)[:2])


def read_input(run: Run, *, is_brief: bool = False) -> AuditInput:
    """Return what the sections look at."""
    evidence = run.store.evidence
    return AuditInput(
        run.battles,
        run.manifest,
        evidence.labels(),
        evidence.samples(),
        evidence.trials(),
        {video.id: video for video in run.store.videos()},
        run.shortfalls,
        is_brief,
    )


def find_all(given: AuditInput) -> list[Finding]:
    """Return the findings of every section, with the alarms that they raise together."""
    return raise_alarms(found for section in SECTIONS for found in section(given))


TITLES = {
    "frames": "Frames that were not seen",
    "seats": "Who is read first",
    "swap": "Judged from both seatings",
    "length": "Length",
    "verdicts": "How battles ended",
    "panel": "The panel",
    "family": "A judge's own family",
    "canary": "Canaries",
    "leak": "Questions that need no video",
    "repeat": "Trials: the same case again",
    "attack": "Trials: answers that attack the judge",
    "constant": "Trials: answers that say nothing",
    "truth": "Trials: clips whose right answer is known",
    "trials": "Trials without a verdict",
    "labels": "People's labels",
}
"""Of the sections, by what the keys of their findings begin with."""


def render(report: Report) -> RenderableType:
    """Return the alarms, then every section; each figure in one sentence.

    Sentences hold names and reasons of a run, already made safe by whoever wrote them.
    """
    findings = report["findings"]
    lines: list[RenderableType] = [Text(_heading(report))]
    if report["stand_ins"]:
        lines.append(Text(f"note: {STAND_INS}"))
    lines += [Text(f"note: {safe(warning)}") for warning in report["warnings"]]
    lines += [Text(""), *_block("Alarms", [f for f in findings if f["alarm"]] or [_NO_ALARM])]
    for name, found in groupby(findings, lambda f: f["key"].partition(".")[0]):
        lines += [Text(""), *_block(TITLES.get(name, name), list(found))]
    return Group(*lines)


_NO_ALARM = {"sentence": "None of the figures below passes its threshold for sure.", "alarm": False}


def _heading(report: Report) -> str:
    totals = report["totals"]
    judges = ", ".join(
        safe(name if name == model else f"{name} ({model})")
        for name, model in report["judges"].items()
    )
    return (
        f"Judged by {judges or 'nobody'}: {counted(totals['battles'], 'battle')}, "
        f"{totals['decided']} decided. Intervals hold 95 % and know which battles share a video."
    )


def _block(title: str, findings: Sequence[dict[str, Any]]) -> list[RenderableType]:
    return [Text(title, style="bold"), *(_Item(f["sentence"], f["alarm"]) for f in findings)]


@dataclass(frozen=True)
class _Item:
    """A sentence behind a dash, broken between words; no line of it begins with a `%`."""

    sentence: str
    is_alarm: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        mark = "  ALARM: " if self.is_alarm else "  - "
        lines = textwrap.wrap(
            self.sentence.replace(" %", "\xa0%"),
            options.max_width,
            initial_indent=mark,
            subsequent_indent=" " * 4,
            break_on_hyphens=False,
        )
        for line in lines:
            yield Text(line.replace("\xa0%", " %"), style="bold" if self.is_alarm else "")
