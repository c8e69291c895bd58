"""A doctor's report as lines for eyes."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from typing import Any

from videoautoarena.agents.models.registry import Model, check_keys
from videoautoarena.agents.prompting.prompts import PromptSet
from videoautoarena.agents.providers import provider_keys
from videoautoarena.agents.transport.redaction import NAMES, is_traced, trace_host
from videoautoarena.graph.state import PERSONAS
from videoautoarena.memory.records.errors import ArenaError
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.config.disclosure import calls_at_most, most_frames, remote_notice
from videoautoarena.runs.config.run_config import Flags, RunConfig, resolve
from videoautoarena.runs.config.sampling import refuse_missing
from videoautoarena.runs.media.live_check import PROXIES, hints, verdict
from videoautoarena.runs.rundir.reader import counted, named
from videoautoarena.runs.text.terminal import out, safe

US = "videoautoarena"
Report = dict[str, Any]
"""JSON: see docs/records.md."""


Visit = Callable[[Sequence[Model], Mapping[str, int]], list[Report]]
"""Asks models something small, with so many frames; returns a report of each not offline."""


def examine_house(flags: Flags, videos: Path | None, *, visit: Visit | None = None) -> Report:
    """Return what a run with these flags over these videos would find.

    `missing` names everything that keeps it from starting; keys are told by name alone. Nobody is
    asked anything but by `visit`.
    """
    missing: list[str] = []
    config = _config(flags, missing)
    packages = _packages()
    missing += [f"the package {name} is not installed" for name in packages if not packages[name]]
    cache = _cache(missing)
    found = None if videos is None else _videos(videos, missing)
    models = [] if config is None else _models(config, missing)
    live = None if visit is None or config is None else _live(config, visit, missing)
    return {
        "schema": SCHEMA,
        "ready": not missing,
        "missing": list(dict.fromkeys(missing)),
        "version": version(US),
        "python": platform.python_version(),
        "packages": packages,
        "decoder": _decoder(packages),
        "keys": _keys(config),
        "cache": cache,
        "disk": {"free_bytes": shutil.disk_usage(Path.cwd()).free},
        "terminal": _terminal(),
        "tracing": _tracing(),
        "proxies": [name for name in PROXIES if _is_set(name)],
        "videos": found,
        "models": models,
        "calls": None if config is None else _calls(config, found),
        "live": live,
    }


def _config(flags: Flags, missing: list[str]) -> RunConfig | None:
    try:
        settings = resolve(flags)
        PromptSet.load(settings.prompts)
        refuse_missing(settings.config.sampling)
    except ArenaError as wrong:
        missing.append(str(wrong))
        return None
    return settings.config


def _packages() -> dict[str, str | None]:
    """Return the version of each package that a run needs; None where it is not installed."""
    needed = [line for line in requires(US) or () if "extra ==" not in line]
    return {name: _version(name) for name in sorted(re.split(r"[^\w.-]", n)[0] for n in needed)}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _decoder(packages: dict[str, str | None]) -> Report:
    # decord, decord2 and eva-decord are imported by one name and overwrite each other.
    named = sorted(set(packages_distributions().get("decord", ())))
    decord = ", ".join(f"{name} {_version(name)}" for name in named)
    return {
        "name": "PyAV",
        "version": packages.get("av"),
        "decord": decord or None,
    }


def _keys(config: RunConfig | None) -> dict[str, bool]:
    """Return which variables that hold keys are set."""
    models = [] if config is None else [config.model_of(alias) for alias in config.cast]
    named = [name for model in models for name in model.key_names]
    return {name: _is_set(name) for name in dict.fromkeys([*named, *provider_keys()])}


def _is_set(name: str) -> bool:
    return bool(os.environ.get(name, "").strip())


def _cache(missing: list[str]) -> Report:
    from videoautoarena.video.sampling.cache import FrameCache

    cache = FrameCache()
    entries = cache.entries()
    trouble = _cannot_write(cache.folder)
    if trouble:
        missing.append(
            f"the frame cache {os.fspath(cache.folder)!a} cannot be written: {trouble}; "
            "set XDG_CACHE_HOME to a writable folder"
        )
    return {
        "folder": str(cache.folder),
        "writable": not trouble,
        "videos": len({entry.video for entry in entries}),
        "entries": len(entries),
        "bytes": sum(entry.size_bytes for entry in entries),
    }


def _cannot_write(folder: Path) -> str | None:
    """Return why nothing can be written into a folder that is there or could be made."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return None
    except OSError as wrong:
        return wrong.strerror or type(wrong).__name__


