"""What a run learnt of servers that take less than they were sent, and who saw too little."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter

from videoautoarena.agents.models.spec import usual_frames
from videoautoarena.agents.offline import KINDS
from videoautoarena.memory.records.digests import canonical_json
from videoautoarena.memory.records.records import SCOUTS, Learnt, Role
from videoautoarena.memory.store.journal import Sent
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.call_facts import Post, post_of

if TYPE_CHECKING:
    from videoautoarena.agents.limits.server_limits import ServerLimits
    from videoautoarena.runs.run.config.run_config import RunConfig

LIMITS_FILE = "local/limits"
"""What servers turned out to take; no part of the run, since what a call was made from is in it."""
_FORM = TypeAdapter(tuple[Learnt, ...])


class Shortfall(NamedTuple):
    """A model that was sent fewer frames than it was to see."""

    model: str
    role: Post
    """As what."""
    least: int
    """Frames of one of those calls."""
    most: int
    wanted: int
    calls: int
    """That were answered from fewer."""
    of: int
    """That were answered at all."""

    @property
    def saw(self) -> str:
        """Return it in few words: `saw 4 of 64 frames`."""
        seen = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"saw {seen} of {self.wanted} frames"

    @property
    def line(self) -> str:
        """Return it as a line for a person."""
        of = "all its" if self.calls == self.of else f"{self.calls} of {self.of}"
        return f"{safe(self.model)} ({self.role}) {self.saw} in {of} calls"


def kept_limits(store: Store) -> tuple[Learnt, ...]:
    """Return what was learnt of servers in all processes of a run; StoreError if it is damaged."""
    return store.file_as(_FORM, LIMITS_FILE) or ()


def limits_of(store: Store) -> ServerLimits:
    """Return the limits that a run goes on with, and which it keeps whenever one is learnt."""
    from videoautoarena.agents.limits.server_limits import ServerLimits

    def keep(learnt: Iterable[Learnt]) -> None:
        every = [one.model_dump(mode="json") for one in learnt]
        store.put_file(LIMITS_FILE, canonical_json(every), replace=True)

    return ServerLimits.of(kept_limits(store), keep)


def limit_lines(learnt: Iterable[Learnt]) -> Iterator[str]:
    """Yield what was learnt of servers, a line for each thing."""
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
    """Return which models saw fewer frames than they were to, by name, then role.

    Trials are left out: what they show may be no frames of the run.
    """

    def wanted(entry: dict[str, Any], sent: Sent) -> int:
        return min(sent.shown, usual_frames(entry.get("max_frames"), sent.role))

    return _fewer(store, wanted)


def unequal_frames(store: Store) -> list[Shortfall]:
    """Return which contestants are sent fewer frames than others, since their own limit says so.

    One that is sent none is left out, and so is a stand-in, of which few frames are its part. One
    whose server takes fewer still is among the `shortfalls` instead.
    """
    manifest = store.manifest()
    cast = manifest.get("cast") or {}
    limits = [(cast.get(name) or {}).get("max_frames") for name in manifest.get("models") or ()]
    most = max((usual_frames(limit, "contestant") for limit in limits), default=0)

    def wanted(entry: dict[str, Any], sent: Sent) -> int:
        maker, _, kind = str(entry.get("model")).partition(":")
        is_its_part = maker == "offline" and entry.get("max_frames") == KINDS.get(kind)
        is_compared = sent.role == "contestant" and sent.frames > 0 and not is_its_part
        return min(sent.shown, most) if is_compared else 0

    told = {one.model for one in shortfalls(store) if one.role == "contestant"}
    return [one for one in _fewer(store, wanted) if one.model not in told]


def _fewer(store: Store, wanted_of: Callable[[dict[str, Any], Sent], int]) -> list[Shortfall]:
    cast = store.manifest().get("cast") or {}
    short: dict[tuple[str, Post], Shortfall] = {}
    answered: dict[tuple[str, Post], int] = {}
    for sent in store.journal.sent_frames():
        entry = cast.get(sent.alias)
        if entry is None or sent.role in SCOUTS:
            continue
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
    """Yield who is sent fewer frames than it would be, since its server's limit says so."""
    for alias in config.cast.keys() - config.scouts:
        model = config.model_of(alias)
        role: Role = "contestant" if alias in config.models else "judge"
        wanted = min(config.sampling.frames, usual_frames(model.max_frames, role))
        sent = min(wanted, model.frame_limit(role))
        if sent < wanted:
            yield f"{safe(alias)} is sent {sent} of {wanted} frames (limits.images_per_request)"
