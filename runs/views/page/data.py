"""Collects what a page shows of a run: records as JSON, parted by when a reader needs them.

Everything is what `videoautoarena.open_run` returns, put together: `summary` is all that a report
shows before anybody opens a list, `index` a column for each thing that battles are found by,
`videos` what each video is and who saw which of its frames, and a part the text of CHUNK battles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from videoautoarena.memory.records.digests import derive
from videoautoarena.memory.records.errors import StoreError
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.human_agreement import LabelReport, show_labels
from videoautoarena.runs.analysis.audit.report import audit_in, chosen
from videoautoarena.runs.analysis.categories.tags import tags_of
from videoautoarena.runs.analysis.leaderboard.board import board_in, pairs_in, slices_by
from videoautoarena.runs.analysis.leaderboard.slices import (
    COLUMN,
    NAMES,
    QUESTION_CATEGORY,
    TOPIC,
    PairRecord,
    names_of,
)
from videoautoarena.runs.console.progress.status import status_of
from videoautoarena.runs.formats.record_json import fields_json, keyed
from videoautoarena.runs.rating.finding import Figure, Finding
from videoautoarena.runs.rating.fit import MOVED, UNCONTROLLED
from videoautoarena.runs.rating.leaderboard import (
    BoardLead,
    FittedTerms,
    LeaderboardRow,
    RatedLeaderboard,
    RatingSettings,
)
from videoautoarena.runs.rating.method import USUAL
from videoautoarena.runs.rating.profile import build_profiles
from videoautoarena.runs.run.battles.listing import chances
from videoautoarena.runs.run.battles.rounds import RunRound, rounds_of
from videoautoarena.runs.run.battles.standards import by_standard, letters_of
from videoautoarena.runs.run.inputs.users import slices_of
from videoautoarena.runs.run.rundir.account import RunSetup, setup_of, videos_of
from videoautoarena.runs.run.rundir.reader import BattlesOf, RunReader, counted, open_run
from videoautoarena.runs.run.rundir.spending import RunCosts, Spending, Took, Waits, costs_of
from videoautoarena.runs.run.rundir.weaknesses import read_looks
from videoautoarena.runs.views.page.document import short_names
from videoautoarena.runs.views.results.audit import labels_report, people_section
from videoautoarena.runs.views.results.forms import csv_text
from videoautoarena.runs.views.results.report import Section
from videoautoarena.runs.views.results.run_page import (
    RunRecords,
    UnplayedCounts,
    made_section,
    missing_section,
    page_words,
    run_page,
    spending_section,
)

SCHEMA = 1
"""Version of the data that a page reads."""
CHUNK = 200
"""Battles in a part."""
LISTED = 100_000
"""Battles that a page lists at most: an index of more takes a browser seconds to search."""
QUESTION_CHARS = 400
"""Characters of a question in the index; the part has it whole."""
TRAITS = ("duration", "category", "round", "origin", "persona", "format")
"""Traits that a report shows slices by; languages are added if the run drew any."""
MOST_COLUMNS, MOST_KINDS = 6, 12
"""Columns of facts that are slices of a report, and values that one may have to be one."""
_SLICE_ROW = (
    *("model", "rating", "low", "high", "battles", "wins", "ties", "rank_best", "rank_worst"),
    "flags",
)
# Of a status only these: others, such as the next command, name folders of this machine.
_STATUS = (
    *("slots", "settled", "decided", "verdicts", "void_reasons", "forfeits", "skipped"),
    *("quarantine", "damage", "cost_usd", "unknown_cost", "cost_usd_a_battle", "cache", "lost"),
    *("failed", "until", "users", "facts"),
)
_LEFT_OUT = ("schema", "prompts", "frames_a", "frames_b", "basis", "propensity")
"""Fields of a battle that are the same in all of them, or stand with its video."""


_ABOUT = ("name", "began_s", "seed", "work", "version", "rounds")
_RULES = (
    *("version", "rounds", "pairing", "swap", "until", "preset", "overall_only", "subtitles"),
    *("personas", "diverse"),
    *("contracts", "self_judging", "offline_judge_on_real", "blind_referee"),
)


@dataclass(frozen=True)
class AdjustedRating:
    """The rating of a model with style and position taken out."""

    rating: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ContestantFacts:
    """Fields of a row of a page's leaderboard beyond those of `arena leaderboard --json`."""

    style: AdjustedRating | None
    """None where the battles do not tell style from the model."""
    served: str
    frames_sent: str
    """`64 frames`, `4 to 64 frames`; empty where a flag says that it saw none, or before any
    answer."""
    answers: int
    latency_s: Waits | None
    cost_usd: float | None
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class BetterChances:
    """How likely each model is better than each other, in the order of `models`."""

    models: Sequence[str]
    p: Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class SlicePart:
    """The figures of one slice of a run that small multiples draw."""

    slice: str
    battles: int
    flags: Sequence[str]
    videos: int
    both_bad: Figure
    rows: Sequence[Mapping[str, Any]]
    """The fields of `_SLICE_ROW` of each model."""


