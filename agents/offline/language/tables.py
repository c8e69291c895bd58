"""The files of words and patterns that the offline models hold."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def table(room: str, name: str) -> Any:
    """Return what a JSON file of the offline models holds."""
    file = resources.files("videoautoarena.agents.offline").joinpath(room, f"{name}.json")
    return json.loads(file.read_text("utf-8"))


def wording(room: str, name: str, code: str) -> Any:
    """Return what a file of words holds in a language.

    English ones stand in the room that says them, those of another language all in its folder.
    """
    return table(room, name) if code == "en" else table(f"language/{code}", name)
