"""Opening a run's folder for reading, and describing battles in words."""

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
from videoautoarena.memory.records.remedies import step
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
    """The work of all processes on a run so far; times end with their last commits."""

    seconds: float
    processes: int
    calls: int

    @property
    def calls_per_minute(self) -> float | None:
        """Calls that were finished per minute of work; None before there was any."""
        return round(60 * self.calls / self.seconds, 1) if self.seconds > 0 else None

    def to_json(self) -> dict[str, float | int | None]:
        """Return it in the shape of `work` in `arena status --json`."""
        return {
            "seconds": round(self.seconds, 1),
            "processes": self.processes,
            "calls_per_minute": self.calls_per_minute,
        }

    def as_line(self) -> str:
        """Return the work as a line for a person."""
        rate = self.calls_per_minute
        pace = "" if rate is None else f", {rate:,g} calls a minute"
        by = "1 process" if self.processes == 1 else f"{self.processes} processes"
        return f"ran for {spent(self.seconds)} in {by}{pace}"


def work_on(store: Store, calls: int) -> WorkTime:
    """Return the work on a run that has made `calls`."""
    sessions = store.sessions.all()
    return WorkTime(sum(session.worked_s for session in sessions), len(sessions), calls)


RUN_FILE = "run.sqlite"
MERGED = "merged"
"""The key of a manifest under which a merged run names its parts."""
STAND_INS = "rates stand-ins: every model is an offline one"


@dataclass(frozen=True)
class RunReader:
    """A run folder that is open for reading."""

    folder: Path
    store: Store

    # What is cached goes into `__dict__`, which a frozen dataclass leaves open.
    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The settings of the run."""
        return self.store.manifest()

    @cached_property
    def lineup(self) -> Lineup:
        """The slots that count, and those that they supersede."""
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
        """The reading of the rule that ended the run before its last slot, if one did."""
        if kept_rule(self.store).rule is None:
            return None
        # Rules look at ratings, whose imports cost more than reading most runs.
        from videoautoarena.runs.run.rundir.waves import look_ahead

        outlook = look_ahead(self.store)
        return outlook.reading if outlook.is_stopped else None

    @cached_property
    def shortfalls(self) -> list[Shortfall]:
        """Models that saw fewer frames than intended."""
        # Models are no business of most readers.
        from videoautoarena.runs.run.rundir.call_facts import shortfalls

        return shortfalls(self.store)

    @cached_property
    def unequal_frames(self) -> list[Shortfall]:
        """Contestants that saw fewer frames than others because of their own limit."""
        from videoautoarena.runs.run.rundir.call_facts import unequal_frames

        return unequal_frames(self.store)

    @cached_property
    def call_facts(self) -> list[CallFact]:
        """Facts that are true of the calls of its models."""
        from videoautoarena.runs.run.rundir.call_facts import call_facts

        return call_facts(self.store)

    def facts(self) -> Mapping[str, VideoFacts]:
        """Return what somebody's file says of the videos, by id; nothing of it is checked."""
        return self.known_facts.videos

    @cached_property
    def known_facts(self) -> Facts:
        """These facts with the file's columns and categories; empty if no file was read."""
        return stored_facts(self.store) or NO_FACTS


@dataclass(frozen=True, eq=False)
class BattlesOf(Collection[Battle]):
    """Battles of a run in slot order, read each time they are gone through and never kept."""

    run: RunReader
    outlines: Outlines
    """The battles without their texts, which are in memory."""

    def __len__(self) -> int:
        return len(self.outlines)

    def __iter__(self) -> Iterator[Battle]:
        each = self.run.store.each_battle(self.outlines.numbers[ORDINAL])
        for battle, verdict in zip(each, self.outlines.texts["verdict"].each(), strict=True):
            # `ended` gives battles other verdicts than the file has.
            is_so = battle.verdict == verdict
            yield battle if is_so else battle.model_copy(update={"verdict": verdict})

    def __contains__(self, battle: object) -> bool:
        return isinstance(battle, Battle) and self.find(battle.id) == battle

    def answers(self) -> Iterator[tuple[str | None, str | None]]:
        """Yield both answers of each battle, and read nothing else of it."""
        return ((a, b) for a, b in self.fields("answer_a", "answer_b"))

    def fields(self, *names: str) -> Iterator[list[Any]]:
        """Yield some fields of each battle as JSON has them, and read nothing else of it."""
        return self.run.store.each_fields(self.outlines.numbers[ORDINAL], names)

    def find(self, battle: str) -> Battle | None:
        """Return the battle with this id; None if the run has none that counts."""
        return self.run.store.battle(battle) if battle in self.run.slots.ids else None

    def where(self, rows: Mask | Ints | Longs) -> BattlesOf:
        """Return the battles of a mask, or of ascending rows."""
        return BattlesOf(self.run, self.outlines.where(rows))

    def ended(self, verdicts: Sequence[str]) -> BattlesOf:
        """Return the battles with other verdicts."""
        return BattlesOf(self.run, self.outlines.ended(verdicts))


