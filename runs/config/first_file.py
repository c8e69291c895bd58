"""The first `arena.toml`: a table for each model that was named, and what else may be set."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from videoautoarena.agents.models.registry import Model, parse_model
from videoautoarena.memory.records.errors import BadInput

SCHEMA_FILE = Path(__file__).with_name("arena.schema.json")
"""Which keys there are and what each means, for editors; `docs/generate.py` writes it."""
_ASIDE = re.compile(r"[^a-z0-9]+")
_LONGEST_ALIAS = 40


@dataclass(frozen=True)
class NamedCast:
    """The models that a first file is about, each as `provider:model`."""

    models: tuple[str, ...]
    examiner: str
    judge: tuple[str, ...] = ()
    """Whoever else judges; the examiner where nobody is named."""
    base_url: str | None = None
    """Where those of OpenAI's protocol are served, if not by OpenAI."""

    @property
    def names(self) -> list[str]:
        """Every model once, contestants first."""
        return list(dict.fromkeys([*self.models, self.examiner, *self.judge]))


def first_file(cast: NamedCast) -> str:
    """Return the text of a file for a cast, with what may be changed as comments.

    Raises:
        BadInput: a name that is no model, fewer than two contestants, or a referee that competes.
    """
    if len(set(cast.models)) < 2:
        raise BadInput("a battle needs two contestants; name at least two models")
    officials = {cast.examiner, *cast.judge}
    if competing := sorted(officials.intersection(cast.models)):
        raise BadInput(f"{competing[0]!a} cannot compete and judge; name another examiner or judge")
    aliases = _aliases(cast.names)
    parts = [f"#:schema {SCHEMA_FILE.as_uri()}\n{_HEAD}"]
    for name, alias in aliases.items():
        is_served = name.startswith("openai:") and cast.base_url is not None
        settings = {"base_url": cast.base_url} if is_served else {}
        parts.append(_table(alias, parse_model(name, settings)))
    judges = [aliases[name] for name in cast.judge]
    parts.append(_roles([aliases[name] for name in cast.models], aliases[cast.examiner], judges))
    return "\n".join([*parts, _SETTINGS])


def _aliases(names: Sequence[str]) -> dict[str, str]:
    """Return a short name of its own for each model: the last part of what it is called."""
    found = dict[str, str]()
    for name in names:
        last = name.partition(":")[2].rstrip("/").rpartition("/")[2]
        alias = _ASIDE.sub("-", last.lower()).strip("-")[:_LONGEST_ALIAS] or "model"
        number, free = 2, alias
        while free in found.values():
            free = f"{alias}-{number}"
            number += 1
        found[name] = free
    return found


def _table(alias: str, model: Model) -> str:
    """Return the table of a model."""
    lines = [f"[models.{alias}]", f"model = {_text(f'{model.provider}:{model.name}')}"]
    if model.base_url:
        lines.append(f"base_url = {_text(model.base_url)}")
        lines.append('# key_env = "MY_KEY"  # the variable that holds its key, if it wants one')
    elif keys := model.maker.key_names:
        lines.append(f"# Its key is read from {' or '.join(keys)}.")
    if model.provider != "offline":
        lines.append("# max_frames = 32  # images that its server takes in one call")
        lines.append("# parameters = { temperature = 0.7, max_tokens = 4096 }")
        lines.append("# price = { input_usd = 1.0, output_usd = 4.0 }  # a million tokens")
    return "\n".join(lines) + "\n"


def _roles(models: Sequence[str], examiner: str, judges: Sequence[str]) -> str:
    """Return who plays."""
    lines = [
        "[roles]",
        f"models = [{', '.join(map(_text, models))}]",
        f"examiner = {_text(examiner)}  # watches, invents users, asks, evolves and grades",
    ]
    if judges:
        lines.append(f"judge = [{', '.join(map(_text, judges))}]")
    else:
        lines.append('# judge = "another"  # the examiner judges, where nobody else is named')
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """Return a text as TOML writes it; its strings escape as those of JSON do, and DEL besides."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_HEAD = """\
# Who plays, how they are reached and what a run is like. Flags of simulate beat what stands here.
# Every key: docs/records.md, arena.toml. What starts with "#" shows a default or an example.
"""
_SETTINGS = """\
[run]
# rounds = 3         # battles in each lineage; a question is made harder from one to the next
# max_usd = 20.0     # stop before the whole run costs more
# concurrency = 16   # calls at once
# until = "ci=40"    # stop when intervals are so many points wide on average

[sampling]
# policy = "uniform" # or "fps", "scenes", "keyframes"
# frames = 128       # of a video, at most
# size = 512         # pixels on the longer side
"""