@dataclass(frozen=True)
class BattleIndex:
    """Columns by which battles are listed, filtered and searched: a value a battle in each."""

    models: Sequence[str]
    videos: Sequence[str]
    chunk: int
    id: list[str]
    video: list[int]
    """Places in `videos`."""
    a: list[int]
    """Places in `models`; -1 for nobody."""
    b: list[int]
    persona: list[str | None]
    round: list[int]
    verdict: list[str]
    origin: list[str | None]
    category: list[str | None]
    difficulty: list[float | None]
    question: list[str]
    """Beginnings of the questions, of QUESTION_CHARS."""
    seats: list[int]
    """0 if one seating was judged, 1 if both gave the same verdict, 2 if they differ."""
    standards: list[str]
    """The verdicts by standard, a letter each."""
    surprise: list[int]
    """Place of each battle in order of surprise by the ratings, the most surprising first."""


@dataclass(frozen=True)
class RunPage:
    """All that a report shows before anybody opens a list or a battle."""

    version: int = field(metadata=keyed("schema"))
    run: Mapping[str, Any]
    stand_ins: bool | None
    models: Sequence[Mapping[str, Any]]
    """Rows of the leaderboard with the fields of `ContestantFacts`."""
    settings: RatingSettings
    leads: Sequence[BoardLead]
    terms: Sequence[FittedTerms] | None
    components: Sequence[Sequence[str]]
    better: BetterChances
    pairs: Sequence[PairRecord]
    slices: Mapping[str, Sequence[SlicePart]]
    rounds: Sequence[RunRound]
    profiles: Mapping[str, Mapping[str, Any]]
    audit: Sequence[Finding]
    judges: Mapping[str, str]
    labels: LabelReport | None
    status: Mapping[str, Any]
    spending: Sequence[Spending]
    methods: Mapping[str, Any]
    live: None
    """Set while the run is watched."""
    siblings: None
    """Set where files lie beside the page."""
    words: Mapping[str, Any]
    tables: Mapping[str, Any]
    csv: str
    sections: Mapping[str, Section]


