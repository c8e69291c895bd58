"""What `arena doctor` checks and prints: packages, keys, cache, videos, models, their answers."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.providers.catalogue import provider_keys
from videoautoarena.agents.providers.own_credentials import OwnCredentials
from videoautoarena.agents.transport.redaction import NAMES, is_traced, trace_host
from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.memory.records.records import Role, SkippedFile
from videoautoarena.runs.console.media.live_check import PROXIES, ModelCheck, lacking_key, verdict
from videoautoarena.runs.formats.record_json import record_json
from videoautoarena.runs.formats.terminal import out, safe
from videoautoarena.runs.run.config.disclosure import (
    calls_at_most,
    embedders,
    frames_of,
    most_frames,
    remote_notice,
)
from videoautoarena.runs.run.config.run_config import RunConfig, refuse_missing, resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import counted, named, one_line

if TYPE_CHECKING:
    from videoautoarena.video.folder.find import Duplicate


US = "videoautoarena"
LONGEST_REASON = 300
"""The most characters of a server's words that are repeated."""
Visit = Callable[[Sequence[Model], Mapping[str, int]], list[ModelCheck]]
"""Asks models a small question, with so many frames by name; returns a check of each remote one."""


class InstalledDecoder(NamedTuple):
    """The decoders of videos; None for one that is not installed."""

    name: str
    version: str | None
    decord: str | None


class FrameCacheState(NamedTuple):
    """The state of the frame cache."""

    folder: str
    writable: bool
    videos: int
    entries: int
    bytes: int


class DiskSpace(NamedTuple):
    """Room on the disk of the working folder."""

    free_bytes: int


class TerminalFacts(NamedTuple):
    """What is known of standard output."""

    is_terminal: bool
    columns: int
    colours: str | None
    encoding: str
    no_color: bool


class TracingState(NamedTuple):
    """Whether requests go to LangSmith, to which host, and by which variables."""

    on: bool
    host: str | None
    set: list[str]


class UsableFile(NamedTuple):
    """A video that a run could use."""

    path: str
    duration_s: float
    width_px: int
    height_px: int
    codec: str


@dataclass(frozen=True)
class CheckedFolder:
    """The videos of a folder, and files that cannot be used."""

    SHOWN: ClassVar = ("folder", "usable", "skipped", "duplicates")
    folder: str
    usable: list[UsableFile]
    skipped: list[SkippedFile]
    duplicates: list[Duplicate]
    problems: dict[str, tuple[str, ...]]
    """Path of a usable video to its problems; not in JSON, where a run's status has them."""


@dataclass(frozen=True)
class CastMember:
    """A model of the cast; `key_set` is None if it needs no key."""

    SHOWN: ClassVar = ("model", "resolved", "roles", "host", "keys", "key_set")
    model: str
    resolved: str
    roles: list[Role]
    host: str
    keys: list[str]
    key_set: bool | None
    frames: dict[Role, int]
    """The most frames of a call, by role; not in JSON."""


class CallBounds(NamedTuple):
    """The most calls that a run makes, by model, and what leaves the machine."""

    videos: int
    rounds: int
    battles: int
    at_most: dict[str, int]
    notice: list[str]


