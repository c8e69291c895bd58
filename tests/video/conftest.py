"""Stamped clips, each encoded once a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.support.coded import KINDS
from tests.support.stamped import RECIPES, Recipe, encode

Clip = Callable[[str], Path]


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    return _maker(tmp_path_factory.mktemp("stamped"), RECIPES)


@pytest.fixture(scope="session")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    return _maker(tmp_path_factory.mktemp("coded"), KINDS)


def _maker(folder: Path, recipes: Mapping[str, Recipe]) -> Clip:
    @cache
    def make(name: str) -> Path:
        recipe = recipes[name]
        return encode(folder / f"{name.replace(' ', '-')}.{recipe.suffix}", recipe)

    return make
