"""What a page knows of a run: its records as JSON, parted by when a reader needs them.

Everything is what `videoautoarena.open_run` returns, put together: `summary` is all that a report
shows before anybody opens a list, `index` a column for each thing that battles are found by,
`videos` what each video is and who saw which of its frames, and a part the text of CHUNK battles.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.audit.labels_text import show_labels
from videoautoarena.runs.audit.report import audit_in
from videoautoarena.runs.battles.rounds import rounds_of
from videoautoarena.runs.battles.standards import StandardVerdicts, by_standard
from videoautoarena.runs.categories.tags import tags_of
from videoautoarena.runs.console.status import status_of
from videoautoarena.runs.leaderboard.board import board_in, pairs_in, slices_in
from videoautoarena.runs.leaderboard.run_traits import (
    COLUMN,
    NAMES,
    QUESTION_CATEGORY,
    names_of,
)
from videoautoarena.runs.rating.method import USUAL
from videoautoarena.runs.rating.profile import build_profiles
from videoautoarena.runs.rundir.films import videos_of
from videoautoarena.runs.rundir.reader import Run, open_run
from videoautoarena.runs.rundir.setup import Setup, setup_of
from videoautoarena.runs.rundir.spending import RunCosts, Took, costs_of
from videoautoarena.runs.rundir.weaknesses import read_looks
from videoautoarena.runs.users.summary import slices_of
from videoautoarena.runs.web.page.sentences import findings

SCHEMA = 1
"""Of what a page reads."""
CHUNK = 200
"""Battles in a part."""
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
    *("failed", "until", "users"),
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
    slice_of: Callable[[Battle], Iterable[str]] | None = None
    """What a board by persona calls its user, where users were brought."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return what the run in `folder` holds by now; BadInput where there is none."""
        with open_run(folder) as run:
            figures = _figures(run)
            index = index_of(run.battles, seats_count=run.manifest.get("swap") == "all")
        # The battles of 10,000 take 300 MB, which what the calls took finds free again.
        with open_run(folder) as run:
            costs, setup, slice_of = costs_of(run), setup_of(run), slices_of(run.store)
            videos = {video.id: video.to_json() | {"sprite": None} for video in videos_of(run)}
        summary = _summary(figures, setup, costs)
        kept = {id_: videos[id_] for id_ in index["videos"]}
        return cls(folder, summary, index, kept, costs.battles, slice_of)

    def part(self, number: int) -> list[Json]:
        """Return the battles at the places from `number` times CHUNK on; none beyond the last."""
        wanted = self.index["id"][number * CHUNK : (number + 1) * CHUNK]
        with open_run(self.folder) as run:
            found = (run.store.battle(id_) for id_ in wanted)
            return [self._battle(battle) for battle in found if battle is not None]

    def parts(self, run: Run) -> Iterator[list[Json]]:
        """Give all parts in their order, with one in memory at a time."""
        there = set(self.index["id"])
        battles = (self._battle(battle) for battle in run.battles if battle.id in there)
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


def index_of(battles: Collection[Battle], *, seats_count: bool) -> Json:
    """Return the columns by which battles are listed, filtered and searched."""
    names = sorted({name for of in battles for name in (of.model_a, of.model_b) if name})
    videos = sorted({battle.video for battle in battles})
    model = {name: place for place, name in enumerate(names)}
    video = {id_: place for place, id_ in enumerate(videos)}
    columns: dict[str, list[Any]] = {
        "id": [battle.id for battle in battles],
        "video": [video[battle.video] for battle in battles],
        "a": [model.get(battle.model_a or "", -1) for battle in battles],
        "b": [model.get(battle.model_b or "", -1) for battle in battles],
        **{name: [getattr(battle, name) for battle in battles] for name in _PLAIN},
        "question": [(battle.question or "")[:QUESTION_CHARS] for battle in battles],
        "seats": [_seats(battle) for battle in battles],
        "standards": [_letters(battle, seats_count=seats_count) for battle in battles],
    }
    return {"models": names, "videos": videos, "chunk": CHUNK, **columns}


