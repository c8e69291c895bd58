"""Which of the users brought along ask about which video: bound, or drawn by the run's seed.

A draw is written down before the video is added to the run, so that nothing later changes it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.records.digests import derive, read_body, write_body
from videoautoarena.memory.records.records import Persona, Record, Video
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.users.bring import BroughtUser, UserFile, alike_in
from videoautoarena.runs.run.users.keeping import FILE, kept_file
from videoautoarena.scoring.texts.traits import near_duplicates


class Seated(Record):
    """Users at the places of one video."""

    users: dict[int, BroughtUser]
    """By place, 1 to 3; a place that is left out is an invented user's."""

    @property
    def is_full(self) -> bool:
        """Return whether nobody is left to be invented."""
        return len(self.users) == len(PERSONAS)


NOBODY = Seated(users={})


def keep_seats(store: Store, added: Sequence[Video], *, seed: int) -> None:
    """Write down who asks about videos that are about to be added."""
    if (file := kept_file(store)) is None:
        return
    before = [seats_of(store, video.id) for video in store.videos()]
    drawn = seats(file, added, seed=seed, before=before)
    store.put_files({f"{FILE}/{video}": write_body(seated) for video, seated in drawn})


def seats_of(store: Store, video: str) -> Seated:
    """Return who was brought for a video; nobody where the run has no such users."""
    found = store.file(f"{FILE}/{video}")
    return read_body(Seated, found.text) if found else NOBODY


def personas_of(store: Store, video: str) -> dict[int, Persona]:
    """Return the users brought for a video as a lineage has them, by place."""
    return {
        place: Persona(index=place, text=user.text, language=user.language)
        for place, user in seats_of(store, video).users.items()
    }


def repeated_users(texts: Sequence[str]) -> set[int]:
    """Return the places of users of one video whose text nearly repeats an earlier one."""
    return near_duplicates(texts, [""] * len(texts))


def seats(
    file: UserFile | None, videos: Iterable[Video], *, seed: int, before: Iterable[Seated] = ()
) -> Iterator[tuple[str, Seated]]:
    """Yield who asks about each video, in the order given.

    Users that are bound to a video have their places first, by their index or else the first that
    is free. The other places go to users that are bound to none: to who was drawn least often,
    by lot among those, and to nobody twice on one video. A place that fits no user stays free.

    Args:
        file: the users; of None nobody is seated.
        videos: those without users, in the run's order.
        seed: of the run.
        before: who was seated at the videos that came earlier.
    """
    brought = file.users if file else ()
    decks = _Decks(brought, seed, before)
    bound: dict[str, list[BroughtUser]] = {}
    for user in brought:
        if user.video is not None:
            bound.setdefault(user.video, []).append(user)
    for video in videos:
        users = _placed(bound.get(video.id, ()))
        for place in PERSONAS:
            if place not in users and (drawn := decks.draw(place, users.values())) is not None:
                users[place] = drawn
        yield video.id, Seated(users=dict(sorted(users.items())))


def _placed(bound: Iterable[BroughtUser]) -> dict[int, BroughtUser]:
    """Return the users bound to a video at their places, which the file has enough of."""
    ordered = sorted(bound, key=lambda user: user.index is None)
    users: dict[int, BroughtUser] = {}
    for user in ordered:
        users[user.index or next(place for place in PERSONAS if place not in users)] = user
    return users


class _Decks:
    """A heap of users for each place, who was drawn least often on top."""

    def __init__(self, users: Iterable[BroughtUser], seed: int, before: Iterable[Seated]) -> None:
        free = [user for user in users if user.video is None]
        self._seed = seed
        self._by_line = {user.line: user for user in free}
        self._times = Counter(
            user.line for seated in before for user in seated.users.values() if user.video is None
        )
        self._heaps: Mapping[int, list[tuple[int, bool, str, int]]] = {
            place: [self._card(user) for user in free if user.index in (None, place)]
            for place in PERSONAS
        }
        for heap in self._heaps.values():
            heapq.heapify(heap)

    def _card(self, user: BroughtUser) -> tuple[int, bool, str, int]:
        # Of who was drawn as often, first who can sit nowhere else.
        times = self._times[user.line]
        return times, user.index is None, derive(self._seed, "user", times, user.line), user.line

    def draw(self, place: int, beside: Iterable[BroughtUser]) -> BroughtUser | None:
        """Return who sits at a place beside others; None where nobody fits."""
        heap = self._heaps[place]
        there = {alike_in(user.text) for user in beside}
        passed = []
        found = None
        while heap and found is None:
            card = heapq.heappop(heap)
            user = self._by_line[card[-1]]
            if card[0] != self._times[user.line]:
                heapq.heappush(heap, self._card(user))
            elif alike_in(user.text) in there:
                passed.append(card)
            else:
                self._times[user.line] += 1
                heapq.heappush(heap, self._card(user))
                found = user
        for card in passed:
            heapq.heappush(heap, card)
        return found
