"""What a run is: flags, preset, file and defaults resolved into one record, kept with the run.

A flag beats the preset, the preset beats the file, the file beats the default: so it is with how a
run looks at its videos, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from videoautoarena.agents.limits.outages import PATIENCE_S
from videoautoarena.agents.models.registry import Model, Retrieval
from videoautoarena.agents.prompting.contracts import CONTRACTS, READINGS
from videoautoarena.agents.prompting.languages import LANGUAGES
from videoautoarena.memory.records.errors import BadInput, ForeignRun, StoreError, WrongArgument
from videoautoarena.memory.records.frame_policies import FPS, FRAME_POLICIES
from videoautoarena.memory.records.records import SCHEMA, Record, Sampling
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.run.config import cast as casting
from videoautoarena.runs.run.config.arena_file import ArenaFile, Pairing, arena_file
from videoautoarena.runs.run.config.cast import OFFLINE_CAST, CastEntry, entry_of
from videoautoarena.runs.run.config.preset import PAPER, PAPER_RULES, PAPER_SAMPLING
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.config.stopping_rule import parse_rule

if TYPE_CHECKING:
    from videoautoarena.runs.run.config.arena_file import SamplingTable


FLAG_OF = {"size_px": "size"}
_FIT = {"stretch": " stretched to a square", "pad": " on a black square"}


def choose_sampling(flags: Mapping[str, Any], file: SamplingTable, *, is_paper: bool) -> Sampling:
    """Return what flags, by their names in `RunRequest`, preset and file amount to.

    What is installed decides nothing, or one command would play two tournaments on two machines.

    Raises:
        BadInput: a value that cannot be, or two that do not go together.
    """
    typed = _said(flags.get)
    chosen = {**(PAPER_SAMPLING if is_paper else {}), **typed}
    said = {**_said(lambda name: getattr(file, FLAG_OF.get(name, name), None)), **chosen}
    policy = said.get("policy", "uniform")
    # A rate in the file gives way to a policy that was
    # typed or is the paper's; a typed one does not.
    if policy == "fps":
        said.setdefault("fps", FPS)
    elif said.pop("fps", None) is not None and ("fps" in typed or "policy" not in chosen):
        kind = WrongArgument if "fps" in typed else BadInput
        raise kind(
            f"{option('fps')} is for {option('policy', 'fps')}, and the policy is {policy}; change "
            "one of them"
        )
    try:
        return Sampling.model_validate(said)
    except ValidationError as wrong:
        # What was typed wrong ends with exit code 2, what stands wrong in a file with 1.
        is_typed = wrong.errors()[0]["loc"][0] in typed
        raise (WrongArgument if is_typed else BadInput)(_describe_sampling(wrong)) from None


def refuse_missing(sampling: Sampling) -> None:
    """Raise BadInput where the decoder is not installed; the message says how to get it."""
    if sampling.decoder != "av":
        from videoautoarena.video.decode.decoders import decoder_named

        decoder_named(sampling.decoder)


def refuse_text_read(sampling: Sampling, instead: str) -> None:
    """Raise ForeignRun where a run's stand-ins were sent text that was read from the picture.

    `instead` says what can be done but to use an older version.
    """
    if sampling.ocr:
        raise ForeignRun(
            "the run began with text recognition, and text in the picture is no longer read for "
            f"stand-ins; use the version that began it, or {instead}"
        )


def about_sampling(sampling: Sampling) -> str:
    """Return in one line which frames of a video are looked at, and how."""
    spread = FRAME_POLICIES[sampling.policy].in_plan.format(fps=sampling.fps or FPS)
    size = f"{sampling.size_px} px{_FIT.get(sampling.fit, ' on the longer side')}"
    line = f"frames: up to {sampling.frames} a video, {spread}, {size}, quality {sampling.quality}"
    return f"{line}, by {sampling.decoder}" if sampling.decoder != "av" else line


def _said(value_of: Callable[[str], Any]) -> dict[str, Any]:
    said = {name: value_of(name) for name in Sampling.model_fields}
    return {name: value for name, value in said.items() if value is not None}


def _describe_sampling(wrong: ValidationError) -> str:
    mistake = wrong.errors()[0]
    name = str(mistake["loc"][0])
    said = mistake["msg"].replace("Input should be", "give a number")
    return f"--{FLAG_OF.get(name, name)} is {mistake['input']}; {said}"


MAX_VOID = 0.05
_LONGEST_NAME = 500
"""The most letters of a model's name in a run; a longer one is no name."""
BLOCK = 21
"""About how many videos are admitted together; 42 keeps 64 calls and more busy."""


