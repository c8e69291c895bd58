"""What a process that opens files from outside gives up before it opens the first."""

from __future__ import annotations

import os
import resource
from contextlib import suppress

MOST_BYTES = 960 << 20
"""Memory that a worker may fill, its libraries aside: 8K in ten bits needs 910 MB to be decoded."""
MOST_FILES = 256
"""Open files at once; libraries that read on demand take some dozens."""
NICER = 5


def confine(most_bytes: int) -> None:
    """Bound the memory this process may fill, its files and its priority; for good.

    macOS does not enforce the bound on memory; there a deadline is what ends a greedy file.
    """
    # What is written to, not what is mapped: threads and libraries map gigabytes they never touch.
    _lower(resource.RLIMIT_DATA, most_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, MOST_FILES)
    with suppress(OSError):
        os.nice(NICER)


def _lower(limit: int, most: int) -> None:
    """Lower a limit, hard and soft; one that is lower already stays."""
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(limit, (most, most))
