"""One browser for all tests that open pages, and the reports that several of them look at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import browser as browsers
from tests.support.browser import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser; without one the test is skipped, or fails where CI is set."""
    browsers.require()
    found = Browser()
    yield found
    found.close()