class RunRules(Record):
    """Choices that `--preset paper` changes."""

    overall_only: bool = False
    share_analyses: bool = True
    fixed_seats: bool = False
    """Whether a lineage keeps its seats, too."""


class RunConfig(Record):
    """Everything that decides what a run does; holds no key, no clock and no absolute path."""

    seed: int = 0
    rounds: int = Field(ge=1)
    models: tuple[str, ...]
    """Names of contestants in roster order; those that joined later stand behind."""
    joined: dict[str, int] = Field(default_factory=dict)
    """Newcomer to the generation of slots since which it plays; all others play from the first."""
    guests: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    """Newcomer that met stored answers to the generations of those slots."""
    examiner: str
    judges: tuple[str, ...]
    cast: dict[str, CastEntry]
    """Every name that plays any role."""
    pairing: Pairing = "mix"
    swap: float | Literal["all"] = 0.1
    preset: Literal["paper"] | None = None
    rules: RunRules = RunRules()
    sampling: Sampling = Sampling()
    subtitles: bool = True
    """Whether subtitles beside a video are sent with its frames."""
    personas: str | None = None
    """Digest of the file of users that was passed; None: all users are invented."""
    diverse: bool = False
    """Whether users of a video that are alike are invented anew."""
    languages: tuple[str, ...] = ()
    """Codes of the languages users ask in, sorted, each in equally many lineages; may be empty."""
    limit: int | None = None
    block: int = BLOCK
    offline: bool
    """Whether every model is a stand-in."""
    self_judging: bool = False
    """Whether a judge or the examiner also competes."""
    offline_judge_on_real: bool = False

    def model_of(self, alias: str) -> Model:
        """Return the model behind a name of this run."""
        if alias not in self.cast:
            raise _undefined(alias)
        entry = self.cast[alias]
        model = entry.as_model(alias)
        found = entry.retrieval
        if found is None:
            return model
        retrieval = Retrieval(
            found.frames_per_clip,
            found.keep,
            self.model_of(found.embeddings),
            None if found.captioner is None else self.model_of(found.captioner),
        )
        return model.with_settings(retrieval=retrieval)

    @property
    def scouts(self) -> frozenset[str]:
        """The models that find clips for contestants and do nothing else."""
        return self.helpers(self.cast) - {self.examiner, *self.judges, *self.models}

    def helpers(self, names: Iterable[str]) -> frozenset[str]:
        """Return the models that find clips for these models."""
        found = (self.cast[name].retrieval for name in names)
        both = ((one.embeddings, one.captioner) for one in found if one is not None)
        return frozenset(name for pair in both for name in pair if name is not None)

    @property
    def blind_referees(self) -> tuple[str, ...]:
        """The examiner and judges that are sent no frames."""
        return casting.blind_among((self.examiner, *self.judges), self.cast)

    def roster(self, generation: int) -> tuple[str, ...]:
        """Return the contestants among whom pairs of a generation are drawn."""
        return tuple(m for m in self.models if self.joined.get(m, 0) <= generation)

    def identity(self) -> dict[str, Any]:
        """Return what must be equal for two runs to be the same run."""
        # Users are copied when a run begins: the file may be gone or another when it goes on.
        # Rounds and newcomers may be added later, and of the cast only what decides battles counts.
        no_part = {"cast", "rounds", "joined", "guests", "personas"}
        data = self.model_dump(mode="json", exclude=no_part)
        data["cast"] = {
            alias: entry.identity(self.sampling.frames) for alias, entry in self.cast.items()
        }
        return data

    def recorded(self) -> dict[str, Any]:
        """Return it as the run's file keeps it, with a mark if a referee sees no frames."""
        marked = {"blind_referee": True} if self.blind_referees else {}
        return {**self.model_dump(mode="json"), **marked}

    def manifest(
        self,
        version: str,
        prompts: Mapping[str, str],
        *,
        contracts: int = CONTRACTS,
        reading: int = READINGS,
    ) -> dict[str, Any]:
        """Return what the run's file says of itself; `prompts` maps role to digest."""
        return {
            "schema": SCHEMA,
            "version": version,
            **self.recorded(),
            "prompts": dict(prompts),
            "contracts": contracts,
            "reading": reading,
        }

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> RunConfig:
        """Return the configuration that a run was started with; StoreError if it is damaged.

        No model of it can be called before `agreed` has seen where it leads.
        """
        try:
            # A record refuses keys that it does not know, and
            # a manifest also has a version and prompts.
            said = cls.model_validate({k: v for k, v in manifest.items() if k in cls.model_fields})
        except ValidationError as wrong:
            place = ".".join(map(str, wrong.errors()[0]["loc"]))
            raise StoreError(f"the run's settings cannot be read ({place})") from None
        called = (*said.cast, *(entry.model for entry in said.cast.values()))
        if any(len(name) > _LONGEST_NAME for name in called):
            raise StoreError(f"the run names a model in more than {_LONGEST_NAME} letters")
        named = (*said.models, *said.guests, said.examiner, *said.judges)
        for name in (*named, *said.helpers(said.cast)):
            if name not in said.cast:
                raise _undefined(name)
        if any(said.cast[name].retrieval for name in said.helpers(said.cast)):
            raise StoreError("the run's settings have clips found by whoever needs clips itself")
        received = {
            name: entry.model_copy(update={"is_received": True})
            for name, entry in said.cast.items()
        }
        return said.model_copy(update={"cast": received})

    @classmethod
    def to_go_on(cls, manifest: Mapping[str, Any]) -> RunConfig:
        """Return the configuration of a run that is to make new calls.

        Raises:
            StoreError: it is damaged.
            ForeignRun: what its models were shown is no longer made.
        """
        config = cls.of_manifest(manifest)
        refuse_text_read(config.sampling, f"start another run with a new {option('out')}")
        return config


