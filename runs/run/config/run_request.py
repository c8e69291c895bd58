"""What a run is asked to be: every setting that a command, a program or a form may give.

A value that is None was not given: then the preset, the configuration file or the run that is
there decides, and last the default.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from videoautoarena.runs.run.config.arena_file import Pairing


class RunRequest(BaseModel):
    """A run to begin, or to go on with where `out` holds it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    videos: Path | None = Field(
        None,
        description="Folder of videos, searched recursively. None: those of the run in `out`, "
        "or sample clips that are drawn beside it.",
    )
    out: Path = Field(
        Path("arena-out"), description="Folder of the run; an existing run is continued."
    )
    rounds: int | None = Field(
        None, description="Battles in each lineage. None: 3, or those of the run."
    )
    limit: int | None = Field(None, description="Use so many of the videos, drawn with the seed.")
    seed: int | None = Field(None, description="Random seed. None: 0.")
    models: tuple[str, ...] = Field(
        (),
        description="Contestants, each `provider:model` or a name of the configuration file. "
        "Empty: those of arena.toml, else the offline cast.",
    )
    examiner: str | None = Field(
        None,
        description="Model that watches the videos, invents users, and asks, evolves and grades "
        "questions.",
    )
    judge: tuple[str, ...] = Field(
        (), description="One or more judges; a panel decides by plurality. Empty: the examiner."
    )
    config: Path | None = Field(
        None, description="Configuration file. None: arena.toml, if there is one."
    )
    max_usd: float | None = Field(
        None, description="Cap on the cost of the whole run, in US dollars; infinity lifts one."
    )
    max_tokens: float | None = Field(
        None, description="Cap on the tokens of the whole run; infinity lifts one."
    )
    until: str | None = Field(
        None, description="Stop early by a rule: `separated`, `ci=40`, `battles=600` or `rounds`."
    )
    max_void: float | None = Field(
        None, description="Accepted share of slots without a verdict, 0 to 1. None: 0.05."
    )
    concurrency: int | None = Field(None, description="Model calls under way at once. None: 16.")
    patience: float | None = Field(
        None, description="Minutes for which a server is waited for that cannot be reached."
    )
    policy: str | None = Field(None, description="Which frames of a video are looked at.")
    fps: float | None = Field(None, description="Frames a second, with the policy `fps`.")
    frames: int | None = Field(None, description="Most frames of a video that are looked at.")
    size_px: int | None = Field(None, description="Size of a frame in pixels.")
    fit: str | None = Field(None, description="How a frame is fitted into its size.")
    quality: int | None = Field(None, description="Quality of a JPEG, 1 to 95.")
    decoder: str | None = Field(None, description="What decodes the videos.")
    subtitles: bool | None = Field(
        None, description="Whether subtitles beside a video are sent with its frames. None: yes."
    )
    preset: Literal["paper"] | None = Field(
        None, description="Play by the VideoAutoArena paper wherever the defaults differ."
    )
    pairing: Pairing | None = Field(
        None, description="How pairs of contestants are drawn. None: mix, or as the run does."
    )
    swap: float | Literal["all"] | None = Field(
        None,
        description="Share of battles judged again with swapped answers, as an audit; with `all` "
        "both orders count. None: 0.1.",
    )
    prompts: Path | None = Field(
        None, description="Folder of prompt files that replace the built-in ones."
    )
    languages: tuple[str, ...] = Field(
        (), description="Codes of languages that the users ask in. Empty: those of the file."
    )
    personas: Path | None = Field(None, description="JSON lines with users of your own.")
    diverse: bool | None = Field(
        None, description="Whether users of a video that are alike are invented anew. None: no."
    )
    facts: str | None = Field(
        None,
        description="CSV file that says what the videos are; `none` ignores the one beside them.",
    )
    block: int | None = Field(
        None, description="About how many videos are begun together. None: 21."
    )
    allow_self_judging: bool = Field(
        default=False, description="Let a judge or the examiner compete; the run is marked."
    )
    allow_offline_judge: bool = Field(
        default=False, description="Let the offline judge judge real models; the run is marked."
    )
    allow_blind_referee: bool = Field(
        default=False,
        description="Let an examiner or judge be sent no frames; the run is marked.",
    )
    retry_failed: bool = Field(
        default=False, description="Play slots again that failed because a call had failed."
    )
    fsync: bool = Field(default=False, description="Wait with every commit until the disk has it.")
    trust: str | None = Field(
        None, description="Digest of what is agreed to of a run that somebody else has made."
    )
    freeze: Path | None = Field(
        None, description="Folder of a set to freeze the questions into when all is played."
    )
