"""What a run is asked to be: every setting that a command, a program or a form may give.

A value that is None was not given: then the preset, the configuration file or the run that is
there decides, and last the default.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from videoautoarena.runs.run.config.arena_file import Pairing
from videoautoarena.runs.run.config.setting_texts import SETTINGS


class RunRequest(BaseModel):
    """A run to begin, or to go on with where `out` holds it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    videos: Path | None = Field(
        None,
        description=SETTINGS["videos"]
        + " None: those of the run in `out`, or sample clips that are drawn beside it.",
    )
    out: Path = Field(Path("arena-out"), description=SETTINGS["out"])
    rounds: int | None = Field(None, description=SETTINGS["rounds"])
    limit: int | None = Field(None, description=SETTINGS["limit"])
    seed: int | None = Field(None, description=SETTINGS["seed"])
    models: tuple[str, ...] = Field((), description=SETTINGS["models"])
    examiner: str | None = Field(None, description=SETTINGS["examiner"])
    judge: tuple[str, ...] = Field((), description=SETTINGS["judge"])
    config: Path | None = Field(None, description=SETTINGS["config"])
    max_usd: float | None = Field(None, description=SETTINGS["max_usd"])
    max_tokens: float | None = Field(None, description=SETTINGS["max_tokens"])
    until: str | None = Field(None, description=SETTINGS["until"])
    max_void: float | None = Field(None, description=SETTINGS["max_void"])
    concurrency: int | None = Field(None, description=SETTINGS["concurrency"])
    patience: float | None = Field(None, description=SETTINGS["patience"])
    policy: str | None = Field(None, description=SETTINGS["policy"])
    fps: float | None = Field(None, description=SETTINGS["fps"])
    frames: int | None = Field(None, description=SETTINGS["frames"])
    size_px: int | None = Field(None, description=SETTINGS["size_px"])
    fit: str | None = Field(None, description=SETTINGS["fit"])
    quality: int | None = Field(None, description=SETTINGS["quality"])
    decoder: str | None = Field(None, description=SETTINGS["decoder"])
    subtitles: bool | None = Field(None, description=SETTINGS["subtitles"])
    preset: Literal["paper"] | None = Field(None, description=SETTINGS["preset"])
    pairing: Pairing | None = Field(None, description=SETTINGS["pairing"])
    swap: float | Literal["all"] | None = Field(None, description=SETTINGS["swap"])
    prompts: Path | None = Field(None, description=SETTINGS["prompts"])
    languages: tuple[str, ...] = Field((), description=SETTINGS["languages"])
    personas: Path | None = Field(None, description=SETTINGS["personas"])
    diverse: bool | None = Field(None, description=SETTINGS["diverse"])
    facts: str | None = Field(None, description=SETTINGS["facts"])
    block: int | None = Field(None, description=SETTINGS["block"])
    allow_self_judging: bool = Field(default=False, description=SETTINGS["allow_self_judging"])
    allow_offline_judge: bool = Field(default=False, description=SETTINGS["allow_offline_judge"])
    allow_blind_referee: bool = Field(default=False, description=SETTINGS["allow_blind_referee"])
    retry_failed: bool = Field(default=False, description=SETTINGS["retry_failed"])
    fsync: bool = Field(default=False, description=SETTINGS["fsync"])
    trust: str | None = Field(None, description=SETTINGS["trust"])
    freeze: Path | None = Field(None, description=SETTINGS["freeze"])
