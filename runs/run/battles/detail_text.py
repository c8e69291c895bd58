"""One battle as a page of text, in two columns if there is room."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from shlex import quote

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from videoautoarena.memory.records.records import (
    Battle,
    CallRow,
    Evolution,
    Judging,
)
from videoautoarena.memory.records.standards import STANDARDS, Standard
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.words import dollars
from videoautoarena.runs.run.battles.detail import BattleDetail
from videoautoarena.runs.run.rundir.reader import SAW_NONE, about_video, named, one_line, outcome

WIDE = 100
"""Columns from which on answers stand side by side."""


def page(shown: BattleDetail, width: int) -> str:
    """Return a battle as text of `width` columns, with nothing hostile to a terminal in it.

    A battle that was chosen is shown in brief, with the command that shows the rest.
    """
    return _printed(_chosen(shown, width) if shown.chosen else _parts(shown, width), width)


def wrapped(text: str, width: int) -> str:
    """Return `text` in lines of `width` columns, with nothing hostile to a terminal in it."""
    return _printed([Text(safe(text, lines=True))], width)


def _printed(parts: Iterable[RenderableType], width: int) -> str:
    file = StringIO()
    console = Console(file=file, width=max(width, 40), color_system=None, highlight=False)
    for part in parts:
        # Rich would break it at the width, and a command could no longer be copied.
        if isinstance(part, str):
            file.write(f"{part}\n")
        else:
            console.print(part)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def story(battle: Battle, width: int, *, is_first: bool) -> str:
    """Return a battle in the order of events, from the faults before it to the verdict.

    Args:
        battle: the one to show.
        width: columns.
        is_first: whether it is the first one shown of its lineage, so that its user is unknown.
    """
    return _printed(_story(battle, width, is_first), width)


def _story(battle: Battle, width: int, is_first: bool) -> Iterator[RenderableType]:
    yield _line(f"{battle.id}: {outcome(battle)}")
    if is_first:
        yield from _persona(battle)
    yield from _from_question(battle, width)


def _persona(battle: Battle, source: str = "") -> Iterator[RenderableType]:
    about = f", {source}" if source else ""
    yield from _section(f"Persona {battle.persona}{about}", battle.persona_text or "none was made")


def _from_question(battle: Battle, width: int) -> Iterator[RenderableType]:
    yield from _attempts("Where the question came from", battle.evolution)
    yield from _section(_question_title(battle), battle.question or "none was asked")
    yield from _answers(battle, width)
    for judging in battle.verdicts:
        yield from _judging(battle, judging)
    yield from _section("Verdict", outcome(battle))


def _chosen(shown: BattleDetail, width: int) -> Iterator[RenderableType]:
    yield _line(shown.chosen or "")
    yield from (_line(f"note: {mark}") for mark in shown.marks)
    yield Text()
    yield from _story(shown.battle, width, is_first=True)
    yield from _faults(shown)
    yield from _video(shown)
    # A command to copy stays in one piece.
    whole = f"arena show {quote(str(shown.folder))} {shown.battle.id}"
    yield from _section("All of it, with earlier rounds, provenance, calls and costs:")
    yield f"  {safe(whole)}"


def _parts(shown: BattleDetail, width: int) -> Iterator[RenderableType]:
    battle = shown.battle
    yield _line(f"{battle.id}: {outcome(battle)}")
    yield from (_line(f"note: {mark}") for mark in shown.marks)
    if shown.superseded_by:
        yield _line(f"note: superseded by {shown.superseded_by}; not counted")
    yield from _video(shown)
    yield from _lineage(shown)
    yield from _persona(battle, shown.brought or "")
    yield from _from_question(battle, width)
    yield from _faults(shown)
    yield from _provenance(shown)
    yield from _calls(shown)


# Text, never a plain str: what is a str stands as it is, however long.
def _line(text: str) -> Text:
    return Text(safe(text))


def _block(text: str) -> Padding:
    return Padding(Text(safe(text, lines=True)), (0, 0, 0, 2))


def _section(title: str, *lines: str) -> Iterator[RenderableType]:
    yield Text()
    yield _line(title)
    yield from (_block(line) for line in lines)


def _video(shown: BattleDetail) -> Iterator[RenderableType]:
    film = about_video(shown.video) if shown.video else shown.battle.video
    yield from _section(f"Video {film}", "to see its frames (with --model, those of one model):")
    # A command to copy stays in one piece.
    yield f"  {safe(shown.frames)}"


def _lineage(shown: BattleDetail) -> Iterator[RenderableType]:
    if shown.earlier:
        rounds = (
            f"round {battle.round + 1}, {battle.origin or 'no question'}: "
            f"{one_line(battle.question or '-', 160)}\n  {outcome(battle)} ({battle.id})"
            for battle in shown.earlier
        )
        yield from _section("Earlier in this lineage", *rounds)


def _question_title(battle: Battle) -> str:
    about = [f"round {battle.round + 1}"]
    if battle.origin:
        about.append(battle.origin)
    if battle.difficulty is not None:
        about.append(f"difficulty {battle.difficulty:.1f}")
    if battle.aimed_at:
        about.append(f"aimed at {battle.aimed_at[0]} and {battle.aimed_at[1]}")
    return f"Question ({', '.join(about)})"


def _attempts(title: str, attempts: tuple[Evolution, ...]) -> Iterator[RenderableType]:
    for place, attempt in enumerate(attempts, start=1):
        a, b = attempt.pair
        yield from _section(
            f"{title}: attempt {place} from {attempt.battle}",
            *_named(f"faults of A {a}", attempt.faults_a),
            *_named(f"faults of B {b}", attempt.faults_b),
            *_named(f"weaknesses of A {a}", attempt.weaknesses_a),
            *_named(f"weaknesses of B {b}", attempt.weaknesses_b),
            f"question: {attempt.question}",
            _gate(attempt),
        )


def _faults(shown: BattleDetail) -> Iterator[RenderableType]:
    yield from _attempts("Faults found in this battle", shown.found)
    if not shown.found:
        yield from _section("Faults found in this battle", "the evolver was not called")


def _named(name: str, items: tuple[str, ...]) -> Iterator[str]:
    if not items:
        yield f"{name}: none"
    yield from (f"{name}: {item}" for item in items)


def _gate(attempt: Evolution) -> str:
    old = attempt.old
    new = attempt.new
    said = "accepted" if attempt.accepted else "refused by the gate: not harder"
    return (
        f"difficulty {old.overall:.1f} -> {new.overall:.1f} "
        f"(sum of standards {old.total:.1f} -> {new.total:.1f}): {said}"
    )


def _answers(battle: Battle, width: int) -> Iterator[RenderableType]:
    seats = (
        ("A", battle.model_a, battle.answer_a, battle.frames_a),
        ("B", battle.model_b, battle.answer_b, battle.frames_b),
    )
    shown = [
        (
            f"{seat}  {model or 'nobody was drawn'}{_stored(battle, seat)}\n{_seen(answer, times)}",
            answer or "no answer",
        )
        for seat, model, answer, times in seats
    ]
    if width >= WIDE:
        yield Text()
        yield _side_by_side(shown)
        return
    for title, answer in shown:
        yield Text()
        yield Text(safe(title, lines=True))
        yield _block(answer)


def _stored(battle: Battle, seat: str) -> str:
    """Return where an answer comes from that was borrowed from an earlier battle."""
    if battle.borrowed is None or battle.borrowed.seat != seat.lower():
        return ""
    return f", as stored in {battle.borrowed.battle}"


def _side_by_side(shown: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2), expand=True)
    for _ in shown:
        # Unless it is told to fold, rich cuts words that are longer than the column.
        table.add_column(ratio=1, overflow="fold")
    for row in zip(*shown, strict=True):
        table.add_row(*(Text(safe(cell, lines=True)) for cell in row))
    return table


def _seen(answer: str | None, times: tuple[float, ...]) -> str:
    """Return which frames an answer was given from, in words."""
    return SAW_NONE if answer and not times else frame_times(times)


def frame_times(times: tuple[float, ...]) -> str:
    """Return frame times in seconds, without the middle of a long row."""
    if not times:
        return "0 frames"
    shown = [f"{time:.2f}" for time in times]
    if len(shown) > 8:
        shown = [*shown[:4], "...", *shown[-2:]]
    return f"{len(times)} frames at {' '.join(shown)} s"


_NO_WINNER = {
    "tie": "a tie",
    "tie_good": "a tie, both good",
    "tie_bad": "a tie, both bad",
    "abstain": "abstained",
    "failed": "failed",
}
"""Words for the verdicts of a judge that chose no answer."""


def _judging(battle: Battle, judging: Judging) -> Iterator[RenderableType]:
    a = battle.model_a or "?"
    b = battle.model_b or "?"
    # The judge's own words name the answers by the seats in which it read them.
    first, second = (a, b) if judging.seats == "ab" else (b, a)
    won = {"a": f"{a} wins", "b": f"{b} wins", **_NO_WINNER}[judging.verdict]
    better = judging.standards
    ahead = {"a": f", {a} ahead", "b": f", {b} ahead", "tie": ", neither ahead"}

    def headed(name: Standard) -> str:
        lead = "" if better is None else ahead.get(better.get(name, ""), ", abstained")
        return f"{STANDARDS[name].words}{lead}"

    yield from _section(
        f"Judged by {judging.judge}: {won} (Answer A: {first}, Answer B: {second})",
        *([judging.reason] if judging.reason else []),
        *([f"its own answer: {judging.own_answer}"] if judging.own_answer else []),
        *(f"{headed(name)}: {said}" for name, said in (judging.analyses or {}).items()),
    )


def _provenance(shown: BattleDetail) -> Iterator[RenderableType]:
    battle = shown.battle
    spoken = shown.sent_subtitles
    prompts = [f"{role} {digest[:12]}" for role, digest in sorted(battle.prompts.items())]
    propensity = "dealt" if battle.propensity is None else f"{battle.propensity:g}"
    yield from _section(
        "Provenance",
        f"pair probability {propensity}"
        + ("" if battle.basis is None else f", by the ratings after wave {battle.basis}"),
        f"prompts: {', '.join(prompts) or 'none'}; contracts {shown.contracts}; "
        f"reading {shown.reading}",
        f"subtitles: {f'{len(spoken.cues)} cues of {spoken.path}' if spoken else 'none were sent'}",
    )


def _calls(shown: BattleDetail) -> Iterator[RenderableType]:
    yield from _section(
        f"Calls of this slot: {len(shown.rows)}, cost {dollars(shown.cost_usd)}",
        *(_call(row) for row in shown.rows),
    )


def _call(row: CallRow) -> str:
    usage = row.usage
    tries = f", {len(row.attempts) + 1} attempts" if row.attempts else ""
    failed = f", failed: {row.failure}" if row.reply is None else ""
    return (
        f"{row.nonce.role} {named(row.alias, row.model)} key {row.key[:12]}: "
        f"{_tokens(usage.input_tokens)} in, {_tokens(usage.output_tokens)} out, "
        f"cost {dollars(row.total_usd)}, {row.latency_s:.2f} s{tries}{failed}"
    )


def _tokens(count: int | None) -> str:
    return "? tokens" if count is None else f"{count:,} tokens"
