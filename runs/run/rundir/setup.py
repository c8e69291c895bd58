"""What a run was set up to do, for people: who played what part, and by which rules."""

from __future__ import annotations

from typing import Any, Literal

from videoautoarena.memory.records.records import Published, Record, Sampling
from videoautoarena.memory.store.evidence import ASIDE
from videoautoarena.runs.run.config.arena_file import Pairing
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.stopping_rule import kept_rule
from videoautoarena.runs.run.rundir.reader import Run, contracts_of, reading_of, work_on


class Worked(Record):
    """How long a run was worked on, over all processes, to their last commits."""

    seconds: float
    processes: int
    calls_per_minute: float | None


class Member(Record):
    """One model of a run: what it is, not where its server stands."""

    model: str
    """`provider:model`."""
    max_frames: int | None
    """Most frames it is sent; null leaves it to the role."""
    parameters: dict[str, Any]
    """Of sampling."""
    detail: Literal["low", "high", "auto"] | None
    """How closely its provider looks at a frame; null: as it does by itself."""


class Roles(Record):
    """Who plays which part, by names in the cast."""

    contestants: tuple[str, ...]
    """In roster order."""
    examiner: str
    """Also invents users, asks, makes questions harder and grades them."""
    judges: tuple[str, ...]
    """Of a panel several."""


class Setup(Published):
    """The settings of a run; holds no address, key or absolute path."""

    name: str
    """Of its folder."""
    version: str | None
    """Of videoautoarena when the run began."""
    began_s: float | None
    """When it was first worked on, in seconds since 1970; null of a run without a clock."""
    work: Worked
    """As in [a status](#how-a-run-stands)."""
    seed: int
    """Of all that is drawn."""
    rounds: int
    """How many are played."""
    roles: Roles
    """Names in the cast: `contestants`, `examiner` and `judges`."""
    cast: dict[str, Member]
    """Name to `model`, `max_frames`, sampling `parameters` and `detail` of its pictures."""
    pairing: Pairing
    """Rule by which models meet."""
    swap: float | Literal["all"]
    """Share of battles also judged with the answers in swapped order, or `all`."""
    until: str | None
    """[stopping rule](#a-stopping-rule) that holds, or null."""
    preset: Literal["paper"] | None
    """`paper`, or null."""
    overall_only: bool
    """Judges give a verdict on the whole alone."""
    limit: int | None
    """Most videos, or null."""
    subtitles: bool
    """Those beside a video are sent with its frames."""
    personas: str | None
    """Sha256 of the file of users that were brought, or null."""
    diverse: bool
    """Users of a video that are alike are invented anew."""
    languages: tuple[str, ...]
    """Codes of the languages that users ask in, sorted; empty where none is named."""
    sampling: Sampling
    """As in [`[sampling]`](#sampling)."""
    prompts: dict[str, str]
    """Role to digest of its prompt file."""
    contracts: int
    """Number of the [contracts](design.md#4-talking-to-models)."""
    reading: int
    """Number of the [way of reading](design.md#4-talking-to-models) of replies; 1 if absent."""
    offline: bool
    """Every model is a stand-in."""
    self_judging: bool
    """A judge or the examiner also competes."""
    offline_judge_on_real: bool
    """An offline judge rates real models."""
    blind_referee: bool
    """The examiner or a judge is sent no frames; the run's own file has it only where it is so."""


_SAME = (
    *("seed", "rounds", "pairing", "swap", "preset", "limit", "subtitles", "personas"),
    *("diverse", "languages", "sampling"),
    *("offline", "self_judging", "offline_judge_on_real"),
)
"""What stands in it as in the run's settings."""


def setup_of(run: Run) -> Setup:
    """Return what a run was set up to do."""
    manifest = run.manifest
    store = run.store
    config = RunConfig.of_manifest(manifest)
    sessions = store.sessions.all()
    rule = kept_rule(store).rule
    work = work_on(store, store.journal.count(besides=ASIDE))
    return Setup(
        name=run.folder.resolve().name,
        version=manifest.get("version"),
        began_s=sessions[0].began_at_s if sessions else None,
        work=Worked.model_validate(work.to_json()),
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