_PLAIN = ("persona", "round", "verdict", "origin", "category", "difficulty")


def _seats(battle: Battle) -> int:
    """Return 0 where one seating was judged, 1 where both gave one verdict, 2 where two."""
    said = {judging.seats: judging.verdict for judging in battle.verdicts}
    return 0 if len(said) < 2 else 1 if len(set(said.values())) == 1 else 2


def _letters(battle: Battle, *, seats_count: bool) -> str:
    found = by_standard(battle, seats_count=seats_count)
    return StandardVerdicts(battle=battle.id, **found).letters


def _figures(run: Run) -> Json:
    """Return what a report shows that is made of battles and labels."""
    board = board_in(run, replace(USUAL, pairs=True, fragility=True)).to_json()
    styled = board_in(run, replace(USUAL, style=True, seats=True), behaviour=False).to_json()
    style = {row["model"]: row for row in styled["models"]}
    looks = read_looks(run.battles)
    profiles = build_profiles(looks, {row["model"]: row["rating"] for row in board["models"]})
    audit, status = audit_in(run).to_json(), status_of(run.folder).to_json()
    return {
        "stand_ins": board["settings"]["stand_ins"],
        "models": [row | _adjusted(style[row["model"]]) for row in board["models"]],
        "settings": board["settings"],
        "terms": styled["settings"].get("terms"),
        "components": board["components"],
        "fragility": board["fragility"],
        "better": {"models": board["pairs"]["models"], "p": board["pairs"]["better"]},
        "pairs": pairs_in(run).to_json()["pairs"],
        "slices": {trait: _slices(run, trait) for trait in (*_traits(run), *own_traits(run))},
        "rounds": [one.to_json() for one in rounds_of(run.battles, themes=looks.theme_of)],
        "profiles": {row["model"]: row for row in profiles.to_json()["profiles"]},
        "audit": audit["findings"],
        "judges": audit["judges"],
        "labels": _labels(run),
        "status": {key: status[key] for key in _STATUS},
    }


def _adjusted(row: Json) -> Json:
    return {"style": {key: row[key] for key in ("rating", "low", "high")}}


def _summary(figures: Json, setup: Setup, costs: RunCosts) -> Json:
    """Return all that a report shows before a list or a battle is opened."""
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
    return found | {"words": findings(found)}


def _labels(run: Run) -> Json | None:
    """Return what people say of the run; None where nobody has said anything."""
    found = show_labels(run)
    return found.to_json() if found.labels or found.votes.cast or found.ranking else None


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
    *("contracts", "self_judging", "offline_judge_on_real"),
)


def _took(model: str, setup: Setup, costs: RunCosts) -> Json:
    """Return what a contestant is, and what its answers took."""
    answers = (of for of in costs.models if (of.role, of.model) == ("contestant", model))
    took, member = next(answers, None), setup.cast[model]
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
    has_languages = any(battle.language for battle in run.battles)
    language, kind = ["language"] * has_languages, [QUESTION_CATEGORY] * bool(tags_of(run))
    return (*TRAITS, *language, *kind)


def own_traits(run: Run) -> list[str]:
    """Return the first columns of the run's file of facts that part its videos into a few kinds."""
    facts, columns = run.known_facts, [name for name in names_of(run) if name not in NAMES]
    kinds = {
        name: {facts.cell(video, name.removeprefix(COLUMN)) for video in facts.videos} - {None}
        for name in columns
        if name != f"{COLUMN}category"
    }
    return [name for name in columns if 1 < len(kinds.get(name, ())) <= MOST_KINDS][:MOST_COLUMNS]


def _slices(run: Run, trait: str) -> list[Json]:
    """Return the leaderboards of a trait, cut to what small multiples draw."""
    return [
        {
            "slice": part["slice"],
            "battles": part["battles"],
            "flags": part["flags"],
            "videos": sum(part["settings"]["videos"] or []),
            "both_bad": part["both_bad_share"],
            "rows": [{key: row[key] for key in _SLICE_ROW} for row in part["models"]],
        }
        for part in slices_in(run, trait, behaviour=False).to_json()["slices"]
    ]
