"""What a run is: flags, preset, file and defaults resolved into one record, kept with the run.

A flag beats the preset, the preset beats the file, the file beats the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from agents.models import Model, parse_model
from memory.errors import BadInput, StoreError
from memory.records import SCHEMA, CallLimits, Price, Record, Sampling
from runs.arenafile import ArenaFile, ModelTable, Pairing, read_arena_file

OFFLINE_CAST = tuple(
    f"offline:{kind}" for kind in ("hawk", "owl", "mole", "blind", "parrot", "terse", "windbag")
)
OFFLINE_EXAMINER, OFFLINE_JUDGE = "offline:examiner", "offline:judge"
MAX_VOID = 0.05
BLOCK = 21
"""Videos that are admitted together; 42 keeps 64 calls and more busy."""


@dataclass(frozen=True)
class Flags:
    """What was typed; None where it was not."""

    models: tuple[str, ...] = ()
    examiner: str | None = None
    judge: tuple[str, ...] = ()
    config: Path | None = None
    rounds: int | None = None
    seed: int | None = None
    concurrency: int | None = None
    pairing: Pairing | None = None
    swap: float | Literal["all"] | None = None
    preset: Literal["paper"] | None = None
    limit: int | None = None
    prompts: Path | None = None
    max_void: float | None = None
    block: int | None = None
    subtitles: bool | None = None
    allow_self_judging: bool = False
    allow_offline_judge: bool = False


class CastEntry(Record):
    """One model of a run, without its key."""

    model: str
    """`provider:model`."""
    max_frames: int | None
    """Most frames it is sent; None leaves it to the role."""
    endpoint: str
    base_url: str | None = None
    key_env: str | None = None
    timeout_s: float
    parameters: dict[str, Any] = Field(default_factory=dict)
    detail: Literal["low", "high", "auto"] | None = None
    cache_breakpoint: bool = False
    limits: CallLimits = CallLimits()
    price: Price | None = None
    frame_tokens: int | None = None


class RunRules(Record):
    """Choices that `--preset paper` turns."""

    overall_only: bool = False
    share_analyses: bool = True
    fixed_seats: bool = False
    """A lineage keeps its seats, too."""


class RunConfig(Record):
    """Everything that decides what a run does; holds no key, no clock and no absolute path."""

    seed: int = 0
    rounds: int = Field(ge=1)
    models: tuple[str, ...]
    """Contestants' names in roster order."""
    examiner: str
    judges: tuple[str, ...]
    cast: dict[str, CastEntry]
    """Every name that plays any role."""
    pairing: Pairing = "uniform"
    swap: float | Literal["all"] = 0.1
    preset: Literal["paper"] | None = None
    rules: RunRules = RunRules()
    sampling: Sampling = Sampling()
    subtitles: bool = True
    """What stands beside a video as .srt or .vtt is sent with its frames."""
    limit: int | None = None
    block: int = BLOCK
    offline: bool
    """Every model is a stand-in."""
    self_judging: bool = False
    """The judge or the examiner also competes."""
    offline_judge_on_real: bool = False

    def model_of(self, alias: str) -> Model:
        """Return the model behind a name of this run."""
        if alias not in self.cast:
            raise StoreError(f"the run's settings name {alias!a}, but not what it stands for")
        entry = self.cast[alias]
        provider, _, name = entry.model.partition(":")
        return Model(
            alias=alias,
            provider=provider,
            name=name,
            max_frames=entry.max_frames,
            base_url=entry.base_url,
            key_env=entry.key_env,
            parameters=entry.parameters,
            timeout_s=entry.timeout_s,
            detail=entry.detail,
            cache_breakpoint=entry.cache_breakpoint,
            limits=entry.limits,
            price=entry.price,
            frame_tokens=entry.frame_tokens,
        )

    def identity(self) -> dict[str, Any]:
        """Return what must be equal for two runs to be the same one."""
        keyed = ("model", "max_frames", "parameters", "detail")
        data = self.model_dump(mode="json", exclude={"cast", "rounds"})
        data["cast"] = {
            alias: {k: v for k, v in entry.model_dump(mode="json").items() if k in keyed}
            for alias, entry in self.cast.items()
        }
        return data

    def manifest(self, version: str, prompts: Mapping[str, str]) -> dict[str, Any]:
        """Return what the run's file says of itself; `prompts` maps role to digest."""
        return {
            "schema": SCHEMA,
            "version": version,
            **self.model_dump(mode="json"),
            "prompts": dict(prompts),
        }

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> RunConfig:
        """Return the configuration that a run was started with; StoreError where it is damaged."""
        try:
            return cls.model_validate({k: v for k, v in manifest.items() if k in cls.model_fields})
        except ValidationError as wrong:
            place = ".".join(map(str, wrong.errors()[0]["loc"]))
            raise StoreError(f"the run's settings cannot be read ({place})") from None


