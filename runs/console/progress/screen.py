"""One picture of a run under way that fits a terminal: who leads, who speaks, who just won."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from videoautoarena.runs.console.progress.local_state import Machine, summed, troubled_first
from videoautoarena.runs.console.progress.snapshot import CallUnderWay, LineageUnderWay, RunSnapshot
from videoautoarena.runs.formats.terminal_text import (
    Axis,
    DrawnInterval,
    Marks,
    TerminalLine,
    axis_of,
    bar,
    fit,
    plain,
)
from videoautoarena.runs.formats.words import dollars, short
from videoautoarena.runs.rating.leaderboard import LeaderboardRow, RatedLeaderboard
from videoautoarena.runs.run.battles.listing import result, short_names, why
from videoautoarena.runs.run.rundir.call_facts import listed
from videoautoarena.runs.run.rundir.reader import counted


def has_budget(standing: RunSnapshot) -> bool:
    """Return whether there is a cost, known or not, or a cap to show."""
    return bool(standing.caps or standing.usd or standing.unknown)


def budget(standing: RunSnapshot, line: TerminalLine) -> Text:
    """Return the line on costs, the most important first: at 80 columns something may be cut."""
    usd, tokens = standing.caps
    dot = f" {line.marks.between} "
    # With unknown costs alone no sum is shown: $0.00 would read as free.
    is_known = bool(standing.usd) or not standing.unknown or usd is not None
    line.add("cost ").add(dollars(standing.usd) if is_known else "unknown", "bold")
    line.add(f" of ${usd:,.2f}" if usd is not None else "")
    # At an end that a cap brought, a reader must see what it counted.
    if standing.lost_usd:
        line.add(f"{dot}up to {dollars(standing.lost_usd)} more possibly paid", "yellow")
    if tokens is not None:
        taken = standing.tokens_in + standing.tokens_out
        line.add(f"{dot}{short(taken)} of {short(tokens)} tokens")
    if standing.usd and standing.usd_in_all is not None and standing.ended is None:
        line.add(f"{dot}about {dollars(standing.usd_in_all)} in total")
    if standing.usd and standing.done:
        line.add(f"{dot}{dollars(standing.usd / standing.done)} per battle")
    if standing.unknown and (is_known or standing.unknown < standing.calls):
        line.add(f"{dot}{counted(standing.unknown, 'call')} of unknown cost", "yellow")
    return line.text


ROWS_BEFORE_MACHINES = 16
ROWS_A_MACHINE = 3
"""Rows of a terminal without machines, and further rows for each machine that is shown."""
WIDE = 120
"""Columns from which on leaderboard and lineages stand side by side."""
SPEECH = {
    "examiner": "watches the video",
    "persona": "invents personas",
    "questioner": "asks",
    "contestant": "answers",
    "judge": "reads both answers",
    "evolver": "evolves the question",
    "grader": "grades the question",
    "comparer": "compares both answers",
    "scene_marker": "marks a description",
    "summary_marker": "marks a summary",
    "checklist_marker": "marks a reply by its checklist",
    "topic_writer": "writes on the whole",
    "plot_writer": "writes on a moment",
    "scene_writer": "describes a scene",
    "summary_writer": "writes a summary",
    "option_checker": "checks options",
    "point_checker": "checks points",
    "captioner": "describes a clip",
    "embedder": "embeds a clip or a question",
}
STYLES = {"judge": "magenta", "contestant": "cyan", "evolver": "yellow", "grader": "yellow"}


@dataclass(frozen=True)
class ScreenSize:
    """Room and signs to draw with."""

    width: int
    height: int
    marks: Marks


class LiveBoard(NamedTuple):
    """A leaderboard, and the number of battles that had ended when it was made."""

    table: RatedLeaderboard
    battles: int


def picture(standing: RunSnapshot, board: LiveBoard | None, size: ScreenSize) -> list[Text]:
    """Return the lines of a run's picture, at most `size.height` of `size.width` cells."""
    if standing.run is None:
        return [TerminalLine(size.width, size.marks).add("starting").text]
    names = short_names(standing.run.models)
    head = list(_head(standing, names, size))
    room = max(size.height - len(head), 0)
    rows = board.table.models if board else ()
    if size.width >= WIDE:
        upper, lower = _share_wide(room, len(rows), standing)
        half = (size.width - 3) // 2
        left = list(_board(board, names, ScreenSize(half, upper, size.marks)))
        right = list(
            _flights(standing, names, ScreenSize(size.width - half - 3, upper, size.marks))
        )
        body = _beside(left, right, half)
        return (
            head + body + list(_battles(standing, names, ScreenSize(size.width, lower, size.marks)))
        )
    ranks, flights, battles = _share(room, len(rows), standing)
    return [
        *head,
        *_board(board, names, ScreenSize(size.width, ranks, size.marks)),
        *_flights(standing, names, ScreenSize(size.width, flights, size.marks)),
        *_battles(standing, names, ScreenSize(size.width, battles, size.marks)),
    ][: size.height]


