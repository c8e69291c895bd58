"""Items that a model writes from what it watches: what code can check of them, and what stays.

A key here is the word of a model. Code holds it to its form; a second ask, which does not know the
first, has to come to the same key and the same place. Nothing is mended: an item that fails a check
falls, and its reason is counted. The order of the options is drawn, never the model's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, cast, get_args

from pydantic import JsonValue

from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.prompting.contracts import OptionCheckerReply
from videoautoarena.agents.prompting.fences import LETTERS
from videoautoarena.agents.roles.write_tasks import Moment, TaskCheck, TaskProposal, WatchedKind
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.records import Video
from videoautoarena.runs.bench.format.schema import Authorship, TaskItem

WATCHED: tuple[WatchedKind, ...] = get_args(WatchedKind)
CHOICE: tuple[WatchedKind, ...] = ("topic", "plot")
TIMED: tuple[WatchedKind, ...] = ("plot", "scene")
"""Kinds that are about one moment."""
WATCHER = "1"
"""Goes up whenever equal replies would give other items by this code."""
OPTIONS = 4
POINTS = (3, 10)
LENGTHS: Mapping[str, tuple[int, int]] = {
    "question": (8, 600),
    "option": (1, 240),
    "reference": (20, 4_000),
    "point": (4, 300),
}
"""Characters of each text, the fewest and the most."""
LONGER, SLACK = 2, 20
"""Most characters of an option: so many times those of the shortest, and so many more."""
MOST_OF_IT = 0.9
"""Share of the video that a moment has to stay below."""
SLACK_S = 1.0
"""How far apart the moments of both asks may lie and still be the same."""

Fall = Literal[
    "repeated",
    "length",
    "options",
    "points",
    "moment",
    "key",
    "place",
    "names",
    "unshown",
    "failed",
]
FALLS: Mapping[Fall, str] = {
    "repeated": "asked before of this video",
    "length": "a text too short or too long",
    "options": "options not four different ones of like length",
    "points": f"not {POINTS[0]} to {POINTS[1]} different points",
    "moment": "no moment of the video",
    "key": "another key by the second ask",
    "place": "not one place by the second ask",
    "names": "a person's name",
    "unshown": "too few points that the frames show",
    "failed": "the second ask failed",
}
"""Why an item fell, in words."""
_OTHERS = re.compile(
    r"\b(?:all|none|both|neither|either|any) of (?:the|these|those) (?:above|others?|options?)\b"
    r"|\b(?:all|none) of (?:them|these|the above)\b|\boptions? [A-D]\b|^[A-D][.)]?$",
    re.IGNORECASE,
)
"""Finds an option that speaks of others, or of a letter: options are shuffled."""


class Draft(NamedTuple):
    """A task in the form in which it is checked again."""

    kind: WatchedKind
    proposal: TaskProposal
    options: tuple[str, ...] = ()
    """In the drawn order; empty for free words."""

    @property
    def key(self) -> int:
        """The place of the right option."""
        return self.options.index(self.proposal.answer)

    @property
    def digest(self) -> str:
        """What tells it from other tasks about its video."""
        said = (self.proposal.question, self.options, self.proposal.answer, self.proposal.points)
        return digest(canonical_json([self.kind, *said]))[:12]


def drafted(kind: WatchedKind, proposal: TaskProposal, video: Video, *, seed: int) -> Draft:
    """Return a task with its options in an order that the seed draws."""
    if kind not in CHOICE:
        return Draft(kind, proposal)
    dice = Dice("watched", WATCHER, seed, kind, video.sha256, proposal.question)
    # Sorted before they are shuffled, so that the place of the key does not go into the draw.
    return Draft(kind, proposal, tuple(dice.shuffled(sorted((proposal.answer, *proposal.wrong)))))


def find_fault(draft: Draft, video: Video, known: Sequence[TaskProposal]) -> Fall | None:
    """Return what is wrong with the form of a task; `known` are those of its video so far."""
    said = draft.proposal
    if any(_is_again(said, other) for other in known):
        return "repeated"
    if not all(low <= len(text) <= high for text, (low, high) in _lengths(draft)):
        return "length"
    if draft.options and not _are_options(draft.options):
        return "options"
    if draft.kind not in CHOICE and not _are_points(said.points):
        return "points"
    return None if draft.kind not in TIMED or _is_moment(said.moment, video) else "moment"


def settled(draft: Draft, checked: TaskCheck) -> TaskProposal | Fall:
    """Return a task as the second ask leaves it, or why it falls."""
    said = draft.proposal
    reply = checked.reply
    if checked.has_names:
        return "names"
    if draft.kind in TIMED and not _is_one_place(said.moment, checked.moments):
        return "place"
    if isinstance(reply, OptionCheckerReply):
        return said if reply.answer == LETTERS[draft.key] else "key"
    points = tuple(
        point for point, one in zip(said.points, reply.points, strict=True) if one.shown == "yes"
    )
    if len(points) < POINTS[0]:
        return "unshown"
    # A reference that says more than the second ask confirmed is replaced by the points that stay.
    is_whole = points == said.points and reply.reference.shown == "yes"
    answer = said.answer if is_whole else " ".join(map(_sentence, points))
    return said._replace(points=points, answer=answer)


def entry_of(draft: Draft, final: TaskProposal, video: Video, made: WatchedAsks) -> TaskItem:
    """Return the line of an item that passed."""
    origin: WatchedOrigin = {"kind": draft.kind, "maker": WATCHER, **made}
    bare = TaskItem(
        qid="",
        video_id=video.id,
        task=draft.kind,
        question=final.question,
        options=list(draft.options),
        answer=final.answer,
        points=list(final.points),
        duration_s=round(video.duration_s, 3),
        made=cast(dict[str, JsonValue], origin),
    )
    return bare.model_copy(update={"qid": bare.own_qid()})


class _Rules(TypedDict):
    kind: str
    """Kind of the task, such as `plot`."""
    maker: str
    """Version of the rules by which it was made."""


class WatchedAsks(Authorship):
    """Who wrote an item, from which frames, and what both asks said."""

    written: dict[str, Any]
    """The first ask's `question`, `answer` and `distractors` or `reference` and `points`, `moment`
    in seconds, and `frames_s`: the times of the frames it was sent."""
    checked: dict[str, Any]
    """The second ask's reply, what its letter stands for as `chosen`, and `frames_s`."""


