"""A program that writes to a run as fast as it can, again and again, until it is killed.

Each line on its standard input is a job for a child that is forked for it and first prints
`start PID`. `write FILE NUMBER` takes up a run and prints each key when its `await` has returned;
`begin FOLDER` begins one run after the other in there and prints the number of each. When the child
has gone, the program prints `gone` and waits for the next line.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from tests.support.runfiles import battle, call, slot
from videoautoarena.memory.store.store import Store


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


def begin_on(folder: Path) -> None:
    """Begin one run after the other."""
    for number in itertools.count():
        Store.create(folder / str(number) / "run.sqlite", {"number": number}).close()
        say(str(number))


def work(job: str) -> None:
    """Do what a line asks for, without end."""
    say(f"start {os.getpid()}")
    verb, _, rest = job.partition(" ")
    if verb == "begin":
        begin_on(Path(rest))
    path, _, first = rest.rpartition(" ")
    asyncio.run(write_at_once(Store.open(Path(path), write=True), int(first)))


def main() -> None:
    """Fork one child for each line that comes in."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            work(line.strip())
        os.waitpid(child, 0)
        say("gone")


if __name__ == "__main__":
    main()
