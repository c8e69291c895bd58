"""Battles made by hand for an audit: who met, what every judge said, on which video."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.support.played import battle, manifest, slot, video
from videoautoarena.memory.records.records import TIES, Battle, Judging
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.rating.finding import Finding, raise_alarms

_PATTERN = battle(slot(video(), 0))


def fought(number: int, a: str, b: str, verdict: str, *said: str, **changed: Any) -> Battle:
    """Return battle `number`, on a video of its own.

    Each of `said` is `judge:verdict`, or `judge:verdict:ba` of the other seating; without one the
    only judge said what the battle's verdict is, or was never asked.
    """
    return _PATTERN.model_copy(
        update={
            "id": f"battle-{number}",
            "video": f"video-{number}",
            "model_a": a,
            "model_b": b,
            "verdict": verdict,
            "verdicts": tuple(map(_judging, said or _own(verdict))),
            **changed,
        }
    )


def _own(verdict: str) -> tuple[str, ...]:
    return (f"judge:{verdict}",) if verdict in ("a", "b", *TIES - {"split"}) else ()


def _judging(said: str) -> Judging:
    judge, verdict, *seats = said.split(":")
    return Judging.model_validate(
        {"judge": judge, "verdict": verdict, "seats": seats[0] if seats else "ab"}
    )


def entry(model: str, frames: int | None = 8) -> dict[str, Any]:
    """Return what a manifest says of one model."""
    return {"model": model, "max_frames": frames, "endpoint": "in-process"}


def audited(
    battles: Iterable[Battle],
    *,
    cast: Mapping[str, dict[str, Any]] | None = None,
    judges: Sequence[str] = ("judge",),
) -> AuditInput:
    """Return what the sections of an audit look at."""
    return AuditInput(list(battles), manifest(cast=dict(cast or {}), judges=list(judges)))


def by_key(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Return findings with their alarms by their keys, each of which is there once."""
    told = raise_alarms(findings)
    found = {finding.key: finding for finding in told}
    assert len(found) == len(told)
    return found
