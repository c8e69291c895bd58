"""Users that people bring in a file: read, assigned to videos, kept with a run, and reported.

The file has a JSON object a line and is checked before anything of it is used. What users say is
anybody's text: it is kept as it stands, and made harmless where it is shown.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from videoautoarena.agents.prompting.languages import LANGUAGES
from videoautoarena.graph.slot_ids import PERSONAS, slot_id
from videoautoarena.memory.records.digests import (
    canonical_json,
    derive,
    digest,
    read_body,
    write_body,
)
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import Battle, Persona, PublishedRecord, Record, Video
from videoautoarena.memory.records.remedies import option
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import decode, kind_of, oddity, parse_json, read_bytes
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.scoring.texts.traits import near_duplicates

if TYPE_CHECKING:
    from videoautoarena.runs.run.config.run_config import RunConfig, RunSettings
    from videoautoarena.video.folder.find import Findings, VideoPaths


LARGEST = 2**26
"""The most bytes of a file of users."""
LONGEST_TEXT, LONGEST_NAME = 4_000, 60
"""The most characters of a text, which stands in every prompt of its user, and of a name."""
MOST_NAMES = 40
"""The most different names, each of which is rated apart in a board by persona."""
KEYS = ("text", "video", "language", "index", "name")
# A NUL, and lone surrogates, which no UTF-8 can hold.
_UNSOUND = re.compile("[\x00\ud800-\udfff]")


class BroughtUser(Record):
    """One user of the file."""

    line: int
    """Line of the file, from 1."""
    text: str
    video: str | None = None
    """Id of the video that it is bound to; None: it is drawn for videos."""
    language: str | None = None
    """Code of the language that it asks in, if the file says so."""
    index: int | None = None
    """1 close to the content, 2 less close, 3 unrelated; None if the file does not say."""
    name: str | None = None
    """Its name in slices of a board by persona; several users may share one."""


class UserFile(Record):
    """A file of users as it was read; this is what a run keeps of it."""

    name: str
    """Name of the file without its folder."""
    sha256: str
    """Sha256 of the file's bytes."""
    users: tuple[BroughtUser, ...]


def digest_of(file: Path) -> str | None:
    """Return the sha256 of a file's bytes; None if it cannot be read or is too large."""
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return None
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def read_users(file: Path, found: Findings, folder: Path) -> UserFile:
    """Return the users in a file; those bound to a video have its id.

    Args:
        file: JSON lines of `text` and, where they are known, `video` (relative to the folder),
            `language` (a code of `LANGUAGES`), `index` (1, 2 or 3) and `name`.
        found: the videos that a user can be bound to, and what else lies in their folder.
        folder: where they lie.

    Raises:
        BadInput: the first line that cannot be used, a user that is there twice, or more of one
            video than it has places.
    """
    from videoautoarena.video.folder.find import VideoPaths

    if not file.is_file():
        raise BadInput(f"{file} is no file; pass JSON lines of users with {option('personas')}")
    if file.stat().st_size > LARGEST:
        raise BadInput(f"{file} is larger than {LARGEST >> 20} MB; pass a file of users")
    content = read_bytes(file)
    known = _BoundVideos(
        folder, VideoPaths(found), {video.id: video.path for video in found.videos}
    )
    users = [_user(file, number, row, known) for number, row in _rows(decode(content, str(file)))]
    _refuse_twice(file, users)
    _refuse_crowds(file, users, known)
    if len({user.name for user in users if user.name}) > MOST_NAMES:
        raise BadInput(
            f"{file} has more than {MOST_NAMES} names; a name stands for a group of users"
        )
    return UserFile(name=file.name, sha256=hashlib.sha256(content).hexdigest(), users=tuple(users))


class _BoundVideos(NamedTuple):
    """The folder of videos, to which users may be bound."""

    folder: Path
    places: VideoPaths
    paths: Mapping[str, str]
    """Id of a video to its path."""


