"""The first `arena.toml`: a table for each named model, and what else may be set."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.agents.models.spec import check_key_env
from videoautoarena.agents.providers.catalogue import find_provider
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.frame_policies import FRAME_POLICIES
from videoautoarena.runs.run.config.cast import check_url

SCHEMA_FILE = Path(__file__).with_name("arena.schema.json")
"""The JSON Schema of arena.toml for editors; `docs/generate.py` writes it."""
_ASIDE = re.compile(r"[^a-z0-9]+")
_LONGEST_ALIAS = 40
CONTESTANT_IMAGES, REFEREE_IMAGES = 16, 64
"""Most images in a call to a server of one's own, of contestants and referees, by default."""
MOST_IMAGES = 1024
"""The highest `max_frames` of a table."""


@dataclass(frozen=True)
class NamedCast:
    """The models of a first file, each as `provider:model`."""

    models: tuple[str, ...]
    examiner: str
    judge: tuple[str, ...] = ()
    """The judges; empty: the examiner judges."""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    """Model to its address, if it is not its provider's own."""
    key_envs: Mapping[str, str] = field(default_factory=dict)
    """Model to the variable that holds its key."""
    images: Mapping[str, int] = field(default_factory=dict)
    """Model to the most images of a call, if it was given."""

    @property
    def names(self) -> list[str]:
        """Every model once, contestants first."""
        return list(dict.fromkeys([*self.models, self.examiner, *self.judge]))


def named_cast(
    models: Sequence[str],
    examiner: str,
    judge: Sequence[str] = (),
    *,
    base_urls: Iterable[str] = (),
    key_envs: Iterable[str] = (),
    max_frames: Iterable[str] = (),
) -> NamedCast:
    """Return the cast that was typed; a served name without provider speaks OpenAI's protocol.

    `base_urls` are `NAME=URL`, or a `URL` for every model of OpenAI's protocol; `key_envs` are
    `NAME=VARIABLE`, or a `VARIABLE` for every model that has such an address; `max_frames` are
    `NAME=N` or `N` likewise.

    Raises:
        BadInput: a name that is no model and has no address, or an address or key for nobody.
    """
    typed = dict.fromkeys([*models, examiner, *judge])
    urls, url_of_all = _by_name(base_urls, typed, "--base-url")
    keys, key_of_all = _by_name(key_envs, typed, "--key-env")
    counts, count_of_all = _by_name(max_frames, typed, "--max-frames")
    for name, url in urls.items():
        check_url(f"--base-url of {name}", url)
    if url_of_all is not None:
        check_url("--base-url", url_of_all)
    full = {name: _full_name(name, urls.get(name, url_of_all)) for name in typed}
    served = dict[str, str]()
    for name, whole in full.items():
        url_of_model = urls.get(name)
        # An address without a name is that of all models of OpenAI's protocol, and of no others.
        if url_of_model is None and whole.startswith("openai:"):
            url_of_model = url_of_all
        if url_of_model is not None:
            served[whole] = url_of_model
    counted = dict.fromkeys(served, count_of_all)
    counted |= {full[name]: count for name, count in counts.items()}
    keyed = dict.fromkeys(served, key_of_all) | {full[name]: key for name, key in keys.items()}
    return NamedCast(
        tuple(full[name] for name in models),
        full[examiner],
        tuple(full[name] for name in judge),
        base_urls=served,
        key_envs={name: key for name, key in keyed.items() if key is not None},
        images={name: images_of(count) for name, count in counted.items() if count is not None},
    )


def images_of(typed: str) -> int:
    """Return the most images of a call as a number; BadInput unless it is one from 0 to 1024."""
    # Five digits are too many in any case, and thousands of them raise an error in int().
    number = int(typed) if typed.isdecimal() and len(typed) < 5 else MOST_IMAGES + 1
    if number > MOST_IMAGES:
        raise BadInput(f"images per call are a whole number from 0 to {MOST_IMAGES}, such as 16")
    return number


def has_provider(name: str) -> bool:
    """Return whether a model's name begins with a known provider."""
    provider, colon, model = name.partition(":")
    return bool(colon and model) and find_provider(provider) is not None


def is_bare(typed: str) -> bool:
    """Return whether an address or variable was typed without the name of its model."""
    name, equals, _ = typed.partition("=")
    return not equals or "://" in name


def served_name(name: str) -> str:
    """Return `provider:model` for a name; without a provider it speaks OpenAI's protocol."""
    return parse_model(name).resolved if has_provider(name) else f"openai:{name}"


def _full_name(name: str, url: str | None) -> str:
    """Return `provider:model` for a name that was typed."""
    if has_provider(name):
        return parse_model(name).resolved
    if url is not None:
        return served_name(name)
    try:
        return parse_model(name).resolved
    except BadInput as wrong:
        place = f"if it runs on a server, give its address with --base-url {name}=http://HOST/v1"
        # That advice is of no use to somebody who is about to make the file.
        said = str(wrong).removesuffix(", or give it a table in arena.toml")
        raise BadInput(f"{said}; {place}") from None


