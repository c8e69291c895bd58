"""What a page knows of a run: its records as JSON, parted by when a reader needs them.

Everything is what `videoautoarena.open_run` returns, put together: `summary` is all that a report
shows before anybody opens a list, `index` a column for each thing that battles are found by,
`videos` what each video is and who saw which of its frames, and a part the text of CHUNK battles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.human_agreement import show_labels
from videoautoarena.runs.analysis.audit.report import audit_in
from videoautoarena.runs.analysis.categories.tags import tags_of
from videoautoarena.runs.analysis.leaderboard.board import board_in, pairs_in, slices_by
from videoautoarena.runs.analysis.leaderboard.run_traits import (
    COLUMN,
    NAMES,
    QUESTION_CATEGORY,
    names_of,
)
from videoautoarena.runs.analysis.leaderboard.slices import Slices
from videoautoarena.runs.console.progress.status import status_of
from videoautoarena.runs.formats.record_json import value_json
from videoautoarena.runs.rating.fit import MOVED, UNCONTROLLED
from videoautoarena.runs.rating.leaderboard import Row
from videoautoarena.runs.rating.method import USUAL
from videoautoarena.runs.rating.profile import build_profiles
from videoautoarena.runs.run.battles.listing import chances
from videoautoarena.runs.run.battles.rounds import rounds_of
from videoautoarena.runs.run.battles.standards import by_standard, letters_of
from videoautoarena.runs.run.inputs.users import slices_of
from videoautoarena.runs.run.rundir.account import (
    RunCosts,
    Setup,
    Took,
    costs_of,
    setup_of,
    videos_of,
)
from videoautoarena.runs.run.rundir.reader import BattlesOf, Run, counted, open_run
from videoautoarena.runs.run.rundir.weaknesses import read_looks
from videoautoarena.runs.views.page.sentences import short_names
from videoautoarena.runs.views.results.forms import csv_text
from videoautoarena.runs.views.results.labels import labels_report, people_section
from videoautoarena.runs.views.results.report import Report
from videoautoarena.runs.views.results.run_page import (
    LeftOut,
    RunRecords,
    made_section,
    missing_section,
    page_words,
    run_page,
    spending_section,
)

SCHEMA = 1
"""Of what a page reads."""
CHUNK = 200
"""Battles in a part."""
LISTED = 100_000
"""Battles that a page lists at most: an index of more takes a browser seconds to search."""
QUESTION_CHARS = 400
"""Of a question in the index; the whole is in the part."""
TRAITS = ("duration", "category", "round", "origin", "persona", "format")
"""By which the report shows slices, and by language where the run draws any."""
MOST_COLUMNS, MOST_KINDS = 6, 12
"""Columns of facts that are slices of a report, and values that one may have to be one."""
Json = dict[str, Any]
_SLICE_ROW = (
    *("model", "rating", "low", "high", "battles", "wins", "ties", "rank_best", "rank_worst"),
    "flags",
)
_STATUS = (
    *("slots", "settled", "decided", "verdicts", "void_reasons", "forfeits", "skipped"),
    *("quarantine", "damage", "cost_usd", "unknown_cost", "cost_usd_a_battle", "cache", "lost"),
    *("failed", "until", "users", "facts"),
)
_LEFT_OUT = ("schema", "prompts", "frames_a", "frames_b", "basis", "propensity")
"""Of a battle: what is the same in all of them, or stands with its video."""


@dataclass
class PageData:
    """A run as a page reads it."""

    folder: Path
    summary: Json
    index: Json
    videos: dict[str, Json]
    took: Mapping[str, Mapping[str, Took]]
    """What the calls of each battle took."""
    note: str | None = None
    """Of which battles the lists are, where not of all."""
    slice_of: Callable[[Battle], Iterable[str]] | None = None
    """What a board by persona calls its user, where users were brought."""

    @classmethod
    def read(cls, folder: Path, most: int = LISTED) -> Self:
        """Return what the run in `folder` holds by now; BadInput where there is none.

        Of a run with more than `most` battles, the pages list those of some videos; see
        `listed_of`.
        """
        with open_run(folder) as run:
            listed = listed_of(run, most)
            costs = _costs(run, listed)
            figures = _figures(run, listed, costs)
            note = _note(listed, len(run.battles))
            figures["settings"]["warnings"] += [] if note is None else [note]
            index = index_of(listed, seats_count=run.manifest.get("swap") == "all")
            index["surprise"] = _surprise(listed, figures.pop("rated"))
            setup = setup_of(run)
            slice_of = slices_of(run.store)
            videos = {
                video.id: video.to_json() | {"sprite": None}
                for video in videos_of(run, set(index["videos"]))
            }
        summary = _summary(figures, setup, costs)
        kept = {id_: videos[id_] for id_ in index["videos"]}
        return cls(folder, summary, index, kept, costs.battles, note, slice_of)

    def part(self, number: int) -> list[Json]:
        """Return the battles at the places from `number` times CHUNK on; none beyond the last."""
        wanted = self.index["id"][number * CHUNK : (number + 1) * CHUNK]
        with open_run(self.folder) as run:
            found = (run.store.battle(id_) for id_ in wanted)
            return [self._battle(battle) for battle in found if battle is not None]

    def parts(self, run: Run) -> Iterator[list[Json]]:
        """Give all parts in their order, with one in memory at a time."""
        there = set(self.index["id"])
        listed = run.battles.where(np.array([id_ in there for id_ in run.outlines.ids()], bool))
        battles = map(self._battle, listed)
        while part := list(islice(battles, CHUNK)):
            yield part

    def _battle(self, battle: Battle) -> Json:
        body = battle.model_dump(by_alias=True, mode="python", exclude=set(_LEFT_OUT))
        for key in _LEFT_OUT:
            body.pop(key, None)
        took = self.took.get(battle.id, {})
        if self.slice_of is not None:
            body["user"] = next(iter(self.slice_of(battle)))
        return body | {"took": {who: of.model_dump(by_alias=True) for who, of in took.items()}}


def listed_of(run: Run, most: int) -> BattlesOf:
    """Return the battles that a page lists: all, or of a larger run those of some videos.

    Videos are drawn by the run's seed, as many as have `most` battles together; of each all battles
    are listed, so that every chain of questions is whole.
    """
    battles = run.battles
    if len(battles) <= most:
        return battles
    column = battles.outlines.texts["video"]
    seed = int(run.manifest.get("seed") or 0)
    drawn = list[str]()
    left = most
    counts = column.counts()
    for video in sorted(counts, key=lambda video: derive(seed, "listed", video)):
        if counts[video] > left:
            break
        drawn.append(video)
        left -= counts[video]
    return battles.where(column.among(drawn))


def _note(listed: BattlesOf, every: int) -> str | None:
    """Return of which battles a page's lists are; None where of all."""
    if len(listed) == every:
        return None
    videos = len(listed.outlines.texts["video"].counts())
    return (
        f"battles to read, difficulty and weaknesses are those of {counted(videos, 'video')} drawn "
        f"by the run's seed, {len(listed):,} of {every:,} battles; all other figures are of all"
    )