@dataclass(frozen=True)
class Settings:
    """A resolved run and what may change from one process to the next."""

    config: RunConfig
    prompts: Path | None
    concurrency: int
    max_void: float
    assumed_cast: bool
    """Nobody named a roster, so the offline cast plays."""
    assumed_rounds: bool
    """Nobody said how many; a run that is continued keeps its own number."""


def resolve(flags: Flags) -> Settings:
    """Return the settings that flags, preset, file and defaults amount to.

    Raises:
        BadInput: a value that cannot be, a model that is not known, a judge that competes.
    """
    file = _file(flags)
    run = _layered(flags, file)
    roster = flags.models or file.roles.models
    assumed = not roster
    roster = tuple(roster or OFFLINE_CAST)
    cast = {name: _entry(name, file.models) for name in roster}
    _check_roster(roster, cast)
    examiner, judges = _officials(flags, file, cast=cast)
    cast |= {name: _entry(name, file.models) for name in (examiner, *judges)}
    _check_stand_ins(examiner, judges, cast=cast)
    config = RunConfig(
        models=roster,
        examiner=examiner,
        judges=judges,
        cast=cast,
        offline=all(entry.model.startswith("offline:") for entry in cast.values()),
        self_judging=_self_judging(
            roster, (examiner, *judges), cast=cast, allowed=flags.allow_self_judging
        ),
        offline_judge_on_real=_offline_judge(
            roster, judges, cast=cast, allowed=flags.allow_offline_judge
        ),
        **run["config"],
    )
    return Settings(config=config, assumed_cast=assumed, **run["process"])


def _file(flags: Flags) -> ArenaFile:
    if flags.config is not None:
        return read_arena_file(flags.config)
    found = Path("arena.toml")
    return read_arena_file(found) if found.is_file() else ArenaFile()


def _layered(flags: Flags, file: ArenaFile) -> dict[str, dict[str, Any]]:
    """Return run settings in two groups: those of the run, those of this process."""
    preset = flags.preset or file.run.preset
    paper = preset == "paper"

    def pick(name: str, default: Any, *, in_paper: Any = None) -> Any:
        layers = (getattr(flags, name), in_paper if paper else None, getattr(file.run, name))
        return next((value for value in layers if value is not None), default)

    prompts = flags.prompts or (Path(file.run.prompts) if file.run.prompts else None)
    config = {
        "seed": pick("seed", 0),
        "rounds": _at_least(1, pick("rounds", 3), "--rounds"),
        "pairing": pick("pairing", "uniform", in_paper="keep-pair"),
        "swap": _share(pick("swap", 0.1, in_paper=0.0), "--swap"),
        "preset": preset,
        "limit": _at_least(1, pick("limit", None), "--limit"),
        "block": _at_least(1, pick("block", BLOCK), "--block"),
        "rules": RunRules(overall_only=paper, share_analyses=not paper, fixed_seats=paper),
        "sampling": Sampling(fit="stretch" if paper else "keep"),
        "subtitles": pick("subtitles", True),
    }
    process = {
        "prompts": prompts,
        "concurrency": _at_least(1, pick("concurrency", 16), "--concurrency"),
        "max_void": _share(pick("max_void", MAX_VOID), "--max-void"),
        "assumed_rounds": pick("rounds", None) is None,
    }
    return {"config": config, "process": process}


def _at_least(least: int, value: int | None, flag: str) -> int | None:
    if value is not None and value < least:
        raise BadInput(f"{flag} is {value}; give {least} or more")
    return value


def _share(value: float | str, flag: str) -> float | str:
    if not isinstance(value, str) and not 0 <= value <= 1:
        raise BadInput(f"{flag} is {value:g}; give a share from 0 to 1")
    return value


