"""Runs and results on a bench as a folder of logs for Inspect's viewer.

There is a log a contestant, since their viewer and their tables compare logs: figures stand side by
side, and a model's losses are one filter away. A battle stands in the logs of both its models.
"""

from __future__ import annotations

import html
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from heapq import nsmallest
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import (
    TIES,
    Battle,
    CallRow,
    Frame,
    Judging,
    Sampling,
    Video,
)
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.leaderboard.board import board_of
from videoautoarena.runs.bench.format.points import WORTH
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import REFERENCES, Against, Result, Ruling
from videoautoarena.runs.bench.format.schema import MANIFEST, Item, digest_of
from videoautoarena.runs.bench.play.calls import calls_file, open_calls
from videoautoarena.runs.bench.play.game import scope_of
from videoautoarena.runs.bench.play.videos import seen_videos
from videoautoarena.runs.bench.score.score import build_scores, results_by
from videoautoarena.runs.exchange.interop.inspect_log import (
    EvalLog,
    Json,
    LogSample,
    LogScore,
    write_log,
)
from videoautoarena.runs.formats.files import make_folder, refuse_existing
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import (
    RUN_FILE,
    RunReader,
    contracts_of,
    counted,
    open_run,
    reading_of,
    warnings_of,
)
from videoautoarena.video.sampling.cache import FrameCache, NotCached
from videoautoarena.video.synth.contact_sheet import thumbnail

_PARAMETERS = {
    "temperature": float,
    "top_p": float,
    "max_tokens": int,
    "seed": int,
    "presence_penalty": float,
    "frequency_penalty": float,
}
"""Sampling parameters that both have, by one name."""


def cast_entry(cast: Any, name: str) -> Mapping[str, Any]:
    """Return what a cast says of a model; empty if it does not know it."""
    found = cast.get(name) if isinstance(cast, dict) else None
    return found if isinstance(found, dict) else {}


def parameters_of(entry: Mapping[str, Any]) -> Json:
    """Return a model's sampling parameters as far as a log has a place for them; never a key."""
    given = entry.get("parameters")
    found = given if isinstance(given, Mapping) else {}
    return {
        name: kind(found[name])
        for name, kind in _PARAMETERS.items()
        if isinstance(found.get(name), int | float)
    }


def row_metrics(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, float | int | None]:
    """Return those figures of a row that are numbers; a share with its interval is its value."""
    found = {}
    for name in names:
        value = row.get(name)
        value = value.get("value") if isinstance(value, Mapping) else value
        found[name] = value if isinstance(value, int | float) else None
    return found


def rival_said(name: str, answer: str | None) -> list[Json]:
    """Return the message that shows what an answer was held against."""
    if answer is None:
        return []
    content = f"The answer of {safe(name)}, which it was compared with:\n\n{answer}"
    return [{"role": "user", "content": content}]


def judged(
    judge: str,
    won: str,
    *,
    sides: tuple[str, str],
    is_turned: bool,
    words: str | None,
    reason: str | None,
) -> str:
    """Return one judging as Markdown.

    Args:
        judge: its name.
        won: its verdict: the name of the winner, or the verdict's own word.
        sides: whose answers `a` and `b` are in its verdicts.
        is_turned: whether it read b's answer first, as its A.
        words: what it said, as JSON of the standards, or anything else as it stands.
        reason: why there is no verdict.
    """
    first, second = map(safe, sides[::-1] if is_turned else sides)
    head = f"**{safe(judge)}** (A is {first}, B is {second}): {safe(won)}"
    since = f", since {reason}" if reason else ""
    return "\n\n".join([f"{head}{since}", *_standards(words, sides)])


def _standards(words: str | None, sides: tuple[str, str]) -> list[str]:
    if words is None:
        return []
    try:
        said = json.loads(words)
    except (ValueError, RecursionError):
        return [words]
    # A ruling keeps the words of a panel by judge, those of a lone judge as they are.
    panel = said.get("judges") if isinstance(said, dict) else None
    if not isinstance(panel, dict):
        return _by_standard(said, sides) or [words]
    return [
        line
        for name, one in panel.items()
        for line in (f"**{safe(name)}**", *_by_standard(one, sides))
    ]


