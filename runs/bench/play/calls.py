"""The file of calls of a bench: one for all models and judges that ever play it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench, is_folder
from videoautoarena.runs.bench.format.schema import RUN
from videoautoarena.runs.run.rundir.opener import PROMPT_FILE, stored_prompts
from videoautoarena.runs.run.rundir.reader import one_line

CALLS = "calls.sqlite"
"""Its name below the results of a bench."""


def calls_file(bench: OpenBench) -> Path:
    """Return where the file of calls of a bench lies, or will."""
    return bench.results / CALLS


def open_calls(bench: OpenBench, *, write: bool, prompts: Path | None = None) -> Store | None:
    """Return the calls of a bench, open and as they are; None if there are none yet.

    All are made with one set of prompts. BadInput if they belong to another bench or have
    other `prompts`; RunLocked if another process writes to them.
    """
    file = calls_file(bench)
    if bench.results.exists() and not is_folder(bench.results):
        raise BadInput(f"{bench.results} is no folder; move it away")
    if not file.is_file():
        return None
    store = Store.open(file, write=write)
    try:
        if store.manifest().get("bench") != bench.bench:
            raise BadInput(f"{file} holds calls of another bench; move it away")
        if prompts is not None:
            own = own_prompts(store, prompts)
            typed = load_prompts(prompts)
            # The others are ours, which a newer version may have worded anew.
            others = [role for role in typed.given if own.digests[role] != typed.digests[role]]
            if others:
                raise BadInput(
                    f"{bench.folder} was begun with other prompts ({', '.join(sorted(others))}); "
                    f"leave out {option('prompts')}, or run a copy of the bench without its results"
                )
    # At an interrupt, too: an open file of calls would keep its lock.
    except BaseException:
        store.close()
        raise
    return store


def load_prompts(folder: Path | None = None) -> PromptSet:
    """Return the prompts as they stand on disk now, with those in `folder` in place of ours."""
    return PromptSet.load(folder, bench=True)


def begin_calls(bench: OpenBench, prompts: PromptSet) -> Store:
    """Begin the calls of a bench that has none, and return them, open for writing; or RunLocked."""
    facts = {
        "schema": SCHEMA,
        "version": version("videoautoarena"),
        "bench": bench.bench,
        "prompts": prompts.digests,
        "contracts": prompts.contracts,
        "reading": prompts.reading,
    }
    store = Store.create(calls_file(bench), facts)
    try:
        keep_prompts(store, prompts)
    except BaseException:
        store.close()
        raise
    return store


def keep_prompts(store: Store, prompts: PromptSet) -> None:
    """Copy the prompts to the calls made with them; older calls may lack a newer role's."""
    for role, text in prompts.texts.items():
        store.put_file(f"{PROMPT_FILE}{role}", text)


def own_prompts(store: Store | None, typed: Path | None = None) -> PromptSet:
    """Return the prompts that a bench is played with: those of its first calls."""
    now = load_prompts(typed)
    return now if store is None else stored_prompts(store, missing=now)


def prompt_notes(
    bench: OpenBench, prompts: PromptSet, *, used: Sequence[str], typed: Path | None
) -> Iterator[str]:
    """Yield what a reader must know of the prompts that are used, safe to print."""
    now = load_prompts(typed)
    if changed := [role for role in used if prompts.digests[role] != now.digests[role]]:
        yield (
            f"prompts changed since this bench was first run ({', '.join(changed)}); "
            "the recorded ones are used"
        )
    if prompts.contracts != now.contracts:
        yield (
            "replies follow the contracts this bench was first run with ("
            f"{prompts.contracts}; the latest are {now.contracts})"
        )
    if prompts.reading != now.reading:
        yield (
            "replies are read in the way this bench was first run with ("
            f"{prompts.reading}; the latest is {now.reading})"
        )
    begun = bench.manifest.run.get("prompts")
    others = [
        role
        for role in used
        if isinstance(begun, dict) and begun.get(role) not in (None, prompts.digests[role])
    ]
    if others:
        yield f"prompts differ from the run that the bench is from: {', '.join(others)}"
    # Runs from before contracts were numbered followed the first.
    number = bench.manifest.run.get("contracts", 1)
    if bench.manifest.source.kind == RUN and number != prompts.contracts:
        yield (
            "contracts for replies differ from the run that the bench is from: "
            f"{prompts.contracts}, there {one_line(str(number), 20)}"
        )
