"""What a run was set up to do, for people: who played what part, and by which rules."""

from __future__ import annotations

from typing import Any, Literal

from videoautoarena.memory.records.records import Published, Record, Sampling
from videoautoarena.memory.store.evidence import ASIDE
from videoautoarena.runs.config.arena_file import Pairing
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.runs.config.stopping_rule import kept_rule
from videoautoarena.runs.rundir.reader import Run, contracts_of, reading_of, work_on


class Worked(Record):
    """How long a run was worked on, over all processes, to their last commits."""

    seconds: float
    processes: int
    calls_per_minute: float | None


class Member(Record):
    """One model of a run: what it is, not where its server stands."""

    model: str
    """`provider:model`"""
    max_frames: int | None
    """Most frames it is sent; None leaves it to the role."""
    parameters: dict[str, Any]
    detail: Literal["low", "high", "auto"] | None


class Roles(Record):
    """Who plays which part, by names in the cast."""

    contestants: tuple[str, ...]
    examiner: str
    """Also invents users, asks, makes questions harder and grades them."""
    judges: tuple[str, ...]


class Setup(Published):
    """The settings of a run; holds no address, key or absolute path."""

    name: str
    """Of its folder."""
    version: str | None
    """Of videoautoarena when it began."""
    began_s: float | None
    """When it was first worked on, in seconds since 1970; None of a run without a clock."""
    work: Worked
    seed: int
    rounds: int
    roles: Roles
    cast: dict[str, Member]
    """Every name that plays a part."""
    pairing: Pairing
    swap: float | Literal["all"]
    """Share of battles that are also judged with the answers in swapped order."""
    until: str | None
    """The stopping rule that holds."""
    preset: Literal["paper"] | None
    overall_only: bool
    """Judges give a verdict on the whole alone."""
    limit: int | None
    """Most videos."""
    subtitles: bool
    personas: str | None
    """Digest of the file of users that were brought."""
    diverse: bool
    """Alike users of a video are invented anew."""
    languages: tuple[str, ...]
    """Codes of what users ask in; none where none was drawn."""
    sampling: Sampling
    prompts: dict[str, str]
    """Role to digest of its prompt file."""
    contracts: int
    reading: int
    offline: bool
    """Every model is a stand-in."""
    self_judging: bool
    """A judge or the examiner also competes."""
    offline_judge_on_real: bool
    blind_referee: bool
    """The examiner or a judge was sent no frames."""


_SAME = (
    *("seed", "rounds", "pairing", "swap", "preset", "limit", "subtitles", "personas"),
    *("diverse", "languages", "sampling"),
    *("offline", "self_judging", "offline_judge_on_real"),
)
"""What stands in it as in the run's settings."""


def setup_of(run: Run) -> Setup:
    """Return what a run was set up to do."""
    manifest, store = run.manifest, run.store
    config = RunConfig.of_manifest(manifest)
    sessions, rule = store.sessions.all(), kept_rule(store).rule
    work = work_on(store, store.journal.count(besides=ASIDE))
    return Setup(
        name=run.folder.resolve().name,
        version=manifest.get("version"),
        began_s=sessions[0].began_at_s if sessions else None,
        work=Worked.model_validate(work.as_json()),
        roles=Roles(contestants=config.models, examiner=config.examiner, judges=config.judges),
        cast={
            name: Member.model_validate({key: getattr(entry, key) for key in Member.model_fields})
            for name, entry in config.cast.items()
        },
        until=None if rule is None else str(rule),
        blind_referee=bool(config.blind_referees),
        overall_only=config.rules.overall_only,
        prompts=manifest.get("prompts") or {},
        contracts=contracts_of(manifest),
        reading=reading_of(manifest),
        **{name: getattr(config, name) for name in _SAME},
    )
