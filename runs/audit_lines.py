"""The lines of an audit that stand under a leaderboard."""

from __future__ import annotations

from typing import Any

from runs.console import safe

_USUAL = {
    "swap.flips": "verdicts that change with the seats",
    "length.longer": "wins of the longer answer",
    "length.only": "same verdict from length alone",
    "verdicts.voids": "void battles",
}
_KNOWN = "truth.accuracy."
"""What the key of a judge's accuracy where the right answer is known begins with."""


def is_usual(key: str) -> bool:
    """Return whether a figure stands under every leaderboard, alarm or not."""
    return key in _USUAL or key.startswith(_KNOWN)


def audit_lines(table: dict[str, Any], *, of: str = "") -> list[str]:
    """Return the alarms in a leaderboard, or in those of slices, a line each, and one of shares.

    `of` says what the shares are of, where that is not what stands above them.
    """
    findings = {found["key"]: found for found in table.get("audit", ())}
    told = [f"AUDIT ALARM: {found['sentence']}" for found in findings.values() if found["alarm"]]
    usual = [
        f"{_USUAL[key]} {_share(findings[key])}"
        if key in _USUAL
        else f"{safe(key.removeprefix(_KNOWN))} right where truth is known {_share(findings[key])}"
        for key in (*_USUAL, *(key for key in findings if key.startswith(_KNOWN)))
        if key in findings
    ]
    return [*told, f"audit: {of}{'; '.join(usual)}. More: arena audit OUT."] if usual else told


def _share(found: dict[str, Any]) -> str:
    if found["value"] is None:
        return "unknown"
    value, low, high = (f"{100 * found[key]:.1f}" for key in ("value", "low", "high"))
    return f"{value} % ({low} to {high})"
