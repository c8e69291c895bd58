"""The human stage of a set of dialogues: a sheet out, decisions in, and a new set of what stays.

A round that is dropped, or that every model answers, is not scored any more and stays as history;
a dialogue without a scored round goes. A set is sealed, so the reviewed one is another, and results
of the first do not carry over.

Source: MT-Video-Bench, human verification and the filter of easy rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

from pydantic import JsonValue

from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion
from videoautoarena.graph.dialogue_checks import denials
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.score import Of, share_right
from videoautoarena.runs.bench.format.reader import OpenBench, sha256_of
from videoautoarena.runs.bench.format.results import DialogueResult, read_dialogues
from videoautoarena.runs.bench.format.schema import (
    CARD,
    QUESTIONS,
    VIDEOS,
    BenchVideo,
    DialogueItem,
    Generator,
    Round,
    counts_of,
    question_bytes,
)
from videoautoarena.runs.bench.format.verify import inside
from videoautoarena.runs.bench.format.writer import (
    BEFORE_PASSING_ON,
    Copy,
    count_table,
    plain,
    put,
    refuse_within,
    seal,
)
from videoautoarena.runs.exchange.interop.mt_video_bench import CHECKLISTS, DIALOGUES
from videoautoarena.runs.formats.record_json import SPREAD, keyed, record_json
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.making.dialogues.review_sheet import (
    Edit,
    fields_of,
    open_dialogues,
    read_edits,
)
from videoautoarena.runs.run.rundir.reader import counted


@dataclass(frozen=True)
class Played:
    """Which results say what is easy."""

    taken: tuple[str, ...] = field(default=(), metadata=keyed("models"))
    """Models that played; stand-ins are marked."""
    passed_over: Mapping[str, str] = field(default_factory=dict)
    """Model to why its result does not count."""


def find_easy(bench: OpenBench[DialogueItem], score: float) -> tuple[Played, frozenset[Of]]:
    """Return which models played, and the rounds on which each of them reaches a score.

    Only whole results count, with golden history; a round that one of them could not be marked on,
    or whose video was lost, is not known to be easy. BadInput where there is none.
    """
    asked = {
        (item.qid, number): one
        for item in bench.items
        for number, one in enumerate(item.rounds, 1)
        if one.is_scored
    }
    taken = list[str]()
    passed_over = dict[str, str]()
    easy = frozenset(asked)
    for result in read_dialogues(bench):
        name = result.model + " (stand-in)" * result.is_stand_in
        if why := _useless(result, len(asked)):
            passed_over[name] = why
            continue
        taken.append(name)
        easy &= _reached(result, asked, score)
    if not taken:
        there = "; ".join(f"{safe(name)}: {why}" for name, why in passed_over.items())
        raise BadInput(
            f"{bench.folder} has no whole result with golden history, which --drop-easy needs"
            + (f" ({there})" if there else "")
            + "; make one with arena bench run"
        )
    return Played(tuple(dict.fromkeys(taken)), passed_over), easy


def _useless(result: DialogueResult, scored: int) -> str | None:
    if result.history != "golden":
        return "which was sent its own history"
    if len(result.lines) < scored:
        return f"which has {len(result.lines)} of {counted(scored, 'round')}"
    return None


def _reached(result: DialogueResult, asked: Mapping[Of, Round], score: float) -> frozenset[Of]:
    # Shares of equal items are compared, so that .6 of five is reached by three.
    return frozenset(
        (line.qid, line.round)
        for line in result.lines
        if line.end == "answered"
        and share_right(asked[line.qid, line.round], line.answers) >= score - 1e-9
    )


LONGEST_NAME = 100


@dataclass(frozen=True)
class ReviewOptions:
    """What is left out of a set and corrected in it, and where what stays goes."""

    folder: Path
    to: Path
    sheet: Path | None = None
    reviewer: str | None = None
    """Who filled the sheet."""
    easy: float | None = None
    """The score, 0 to 1, that makes a round easy if every model reaches it."""


class ReviewCounts(NamedTuple):
    """What a review did to the rounds of a set."""

    kept: int
    """Scored rounds that stay as they were."""
    dropped: int
    """Scored rounds that a reviewer dropped."""
    corrected: int
    """Rounds that a reviewer corrected."""
    easy: int
    """Scored rounds on which every model reaches `easy_from`."""


@dataclass(frozen=True)
class Reviewed:
    """A set that was reviewed."""

    folder: Path
    """Where it lies."""
    base: str
    """Digest of the old set."""
    bench: str
    """Its digest."""
    dialogues: int
    """Dialogues in it."""
    rounds: int = field(metadata=keyed("scored"))
    """Rounds that are scored."""
    gone: int
    """Dialogues without a scored round."""
    reviewer: str | None
    """Who filled the sheet, or None."""
    counts: ReviewCounts = field(metadata=SPREAD)
    easy: float | None = field(metadata=keyed("easy_from"))
    """The score from which a round is easy, or None."""
    played: Played = field(metadata=SPREAD)
    was_there: bool
    """The folder held this set already."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena dialogues review --json` where it makes a set."""
        return record_json(self)

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        verb = "already holds this set" if self.was_there else "made"
        counts = self.counts
        lines = [
            f"{safe(str(self.folder))} {verb}: {counted(self.dialogues, 'dialogue')}, "
            f"{counted(self.rounds, 'scored round')}, bench {self.bench[:12]}"
        ]
        if self.reviewer is not None:
            lines.append(
                f"reviewed by {safe(self.reviewer)}: {counts.dropped} dropped, "
                f"{counts.corrected} corrected, {counts.kept} scored as before"
            )
        if self.easy is not None:
            lines.append(
                f"easy: {counted(counts.easy, 'round')} on which every model reaches "
                f"{self.easy:g}: {safe(', '.join(self.played.taken))}"
            )
            lines += (
                f"not counted: {safe(name)}, {why}" for name, why in self.played.passed_over.items()
            )
        if self.gone:
            lines.append(f"{counted(self.gone, 'dialogue')} left out: no scored round is left")
        return [*lines, "results of the old set do not carry over: play this one"]


