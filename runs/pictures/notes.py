"""What has to be read with a picture, and stands on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runs.leaderboard_method import Table
from runs.leaderboard_text import totals_text
from runs.reading import STAND_INS


def banner_of(settings: dict[str, Any]) -> str:
    """Return what must stand above everything, if anything must."""
    return STAND_INS if settings.get("stand_ins") else ""


def notes_of(table: Table) -> list[str]:
    """Return what must be read with a picture of a board: alarms, warnings and counts."""
    settings = table["settings"]
    return [*alarms_of(table), *warnings_of(settings["warnings"]), totals_text(settings)]


def alarms_of(table: Table) -> list[str]:
    """Return what an audit of the judging found that must be known."""
    found = table.get("audit", ())
    return [f"Audit alarm: {one['sentence']}" for one in found if one["alarm"]]


def warnings_of(warnings: Iterable[str]) -> list[str]:
    """Return warnings as notes, without the one that is the banner."""
    return [f"Note: {warning}." for warning in warnings if warning != STAND_INS]
