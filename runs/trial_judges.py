"""Who is on trial: the run's own judges, or whatever models are named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memory.errors import BadInput
from runs.arenafile import ArenaFile, read_arena_file
from runs.cast import OFFLINE_JUDGE, CastEntry, entry_of, is_offline_judge, is_self_judging
from runs.config import RunConfig
from runs.names import in_full


class Leave(NamedTuple):
    """What a judge may do that has to be asked for."""

    offline: bool = False
    """Judge real models' answers though it is the offline judge."""
    compete: bool = False
    """Judge battles of its own."""


def with_judges(
    config: RunConfig, names: tuple[str, ...], *, file: ArenaFile, leave: Leave
) -> RunConfig:
    """Return a run's settings with these judges in place of its own; none named: with its own.

    A name, which may be short, is looked for in the file, then among those of the run, then taken
    for `provider:model`.

    Raises:
        BadInput: a name twice, one that stands for something else in the run, an offline model
            that cannot judge, or a judge without the leave that it needs.
    """
    if not names:
        return config
    known = [*file.models, *config.cast]
    names = tuple(in_full(name, known) for name in names)
    if len(set(names)) != len(names):
        raise BadInput("--judge names one judge twice; name each judge once")
    cast = dict(config.cast)
    for name in names:
        cast[name] = _entry(name, config, file)
        if cast[name].is_offline and cast[name].model != OFFLINE_JUDGE:
            raise BadInput(f"{name} cannot judge; the offline one that can is {OFFLINE_JUDGE}")
    allowed = leave.offline or config.offline_judge_on_real
    is_offline_judge(config.models, names, cast=cast, allowed=allowed)
    is_self_judging(config.models, names, cast=cast, allowed=leave.compete)
    return config.model_copy(update={"judges": names, "cast": cast})


def _entry(name: str, config: RunConfig, file: ArenaFile) -> CastEntry:
    known = config.cast.get(name)
    if name not in file.models and known is not None:
        return known
    found = entry_of(name, file)
    if known is not None and _identity(known, config) != _identity(found, config):
        raise BadInput(f"{name} is another model in this run; give it another name in arena.toml")
    return found


def _identity(entry: CastEntry, config: RunConfig) -> Mapping[str, object]:
    return entry.identity(config.sampling.frames)


def arena_file(config: Path | None) -> ArenaFile:
    """Return the file that was named, else ./arena.toml, else an empty one."""
    if config is not None:
        return read_arena_file(config)
    found = Path("arena.toml")
    return read_arena_file(found) if found.is_file() else ArenaFile()
