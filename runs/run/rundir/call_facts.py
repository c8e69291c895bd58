"""What a reader must know of a model's calls: each fact is counted and worded once, here.

A fact says how many calls, or answers, of a model it holds of; the surfaces that show runs ask for
those that are meant for them. What nothing is known of is silent. Among them is what was learnt
of servers that take less than they were sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

from pydantic import TypeAdapter

from videoautoarena.agents.models.spec import usual_frames
from videoautoarena.agents.offline import KINDS
from videoautoarena.agents.transport.answers import is_filtered, was_cut
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import SCOUTS, Battle, CallEnds, LearntLimits, Role
from videoautoarena.memory.store.journal import FramesSent
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.slots import Tally

if TYPE_CHECKING:
    from videoautoarena.agents.limits.server_limits import ServerLimits
    from videoautoarena.runs.run.config.run_config import RunConfig


Post = Literal["contestant", "judge", "examiner"]
POSTS: dict[Role, Post] = {
    "contestant": "contestant",
    **dict.fromkeys(
        ("judge", "comparer", "scene_marker", "summary_marker", "checklist_marker"), "judge"
    ),
}
"""The post that a role belongs to; all other roles are the examiner's."""
Surface = Literal["console", "lines", "status", "board", "audit"]
"""Where facts are shown: the live console, its lines, `arena status`, boards with all that repeats
their warnings (reports, pictures, the API), and audits."""
EVERYWHERE: frozenset[Surface] = frozenset(get_args(Surface))
REFEREES: frozenset[Post] = frozenset({"judge", "examiner"})
MOST_NAMED = 3
"""The most models of one fact that have a sentence each; more of them share a line."""
MOST_LISTED = 6
"""The most models that such a line names."""


@dataclass(frozen=True)
class Fact:
    """One thing that may be true of a model's calls."""

    key: str
    """Stable name for programs."""
    title: str
    """The fact in words that stand before a list of models and counts."""
    wording: str
    """The sentence, with places for `count`, `of`, `calls` (what is counted), `model`, `were` and
    `example`."""
    sign: str
    """Words that title and wording share, and that no other warning has."""
    holds: Callable[[CallEnds], bool]
    """Whether the fact is true of calls that ended so."""
    among: Callable[[CallEnds], bool]
    """Whether the fact could be true of calls that ended so."""
    noun: str = "answers"
    """The noun for what is counted, of a contestant."""
    referees_noun: str = "replies"
    """The noun for what is counted, of judges and examiners."""
    of_referees: bool = True
    """Whether it is counted for judges and examiners, too."""
    surfaces: frozenset[Surface] = EVERYWHERE

    def to_json(self) -> str:
        """Return its key, which stands for it in JSON."""
        return self.key


def _is_answered(end: CallEnds) -> bool:
    return end.is_answered


def _is_any(_end: CallEnds) -> bool:
    return True


CUT = Fact(
    "cut",
    "cut off at the token limit",
    "{count} of {of} {calls} of {model} {were} cut off at the token limit",
    "cut off at the token limit",
    holds=lambda end: end.is_answered and was_cut(end.ending),
    among=_is_answered,
)
TIMED_OUT = Fact(
    "timed-out",
    "timed out and asked again, which favours short answers",
    "{count} of {of} {calls} of {model} timed out and {were} asked again, which favours short "
    "answers",
    "asked again, which favours short answers",
    holds=lambda end: end.is_late,
    among=_is_any,
    noun="calls",
    referees_noun="calls",
)
FILTERED = Fact(
    "filtered",
    "broken off or kept back by a filter",
    "{count} of {of} {calls} of {model} {were} broken off or kept back by a filter and taken "
    "as none",
    "broken off or kept back by a filter",
    holds=lambda end: end.failure == "content-filter",
    among=_is_any,
)
CUT_BY_FILTER = Fact(
    "cut-by-filter",
    "cut by a filter and taken as they stood",
    "{count} of {of} {calls} of {model} {were} cut by a filter and taken as they stood",
    "cut by a filter and taken as they stood",
    holds=lambda end: end.is_answered and is_filtered(end.ending),
    among=_is_answered,
)
THOUGHT_MARKS = Fact(
    "thought-marks",
    "judged with a mark of thought in them",
    "{count} of {of} {calls} of {model} held a mark of thought, such as {example}, and {were} "
    "judged with it",
    "a mark of thought",
    # Counted over the answers that are stored: what was taken off a reply is judged by nobody.
    holds=lambda _end: False,
    among=_is_answered,
    of_referees=False,
)
NO_FRAMES = Fact(
    "no-frames",
    "saw no frames",
    "{model} saw no frames",
    "saw no frames",
    holds=lambda end: end.is_answered and end.is_blind,
    among=_is_answered,
    # Consoles name the cast, a board flags the row, and an audit has a finding of its own.
    surfaces=frozenset({"status"}),
)
FACTS: tuple[Fact, ...] = (CUT, TIMED_OUT, FILTERED, CUT_BY_FILTER, THOUGHT_MARKS, NO_FRAMES)
"""All facts, in the order in which they are shown."""