def review(wish: ReviewOptions) -> Reviewed:
    """Make a set of what people and models leave of one; its videos come along.

    Raises:
        BadInput: a sheet, a name or results that cannot be used, no scored round left, or a
            folder that holds something else.
    """
    bench = open_dialogues(wish.folder)
    refuse_within(wish.folder, wish.to)
    reviewer = None if wish.sheet is None else _name(wish.reviewer)
    edits = {} if wish.sheet is None else read_edits(bench, wish.sheet)
    played = Played()
    easy = frozenset[Of]()
    if wish.easy is not None:
        played, easy = find_easy(bench, wish.easy)
        # After a correction a round, and each one behind it, is another than the one that was
        # played.
        easy = frozenset(of for of in easy if _is_as_played(of, edits))
    items = _items(bench.items, edits, easy, wish)
    if not any(one.is_scored for item in items for one in item.rounds):
        raise BadInput("no scored round would be left; drop fewer, or raise --drop-easy")
    _refuse_twins(items)
    counts = _counts(bench.items, edits, easy)
    manifest, files = _sealed(bench, items, _selection(bench, wish, counts, played))
    was_there = put(files, wish.to)
    return Reviewed(
        folder=wish.to,
        base=bench.bench,
        bench=str(manifest["bench"]),
        dialogues=len(items),
        rounds=sum(one.is_scored for item in items for one in item.rounds),
        gone=len(bench.items) - len(items),
        counts=counts,
        reviewer=reviewer,
        easy=wish.easy,
        played=played,
        was_there=was_there,
    )


def _name(given: str | None) -> str:
    name = " ".join((given or "").split())
    if not name:
        raise BadInput("--reviewer is empty; name who filled the sheet")
    if len(name) > LONGEST_NAME:
        raise BadInput(f"--reviewer is longer than {LONGEST_NAME} characters")
    return name


def _is_as_played(of: Of, edits: Mapping[Of, Edit]) -> bool:
    """Return whether a round was not dropped, and neither it nor one before was corrected."""
    qid, number = of
    before = (edits.get((qid, k), Edit()) for k in range(1, number + 1))
    return edits.get(of, Edit()).decision == "keep" and not any(one.corrections for one in before)


