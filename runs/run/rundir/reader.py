"""Opening a run folder for reading, and battles described in words."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from videoautoarena.memory.records.digests import read_body
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.outlines import ORDINAL, Outlines
from videoautoarena.memory.records.records import Battle, Subtitles, Video, VideoFacts
from videoautoarena.memory.records.slots import Ids, Ints, Longs, Mask, Slots
from videoautoarena.memory.records.standards import PAPER_CONTRACTS
from videoautoarena.memory.store.connection import lock_of, real_file
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import length, spent
from videoautoarena.runs.run.config.stopping_rule import RuleReading, kept_rule, parse_rule
from videoautoarena.runs.run.inputs.facts import NO_FACTS, Facts, stored_facts
from videoautoarena.runs.run.rundir.slots import Lineup

if TYPE_CHECKING:
    from videoautoarena.runs.run.rundir.call_facts import CallFact, Shortfall


class WorkTime(NamedTuple):
    """What processes did for a run until now; times end with their last commits."""

    seconds: float
    processes: int
    calls: int

    @property
    def calls_per_minute(self) -> float | None:
        """Return how many calls were finished a minute of work; None before there was any."""
        return round(60 * self.calls / self.seconds, 1) if self.seconds > 0 else None

    def to_json(self) -> dict[str, float | int | None]:
        """Return it in the shape of `work` in `arena status --json`."""
        return {
            "seconds": round(self.seconds, 1),
            "processes": self.processes,
            "calls_per_minute": self.calls_per_minute,
        }

    def as_line(self) -> str:
        """Return it as a line for a person."""
        rate = self.calls_per_minute
        pace = "" if rate is None else f", {rate:,g} calls a minute"
        by = "1 process" if self.processes == 1 else f"{self.processes} processes"
        return f"ran for {spent(self.seconds)} in {by}{pace}"


def work_on(store: Store, calls: int) -> WorkTime:
    """Return what was worked on a run that has so many calls."""
    sessions = store.sessions.all()
    return WorkTime(sum(session.worked_s for session in sessions), len(sessions), calls)


RUN_FILE = "run.sqlite"
MERGED = "merged"
"""Where a manifest says which runs it was merged from; only of those that were."""
STAND_INS = "rates stand-ins: every model is an offline one"


@dataclass(frozen=True)
class RunReader:
    """A run folder that is open for reading."""

    folder: Path
    store: Store

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The settings of the run."""
        return self.store.manifest()

    @cached_property
    def lineup(self) -> Lineup:
        """Which slots count."""
        return Lineup(self.store.slots())

    @cached_property
    def slots(self) -> Slots:
        """The slots that count, in stored order: of each place the latest generation."""
        return self.lineup.slots

    @cached_property
    def settled(self) -> Ids:
        """The ids of the battles that count."""
        if "outlines" in vars(self):
            # They are known already; to read which are settled again would take as long.
            known = np.isin(self.slots.columns.ordinal, self.outlines.numbers[ORDINAL])
            return self.slots.where(known).ids
        return self.slots.where(self.slots.among(self.store.settled_ids())).ids

    @cached_property
    def outlines(self) -> Outlines:
        """The battles that count without their texts, in slot order."""
        every = self.store.outlines()
        counts = np.isin(every.numbers[ORDINAL], self.slots.columns.ordinal)
        return every if counts.all() else every.where(counts)

    @property
    def battles(self) -> BattlesOf:
        """The battles that count, in slot order; superseded ones are left out."""
        return BattlesOf(self, self.outlines)

    @cached_property
    def stop(self) -> RuleReading | None:
        """What met the rule that ended the run before its last slot; None where none did."""
        # Rules look at ratings, whose imports cost more than reading most runs.
        from videoautoarena.runs.run.rundir.waves import look_ahead

        if kept_rule(self.store).rule is None:
            return None
        outlook = look_ahead(self.store)
        return outlook.reading if outlook.is_stopped else None

    @cached_property
    def shortfalls(self) -> list[Shortfall]:
        """Who saw fewer frames than it was to."""
        # Models are no business of most readers.
        from videoautoarena.runs.run.rundir.call_facts import shortfalls

        return shortfalls(self.store)

    @cached_property
    def unequal_frames(self) -> list[Shortfall]:
        """Which contestants saw fewer frames than others, by their own limit."""
        from videoautoarena.runs.run.rundir.call_facts import unequal_frames

        return unequal_frames(self.store)

    @cached_property
    def call_facts(self) -> list[CallFact]:
        """What is so of the calls of its models."""
        from videoautoarena.runs.run.rundir.call_facts import call_facts

        return call_facts(self.store)

    def facts(self) -> Mapping[str, VideoFacts]:
        """Return what somebody's file says of the videos, by id; nothing is believed of it."""
        return self.known_facts.videos

    @cached_property
    def known_facts(self) -> Facts:
        """The same with the file's columns and categories; empty where no file was read."""
        return stored_facts(self.store) or NO_FACTS


