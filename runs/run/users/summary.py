"""Where the users of a run come from, in figures and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from videoautoarena.graph.slot_ids import PERSONAS, slot_id
from videoautoarena.memory.records.digests import write_body
from videoautoarena.memory.records.records import Battle, Published
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.users.keeping import kept_file
from videoautoarena.runs.run.users.seats import repeated_users, seats_of

PLAIN = {1: "P1 close", 2: "P2 less close", 3: "P3 unrelated"}
"""What a board by persona calls users that were invented, and those that have an index."""
BROUGHT = "brought"


@dataclass(frozen=True)
class Users:
    """Where the users of a run come from."""

    file: str | None
    """Name of the file they were brought in; None: all are invented."""
    in_file: int
    """Users of that file."""
    not_drawn: int
    """Those of them that ask about no video of the run."""
    brought: int
    """Places of the run's videos that they take, three a video."""
    invented: int
    """The other places."""
    asked_again: int | None
    """Videos whose users were invented anew, since some were alike; None: nobody looked."""
    still_alike: int | None
    """Those of them whose users are alike all the same."""

    def as_lines(self) -> Iterator[str]:
        """Yield it as lines for a person; none where all are invented and nobody looked."""
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
    """Return where the users of a run come from; `looks` where alike ones are invented anew."""
    file = kept_file(store)
    videos = [video.id for video in store.videos()]
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
    """Return what to say of the users of a run before it is played."""
    return list(users_of(store, looks=False).as_lines()) if kept_file(store) else []


class RunUser(Published):
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
    """Of the file, or null."""
    language: str | None
    """Code of what it asks in, as it was brought with it or drawn; null where neither was."""


def run_users(store: Store, battles: Iterable[Battle]) -> Iterator[RunUser]:
    """Yield the users of a run, video by video; invented ones as far as they have a battle."""
    played = {(b.video, b.persona): b for b in battles if b.persona_text}
    for video in (video.id for video in store.videos()):
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
    return any(nonce.role == "persona" and nonce.ordinal > 1 for nonce in nonces)


def _texts(store: Store, video: str) -> list[str]:
    firsts = (store.battle(slot_id(video, persona, 0)) for persona in PERSONAS)
    return [battle.persona_text for battle in firsts if battle and battle.persona_text]


def _videos(count: int) -> str:
    return f"{count:,} video{'' if count == 1 else 's'}"


def source_of(store: Store, battle: Battle) -> str | None:
    """Return where the user of a battle was brought from; None where it was invented."""
    user = seats_of(store, battle.video).users.get(battle.persona)
    if user is None:
        return None
    file = kept_file(store)
    name = f", named {user.name}" if user.name else ""
    how = "drawn" if user.video is None else "bound to this video"
    return f"brought in {file.name if file else '?'} line {user.line}{name}, {how}"


def slices_of(store: Store) -> Callable[[Battle], Iterable[str]] | None:
    """Return what slice by persona a battle stands in; None where no users were brought.

    A brought user stands with its name, else with its index, else with all who have neither.
    """
    if kept_file(store) is None:
        return None
    seated = {video.id: seats_of(store, video.id).users for video in store.videos()}

    def slice_of(battle: Battle) -> Iterable[str]:
        user = seated.get(battle.video, {}).get(battle.persona)
        if user is None:
            return [PLAIN.get(battle.persona, "unknown")]
        if user.name is not None:
            return [f"{BROUGHT}: {user.name}"]
        return [BROUGHT if user.index is None else PLAIN[user.index]]

    return slice_of