def _terminal() -> Report:
    console = out()
    return {
        "is_terminal": console.is_terminal,
        "columns": console.width,
        "colours": console.color_system,
        "encoding": sys.stdout.encoding,
        "no_color": _is_set("NO_COLOR"),
    }


def _tracing() -> Report:
    return {
        "on": is_traced(),
        "host": trace_host() if is_traced() else None,
        "set": [name for name in NAMES if _is_set(name)],
    }


def _videos(folder: Path, missing: list[str]) -> Report:
    from videoautoarena.video.folder.find import Findings, find_videos

    try:
        found = find_videos(folder)
    except ArenaError as wrong:
        missing.append(str(wrong))
        found = Findings([], [], [])
    else:
        if not found.videos:
            missing.append(f"{os.fspath(folder)!a} contains no usable video; pass another folder")
    shown = ("path", "duration_s", "width_px", "height_px", "codec")
    return {
        "folder": str(folder),
        "usable": [{name: getattr(video, name) for name in shown} for video in found.videos],
        "skipped": [{"path": file.path, "reason": file.reason} for file in found.skipped],
        "duplicates": [{"path": path, "same_as": same} for path, same in found.duplicates],
    }


def _models(config: RunConfig, missing: list[str]) -> list[Report]:
    models = [config.model_of(alias) for alias in config.cast]
    missing += _missing_keys(models)
    return [
        {
            "model": model.alias,
            "resolved": model.resolved,
            "roles": _roles(config, model.alias),
            "host": model.endpoint,
            "keys": list(model.key_names),
            "key_set": any(map(_is_set, model.key_names)) if model.key_names else None,
        }
        for model in models
    ]


def _live(config: RunConfig, visit: Visit, missing: list[str]) -> list[Report]:
    most = {alias: most_frames(config, alias) for alias in config.cast}
    found = visit([config.model_of(alias) for alias in config.cast], most)
    for one in found:
        model = config.model_of(one["model"])
        if not one["answered"]:
            # Its settings were found wanting already.
            if one["failure"] != "settings":
                why = "; ".join([one["failure"], *hints(one["failure"], model)])
                missing.append(f"{one['model']!a} does not answer: {why}")
            continue
        if one["sees"] is False:
            missing.append(f"{one['model']!a} does not see the images it is sent: {one['reason']}")
        if one["frames_taken"] == 0:
            images = f"{one['frames_asked']} images"
            missing.append(f"{one['model']!a} fails with {images}: {one['frames_reason']}")
    return found


def _missing_keys(models: Iterable[Model]) -> Iterable[str]:
    for model in models:
        try:
            check_keys([model])
        except ArenaError as wrong:
            yield str(wrong)


def _roles(config: RunConfig, alias: str) -> list[str]:
    played = {
        "contestant": alias in config.models,
        "examiner": alias == config.examiner,
        "judge": alias in config.judges,
    }
    return [role for role, plays in played.items() if plays]


def _calls(config: RunConfig, found: Report | None) -> Report:
    """Return what a run makes at most; for one video where no folder was given."""
    videos = 1 if found is None else len(found["usable"])
    videos = videos if config.limit is None else min(videos, config.limit)
    slots = videos * len(PERSONAS) * config.rounds
    most = calls_at_most(config, videos=videos, open_slots=slots)
    return {
        "videos": videos,
        "rounds": config.rounds,
        "battles": slots,
        "at_most": {alias: most[alias] for alias in config.cast},
        "notice": list(remote_notice(config, videos=videos, open_slots=slots)),
    }


_INDENT = 12
_MANY = 12
"""Usable videos that are named; of more only the first."""
_FEW = 5
"""Likewise of files that are the same video as another."""


def as_lines(report: Report, width: int) -> list[str]:
    """Return the report for a terminal of `width` columns; text of files and names is made safe."""
    lines = []
    for title, told in _told(report):
        indent = " " * _INDENT
        lines += textwrap.wrap(
            safe(told),
            max(width, 2 * _INDENT),
            initial_indent=f"{title:<{_INDENT}}",
            subsequent_indent=indent if title else indent + "  ",
            break_on_hyphens=False,
        )
    return lines