def _costs(run: Run, listed: BattlesOf) -> RunCosts:
    return costs_of(run, list(listed.outlines.ids()))


def index_of(battles: Collection[Battle], *, seats_count: bool) -> Json:
    """Return the columns by which battles are listed, filtered and searched."""
    names = set[str]()
    videos = set[str]()
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for battle in battles:
        names |= {name for name in (battle.model_a, battle.model_b) if name}
        videos.add(battle.video)
        for name, cell in zip(columns, _cells(battle, seats_count=seats_count), strict=True):
            columns[name].append(cell)
    model = {name: place for place, name in enumerate(sorted(names))}
    video = {id_: place for place, id_ in enumerate(sorted(videos))}
    columns["video"] = [video[id_] for id_ in columns["video"]]
    for seat in "ab":
        columns[seat] = [model.get(name or "", -1) for name in columns[seat]]
    return {"models": [*model], "videos": [*video], "chunk": CHUNK, **columns}


def _cells(battle: Battle, *, seats_count: bool) -> Iterator[Any]:
    """Yield what stands of a battle in each of the columns; models and video by their names."""
    yield from (battle.id, battle.video, battle.model_a, battle.model_b)
    yield from (getattr(battle, name) for name in _PLAIN)
    yield (battle.question or "")[:QUESTION_CHARS]
    yield _seats(battle)
    yield letters_of(by_standard(battle, seats_count=seats_count))


