"""Formats that battles and frozen sets go out in: an entry a format, and the function for it.

A new format is an entry here, its own module only where it is long. What one needs is imported when
it is asked for, since the commands read this table to name their choices.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

from videoautoarena.runs.formats.words import in_series

if TYPE_CHECKING:
    from videoautoarena.memory.records.records import Battle, Evolution
    from videoautoarena.runs.bench.format.reader import OpenBench
    from videoautoarena.runs.bench.format.schema import Kind
    from videoautoarena.runs.run.rundir.reader import RunReader


def fastchat_battle(battle: Battle, _run: RunReader) -> str:
    """Return the line of a decided battle for FastChat; two bad answers are its one tie."""
    winners = {"a": "model_a", "b": "model_b", "tie_bad": "tie (bothbad)"}
    record = {
        "question_id": battle.id,
        "model_a": battle.model_a,
        "model_b": battle.model_b,
        "winner": winners.get(battle.verdict, "tie"),
        "judge": ",".join(dict.fromkeys(one.judge for one in battle.verdicts)),
        "video": battle.video,
        "turn": 1,
    }
    return json.dumps(record)


def videoautoarena_battle(battle: Battle, run: RunReader) -> str:
    """Return the line of a decided battle in VideoAutoArena's own files.

    With what that project's judge and evolver leave in them, as far as the run has it: the judge's
    analysis by each standard, then faults, weaknesses and the question that came of them, on the
    battle in which the faults were found. Verdicts by standard are ours, spelled like the whole.
    """
    record: dict[str, Any] = {
        "video_id": battle.video,
        "qid": battle.id,
        "persona": battle.persona_text,
        "question": battle.question,
        "model a": battle.model_a,
        "model b": battle.model_b,
        "model a answer": battle.answer_a,
        "model b answer": battle.answer_b,
        "evol": battle.origin == "evolved",
        **_by_standard(battle, run),
        "Overall Judge": _winner(battle.verdict),
        **_faults_of(battle, run),
    }
    return json.dumps(record)


def _winner(verdict: str) -> str:
    """Return how a decided verdict is written there."""
    return {"a": "A", "b": "B"}.get(verdict, "Tie")


def _by_standard(battle: Battle, run: RunReader) -> dict[str, str]:
    """Return an analysis and the panel's verdict by each standard that judges were asked for."""
    from videoautoarena.memory.records.records import DECIDED
    from videoautoarena.memory.records.standards import STANDARDS
    from videoautoarena.runs.run.battles.standards import by_standard

    verdicts = by_standard(battle, seats_count=run.manifest.get("swap") == "all")
    # A judge who read b first calls it A, so that such words would stand for the other model.
    said = next((one.analyses for one in battle.verdicts if one.seats == "ab" and one.analyses), {})
    found = {}
    for standard, verdict in verdicts.items():
        name = STANDARDS[standard].words.title()
        if standard in said:
            found[name] = said[standard]
        if verdict in DECIDED:
            found[f"{name} Judge"] = _winner(str(verdict))
    return found


def _faults_of(battle: Battle, run: RunReader) -> dict[str, str]:
    """Return what the evolver found in a battle's answers, a line each; empty if nobody looked."""
    made = _evolution_after(battle, run)
    if made is None:
        return {}
    lists = {
        "Fault List A": made.faults_a,
        "Fault List B": made.faults_b,
        "Weakness List A": made.weaknesses_a,
        "Weakness List B": made.weaknesses_b,
    }
    found = {
        name: "\n".join(f"- {' '.join(one.split())}" for one in each)
        for name, each in lists.items()
    }
    # What their scripts find under this key is asked next; a refused question was not.
    return found | ({"New Question": made.question} if made.accepted else {})


def _evolution_after(battle: Battle, run: RunReader) -> Evolution | None:
    """Return the last attempt at a question from a battle, as the round after it keeps it."""
    from videoautoarena.graph.slot_ids import slot_id
    from videoautoarena.runs.run.battles.detail import attempts_on

    # A newcomer's battle over a stored answer led to no question.
    if battle.borrowed is not None:
        return None
    place = slot_id(battle.video, battle.persona, battle.round + 1)
    after = run.store.battle(run.lineup.current(place))
    attempts = attempts_on(battle, [after] if after is not None else [])
    return attempts[-1] if attempts else None


BATTLE_EXPORTS: Mapping[str, Callable[[Battle, RunReader], str]] = {
    "fastchat": fastchat_battle,
    "videoautoarena": videoautoarena_battle,
}
"""What `arena export --what battles --format` writes of each decided battle: a line of any text."""


@dataclass(frozen=True)
class SetExportOptions:
    """What the export of a frozen set is asked for, beside its format."""

    force: bool = False
    """Replace what is there."""
    judge: str | None = None
    """Name of the judge whose rulings alone are written; None for all."""
    model: str | None = None
    """Name of the model whose answers are written."""
    frames: int = 0
    """Thumbnails a sample."""
    on_progress: Callable[[int, int], None] = lambda _done, _of: None
    """Hears how far it is."""


class ExportedSet(NamedTuple):
    """A frozen set as it was written."""

    found: Mapping[str, Any]
    """What `arena bench export --json` prints beside the format."""
    lines: list[str]
    """The same for a person, the result first."""


class WriteSet(Protocol):
    """Writes a frozen set into a file or a folder; BadInput if it cannot be written."""

    def __call__(self, bench: OpenBench[Any], to: Path, asked: SetExportOptions, /) -> ExportedSet:
        """Write it, and return what was written."""


