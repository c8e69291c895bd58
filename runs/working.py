"""How long a run took, over every process that worked on it."""

from __future__ import annotations

from typing import NamedTuple

from memory.store import Store


class Work(NamedTuple):
    """What processes did for a run until now; times end with their last commits."""

    seconds: float
    processes: int
    calls: int

    @property
    def calls_per_minute(self) -> float | None:
        """Return how many calls were finished a minute of work; None before there was any."""
        return round(60 * self.calls / self.seconds, 1) if self.seconds > 0 else None

    def as_json(self) -> dict[str, float | int | None]:
        """Return it in the shape of `work` in `arena status --json`."""
        return {
            "seconds": round(self.seconds, 1),
            "processes": self.processes,
            "calls_per_minute": self.calls_per_minute,
        }

    def as_line(self) -> str:
        """Return it as a line for a person."""
        pace = (
            "" if self.calls_per_minute is None else f", {self.calls_per_minute:,g} calls a minute"
        )
        return f"worked on for {spent(self.seconds)} by {_processes(self.processes)}{pace}"


NO_WORK = Work(0.0, 0, 0)


def work_on(store: Store, calls: int) -> Work:
    """Return what was worked on a run that has so many calls."""
    sessions = store.sessions.all()
    return Work(sum(session.worked_s for session in sessions), len(sessions), calls)


def spent(seconds: float) -> str:
    """Return a time in its two largest units: `3 h 20 min`, `5 min 12 s`, `8 s`."""
    whole = round(seconds)
    minutes, hours = whole // 60, whole // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"