def _by_standard(said: Any, sides: tuple[str, str]) -> list[str]:
    """Return a judge's words on each standard; empty for words of any other shape."""
    if not isinstance(said, dict):
        return []
    asked = [name for name in STANDARDS if isinstance(said.get(name), str)]
    if not asked:
        return []
    own = said.get("own_answer")
    better = said.get("standards")
    leads = better if isinstance(better, dict) else {}
    ahead = {"a": f", {safe(sides[0])} ahead", "b": f", {safe(sides[1])} ahead"}
    found = {"own answer": own} if isinstance(own, str) else {}
    for name in asked:
        found[f"{STANDARDS[name].words}{ahead.get(str(leads.get(name)), '')}"] = said[name]
    # Words of a judge must not begin a paragraph or markup of their own.
    return [
        f"{head}: {' '.join(html.escape(safe(words, lines=True), quote=False).split())}"
        for head, words in found.items()
    ]


OnProgress = Callable[[int, int], None]
"""Takes how many logs are written, and how many there will be."""


def say_nothing(_done: int, _of: int) -> None:
    """Hear how far it is, and say nothing."""


class WrittenLogs(NamedTuple):
    """Logs that were written."""

    folder: Path
    files: list[Path]
    samples: int
    missing: int
    """Videos whose frames were wanted but are no longer cached."""

    def as_lines(self) -> list[str]:
        """Return it as lines for a person, safe to print."""
        name = safe(str(self.folder))
        logs = counted(len(self.files), "log")
        samples = counted(self.samples, "sample")
        lines = [f"{logs} with {samples} written to {name}; see: inspect view --log-dir {name}"]
        if self.missing:
            videos = counted(self.missing, "video")
            lines.append(f"frames of {videos} are not in the cache any more and were left out")
        return lines


def write_folder(
    to: Path,
    logs: Sequence[tuple[EvalLog, Iterable[LogSample]]],
    *,
    force: bool,
    pictures: FrameThumbnails,
    on_progress: OnProgress,
) -> WrittenLogs:
    """Write logs into a folder, each whole or not at all; `on_progress` hears after each.

    Raises:
        BadInput: the folder cannot be made, or one of the files is there and not `force`.
    """
    files = [to / log.file_name for log, _ in logs]
    make_folder(to)
    # All are looked at before any is written.
    for file in files:
        refuse_existing(file, force=force)
    count = 0
    for place, (file, (log, samples)) in enumerate(zip(files, logs, strict=True), start=1):
        count += write_log(file, log, samples)
        on_progress(place, len(files))
    return WrittenLogs(to, files, count, len(pictures.missing))


def span_of(store: Store | None, file: Path) -> tuple[float, float]:
    """Return when work began and ended, in seconds since 1970; else when a file was written."""
    sessions = store.sessions.all() if store is not None else []
    if not sessions:
        written_s = file.stat().st_mtime
        return written_s, written_s
    last = sessions[-1]
    return sessions[0].began_at_s, last.began_at_s + last.worked_s


class FrameThumbnails:
    """Thumbnails of the frames that answers were made from, as far as they are still cached."""

    def __init__(self, store: Store | None, sampling: Mapping[str, Any], most: int) -> None:
        self._store = store
        self._most = most
        self._cache = FrameCache()
        try:
            self._sampling = Sampling.model_validate(sampling)
        except ValidationError:
            # A run of another version may state a sampling that is not known here: its logs have no
            # pictures.
            self._most = 0
        self._sha = {video.id: video.sha256 for video in store.videos()} if store else {}
        self.missing = set[str]()
        """Videos whose frames are not at hand."""

    def of(self, video: str, times: Sequence[float] | None) -> list[tuple[float, bytes]]:
        """Return thumbnails of a video with their times, spread evenly.

        `times` are those of the frames that were sent; None for all that the video gave.
        """
        known = self._store.frames(video) if self._store is not None and self._most else None
        if known is None:
            return []
        sent = None if times is None else set(times)
        chosen = _spread([f for f in known.frames if sent is None or f.time_s in sent], self._most)
        try:
            digests = [frame.digest for frame in chosen]
            jpegs = self._cache.jpegs(self._sha[video], self._sampling, digests)
            return [(f.time_s, thumbnail(j)) for f, j in zip(chosen, jpegs, strict=True)]
        # Pictures are an extra: where one is gone the log is written all the same.
        except (NotCached, KeyError, OSError):
            self.missing.add(video)
            return []


