"""The audit of a run's judges on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from runs.audit import Report
from runs.console import safe
from runs.reading import STAND_INS, counted

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