def _rows(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines: a line of JSON may hold the other marks that it takes for line ends.
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            yield number, row


def _user(file: Path, number: int, row: str, known: _BoundVideos) -> BroughtUser:
    place = f"{file} line {number}"
    try:
        value = parse_json(row, place)
    except BadInput as wrong:
        # A row is parsed by itself and so has one line; `place` names that of the file.
        raise BadInput(str(wrong).replace(" is no JSON: line 1:", " is no JSON:")) from None
    if not isinstance(value, dict):
        raise BadInput(f'{place} is {kind_of(value)}; write an object, {{"text": "..."}}')
    if (odd := oddity(value)) is not None:
        raise BadInput(f"{place} {odd}")
    if strange := sorted(value.keys() - set(KEYS)):
        raise BadInput(f"{place}: {quoted(strange[0])} is no key here; there are {', '.join(KEYS)}")
    return BroughtUser(
        line=number,
        text=_words(place, value, "text", most=LONGEST_TEXT) or _missing(place),
        video=_video(place, value, known),
        language=_language(place, value),
        index=_index(place, value),
        name=_line(_words(place, value, "name", most=LONGEST_NAME)),
    )


def _missing(place: str) -> str:
    raise BadInput(f"{place} has no text; write who the user is")


def _words(place: str, value: Mapping[str, Any], key: str, *, most: int) -> str | None:
    """Return a text without blanks around it; None if the key is missing."""
    said = value.get(key)
    if said is None:
        return None
    if not isinstance(said, str):
        raise BadInput(f"{place}: {key} is {kind_of(said)}; write a text")
    if not (said := said.strip()):
        raise BadInput(f"{place}: {key} is empty; write one, or leave it out")
    if len(said) > most:
        raise BadInput(f"{place}: {key} has {len(said):,} characters; the most is {most:,}")
    if _UNSOUND.search(said):
        raise BadInput(f"{place}: {key} holds a NUL or half a character; take it out")
    return said


def _line(said: str | None) -> str | None:
    return said and " ".join(said.split())


def _video(place: str, value: Mapping[str, Any], known: _BoundVideos) -> str | None:
    said = value.get("video")
    if said is None:
        return None
    if not isinstance(said, str):
        raise BadInput(f"{place}: video is {kind_of(said)}; write its path in the folder")
    if (why := known.places.why_skipped(said)) is not None:
        raise BadInput(f"{place}: {quoted(said)} is not used: {quoted(why)}")
    if (video := known.places.id_of(said)) is None:
        raise BadInput(f"{place}: {quoted(said)} is no video in {known.folder}; write its path")
    return video


def _language(place: str, value: Mapping[str, Any]) -> str | None:
    said = value.get("language")
    if said is None:
        return None
    if not isinstance(said, str) or said not in LANGUAGES:
        codes = ", ".join(LANGUAGES)
        raise BadInput(f"{place}: language {quoted(said)} is not known; there are {codes}")
    return said


def _index(place: str, value: Mapping[str, Any]) -> int | None:
    said = value.get("index")
    if said is None:
        return None
    # True is an int in Python, and equals 1.
    if isinstance(said, bool) or not isinstance(said, int) or said not in PERSONAS:
        raise BadInput(
            f"{place}: index {quoted(said)} cannot be; 1 is close to the video, 2 less, 3 unrelated"
        )
    return said


def alike_in(text: str) -> str:
    """Return a text for comparison: in one case and with single blanks."""
    return " ".join(text.casefold().split())


def _refuse_twice(file: Path, users: list[BroughtUser]) -> None:
    seen: dict[tuple[str, str | None], int] = {}
    for user in users:
        first = seen.setdefault((alike_in(user.text), user.video), user.line)
        if first != user.line:
            raise BadInput(f"{file} line {user.line} is the user of line {first}; take one out")


def _refuse_crowds(file: Path, users: list[BroughtUser], known: _BoundVideos) -> None:
    """Raise BadInput for more users of one video than it has places."""
    there: dict[str, list[BroughtUser]] = {}
    for user in users:
        if user.video is None:
            continue
        others = there.setdefault(user.video, [])
        whose = quoted(known.paths[user.video])
        same = [other.line for other in others if other.index == user.index and user.index]
        if same:
            raise BadInput(
                f"{file} line {user.line}: {whose} has a user of index {user.index} by line "
                f"{same[0]}; give another index, or none"
            )
        if len(others) == len(PERSONAS):
            raise BadInput(
                f"{file} line {user.line}: {whose} has {len(PERSONAS)} users by line "
                f"{others[-1].line}, and no video has more; leave out its video to have it drawn"
            )
        others.append(user)


FILE = "users"
"""Name of the users in the run's file; with a video's id behind it, of those assigned to it."""


def users_text(file: UserFile | None) -> dict[str, str]:
    """Return the text that a new run keeps of the users brought to it, by its name there."""
    return {} if file is None else {FILE: write_body(file)}


def kept_file(store: Store) -> UserFile | None:
    """Return the users that were brought to a run; StoreError if they are damaged."""
    found = store.file(FILE)
    return read_body(UserFile, found.text) if found else None


def merged_users(kept: Sequence[UserFile | None]) -> UserFile | None:
    """Return the users of all files that were brought to runs; None for at most one file."""
    # Of one file the same bytes may stand for users of other videos, in each run its own.
    files = list({write_body(file): file for file in kept if file is not None}.values())
    if len(files) < 2:
        return None
    digests = list(dict.fromkeys(file.sha256 for file in files))
    users = dict.fromkeys(write_body(user) for file in files for user in file.users)
    return UserFile(
        name=", ".join(dict.fromkeys(file.name for file in files)),
        sha256=digests[0] if len(digests) == 1 else digest(canonical_json(digests)),
        users=tuple(read_body(BroughtUser, user) for user in users),
    )


def with_users(
    settings: RunSettings, found: Findings, folder: Path
) -> tuple[RunConfig, UserFile | None]:
    """Return the configuration of a run that begins, and the users brought to it; or BadInput."""
    if settings.personas is None:
        return settings.config, None
    users = read_users(settings.personas, found, folder)
    return settings.config.model_copy(update={"personas": users.sha256}), users


def changed_users(store: Store, begun_with: str | None, file: Path | None) -> tuple[str, ...]:
    """Return a line about a file of users that changed since the run began, if it did.

    Args:
        store: of the run; StoreError where it lacks the users that it began with.
        begun_with: digest of the file that it was begun with; None: it has no such users.
        file: what was named now, if anything was.
    """
    if begun_with is None:
        return ()
    if kept_file(store) is None:
        raise StoreError(
            f"the run has lost the users that it began with; pass another {option('out')}"
        )
    if file is None or digest_of(file) == begun_with:
        return ()
    return (
        f"{safe(str(file))} is not the file that this run began with; the recorded users are used",
    )


class Seated(Record):
    """The users that were brought for one video."""

    users: dict[int, BroughtUser]
    """Place from 1 to 3 to its user; other places have invented users."""

    @property
    def is_full(self) -> bool:
        """Whether all places are taken, so that no user is invented."""
        return len(self.users) == len(PERSONAS)


NOBODY = Seated(users={})


def keep_seats(store: Store, added: Sequence[Video], *, seed: int) -> None:
    """Write down the users of videos that are about to be added."""
    if (file := kept_file(store)) is None:
        return
    # Who was drawn for earlier videos counts, so that draws stay even in a run that grows.
    before = [seats_of(store, video) for video in store.video_ids()]
    drawn = seats(file, added, seed=seed, before=before)
    store.put_files({f"{FILE}/{video}": write_body(seated) for video, seated in drawn})


def seats_of(store: Store, video: str) -> Seated:
    """Return the users brought for a video; none if the run has no file of users."""
    found = store.file(f"{FILE}/{video}")
    return read_body(Seated, found.text) if found else NOBODY


def personas_of(store: Store, video: str) -> dict[int, Persona]:
    """Return the users brought for a video as personas, by place."""
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
    """Yield the users of each video, in the given order.

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
    """Return the users bound to a video, by place."""
    # Those with an index first, since their places are fixed.
    ordered = sorted(bound, key=lambda user: user.index is None)
    users: dict[int, BroughtUser] = {}
    for user in ordered:
        users[user.index or next(place for place in PERSONAS if place not in users)] = user
    return users


class _Decks:
    """A heap of users for each place, with those drawn least often on top."""

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
        """Return the user for a place beside others; None if nobody fits."""
        heap = self._heaps[place]
        there = {alike_in(user.text) for user in beside}
        passed = []
        found = None
        while heap and found is None:
            card = heapq.heappop(heap)
            user = self._by_line[card[-1]]
            # The user was drawn for another place since: the card goes back with what is so now.
            if card[0] != self._times[user.line]:
                heapq.heappush(heap, self._card(user))
            elif alike_in(user.text) in there:
                passed.append(card)
            else:
                self._times[user.line] += 1
                heapq.heappush(heap, self._card(user))
                found = user
        # Only now, or the next card drawn would be the same again.
        for card in passed:
            heapq.heappush(heap, card)
        return found


PLAIN = {1: "P1 close", 2: "P2 less close", 3: "P3 unrelated"}
"""Names in a board by persona of invented users, and of brought ones with an index."""
BROUGHT = "brought"


@dataclass(frozen=True)
class Users:
    """Where the users of a run come from."""

    file: str | None
    """Name of the file of users; None: all are invented."""
    in_file: int
    """Number of users in that file."""
    not_drawn: int
    """Users of the file that ask about no video of the run."""
    brought: int
    """Places of the run's videos, three each, that users of the file take."""
    invented: int
    """Places with invented users."""
    asked_again: int | None
    """Videos whose users were invented anew since some were alike; None: not checked."""
    still_alike: int | None
    """Videos among these whose users are still alike."""

    def as_lines(self) -> Iterator[str]:
        """Yield lines for a person; none if all users are invented and nothing was checked."""
        if self.file is not None:
            rest = f", {self.not_drawn:,} of them drawn for no video" if self.not_drawn else ""
            yield (
                f"users: {self.brought:,} of {self.brought + self.invented:,} places are taken by "
                f"the {self.in_file:,} of {safe(self.file)}{rest}; {self.invented:,} are invented"
            )
        if self.asked_again is not None:
            yield (
                f"users alike: invented anew on {_videos(self.asked_again)}, still alike on "
                f"{self.still_alike or 0:,}"
            )


def users_of(store: Store, *, looks: bool) -> Users:
    """Return where the users of a run come from; `looks`: alike ones are invented anew."""
    file = kept_file(store)
    videos = store.video_ids()
    seated = [seats_of(store, video) for video in videos] if file else []
    users = [write_body(user) for one in seated for user in one.users.values()]
    again = [video for video in videos if _asked_again(store, video)] if looks else []
    alike = sum(bool(repeated_users(_texts(store, video))) for video in again)
    in_file = len(file.users) if file else 0
    return Users(
        file=file.name if file else None,
        in_file=in_file,
        not_drawn=in_file - len(set(users)),
        brought=len(users),
        invented=len(PERSONAS) * len(videos) - len(users),
        asked_again=len(again) if looks else None,
        still_alike=alike if looks else None,
    )


def users_lines(store: Store) -> list[str]:
    """Return the lines on the users of a run that are said before it is played."""
    return list(users_of(store, looks=False).as_lines()) if kept_file(store) else []


class RunUser(PublishedRecord):
    """A user of a run, at its place of its video."""

    video: str
    """Id of its video."""
    persona: int
    """Its place, which battles are called by: 1 to 3."""
    text: str
    """Who it is."""
    line: int | None
    """Where it stands in the file that it was [brought](#a-user) in; null: it was invented."""
    is_bound: bool
    """The file binds it to this video; else it was drawn, or invented."""
    index: int | None
    """1 close to the content, 2 less close, 3 unrelated; null where the file does not say."""
    name: str | None
    """Its name in the file, or null."""
    language: str | None
    """Code of what it asks in, as it was brought with it or drawn; null where neither was."""


def run_users(store: Store, battles: Iterable[Battle]) -> Iterator[RunUser]:
    """Yield the users of a run, video by video; invented ones as far as they have a battle."""
    played = {(b.video, b.persona): b for b in battles if b.persona_text}
    for video in store.video_ids():
        seated = seats_of(store, video).users
        for place in PERSONAS:
            user = seated.get(place)
            battle = played.get((video, place))
            language = battle.language if battle else None
            if user is not None:
                said = user.model_dump(exclude={"video", "language"})
                yield RunUser(
                    **{"video": video, "persona": place, "is_bound": user.video is not None},
                    **{**said, "language": user.language or language},
                )
            elif battle is not None:
                yield RunUser(
                    **{"video": video, "persona": place, "text": battle.persona_text, "line": None},
                    **{"is_bound": False, "index": place, "name": None, "language": language},
                )


def _asked_again(store: Store, video: str) -> bool:
    nonces = (row.nonce for row in store.journal.calls(video))
    # Ordinals 0 and 1 are the first request and its repair.
    return any(nonce.role == "persona" and nonce.ordinal > 1 for nonce in nonces)


def _texts(store: Store, video: str) -> list[str]:
    firsts = (store.battle(slot_id(video, persona, 0)) for persona in PERSONAS)
    return [battle.persona_text for battle in firsts if battle and battle.persona_text]


def _videos(count: int) -> str:
    return f"{count:,} video{'' if count == 1 else 's'}"


def source_of(store: Store, battle: Battle) -> str | None:
    """Return where the user of a battle was brought from; None if it was invented."""
    user = seats_of(store, battle.video).users.get(battle.persona)
    if user is None:
        return None
    file = kept_file(store)
    name = f", named {user.name}" if user.name else ""
    how = "drawn" if user.video is None else "bound to this video"
    return f"brought in {file.name if file else '?'} line {user.line}{name}, {how}"


def slices_of(store: Store) -> Callable[[Battle], Iterable[str]] | None:
    """Return a function that gives a battle's slices by persona; None if no users were brought.

    A brought user stands with its name, else with its index, else with all who have neither.
    """
    if kept_file(store) is None:
        return None
    seated = {video: seats_of(store, video).users for video in store.video_ids()}

    def slice_of(battle: Battle) -> Iterable[str]:
        user = seated.get(battle.video, {}).get(battle.persona)
        if user is None:
            return [PLAIN.get(battle.persona, "unknown")]
        if user.name is not None:
            return [f"{BROUGHT}: {user.name}"]
        return [BROUGHT if user.index is None else PLAIN[user.index]]

    return slice_of
