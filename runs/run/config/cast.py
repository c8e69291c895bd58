"""Who plays: what each name of a run stands for, and which casts are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from videoautoarena.agents.limits.prices import is_own
from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.models.spec import CONTESTANT_FRAMES, ModelSpec, ResolvedSpec
from videoautoarena.agents.offline import EMBEDDER, KINDS
from videoautoarena.agents.providers.catalogue import BUILT_IN, EMBEDDERS, EMBEDDINGS
from videoautoarena.agents.providers.embeddings import embeddings_class
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import (
    Price,
    Record,
    Sparse,
)
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.words import composed
from videoautoarena.runs.run.config.arena_file import ArenaFile, ModelTable, RetrievalTable
from videoautoarena.runs.run.config.preset import OPEN_PARAMETERS

OFFLINE_CAST = tuple(
    f"offline:{kind}" for kind in ("hawk", "owl", "mole", "blind", "parrot", "terse", "windbag")
)
OFFLINE_EXAMINER = "offline:examiner"
OFFLINE_JUDGE = "offline:judge"


class Destination(Record):
    """Where calls go from this machine, what is sent with them, and what is imported for them."""

    through: str
    """The name of a provider, or the path of a class that is imported."""
    address: str | None = None
    """The address; None: the provider's own, or what its variable on this machine says."""
    key_env: str | None = None
    """The variable whose value is sent; None: the provider's own at its own address, else none."""
    arguments: dict[str, str | None] = Field(default_factory=dict)
    """Names of the class's arguments, such as the one that takes HTTP headers."""
    price: Price | None = None
    """The stated price, by which a cap on money is kept; None: that of the price table."""

    @property
    def is_own(self) -> bool:
        """Whether it is a provider's own address with its own variable, at its usual price."""
        row = BUILT_IN.get(self.through)
        # Nobody but whoever runs a server on this machine can agree to calls of it.
        is_local = row is not None and row.is_local
        return not (is_local or self.is_class or self.address or self.key_env or self.price)

    @property
    def is_class(self) -> bool:
        """Whether it is the path of a class, which may be any that can be imported."""
        return "." in self.through or ":" in self.through

    def __str__(self) -> str:
        way = f"through {self.through}"
        if self.is_class:
            way = f"through the class {self.through}, which is imported,"
        place = self.address or "its own address"
        own = "no key" if self.address else "its own key"
        key = f"the value of {self.key_env}" if self.key_env else own
        headers = self.arguments.get("headers_parameter")
        with_headers = f" and headers in {headers}" if headers else ""
        cost = self.price
        said = f"{way} to {place}, with {key}{with_headers}"
        if cost is None:
            return said
        return f"{said}, for ${cost.input_usd:g} and ${cost.output_usd:g} a million tokens"


class CastEntry(ResolvedSpec, Sparse):
    """One model of a run, without its key."""

    left_out = ("retrieval", "system", "structured")

    endpoint: str
    """Host that its calls went to when the run began; "in-process" for a stand-in."""
    retrieval: RetrievalTable | None = None
    """How its frames are chosen by the question; None: they are spread over the video."""
    is_received: bool = Field(default=False, exclude=True)
    """Whether it was read from a file and nobody here has agreed to where it leads."""

    @property
    def is_offline(self) -> bool:
        """Whether it is a stand-in."""
        return self.model.startswith("offline:")

    @property
    def is_blind(self) -> bool:
        """Whether it is sent no frames, in whatever role."""
        return self.max_frames == 0 or self.limits.images_per_request == 0

    def as_model(self, alias: str) -> Model:
        """Return the model that it describes, under the run's name for it."""
        settings = self.resolved_settings()
        if self.is_offline:
            # Whatever a file says of where a stand-in is served, it is none the less here.
            settings |= {"base_url": None, "key_env": None, "declared": None}
        is_received = self.is_received and not self.is_offline
        return Model.model_construct(alias=alias, is_received=is_received, **settings)

    @property
    def destination(self) -> Destination | None:
        """Where its calls go, and with what; None for a stand-in."""
        provider, _, name = self.model.partition(":")
        if self.is_offline:
            return None
        if provider == EMBEDDINGS:
            provider, _, _ = name.partition(":")
        declared = self.declared
        price = self.price if is_own(self.price) else None
        if declared is None:
            return Destination(
                through=provider, address=self.base_url, key_env=self.key_env, price=price
            )
        # A provider's own key never goes to another server.
        own = None if self.base_url else declared.key_env
        return Destination(
            through=declared.chat_model,
            address=self.base_url or declared.base_url,
            key_env=self.key_env or own,
            arguments=declared.model_dump(exclude={"chat_model", "base_url", "key_env"}),
            price=price,
        )

    def identity(self, frames: int) -> dict[str, Any]:
        """Return what must be equal for two runs of `frames` frames a video to be the same run."""
        decisive = {"model", "max_frames", "parameters", "detail", "retrieval", "structured"}
        kept = self.model_dump(mode="json", include=decisive)
        # A server's limit decides what a model sees as max_frames does; one that binds nothing may
        # change.
        images = self.limits.images_per_request
        if images is not None and images < min(frames, self.max_frames or frames):
            kept["max_frames"] = images
        return kept


