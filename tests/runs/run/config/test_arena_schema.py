"""The published JSON Schema of arena.toml takes what a run takes, and tells of every key."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from docs.generate import DOCS, arena_schema
from tests.support.json_schemas import problems
from videoautoarena.runs.run.config.arena_file import ArenaFile
from videoautoarena.runs.run.config.first_file import SCHEMA_FILE, NamedCast, first_file

SCHEMA = arena_schema()
WHOLE = """
[models.qwen]
model = "own:qwen"
base_url = "http://127.0.0.1:8000/v1"
max_frames = 32
parameters = { temperature = 0.7, extra_body = { top_k = 5 } }
limits = { concurrency = 4, requests_per_minute = 60.0 }
price = { input_usd = 1, output_usd = 4.0 }

[models.finder]
retrieval = { model = "qwen", embeddings = "offline:colours", keep = 3 }

[providers.own]
chat_model = "package.module:Class"

[roles]
models = ["qwen", "finder"]
examiner = "openai:gpt-4.1"
judge = ["qwen"]

[run]
rounds = 2
swap = "all"
max_usd = 20.0
languages = ["en", "de"]

[sampling]
policy = "fps"
fps = 1.0
"""


def test_what_is_published_and_what_is_installed_are_what_the_tables_say() -> None:
    published = (DOCS / "arena.schema.json").read_text()
    assert json.loads(published) == SCHEMA, "make docs"
    assert SCHEMA_FILE.read_text() == published


def test_every_key_of_every_table_has_a_meaning() -> None:
    for part in (SCHEMA, *SCHEMA["$defs"].values()):
        assert part["additionalProperties"] is False
        for key, known in part["properties"].items():
            assert known["description"].endswith("."), key
            assert "](" not in known["description"], key


def test_a_file_that_a_run_takes_fits() -> None:
    found = tomllib.loads(WHOLE)
    assert ArenaFile.model_validate(found)
    assert problems(found, SCHEMA, SCHEMA) == []


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        ("rounds = 2", 'rounds = "two"', "'two' is no integer"),
        ("rounds = 2", "round = 2", "round is too many"),
        ("keep = 3", "kept = 3", "kept is too many"),
        ("concurrency = 4", "parallel = 4", "parallel is too many"),
        ("chat_model = ", "chat_modell = ", "lacks chat_model"),
        ("[sampling]", "[sampled]", "sampled is too many"),
        ('policy = "fps"', 'policy = "often"', "'often' is none of"),
    ],
)
def test_a_file_that_a_run_refuses_does_not_fit(now: str, then: str, said: str) -> None:
    assert now in WHOLE
    found = tomllib.loads(WHOLE.replace(now, then))
    with pytest.raises(ValueError, match="validation error"):
        ArenaFile.model_validate(found)
    assert said in "; ".join(problems(found, SCHEMA, SCHEMA))


def test_a_first_file_names_the_schema_for_editors_and_fits_it() -> None:
    text = first_file(NamedCast(("openai:one", "openai:two"), "openai:three"))
    directive, address = text.splitlines()[0].split()
    assert directive == "#:schema"
    assert Path(unquote(urlsplit(address).path)) == SCHEMA_FILE
    found: dict[str, Any] = tomllib.loads(text)
    assert problems(found, SCHEMA, SCHEMA) == []
