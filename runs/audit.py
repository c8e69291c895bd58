"""What a run tells of its own judges: every section's figures, alarms first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory.records import SCHEMA
from runs.audit_canaries import audit_canaries
from runs.audit_family import audit_family
from runs.audit_frames import audit_frames
from runs.audit_input import AuditInput
from runs.audit_labels import audit_labels
from runs.audit_leak import audit_leak
from runs.audit_length import audit_length
from runs.audit_lines import is_usual
from runs.audit_panel import audit_panel
from runs.audit_seats import audit_seats
from runs.audit_trials import audit_trials
from runs.audit_truth import audit_truth
from runs.audit_verdicts import audit_verdicts
from runs.findings import Finding, raise_alarms
from runs.leaderboard import count_verdicts
from runs.reading import Run, open_run, rates_stand_ins, warnings_of

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
    audit_trials,
    audit_truth,
    audit_labels,
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
    """Return the findings that stand under a leaderboard: the alarms, then the usual.

    An alarm about one judge is left out where all judges together raise it.
    """
    found = find_all(read_input(run))
    raised = {f.key for f in found if f.is_alarm}
    alarms = [f for f in found if f.is_alarm and _of_all(f.key) not in raised - {f.key}]
    usual = [f for f in found if is_usual(f.key) and not f.is_alarm]
    return [f.as_json() for f in (*alarms, *usual)]


def _of_all(key: str) -> str:
    """Return the key of a figure of all judges, for that of one: `swap.flips`."""
    return ".".join(key.split(".", 2)[:2])


def read_input(run: Run) -> AuditInput:
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
    )


def find_all(given: AuditInput) -> list[Finding]:
    """Return the findings of every section, with the alarms that they raise together."""
    return raise_alarms(found for section in SECTIONS for found in section(given))