def _by_name(
    typed: Iterable[str], names: Iterable[str], option: str
) -> tuple[dict[str, str], str | None]:
    """Return the values given by `NAME=VALUE`, by name, and the bare value for all others."""
    known = list(names)
    found = dict[str, str]()
    of_all: str | None = None
    for one in typed:
        name, _, value = one.partition("=")
        if is_bare(one) and of_all is not None:
            raise BadInput(f"{option} is given twice without a name; write NAME=.. for each model")
        if is_bare(one):
            of_all = one
        elif name in known:
            found[name] = value
        else:
            # Not repeated, since it may be part of a key.
            near = get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise BadInput(
                f"{option}: what stands before = is nobody who plays; {meant}"
                f"there are {', '.join(known)}"
            )
    return found, of_all


def first_file(cast: NamedCast) -> str:
    """Return the text of a file for a cast, with further settings as comments.

    Raises:
        BadInput: a name that is no model, fewer than two contestants, or a referee that competes.
    """
    officials = {cast.examiner, *cast.judge}
    check_posts(cast.models, officials)
    aliases = _aliases(cast.names)
    # A directive of Taplo, by which editors check and complete the file.
    parts = [f"#:schema {SCHEMA_FILE.as_uri()}\n{_HEAD}"]
    for name, alias in aliases.items():
        settings = {"base_url": cast.base_urls.get(name), "key_env": cast.key_envs.get(name)}
        if settings["key_env"] is not None:
            check_key_env(alias, settings["key_env"])
        model = parse_model(name, settings)
        images = cast.images.get(name)
        if images is None and model.base_url:
            images = REFEREE_IMAGES if name in officials else CONTESTANT_IMAGES
        parts.append(_table(alias, model, images))
    judges = [aliases[name] for name in cast.judge]
    parts.append(_roles([aliases[name] for name in cast.models], aliases[cast.examiner], judges))
    return "\n".join([*parts, _SETTINGS])


def check_posts(models: Collection[str], officials: Collection[str]) -> None:
    """Raise BadInput unless these models can compete before these judges."""
    if len(set(models)) < 2:
        raise BadInput("a battle needs two contestants; name at least two models")
    if competing := sorted(set(officials).intersection(models)):
        raise BadInput(f"{competing[0]!a} cannot compete and judge; name another examiner or judge")


def _aliases(names: Sequence[str]) -> dict[str, str]:
    """Return a unique short name for each model: the last part of its name."""
    found = dict[str, str]()
    for name in names:
        last = name.partition(":")[2].rstrip("/").rpartition("/")[2]
        alias = _ASIDE.sub("-", last.lower()).strip("-")[:_LONGEST_ALIAS] or "model"
        number = 2
        free = alias
        while free in found.values():
            free = f"{alias}-{number}"
            number += 1
        found[name] = free
    return found


def _table(alias: str, model: Model, images: int | None) -> str:
    """Return the table of a model; `images` is the most of a call, None if unknown."""
    lines = [f"[models.{alias}]", f"model = {toml_text(f'{model.provider}:{model.name}')}"]
    if model.base_url:
        lines.append(f"base_url = {toml_text(model.base_url)}")
    if images is not None:
        lines.append(f"max_frames = {images}  # images in one call; the server must take so many")
    if model.key_env:
        lines.append(f"key_env = {toml_text(model.key_env)}  # the variable that holds its key")
    elif model.base_url:
        lines.append('# key_env = "MY_KEY"  # the variable that holds its key, if it wants one')
    elif model.maker.credentials:
        lines.append(f"# Its client finds credentials itself: {model.maker.credentials}.")
    elif keys := model.key_names:
        lines.append(f"# Its key is read from {' or '.join(keys)}.")
    if model.provider != "offline":
        if images is None:
            most = model.maker.images or 32
            lines.append(f"# max_frames = {most}  # images that its server takes in one call")
        lines.append("# parameters = { temperature = 0.7, max_tokens = 4096 }")
        lines.append("# price = { input_usd = 1.0, output_usd = 4.0 }  # a million tokens")
    return "\n".join(lines) + "\n"


def _roles(models: Sequence[str], examiner: str, judges: Sequence[str]) -> str:
    """Return the table of roles."""
    lines = [
        "[roles]",
        f"models = [{', '.join(map(toml_text, models))}]",
        f"examiner = {toml_text(examiner)}  # watches, invents users, asks, evolves and grades",
    ]
    if judges:
        lines.append(f"judge = [{', '.join(map(toml_text, judges))}]")
    else:
        lines.append('# judge = "another"  # the examiner judges, where nobody else is named')
    return "\n".join(lines) + "\n"


def toml_text(text: str) -> str:
    """Return a text as TOML writes it: escaped like JSON, and DEL besides."""
    # Not in ASCII: JSON would write some characters as surrogates, which TOML refuses.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_HEAD = """\
# Who plays, how they are reached and what a run is like. Flags of simulate beat what stands here.
# Every key: docs/records.md, arena.toml. What starts with "#" shows a default or an example.
"""
_OTHER_POLICIES = ", ".join(f'"{name}"' for name in list(FRAME_POLICIES)[1:])
_SETTINGS = f"""\
[run]
# rounds = 3         # battles in each lineage; a question is made harder from one to the next
# max_usd = 20.0     # stop before the whole run costs more
# concurrency = 16   # calls at once
# until = "ci=40"    # stop when intervals are so many points wide on average

[sampling]
# policy = "uniform" # or {_OTHER_POLICIES}
# frames = 128       # of a video, at most
# size = 512         # pixels on the longer side
"""
