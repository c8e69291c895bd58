"""The audit of a run's judges on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from videoautoarena.runs.rating.finding import (
    Finding,
    fields_json,
    is_by_language,
    is_usual,
    raise_alarms,
)
from videoautoarena.runs.rating.method import Totals
from videoautoarena.runs.rating.table import count_verdicts
from videoautoarena.runs.rundir.call_facts import CallFact, fact_lines
from videoautoarena.runs.rundir.reader import (
    STAND_INS,
    Run,
    blind_lines,
    counted,
    open_run,
    rates_stand_ins,
    state_of,
)
from videoautoarena.runs.text.terminal import safe


def _trials(given: AuditInput) -> list[Finding]:
    """Return what trials say; a run without them needs none of the modules that read them."""
    if not given.trials:
        return []
    from videoautoarena.runs.audit.trial_figures import audit_trials
    from videoautoarena.runs.audit.truth_figures import audit_truth

    return [*audit_trials(given), *audit_truth(given)]


def _languages(given: AuditInput) -> list[Finding]:
    if not given.by_language and not any(given.outlines.texts["language"].counts()):
        return []
    from videoautoarena.runs.audit.languages import audit_languages

    return audit_languages(given)


def _labels(given: AuditInput) -> list[Finding]:
    if given.is_brief and not given.labels:
        return []
    from videoautoarena.runs.audit.human_agreement import audit_labels

    return audit_labels(given)


SECTIONS: tuple[Callable[[AuditInput], list[Finding]], ...] = (
    audit_frames,
    audit_seats,
    audit_length,
    audit_verdicts,
    audit_panel,
    audit_family,
    audit_canaries,
    audit_leak,
    _languages,
    _trials,
    _labels,
)
"""In the order in which they are shown; the key of a finding begins with its section's name."""


@dataclass(frozen=True)
class AuditReport:
    """What a run says of its judges."""

    judges: Mapping[str, str]
    """Names of all who judged, each with the `provider:model` that it stands for."""
    totals: Totals
    stand_ins: bool
    """The run's models are offline ones."""
    warnings: Sequence[str]
    findings: Sequence[Finding]
    """Section by section; their alarms are those that they raise together."""
    facts: Sequence[CallFact] = ()
    """What is so of the calls of contestants, judges and examiner."""

    @property
    def alarms(self) -> list[Finding]:
        """Return the findings that a reader must know before believing the ranking."""
        return [found for found in self.findings if found.is_alarm]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {"schema": SCHEMA, **fields_json(self)}


def audit(folder: Path) -> AuditReport:
    """Return what the run in `folder` says of its judges.

    Raises:
        BadInput: no such folder, or no run in it.
    """
    with open_run(folder) as run:
        return audit_in(run)


def audit_in(run: Run) -> AuditReport:
    """Return what an open run says of its judges."""
    # What stands under a leaderboard is found without it.
    from videoautoarena.runs.audit.checks import with_checks
    from videoautoarena.runs.trials.trial import blind_on_trial

    given = read_input(run)
    on_trial = blind_lines(blind_on_trial(run.store, given.trials))
    return AuditReport(
        {judge: given.model_of(judge) for judge in given.judges},
        count_verdicts(given.outlines.texts["verdict"].counts()),
        rates_stand_ins(run.manifest),
        list(dict.fromkeys([*state_of(run), *on_trial])),
        with_checks(find_all(given)),
        [one for one in run.call_facts if "audit" in one.fact.surfaces],
    )


def brief(run: Run, *, by_language: bool = False) -> list[Finding]:
    """Return the findings that stand under a leaderboard, or beside one by language."""
    given = read_input(run, is_brief=True)
    return chosen(find_all(replace(given, by_language=by_language)), by_language=by_language)


def chosen(found: Sequence[Finding], *, by_language: bool = False) -> list[Finding]:
    """Return the findings that stand under a leaderboard: the alarms, then the usual.

    An alarm about one judge is left out where all judges together raise it. What is found by
    language stands before them where the board is by language.
    """
    first = [f for f in found if by_language and is_by_language(f.key)]
    raised = {f.key for f in found if f.is_alarm}
    alarms = [f for f in found if f.is_alarm and _of_all(f.key) not in raised - {f.key}]
    usual = [f for f in found if is_usual(f.key) and not f.is_alarm]
    return [*first, *(f for f in alarms if f not in first), *usual]


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
    "frames": "Frames not seen",
    "seats": "Position bias",
    "swap": "Judged in both orders",
    "length": "Length",
    "verdicts": "How battles ended",
    "panel": "The panel",
    "family": "Self-preference",
    "canary": "Canaries",
    "leak": "Questions answerable without the video",
    "language": "The judge in each language",
    "repeat": "Trials: repeated cases",
    "attack": "Trials: attacks on the judge",
    "constant": "Trials: constant answers",
    "truth": "Trials: known right answers",
    "trials": "Trials without a verdict",
    "labels": "People's labels",
}
"""Of the sections, by what the keys of their findings begin with."""


FACTS_TITLE = "How calls went"


def render(report: AuditReport) -> RenderableType:
    """Return the alarms, then every section; each figure in one sentence.

    Sentences hold names and reasons of a run, already made safe by whoever wrote them.
    """
    lines: list[RenderableType] = [Text(_heading(report))]
    if report.stand_ins:
        lines.append(Text(f"note: {STAND_INS}"))
    lines += [Text(f"note: {safe(warning)}") for warning in report.warnings]
    if report.facts:
        lines += [Text(""), Text(FACTS_TITLE, style="bold")]
        lines += [_Item(f"{line}.") for line in fact_lines(report.facts)]
    alarms = [_Item(f.sentence, is_alarm=True) for f in report.alarms]
    lines += [Text(""), Text("Alarms", style="bold"), *(alarms or [_Item(_NO_ALARM)])]
    for name, found in groupby(report.findings, lambda f: f.key.partition(".")[0]):
        items = [_Item(f.sentence, f.is_alarm) for f in found]
        lines += [Text(""), Text(TITLES.get(name, name), style="bold"), *items]
    return Group(*lines)


_NO_ALARM = "No alarm: no figure exceeds its threshold at 95 % confidence."


def _heading(report: AuditReport) -> str:
    totals = report.totals
    judges = ", ".join(
        safe(name if name == model else f"{name} ({model})")
        for name, model in report.judges.items()
    )
    return (
        f"Judged by {judges or 'nobody'}: {counted(totals.battles, 'battle')}, "
        f"{totals.decided} decided. Intervals: 95 %, clustered by video."
    )


@dataclass(frozen=True)
class _Item:
    """A sentence behind a dash, broken between words; no line of it begins with a `%`."""

    sentence: str
    is_alarm: bool = False

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