class WatchedOrigin(_Rules, WatchedAsks):
    """How an item that an examiner wrote came about, as `made` of its line says it."""


def written_json(said: TaskProposal) -> dict[str, JsonValue]:
    """Return a task as it was written, for the record of how it was made."""
    found: dict[str, Any] = {"question": said.question}
    if said.wrong:
        found |= {"answer": said.answer, "distractors": list(said.wrong)}
    else:
        found |= {"reference": said.answer, "points": list(said.points)}
    return found | ({"moment": list(said.moment)} if said.moment else {})


def _lengths(draft: Draft) -> Iterator[tuple[str, tuple[int, int]]]:
    said = draft.proposal
    yield said.question, LENGTHS["question"]
    for option in draft.options:
        yield option, LENGTHS["option"]
    if draft.kind not in CHOICE:
        yield said.answer, LENGTHS["reference"]
    for point in said.points:
        yield point, LENGTHS["point"]


def _are_options(options: Sequence[str]) -> bool:
    """Return whether these are four different ones, none a part of another."""
    plain = [_plain(option) for option in options]
    sizes = sorted(map(len, options))
    return (
        len(options) == OPTIONS == len(set(plain))
        and all(plain)
        and not any(_holds(one, other) for one in plain for other in plain if one != other)
        and not any(_OTHERS.search(option) for option in options)
        # In MLVU's dev set picking the longest of four is right in 32.3 %: lengths are kept alike.
        and sizes[-1] <= LONGER * sizes[0] + SLACK
    )


def _are_points(points: Sequence[str]) -> bool:
    fewest, most = POINTS
    plain = [_plain(point) for point in points]
    return fewest <= len(points) <= most and len(set(plain)) == len(plain) and all(plain)


def _is_moment(moment: Moment | None, video: Video) -> bool:
    if moment is None:
        return False
    start_s, end_s = moment
    is_inside = start_s <= end_s <= video.duration_s + SLACK_S
    return is_inside and end_s - start_s < MOST_OF_IT * video.duration_s


def _is_one_place(meant: Moment | None, found: Sequence[Moment]) -> bool:
    """Return whether the second ask found just one place, and the first one meant it."""
    if meant is None or len(found) != 1:
        return False
    ((start_s, end_s),) = found
    return min(end_s, meant[1]) - max(start_s, meant[0]) >= -SLACK_S


def _is_again(said: TaskProposal, other: TaskProposal) -> bool:
    """Return whether a task asks what another one asks."""
    if _plain(said.question) == _plain(other.question):
        return True
    mine = {_plain(text) for text in (said.answer, *said.wrong)}
    return bool(said.wrong) and mine == {_plain(text) for text in (other.answer, *other.wrong)}


def _plain(text: str) -> str:
    """Return the words of a text, in a form in which equal ones compare equal."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _holds(one: str, other: str) -> bool:
    # Whole words: `cat` is no part of `catalogue`.
    return f" {one} " in f" {other} "


def _sentence(point: str) -> str:
    return point if point.endswith((".", "!", "?")) else f"{point}."


def fallen_words(fallen: Counter[Fall]) -> str:
    """Return why items fell, the commonest first."""
    return "; ".join(f"{count} {FALLS[why]}" for why, count in fallen.most_common())