def _items(
    items: Sequence[DialogueItem],
    edits: Mapping[Of, Edit],
    easy: frozenset[Of],
    wish: ReviewOptions,
) -> list[DialogueItem]:
    """Return the dialogues that still have a scored round, as they are now."""
    found = list[DialogueItem]()
    for item in items:
        rounds = [
            _round(one, edits.get((item.qid, number), Edit()), wish, (item.qid, number) in easy)
            for number, one in enumerate(item.rounds, 1)
        ]
        if rounds != item.rounds:
            if not any(one.is_scored for one in rounds):
                continue
            # Whole records that were kept of an import would be written again as they were.
            extra = {k: v for k, v in item.extra.items() if k not in (DIALOGUES, CHECKLISTS)}
            made = {**item.made, "reviewed": {"qid": item.qid}}
            item = item.model_copy(update={"rounds": rounds, "extra": extra, "made": made})
            item = item.model_copy(update={"qid": item.own_qid()})
        found.append(item)
    return found


def _round(one: Round, edit: Edit, wish: ReviewOptions, is_easy: bool) -> Round:
    if edit.is_change:
        one = _edited(one, edit, _name(wish.reviewer))
    if is_easy:
        said = {"score": wish.easy, "before": _checklist(one)}
        one = one.model_copy(update={"checklist": [], "made": {**one.made, "easy": said}})
    return one


def _checklist(one: Round) -> dict[str, JsonValue]:
    return {"checklist": [check.model_dump() for check in one.checklist]}


class RoundReview(TypedDict):
    """What `review` in `made` of a changed round says."""

    reviewer: str
    """Who changed it."""
    changed: list[str]
    """Its fields, or `checklist` of a dropped round."""
    before: dict[str, Any]
    """What stood in them."""
    note: NotRequired[str]
    """What the reviewer had to say."""
    earlier: NotRequired[JsonValue]
    """The same of a review before."""


def _edited(one: Round, edit: Edit, reviewer: str) -> Round:
    """Return a round as its reviewer wants it, which says what it was before."""
    is_dropped = edit.decision == "drop" and one.is_scored
    was = fields_of(one)
    said: RoundReview = {
        "reviewer": reviewer,
        "changed": ["checklist"] if is_dropped else list(edit.corrections),
        "before": _checklist(one) if is_dropped else {name: was[name] for name in edit.corrections},
    }
    if edit.note:
        said["note"] = edit.note
    if not said["changed"] and not edit.note:
        return one  # dropped, but it was not scored anyway
    if "review" in one.made:
        said["earlier"] = one.made["review"]
    now = was | dict(edit.corrections)
    checklist = [] if is_dropped else [
        {"text": now[f"item_{k}"], "expected": now[f"expected_{k}"]}
        for k in range(1, len(one.checklist) + 1)
    ]  # fmt: skip
    new = {
        "user": now["user"],
        "reference": now["reference"],
        "checklist": checklist,
        "made": {**_made(one, checklist), "review": said},
    }
    return Round.model_validate(one.model_dump() | new)


def _made(one: Round, checklist: Sequence[Mapping[str, str]]) -> dict[str, JsonValue]:
    """Return how a round was made; if its items changed, those that deny are found again."""
    if checklist == _checklist(one)["checklist"]:
        return one.made
    found = denials(
        [ChecklistQuestion(check["text"], check["expected"] == "yes") for check in checklist]
    )
    rest = {name: held for name, held in one.made.items() if name != "denials"}
    return {**rest, "denials": list[JsonValue](found)} if found else rest


def _refuse_twins(items: Sequence[DialogueItem]) -> None:
    """Refuse two dialogues that corrections made one."""
    twice = [qid for qid, count in Counter(item.qid for item in items).items() if count > 1]
    if twice:
        raise BadInput(
            f"two dialogues would be the same, {safe(twice[0])}, once corrected; nothing was made"
        )


def _counts(
    items: Sequence[DialogueItem], edits: Mapping[Of, Edit], easy: frozenset[Of]
) -> ReviewCounts:
    counts = dict.fromkeys(ReviewCounts._fields, 0)
    for item in items:
        for number, one in enumerate(item.rounds, 1):
            of = item.qid, number
            edit = edits.get(of, Edit())
            # Each round counts once: as corrected, else as dropped, else as easy.
            if edit.corrections:
                counts["corrected"] += 1
            elif one.is_scored:
                is_dropped = edit.decision == "drop"
                counts["dropped" if is_dropped else "easy" if of in easy else "kept"] += 1
    return ReviewCounts(**counts)