@dataclass
class PageData:
    """A run as a page reads it."""

    folder: Path
    summary: dict[str, Any]
    """A `RunPage` as JSON; a view that is served changes it as the run goes on."""
    index: BattleIndex
    videos: dict[str, dict[str, Any]]
    """Each video as JSON, with the place of its thumbnails once they are drawn."""
    took: Mapping[str, Mapping[str, Took]]
    """Tokens, time and cost of the calls of each battle."""
    note: str | None = None
    """Which battles are listed, if not all of them."""
    slice_of: Callable[[Battle], Iterable[str]] | None = None
    """What a board by persona calls its user, where users were brought."""

    @classmethod
    def read(cls, folder: Path, most: int = LISTED, *, topics: bool = False) -> Self:
        """Return what the run in `folder` holds by now; BadInput if there is no run.

        In a run with more than `most` battles, pages list those of some videos; see `listed_of`.
        With `topics` models are shown by topic, too: MissingExtra without scikit-learn, BadInput
        where nothing clusters.
        """
        with open_run(folder) as run:
            listed = listed_of(run, most)
            note = None
            if len(listed) < len(run.battles):
                videos = counted(len(listed.outlines.texts["video"].counts()), "video")
                note = (
                    f"battles to read, difficulty and weaknesses are those of {videos} drawn by "
                    f"the run's seed, {len(listed):,} of {len(run.battles):,} battles; all other "
                    "figures are of all"
                )
            costs = costs_of(run, list(listed.outlines.ids()))
            board = board_in(run, replace(USUAL, pairs=True))
            page = _run_page(run, board, listed, costs, note, topics=topics)
            index = _index_of(listed, board.models, seats_count=run.manifest.get("swap") == "all")
            slice_of = slices_of(run.store)
            there = {
                video.id: video.to_json() | {"sprite": None}
                for video in videos_of(run, set(index.videos))
            }
        kept = {id_: there[id_] for id_ in index.videos}
        return cls(folder, fields_json(page), index, kept, costs.battles, note, slice_of)

    def part(self, number: int) -> list[dict[str, Any]]:
        """Return the battles at the places from `number` times CHUNK on; none beyond the last."""
        wanted = self.index.id[number * CHUNK : (number + 1) * CHUNK]
        with open_run(self.folder) as run:
            # Read when it is asked for, so that no page keeps the texts of all battles in memory.
            found = (run.store.battle(id_) for id_ in wanted)
            return [self._battle(battle) for battle in found if battle is not None]

    def parts(self, run: RunReader) -> Iterator[list[dict[str, Any]]]:
        """Yield all parts in their order, with one in memory at a time."""
        there = set(self.index.id)
        listed = run.battles.where(np.array([id_ in there for id_ in run.outlines.ids()], bool))
        battles = map(self._battle, listed)
        while part := list(islice(battles, CHUNK)):
            yield part

    def _battle(self, battle: Battle) -> dict[str, Any]:
        body = battle.model_dump(by_alias=True, mode="python", exclude=set(_LEFT_OUT))
        # `schema` is the name in JSON of a field called otherwise, so it is not excluded above.
        for key in _LEFT_OUT:
            body.pop(key, None)
        took = self.took.get(battle.id, {})
        if self.slice_of is not None:
            body["user"] = next(iter(self.slice_of(battle)))
        return body | {"took": {who: of.model_dump(by_alias=True) for who, of in took.items()}}


