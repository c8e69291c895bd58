"""A run's battles as Inspect's viewer shows them: a log a contestant, a sample a battle.

One log a model, since their viewer and their tables compare logs: the ratings stand side by side,
and a model's losses are one filter away. A battle stands in the logs of both its models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import TIES, Battle, Judging
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.bench.format.schema import digest_of
from videoautoarena.runs.exchange.interop.inspect_folder import (
    Frames,
    OnProgress,
    Written,
    cast_entry,
    judged,
    parameters_of,
    rival_said,
    row_metrics,
    say_nothing,
    span_of,
    write_folder,
)
from videoautoarena.runs.exchange.interop.inspect_log import Json, Log, Sample, Score
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import (
    RUN_FILE,
    Run,
    contracts_of,
    open_run,
    reading_of,
    warnings_of,
)

SCORER = "battle"
_FIGURES = ("rating", "low", "high", "rank", "win_rate", "battles", "wins", "losses", "ties",
            "forfeits")  # fmt: skip


class _Side(NamedTuple):
    """A battle as one of its models met it."""

    battle: Battle
    is_a: bool

    @property
    def answer(self) -> str | None:
        return self.battle.answer_a if self.is_a else self.battle.answer_b

    @property
    def rival(self) -> str:
        return (self.battle.model_b if self.is_a else self.battle.model_a) or "nobody"

    @property
    def rival_answer(self) -> str | None:
        return self.battle.answer_b if self.is_a else self.battle.answer_a

    @property
    def frames(self) -> tuple[float, ...]:
        return self.battle.frames_a if self.is_a else self.battle.frames_b

    @property
    def points(self) -> float | None:
        """1 for a win, a half for a tie of any kind, 0 for a loss; None of what counts nothing."""
        verdict = self.battle.verdict
        if verdict in TIES:
            return 0.5
        return float((verdict == "a") == self.is_a) if verdict in ("a", "b") else None

    @property
    def error(self) -> str | None:
        """Why it came to nothing for this model; the rival of a forfeit has no fault."""
        verdict = self.battle.verdict
        reason = self.battle.reason or "no reason recorded"
        if verdict == "void":
            return f"void: {reason}"
        return f"forfeit: {reason}" if verdict == f"forfeit_{'a' if self.is_a else 'b'}" else None


def export_run(
    folder: Path,
    to: Path,
    *,
    frames: int = 0,
    force: bool = False,
    on_progress: OnProgress = say_nothing,
) -> Written:
    """Write a log for every contestant of a run into the folder `to`.

    Args:
        folder: the run's.
        to: made if it is not there; it may hold other logs.
        frames: thumbnails of frames in every sample.
        force: replace what is there.
        on_progress: hears after every log how many are written.

    Raises:
        BadInput: no run, a log is there and not `force`, or one cannot be written.
    """
    board = board_of(folder)
    rows = {row.model: row.to_json() for row in board.models}
    with open_run(folder) as run:
        pictures = Frames(run.store, run.manifest.get("sampling") or {}, frames)
        began_s, ended_s = span_of(run.store, folder / RUN_FILE)
        names = ("schema", "seed", "rounds", "judges", "pairing", "swap", "sampling", "prompts")
        nobody = [b for b in run.battles if b.model_a is None or b.model_b is None]
        about = {
            **{name: run.manifest.get(name) for name in names},
            "contracts": contracts_of(run.manifest),
            "reading": reading_of(run.manifest),
            "stand_ins": board.settings.stand_ins,
            "warnings": warnings_of(run),
            "totals": asdict(board.settings.totals),
            "void_before_a_draw": len(nobody),
        }
        source = digest_of([run.manifest, nsmallest(1, run.lineup.ids)])
        logs = [
            Log(
                task=f"arena {folder.resolve().name}",
                model=name,
                source=source,
                dataset=folder.resolve().name,
                began_s=began_s,
                ended_s=ended_s,
                scores=[Score(SCORER, row_metrics(rows.get(name, {}), _FIGURES))],
                metadata=_metadata(run, name, about),
                parameters=parameters_of(cast_entry(run.manifest.get("cast"), name)),
                roles={f"judge {k}" if k else "judge": judge
                       for k, judge in enumerate(run.manifest.get("judges") or ())},
                is_whole=run.stop is not None or len(run.settled) == len(run.slots),
            )
            for name in run.manifest["models"]
        ]  # fmt: skip
        filled = [(log, _samples(run, log.model, pictures)) for log in logs]
        return write_folder(to, filled, force=force, pictures=pictures, on_progress=on_progress)


def _metadata(run: Run, name: str, about: Json) -> Json:
    entry = cast_entry(run.manifest.get("cast"), name)
    return {**about, "contestant": entry.get("model", name), "max_frames": entry.get("max_frames")}


def _samples(run: Run, name: str, pictures: Frames) -> Iterator[Sample]:
    for battle in run.battles:
        for is_a, model in ((True, battle.model_a), (False, battle.model_b)):
            if model == name:
                yield _sample(run, _Side(battle, is_a), name, pictures)


def _sample(run: Run, side: _Side, name: str, pictures: Frames) -> Sample:
    battle = side.battle
    points = side.points
    rows = run.store.journal.calls(battle.id)
    asked = [row for row in rows if row.nonce.role == "contestant" and row.alias == name]
    scores = {}
    if points is not None:
        scores[SCORER] = {
            "value": points,
            "answer": f"{_WORDS[points]} {safe(side.rival)}",
            "explanation": "\n\n".join(_explained(battle, one) for one in battle.verdicts),
        }
    return Sample(
        id=battle.id,
        question=battle.question or "(no question)",
        persona=battle.persona_text,
        target=side.rival_answer or "",
        answer=side.answer,
        asides=rival_said(side.rival, side.rival_answer),
        pictures=pictures.of(battle.video, side.frames),
        scores=scores,
        brief=_brief(side),
        metadata=_rest(side),
        calls=asked,
        judging=[row for row in rows if row.nonce.role == "judge"],
        error=side.error,
    )


_WORDS = {1.0: "win over", 0.5: "tie with", 0.0: "loss to"}


def _brief(side: _Side) -> Json:
    battle = side.battle
    return {
        "rival": side.rival,
        "verdict": battle.verdict,
        "seat": "a" if side.is_a else "b",
        "persona": battle.persona_text,
        "category": battle.category,
        "difficulty": battle.difficulty,
        "round": battle.round,
        "origin": battle.origin,
        "video": battle.video,
    }


def _rest(side: _Side) -> Json:
    battle = side.battle.model_dump(mode="json")
    kept = ("duration_s", "persona", "aimed_at", "model_a", "model_b", "reason", "evolution",
            "prompts", "propensity", "basis", "borrowed")  # fmt: skip
    return {
        **{f"battle_{name}": battle[name] for name in kept if name in battle},
        "frames_s": list(side.frames),
        "judgings": [
            {name: one[name] for name in ("judge", "seats", "verdict", "reason")}
            for one in battle["verdicts"]
        ],
    }  # fmt: skip


def _explained(battle: Battle, one: Judging) -> str:
    a = battle.model_a or "?"
    b = battle.model_b or "?"
    words = None
    if one.analyses:
        more = one.model_dump(include={"own_answer", "standards"})
        words = canonical_json({**one.analyses, **more})
    return judged(
        one.judge,
        {"a": a, "b": b}.get(one.verdict, one.verdict),
        sides=(a, b),
        is_turned=one.seats == "ba",
        words=words,
        reason=one.reason,
    )