@contextmanager
def open_run(folder: Path) -> Iterator[RunReader]:
    """Open the run in `folder` without writing anything; BadInput if there is none."""
    store = Store.open(run_file(folder), write=False)
    try:
        yield RunReader(folder, store)
    finally:
        store.close()


def run_file(folder: Path) -> Path:
    """Return the run file in `folder`; BadInput if there is none."""
    if holds_a_run(folder):
        return folder / RUN_FILE
    refuse_set(folder)
    wrong = f"holds no run ({RUN_FILE})" if folder.is_dir() else "is no folder"
    advice = guess_run(folder) or "pass the folder of a run"
    raise BadInput(f"{folder} {wrong}; {advice}")


DEEPEST = 3
"""The most levels of folders between the named one and a run."""
MOST_FOLDERS = 5_000
"""The most folders that are searched for runs."""
MOST_RUNS = 500
MOST_GUESSES = 3
"""The most runs that are suggested for a path that holds none."""
FEW_FOLDERS = 200
"""The most folders that are searched for a suggestion."""


def holds_a_run(folder: Path) -> bool:
    """Return whether a folder itself holds a run."""
    return (folder / RUN_FILE).is_file()


def runs_below(folder: Path, *, most_folders: int = MOST_FOLDERS) -> Iterator[Path]:
    """Yield the folders of runs, the nearest first; no link is followed and no run searched."""
    # Level by level, so that the nearest come first.
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
    """Return `did you mean A or B?` with the runs near a folder that holds none, else "".

    Runs below it come first, then one beside it with a similar name, then the others beside it if
    there are few.
    """
    near = list(islice(runs_below(folder, most_folders=FEW_FOLDERS), MOST_GUESSES))
    if not near:
        beside = list(islice(runs_below(folder.parent, most_folders=FEW_FOLDERS), MOST_RUNS))
        # The last of equal keys stays: backwards, of runs with one name that is the nearest.
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
        # These are searched unasked, so what cannot be read is passed over.
        return []
    return [folder / name for name in sorted(names)]


def refuse_set(folder: Path) -> None:
    """Raise BadInput if a folder holds a frozen set instead of a run."""
    if (folder / "manifest.json").is_file() and (folder / "questions.jsonl").is_file():
        raise BadInput(
            f"{folder} holds a frozen set and no run; {step('bench')} is for it, and arena report "
            "and arena pictures show tasks and dialogues"
        )


def draft_of(to: Path) -> Path:
    """Return where the calls lie that write a set which is to be put in `to`, until it is there."""
    # The real one: a folder typed as `.` has no name to add to.
    real = Path(os.path.realpath(to))
    return real.with_name(f".{real.name}.writing")


def lock_file(folder: Path) -> Path:
    """Return the lock file of the run in `folder`."""
    return lock_of(real_file(run_file(folder)))


def outcome(battle: Battle) -> str:
    """Return in a few words who beat whom, or why nobody did."""
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
"""A judging that decided, as the reasons of void battles of older runs name it."""


def readable_reason(reason: str) -> str:
    """Return why a battle is void, in words that call a second seating that decided an audit."""
    return _DECIDED.sub(r" (\1) decided, which only audits", reason)


def about_video(video: Video) -> str:
    """Return a video's file and its length."""
    return f"{safe(video.path)}, {length(video.duration_s)}"


