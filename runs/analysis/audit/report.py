"""The audit of a run's judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from videoautoarena.runs.analysis.audit.biases import audit_family, audit_length, audit_seats
from videoautoarena.runs.analysis.audit.canaries import audit_canaries, audit_frames, audit_leak
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.verdicts import audit_panel, audit_verdicts
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.rating.finding import Finding, is_by_language, is_usual, raise_alarms
from videoautoarena.runs.rating.method import BattleTotals
from videoautoarena.runs.rating.table import count_verdicts
from videoautoarena.runs.run.rundir.call_facts import CallFact
from videoautoarena.runs.run.rundir.reader import (
    RunReader,
    blind_lines,
    open_run,
    rates_stand_ins,
    state_of,
)


def _trials(given: AuditInput) -> list[Finding]:
    """Return what trials show; a run without any loads none of the modules that read them."""
    if not given.trials:
        return []
    from videoautoarena.runs.analysis.audit.trial_figures import audit_trials, audit_truth

    return [*audit_trials(given), *audit_truth(given)]


def _languages(given: AuditInput) -> list[Finding]:
    if not given.by_language and not any(given.outlines.texts["language"].counts()):
        return []
    from videoautoarena.runs.analysis.audit.languages import audit_languages

    return audit_languages(given)


def _labels(given: AuditInput) -> list[Finding]:
    # A whole audit says that nobody labelled; under a leaderboard that is no news.
    if given.is_brief and not given.labels:
        return []
    from videoautoarena.runs.analysis.audit.human_agreement import audit_labels

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
"""Sections in the order in which they are shown; keys of findings begin with their names."""


@dataclass(frozen=True)
class AuditReport:
    """What a run says of its judges."""

    judges: Mapping[str, str]
    """Name to `provider:model` of all who judged."""
    totals: BattleTotals
    """Counts of battles, as in the [settings](#settings) of a leaderboard."""
    stand_ins: bool
    """Every contestant is an offline one."""
    warnings: Sequence[str]
    """Notes that hold for every figure."""
    findings: Sequence[Finding]
    """One [finding](#a-finding) a figure, section by section; their alarms are those that they
    raise together."""
    facts: Sequence[CallFact] = ()
    """[What is so of the calls](#facts-of-calls) of contestants, judges and examiner."""

    @property
    def alarms(self) -> list[Finding]:
        """Return the findings that a reader must know before believing the ranking."""
        return [found for found in self.findings if found.is_alarm]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return record_json(self)


def audit(folder: Path) -> AuditReport:
    """Return what the run in `folder` says of its judges.

    Raises:
        BadInput: no such folder, or no run in it.
    """
    with open_run(folder) as run:
        return audit_in(run)


def audit_in(run: RunReader) -> AuditReport:
    """Return what an open run says of its judges."""
    # What stands under a leaderboard is found without it.
    from videoautoarena.runs.analysis.audit.checks import with_checks
    from videoautoarena.runs.analysis.trials.trial import blind_on_trial

    given = read_input(run)
    on_trial = blind_lines(blind_on_trial(run.store, given.trials))
    return AuditReport(
        {judge: given.model_of(judge) for judge in given.judges},
        count_verdicts(given.outlines.texts["verdict"].counts()),
        rates_stand_ins(run.manifest),
        # Once each: a judge of the run may be on trial, too.
        list(dict.fromkeys([*state_of(run), *on_trial])),
        with_checks(find_all(given)),
        [one for one in run.call_facts if "audit" in one.fact.surfaces],
    )


def brief(run: RunReader, *, by_language: bool = False) -> list[Finding]:
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
    # That of all judges, `swap.flips`, says what that of each would say again.
    alarms = [
        f for f in found if f.is_alarm and ".".join(f.key.split(".", 2)[:2]) not in raised - {f.key}
    ]
    usual = [f for f in found if is_usual(f.key) and not f.is_alarm]
    return [*first, *(f for f in alarms if f not in first), *usual]


def read_input(run: RunReader, *, is_brief: bool = False) -> AuditInput:
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
        run.unequal_frames,
        is_brief,
    )


def find_all(given: AuditInput) -> list[Finding]:
    """Return the findings of every section, with the alarms that they raise together."""
    return raise_alarms(found for section in SECTIONS for found in section(given))
