"""`arena.toml`: models by a name of one's own, who plays which role, and the settings of a run."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from videoautoarena.agents.limits.prices import TABLE, is_own
from videoautoarena.agents.models.spec import ModelSpec
from videoautoarena.agents.providers.declared import Declaration
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.frame_policies import PolicyName
from videoautoarena.memory.records.records import (
    Price,
)
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.words import respellings, written_as

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Share = Annotated[float, Field(ge=0, le=1)]
Pairing = Literal["mix", "uniform", "round-robin", "keep-pair"]


class FileTable(BaseModel):
    """A table of the file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _is_kept(cls, value: Any) -> Any:
        # TOML has lists alone, which are no tuples where types are held to.
        return tuple(value) if isinstance(value, list) else value


class RetrievalTable(FileTable):
    """A model that is sent the clips of a video most like the question, and how they are found."""

    model: str
    """Who answers: the name of another table, or `provider:model`; how it is called is said in its
    own table."""
    embeddings: str
    """What embeds: the name of a table, or `openai:MODEL`, `google_genai:MODEL`,
    `package.Class:MODEL` of any LangChain embeddings, or `offline:colours` for stand-ins."""
    captioner: str | None = None
    """Who puts each clip into one or two sentences, which are embedded then; without it the class
    must have `embed_image(paths)`, and a clip's vector is the mean of its frames'."""
    frames_per_clip: int = Field(default=8, ge=1, le=1024)
    """Frames of a clip; 8 without it."""
    keep: int = Field(default=2, ge=1, le=1024)
    """Clips whose frames are sent; 2 without it; their frames may be no more than `model` is
    sent."""

    @property
    def frames(self) -> int:
        """Frames of all clips that are kept."""
        return self.frames_per_clip * self.keep


class ModelTable(ModelSpec):
    """One model under a name of one's own."""

    retrieval: RetrievalTable | None = None
    """The model is sent the clips most like the question; stands alone in its table."""

    @model_validator(mode="before")
    @classmethod
    def _names_its_model(cls, value: Any) -> Any:
        found = value.get("retrieval") if isinstance(value, dict) else None
        if not isinstance(found, dict):
            return value
        # How its model is called is said once, in that model's own table.
        if others := sorted(value.keys() & cls.model_fields.keys() - {"retrieval"}):
            first = others[0]
            place = "the table of its model"
            if "model" in others:
                first = "model"
                place = "retrieval = { model = .. }"
            raise ValueError(f"retrieval stands alone in its table; write {first} in {place}")
        return {"model": found.get("model", ""), **value}

    @field_validator("price")
    @classmethod
    def _is_own(cls, value: Price | None) -> Price | None:
        # A price with the table as its source is looked up anew: what is written here would not
        # count.
        if value is not None and not is_own(value):
            raise ValueError(f"must not name {TABLE} as its source; leave the source out")
        return value


class RolesTable(FileTable):
    """Who plays."""

    models: tuple[str, ...] = ()
    """Contestants, in roster order."""
    examiner: str | None = None
    """Who watches, invents users, asks, makes questions harder and grades them: one name."""
    judge: str | tuple[str, ...] | None = None
    """One name or a list; without it the examiner judges."""


class RunTable(FileTable):
    """Settings of a run; a flag beats each of them."""

    rounds: int | None = Field(default=None, ge=1)
    """Battles in each lineage, as `--rounds`."""
    seed: int | None = None
    """Of all that is drawn, as `--seed`."""
    concurrency: int | None = Field(default=None, ge=1)
    """Model calls at once, as `--concurrency`."""
    pairing: Pairing | None = None
    """Rule by which models meet, as `--pairing`."""
    swap: Share | Literal["all"] | None = None
    """Share of battles that are also judged in swapped order, or `"all"`, as `--swap`."""
    preset: Literal["paper"] | None = None
    """As `--preset`; what it names beats this table and `[sampling]`."""
    limit: int | None = Field(default=None, ge=1)
    """Most videos, as `--limit`."""
    prompts: str | None = None
    """A folder of prompts of your own, as `--prompts`."""
    subtitles: bool | None = None
    """Whether those beside a video are sent with its frames, as `--subtitles`."""
    personas: str | None = None
    """A file of [users](#a-user), as `--personas`."""
    diverse: bool | None = None
    """Whether users of a video that are alike are invented anew, as `--diverse`."""
    languages: tuple[str, ...] = ()
    """Codes of the languages that users ask in, as `--languages`."""
    facts: str | None = None
    """A file that says what the videos are, or `"none"`, as `--facts`."""
    max_void: Share | None = None
    """Share of void slots above which the exit code is 3, as `--max-void`."""
    patience: float | None = Field(default=None, ge=0, le=1e6)
    """Minutes for which a server is waited for that cannot be reached, as `--patience`."""
    max_usd: float | None = Field(default=None, gt=0)
    """Most that the whole run may cost in dollars, as `--max-usd`; `inf` for none."""
    max_tokens: float | None = Field(default=None, gt=0)
    """Most tokens of the whole run, as `--max-tokens`; `inf` for none."""
    block: int | None = Field(default=None, ge=1)
    """About how many videos are started together, as `--block`."""
    until: str | None = None
    """A rule that stops the run early, as `--until`."""


