"""The file of calls of a bench: one for all models and judges that ever play it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import OpenBench, is_folder
from videoautoarena.runs.bench.format.schema import RUN
from videoautoarena.runs.rundir.opener import PROMPT_FILE, stored_prompts
from videoautoarena.runs.rundir.reader import one_line

CALLS = "calls.sqlite"
"""Its name below the results of a bench."""
_GENERATIONS = "generations"
"""Name in it of how often each scope was asked again, since a call of it had failed."""


def calls_file(bench: OpenBench) -> Path:
    """Return where the file of calls of a bench lies, or will."""
    return bench.results / CALLS


def open_calls(bench: OpenBench, *, write: bool, prompts: Path | None = None) -> Store | None:
    """Return the calls of a bench, open and as they are; None where there are none yet.

    Args:
        bench: whose.
        write: more may be written to them.
        prompts: folder of prompts in place of ours; all calls of a bench are made with one set.

    Raises:
        BadInput: they belong to another bench, were made with other prompts than the given ones,
            or the results are no folder.
        RunLocked: they are to be written, and another process is at it.
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
            _refuse_other_prompts(bench, own_prompts(store, prompts), load_prompts(prompts))
    except BaseException:
        store.close()
        raise
    return store


def load_prompts(folder: Path | None = None) -> PromptSet:
    """Return the prompts as they stand on disk now, with those in `folder` in place of ours."""
    return PromptSet.load(folder, bench=True)


def _refuse_other_prompts(bench: OpenBench, own: PromptSet, typed: PromptSet) -> None:
    """Refuse prompts beside which figures of this bench would no longer compare."""
    # Those that nobody typed are ours, which a newer version may have worded anew.
    others = sorted(role for role in typed.given if own.digests[role] != typed.digests[role])
    if others:
        raise BadInput(
            f"{bench.folder} is played with other prompts ({', '.join(others)}); leave --prompts "
            "out to go on with its own, or play a copy of the bench without its results"
        )


def begin_calls(bench: OpenBench, prompts: PromptSet) -> Store:
    """Begin the calls of a bench that has none, and return them, open for writing.

    Raises:
        RunLocked: another process is at it.
    """
    facts = {
        "schema": SCHEMA,
        "version": version("videoautoarena"),
        "bench": bench.bench,
        "prompts": prompts.digests,
        "contracts": prompts.contracts,
    }
    store = Store.create(calls_file(bench), facts)
    try:
        keep_prompts(store, prompts)
    except BaseException:
        store.close()
        raise
    return store


def keep_prompts(store: Store, prompts: PromptSet) -> None:
    """Copy the prompts to the calls that are made with them, unless they are there.

    Calls that are older than a role lack the prompt of it.
    """
    for role, text in prompts.texts.items():
        store.put_file(f"{PROMPT_FILE}{role}", text)


def own_prompts(store: Store | None, typed: Path | None = None) -> PromptSet:
    """Return the prompts that a bench is played with: those of its first calls."""
    now = load_prompts(typed)
    return now if store is None else stored_prompts(store, missing=now)


def prompt_notes(
    bench: OpenBench,
    prompts: PromptSet,
    *,
    used: Sequence[str] = ("contestant", "judge"),
    typed: Path | None = None,
) -> Iterator[str]:
    """Yield what a reader must know of the prompts that are used, safe to print."""
    now = load_prompts(typed)
    if changed := [role for role in used if prompts.digests[role] != now.digests[role]]:
        yield (
            f"prompts changed since this bench was first played ({', '.join(changed)}); "
            "it goes on with its own"
        )
    if prompts.contracts != now.contracts:
        yield (
            "replies are asked for in the form that this bench was first played with (contracts "
            f"{prompts.contracts}; the newest are {now.contracts})"
        )
    begun = bench.manifest.run.get("prompts")
    others = [
        role
        for role in used
        if isinstance(begun, dict) and begun.get(role) not in (None, prompts.digests[role])
    ]
    if others:
        yield f"other prompts than in the run that the bench is from: {', '.join(others)}"
    number = bench.manifest.run.get("contracts", 1)
    if bench.manifest.source.kind == RUN and number != prompts.contracts:
        yield (
            "other contracts for replies than in the run that the bench is from: "
            f"{prompts.contracts}, there {one_line(str(number), 20)}"
        )


class Generations:
    """How often each scope was asked again; what had succeeded stays known."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._counts = _read(store)

    def __call__(self, scope: str) -> Sequence[int]:
        """Return the generations of a scope, ascending; the last is the one that asks."""
        return range(self._counts.get(scope, 0) + 1)

    def add(self, scopes: Iterable[str]) -> None:
        """Let these scopes ask again, and write it down first."""
        if self._store is None:
            return
        for scope in scopes:
            self._counts[scope] = self._counts.get(scope, 0) + 1
        self._store.put_file(_GENERATIONS, json.dumps(self._counts), replace=True)


def _read(store: Store | None) -> dict[str, int]:
    file = store.file(_GENERATIONS) if store is not None else None
    if file is None:
        return {}
    try:
        counts = json.loads(file.text)
        return {str(scope): int(count) for scope, count in counts.items()}
    except (ValueError, TypeError, AttributeError):
        raise StoreError("the file of calls is damaged (generations); move it away") from None
