"""What a run holds and what follows from it as JSON lines, for whatever reads them elsewhere."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from videoautoarena.agents.limits.prices import is_providers
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import DECIDED, SCHEMA, Battle, CallRow, PublishedRecord
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.evidence import Label, Trial
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.battles.listing import as_json
from videoautoarena.runs.run.battles.rounds import RunRound, rounds_in
from videoautoarena.runs.run.battles.standards import StandardVerdicts, standards_of
from videoautoarena.runs.run.inputs.users import RunUser, run_users
from videoautoarena.runs.run.rundir.account import RunSetup, RunVideo, setup_of, videos_of
from videoautoarena.runs.run.rundir.reader import RUN_FILE, RunReader, open_run
from videoautoarena.runs.run.rundir.spending import RunCosts, costs_of

Written = Callable[[Battle, RunReader], str]
"""A decided battle of a run in a format of others."""
What = Literal[
    "calls", "battles", "labels", "trials", "setup", "videos", "users", "costs", "rounds",
    "standards",
]  # fmt: skip
Kind = Literal["setup", "videos", "users", "costs", "rounds", "standards"]
"""Those of them that are records, computed from what the run holds."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
IN_PROCESS = "in-process"
OWN_SERVER = "own server"
"""What stands for the address of a server that is no provider's."""
PAGE = 200
"""Calls that are in memory at once."""
REPORT_EVERY = 500
"""Lines between two reports of how far it is."""
OnCount = Callable[[int, int], None]
"""Takes how many lines are written, and how many there will be."""


class Lines(NamedTuple):
    """What is exported: how many lines, and the lines, made as they are asked for."""

    total: int
    lines: Iterator[str]


def lines_of(run: RunReader, what: What, written: Written | None = None) -> Lines:
    """Return a run's calls or labels in the order in which they were recorded, or its battles.

    Battles stand by their slots; those that were superseded are among them and say so. Labels stand
    as `arena labels import` reads them, trials by their ids. All else are records that follow from
    what it holds. `written` puts battles into a format of others, which have no word for what is
    not decided: then only decided battles that count are there, in slot order.
    """
    if what == "battles" and written is not None:
        total = int(run.outlines.texts["verdict"].among(DECIDED).sum())
        decided = (battle for battle in run.battles if battle.verdict in DECIDED)
        return Lines(total, (written(battle, run) for battle in decided))
    if what == "labels":
        labels = run.store.evidence.labels()
        return Lines(len(labels), map(json.dumps, map(_label, labels)))
    if what == "trials":
        trials = run.store.evidence.trials()
        names = _own_servers_of(run)
        return Lines(len(trials), (json.dumps(_trial(trial, names)) for trial in trials))
    if what == "calls":
        return Lines(run.store.journal.spent().calls, map(json.dumps, _calls(run)))
    if what == "battles":
        return Lines(len(run.store.settled_ids()), map(json.dumps, _battles(run)))
    found = [json.dumps(record.to_json()) for record in records_of(run, what)]
    return Lines(len(found), iter(found))


def records_of(run: RunReader, what: Kind) -> Iterable[PublishedRecord]:
    """Return the records that a run is described by, of one kind."""
    if what == "setup":
        return [setup_of(run)]
    if what == "videos":
        return videos_of(run)
    if what == "users":
        return run_users(run.store, run.battles)
    if what == "costs":
        return [costs_of(run)]
    if what == "rounds":
        return rounds_in(run)
    return standards_of(run)


KINDS: Mapping[Kind, type[PublishedRecord]] = {
    "setup": RunSetup,
    "videos": RunVideo,
    "users": RunUser,
    "costs": RunCosts,
    "rounds": RunRound,
    "standards": StandardVerdicts,
}
"""What each line of such an export is."""
DEFINITIONS = {"RunSetup": "Setup", "RunRound": "Round"}
"""Names of definitions that the schema has published, by class; others are those of the classes."""


def records_schema() -> dict[str, Any]:
    """Return the JSON Schema of those records, each by the name of its export."""
    from pydantic.json_schema import GenerateJsonSchema, models_json_schema

    class PublishedNames(GenerateJsonSchema):
        """Calls definitions as readers of the schema know them."""

        def normalize_name(self, name: str) -> str:
            return DEFINITIONS.get(name) or super().normalize_name(name)

    kinds: list[tuple[type[PublishedRecord], Literal["serialization"]]] = [
        (kind, "serialization") for kind in KINDS.values()
    ]
    found, whole = models_json_schema(kinds, by_alias=True, schema_generator=PublishedNames)
    places = zip(KINDS, found.values(), strict=True)
    return {"$schema": DIALECT, "properties": dict(places), **whole}


def _calls(run: RunReader) -> Iterator[dict[str, object]]:
    place, rows = run.store.journal.after(0, most=PAGE)
    while rows:
        yield from map(_call, rows)
        place, rows = run.store.journal.after(place, most=PAGE)