@dataclass(frozen=True, eq=False)
class BattlesOf(Collection[Battle]):
    """Battles of a run in slot order, read each time they are gone through and never kept."""

    run: RunReader
    outlines: Outlines
    """The same without their texts, which are in memory."""

    def __len__(self) -> int:
        return len(self.outlines)

    def __iter__(self) -> Iterator[Battle]:
        each = self.run.store.each_battle(self.outlines.numbers[ORDINAL])
        for battle, verdict in zip(each, self.outlines.texts["verdict"].each(), strict=True):
            is_so = battle.verdict == verdict
            yield battle if is_so else battle.model_copy(update={"verdict": verdict})

    def __contains__(self, battle: object) -> bool:
        return isinstance(battle, Battle) and self.find(battle.id) == battle

    def answers(self) -> Iterator[tuple[str | None, str | None]]:
        """Give both answers of each, and read nothing else of it."""
        return ((a, b) for a, b in self.fields("answer_a", "answer_b"))

    def fields(self, *names: str) -> Iterator[list[Any]]:
        """Give some fields of each as JSON has them, and read nothing else of it."""
        return self.run.store.each_fields(self.outlines.numbers[ORDINAL], names)

    def find(self, battle: str) -> Battle | None:
        """Return the one with this id; None where it is none of the run's that count."""
        return self.run.store.battle(battle) if battle in self.run.slots.ids else None

    def where(self, rows: Mask | Ints | Longs) -> BattlesOf:
        """Return some of them: those of a mask, or of rows that ascend."""
        return BattlesOf(self.run, self.outlines.where(rows))

    def ended(self, verdicts: Sequence[str]) -> BattlesOf:
        """Return them as if they had ended otherwise."""
        return BattlesOf(self.run, self.outlines.ended(verdicts))


@contextmanager
def open_run(folder: Path) -> Iterator[RunReader]:
    """Open the run in `folder`, or raise BadInput where none is; nothing is written or made."""
    store = Store.open(run_file(folder), write=False)
    try:
        yield RunReader(folder, store)
    finally:
        store.close()


def run_file(folder: Path) -> Path:
    """Return the run file in `folder`, which is there."""
    if holds_a_run(folder):
        return folder / RUN_FILE
    refuse_set(folder)
    wrong = f"holds no run ({RUN_FILE})" if folder.is_dir() else "is no folder"
    advice = guess_run(folder) or "pass the --out folder of a simulate run"
    raise BadInput(f"{folder} {wrong}; {advice}")


DEEPEST = 3
"""So many folders below the one that was named a run may lie."""
MOST_FOLDERS = 5_000
"""That are looked into."""
MOST_RUNS = 500
MOST_GUESSES = 3
"""Runs that are named where a path may have meant any of them."""
FEW_FOLDERS = 200
"""That are looked into for a guess."""


def holds_a_run(folder: Path) -> bool:
    """Return whether a folder itself is that of a run."""
    return (folder / RUN_FILE).is_file()


def runs_below(folder: Path, *, most_folders: int = MOST_FOLDERS) -> Iterator[Path]:
    """Give the folders of runs, the nearest first, following no link and looking into no run."""
    level = [folder]
    looked = 0
    count = 0
    for _ in range(DEEPEST + 1):
        below: list[Path] = []
        for place in level:
            looked += 1
            if looked > most_folders or count == MOST_RUNS:
                return
            if holds_a_run(place):
                count += 1
                yield place
            else:
                below.extend(_folders(place))
        level = below