def _undefined(name: str) -> StoreError:
    shown = name if len(name) <= 80 else f"{name[:79]}…"
    return StoreError(f"the run's settings name {shown!a}, but do not define it")


@dataclass(frozen=True)
class RunSettings:
    """A resolved run, and settings that may change from one process to the next."""

    config: RunConfig
    prompts: Path | None
    personas: Path | None
    """A file of users; read only when a run begins."""
    concurrency: int
    max_void: float
    patience_s: float
    max_usd: float | None
    max_tokens: float | None
    assumed_cast: bool
    """Whether nobody named a roster, so that the offline cast plays."""
    assumed_rounds: bool
    """Whether nobody gave a number of rounds; a run that is continued keeps its own."""
    assumed_pairing: bool
    """Whether nobody named a pairing; a run that is continued keeps its own."""
    until: str | None
    """The rule that stops it early; None leaves the run's rule as it is."""
    facts: str | None
    """A file that says what the videos are, or "none"; None: the one beside them."""


def resolve(flags: RunRequest) -> RunSettings:
    """Return the settings that result from flags, preset, file and defaults.

    Raises:
        BadInput: a value that cannot be, a model that is not known, a judge that competes.
    """
    file = arena_file(flags.config)
    run = _layered(flags, file)
    roster = flags.models or file.roles.models
    is_assumed = not roster
    is_paper = run["config"]["preset"] == "paper"
    roster = tuple(roster or OFFLINE_CAST)
    cast = {name: casting.contestant_of(name, file) for name in roster}
    if is_paper:
        cast = {name: casting.as_in_paper(entry) for name, entry in cast.items()}
    casting.check_roster(roster, cast)
    examiner, judges = casting.officials(flags.examiner, flags.judge, file=file, cast=cast)
    officials = {name: entry_of(name, file) for name in (examiner, *judges)}
    if is_paper:
        # Who plays as well keeps what the paper's contestants have.
        officials |= {
            name: casting.as_in_paper(officials[name]) for name in cast.keys() & officials
        }
    cast |= officials
    casting.check_stand_ins(examiner, judges, cast=cast)
    casting.refuse_blind((examiner, *judges), cast=cast, allowed=flags.allow_blind_referee)
    cast |= casting.scouts(cast, file)
    config = RunConfig(
        models=roster,
        examiner=examiner,
        judges=judges,
        cast=cast,
        offline=all(entry.is_offline for entry in cast.values()),
        self_judging=casting.is_self_judging(
            roster, (examiner, *judges), cast=cast, allowed=flags.allow_self_judging
        ),
        offline_judge_on_real=casting.is_offline_judge(
            roster, judges, cast=cast, allowed=flags.allow_offline_judge
        ),
        sampling=choose_sampling(vars(flags), file.sampling, is_paper=is_paper),
        **run["config"],
    )
    return RunSettings(config=config, assumed_cast=is_assumed, **run["process"])