def officials(
    examiner: str | None, judges: tuple[str, ...], *, file: ArenaFile, cast: Mapping[str, CastEntry]
) -> tuple[str, tuple[str, ...]]:
    """Return the examiner and the judges; the offline ones only for an offline cast.

    An examiner of None, or no judges, leaves the choice to the file.
    """
    all_offline = all(entry.is_offline for entry in cast.values())
    examiner = examiner or file.roles.examiner or (OFFLINE_EXAMINER if all_offline else None)
    if examiner is None:
        raise BadInput(
            "no examiner is named; name a strong model outside the roster with "
            f"{option('examiner')}"
        )
    named = file.roles.judge or ()
    judges = judges or ((named,) if isinstance(named, str) else tuple(named))
    chosen = judges or (OFFLINE_JUDGE if entry_of(examiner, file).is_offline else examiner,)
    # One name in two spellings of its accents is one model.
    if len(set(map(composed, chosen))) != len(chosen):
        raise BadInput(f"{option('judge')} names {_twice(chosen)} twice; name each judge once")
    return examiner, chosen


def entry_of(name: str, file: ArenaFile) -> CastEntry:
    """Return what `name` stands for in any role: a table of the file, or `provider:model` itself.

    BadInput if it is sent the best clips alone, and so can only answer; see `contestant_of`.
    """
    table = _table_of(name, file)
    if table.retrieval is not None:
        raise BadInput(f"{name!a} has a retrieval, so that it can only answer; name its model")
    if table.model.partition(":")[0] == EMBEDDINGS:
        raise BadInput(f"{name!a} only embeds; name it in the retrieval of a model")
    return _plain_entry(name, table, file)


def contestant_of(name: str, file: ArenaFile) -> CastEntry:
    """Return what a contestant's name stands for; with a retrieval it is sent frames of clips."""
    retrieval = _table_of(name, file).retrieval
    if retrieval is None:
        return entry_of(name, file)
    place = f"models.{name}.retrieval"
    entry = _helper(retrieval.model, file, place=f"{place}.model")
    most = entry.as_model(name).frame_limit("contestant")
    if retrieval.frames > most:
        raise BadInput(
            f"{place}.keep: {retrieval.keep} clips of {retrieval.frames_per_clip} frames are more "
            f"than the {most} that {retrieval.model} is sent; lower keep or frames_per_clip, or "
            "raise its max_frames"
        )
    return entry.model_copy(update={"retrieval": retrieval, "max_frames": retrieval.frames})


def _table_of(name: str, file: ArenaFile) -> ModelTable:
    table = file.table(name)
    if table is None and ":" not in name and name not in KINDS:
        near = get_close_matches(name, file.models, n=1)
        if near:
            raise BadInput(
                f"{name!a} is no model, and has no table in the configuration file; did you mean "
                f"{near[0]!a}? else write it as provider:model"
            )
    return table or ModelTable(model=name)


def _helper(name: str, file: ArenaFile, *, place: str) -> CastEntry:
    try:
        return entry_of(name, file)
    except BadInput as wrong:
        raise BadInput(f"{place}: {wrong}") from None