def guess_run(folder: Path) -> str:
    """Return `did you mean A or B?` of the runs near a folder that holds none, else nothing.

    Runs below it come first, then one beside it whose name is much alike, then the others beside
    it, where these are few.
    """
    near = list(islice(runs_below(folder, most_folders=FEW_FOLDERS), MOST_GUESSES))
    if not near:
        beside = list(islice(runs_below(folder.parent, most_folders=FEW_FOLDERS), MOST_RUNS))
        by_name = {path.name: path for path in reversed(beside)}
        alike = get_close_matches(folder.name, by_name, n=1)
        near = [by_name[name] for name in alike] or beside * (len(beside) <= MOST_GUESSES)
    named = [safe(str(path)) for path in near]
    if not named:
        return ""
    return f"did you mean {', '.join(named[:-1])}{' or ' * (len(named) > 1)}{named[-1]}?"


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def refuse_set(folder: Path) -> None:
    """Raise BadInput where a folder holds a frozen set in place of a run."""
    if (folder / "manifest.json").is_file() and (folder / "questions.jsonl").is_file():
        raise BadInput(
            f"{folder} holds a frozen set and no run; arena bench plays and scores it, arena "
            "report and arena pictures show tasks and dialogues"
        )


def lock_file(folder: Path) -> Path:
    """Return the lock of the run in `folder`, which is there."""
    return lock_of(real_file(run_file(folder)))


def outcome(battle: Battle) -> str:
    """Return who beat whom, or why nobody did, in a few words."""
    return _OUTCOMES[battle.verdict].format(
        a=safe(battle.model_a or "?"),
        b=safe(battle.model_b or "?"),
        why=shortened(readable_reason(battle.reason or "no reason recorded"), 100),
    )


_OUTCOMES = {
    "a": "{a} beat {b}",
    "b": "{b} beat {a}",
    "forfeit_a": "{a} forfeits to {b}: {why}",
    "forfeit_b": "{b} forfeits to {a}: {why}",
    "void": "void: {why}",
    "tie": "{a} and {b} tie",
    "tie_good": "{a} and {b} tie, both good",
    "tie_bad": "{a} and {b} tie, both bad",
    "split": "{a} and {b} split: the two orders disagree",
}
_DECIDED = re.compile(r" \((ab|ba)\): None(?=;|$)")
"""How the reason of a void battle names a judging that had nothing to excuse; runs have it so."""


def readable_reason(reason: str) -> str:
    """Return why a battle is void, with a second seating that decided called what it is."""
    return _DECIDED.sub(r" (\1) decided, which only audits", reason)


def about_video(video: Video) -> str:
    """Return a video as a person knows it: its file and how long it is."""
    return f"{safe(video.path)}, {length(video.duration_s)}"


def shortened(reason: str, length: int) -> str:
    """Return a reason as `one_line` does, what matters first: that a reply was cut off is kept."""
    flat = one_line(reason, length)
    cut = next((words for words in _MATTERS if words in reason), None)
    if cut is None or cut in flat:
        return flat
    return one_line(f"{cut}: {reason}", length)


_MATTERS = ("the reply was cut off", "cut by a filter")
"""Words that say what to change, wherever in a long reason they stand."""


def one_line(text: str, length: int) -> str:
    """Return `text` on one line, safe for a terminal, cut to `length` characters."""
    flat = safe(" ".join(text.split()))
    return flat if len(flat) <= length else flat[: length - 3].rstrip() + "..."


def rates_stand_ins(manifest: dict[str, Any]) -> bool:
    """Return whether every contestant of a run is an offline model."""
    cast = manifest.get("cast") or {}
    names = [cast.get(alias, {}).get("model", "") for alias in manifest.get("models") or []]
    return bool(names) and all(name.startswith("offline:") for name in names)


SAW_NONE = "saw no frames"
"""What is said of a model that is sent none, where of others stands how many they saw."""


