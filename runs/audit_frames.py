"""Who saw fewer frames than it was to, since its server takes no more."""

from __future__ import annotations

from runs.audit_input import AuditInput
from runs.console import safe
from runs.findings import Finding
from runs.server_limits import Shortfall

_MEANING = {
    "contestant": ("answers", "a battle with a model that saw more compares their servers, too"),
    "judge": ("judgings", "it could not check what was said of the rest"),
    "examiner": ("calls", "it asked and graded without the rest"),
}
"""What the calls of a role are called here, and what it means that frames were missing."""


def audit_frames(given: AuditInput) -> list[Finding]:
    """Return for each model that saw fewer frames than it was to how often that was so."""
    return [_short(one) for one in given.shortfalls]


def _short(one: Shortfall) -> Finding:
    what, meaning = _MEANING[one.role]
    sentence = (
        f"{safe(one.model)} {one.saw} in {one.calls} of {one.of} {what}, since its server takes no "
        f"more: {meaning}."
    )
    nothing = float("nan")
    key = f"frames.short.{safe(one.model)}"
    key = key if one.role == "contestant" else f"{key}.{one.role}"
    return Finding(key, one.calls / one.of, nothing, nothing, one.of, sentence, is_alarm=True)