def shortened(reason: str, length: int) -> str:
    """Return a reason on one line, cut to `length`; that a reply was cut off is always kept."""
    flat = one_line(reason, length)
    cut = next((words for words in _MATTERS if words in reason), None)
    if cut is None or cut in flat:
        return flat
    return one_line(f"{cut}: {reason}", length)


_MATTERS = ("the reply was cut off", "cut by a filter")
"""Words that say what to change, which are kept wherever in a reason they stand."""


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
"""The words for a model that was sent no frames, in place of their number."""


def is_blind(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry of a run's cast is sent no frames."""
    limits = entry.get("limits") or {}
    return entry.get("max_frames") == 0 or limits.get("images_per_request") == 0


def blind_referees(manifest: Mapping[str, Any]) -> list[str]:
    """Return who examines or judges a run without frames, also of runs without such a mark."""
    cast = manifest.get("cast") or {}
    referees = dict.fromkeys((manifest.get("examiner"), *(manifest.get("judges") or ())))
    return [str(name) for name in referees if is_blind(cast.get(name) or {})]


def blind_lines(referees: Sequence[str]) -> list[str]:
    """Return the sentence on referees that see no frames; empty if there are none."""
    if not referees:
        return []
    return [f"{safe(', '.join(referees))} refereed without seeing a frame: words alone were judged"]


def cautions(manifest: dict[str, Any]) -> list[str]:
    """Return sentences on what was allowed in a run, which every reader of figures must know."""
    lines = []
    if manifest.get("self_judging"):
        lines.append("a judge or the examiner of this run also competed")
    if manifest.get("offline_judge_on_real"):
        lines.append("an offline judge rated real models; it reads only sentences it knows")
    lines += blind_lines(blind_referees(manifest))
    return lines


def warnings_of(run: RunReader) -> list[str]:
    """Return sentences on a run and its models' answers that every reader of figures must know."""
    from videoautoarena.runs.run.rundir.call_facts import warning_lines

    answers = (one for one in run.call_facts if one.role == "contestant")
    return [*state_of(run), *warning_lines(answers)]


def state_of(run: RunReader) -> list[str]:
    """Return these sentences without its models' answers: what was allowed, what is not played."""
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
    """Yield sentences on the parts of a merged run that a reader must know."""
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
    """Return a line for each video with frames that are damaged or approximate."""
    kinds = {
        "damaged; a frame that cannot be decoded is replaced by its neighbour": store.damaged(),
        "may not match their times exactly": store.approximate(),
    }
    if not any(kinds.values()):
        # Few runs have any, and all videos of a large one are hundreds of megabytes.
        return []
    paths = {video.id: safe(video.path) for video in store.videos()}
    return [
        f"{paths.get(video, video)}: {counted(frames, 'frame')} {what}"
        for what, found in kinds.items()
        for video, frames in sorted(found.items())
    ]


def problems(videos: Iterable[Video]) -> list[str]:
    """Return a line for each problem with a file that was found when it was probed."""
    return [
        f"{safe(video.path)}: {safe(problem)}" for video in videos for problem in video.problems
    ]


def named(alias: str, model: str) -> str:
    """Return a model's name in a run, with `provider:model` behind it if that differs."""
    return alias if alias == model else f"{alias} ({model})"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: `1 video`, `2 videos`."""
    return f"{number} {thing}" if number == 1 else f"{number:,} {thing}s"


def contracts_of(manifest: Mapping[str, Any]) -> int:
    """Return the number of the contracts of a run or a bench; StoreError unless it is 1 or more."""
    return _number_of(manifest, "contracts")


def is_as_in_paper(manifest: Mapping[str, Any]) -> bool:
    """Return whether a run began with `--preset paper` since the preset changes all that it can.

    A run that began earlier has other contracts, and everything about it stays as it was.
    """
    return manifest.get("preset") == "paper" and contracts_of(manifest) == PAPER_CONTRACTS


def reading_of(manifest: Mapping[str, Any]) -> int:
    """Return the number of the way of reading replies; StoreError unless it is 1 or more."""
    return _number_of(manifest, "reading")


def _number_of(manifest: Mapping[str, Any], name: str) -> int:
    # Runs that are older than the number have none: they are of the first.
    number = manifest.get(name, 1)
    # True is an int in Python, and equals 1.
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
    return store.has_file_under(SUBTITLES)