def _plain_entry(name: str, table: ModelTable, file: ArenaFile) -> CastEntry:
    provider = table.model.partition(":")[0]
    declared = file.providers.get(provider)
    if table.base_url is not None:
        check_url(f"models.{name}", table.base_url)
    if declared is not None and declared.base_url is not None:
        check_url(f"providers.{provider}", declared.base_url)
    said = {name: getattr(table, name) for name in ModelSpec.model_fields}
    settings = {name: value for name, value in said.items() if value is not None}
    del settings["model"]
    model = parse_model(table.model, {**settings, "alias": name, "declared": declared})
    if not name.isprintable() or not name.strip():
        raise BadInput(f"the model name {name!r} cannot be shown; choose a printable one")
    return CastEntry(endpoint=model.endpoint, **model.resolved_settings())


def scouts(cast: Mapping[str, CastEntry], file: ArenaFile) -> dict[str, CastEntry]:
    """Return the models that find clips for those of a cast, by name; or BadInput."""
    wanted = {name: entry.retrieval for name, entry in cast.items() if entry.retrieval}
    found: dict[str, CastEntry] = {}
    for name, retrieval in wanted.items():
        place = f"models.{name}.retrieval"
        embeddings = retrieval.embeddings
        if embeddings in cast or embeddings in {one.captioner for one in wanted.values()}:
            raise BadInput(f"{place}.embeddings: {embeddings!a} speaks, too; name what only embeds")
        found[embeddings] = embedder_of(embeddings, file, place=f"{place}.embeddings")
        captioner = retrieval.captioner
        if captioner is not None:
            helper = _helper(captioner, file, place=f"{place}.captioner")
            found[captioner] = cast.get(captioner, helper)
    return found


def embedder_of(name: str, file: ArenaFile, *, place: str) -> CastEntry:
    """Return what `name` stands for as an embedder; BadInput, which begins with `place`."""
    table = _table_of(name, file)
    provider, _, model = table.model.partition(":")
    if provider == "offline":
        if model != EMBEDDER:
            raise BadInput(f"{place}: {table.model!a} embeds nothing; use offline:{EMBEDDER}")
        plain = Model(alias=name, model=table.model)
        return CastEntry(endpoint=plain.endpoint, **plain.resolved_settings())
    taken = {"model", "price", "timeout_s", "limits"}
    taken |= {"base_url", "key_env"} if provider in EMBEDDERS else set()
    if given := sorted(table.model_fields_set - taken):
        raise BadInput(f"{place}: {name!a} embeds and takes no {given[0]}; leave it out")
    named = table.model_copy(update={"model": f"{EMBEDDINGS}:{table.model}"})
    if provider not in EMBEDDERS:
        try:
            embeddings_class(table.model)
        except BadInput as wrong:
            raise BadInput(f"{place}: {wrong}") from None
    return _plain_entry(name, named, file)


def as_in_paper(contestant: CastEntry) -> CastEntry:
    """Return a contestant that is sent at most as many frames as in the paper.

    An open model also answers as such ones do there, but for the parameters that it has.
    """
    update: dict[str, Any] = {}
    if (contestant.max_frames or 0) > CONTESTANT_FRAMES:
        update["max_frames"] = CONTESTANT_FRAMES
    if _is_open(contestant):
        known = contestant.as_model(contestant.model).maker.parameters
        of_paper = {name: value for name, value in OPEN_PARAMETERS.items() if name in known}
        update["parameters"] = of_paper | contestant.parameters
    return contestant.model_copy(update=update)


def _is_open(contestant: CastEntry) -> bool:
    """Return whether a model counts as open: it is not served at a provider's own address.

    Weights cannot be seen from here. What stands behind a proxy brings parameters of its own.
    """
    if contestant.is_offline:
        return False
    declared = contestant.declared
    if declared is not None and declared.base_url is not None:
        return True
    model = contestant.as_model(contestant.model)
    maker = model.maker
    return maker.is_local or (model.url != maker.home and not maker.is_home(model.url))


