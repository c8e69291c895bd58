"""Reading a file of users: a JSON object a line, checked before anything of it is used.

What users say is anybody's text: it is kept as it stands, and made harmless where it is shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from videoautoarena.agents.prompting.languages import LANGUAGES
from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Record
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import decode, kind_of, oddity, parse_json, read_bytes

if TYPE_CHECKING:
    from videoautoarena.video.folder.find import Findings, Places

LARGEST = 2**26
"""Bytes of a file of users."""
LONGEST_TEXT, LONGEST_NAME = 4_000, 60
"""Characters; a text stands in every prompt of its user, and plans count on no longer one."""
MOST_NAMES = 40
"""Each is rated apart in a board by persona."""
KEYS = ("text", "video", "language", "index", "name")
_UNSOUND = re.compile("[\x00\ud800-\udfff]")


class BroughtUser(Record):
    """One user of the file."""

    line: int
    """Where it stands, from 1."""
    text: str
    video: str | None = None
    """Id of the video that it is bound to; None: it is drawn to videos."""
    language: str | None = None
    """The code of the language that it asks in."""
    index: int | None = None
    """1 close to the content, 2 less close, 3 unrelated; None where the file does not say."""
    name: str | None = None
    """What slices of a board by persona call it; several may share one."""


class UserFile(Record):
    """A file of users as it was read; this is what a run keeps of it."""

    name: str
    """Without its folder."""
    sha256: str
    """Of the file's bytes."""
    users: tuple[BroughtUser, ...]


def digest_of(file: Path) -> str | None:
    """Return the sha256 of a file's bytes; None where it cannot be read or is too large."""
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return None
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def read_users(file: Path, found: Findings, folder: Path) -> UserFile:
    """Return the users in a file, those of a video with its id.

    Args:
        file: JSON lines of `text` and, where they are known, `video` (relative to the folder),
            `language` (a code of `LANGUAGES`), `index` (1, 2 or 3) and `name`.
        found: the videos that a user can be bound to, and what else lies in their folder.
        folder: where they lie.

    Raises:
        BadInput: the first line that cannot be used, a user that is there twice, or more of one
            video than it has places.
    """
    from videoautoarena.video.folder.find import Places

    if not file.is_file():
        raise BadInput(f"{file} is no file; pass JSON lines of users with --personas")
    if file.stat().st_size > LARGEST:
        raise BadInput(f"{file} is larger than {LARGEST >> 20} MB; pass a file of users")
    content = read_bytes(file)
    known = _Folder(folder, Places(found), {video.id: video.path for video in found.videos})
    users = [_user(file, number, row, known) for number, row in _rows(decode(content, str(file)))]
    _refuse_twice(file, users)
    _refuse_crowds(file, users, known)
    if len({user.name for user in users if user.name}) > MOST_NAMES:
        raise BadInput(
            f"{file} has more than {MOST_NAMES} names; a name stands for a group of users"
        )
    return UserFile(name=file.name, sha256=hashlib.sha256(content).hexdigest(), users=tuple(users))


class _Folder(NamedTuple):
    """What a user may be bound to."""

    folder: Path
    places: Places
    paths: Mapping[str, str]
    """Id to the path of the video."""


def _rows(text: str) -> Iterator[tuple[int, str]]:
    # Not splitlines: a line of JSON may hold the other marks that it takes for line ends.
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip():
            yield number, row


def _user(file: Path, number: int, row: str, known: _Folder) -> BroughtUser:
    place = f"{file} line {number}"
    try:
        value = parse_json(row, place)
    except BadInput as wrong:
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
    """Return a text without blanks around it; None where it is not there."""
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


def _video(place: str, value: Mapping[str, Any], known: _Folder) -> str | None:
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
    if isinstance(said, bool) or not isinstance(said, int) or said not in PERSONAS:
        raise BadInput(
            f"{place}: index {quoted(said)} cannot be; 1 is close to the video, 2 less, 3 unrelated"
        )
    return said


def alike_in(text: str) -> str:
    """Return by what a text is known for the same: case and blanks do not matter."""
    return " ".join(text.casefold().split())


def _refuse_twice(file: Path, users: list[BroughtUser]) -> None:
    seen: dict[tuple[str, str | None], int] = {}
    for user in users:
        first = seen.setdefault((alike_in(user.text), user.video), user.line)
        if first != user.line:
            raise BadInput(f"{file} line {user.line} is the user of line {first}; take one out")


def _refuse_crowds(file: Path, users: list[BroughtUser], known: _Folder) -> None:
    """Refuse more users of one video than it has places."""
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
