"""A program that writes to a run as fast as it can, again and again, until it is killed.

Each line on its standard input names a run file and a first number; a child is forked that takes
the run up, prints `start PID`, and prints each key when its `await` has returned. When the child
has gone, the program prints `gone` and waits for the next line.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from memory.store import Store
from tests.support.runfiles import battle, call, slot


def say(line: str) -> None:
    """Print in one system call, so that no kill can tear a line or hold it back."""
    os.write(1, f"{line}\n".encode())


async def write_on(store: Store, numbers: itertools.count[int]) -> None:
    """Write one call after the other, and a battle with each tenth."""
    for number in numbers:
        row = call(str(number))
        await store.journal.record(row)
        say(row.key)
        if number % 10 == 0:
            ordinal = number // 10
            store.add_slots([slot(ordinal)])
            await store.put_battle(battle(slot(ordinal).id))
            say(slot(ordinal).id)


async def write_at_once(store: Store, first: int) -> None:
    """Have eight writers at work on one run."""
    numbers = itertools.count(first)
    await asyncio.gather(*(write_on(store, numbers) for _ in range(8)))


def main() -> None:
    """Fork one writer for each line that comes in."""
    for line in sys.stdin:
        path, _, first = line.strip().rpartition(" ")
        child = os.fork()
        if child == 0:
            say(f"start {os.getpid()}")
            asyncio.run(write_at_once(Store.open(Path(path), write=True), int(first)))
        os.waitpid(child, 0)
        say("gone")


if __name__ == "__main__":
    main()