def as_begun(contestant: CastEntry, kept: CastEntry) -> CastEntry:
    """Return a contestant of a run by the paper with the parameters that the run began with.

    Where they differ by nothing but what the preset names: it once named none, and whether it does
    follows from the address.
    """

    def of_its_own(entry: CastEntry) -> dict[str, Any]:
        named = entry.parameters.items()
        return {name: value for name, value in named if OPEN_PARAMETERS.get(name) != value}

    if of_its_own(contestant) != of_its_own(kept):
        return contestant
    return contestant.model_copy(update={"parameters": kept.parameters})


def check_url(table: str, url: str) -> None:
    """Raise BadInput, which never repeats it, for what is no address or carries a key."""
    parts = urlsplit(url)
    is_whole = url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_whole:
        raise BadInput(
            f"{table}: base_url is not an http(s) address; write one such as http://127.0.0.1:8000/v1"
        )
    if parts.username or parts.password or parts.query:
        raise BadInput(f"{table}: base_url carries a key; put it in a variable (key_env)")


def check_roster(roster: tuple[str, ...], cast: Mapping[str, CastEntry]) -> None:
    """Raise BadInput unless these models can battle each other."""
    if len(set(map(composed, roster))) != len(roster):
        raise BadInput(f"{option('models')} names {_twice(roster)} twice; name each model once")
    if len(roster) < 2:
        raise BadInput(
            f"one model ({roster[0]}) cannot battle; name two or more with {option('models')}"
        )
    for name in roster:
        if cast[name].model in (OFFLINE_EXAMINER, OFFLINE_JUDGE):
            raise BadInput(f"{name} examines or judges and cannot compete; leave it out")


def check_stand_ins(examiner: str, judges: Iterable[str], *, cast: Mapping[str, CastEntry]) -> None:
    """Raise BadInput for an offline model in a role that it does not know."""
    posts = [(examiner, OFFLINE_EXAMINER), *((judge, OFFLINE_JUDGE) for judge in judges)]
    for name, able in posts:
        if cast[name].is_offline and cast[name].model != able:
            raise BadInput(f"{name} cannot take this role; the offline model for it is {able}")


def is_self_judging(
    roster: Iterable[str], officials: Iterable[str], *, cast: Mapping[str, CastEntry], allowed: bool
) -> bool:
    """Return whether a judge or the examiner also competes; BadInput unless allowed."""
    # By model: the same one may play under two names.
    competing = {cast[name].model for name in roster}
    both = [name for name in officials if cast[name].model in competing]
    if both and not allowed:
        raise BadInput(
            f"{both[0]} would judge or examine its own battles; "
            f"name another, or add {option('allow_self_judging', True)}"
        )
    return bool(both)


def is_offline_judge(
    roster: Iterable[str], judges: Iterable[str], *, cast: Mapping[str, CastEntry], allowed: bool
) -> bool:
    """Return whether a stand-in rates real models; BadInput unless allowed."""
    stand_ins = [name for name in judges if cast[name].is_offline]
    real = [name for name in roster if not cast[name].is_offline]
    if stand_ins and real and not allowed:
        raise BadInput(
            f"{stand_ins[0]} only understands offline contestants, not {real[0]}; "
            f"name a real {option('judge')}, or add {option('allow_offline_judge', True)}"
        )
    return bool(stand_ins and real)


def blind_among(names: Iterable[str], cast: Mapping[str, CastEntry]) -> tuple[str, ...]:
    """Return which of these models are sent no frames, each once."""
    return tuple(dict.fromkeys(name for name in names if cast[name].is_blind))


def refuse_blind(
    referees: Iterable[str], *, cast: Mapping[str, CastEntry], allowed: bool
) -> tuple[str, ...]:
    """Return which referees are sent no frames; BadInput for any unless allowed."""
    blind = blind_among(referees, cast)
    if blind and not allowed:
        raise BadInput(
            f"{blind[0]} would referee without seeing a frame (max_frames = 0); raise its "
            f"max_frames, name another model, or add {option('allow_blind_referee', True)}"
        )
    return blind


def _twice(names: tuple[str, ...]) -> str:
    plain = [composed(name) for name in names]
    return next(name for name in plain if plain.count(name) > 1)