@dataclass(frozen=True)
class Checkup:
    """Everything that a run would check before it starts."""

    SHOWN: ClassVar = (
        *("ready", "missing", "version", "python", "packages", "decoder", "keys", "credentials"),
        *(
            "cache",
            "disk",
            "terminal",
            "tracing",
            "proxies",
            "videos",
            "models",
            "calls",
            "live",
            "cluster",
        ),
    )
    missing: list[str]
    """A sentence for each thing that keeps a run from starting."""
    packages: dict[str, str | None]
    """Name to version of what a run needs; None: not installed."""
    decoder: InstalledDecoder
    """`name` and `version`, and in `decord` the package behind that name with its version, or
    None."""
    keys: dict[str, bool]
    """Name of a variable to whether it is set."""
    credentials: dict[str, OwnCredentials]
    """For each provider whose client looks for credentials itself: `found`, and in `source` where
    they are, or why there are none."""
    cache: FrameCacheState
    """Cache of frames: `folder`, `writable`, number of `videos` and `entries`, and `bytes`."""
    disk: DiskSpace
    """`free_bytes` in the working folder."""
    terminal: TerminalFacts
    """`is_terminal`, `columns`, `colours`, `encoding` and `no_color`."""
    tracing: TracingState
    """Whether LangSmith's is `on`, to which `host`, and which of its variables are `set`."""
    proxies: list[str]
    """Proxy variables that are set."""
    videos: CheckedFolder | None
    """`folder`, `usable`, `skipped` and `duplicates`; None without `--videos`."""
    models: list[CastMember]
    """For each model `model`, `resolved`, `roles`, `host`, `keys` and `key_set` (None if it needs
    none)."""
    calls: CallBounds | None
    """`videos` (1 if no folder was given), `rounds` and `battles` of a run, the calls `at_most` of
    each model, and the `notice` it would begin with."""
    live: list[ModelCheck] | None
    """For each remote model [what it answered](#a-model-that-was-asked); None without `--live`."""
    doubts: Sequence[str] = ()
    """Sentences of `missing` that only models' answers show, and no run checks before it starts."""
    cluster: Mapping[str, Any] | None = None
    """`machines` that have processors, or the `refusal` why there is no cluster; None without
    `--engine ray`."""

    @property
    def ready(self) -> bool:
        """Whether a run could start."""
        return not self.missing

    @property
    def python(self) -> str:
        """Version of Python."""
        return platform.python_version()

    @property
    def outlook(self) -> str:
        """Words on whether a run could start, and should."""
        if not self.missing:
            return "could start"
        is_refused = any(one not in self.doubts for one in self.missing)
        return "could not start" if is_refused else "should not start yet, though simulate would"

    @property
    def version(self) -> str:
        """Version of videoautoarena."""
        return version(US)

    def to_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena doctor --json`."""
        return record_json(self)


def examine_house(
    flags: RunRequest, videos: Path | None, *, visit: Visit | None = None, calls_here: bool = True
) -> Checkup:
    """Return what a run with these flags over these videos would find before it starts.

    `missing` names everything that keeps it from starting; of keys only names are given. No model
    is asked anything but by `visit`. Without `calls_here` other machines call the models, and need
    the keys.
    """
    missing: list[str] = []
    config = _config(flags, missing)
    packages = _packages()
    missing += [f"the package {name} is not installed" for name in packages if not packages[name]]
    cache = _cache(missing)
    host = trace_host() if is_traced() else None
    found = None if videos is None else _videos(videos, missing)
    # Where other machines call, it does not matter which keys this one lacks.
    models = [] if config is None else _models(config, missing if calls_here else [])
    credentials = {} if config is None else _credentials(config, missing if calls_here else [])
    doubts: list[str] = []
    live = None if visit is None or config is None else _live(config, visit, doubts)
    return Checkup(
        missing=list(dict.fromkeys([*missing, *doubts])),
        packages=packages,
        decoder=_decoder(packages),
        keys=_keys(config),
        credentials=credentials,
        cache=cache,
        disk=DiskSpace(shutil.disk_usage(Path.cwd()).free),
        terminal=_terminal(),
        tracing=TracingState(is_traced(), host, [name for name in NAMES if _is_set(name)]),
        proxies=[name for name in PROXIES if _is_set(name)],
        videos=found,
        models=models,
        calls=None if config is None else _calls(config, found),
        live=live,
        doubts=doubts,
    )


def _config(flags: RunRequest, missing: list[str]) -> RunConfig | None:
    try:
        settings = resolve(flags)
        PromptSet.load(settings.prompts, paper=settings.config.preset == "paper")
        refuse_missing(settings.config.sampling)
    except ArenaError as wrong:
        missing.append(str(wrong))
        return None
    return settings.config


def _packages() -> dict[str, str | None]:
    """Return the version of each package that a run needs; None if it is not installed."""
    # What belongs to an extra may be missing.
    needed = (line for line in requires(US) or () if "extra ==" not in line)
    # A requirement begins with the name; extras, versions and markers follow.
    return {name: _version(name) for name in sorted(re.split(r"[^\w.-]", n)[0] for n in needed)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# Kept, since it takes a look at the metadata of every package that is installed.
@cache
def _decord_packages() -> list[str]:
    """Return the packages that are imported as decord: several overwrite each other."""
    return sorted(set(packages_distributions().get("decord", ())))


def _decoder(packages: dict[str, str | None]) -> InstalledDecoder:
    decord = ", ".join(f"{name} {_version(name)}" for name in _decord_packages())
    return InstalledDecoder("PyAV", packages.get("av"), decord or None)


def _keys(config: RunConfig | None) -> dict[str, bool]:
    """Return variables that hold keys, and whether they are set."""
    models = [] if config is None else [config.model_of(alias) for alias in config.cast]
    named = [name for model in models for name in model.key_names]
    return {name: _is_set(name) for name in dict.fromkeys([*named, *provider_keys()])}


def _credentials(config: RunConfig, missing: list[str]) -> dict[str, OwnCredentials]:
    """Return what clients that look for credentials themselves would find, by provider."""
    found = dict[str, OwnCredentials]()
    for model in map(config.model_of, config.cast):
        maker = model.maker
        # What lacks a package or a project was told already, and cannot look.
        if maker.auth != "own" or model.key_names or lacking_key(model) is not None:
            continue
        if model.provider not in found:
            own = maker.find_credentials()
            if own is None:
                continue
            found[model.provider] = own
        own = found[model.provider]
        if not own.found:
            missing.append(
                f"{model.alias!a} finds no credentials: {own.source}; they are taken from "
                f"{maker.credentials}"
            )
    return found


def _is_set(name: str) -> bool:
    return bool(os.environ.get(name, "").strip())


def _cache(missing: list[str]) -> FrameCacheState:
    from videoautoarena.video.sampling.cache import FrameCache

    cache = FrameCache()
    entries = cache.entries()
    trouble = _cannot_write(cache.folder)
    if trouble:
        missing.append(
            f"the frame cache {os.fspath(cache.folder)!a} cannot be written: {trouble}; "
            "set XDG_CACHE_HOME to a writable folder"
        )
    return FrameCacheState(
        folder=str(cache.folder),
        writable=not trouble,
        videos=len({entry.video for entry in entries}),
        entries=len(entries),
        bytes=sum(entry.size_bytes for entry in entries),
    )


def _cannot_write(folder: Path) -> str | None:
    """Return why nothing can be written into a folder that exists or could be made, or None."""
    # The nearest folder that exists: a check makes none.
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        # Tried and not asked: permissions say nothing of a disk that is full or read-only.
        with tempfile.TemporaryFile(dir=there):
            return None
    except OSError as wrong:
        return wrong.strerror or type(wrong).__name__


def _terminal() -> TerminalFacts:
    console = out()
    return TerminalFacts(
        is_terminal=console.is_terminal,
        columns=console.width,
        colours=console.color_system,
        encoding=sys.stdout.encoding,
        no_color=_is_set("NO_COLOR"),
    )


def _videos(folder: Path, missing: list[str]) -> CheckedFolder:
    from videoautoarena.video.folder.find import Findings, find_videos

    try:
        found = find_videos(folder)
        if not found.videos:
            missing.append(f"{os.fspath(folder)!a} contains no usable video; pass another folder")
    except ArenaError as wrong:
        missing.append(str(wrong))
        found = Findings([], [], [])
    return CheckedFolder(
        folder=str(folder),
        usable=[
            UsableFile(video.path, video.duration_s, video.width_px, video.height_px, video.codec)
            for video in found.videos
        ],
        skipped=found.skipped,
        duplicates=found.duplicates,
        problems={video.path: video.problems for video in found.videos},
    )


def _models(config: RunConfig, missing: list[str]) -> list[CastMember]:
    models = [config.model_of(alias) for alias in config.cast]
    missing += filter(None, map(lacking_key, models))
    return [
        CastMember(
            model=model.alias,
            resolved=model.resolved,
            roles=_roles(config, model.alias),
            host=model.endpoint,
            keys=list(model.key_names),
            key_set=any(map(_is_set, model.key_names)) if model.key_names else None,
            frames={
                role: frames_of(config, model.alias, role) for role in _roles(config, model.alias)
            },
        )
        for model in models
    ]


def _live(config: RunConfig, visit: Visit, doubts: list[str]) -> list[ModelCheck]:
    # What only embeds can say nothing of a picture.
    speaking = [alias for alias in config.cast if alias not in embedders(config, config.models)]
    most = {alias: most_frames(config, alias) for alias in speaking}
    found = visit([config.model_of(alias) for alias in speaking], most)
    for one in found:
        if not one.answered:
            # Its settings were found wanting already.
            if one.failure != "settings":
                why = one_line(one.reason or "", LONGEST_REASON)
                doubts.append(f"{one.model!a} does not answer: {why}")
            continue
        posts = [post for post in _roles(config, one.model) if post != "contestant"]
        # A contestant answers in free text: only the others have to reply in JSON.
        if posts and not one.json:
            advice = "raise its max_tokens, where its reply was cut off, or name another model"
            doubts.append(
                f"{one.model!a} does not reply in JSON when asked to, as it must to be "
                f"{' and '.join(posts)}; {advice if one.was_cut else 'name another model'}"
            )
        if one.sees is False:
            doubts.append(f"{one.model!a} does not see the images it is sent: {one.reason}")
        if one.frames_taken == 0:
            images = f"{one.frames_asked} images"
            doubts.append(f"{one.model!a} fails with {images}: {one.frames_reason}")
    return found


def _roles(config: RunConfig, alias: str) -> list[Role]:
    posts: tuple[tuple[Role, tuple[str, ...]], ...] = (
        ("contestant", config.models),
        ("examiner", (config.examiner,)),
        ("judge", config.judges),
    )
    return [role for role, names in posts if alias in names]


def _calls(config: RunConfig, found: CheckedFolder | None) -> CallBounds:
    """Return the most calls of a run, or of one video if no folder was given."""
    videos = 1 if found is None else len(found.usable)
    videos = videos if config.limit is None else min(videos, config.limit)
    first = videos * len(PERSONAS)
    slots = first * config.rounds
    most = calls_at_most(config, videos=videos, first=first, later=slots - first)

    def most_calls(aliases: Collection[str]) -> int:
        answers = sum(most[alias] for alias in aliases if alias in config.models)
        others = sum(most[alias] for alias in aliases if alias not in config.models)
        # Two contestants answer in each battle, whichever of them are drawn.
        return min(answers, 2 * slots) + others

    return CallBounds(
        videos=videos,
        rounds=config.rounds,
        battles=slots,
        at_most={alias: most[alias] for alias in config.cast},
        notice=list(remote_notice(config, most_calls, videos=videos)),
    )


_INDENT = 12
_MANY = 12
"""The most usable videos that are named."""
_FEW = 5
"""The most files that are named which are the same video as another."""


Entries = Iterable[tuple[str, str]]
"""Titles and texts of lines; lines with an empty title belong to the one above."""


def as_lines(report: Checkup, width: int, machines: Entries = ()) -> list[str]:
    """Return the report for a terminal of `width` columns; text of files and names is made safe.

    `machines` are lines on a cluster.
    """
    lines = []
    for title, text in _entries(report, machines):
        indent = " " * _INDENT
        lines += textwrap.wrap(
            safe(text),
            max(width, 2 * _INDENT),
            initial_indent=f"{title:<{_INDENT}}",
            subsequent_indent=indent if title else indent + "  ",
            # Options, models and packages have hyphens in their names.
            break_on_hyphens=False,
        )
    return lines


def _entries(report: Checkup, machines: Entries) -> Iterator[tuple[str, str]]:
    yield "version", f"videoautoarena {report.version}, Python {report.python}"
    packages = report.packages.items()
    yield "packages", ", ".join(f"{name} {there or 'IS MISSING'}" for name, there in packages)
    decoder = report.decoder
    decord = decoder.decord or "no decord (only --decoder decord needs it)"
    yield "decoder", f"PyAV {decoder.version or 'is missing'}; {decord}"
    yield from _place(report)
    yield from _video_lines(report.videos)
    yield from _key_lines(report)
    yield from _call_lines(report)
    if report.live == []:
        yield "asked", "no model; all run in this process"
    for k, found in enumerate(report.live or []):
        yield "" if k else "asked", verdict(found)
    yield from machines
    yield "run", f"{report.outlook}{':' if report.missing else ''}"
    for missing in report.missing:
        yield "", f"- {missing}"


def _place(report: Checkup) -> Iterator[tuple[str, str]]:
    cache = report.cache
    terminal = report.terminal
    tracing = report.tracing
    size = f"{counted(cache.videos, 'video')}, {_bytes(cache.bytes)}"
    can = "can be written" if cache.writable else "CANNOT be written"
    yield "frame cache", f"{cache.folder}: {size}; {can}"
    yield "disk", f"{_bytes(report.disk.free_bytes)} free here"
    kind = "a terminal" if terminal.is_terminal else "no terminal"
    no_color = "; NO_COLOR is set" if terminal.no_color else ""
    size = f"{kind}, {terminal.columns} columns, colours: {terminal.colours or 'none'}"
    yield "output", f"{size}, {terminal.encoding}{no_color}"
    names = " and ".join(tracing.set)
    state = f"off; {names} set" if names else "off"
    if tracing.on:
        to = f"also go to {tracing.host}, with digests of frames"
        state = f"ON ({names}): all requests and replies {to}"
    yield "LangSmith", state
    proxies = ", ".join(report.proxies)
    yield "proxies", f"{proxies} set" if proxies else "none"


def _video_lines(found: CheckedFolder | None) -> Iterator[tuple[str, str]]:
    if found is None:
        yield "videos", "not checked; pass --videos DIR"
        return
    usable = found.usable
    skipped = found.skipped
    twice = found.duplicates
    total_s = sum(video.duration_s for video in usable)
    yield "videos", f"{len(usable)} usable in {found.folder}, {total_s:.0f} seconds in total"
    for video in usable[:_MANY]:
        size = f"{video.width_px}x{video.height_px}"
        about = [f"{video.duration_s:.1f} s", size, video.codec]
        yield "", f"{video.path}: {', '.join([*about, *found.problems[video.path]])}"
    if len(usable) > _MANY:
        yield "", f".. and {len(usable) - _MANY} more"
    # Problems are told of all of them: they are what the doctor was called for.
    for video in usable[_MANY:]:
        for problem in found.problems[video.path]:
            yield "", f"{video.path}: {problem}"
    for file in skipped:
        yield "", f"NOT {file.path}: {file.reason}"
    for one in twice[:_FEW]:
        yield "", f"NOT {one.path}: the same video as {one.same_as}"
    if len(twice) > _FEW:
        yield "", f".. and {len(twice) - _FEW} more files that are the same video as another"


def _key_lines(report: Checkup) -> Iterator[tuple[str, str]]:
    parts = []
    for wanted, state in ((True, "set"), (False, "not set")):
        if names := [name for name, there in report.keys.items() if there is wanted]:
            parts.append(f"{', '.join(names)} {state}")
    yield "keys", "; ".join(parts)
    for provider, own in report.credentials.items():
        yield "", f"{provider}: {'' if own.found else 'NO '}credentials; {own.source}"


def _call_lines(report: Checkup) -> Iterator[tuple[str, str]]:
    calls = report.calls
    if calls is None:
        return
    for k, model in enumerate(report.models):
        name = named(model.model, model.resolved)
        most = f"at most {calls.at_most[model.model]:,} calls"
        roles = " and ".join(f"{role} ({model.frames[role]} frames)" for role in model.roles)
        yield "" if k else "models", f"{name}: {roles}, {model.host}, {most}"
    over = f"{counted(calls.videos, 'video')}, {counted(calls.rounds, 'round')}"
    more = "" if report.videos else "; proportionally more for more videos"
    yield "calls", f"as above for {over}, {calls.battles} battles{more}"
    for line in calls.notice:
        yield "", line


def _bytes(number: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"
