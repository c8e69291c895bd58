"""Stamped clips, each encoded once a session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.stamped import RECIPES, encode

Clip = Callable[[str], Path]


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    folder = tmp_path_factory.mktemp("stamped")

    @cache
    def make(name: str) -> Path:
        recipe = RECIPES[name]
        return encode(folder / f"{name.replace(' ', '-')}.{recipe.suffix}", recipe)

    return make