def listed_of(run: RunReader, most: int) -> BattlesOf:
    """Return the battles that a page lists: all, or in a larger run those of some videos.

    Videos are drawn by the run's seed until they have about `most` battles together. All battles of
    a drawn video are listed, so that every chain of questions is whole.
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
        # Ended here: going on to one that still fits would favour videos with few battles.
        if counts[video] > left:
            break
        drawn.append(video)
        left -= counts[video]
    return battles.where(column.among(drawn))


def _index_of(
    listed: BattlesOf, rows: Sequence[LeaderboardRow], *, seats_count: bool
) -> BattleIndex:
    names = set[str]()
    videos = set[str]()
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for battle in listed:
        names |= {name for name in (battle.model_a, battle.model_b) if name}
        videos.add(battle.video)
        for name, cell in zip(columns, _cells(battle, seats_count=seats_count), strict=True):
            columns[name].append(cell)
    # Sorted, since a set of texts is in another order in every process.
    model = {name: place for place, name in enumerate(sorted(names))}
    video = {id_: place for place, id_ in enumerate(sorted(videos))}
    columns["video"] = [video[id_] for id_ in columns["video"]]
    for seat in "ab":
        columns[seat] = [model.get(name or "", -1) for name in columns[seat]]
    # Stable, so that equally surprising battles keep the order of their slots.
    order = np.argsort(chances(listed.outlines, rows), kind="stable")
    # The inverse of that order: the place of each battle in it.
    surprise: list[int] = np.argsort(order, kind="stable").tolist()
    return BattleIndex([*model], [*video], CHUNK, **columns, surprise=surprise)


def _cells(battle: Battle, *, seats_count: bool) -> Iterator[Any]:
    """Yield the cell of a battle in each column; models and video by their names."""
    yield from (battle.id, battle.video, battle.model_a, battle.model_b)
    yield from (getattr(battle, name) for name in _PLAIN)
    yield (battle.question or "")[:QUESTION_CHARS]
    said = {judging.seats: judging.verdict for judging in battle.verdicts}
    yield 0 if len(said) < 2 else 1 if len(set(said.values())) == 1 else 2
    yield letters_of(by_standard(battle, seats_count=seats_count))


_PLAIN = ("persona", "round", "verdict", "origin", "category", "difficulty")
_COLUMNS = ("id", "video", "a", "b", *_PLAIN, "question", "seats", "standards")


def _run_page(
    run: RunReader,
    board: RatedLeaderboard,
    listed: BattlesOf,
    costs: RunCosts,
    note: str | None,
    *,
    topics: bool,
) -> RunPage:
    """Return what a report shows first; difficulty and weaknesses are those of listed battles."""
    pairs = pairs_in(run)
    audit = audit_in(run)
    styled = board_in(run, replace(USUAL, style=True, seats=True), behaviour=False)
    looks = read_looks(listed)
    profiles = build_profiles(looks, {row.model: row.rating for row in board.models})
    rounds = rounds_of(listed, themes=looks.theme_of)
    status = status_of(run.folder)
    told = status.to_json()
    setup = setup_of(run)
    known = setup.model_dump(mode="json")
    labels = show_labels(run)
    cautions = [text for text in board.settings.warnings if MOVED not in text]
    settings = replace(
        board.settings, warnings=tuple(cautions if note is None else [*cautions, note])
    )
    without = sum(told["verdicts"].get(of, 0) for of in ("void", "forfeit_a", "forfeit_b"))
    # A set, since a file that was set aside may stand in both lists.
    aside = {file["path"] for file in (*told["quarantine"], *told["skipped"])}
    report = run_page(
        RunRecords(
            # The very alarms of the section on the judge.
            board=replace(board, audit=tuple(chosen(audit.findings))),
            pairs=pairs,
            rounds=rounds,
            findings=audit.findings,
            judges=list(audit.judges),
            roles=costs.roles,
            contestants=[of for of in costs.models if of.role == "contestant"],
            seconds=status.work.seconds,
            cost_usd=told["cost_usd"] or 0.0,
            unknown_cost=told["unknown_cost"],
            lost=status.lost,
            left=UnplayedCounts(told["settled"], without, len(aside), len(told["damage"])),
            styled=styled,
        )
    )
    sections = [
        spending_section(
            report, told["cost_usd_a_battle"], sum(one.open for one in status.batches)
        ),
        missing_section(report, told),
        made_section(settings, setup),
    ]
    if labels.labels or labels.ranking:
        sections.append(people_section(labels_report(labels)))
    assert board.pairs is not None, "the board was asked for its pairs"
    traits = [*TRAITS]
    if any(run.outlines.texts["language"].counts()):
        traits.append("language")
    if tags_of(run):
        traits.append(QUESTION_CATEGORY)
    if topics:
        traits.append(TOPIC)
    # Pages draw ratings of slices alone, and behaviour takes a look at every answer.
    sliced = slices_by(run, [*traits, *own_traits(run)], behaviour=False)
    adjusted = {row.model: row for row in styled.models}
    frames = _frames_sent(run)
    return RunPage(
        SCHEMA,
        run={key: known[key] for key in _ABOUT},
        stand_ins=board.settings.stand_ins,
        models=[
            row.to_json()
            | fields_json(
                _facts_of(row.model, adjusted[row.model], setup, costs, frames.get(row.model, ""))
            )
            for row in board.models
        ],
        settings=settings,
        leads=board.leads,
        terms=styled.settings.terms,
        components=board.components,
        better=BetterChances(board.pairs.models, board.pairs.better),
        pairs=pairs.pairs,
        slices={
            trait: [
                SlicePart(
                    slice=part.name,
                    battles=part.battles,
                    flags=part.flags,
                    videos=sum(part.board.settings.videos or ()),
                    both_bad=part.both_bad_share,
                    rows=[
                        {key: getattr(row, key) for key in _SLICE_ROW} for row in part.board.models
                    ],
                )
                for part in of.parts
            ]
            for trait, of in sliced.items()
        },
        rounds=rounds,
        profiles={one.model: fields_json(one) for one in profiles.profiles},
        audit=audit.findings,
        judges=audit.judges,
        labels=labels if labels.labels or labels.votes.cast or labels.ranking else None,
        status={key: told[key] for key in _STATUS},
        spending=costs.roles,
        methods={
            **{key: known[key] for key in ("sampling", "prompts", "cast", "roles")},
            "run": {key: known[key] for key in _RULES},
        },
        live=None,
        siblings=None,
        words=page_words(report, short_names([*(row.model for row in board.models), *setup.cast])),
        tables=report.to_json()["tables"],
        # The very text that `arena leaderboard --format csv` prints.
        csv=csv_text(report.data_table),
        sections={one.id: one for one in sections},
    )


def _frames_sent(run: RunReader) -> dict[str, str]:
    """Return how many frames of a video each contestant was sent, in words."""
    counts: dict[str, list[int]] = {}
    for sent in run.store.journal.sent_frames():
        if sent.role == "contestant" and sent.frames:
            counts.setdefault(sent.alias, []).append(sent.frames)
    found: dict[str, str] = {}
    for model, each in counts.items():
        least = min(each)
        most = max(each)
        found[model] = f"{least} to " * (least < most) + counted(most, "frame")
    return found


def _facts_of(
    model: str, adjusted: LeaderboardRow, setup: RunSetup, costs: RunCosts, frames_sent: str
) -> ContestantFacts:
    """Return the facts of a contestant: model, cost of its answers, rating without style."""
    answers = (of for of in costs.models if (of.role, of.model) == ("contestant", model))
    took = next(answers, None)
    member = setup.cast.get(model)
    if member is None:
        raise StoreError("the run has battles of a model that its settings do not define")
    is_adjusted = UNCONTROLLED not in adjusted.flags
    return ContestantFacts(
        style=AdjustedRating(adjusted.rating, adjusted.low, adjusted.high) if is_adjusted else None,
        served=member.model,
        frames_sent=frames_sent,
        answers=took.calls if took else 0,
        latency_s=took.latency_s if took else None,
        cost_usd=took.cost_usd if took else None,
        tokens_in=took.input_tokens if took else 0,
        tokens_out=took.output_tokens if took else 0,
    )


def own_traits(run: RunReader) -> list[str]:
    """Return the first columns of the run's file of facts that part its videos into a few kinds."""
    facts = run.known_facts
    columns = [name for name in names_of(run) if name not in NAMES]
    kinds = {
        name: {facts.cell(video, name.removeprefix(COLUMN)) for video in facts.videos} - {None}
        for name in columns
        # The run takes it for its own categories, and these are slices already.
        if name != f"{COLUMN}category"
    }
    return [name for name in columns if 1 < len(kinds.get(name, ())) <= MOST_KINDS][:MOST_COLUMNS]