_PLAIN = ("persona", "round", "verdict", "origin", "category", "difficulty")
_COLUMNS = ("id", "video", "a", "b", *_PLAIN, "question", "seats", "standards")


def _seats(battle: Battle) -> int:
    """Return 0 where one seating was judged, 1 where both gave one verdict, 2 where two."""
    said = {judging.seats: judging.verdict for judging in battle.verdicts}
    return 0 if len(said) < 2 else 1 if len(set(said.values())) == 1 else 2


def _surprise(listed: BattlesOf, rows: Sequence[Row]) -> list[int]:
    """Return the place of each battle where the most surprising by the ratings is the first."""
    order = np.argsort(chances(listed.outlines, rows), kind="stable")
    found: list[int] = np.argsort(order, kind="stable").tolist()
    return found


def _figures(run: Run, listed: BattlesOf, costs: RunCosts) -> Json:
    """Return what a report shows that is made of battles and labels.

    Difficulty and weaknesses are those of the battles that are listed.
    """
    board = board_in(run, replace(USUAL, pairs=True))
    pairs = pairs_in(run)
    found = audit_in(run)
    styled = board_in(run, replace(USUAL, style=True, seats=True), behaviour=False)
    adjusted = {row.model: _adjusted(row) for row in styled.models}
    looks = read_looks(listed)
    profiles = build_profiles(looks, {row.model: row.rating for row in board.models})
    rounds = rounds_of(listed, themes=looks.theme_of)
    status = status_of(run.folder)
    told = status.to_json()
    report = run_page(
        RunRecords(
            board=board,
            pairs=pairs,
            rounds=rounds,
            findings=found.findings,
            judges=list(found.judges),
            roles=costs.roles,
            contestants=[of for of in costs.models if of.role == "contestant"],
            seconds=status.work.seconds,
            cost_usd=told["cost_usd"] or 0.0,
            unknown_cost=told["unknown_cost"],
            left=_left(told),
            styled=styled,
        )
    )
    rows = board.to_json()
    audit = found.to_json()
    labels = show_labels(run)
    is_labelled = labels.labels or labels.votes.cast or labels.ranking
    cautions = [text for text in board.settings.warnings if MOVED not in text]
    return {
        "rated": board.models,
        "stand_ins": rows["settings"]["stand_ins"],
        "models": [row | {"style": adjusted[row["model"]]} for row in rows["models"]],
        "settings": rows["settings"] | {"warnings": cautions},
        "leads": rows["leads"],
        "terms": value_json(styled.settings.terms),
        "components": rows["components"],
        "better": {"models": rows["pairs"]["models"], "p": rows["pairs"]["better"]},
        "pairs": pairs.to_json()["pairs"],
        "slices": _slices(run, (*_traits(run), *own_traits(run))),
        "rounds": [one.to_json() for one in rounds],
        "profiles": {row["model"]: row for row in profiles.to_json()["profiles"]},
        "audit": audit["findings"],
        "judges": audit["judges"],
        "labels": labels.to_json() if is_labelled else None,
        "people": labels_report(labels) if labels.labels or labels.ranking else None,
        "status": {key: told[key] for key in _STATUS},
        "report": report,
    }


def _left(status: Json) -> LeftOut:
    """Return what was left out: battles without a verdict, files and damage."""
    without = sum(status["verdicts"].get(of, 0) for of in ("void", "forfeit_a", "forfeit_b"))
    aside = {file["path"] for file in (*status["quarantine"], *status["skipped"])}
    return LeftOut(status["settled"], without, len(aside), len(status["damage"]))


def _adjusted(row: Row) -> Json | None:
    """Return the rating of a model with style taken out; None where it cannot be."""
    if UNCONTROLLED in row.flags:
        return None
    return {"rating": row.rating, "low": row.low, "high": row.high}


