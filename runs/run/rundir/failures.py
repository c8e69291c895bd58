"""What failed in a run: videos without frames, battles to play again, contestants without answers.

A video that gave no frames is tried once. What came of it is written down, so that a replay and a
resumed run come to the same end; `--retry-failed` lifts it for what is played from then on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable
from typing import Literal, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from videoautoarena.graph.slot_ids import base_of
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import DECIDED, Slot
from videoautoarena.memory.records.slots import Ids
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.rundir.reader import counted, one_line, shortened
from videoautoarena.runs.run.rundir.slots import Lineup, Tally, newcomers_among, superseding_slots

UNUSABLE = "unusable/"
"""Name in the run's file, before a video's id, of why it gives no frames; empty once lifted."""
BEFORE = "/before"
"""Behind that name: lifted reasons, by the first generation that they do not bind."""
_LIFTED = TypeAdapter(dict[int, str])


class Quarantined(NamedTuple):
    """A file that the run does not use."""

    path: str
    video: str | None
    """Id of the run's video; None if the file was refused when it was found."""
    when: Literal["found", "decoded"]
    reason: str


def verdict_on(store: Store, video: str, generation: int | None = None) -> str | None:
    """Return why a video gives no frames, now or as of a generation; None if it may give some."""
    if generation is not None:
        lifted = sorted(_lifted(store, video).items())
        if bound := [why for since, why in lifted if generation < since]:
            return bound[0]
    standing = store.file(f"{UNUSABLE}{video}")
    return standing.text or None if standing else None


def condemn(store: Store, video: str, reason: str) -> None:
    """Write down that a video gives no frames."""
    store.put_file(f"{UNUSABLE}{video}", reason, replace=True)


def pardon(store: Store, videos: Collection[str], generation: int) -> list[str]:
    """Allow videos that gave no frames to be tried again; return their ids.

    For generations before `generation` the reason stands, so that a replay agrees.
    """
    lifted = []
    for video in sorted(videos):
        if (why := verdict_on(store, video)) is not None:
            # What was lifted is written first: a kill in between leaves the video refused, and it
            # is lifted again the next time.
            before = {**_lifted(store, video), generation: why}
            said = {str(since): reason for since, reason in before.items()}
            store.put_file(f"{UNUSABLE}{video}{BEFORE}", canonical_json(said), replace=True)
            store.put_file(f"{UNUSABLE}{video}", "", replace=True)
            lifted.append(video)
    return lifted


def quarantine(store: Store) -> list[Quarantined]:
    """Return files that are not used: those refused when found, then those without frames."""
    skipped = store.skipped()
    # Those that are lifted, and what they were, have no text or a name with another end.
    standing = store.files_under(UNUSABLE)
    if not skipped and not any(standing.values()):
        # Most runs have neither, and all videos of a large one take seconds.
        return []
    videos = store.videos()
    # What was refused in one process may be a video of the run since another.
    used = {video.path for video in videos}
    refused = (one for one in skipped if one.path not in used)
    verdicts = ((video, standing.get(video.id)) for video in videos)
    return [
        *(Quarantined(one.path, None, "found", one.reason) for one in refused),
        *(Quarantined(video.path, video.id, "decoded", why) for video, why in verdicts if why),
    ]


def _lifted(store: Store, video: str) -> dict[int, str]:
    return store.file_as(_LIFTED, f"{UNUSABLE}{video}{BEFORE}") or {}


def failed_slots(store: Store, *, at_hand: Collection[str] = ()) -> set[str]:
    """Return the ids of slots that count and ended void or forfeit because a call had failed.

    Slots where every judge abstained are left out: playing them again would change nothing. Of
    videos without frames only those `at_hand` are tried once more.
    """
    superseded = Tally.of(store).superseded
    # Verdicts first: of a run with many battles only what is undecided is read whole.
    undecided = [id_ for id_, verdict in store.each_verdict() if verdict not in DECIDED]
    battles = (store.battle(id_) for id_ in undecided if id_ not in superseded)
    failed = [
        (b.id, b.video)
        for b in battles
        if b and (not b.verdicts or any(one.verdict == "failed" for one in b.verdicts))
    ]
    has_frames = {
        video: video in at_hand or store.frames(video) is not None
        for video in dict.fromkeys(video for _, video in failed)
    }
    return {id_ for id_, video in failed if has_frames[video]}


