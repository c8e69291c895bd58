"""What the user of this machine agreed to: where calls of a run go, what is sent, which videos.

A run's file may come from anybody. It names addresses, variables that hold keys, classes to import
and a folder. None of them counts unless this machine says the same: in its arena.toml, in a flag,
or in the list of what was agreed to before. That list is kept by what was agreed to and not by the
run, so that a copy, a merged run or one under a new name asks nothing again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from videoautoarena.agents.limits.prices import is_own
from videoautoarena.agents.models.spec import check_key_env
from videoautoarena.memory.records.digests import canonical_json, digest
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Record
from videoautoarena.memory.records.remedies import option
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.config.arena_file import ArenaFile, arena_file
from videoautoarena.runs.run.config.cast import (
    CastEntry,
    Destination,
    check_url,
    contestant_of,
    embedder_of,
)
from videoautoarena.runs.run.config.run_config import RunConfig
from videoautoarena.runs.run.config.state_files import read_state, rewriting, state_file

_FILE = "agreed.json"
"""The file of agreements in this machine's state."""
# 128 bits: other places with the same digest cannot be found.
DIGITS = 32
"""Hex digits of the digest that names an agreement."""
_LONGEST = 300
"""The most characters of a place; what cannot be shown whole cannot be agreed to."""
_MOST = 40
"""The most places that can be asked about at once."""


class TrustAgreement(Record):
    """Where frames may go, what is imported and sent along, and the folder they come from."""

    destinations: tuple[Destination, ...] = ()
    videos: str | None = None
    """The folder of videos; None if the command names it, or needs none."""

    @property
    def digest(self) -> str:
        """The digest that names it, whatever the run is called."""
        return digest(canonical_json(self.model_dump(mode="json")))[:DIGITS]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to agree to."""
        return not self.destinations and self.videos is None

    def covers(self, other: TrustAgreement) -> bool:
        """Return whether this agreement includes the other."""
        is_same = other.videos is None or other.videos == self.videos
        return is_same and all(one in self.destinations for one in other.destinations)


@dataclass(frozen=True)
class RunTrust:
    """What the user of this machine says now about a run that goes on."""

    config: Path | None = None
    """A configuration file; None: ./arena.toml, if it is there."""
    digest: str | None = None
    """The digest that `--trust-run` gave."""


NO_TRUST = RunTrust()


def agreed(
    config: RunConfig,
    names: Iterable[str],
    *,
    out: Path,
    stored: Path | None = None,
    trust: RunTrust = NO_TRUST,
) -> RunConfig:
    """Return a run's settings in which these models and their helpers may be called.

    `stored` is the folder of videos where the run's file in `out` alone names it. What this
    machine's arena.toml says of a model of the same name and kind counts in place of what the file
    says. Imports no class of the file, and reads no variable but those of providers' addresses.

    Raises:
        BadInput: the file leads where nobody here has agreed to; it lists all of it.
    """
    names = frozenset(names)
    # Whoever finds clips for a model is called along with it.
    called = sorted(names | config.helpers(names))
    received = {name: config.cast[name] for name in called if config.cast[name].is_received}
    # The file is read only where it can matter: a broken one keeps nobody from a run that leads
    # nowhere.
    is_asked = any(map(_leads_away, received.values()))
    file = arena_file(trust.config) if is_asked else ArenaFile()
    own = {name: _as_configured(name, entry, file) for name, entry in received.items()}
    still = [entry for entry in own.values() if entry.is_received]
    # Frames of a folder that the file names are listed with wherever they go, also to a provider.
    if stored is None:
        still = [entry for entry in still if _leads_away(entry)]
    asked = TrustAgreement(
        destinations=_places(entry.destination for entry in still),
        videos=None if stored is None else str(stored.absolute()),
    )
    if not asked.is_empty and not _is_known(asked):
        _check_places(out, asked)
        if trust.digest != asked.digest:
            raise BadInput(_question(out, asked, own, typed=trust.digest))
        _keep(asked)
    free = {name: _as_agreed(entry) for name, entry in own.items()}
    return config.model_copy(update={"cast": {**config.cast, **free}})


def remember(config: RunConfig, folder: Path | None, names: Iterable[str] | None = None) -> None:
    """Keep that these models, or all, were called for the videos of a folder.

    If nothing can be kept, later commands ask again.
    """
    called = config.cast if names is None else names
    agreement = TrustAgreement(
        destinations=_places(config.cast[name].destination for name in called),
        videos=_text(folder),
    )
    _keep(agreement)


def _keep(agreement: TrustAgreement) -> None:
    if agreement.is_empty or agreement.digest in _read():
        return
    with suppress(OSError, RuntimeError), rewriting(state_file(_FILE)) as file:
        # Read again under the lock: another process may have added one since.
        kept = {**_read(), agreement.digest: agreement}
        lists = {name: one.model_dump(mode="json") for name, one in sorted(kept.items())}
        file.write_text(canonical_json({"schema": 1, "lists": lists}) + "\n", encoding="utf-8")


def is_agreed_folder(folder: Path) -> bool:
    """Return whether a folder that a run's file names was ever named by a user here."""
    text = str(folder.absolute())
    return any(one.videos == text for one in _read().values())