def _summary(figures: Json, setup: Setup, costs: RunCosts) -> Json:
    """Return all that a report shows before a list or a battle is opened."""
    report: Report = figures.pop("report")
    people: Report | None = figures.pop("people")
    names = short_names([*(row["model"] for row in figures["models"]), *setup.cast])
    found: Json = {
        "schema": SCHEMA,
        "run": _about(setup),
        **figures,
        "models": [row | _took(row["model"], setup, costs) for row in figures["models"]],
        "spending": [row.model_dump() for row in costs.roles],
        "methods": _methods(setup),
        "live": None,
        "siblings": None,
    }
    sections = [
        spending_section(report, found["status"]["cost_usd_a_battle"]),
        missing_section(report, found["status"]),
        made_section(found["settings"], found["run"], found["methods"]),
    ]
    if people is not None:
        sections.append(people_section(people))
    return found | {
        "words": page_words(report, names),
        "tables": report.to_json()["tables"],
        "csv": csv_text(report.data_table),
        "sections": {one.id: one.to_json() for one in sections},
    }


def _about(setup: Setup) -> Json:
    known = setup.model_dump(mode="json")
    return {key: known[key] for key in ("name", "began_s", "seed", "work", "version", "rounds")}


def _methods(setup: Setup) -> Json:
    known = setup.model_dump(mode="json")
    return {
        **{key: known[key] for key in ("sampling", "prompts", "cast", "roles")},
        "run": {key: known[key] for key in _RULES},
    }


_RULES = (
    *("version", "rounds", "pairing", "swap", "until", "preset", "overall_only", "subtitles"),
    *("personas", "diverse"),
    *("contracts", "self_judging", "offline_judge_on_real", "blind_referee"),
)


def _took(model: str, setup: Setup, costs: RunCosts) -> Json:
    """Return what a contestant is, and what its answers took."""
    answers = (of for of in costs.models if (of.role, of.model) == ("contestant", model))
    took = next(answers, None)
    member = setup.cast.get(model)
    if member is None:
        raise StoreError("the run has battles of a model that its settings do not define")
    return {
        "served": member.model,
        "max_frames": member.max_frames,
        "answers": took.calls if took else 0,
        "latency_s": took.latency_s.model_dump() if took and took.latency_s else None,
        "cost_usd": took.cost_usd if took else None,
        "tokens_in": took.input_tokens if took else 0,
        "tokens_out": took.output_tokens if took else 0,
    }


def _traits(run: Run) -> tuple[str, ...]:
    """Return by what slices are shown: languages and kinds of question where they are known."""
    has_languages = any(run.outlines.texts["language"].counts())
    language = ["language"] * has_languages
    kind = [QUESTION_CATEGORY] * bool(tags_of(run))
    return (*TRAITS, *language, *kind)


def own_traits(run: Run) -> list[str]:
    """Return the first columns of the run's file of facts that part its videos into a few kinds."""
    facts = run.known_facts
    columns = [name for name in names_of(run) if name not in NAMES]
    kinds = {
        name: {facts.cell(video, name.removeprefix(COLUMN)) for video in facts.videos} - {None}
        for name in columns
        if name != f"{COLUMN}category"
    }
    return [name for name in columns if 1 < len(kinds.get(name, ())) <= MOST_KINDS][:MOST_COLUMNS]


def _slices(run: Run, traits: Sequence[str]) -> dict[str, list[Json]]:
    """Return the leaderboards of traits, cut to what small multiples draw."""
    found = slices_by(run, traits, behaviour=False)
    return {trait: _cut(found[trait]) for trait in traits}


def _cut(found: Slices) -> list[Json]:
    return [
        {
            "slice": part["slice"],
            "battles": part["battles"],
            "flags": part["flags"],
            "videos": sum(part["settings"]["videos"] or []),
            "both_bad": part["both_bad_share"],
            "rows": [{key: row[key] for key in _SLICE_ROW} for row in part["models"]],
        }
        for part in found.to_json()["slices"]
    ]
