"""A small bench, frozen once for all who play it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.small_benches import freeze_ground


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips and a bench about them, which no test writes to."""
    return freeze_ground(tmp_path_factory.mktemp("ground"))
