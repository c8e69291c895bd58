"""What `arena doctor` found, as lines for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from videoautoarena.runs.console.media.doctor import Checkup, Folder
from videoautoarena.runs.console.media.live_check import verdict
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.run.rundir.reader import counted, named

_INDENT = 12
_MANY = 12
"""Usable videos that are named; of more only the first."""
_FEW = 5
"""Likewise of files that are the same video as another."""


Entries = Iterable[tuple[str, str]]
"""Title and text of lines; a title stands once above those without one."""


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
        state = f"ON ({names}): all requests and replies also go to {tracing.host}"
    yield "LangSmith", state
    proxies = ", ".join(report.proxies)
    yield "proxies", f"{proxies} set" if proxies else "none"


def _video_lines(found: Folder | None) -> Iterator[tuple[str, str]]:
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