@dataclass(frozen=True)
class CallFact:
    """A fact that is true of some calls of a model in a run."""

    SHOWN: ClassVar = ("fact", "model", "role", "count", "of", "sentence")
    fact: Fact
    """One of the keys below."""
    model: str
    """Name in the roster."""
    role: Post
    """`contestant`, `judge`, or `examiner` with all its roles."""
    count: int
    """Calls or answers of which it is true."""
    of: int
    """Calls or answers of which it could be true."""
    example: str = ""
    """A mark of thought that was found, if the fact is about those."""

    @property
    def sentence(self) -> str:
        """The fact as a sentence without its full stop."""
        is_contestant = self.role == "contestant"
        noun = self.fact.noun if is_contestant else self.fact.referees_noun
        name = safe(self.model)
        return self.fact.wording.format(
            count=f"{self.count:,}",
            of=f"{self.of:,}",
            calls=noun if self.of != 1 else _SINGULAR[noun],
            were="was" if self.count == 1 else "were",
            model=name if is_contestant else f"{name} ({self.role})",
            example=safe(self.example),
        )


_SINGULAR = {"answers": "answer", "replies": "reply", "calls": "call"}
_Of = tuple[str, str, Post]
"""Key of a fact, name of a model, and post."""


class FactCount:
    """Counts facts as calls end and battles are settled."""

    def __init__(self) -> None:
        self._counts: Counter[_Of] = Counter()
        self._among: Counter[_Of] = Counter()
        self._examples: dict[str, str] = {}

    @classmethod
    def of(cls, store: Store) -> FactCount:
        """Count the facts of a run; of battles, read only those that may hold a mark."""
        found = cls.of_answers(store)
        for end in store.journal.ends():
            found.add(end)
        return found

    @classmethod
    def of_answers(cls, store: Store) -> FactCount:
        """Count the facts of stored answers alone."""
        found = cls()
        superseded = Tally.of(store).superseded
        for battle in store.each_marked():
            if battle.id not in superseded:
                found.add_answers(battle)
        return found

    def copy(self) -> FactCount:
        """Return a copy that counts on by itself."""
        return deepcopy(self)

    def add(self, end: CallEnds) -> bool:
        """Count calls that ended alike; return whether any fact is true of them."""
        if end.role in SCOUTS:
            return False
        is_any = False
        post = post_of(end.role)
        for fact in FACTS:
            if post in REFEREES and not fact.of_referees:
                continue
            place = (fact.key, end.alias, post)
            if fact.among(end):
                self._among[place] += end.calls
            if fact.holds(end):
                self._counts[place] += end.calls
                is_any = True
        return is_any

    def add_answers(self, battle: Battle) -> bool:
        """Count marks of thought in a battle's own answers; return whether there are any."""
        from videoautoarena.agents.calls.thoughts import thought_mark

        is_any = False
        borrowed = battle.borrowed.seat if battle.borrowed else None
        seats = {"a": (battle.model_a, battle.answer_a), "b": (battle.model_b, battle.answer_b)}
        for seat, (model, answer) in seats.items():
            # A borrowed answer was counted with the battle in which it was given.
            if model is None or answer is None or seat == borrowed:
                continue
            mark = thought_mark(answer)
            if mark is not None:
                self._counts[THOUGHT_MARKS.key, model, "contestant"] += 1
                self._examples.setdefault(model, mark)
                is_any = True
        return is_any

    def found(self, surface: Surface | None = None) -> list[CallFact]:
        """Return the facts that are true of any call, or those of a surface, contestants first."""
        facts = [fact for fact in FACTS if surface is None or surface in fact.surfaces]
        order = [(fact, post) for post in get_args(Post) for fact in facts]
        return [
            CallFact(
                fact,
                model,
                post,
                count,
                max(count, self._among[key, model, of]),
                self._examples.get(model, ""),
            )
            for fact, post in order
            for (key, model, of), count in sorted(self._counts.items())
            if (key, of) == (fact.key, post) and count > 0
        ]


