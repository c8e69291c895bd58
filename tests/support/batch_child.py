"""A process that asks in batches, to be killed; forked from one that has imported all it needs."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from unittest.mock import patch

from tests.support.batching import asked_in_batches, model_of, requests_of
from videoautoarena.agents.calls import batch_queue
from videoautoarena.memory.store.writer import Writer

# Brought along at the first use of each protocol, which takes seconds.
PACKAGES = ("langchain_openai", "langchain_google_genai", "langchain_anthropic", "anthropic")
MODULES = ["tests.support.batch_child", *PACKAGES]
TELLING_S = 0.2


def ask(path: Path, port: int, protocol: str, count: int, dies_at: int, *, before: bool) -> None:
    """Ask so many calls in batches; die before or behind a commit of that number, if above 0."""
    commit = Writer._commit
    commits = 0

    def counted(writer: Writer) -> None:
        nonlocal commits
        commits += 1
        if before and commits == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        commit(writer)
        if commits == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    with (
        patch.object(Writer, "_commit", counted),
        patch.object(batch_queue, "TELLING_S", TELLING_S),
    ):
        found = asked_in_batches(path, model_of(protocol, port), requests_of(count))
    assert len(found.rows) == count


def begin(
    path: Path, port: int, protocol: str, count: int, *, dies_at: int = 0, before: bool = False
) -> ForkServerProcess:
    """Return a process that does `ask`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(MODULES)
    process = context.Process(
        target=ask, args=(path, port, protocol, count, dies_at), kwargs={"before": before}
    )
    process.start()
    return process