def _as_agreed(entry: CastEntry) -> CastEntry:
    """Return an entry that may be called; prices from the table are looked up anew."""
    price = entry.price if is_own(entry.price) else None
    return entry.model_copy(update={"is_received": False, "price": price})


def _leads_away(entry: CastEntry) -> bool:
    """Return whether calls go anywhere but to a provider's own address with its own key."""
    return entry.destination is not None and not entry.destination.is_own


def _as_configured(name: str, entry: CastEntry, file: ArenaFile) -> CastEntry:
    """Return an entry with the destination that this machine's file gives to a model of its name.

    An entry that leads where some model of that file leads counts as agreed to, too.
    """
    is_embedder = entry.model.startswith("embeddings:")
    # Its own name first: that table alone also says how the model is reached.
    for alias in dict.fromkeys((name, *file.models)):
        if file.table(alias) is None:
            continue
        # A table that cannot be used gives leave to nothing.
        with suppress(BadInput):
            here = (
                embedder_of(alias, file, place=f"models.{alias}")
                if is_embedder
                else contestant_of(alias, file)
            )
            if alias == name and here.model == entry.model:
                places = {key: getattr(here, key) for key in _PLACES}
                return entry.model_copy(update={**places, "is_received": False})
            if here.destination == entry.destination:
                return entry.model_copy(update={"is_received": False})
    return entry.model_copy(update={"is_received": False}) if entry.is_offline else entry


_PLACES = ("endpoint", "base_url", "key_env", "declared", "timeout_s", "price")
"""Fields that say where a model is served and for how much, not what it is."""


def _places(found: Iterable[Destination | None]) -> tuple[Destination, ...]:
    """Return each destination once, in an order that follows from the destinations alone."""
    by_text = {canonical_json(one.model_dump(mode="json")): one for one in found if one is not None}
    return tuple(by_text[text] for text in sorted(by_text))


def _text(folder: Path | None) -> str | None:
    """Return a folder as a run's file names it; None if it is None, or its name is no text."""
    if folder is None:
        return None
    text = str(folder.resolve())
    return text if text.encode(errors="replace").decode() == text else None


def _check_places(out: Path, asked: TrustAgreement) -> None:
    """Raise BadInput for what no arena.toml may hold, such as a user name in an address."""
    for place in asked.destinations:
        if place.address is not None:
            # A user name before an address's host makes it look like another host.
            check_url(safe(str(out)), place.address)
        if place.key_env is not None:
            check_key_env(str(out), place.key_env)


def _question(
    out: Path, asked: TrustAgreement, cast: Mapping[str, CastEntry], *, typed: str | None
) -> str:
    """Return the line that says where a run leads, and how to agree to that."""
    remedies = []
    if not all(place.is_own for place in asked.destinations):
        remedies.append("give its models tables of their names in arena.toml")
    if asked.videos is not None:
        remedies.append(f"name their folder with {option('videos')}")
    remedy = " and ".join(remedies)
    places = []
    for place in asked.destinations:
        users = ", ".join(quote(name) for name, one in cast.items() if one.destination == place)
        # Letters that look like others must not pass for them.
        there = str(place).encode("ascii", "backslashreplace").decode()
        places.append(f"calls to {users} go {there}")
    if asked.videos is not None:
        places.append(f"videos are read from {quote(asked.videos)}")
    told = [safe(place) for place in places]
    run = safe(str(out))
    if len(told) > _MOST or max(map(len, told)) > _LONGEST:
        return f"{run} leads to more places than can be shown here; {remedy}"
    said = "; ".join(told)
    other = (
        "" if typed is None else f"{option('trust', safe(typed)[:DIGITS])} is for something else: "
    )
    return (
        f"{other}{run} was begun elsewhere or by an older version, and nobody here has agreed to "
        f"where it leads: {said}; to agree to all of this add {option('trust', asked.digest)}, "
        f"otherwise {remedy}"
    )


def _is_known(asked: TrustAgreement) -> bool:
    return any(one.covers(asked) for one in _read().values())


def _read() -> dict[str, TrustAgreement]:
    """Return agreements by digest; none if others could have written the file."""
    try:
        lists = _AgreementFile.model_validate_json(read_state(state_file(_FILE))).lists
    # Where there is no home, Path.home() raises RuntimeError.
    except (OSError, RuntimeError, ValidationError):
        return {}
    return {one.digest: one for one in lists.values()}


class _AgreementFile(BaseModel):
    """The file of agreements."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    lists: dict[str, TrustAgreement] = {}
