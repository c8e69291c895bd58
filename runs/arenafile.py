"""`arena.toml`: models by a name of one's own, who plays which role, and the settings of a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory.errors import BadInput
from memory.records import CallLimits, Price

Pairing = Literal["uniform", "round-robin", "keep-pair"]


class Table(BaseModel):
    """A table of the file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelTable(Table):
    """One model under a name of one's own."""

    model: str
    """`provider:model`."""
    base_url: str | None = None
    key_env: str | None = None
    """Name of the environment variable that holds the key."""
    max_frames: int | None = Field(default=None, ge=0, le=1024)
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    parameters: dict[str, Any] = {}
    """Sampling parameters such as temperature or max_tokens; see `agents.parameters`."""
    detail: Literal["low", "high", "auto"] | None = None
    """How closely the provider looks at each frame."""
    cache_breakpoint: bool | None = None
    """Mark the last frame as the end of what the provider's cache should keep."""
    limits: CallLimits | None = None
    price: Price | None = None
    """US dollars a million tokens; beats the price table."""
    frame_tokens: int | None = Field(default=None, ge=0, le=100_000)
    """Tokens one frame counts as, for estimates."""


class RolesTable(Table):
    """Who plays."""

    models: tuple[str, ...] = ()
    examiner: str | None = None
    judge: str | tuple[str, ...] | None = None


class RunTable(Table):
    """Settings of a run; a flag beats each of them."""

    rounds: int | None = None
    seed: int | None = None
    concurrency: int | None = None
    pairing: Pairing | None = None
    swap: float | Literal["all"] | None = None
    preset: Literal["paper"] | None = None
    limit: int | None = None
    prompts: str | None = None
    subtitles: bool | None = None
    max_void: float | None = None
    block: int | None = Field(default=None, ge=1)


class ArenaFile(Table):
    """The whole file."""

    models: dict[str, ModelTable] = {}
    roles: RolesTable = RolesTable()
    run: RunTable = RunTable()


def read_arena_file(path: Path) -> ArenaFile:
    """Return what `path` says.

    Raises:
        BadInput: it cannot be read, is no TOML, or has a key or value that means nothing here.
    """
    try:
        return ArenaFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as wrong:
        raise BadInput(f"{path} cannot be read ({wrong.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise BadInput(f"{path} is no valid TOML: {wrong}") from None
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{path}: {place}: {first['msg'].lower()}") from None