class SetExport(NamedTuple):
    """A format of `arena bench export`."""

    kinds: tuple[Kind, ...]
    """Sets that can be written in it; the first format of a kind is its usual one."""
    write: WriteSet
    takes: frozenset[str] = frozenset()
    """Those of `judge`, `model` and `frames` that mean something in it."""
    needs_model: bool = False
    is_folder: bool = False


def _write_videoautobench(
    bench: OpenBench[Any], to: Path, asked: SetExportOptions, /
) -> ExportedSet:
    from videoautoarena.runs.exchange.interop.videoautobench import export_videoautobench
    from videoautoarena.runs.formats.terminal import safe
    from videoautoarena.runs.run.rundir.reader import counted

    number = export_videoautobench(bench, to, force=asked.force)
    line = f"{safe(str(to))}: {counted(number, 'question')} as a videoautobench file"
    return ExportedSet({"file": str(to), "questions": number}, [line])


def _write_inspect(bench: OpenBench[Any], to: Path, asked: SetExportOptions, /) -> ExportedSet:
    from videoautoarena.runs.exchange.interop.inspect_export import export_results

    written = export_results(
        bench,
        to,
        judge=asked.judge,
        frames=asked.frames,
        force=asked.force,
        on_progress=asked.on_progress,
    )
    files = [file.name for file in written.files]
    found = {"folder": str(to), "files": files, "samples": written.samples}
    return ExportedSet(found, written.as_lines())


def _write_arena_hard(bench: OpenBench[Any], to: Path, asked: SetExportOptions, /) -> ExportedSet:
    from videoautoarena.runs.exchange.interop.arena_hard import export_arena_hard
    from videoautoarena.runs.formats.terminal import safe

    exported = export_arena_hard(bench, to, judge=asked.judge, force=asked.force)
    return ExportedSet(exported.as_json(), [safe(exported.as_line())])


def _write_mlvu(bench: OpenBench[Any], to: Path, asked: SetExportOptions, /) -> ExportedSet:
    from videoautoarena.runs.bench.score.task_score import choices_of
    from videoautoarena.runs.exchange.interop.mlvu import as_mlvu_predictions
    from videoautoarena.runs.formats.files import refuse_existing, write_whole
    from videoautoarena.runs.formats.terminal import safe
    from videoautoarena.runs.run.rundir.reader import counted

    refuse_existing(to, force=asked.force)
    found = as_mlvu_predictions(bench.items, choices_of(bench, asked.model or ""))
    write_whole(to, (json.dumps(found, indent=4) + "\n").encode("ascii"))
    unread = sum(not one["option"] for one in found)
    line = f"{safe(str(to))}: {counted(len(found), 'prediction')}, {unread:,} unreadable"
    return ExportedSet({"file": str(to), "predictions": len(found), "unreadable": unread}, [line])


def _write_mt_video_bench(
    bench: OpenBench[Any], to: Path, asked: SetExportOptions, /
) -> ExportedSet:
    from videoautoarena.runs.exchange.interop import mt_video_bench

    if asked.model is None:
        written = mt_video_bench.export_mt_video_bench(bench, to, force=asked.force)
    else:
        said = mt_video_bench.replies_of(bench, asked.model)
        written = mt_video_bench.export_predictions(bench, to, said, force=asked.force)
    return ExportedSet(written.as_json(), written.as_lines())


SET_EXPORTS: Mapping[str, SetExport] = {
    "videoautobench": SetExport(("preference",), _write_videoautobench),
    "inspect": SetExport(
        ("preference",), _write_inspect, takes=frozenset({"judge", "frames"}), is_folder=True
    ),
    "arena-hard": SetExport(
        ("preference",), _write_arena_hard, takes=frozenset({"judge"}), is_folder=True
    ),
    "mlvu": SetExport(
        ("choice", "generation", "tasks"),
        _write_mlvu,
        takes=frozenset({"model"}),
        needs_model=True,
    ),
    "mt-video-bench": SetExport(
        ("dialogue",), _write_mt_video_bench, takes=frozenset({"model"}), is_folder=True
    ),
}
"""What `arena bench export --format` writes of a set, by the name of the format."""


def formats_with(option: str, *, last: str = "or") -> str:
    """Return the formats in which an option means something, as words: `inspect or arena-hard`.

    `folder` stands for those that are written as a folder.
    """
    return in_series(
        [
            name
            for name, one in SET_EXPORTS.items()
            if option in one.takes or (option == "folder" and one.is_folder)
        ],
        last,
    )


def export_set(
    bench: OpenBench[Any],
    to: Path,
    form: str | None,
    asked: SetExportOptions,
    *,
    refuse: Callable[[str], NoReturn],
) -> tuple[str, ExportedSet]:
    """Write a frozen set in a format, by default the usual one of its kind; return which, and what.

    `refuse` is called with what is wrong if options and format do not go together.
    """
    known = [name for name, one in SET_EXPORTS.items() if bench.manifest.kind in one.kinds]
    form = form or known[0]
    export = SET_EXPORTS[form]
    for name in ("judge", "frames", "model"):
        # No frames, 0, is what nobody has to ask for.
        if getattr(asked, name) not in (None, 0) and name not in export.takes:
            refuse(f"--{name} needs --format {formats_with(name)}")
        if name == "model" and export.needs_model and asked.model is None:
            refuse(f"--format {form} needs --model")
    if form not in known:
        refuse(f"a set of kind {bench.manifest.kind} goes out as {', '.join(known)}, not as {form}")
    return form, export.write(bench, to, asked)