def _share(room: int, models: int, standing: RunSnapshot) -> tuple[int, int, int]:
    """Return the rows, titles included, of board, lineages and battles."""
    wants = [models + 1 if models else 0, len(standing.flights) + 1, len(standing.latest) + 1]
    # After the end nothing is in flight, and its rows go to board and battles.
    wants[1] *= standing.ended is None
    got = [0, 0, 0]
    # In turn, so that each has a few rows before one has many; the board's last rows come late.
    order = [2, 1, 0, 0]
    while room and any(have < want for have, want in zip(got, wants, strict=True)):
        for part in order:
            if room and got[part] < wants[part]:
                got[part] += 1
                room -= 1
    return got[0], got[1], got[2]


def _share_wide(room: int, models: int, standing: RunSnapshot) -> tuple[int, int]:
    flights = len(standing.flights) * (standing.ended is None)
    upper = min(max(models, flights) + 1, max(models + 1, room // 2), room)
    return upper, room - upper


def _beside(left: list[Text], right: list[Text], half: int) -> list[Text]:
    lines = []
    for number in range(max(len(left), len(right))):
        line = left[number] if number < len(left) else Text(no_wrap=True)
        if number < len(right):
            line.append(" " * (half - line.cell_len + 3))
            line.append_text(right[number])
        lines.append(line)
    return lines


def _head(standing: RunSnapshot, names: dict[str, str], size: ScreenSize) -> Iterator[Text]:
    run = standing.run
    assert run is not None
    dot = f" {size.marks.between} "
    line = TerminalLine(size.width, size.marks).add(plain(str(run.out)), "bold")
    videos = counted(len(run.videos), "video")
    rounds = counted(run.rounds, "round")
    yield line.add(f"{dot}seed {run.seed}{dot}{videos}{dot}{rounds}").text
    line = TerminalLine(size.width, size.marks).add(", ".join(plain(names[m]) for m in run.models))
    judges = ", ".join(run.judges)
    yield line.add(plain(f"; examiner {run.examiner}, judge {judges}"), "dim").text
    yield _progress(standing, size)
    yield _counts(standing, size, dot)
    if standing.reading:
        rule = standing.reading.rule
        mark = ", met" if standing.reading.is_met else ""
        until = f"until {rule}{mark}: {plain(standing.reading.how_near)}"
        yield TerminalLine(size.width, size.marks).add(until).text
    if has_budget(standing):
        yield budget(standing, TerminalLine(size.width, size.marks))
    yield from _facts(standing, names, size)
    yield from _machines(standing, size)
    if size.height >= 24:
        yield Text()


def _progress(standing: RunSnapshot, size: ScreenSize) -> Text:
    done = standing.done
    total = standing.total
    marks = size.marks
    figures = f"{done}/{total} battles, {clock(standing.elapsed_s)}"
    if standing.left_s is not None:
        figures += f", about {clock(standing.left_s)} left"
    state = _state(standing)
    bar = max(min(size.width - cell_len(figures) - cell_len(state) - 3, 60), 0)
    full = round((done / total if total else 1.0) * bar)
    line = TerminalLine(size.width, marks).add(marks.full * full, "green")
    line.add(marks.rest * (bar - full), "dim").add(" " * bool(bar)).add(figures)
    return line.add(f"  {state}" * bool(state), "bold yellow").text


def _state(standing: RunSnapshot) -> str:
    gone = f"{plain(standing.gone)} is unreachable" if standing.gone else ""
    if standing.ended is not None:
        if standing.is_capped:
            return "stopped at the cap"
        if gone or standing.ended:
            return f"stopped: {gone}" if gone else "interrupted"
        return "stopped by --until" if standing.done < standing.total else "done"
    if standing.draining is None:
        return _awaited(standing)
    why_not = gone or ("cap reached" if standing.is_capped else "stopping")
    return f"{why_not}: {counted(standing.speaking, 'call')} to finish"


def _awaited(standing: RunSnapshot) -> str:
    """Return words on the servers that cannot be reached, the longest wait first."""
    if not standing.awaited:
        return _refusing(standing)
    address, since_s = next(iter(standing.awaited.items()))
    others = f" and {more} more" if (more := len(standing.awaited) - 1) else ""
    return f"waiting for {plain(address)}{others}, {clock(standing.clock() - since_s)}"


def _refusing(standing: RunSnapshot) -> str:
    """Return words on the servers that refuse calls for now, the longest wait first."""
    if not standing.refusing:
        return ""
    address, (since_s, fault) = next(iter(standing.refusing.items()))
    others = f" and {more} more" if (more := len(standing.refusing) - 1) else ""
    status = fault.removeprefix("http-")
    waited = clock(standing.clock() - since_s)
    return f"{status} at {plain(address)}{others}: waiting, {waited}"


MOST_FACTS = 3
"""The most rows for facts of calls, if there is room."""


def _facts(standing: RunSnapshot, names: dict[str, str], size: ScreenSize) -> Iterator[Text]:
    """Yield a row for each fact of the calls, with its models and counts."""
    found = standing.facts.found("console")
    facts = list(dict.fromkeys(one.fact for one in found))
    rows = MOST_FACTS if size.height >= 24 else 1
    for fact in facts[:rows]:
        counts = listed([replace(one, model=plain(names.get(one.model, one.model)))
                         for one in found if one.fact is fact])  # fmt: skip
        yield TerminalLine(size.width, size.marks).add(f"{fact.title}: {counts}", "yellow").text


def _counts(standing: RunSnapshot, size: ScreenSize, dot: str) -> Text:
    line = TerminalLine(size.width, size.marks).add(f"calls {standing.calls:,}")
    for number, thing in (
        (standing.recalled, "recalled"),
        (standing.retries, "retried"),
        (standing.failed, "failed"),
    ):
        if number:
            line.add(f", {number:,} {thing}", "yellow" if thing == "failed" else "")
    # At 80 columns something is cut; it must not be what went wrong.
    line.add(dot).add(counted(standing.voids, "void"), "yellow" if standing.voids else "").add(", ")
    line.add(counted(standing.forfeits, "forfeit"), "yellow" * bool(standing.forfeits))
    tokens = f"{short(standing.tokens_in)} in, {short(standing.tokens_out)} out"
    return line.add(f"{dot}tokens {tokens}").text


def _machines(standing: RunSnapshot, size: ScreenSize) -> Iterator[Text]:
    """Yield a row for all machines of a cluster and, if there is room, one for each of some."""
    if standing.machines is None or not standing.machines.machines:
        return
    ordered = troubled_first(standing.machines)
    if len(ordered) == 1:
        yield _machine(
            TerminalLine(size.width, size.marks).add("on ").add(plain(ordered[0].node)), ordered
        )
        return
    line = TerminalLine(size.width, size.marks).add(f"on {counted(len(ordered), 'machine')}")
    yield _machine(line, ordered)
    rows = max(0, (size.height - ROWS_BEFORE_MACHINES) // ROWS_A_MACHINE)
    shown = ordered if len(ordered) <= rows else ordered[: max(rows - 1, 0)]
    room = min(max((cell_len(plain(one.node)) for one in shown), default=0), size.width // 3)
    for one in shown:
        name = fit(plain(one.node), room, size.marks)
        yield _machine(TerminalLine(size.width, size.marks).add("  ").add(name), [one])
    if rows and (more := ordered[len(shown) :]):
        name = fit(f"{len(more)} more", room, size.marks)
        yield _machine(TerminalLine(size.width, size.marks).add("  ").add(name), more)


def _machine(line: TerminalLine, machines: Sequence[Machine]) -> Text:
    """Add the state of machines to a line, losses first, since the rest may be cut."""
    of_all = summed(machines)
    dot = f" {line.marks.between} "
    if of_all.lost:
        line.add(dot).add(f"{counted(of_all.lost, 'worker')} lost", "yellow")
    flying = f"{counted(of_all.under_way, 'call')} in flight{dot}{of_all.calls:,} finished"
    return line.add(f"{dot}{counted(of_all.workers, 'worker')}{dot}{flying}").text


def _title(name: str, note: str, size: ScreenSize, *, right: str = "") -> Text:
    line = TerminalLine(size.width, size.marks).add(f"{size.marks.line * 2} {name} ", "bold")
    if note:
        line.add(f"{note} ", "dim")
    right = f" {right}" if right and cell_len(right) < line.left - 4 else ""
    return line.add(size.marks.line * (line.left - cell_len(right)) + right, "dim").text


def _board(board: LiveBoard | None, names: dict[str, str], size: ScreenSize) -> Iterator[Text]:
    if board is None or not board.table.models or size.height < 2:
        return
    rows = board.table.models
    shown = rows[: size.height - 1]
    videos = sum(board.table.settings.videos or ())
    note = f"95 % intervals, {counted(videos, 'video')}" if videos else "no model rated yet"
    note += f", as of {counted(board.battles, 'battle')}"
    more = len(rows) - len(shown)
    note += f", {more} more below" if more else ""
    yield _title("Leaderboard", note, size, right="won-tied-lost")
    axis = axis_of(
        DrawnInterval(row.rating, row.low, row.high) for row in rows if row.rating is not None
    )
    # Of all rows and not only those shown: the columns are the same at any height.
    called = [plain(names.get(row.model, row.model)) for row in rows]
    room = min(max(map(cell_len, called)) + 1, size.width // 3)
    for row, name in zip(shown, called, strict=False):
        yield _ranked(row, axis, fit(name, room, size.marks), size)


def _ranked(row: LeaderboardRow, axis: Axis, name: str, size: ScreenSize) -> Text:
    line = TerminalLine(size.width, size.marks)
    rating = row.rating
    best = row.rank_best
    worst = row.rank_worst
    rank = "-" if best is None else f"{best}" if best == worst else f"{best}-{worst}"
    line.add(rank, width=6).add(name, "bold")
    if rating is None:
        return line.add(" unrated", "dim").text
    line.add(f"{rating:>5.0f} ")
    counts = f"{row.wins}-{row.ties}-{row.losses}"
    # The last 14 cells are for wins, ties and losses.
    _interval(line, DrawnInterval(rating, row.low, row.high), axis, line.left - 14)
    return line.add(f"{counts:>{max(line.left, 0)}}").text


def _interval(line: TerminalLine, drawn: DrawnInterval, axis: Axis, width: int) -> None:
    """Draw an interval and its middle on the scale that all rows share."""
    if width < 5:
        return
    left, dot, right = bar(axis, drawn, width, line.marks).partition(line.marks.dot)
    line.add(left, "blue").add(dot, "bold blue").add(right, "blue")


def _flights(standing: RunSnapshot, names: dict[str, str], size: ScreenSize) -> Iterator[Text]:
    if size.height < 1 or standing.ended is not None:
        return
    # Those with a call under way first: the others only wait.
    flights = sorted(standing.flights.values(), key=lambda flight: not flight.voices)
    shown = flights[: size.height - 1]
    more = len(flights) - len(shown)
    lineages = sum(flight.persona > 0 for flight in flights)
    parts = [counted(lineages, "lineage")] if lineages or not flights else []
    if opening := len(flights) - lineages:
        parts.append(f"{counted(opening, 'video')} being read")
    if standing.speaking:
        parts.append(f"{counted(standing.speaking, 'call')} in flight")
    if more:
        parts.append(f"{more} not shown")
    yield _title("In flight", ", ".join(parts), size)
    run = standing.run
    for flight in shown:
        video = plain((run.videos.get(flight.video, flight.video) if run else "").split("/")[-1])
        where = f"persona {flight.persona} round {flight.round + 1}" if flight.persona else ""
        # 18 cells hold `persona 3 round 12`.
        room = max(12, size.width // 4) + (0 if where else 18)
        line = TerminalLine(size.width, size.marks).add(video, width=room).add(" ")
        line.add(where, "dim", width=18 if where else 0)
        _speech(line, flight, names, standing.clock())
        yield line.text


def _speech(line: TerminalLine, flight: LineageUnderWay, names: dict[str, str], now: float) -> None:
    if not flight.voices:
        waits = f"waiting, {flight.after} done" if flight.after else "frames are being decoded"
        line.add(waits, "dim")
        return
    voices = list(flight.voices.values())
    role = voices[0].role
    who = " and ".join(dict.fromkeys(plain(names.get(v.alias, v.alias)) for v in voices))
    verb = SPEECH[role]
    if verb == "answers" and len(voices) > 1 and " and " in who:
        verb = "answer"
    line.add(f"{who if role == 'contestant' else role} {verb}  ", STYLES.get(role, "green"))
    line.add(_waiting(voices, now), "dim")


def _waiting(voices: list[CallUnderWay], now: float) -> str:
    if any(voice.awaits_server for voice in voices):
        return "waiting for its server"
    paused = max(voice.paused_until_s for voice in voices)
    if paused > now:
        return f"retries in {paused - now:.0f} s"
    return f"{max(now - min(voice.since_s for voice in voices), 0):.0f} s"


def _battles(standing: RunSnapshot, names: dict[str, str], size: ScreenSize) -> Iterator[Text]:
    if size.height < 2:
        return
    yield _title("Last battles", "newest first", size)
    shown = list(standing.latest)[::-1][: size.height - 1]
    rows = [
        [plain(x) for x in (result(b, names), b.question or "no question", why(b, names))]
        for b in shown
    ]
    # Without a battle there is no column to measure.
    widest = [max(map(cell_len, column)) for column in zip(*rows, strict=True)] or [0, 0, 0]
    column = min(widest[0], size.width * 2 // 5)
    room = size.width - column - 4
    asked = min(widest[1], max(room * 2 // 5, room - widest[2]))
    for battle, (outcome, question, reason) in zip(shown, rows, strict=True):
        lost = battle.verdict in ("void", "forfeit_a", "forfeit_b")
        line = TerminalLine(size.width, size.marks).add(
            outcome, "yellow" if lost else "", width=column
        )
        yield line.add("  ").add(question, "dim", width=asked).add("  ").add(reason).text


def clock(seconds: float) -> str:
    """Return a length of time for a clock: 9 s, 4:05, 1:02:03."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