def is_blind(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry of a run's cast is sent no frames."""
    limits = entry.get("limits") or {}
    return entry.get("max_frames") == 0 or limits.get("images_per_request") == 0


def blind_referees(manifest: Mapping[str, Any]) -> list[str]:
    """Return who examines or judges a run without frames, whenever it was begun."""
    cast = manifest.get("cast") or {}
    referees = dict.fromkeys((manifest.get("examiner"), *(manifest.get("judges") or ())))
    return [str(name) for name in referees if is_blind(cast.get(name) or {})]


def blind_lines(referees: Sequence[str]) -> list[str]:
    """Return the sentence on referees that see no frames; nothing where there is none."""
    if not referees:
        return []
    return [f"{safe(', '.join(referees))} refereed without seeing a frame: words alone were judged"]


def cautions(manifest: dict[str, Any]) -> list[str]:
    """Return what was allowed in a run that a reader of any figure must know."""
    lines = []
    if manifest.get("self_judging"):
        lines.append("a judge or the examiner of this run also competed")
    if manifest.get("offline_judge_on_real"):
        lines.append("an offline judge rated real models; it reads only sentences it knows")
    lines += blind_lines(blind_referees(manifest))
    return lines


def warnings_of(run: RunReader) -> list[str]:
    """Return what a reader of any figure of a run must know of it and of its models' answers."""
    from videoautoarena.runs.run.rundir.call_facts import warning_lines

    answers = (one for one in run.call_facts if one.role == "contestant")
    return [*state_of(run), *warning_lines(answers)]


def state_of(run: RunReader) -> list[str]:
    """Return the same without its models' answers: what was allowed, and what is not played."""
    lines = cautions(run.manifest)
    if stop := run.stop:
        lines.append(
            f"--until {stop.rule} ended the run at its wave {stop.wave}, with "
            f"{len(run.slots) - len(run.settled)} of {len(run.slots)} slots unplayed: "
            f"{stop.rule.promise}; {stop.rule.on_intervals}"
        )
        return lines
    unsettled = len(run.slots) - len(run.settled)
    if parts := run.manifest.get(MERGED):
        return [*lines, *_left_by(parts, unsettled, len(run.slots))]
    if unsettled:
        lines.append(f"the run is not finished: {unsettled} of {len(run.slots)} slots to go")
    return lines


def _left_by(parts: Sequence[Mapping[str, Any]], unsettled: int, slots: int) -> Iterator[str]:
    """Yield what a reader must know of the runs that one was merged from."""
    ended = Counter(str(part["until"]) for part in parts if part.get("until"))
    for text, count in sorted(ended.items()):
        if (rule := parse_rule(text)) is not None:
            yield (
                f"--until {text} ended {count} of the {len(parts)} merged runs early: "
                f"{rule.promise}; {rule.on_intervals}"
            )
    if unsettled:
        yield f"{unsettled} of {slots} slots were never played in the runs that were merged"


def marks(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Return the sentences that stand on every page of a run."""
    stand_ins = [STAND_INS] if rates_stand_ins(manifest) else []
    return (*stand_ins, *cautions(manifest))


def damage(store: Store) -> list[str]:
    """Return a line for each video whose frames are not all what was asked for."""
    paths = {video.id: safe(video.path) for video in store.videos()}
    kinds = {
        "damaged; a frame that cannot be decoded is replaced by its neighbour": store.damaged(),
        "may not match their times exactly": store.approximate(),
    }
    return [
        f"{paths.get(video, video)}: {counted(frames, 'frame')} {what}"
        for what, found in kinds.items()
        for video, frames in sorted(found.items())
    ]


def problems(videos: Iterable[Video]) -> list[str]:
    """Return a line for each thing that was wrong with a file when it was found."""
    return [
        f"{safe(video.path)}: {safe(problem)}" for video in videos for problem in video.problems
    ]


def named(alias: str, model: str) -> str:
    """Return a model's name in a run, with what it stands for where that is something else."""
    return alias if alias == model else f"{alias} ({model})"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: `1 video`, `2 videos`."""
    return f"{number} {thing}" if number == 1 else f"{number:,} {thing}s"


def contracts_of(manifest: Mapping[str, Any]) -> int:
    """Return the number of the contracts of a run or a bench; StoreError if it is none from 1."""
    return _number_of(manifest, "contracts")


def is_as_in_paper(manifest: Mapping[str, Any]) -> bool:
    """Return whether a run began with `--preset paper` since it turns back all that it can.

    One that began before is held to other contracts, and everything about it stays as it was.
    """
    return manifest.get("preset") == "paper" and contracts_of(manifest) == PAPER_CONTRACTS


def reading_of(manifest: Mapping[str, Any]) -> int:
    """Return the number of the way in which replies are read; StoreError if it is none from 1."""
    return _number_of(manifest, "reading")


def _number_of(manifest: Mapping[str, Any], name: str) -> int:
    number = manifest.get(name, 1)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise StoreError(f"the run's settings cannot be read ({name})")
    return number


SUBTITLES = "subtitles/"
"""Name in the run's file, before a video's id, of the cues that are sent with its frames."""


def stored_subtitles(store: Store, video: str) -> Subtitles | None:
    """Return the subtitles that were kept for a video; StoreError where they are damaged."""
    file = store.file(f"{SUBTITLES}{video}")
    return read_body(Subtitles, file.text) if file else None


def has_subtitles(store: Store) -> bool:
    """Return whether the run keeps subtitles of any of its videos."""
    return any(store.file(f"{SUBTITLES}{video.id}") for video in store.videos())
