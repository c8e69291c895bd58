"""The confined processes that open files from outside, each lent to one request at a time.

The workers serve the whole of this process, since each takes about a second to start. All of them
end with it, however it ends, because they read their requests from it.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE
from threading import Lock
from typing import Any

from videoautoarena.memory.records.errors import BadInput, DecoderLost, UnusableVideo

MOST_BYTES = 960 << 20
"""Memory that a worker may fill, libraries aside: to decode 8K in ten bits takes 910 MB."""
MOST_FILES = 256
"""Most open files; libraries that are read on demand take some dozens."""
NICER = 5


def confine(most_bytes: int) -> None:
    """Bound the memory this process may fill, its files and its priority; for good.

    macOS does not enforce the bound on memory; there a deadline is what ends a greedy file.
    """
    # DATA and not AS, since threads and libraries map gigabytes that they never touch.
    _lower(resource.RLIMIT_DATA, most_bytes)
    # A decoder that crashes must not leave a core file of its memory.
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


LONGEST_REPLY = 1 << 22
START_S = 120.0
"""Seconds that a process may take to start; they do not count against a video's deadline."""
END_S = 2.0
GLANCE_S = 1.0
"""Waits are counted in stretches so long; one of twice the length means this process was
stopped."""


def hands() -> int:
    """Return how many processes work at once: one a core, and no more than fit into memory."""
    allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(len(allowed(0)), memory // MOST_BYTES))


HANDS = hands()
MOST_HELD_BYTES = 640 << 20
"""A process that holds more than this is not kept: memory for large videos is not always freed."""
ALONE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"), "1")
"""Libraries would start a thread for each core as they load, each of which takes 40 MB of what a
process may fill: with 24 cores all of it."""
GIVING_BACK = {"MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
"""Larger blocks go back to the system when they are freed. By itself glibc raises this bound once
large pictures are freed, and the next video would find less room."""
# The parent's module path, but not its main module: a worker must not import the command line.
START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from videoautoarena.video.workers.worker import main
main()
"""


class WornWorker(DecoderLost):
    """Lost by a process that had served before; a new one may have the memory that it lacked."""


class DecodingWorker:
    """One process; it is of no more use once `ask` has raised `DecoderLost`."""

    def __init__(self) -> None:
        # A process group of its own keeps the terminal's Ctrl-C away until the worker ignores it
        # itself. -P keeps modules of the working directory out.
        self.process = subprocess.Popen(
            (sys.executable, "-P", "-c", START, json.dumps(sys.path)),
            env={**os.environ, **ALONE, **GIVING_BACK},
            stdin=PIPE,
            stdout=PIPE,
            process_group=0,
        )
        self._is_ready = False
        self._has_served = False

    @property
    def is_alive(self) -> bool:
        """Return whether it can still be asked."""
        return self.process.poll() is None

    def ask(self, want: str, fields: Mapping[str, Any], *, deadline_s: float) -> dict[str, Any]:
        """Return its answer to one request; blocks.

        Raises UnusableVideo, BadInput: what the worker raised; DecoderLost: it died of the request,
        or had no answer within the deadline; WornWorker: it died or failed, and had served before.
        """
        lost = WornWorker if self._has_served else DecoderLost
        self._has_served = True
        try:
            folder = os.getcwd()
        except FileNotFoundError:
            # Somebody removed the working directory; absolute paths still work.
            folder = os.sep
        how = {"want": want, "cwd": folder, "deadline_s": deadline_s}
        request = json.dumps({**how, **fields}).encode() + b"\n"
        try:
            self._await_start()
            line = self._exchange(request, deadline_s)
            if line is None:
                raise lost("brought the decoder down")
        except BaseException:
            self.kill()
            self._close()
            raise
        reply: dict[str, Any] = json.loads(line)
        kinds = {"UnusableVideo": UnusableVideo, "DecoderLost": lost, "BadInput": BadInput}
        for name, kind in kinds.items():
            if name in reply:
                raise kind(reply[name])
        return reply

    @property
    def held_bytes(self) -> int:
        """Return how much memory it holds; 0 where that is not known."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_bytes().split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """End it now, whatever it does; whoever waits for its answer gets `DecoderLost`."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """End it by closing its input, or by force; only while nobody waits for an answer."""
        self._close()
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _await_start(self) -> None:
        if self._is_ready:
            return
        try:
            said = self._line(START_S)
        except TimeoutError:
            said = None
        if said is None:
            raise BadInput(
                "no decoding process can be started (what it said is above); "
                "see whether `arena doctor` names what is missing"
            )
        self._is_ready = True

    def _exchange(self, request: bytes, deadline_s: float) -> bytes | None:
        """Return the line it answers; None where it ends instead."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
            return self._line(deadline_s)
        except BrokenPipeError:
            return None
        except TimeoutError:
            raise DecoderLost(f"could not be decoded within {deadline_s:g} s") from None

    def _line(self, patience_s: float) -> bytes | None:
        """Return the next line it writes; None where it ends first or says too much."""
        assert self.process.stdout is not None
        handle = self.process.stdout.fileno()
        left_s = patience_s
        got = b""
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        while not got.endswith(b"\n"):
            began_s = time.monotonic()
            is_there = poll.poll(max(0.0, min(GLANCE_S, left_s)) * 1000)
            waited_s = time.monotonic() - began_s
            if waited_s > 2 * GLANCE_S:
                # A stop, such as Ctrl-Z, must cost no video: the worker was stopped, too, and its
                # answer may take several reads.
                left_s = max(left_s, GLANCE_S)
            else:
                left_s -= waited_s
            if not is_there:
                if left_s <= 0:
                    raise TimeoutError
                continue
            more = os.read(handle, 1 << 16)
            if not more or len(got) > LONGEST_REPLY:
                return None
            got += more
        return got

    def _close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


_idle: list[DecodingWorker] = []
_lock = Lock()


def hire() -> DecodingWorker:
    """Return a process that nobody else asks until it is given back."""
    while True:
        with _lock:
            worker = _idle.pop() if _idle else None
        if worker is None:
            return DecodingWorker()
        if worker.is_alive:
            return worker
        worker.end()


def give_back(worker: DecodingWorker) -> None:
    """Keep a process for the next request; one too many, or one grown too large, is ended."""
    is_slim = worker.is_alive and worker.held_bytes < MOST_HELD_BYTES
    with _lock:
        is_kept = is_slim and len(_idle) < HANDS
        if is_kept:
            _idle.append(worker)
    if not is_kept:
        worker.end()


def ask(
    want: str,
    fields: Mapping[str, Any],
    *,
    deadline_s: float,
    busy: set[DecodingWorker] | None = None,
) -> dict[str, Any]:
    """Return the answer of a process to one request; blocks. See `DecodingWorker.ask`.

    While it is at work, the process is among the `busy`, where it can be killed.
    """
    at_work = set() if busy is None else busy

    def answer(worker: DecodingWorker) -> dict[str, Any]:
        at_work.add(worker)
        try:
            return worker.ask(want, fields, deadline_s=deadline_s)
        finally:
            at_work.discard(worker)
            give_back(worker)

    try:
        return answer(hire())
    except WornWorker:
        # Once more, by a new process and never a used one: the file may be innocent of what was
        # left.
        return answer(DecodingWorker())


@atexit.register
def dismiss() -> None:
    """End all processes that nobody uses."""
    with _lock:
        workers, _idle[:] = list(_idle), []
    for worker in workers:
        worker.end()


# Workers stay the parent's after a fork: two processes must not read the same pipes.
os.register_at_fork(after_in_child=_idle.clear)