def _told(report: Report) -> Iterator[tuple[str, str]]:
    yield "version", f"videoautoarena {report['version']}, Python {report['python']}"
    packages = report["packages"].items()
    yield "packages", ", ".join(f"{name} {there or 'IS MISSING'}" for name, there in packages)
    decoder = report["decoder"]
    decord = decoder["decord"] or "no decord (only --decoder decord needs it)"
    yield "decoder", f"PyAV {decoder['version'] or 'is missing'}; {decord}"
    yield from _place(report)
    yield from _video_lines(report["videos"])
    yield from _key_lines(report)
    yield from _call_lines(report)
    if report["live"] == []:
        yield "asked", "no model; all run in this process"
    for k, found in enumerate(report["live"] or []):
        yield "" if k else "asked", verdict(found)
    yield "run", "could start" if report["ready"] else "could not start:"
    for missing in report["missing"]:
        yield "", f"- {missing}"


def _place(report: Report) -> Iterator[tuple[str, str]]:
    cache, terminal, tracing = report["cache"], report["terminal"], report["tracing"]
    size = f"{counted(cache['videos'], 'video')}, {_bytes(cache['bytes'])}"
    can = "can be written" if cache["writable"] else "CANNOT be written"
    yield "frame cache", f"{cache['folder']}: {size}; {can}"
    yield "disk", f"{_bytes(report['disk']['free_bytes'])} free here"
    kind = "a terminal" if terminal["is_terminal"] else "no terminal"
    no_color = "; NO_COLOR is set" if terminal["no_color"] else ""
    yield (
        "output",
        f"{kind}, {terminal['columns']} columns, colours: {terminal['colours'] or 'none'}, "
        f"{terminal['encoding']}{no_color}",
    )
    names = " and ".join(tracing["set"])
    told = f"off; {names} set" if names else "off"
    if tracing["on"]:
        told = f"ON ({names}): all requests and replies also go to {tracing['host']}"
    yield "LangSmith", told
    proxies = ", ".join(report["proxies"])
    yield "proxies", f"{proxies} set" if proxies else "none"


def _video_lines(found: Report | None) -> Iterator[tuple[str, str]]:
    if found is None:
        yield "videos", "not checked; pass --videos DIR"
        return
    usable, skipped, twice = found["usable"], found["skipped"], found["duplicates"]
    total_s = sum(video["duration_s"] for video in usable)
    yield "videos", f"{len(usable)} usable in {found['folder']}, {total_s:.0f} seconds in total"
    for video in usable[:_MANY]:
        size = f"{video['width_px']}x{video['height_px']}"
        yield "", f"{video['path']}: {video['duration_s']:.1f} s, {size}, {video['codec']}"
    if len(usable) > _MANY:
        yield "", f".. and {len(usable) - _MANY} more"
    for file in skipped:
        yield "", f"NOT {file['path']}: {file['reason']}"
    for file in twice[:_FEW]:
        yield "", f"NOT {file['path']}: the same video as {file['same_as']}"
    if len(twice) > _FEW:
        yield "", f".. and {len(twice) - _FEW} more files that are the same video as another"


def _key_lines(report: Report) -> Iterator[tuple[str, str]]:
    set_, not_set = (
        [name for name, there in report["keys"].items() if there is wanted]
        for wanted in (True, False)
    )
    told = [f"{', '.join(set_)} set"] * bool(set_) + [f"{', '.join(not_set)} not set"] * bool(
        not_set
    )
    yield "keys", "; ".join(told)


def _call_lines(report: Report) -> Iterator[tuple[str, str]]:
    calls = report["calls"]
    if calls is None:
        return
    for k, model in enumerate(report["models"]):
        name = named(model["model"], model["resolved"])
        most = calls["at_most"][model["model"]]
        yield (
            "" if k else "models",
            f"{name}: {' and '.join(model['roles'])}, {model['host']}, at most {most:,} calls",
        )
    over = f"{counted(calls['videos'], 'video')}, {counted(calls['rounds'], 'round')}"
    told = "" if report["videos"] else "; proportionally more for more videos"
    yield "calls", f"as above for {over}, {calls['battles']} battles{told}"
    for line in calls["notice"]:
        yield "", line


def _bytes(number: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"