def supersede(store: Store, failed: Collection[str]) -> str:
    """Add a slot in place of each failed one and of all after it; return a note about it.

    All are added or none; videos among them that gave no frames may be tried again.
    """
    existing = store.slots()
    settled = store.settled_ids()
    slots = superseding_slots(with_unsettled(failed, existing, settled), existing=existing)
    if not slots:
        return "no battle failed for a call; there is nothing to play again"
    lineup = Lineup(existing)
    # First: with a kill in between, what is played stands, and the next time is as this one.
    pardoned = pardon(store, slots.videos_of(), slots[0].generation)
    store.add_slots(slots)
    later = sum(lineup.current(base_of(id_)) in settled for id_ in slots.ids) - len(failed)
    after = f", with {counted(later, 'round')} after them," if later else ""
    one = len(failed) == 1
    are = "battle that failed for a call is" if one else "battles that failed for a call are"
    note = f"{len(failed)} {are}{after} played again"
    if pardoned:
        be = "is" if len(pardoned) == 1 else "are"
        note += f"; {counted(len(pardoned), 'video')} without frames {be} tried again"
    return note


def with_unsettled(failed: Collection[str], existing: Iterable[Slot], settled: Ids) -> Ids:
    """Return the failed slots, and all slots of their videos that have not been played yet.

    What is played of a video from now on is played in one generation: so its examiner, asked again
    in that one, is heard by none of an earlier one, which a replay plays as it stood then.
    """
    standing = Lineup(existing).slots
    of_newcomer = newcomers_among(standing)
    has_failed = standing.among(failed)
    videos = np.unique(standing.columns.video[has_failed & ~of_newcomer])
    unsettled = np.isin(standing.columns.video, videos) & ~standing.among(settled) & ~of_newcomer
    return standing.where(has_failed | unsettled).ids


MANY = 3
"""The fewest forfeits for which a contestant is called faulty."""
_LONGEST = 200


class Faulty(NamedTuple):
    """A contestant that forfeits more often than the user accepts."""

    model: str
    forfeits: int
    battles: int
    """Battles that ended, or questions that it was asked, without voids."""
    reason: str
    """The most frequent reason; may hold a provider's words."""

    def sentence(self, accepted: float, *, to: str = "battles") -> str:
        """Return it as a sentence; `to` is the noun for its battles or questions."""
        return (
            f"{one_line(self.model, 80)} gave no answer in {self.forfeits} of its {self.battles} "
            f"{to}, more than {100 * accepted:g} %: {shortened(self.reason, _LONGEST)}"
        )


class Forfeits:
    """Forfeits of each contestant, and how all battles ended."""

    def __init__(self) -> None:
        self.battles = Counter[str]()
        self.verdicts = Counter[str]()
        """Verdicts of all battles, voids included."""
        self.reasons: dict[str, Counter[str]] = {}
        """Contestant to the reasons of its forfeits."""

    @classmethod
    def of(cls, store: Store, *, superseded: Container[str]) -> Forfeits:
        """Return the forfeits of a run, without battles that were played again."""
        found = cls()
        for id_, a, b, verdict in store.each_ending():
            if id_ not in superseded and verdict is not None:
                # Battles that are no forfeit are not read.
                battle = store.battle(id_) if verdict.startswith("forfeit") else None
                found.note(a, b, verdict, reason=battle.reason if battle else None)
        return found

    def note(self, a: str | None, b: str | None, verdict: str, *, reason: str | None) -> None:
        """Count one battle."""
        self.verdicts[verdict] += 1
        # A void is nobody's battle: counted, it would lower the share of those who forfeit.
        if verdict == "void":
            return
        self.battles.update(name for name in (a, b) if name is not None)
        if verdict in ("forfeit_a", "forfeit_b"):
            loser = (a if verdict == "forfeit_a" else b) or "?"
            self.reasons.setdefault(loser, Counter())[reason or "no reason recorded"] += 1

    @property
    def counts(self) -> dict[str, int]:
        """Contestant to the number of its forfeits, if it has any, sorted by name."""
        return {name: self.reasons[name].total() for name in sorted(self.reasons)}

    def faulty(self, accepted: float) -> tuple[Faulty, ...]:
        """Return the contestants with many forfeits and a larger share of them than accepted."""
        return tuple(
            Faulty(name, count, self.battles[name], self.reasons[name].most_common(1)[0][0])
            for name, count in self.counts.items()
            if count >= MANY and count > accepted * self.battles[name]
        )

    @property
    def most_frequent(self) -> dict[str, dict[str, int]]:
        """Contestant to the reasons of its forfeits, the most frequent first."""
        return {name: dict(self.reasons[name].most_common()) for name in self.counts}

    def as_lines(self) -> list[str]:
        """Return a line for each contestant and reason."""
        return [
            f"  forfeits of {one_line(name, 80)}, {count}: {shortened(reason, 120)}"
            for name in self.counts
            for reason, count in self.reasons[name].most_common()
        ]