def _officials(
    flags: Flags, file: ArenaFile, *, cast: Mapping[str, CastEntry]
) -> tuple[str, tuple[str, ...]]:
    """Return who examines and who judges; the offline ones only for an offline cast."""
    all_offline = all(entry.model.startswith("offline:") for entry in cast.values())
    examiner = flags.examiner or file.roles.examiner or (OFFLINE_EXAMINER if all_offline else None)
    if examiner is None:
        raise BadInput("nobody examines; name a strong model outside the roster with --examiner")
    named = file.roles.judge or ()
    judges = flags.judge or ((named,) if isinstance(named, str) else tuple(named))
    is_offline = _entry(examiner, file.models).model.startswith("offline:")
    chosen = judges or (OFFLINE_JUDGE if is_offline else examiner,)
    if len(set(chosen)) != len(chosen):
        raise BadInput(f"--judge names {_twice(chosen)} twice; name each judge once")
    return examiner, chosen


def _entry(name: str, models: Mapping[str, ModelTable]) -> CastEntry:
    """Return what `name` stands for: a table of the file, or `provider:model` itself."""
    table = models.get(name) or ModelTable(model=name)
    if table.base_url is not None:
        _check_url(name, table.base_url)
    settings = {
        field: value
        for field in type(table).model_fields
        if field != "model" and (value := getattr(table, field)) is not None
    }
    model = parse_model(table.model, {**settings, "alias": name})
    if not name.isprintable() or not name.strip():
        raise BadInput(f"the model name {name!r} cannot be shown; choose a printable one")
    return CastEntry(
        model=model.resolved,
        max_frames=model.max_frames,
        endpoint=model.endpoint,
        base_url=model.base_url,
        key_env=model.key_env,
        timeout_s=model.timeout_s,
        parameters=dict(model.parameters),
        detail=model.detail,
        cache_breakpoint=model.cache_breakpoint,
        limits=model.limits,
        price=model.price,
        frame_tokens=model.frame_tokens,
    )


def _check_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"models.{name}: base_url is no http(s) address")
    if parts.username or parts.password or parts.query:
        raise BadInput(f"models.{name}: base_url carries a key; put it in a variable (key_env)")


def _check_roster(roster: tuple[str, ...], cast: Mapping[str, CastEntry]) -> None:
    if len(set(roster)) != len(roster):
        raise BadInput(f"--models names {_twice(roster)} twice; name each model once")
    if len(roster) < 2:
        raise BadInput(f"one model ({roster[0]}) cannot battle; name two or more with --models")
    for name in roster:
        if cast[name].model in (OFFLINE_EXAMINER, OFFLINE_JUDGE):
            raise BadInput(f"{name} examines or judges and cannot compete; leave it out")


def _check_stand_ins(
    examiner: str, judges: Iterable[str], *, cast: Mapping[str, CastEntry]
) -> None:
    """Refuse an offline model in a role that it does not know."""
    posts = [(examiner, OFFLINE_EXAMINER), *((judge, OFFLINE_JUDGE) for judge in judges)]
    for name, able in posts:
        if cast[name].model.startswith("offline:") and cast[name].model != able:
            raise BadInput(f"{name} cannot do that; the offline one that can is {able}")


def _self_judging(
    roster: Iterable[str],
    officials: Iterable[str],
    *,
    cast: Mapping[str, CastEntry],
    allowed: bool,
) -> bool:
    """Return whether a judge or the examiner also competes, under whatever name."""
    competing = {cast[name].model for name in roster}
    both = [name for name in officials if cast[name].model in competing]
    if both and not allowed:
        raise BadInput(
            f"{both[0]} would judge or examine its own battles; "
            "name another, or add --allow-self-judging"
        )
    return bool(both)


def _offline_judge(
    roster: Iterable[str],
    judges: Iterable[str],
    *,
    cast: Mapping[str, CastEntry],
    allowed: bool,
) -> bool:
    """Return whether a stand-in rates real models, which has to be asked for."""
    stand_ins = [name for name in judges if cast[name].model.startswith("offline:")]
    real = [name for name in roster if not cast[name].model.startswith("offline:")]
    if stand_ins and real and not allowed:
        raise BadInput(
            f"{stand_ins[0]} only understands offline contestants, not {real[0]}; "
            "name a real --judge, or add --allow-offline-judge"
        )
    return bool(stand_ins and real)


def _twice(names: tuple[str, ...]) -> str:
    return next(name for name in names if names.count(name) > 1)