class SamplingTable(FileTable):
    """Which frames of a video are looked at; a flag beats each of them."""

    policy: PolicyName | None = None
    """How frames are spread over a video, as `--policy`."""
    fps: float | None = Field(default=None, gt=0, le=240)
    """Frames a second with the policy `fps`, as `--fps`."""
    frames: int | None = Field(default=None, ge=2, le=1024)
    """Most frames of a video, as `--frames`."""
    size: int | None = Field(default=None, ge=16, le=4096)
    """Pixels on the longer side, as `--size`."""
    fit: Literal["keep", "stretch", "pad"] | None = None
    """How a frame is brought to that size, as `--fit`."""
    quality: int | None = Field(default=None, ge=1, le=95)
    """Of the JPEGs, 1 to 95, as `--quality`."""
    decoder: Literal["av", "decord"] | None = None
    """What reads the files, as `--decoder`."""


class ArenaFile(FileTable):
    """The whole file."""

    models: dict[str, ModelTable] = {}
    """Models by a name of your own."""
    providers: dict[str, Declaration] = {}
    """Further providers by the name that stands before the colon of a model."""
    roles: RolesTable = RolesTable()
    """Who plays."""
    run: RunTable = RunTable()
    """Settings of a run."""
    sampling: SamplingTable = SamplingTable()
    """Which frames of a video are looked at."""

    @field_validator("models")
    @classmethod
    def _are_told_apart(cls, value: dict[str, ModelTable]) -> dict[str, ModelTable]:
        # What is typed could not tell which of the two is meant.
        if twice := respellings(value):
            raise ValueError(
                f"names {twice[0]} twice, in composed and in decomposed letters; keep one table"
            )
        return value

    def table(self, name: str) -> ModelTable | None:
        """Return the table of a model, in whichever letters its name was typed; None: no table."""
        return self.models.get(written_as(name, self.models))


_SHARED_FILES = ("run.sqlite", "questions.jsonl")
"""By which a folder is known that may be somebody else's: a run, or a bench or set."""


def arena_file(config: Path | None) -> ArenaFile:
    """Return what a file says, by default ./arena.toml if it exists; as `read_arena_file` does.

    Raises:
        BadInput: it cannot be read, or ./arena.toml lies in a run or set, with which it came.
    """
    if config is not None:
        return read_arena_file(config)
    file = Path("arena.toml")
    if not file.is_file():
        return ArenaFile()
    # Whoever sent the folder could have put it there, and it would say where frames and keys go.
    if beside := next((name for name in _SHARED_FILES if Path(name).exists()), None):
        raise BadInput(
            f"./arena.toml lies beside a {beside} and may have come with it; pass "
            f"{option('config')} "
            "arena.toml if it is yours, or work in another folder"
        )
    return read_arena_file(file)


def read_arena_file(path: Path) -> ArenaFile:
    """Return what `path` says.

    Raises:
        BadInput: it cannot be read, is no TOML, or has a key or value that means nothing here.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        # Or `rounds = true` would be one round, and a text of digits a number.
        return ArenaFile.model_validate(found, strict=True)
    except OSError as wrong:
        raise BadInput(f"{path} cannot be read ({wrong.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
        raise BadInput(f"{path} is not valid TOML: {wrong}") from None
    except ValidationError as wrong:
        mistakes = wrong.errors()
        # A misspelled key first: a value that is missing is often what the key was meant for.
        unknown = (one for one in mistakes if one["type"] == "extra_forbidden")
        # pydantic's own error is left out: it repeats values, which may be keys.
        raise BadInput(f"{path}: {_describe(next(unknown, mistakes[0]))}") from None


_REMOVED = {"sampling.ocr": "text in the picture is no longer read"}
"""Keys that a version before knew, and why there are none."""
_WANTED = {
    "model": "a table",
    "dict": "a table",
    "tuple": "a list",
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "string": "a text",
}


def _describe(mistake: ErrorDetails) -> str:
    """Return where a mistake is and what would be right; never the value itself."""
    place = [str(part) for part in mistake["loc"]]
    kind = mistake["type"]
    if kind == "extra_forbidden":
        if why := _REMOVED.get(".".join(place)):
            return f"{'.'.join(place)} was removed, {why}; take the key out"
        known = _known(place[:-1])
        near = get_close_matches(place[-1], known, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f"{'.'.join(place)} is not a key here; {meant}there are {', '.join(known)}"
    if kind == "missing":
        return f"{'.'.join(place)} is missing; add it"
    if len(place) > 2 and not _known(place[:-1]):
        # The last part says which member of a union was tried, or which of a list.
        place.pop()
    wanted = _WANTED.get(kind.partition("_")[0]) if kind.endswith(("_type", "_parsing")) else None
    said = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return f"{'.'.join(place)} {f'must be {wanted}' if wanted else said}"


def _known(place: list[str]) -> list[str]:
    """Return the keys of the table at a place of the file; none where a value stands."""
    kind: Any = ArenaFile
    for part in place:
        inner = (None, *get_args(kind))
        kind = kind.model_fields[part].annotation if _is_table(kind) else inner[-1]
        if isinstance(kind, UnionType):
            kind = next(filter(_is_table, get_args(kind)), str)
    return list(kind.model_fields) if _is_table(kind) else []


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