class ReviewSelection(TypedDict):
    """What `review` in the `selection` of the manifest says."""

    base: str
    """Digest of the old set."""
    kept: int
    """Scored rounds that stay as they were."""
    dropped: int
    """Scored rounds that a reviewer dropped."""
    corrected: int
    """Rounds that a reviewer corrected."""
    easy: int
    """Scored rounds on which every model reaches `easy_from`."""
    reviewer: NotRequired[str]
    """Who filled the sheet."""
    sheet: NotRequired[str]
    """sha256 of the sheet."""
    easy_from: NotRequired[float]
    """The score from which a round is easy."""
    models: NotRequired[list[str]]
    """Models that played."""
    earlier: NotRequired[JsonValue]
    """The same of a review before."""


def _selection(
    bench: OpenBench[DialogueItem], wish: ReviewOptions, counts: ReviewCounts, played: Played
) -> dict[str, JsonValue]:
    said: ReviewSelection = {
        "base": bench.bench,
        "kept": counts.kept,
        "dropped": counts.dropped,
        "corrected": counts.corrected,
        "easy": counts.easy,
    }
    if wish.sheet is not None:
        said["reviewer"] = _name(wish.reviewer)
        said["sheet"] = digest(wish.sheet.read_bytes())
    if wish.easy is not None:
        said["easy_from"] = wish.easy
        said["models"] = list(played.taken)
    if "review" in bench.manifest.selection:
        said["earlier"] = bench.manifest.selection["review"]
    return {**bench.manifest.selection, "review": cast(JsonValue, said)}


def _sealed(
    bench: OpenBench[DialogueItem], items: Sequence[DialogueItem], selection: dict[str, JsonValue]
) -> Any:
    old = bench.manifest
    asked = {item.video_id for item in items}
    videos = {id_: video for id_, video in old.videos.items() if id_ in asked}
    # Source and kind stay: a reviewed set is still of those who made or published it.
    draft = old.model_copy(
        update={
            "generator": Generator(name="videoautoarena", version=version("videoautoarena")),
            "selection": selection,
            "counts": counts_of(items),
            "files": {},
            "videos": videos,
            "count": len(items),
        }
    )
    # Whoever made the set may have put any bytes into its card; a review fails over none.
    before = (bench.folder / CARD).read_text(encoding="utf-8", errors="replace")
    card = _card(draft.counts, selection["review"], before)
    files = {
        QUESTIONS: question_bytes(items),
        CARD: card.encode("utf-8", "backslashreplace"),
    }
    copies = dict(_copies(bench, videos)) if old.with_videos else {}
    return seal(draft, files, copies)


def _copies(
    bench: OpenBench[DialogueItem], videos: Mapping[str, BenchVideo]
) -> Iterator[tuple[str, Copy]]:
    for video in videos.values():
        for one in (video, video.subtitles):
            if one is None or one.path is None or one.sha256 is None:
                continue
            source = inside(bench.folder / VIDEOS, one.path)
            if source is None or not source.is_file():
                raise BadInput(f"{safe(one.path)} is not in {bench.folder / VIDEOS}; see arena "
                               "bench verify")  # fmt: skip
            if sha256_of(source) != one.sha256:
                raise BadInput(f"{source} has changed; see arena bench verify")
            yield f"{VIDEOS}/{one.path}", Copy(source, one.sha256)


def _card(counts: Mapping[str, Mapping[str, int]], said: Any, before: str) -> str:
    """Return card.md of a reviewed set: what was left out, then the card of the first one."""
    lines = [
        f"- from the set `{said['base']}`, whose results do not carry over",
        f"- scored rounds kept as they were: {said['kept']}; dropped by hand: {said['dropped']}; "
        f"easy: {said['easy']}",
        f"- rounds corrected by hand: {said['corrected']}",
    ]
    if "reviewer" in said:
        lines.append(f"- reviewed by {plain(said['reviewer'])}; sheet sha256 `{said['sheet']}`")
    if "easy_from" in said:
        models = plain(", ".join(said["models"]))
        lines.append(f"- easy: every one of these reaches {said['easy_from']:g}: {models}")
    return "\n".join(
        [
            "# Reviewed set of dialogues\n",
            "Rounds that were dropped or easy stay in their dialogues as history and are not",
            "scored. Each changed round says in `made` what it was before.\n",
            *lines,
            "",
            count_table("ability", counts.get("ability", {}), of="dialogues"),
            "# The card of the set that was reviewed\n",
            "Its counts are those of before.\n",
            before.strip(),
            *([] if BEFORE_PASSING_ON in before else ["", BEFORE_PASSING_ON]),
            "",
        ]
    )
