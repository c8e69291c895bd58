"""What `arena doctor --engine ray` finds: each machine of a cluster, and why it could not play."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.cluster.connection import Node, connected, own_version
from videoautoarena.runs.formats.record_json import value_json
from videoautoarena.runs.run.rundir.reader import counted

LEAST_FREE_BYTES = 1 << 30
"""A disk with less free room than this for the frame cache is pointed out."""
NAMED = 12
"""The most machines without a fault that are listed one by one; faulty ones always are."""


class Cluster(Protocol):
    """What this module needs of a connection: its machines, and what each says of itself."""

    def nodes(self) -> list[Node]:
        """Return the machines."""

    async def probe(
        self, node: Node, names: Sequence[str], paths: Sequence[str], /
    ) -> dict[str, Any] | None:
        """Return what a machine says of itself."""


@dataclass(frozen=True)
class Examined:
    """A machine, by its own account; None stands for what nobody knows."""

    SHOWN: ClassVar = (
        *("node", "cpus", "reachable", "version", "python", "ray", "keys_missing", "videos_there"),
        *("cache_free_bytes", "faults", "can_play"),
    )
    node: str
    """Name of the machine."""
    cpus: int
    """Number of its processors."""
    reachable: bool
    """Whether it answered."""
    version: str | None
    """Version of videoautoarena there."""
    python: str | None
    """Its version."""
    ray: str | None
    """Its version."""
    keys_missing: tuple[str, ...]
    """For each model that lacks a key there: its variable, or those of which one is enough."""
    videos_there: bool | None
    """Whether the folder of videos is there; None without `--videos`."""
    cache_free_bytes: int | None
    """Free bytes where frames are kept."""
    faults: tuple[str, ...]
    """Why it would be left out, or could play no video."""

    @property
    def can_play(self) -> bool:
        """Whether it would play."""
        return not self.faults


@dataclass(frozen=True)
class Examination:
    """All machines of a cluster; `refusal` says why no cluster can be used."""

    machines: tuple[Examined, ...]
    refusal: str = ""

    @property
    def missing(self) -> list[str]:
        """What keeps a run from starting there; empty as long as one machine can play."""
        if self.refusal:
            return [self.refusal]
        if any(not one.faults for one in self.machines):
            return []
        if not self.machines:
            return ["no machine of the cluster has processors to play on"]
        first = self.machines[0]
        return [f"no machine of the cluster can play ({first.node}: {first.faults[0]})"]

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `cluster` of `arena doctor --json`."""
        return {"machines": value_json(self.machines), "refusal": self.refusal or None}

    def entries(self) -> Iterator[tuple[str, str]]:
        """Yield title and text of each line for a person."""
        if self.refusal:
            yield "cluster", "CANNOT be used"
            return
        faulty = [one for one in self.machines if one.faults]
        sound = [one for one in self.machines if not one.faults]
        can = f"{len(sound)} of {counted(len(self.machines), 'machine')} can play"
        yield "cluster", can
        for one in faulty:
            yield "", f"NOT {one.node}: {'; '.join(one.faults)}"
        for one in sound[:NAMED]:
            yield "", _described(one)
        if len(sound) > NAMED:
            yield "", f".. and {len(sound) - NAMED} more that can play"


async def examine_cluster(
    address: str | None, keys: Mapping[str, Sequence[str]], videos: Path | None
) -> Examination:
    """Return what the machines of a cluster say; `keys` maps models to the names of their keys."""
    try:
        with connected(address) as cluster:
            return await examine_machines(cluster, keys, videos)
    except BadInput as wrong:
        return Examination((), str(wrong))


async def examine_machines(
    cluster: Cluster, keys: Mapping[str, Sequence[str]], videos: Path | None
) -> Examination:
    """Return what each machine says of itself, asked all at once; of keys, names only."""
    names = list(dict.fromkeys(name for some in keys.values() for name in some))
    paths = [] if videos is None else [os.fspath(videos.resolve())]

    async def examine(node: Node) -> Examined:
        return _examined(node, await cluster.probe(node, names, paths), keys, paths)

    return Examination(tuple(await asyncio.gather(*map(examine, cluster.nodes()))))


def _examined(
    node: Node,
    found: Mapping[str, Any] | None,
    keys: Mapping[str, Sequence[str]],
    paths: Sequence[str],
) -> Examined:
    if found is None:
        silent = ("it does not answer",)
        return Examined(node.name, node.cpus, False, None, None, None, (), None, None, silent)
    lacking = {model: some for model, some in keys.items() if some and _lacks(found, some)}
    gone = [path for path in paths if path in found["missing"]]
    faults = (
        *_versions(found),
        *(f"{model} needs a key; set {' or '.join(some)}" for model, some in lacking.items()),
        *(f"the folder {path!a} is not there" for path in gone),
    )
    return Examined(
        node=node.name,
        cpus=node.cpus,
        reachable=True,
        version=found.get("version"),
        python=found["python"],
        ray=found["ray"],
        keys_missing=tuple(dict.fromkeys(" or ".join(some) for some in lacking.values())),
        videos_there=not gone if paths else None,
        cache_free_bytes=found["free_bytes"],
        faults=faults,
    )


def _lacks(found: Mapping[str, Any], names: Sequence[str]) -> bool:
    return set(names) <= set(found["empty"])


def _versions(found: Mapping[str, Any]) -> Iterator[str]:
    if "error" in found:
        yield f"videoautoarena cannot be used there ({found['error']}); install it there"
    elif found["version"] != own_version():
        yield f"it has videoautoarena {found['version']}, this machine {own_version()}"


def _described(one: Examined) -> str:
    python = f"Python {one.python}"
    if one.python != platform.python_version():
        python += f" (here {platform.python_version()})"
    free = one.cache_free_bytes or 0
    room = f"{free / (1 << 30):.1f} GiB free for the cache"
    if free < LEAST_FREE_BYTES:
        room = f"ONLY {room}"
    versions = f"videoautoarena {one.version}, {python}, Ray {one.ray}"
    return f"{one.node}: {counted(one.cpus, 'processor')}, {versions}; {room}"
