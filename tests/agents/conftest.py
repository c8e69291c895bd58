"""What clients read of their own when they are made, which takes longer than most tests here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def services_read_once() -> Iterator[None]:
    """Let each client of AWS have its megabytes of service descriptions from the first one."""
    from botocore.loaders import JSONFileLoader

    read = JSONFileLoader().load_file
    known = cache(read)

    def load_file(_loader: JSONFileLoader, path: str) -> Any:
        return known(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", load_file)
        yield