def preset_of(flags: RunRequest, file: ArenaFile) -> Literal["paper"] | None:
    """Return the preset that was typed, else the file's."""
    return flags.preset or file.run.preset


def _layered(flags: RunRequest, file: ArenaFile) -> dict[str, dict[str, Any]]:
    """Return settings in two groups: those of the run, and those of this process."""
    preset = preset_of(flags, file)
    paper = preset == "paper"

    def pick(name: str, default: Any) -> Any:
        named = PAPER.get(name) if paper else None
        layers = (getattr(flags, name), named, getattr(file.run, name))
        return next((value for value in layers if value is not None), default)

    until = pick("until", None)
    if until is not None:
        parse_rule(until)
    config = {
        "seed": pick("seed", 0),
        "rounds": _at_least(1, pick("rounds", 3), option("rounds")),
        "pairing": pick("pairing", "mix"),
        "swap": _share(pick("swap", 0.1), option("swap")),
        "preset": preset,
        "limit": _at_least(1, pick("limit", None), option("limit")),
        "block": _at_least(1, pick("block", BLOCK), option("block")),
        "rules": RunRules(**PAPER_RULES) if paper else RunRules(),
        "subtitles": pick("subtitles", True),
        "diverse": pick("diverse", False),
        # Not by `pick`: what nobody typed is an empty tuple here, and not None.
        "languages": _languages(flags, () if paper else file.run.languages),
    }
    process = {
        "prompts": flags.prompts or (Path(file.run.prompts) if file.run.prompts else None),
        "personas": flags.personas or (Path(file.run.personas) if file.run.personas else None),
        "concurrency": _at_least(1, pick("concurrency", 16), option("concurrency")),
        "max_void": _share(pick("max_void", MAX_VOID), option("max_void")),
        # Minutes where it is typed, seconds everywhere else.
        "patience_s": 60 * pick("patience", PATIENCE_S / 60),
        "max_usd": pick("max_usd", None),
        "max_tokens": pick("max_tokens", None),
        "assumed_rounds": pick("rounds", None) is None,
        "assumed_pairing": pick("pairing", None) is None,
        "until": until,
        "facts": pick("facts", None),
    }
    return {"config": config, "process": process}


def _at_least(least: int, value: int | None, flag: str) -> int | None:
    if value is not None and value < least:
        raise WrongArgument(f"{flag} is {value}; give {least} or more")
    return value


def _share(value: float | str, flag: str) -> float | str:
    if not isinstance(value, str) and not 0 <= value <= 1:
        raise WrongArgument(f"{flag} is {value:g}; give a share from 0 to 1")
    return value


def _languages(flags: RunRequest, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    place, wrong = (
        (option("languages"), WrongArgument) if flags.languages else ("run.languages", BadInput)
    )
    # Sorted, so that the order in which they are named makes no other run.
    found = sorted(code.strip().lower() for code in flags.languages or otherwise)
    if unknown := next((code for code in found if code not in LANGUAGES), None):
        there = ", ".join(f"{code} ({name})" for code, (name, _) in LANGUAGES.items())
        raise wrong(f"{place} knows no {unknown!a}; there are {there}")
    if double := next((code for code, again in pairwise(found) if code == again), None):
        raise wrong(f"{place} names {double} twice; name each language once")
    return tuple(found)