def _spread(frames: Sequence[Frame], most: int) -> list[Frame]:
    if len(frames) <= most:
        return list(frames)
    # The middles of equally long parts, so that neither end of the video is always shown.
    return [frames[(2 * k + 1) * len(frames) // (2 * most)] for k in range(most)]


BATTLE_SCORER = "battle"
_RATING_FIGURES = ("rating", "low", "high", "rank", "win_rate", "battles", "wins", "losses", "ties",
            "forfeits")  # fmt: skip


def export_run(
    folder: Path,
    to: Path,
    *,
    frames: int = 0,
    force: bool = False,
    on_progress: OnProgress = say_nothing,
) -> WrittenLogs:
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
        pictures = FrameThumbnails(run.store, run.manifest.get("sampling") or {}, frames)
        began_s, ended_s = span_of(run.store, folder / RUN_FILE)
        names = ("schema", "seed", "rounds", "judges", "pairing", "swap", "sampling", "prompts")
        # They are in no contestant's log, so their number is said in each.
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
            EvalLog(
                task=f"arena {folder.resolve().name}",
                model=name,
                source=source,
                dataset=folder.resolve().name,
                began_s=began_s,
                ended_s=ended_s,
                scores=[LogScore(BATTLE_SCORER, row_metrics(rows.get(name, {}), _RATING_FIGURES))],
                metadata=_metadata(run, name, about),
                parameters=parameters_of(cast_entry(run.manifest.get("cast"), name)),
                # Their roles are a mapping, so each further judge needs a role of its own.
                roles={f"judge {k}" if k else "judge": judge
                       for k, judge in enumerate(run.manifest.get("judges") or ())},
                # A run that its rule has stopped is whole, though slots of it were never played.
                is_whole=run.stop is not None or len(run.settled) == len(run.slots),
            )
            for name in run.manifest["models"]
        ]  # fmt: skip
        filled = [(log, _battle_samples(run, log.model, pictures)) for log in logs]
        return write_folder(to, filled, force=force, pictures=pictures, on_progress=on_progress)


def _metadata(run: RunReader, name: str, about: Json) -> Json:
    entry = cast_entry(run.manifest.get("cast"), name)
    return {**about, "contestant": entry.get("model", name), "max_frames": entry.get("max_frames")}


_WORDS = {1.0: "win over", 0.5: "tie with", 0.0: "loss to"}
_BATTLE_FIELDS = (
    *("duration_s", "persona", "aimed_at", "model_a", "model_b", "reason", "evolution"),
    *("prompts", "propensity", "basis", "borrowed"),
)


def _battle_samples(run: RunReader, name: str, pictures: FrameThumbnails) -> Iterator[LogSample]:
    for battle in run.battles:
        if battle.model_a == name:
            yield _battle_sample(run, battle, "a", pictures)
        if battle.model_b == name:
            yield _battle_sample(run, battle, "b", pictures)


def _battle_sample(
    run: RunReader, battle: Battle, seat: Literal["a", "b"], pictures: FrameThumbnails
) -> LogSample:
    """Return a battle as the model in one of its seats met it."""
    other = "b" if seat == "a" else "a"
    rival = getattr(battle, f"model_{other}") or "nobody"
    rival_answer = getattr(battle, f"answer_{other}")
    frames = getattr(battle, f"frames_{seat}")
    verdict = battle.verdict
    rows = run.store.journal.calls(battle.id)
    scores = {}
    if verdict in TIES or verdict in ("a", "b"):
        points = 0.5 if verdict in TIES else float(verdict == seat)
        scores[BATTLE_SCORER] = {
            "value": points,
            "answer": f"{_WORDS[points]} {safe(rival)}",
            "explanation": "\n\n".join(_explained_judging(battle, one) for one in battle.verdicts),
        }
    error = None
    # Only the model that forfeited is at fault, not its rival.
    if verdict in ("void", f"forfeit_{seat}"):
        error = f"{verdict.partition('_')[0]}: {battle.reason or 'no reason recorded'}"
    fields = battle.model_dump(mode="json")
    return LogSample(
        id=battle.id,
        question=battle.question or "(no question)",
        persona=battle.persona_text,
        # Their viewer shows a target beside each answer: here what it was compared with.
        target=rival_answer or "",
        answer=getattr(battle, f"answer_{seat}"),
        asides=rival_said(rival, rival_answer),
        pictures=pictures.of(battle.video, frames),
        scores=scores,
        brief={
            "rival": rival,
            "verdict": verdict,
            "seat": seat,
            "persona": battle.persona_text,
            **{name: fields[name] for name in ("category", "difficulty", "round", "origin")},
            "video": battle.video,
        },
        metadata={
            **{f"battle_{name}": fields[name] for name in _BATTLE_FIELDS if name in fields},
            "frames_s": list(frames),
            "judgings": [
                {name: one[name] for name in ("judge", "seats", "verdict", "reason")}
                for one in fields["verdicts"]
            ],
        },
        calls=[
            row
            for row in rows
            if row.nonce.role == "contestant" and row.alias == getattr(battle, f"model_{seat}")
        ],
        judging=[row for row in rows if row.nonce.role == "judge"],
        error=error,
    )


def _explained_judging(battle: Battle, one: Judging) -> str:
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


BENCH_SCORER = "bench"
"""Name of the scorer that is the mean of an answer's points against both references."""
_SIDE_FIGURES = ("value", "low", "high", "n", "win", "tie", "loss", "void", "missing")
_AGAINST: dict[Against, str] = {"selected": "vs_selected", "rejected": "vs_rejected"}


class _BenchSources(NamedTuple):
    """What is at hand beside the results."""

    bench: OpenBench
    store: Store | None
    films: Mapping[str, Video]
    """Videos by the digest of the bench's id."""
    pictures: FrameThumbnails


def export_results(
    bench: OpenBench,
    to: Path,
    *,
    judge: str | None = None,
    frames: int = 0,
    force: bool = False,
    on_progress: OnProgress = say_nothing,
) -> WrittenLogs:
    """Write a log for every result on a bench into the folder `to`.

    Args:
        bench: the one whose results are written.
        to: made if it is not there; it may hold other logs.
        judge: only rulings of this one; None for all judges, each in logs of its own.
        frames: thumbnails of frames in every sample.
        force: replace what is there.
        on_progress: hears after every log how many are written.

    Raises:
        BadInput: no results, a log is there and not `force`, or one cannot be written.
    """
    results = results_by(bench, judge)
    rows = {(r["model"], r["judge"]): r for r in build_scores(bench, results)["models"]}
    with ExitStack() as stack:
        store = open_calls(bench, write=False)
        if store is not None:
            stack.enter_context(store)
        sampling = bench.manifest.run.get("sampling")
        given = sampling if isinstance(sampling, dict) else {}
        shelf = _BenchSources(
            bench, store, seen_videos(store), FrameThumbnails(store, given, frames)
        )
        filled = [
            (
                _log(shelf, result, rows[result.model, result.judge]),
                _question_samples(shelf, result),
            )
            for result in results
        ]
        return write_folder(
            to, filled, force=force, pictures=shelf.pictures, on_progress=on_progress
        )


def _log(shelf: _BenchSources, result: Result, row: Mapping[str, Any]) -> EvalLog:
    bench = shelf.bench
    file = calls_file(bench) if shelf.store is not None else bench.folder / MANIFEST
    began_s, ended_s = span_of(shelf.store, file)
    name = bench.folder.resolve().name
    return EvalLog(
        task=f"arena bench {name}",
        model=result.model,
        source=digest_of([bench.bench, result.judge]),
        dataset=name,
        began_s=began_s,
        ended_s=ended_s,
        scores=[
            LogScore(BENCH_SCORER, row_metrics(row, ("average", "low", "high", "n", "videos"))),
            *(
                LogScore(_AGAINST[side], row_metrics(row[side], _SIDE_FIGURES))
                for side in REFERENCES
            ),
        ],
        metadata={
            "bench": bench.bench,
            "licence": bench.manifest.licence,
            "source": bench.manifest.source.format,
            "how": result.how,
            "judge": result.judge,
            "flags": row["flags"],
            "facts": result.facts,
            "prompts": bench.manifest.run.get("prompts"),
        },
        parameters=parameters_of(cast_entry(bench.manifest.run.get("cast"), result.model)),
        roles={"judge": result.judge},
    )


def _question_samples(shelf: _BenchSources, result: Result) -> Iterator[LogSample]:
    rulings = defaultdict[str, list[Ruling]](list)
    for ruling in result.rulings:
        rulings[ruling.qid].append(ruling)
    for item in shelf.bench.items:
        if said := rulings.get(item.qid):
            film = shelf.films.get(digest_of(item.video_id))
            reasons = list(
                dict.fromkeys(r.reason or "no reason" for r in said if r.verdict == "void")
            )
            yield LogSample(
                id=item.qid,
                question=item.question,
                persona=item.persona,
                target=item.selected_answer,
                answer=next((r.response for r in said if r.response is not None), None),
                asides=[
                    *rival_said("the bench, selected", item.selected_answer),
                    *rival_said("the bench, rejected", item.rejected_answer),
                ],
                # A result does not keep which frames were sent: these are of all that there are.
                pictures=shelf.pictures.of(film.id, None) if film is not None else (),
                scores=_scores(result, said),
                brief={
                    "video": item.video_id,
                    "category": item.category,
                    "topic": item.topic,
                    "difficulty": item.difficulty,
                    "origin": item.origin,
                    **{side: _words(said, side) for side in REFERENCES},
                },
                metadata={
                    "qid": item.qid,
                    "item": item.model_dump(
                        by_alias=True,
                        exclude={"question", "selected_answer", "rejected_answer", "persona"},
                    ),
                    "rulings": [
                        {
                            "against": r.against,
                            "verdict": r.verdict,
                            "seats": r.seats,
                            "reason": r.reason,
                        }
                        for r in said
                    ],
                },
                calls=_answering(shelf, result, item),
                error=f"void: {'; '.join(reasons)}" if reasons else None,
            )


def _words(rulings: Sequence[Ruling], side: Against) -> str | None:
    said = dict.fromkeys(r.verdict for r in rulings if r.against == side)
    return ", ".join(said) or None


def _scores(result: Result, rulings: Sequence[Ruling]) -> dict[str, Json]:
    """Return the points of an answer; without a verdict on one side there is no mean."""
    found = dict[str, Json]()
    for side in REFERENCES:
        held = [r for r in rulings if r.against == side]
        worth = [WORTH[side][r.verdict] for r in held if r.verdict in WORTH[side]]
        if worth:
            found[_AGAINST[side]] = {
                "value": sum(worth) / len(worth),
                "answer": _words(held, side),
                "explanation": "\n\n".join(_explained_ruling(result, r) for r in held),
            }
    if len(found) == len(REFERENCES):
        mean = sum(one["value"] for one in found.values()) / len(found)
        return {BENCH_SCORER: {"value": mean}, **found}
    return found


def _explained_ruling(result: Result, ruling: Ruling) -> str:
    theirs = f"the {ruling.against} answer"
    return judged(
        result.judge,
        f"{ruling.verdict} against {theirs}",
        sides=(theirs, result.model),
        is_turned=ruling.seats == "ba",
        words=ruling.words,
        reason=ruling.reason,
    )


def _answering(shelf: _BenchSources, result: Result, item: Item) -> list[CallRow]:
    """Return the calls for a model's answer; two names of one model share theirs."""
    # An imported result was made elsewhere: calls by its name here may be another model's.
    if shelf.store is None or result.how != "run":
        return []
    rows = shelf.store.journal.calls(scope_of(item))
    asked = [row for row in rows if row.nonce.role == "contestant"]
    own = [row for row in asked if row.alias == result.model]
    return own or [row for row in asked if row.model == result.facts.get("model")]
