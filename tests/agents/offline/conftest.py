"""Films that many tests look at, drawn once."""

from __future__ import annotations

import pytest

from tests.support.pictures import OTHER_STORY, Film, film


@pytest.fixture(scope="session")
def story() -> Film:
    return film()


@pytest.fixture(scope="session")
def other_story() -> Film:
    return film(OTHER_STORY, seed=2)