def post_of(role: Role) -> Post:
    """Return the post that a role belongs to."""
    return POSTS.get(role, "examiner")


def call_facts(store: Store) -> list[CallFact]:
    """Return the facts that are true of the calls of a run."""
    return FactCount.of(store).found()


def warning_lines(found: Iterable[CallFact]) -> Iterator[str]:
    """Yield the lines that stand with a board, one for each fact and model or for many models."""
    return fact_lines(one for one in found if "board" in one.fact.surfaces)


def fact_lines(found: Iterable[CallFact]) -> Iterator[str]:
    """Yield a sentence for each fact and model; more than three contestants share one."""
    every = list(found)
    for fact in FACTS:
        of_it = [one for one in every if one.fact is fact]
        contestants = [one for one in of_it if one.role == "contestant"]
        if len(contestants) > MOST_NAMED:
            yield f"{fact.noun} {fact.title}: {listed(contestants)}"
            of_it = [one for one in of_it if one.role != "contestant"]
        yield from (one.sentence for one in of_it)


def listed(found: Sequence[CallFact]) -> str:
    """Return models with their counts, those with the largest share first."""
    most = sorted(found, key=lambda one: (-one.count / one.of, one.model))
    named = [f"{safe(one.model)} {one.count:,} of {one.of:,}" for one in most[:MOST_LISTED]]
    more = len(most) - len(named)
    several = "1 more model" if more == 1 else f"{more} more models"
    return ", ".join(named) + (f" and {several}" if more else "")


def is_fact(line: str) -> bool:
    """Return whether a warning is a fact of a model's calls."""
    return any(fact.sign in line for fact in FACTS)


LIMITS_FILE = "local/limits"
"""File in the run with the limits that were learnt of servers; no part of the run."""
_FORM = TypeAdapter(tuple[LearntLimits, ...])


class Shortfall(NamedTuple):
    """A model that was sent fewer frames than intended."""

    model: str
    role: Post
    """The post in which it was called."""
    least: int
    """The fewest frames in one of these calls."""
    most: int
    wanted: int
    calls: int
    """Answered calls with fewer frames."""
    of: int
    """All answered calls."""

    @property
    def saw(self) -> str:
        """The shortfall in a few words: `saw 4 of 64 frames`."""
        seen = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"saw {seen} of {self.wanted} frames"

    @property
    def line(self) -> str:
        """The shortfall as a line for a person."""
        of = "all its" if self.calls == self.of else f"{self.calls} of {self.of}"
        return f"{safe(self.model)} ({self.role}) {self.saw} in {of} calls"


def kept_limits(store: Store) -> tuple[LearntLimits, ...]:
    """Return the limits that all processes of a run have learnt; StoreError if they are damaged."""
    return store.file_as(_FORM, LIMITS_FILE) or ()


def limits_of(store: Store) -> ServerLimits:
    """Return the learnt limits of a run, which are written to its file whenever one is added."""
    from videoautoarena.agents.limits.server_limits import ServerLimits

    def keep(learnt: Iterable[LearntLimits]) -> None:
        every = [one.model_dump(mode="json") for one in learnt]
        store.put_file(LIMITS_FILE, canonical_json(every), replace=True)

    return ServerLimits.of(kept_limits(store), keep)