def _call(row: CallRow) -> dict[str, object]:
    fields = row.model_dump(mode="json")
    if names := _own_servers([row.endpoint]):
        fields["endpoint"] = OWN_SERVER
        fields["failure"] = _without(names, row.failure)
        for attempt in fields["attempts"]:
            attempt["reason"] = _without(names, attempt["reason"])
    return {"schema": SCHEMA, "key": fields.pop("key"), **fields.pop("nonce"), **fields}


def _own_servers(endpoints: Iterable[str]) -> list[str]:
    """Return the names under which servers of one's own may be spoken of, longest first."""
    own = {one for one in endpoints if not (one == IN_PROCESS or is_providers(one))}
    hosts = {one.rpartition(":")[0] for one in own if ":" in one}
    # A host stands in its own address: replaced first, it would leave the port behind.
    return sorted(own | hosts, key=len, reverse=True)


def _own_servers_of(run: RunReader) -> list[str]:
    """Return the same of all models of a run."""
    cast = (run.manifest.get("cast") or {}).values()
    return _own_servers(entry.get("endpoint", IN_PROCESS) for entry in cast)


def _without(names: Iterable[str], text: str | None) -> str | None:
    """Return what was said of a failure, without where the server stands."""
    for name in names:
        # A host may be called "time": what only holds its name says another thing.
        whole = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
        text = text and re.sub(whole, OWN_SERVER, text, flags=re.IGNORECASE)
    return text


def _judged_without(names: Sequence[str], judging: dict[str, Any]) -> dict[str, Any]:
    """Return one judge's view; where its call failed, without where the server stands."""
    return {**judging, "reason": _without(names, judging["reason"])}


def _trial(trial: Trial, names: Sequence[str]) -> dict[str, object]:
    fields = trial.model_dump(mode="json")
    return {"schema": SCHEMA, **fields, "judging": _judged_without(names, fields["judging"])}


def _label(label: Label) -> dict[str, object]:
    fields = label.model_dump()
    standards = fields.pop("standards")
    return {"schema": SCHEMA, **fields, **standards}


def _battles(run: RunReader) -> Iterator[dict[str, object]]:
    names = _own_servers_of(run)
    for battle in run.store.each_battle():
        fields = as_json(battle)
        fields["reason"] = _without(names, battle.reason)
        fields["verdicts"] = [_judged_without(names, one) for one in fields["verdicts"]]
        yield {**fields, "superseded": battle.id not in run.lineup.ids}


def write_whole(to: Path, lines: Iterable[str]) -> int:
    """Write lines to a file whole or not at all; return how many.

    A file next to it is filled and then given the name. Raises OSError.
    """
    # In the same folder, since a rename works within one
    # file system; cut, since names have 255 bytes.
    draft = to.parent / f".{to.name[:40]}-{secrets.token_hex(4)}"
    count = 0
    try:
        # Not by tempfile, whose files are for their owner alone, whatever the umask says.
        with draft.open("x", encoding="utf-8") as file:
            for line in lines:
                file.write(f"{line}\n")
                count += 1
            file.flush()
            # Before the rename, or after a power cut the name could lead to an empty file.
            os.fsync(file.fileno())
        draft.replace(to)
    # At Ctrl-C, too: half a draft is of no use to anybody.
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    return count


@contextmanager
def opened(out: Path, what: What) -> Iterator[RunReader]:
    """Open the run in a folder, or a file of calls alone, such as that of a bench; or BadInput."""
    if what != "calls" or not out.is_file():
        with open_run(out) as run:
            yield run
        return
    with Store.open(out, write=False) as store:
        yield RunReader(out.parent, store)


def export(
    out: Path,
    to: Path,
    *,
    what: What,
    force: bool,
    on_count: OnCount,
    written: Written | None = None,
) -> int:
    """Write the file `to`, whole or not at all; return how many lines it has.

    Raises:
        BadInput: it is there and not to be replaced, it is part of the run, or cannot be written.
    """
    refuse_place(out, to, force=force)
    with opened(out, what) as run:
        total, lines = lines_of(run, what, written)
        try:
            return write_whole(to, _counted(lines, total, on_count))
        except OSError as wrong:
            reason = wrong.strerror or type(wrong).__name__
            raise BadInput(f"{safe(str(to))} cannot be written: {reason}") from wrong


def refuse_place(out: Path, to: Path, *, force: bool) -> None:
    """Raise BadInput for a file that is part of the run, or there and not to be replaced."""
    # By how it begins: SQLite's log has the name of the run's file and an ending.
    is_part = to.resolve().parent == out.resolve() and to.name.startswith(RUN_FILE)
    if is_part or to.resolve() == out.resolve():
        raise BadInput(f"{to} is the run itself; pass another {option('to')}")
    if to.is_dir():
        raise BadInput(f"{to} is a folder; pass the name of a file with {option('to')}")
    if to.exists() and not to.is_file():
        raise BadInput(
            f"{to} is no ordinary file; leave out {option('to')} to write to standard output"
        )
    if to.exists() and not force:
        raise BadInput(
            f"{to} already exists; pass another {option('to')}, or --force to replace it"
        )


def _counted(lines: Iterable[str], total: int, on_count: OnCount) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        yield line
        if number % REPORT_EVERY == 0 or number == total:
            on_count(number, total)