def limit_lines(learnt: Iterable[LearntLimits]) -> Iterator[str]:
    """Yield a line for each limit that was learnt of a server."""
    for one in learnt:
        who = safe(f"{one.model} at {one.endpoint}")
        if one.images is not None:
            refused = f"; {one.refused_images} were refused" if one.refused_images else ""
            images = "1 image" if one.images == 1 else f"{one.images} images"
            yield f"{who} takes {images} a request{refused}"
        if one.token_limit_field is not None:
            yield f"{who} takes the output limit as {one.token_limit_field}"
        if one.system_role is not None:
            yield f"{who} takes the system text from the user alone"
        if one.is_streaming:
            yield f"{who} answers in pieces alone"
        if one.structured is not None:
            is_loose = one.structured == "json_object"
            held = "holds replies to JSON, to no schema" if is_loose else "holds replies to no form"
            yield f"{who} {held}"
        if one.output_tokens is not None:
            yield (
                f"{who} does not keep to {one.output_limit or 0:,} output tokens: a reply took "
                f"{one.output_tokens:,}"
            )


def shortfalls(store: Store) -> list[Shortfall]:
    """Return the models that saw fewer frames than intended, by name, then role.

    Trials are left out, since their frames need not be those of the run.
    """

    def wanted(entry: dict[str, Any], sent: FramesSent) -> int:
        return min(sent.shown, usual_frames(entry.get("max_frames"), sent.role))

    return _fewer(store, wanted)


def unequal_frames(store: Store) -> list[Shortfall]:
    """Return the contestants that are sent fewer frames than others because of their own limit.

    One that is sent none is left out, and so is a stand-in that is made to see few. One whose
    server takes fewer still is among the `shortfalls` instead.
    """
    manifest = store.manifest()
    cast = manifest.get("cast") or {}
    limits = [(cast.get(name) or {}).get("max_frames") for name in manifest.get("models") or ()]
    most = max((usual_frames(limit, "contestant") for limit in limits), default=0)

    def wanted(entry: dict[str, Any], sent: FramesSent) -> int:
        maker, _, kind = str(entry.get("model")).partition(":")
        is_its_part = maker == "offline" and entry.get("max_frames") == KINDS.get(kind)
        is_compared = sent.role == "contestant" and sent.frames > 0 and not is_its_part
        return min(sent.shown, most) if is_compared else 0

    told = {one.model for one in shortfalls(store) if one.role == "contestant"}
    return [one for one in _fewer(store, wanted) if one.model not in told]


def _fewer(store: Store, wanted_of: Callable[[dict[str, Any], FramesSent], int]) -> list[Shortfall]:
    cast = store.manifest().get("cast") or {}
    short: dict[tuple[str, Post], Shortfall] = {}
    answered: dict[tuple[str, Post], int] = {}
    for sent in store.journal.sent_frames():
        entry = cast.get(sent.alias)
        if entry is None or sent.role in SCOUTS:
            continue
        # It is sent the frames of the best clips, as few as it was asked for.
        if entry.get("retrieval") and sent.role == "contestant":
            continue
        key = (sent.alias, post_of(sent.role))
        answered[key] = answered.get(key, 0) + sent.calls
        wanted = wanted_of(entry, sent)
        if sent.frames < wanted:
            seen = Shortfall(*key, sent.frames, sent.frames, wanted, sent.calls, 0)
            before = short.get(key, seen._replace(calls=0))
            short[key] = seen._replace(
                least=min(before.least, seen.least),
                most=max(before.most, seen.most),
                wanted=max(before.wanted, wanted),
                calls=before.calls + seen.calls,
            )
    return [short[key]._replace(of=answered[key]) for key in sorted(short)]


def declared_lines(config: RunConfig) -> Iterator[str]:
    """Yield a line for each model that is sent fewer frames because of its server's limit."""
    for alias in config.cast.keys() - config.scouts:
        model = config.model_of(alias)
        role: Role = "contestant" if alias in config.models else "judge"
        wanted = min(config.sampling.frames, usual_frames(model.max_frames, role))
        sent = min(wanted, model.frame_limit(role))
        if sent < wanted:
            yield f"{safe(alias)} is sent {sent} of {wanted} frames (limits.images_per_request)"
