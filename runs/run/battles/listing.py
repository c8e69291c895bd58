"""Battles, one a line: who beat whom and why, for people or programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from textwrap import indent
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from videoautoarena.memory.records.errors import BadInput, WrongArgument
from videoautoarena.memory.records.outlines import Outline, Outlines, TextColumn, seen_in
from videoautoarena.memory.records.records import (
    DECIDED,
    TIES,
    Battle,
    Choice,
    Judging,
    Video,
)
from videoautoarena.memory.records.slots import Longs, Mask
from videoautoarena.memory.records.standards import STANDARDS, Standard
from videoautoarena.runs.formats.files import comma_separated_lines
from videoautoarena.runs.formats.terminal import safe
from videoautoarena.runs.formats.terminal_text import Marks, fit
from videoautoarena.runs.formats.words import composed, in_full, length
from videoautoarena.runs.run.rundir.reader import BattlesOf, RunReader, open_run, readable_reason
from videoautoarena.scoring.fitting.counts import Floats

_IN_REASONS = sorted(STANDARDS, key=lambda name: STANDARDS[name].reason_order)
"""The standards in the order in which they give the reason."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_FAULT = re.compile(
    r"\b(not|no|nothing|never|wrong\w*|incorrect\w*|miss\w*|fail\w*|lack\w*|omit\w*|ignor\w*|vague\w*"
    r"|hallucinat\w*|invent\w*|confus\w*|unsupported|contradict\w*|wander\w*|gives .* for)\b",
    re.IGNORECASE,
)
_MERIT = re.compile(
    r"\b(right\w*|correct\w*|accura\w*|precis\w*|complet\w*|full\w*|clear\w*|detailed|specific|better|best"
    r"|stronger|everything|all|most|keeps|(\d+) of \2)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(while|whereas|but|however|more|unlike|only|both|neither)\b", re.I)
_SEAT = re.compile(
    r"\b(?:[Tt]he )?(?:[Aa]nswer|[Mm]odel|[Rr]esponse|[Aa]ssistant|[Cc]ontestant) ([AB])\b"
    r"|(?<=[a-z,;:] )([AB])\b|^(B)\b|^(A)(?='s\b| [a-z]*[^s\W]s\b| [a-z]+ly\b)"
)
"""The name of a seat, and not the article A, which begins a sentence before no verb."""
_LEAST_WORDS = 4
"""The fewest words of a sentence that is a reason; shorter ones only say who is better."""
_ERROR_CLASS = re.compile(r"\b[A-Z]\w+(?:Error|Exception|Timeout): ")
"""The error class before a provider's own words, which takes half a line."""
_TIES = {"tie": "tie", "tie_good": "both good", "tie_bad": "both bad", "split": "split"}


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return models by short names without provider, or by full ones if short ones coincide."""
    short = {model: model.partition(":")[2] or model for model in models}
    return short if len(set(short.values())) == len(short) else {m: m for m in models}


def result(battle: Battle | Outline, names: Mapping[str, str]) -> str:
    """Return who beat whom, without the reason."""
    a, b = (safe(names.get(m or "?", m or "?")) for m in (battle.model_a, battle.model_b))
    match battle.verdict:
        case "a":
            return f"{a} beat {b}"
        case "b":
            return f"{b} beat {a}"
        case "forfeit_a":
            return f"{a} forfeits to {b}"
        case "forfeit_b":
            return f"{b} forfeits to {a}"
        case "void":
            return "void" if battle.model_a is None else f"void: {a}, {b}"
        case tie:
            return f"{a} = {b}, {_TIES[tie]}"


def why(battle: Battle, names: Mapping[str, str]) -> str:
    """Return the reason of a verdict as one phrase; empty if none was given."""
    if battle.reason:
        return _flat(_ERROR_CLASS.sub("", readable_reason(battle.reason)))
    judging = _judging_of(battle)
    if judging is None:
        return ""
    if battle.verdict in ("tie", "tie_good", "tie_bad") and judging.standards is not None:
        return _balance(battle, judging.standards, names)
    told = _telling(battle, judging, names)
    if len(told.split()) >= _LEAST_WORDS or battle.verdict not in ("a", "b"):
        return _flat(told)
    better = (judging.standards or {}).items()
    decisive = {name: who for name, who in better if who == battle.verdict}
    return _standards_ahead(battle, decisive, names) or _flat(told)


def _balance(battle: Battle, better: Mapping[Standard, Choice], names: Mapping[str, str]) -> str:
    """Return which standards favoured whom in a tie."""
    return _standards_ahead(battle, better, names) or "no standard separates them"


def _standards_ahead(
    battle: Battle, better: Mapping[Standard, Choice], names: Mapping[str, str]
) -> str:
    """Return which standards favoured whom; empty if none favoured anybody."""
    pair = {"a": battle.model_a or "?", "b": battle.model_b or "?"}
    ahead = [(name, pair[better[name]]) for name in _IN_REASONS if better.get(name) in pair]
    each = (f"{STANDARDS[name].words} for {names.get(who, who)}" for name, who in ahead)
    return _flat(", ".join(each))


def loser(battle: Battle | Outline) -> str | None:
    """Return the loser of a decided battle; None if nobody lost."""
    return {"a": battle.model_b, "b": battle.model_a}.get(battle.verdict)


def is_blamed(battle: Battle, names: Mapping[str, str]) -> bool:
    """Return whether the reason that `why` gives names a fault of the loser."""
    judging = _judging_of(battle)
    lost = loser(battle)
    if judging is None or lost is None:
        return False
    said = _telling(battle, judging, names)
    return names.get(lost, lost) in said and bool(_FAULT.search(said))


def _judging_of(battle: Battle) -> Judging | None:
    """Return the judging that explains a verdict, else any with analyses."""
    spoken = [judging for judging in battle.verdicts if judging.analyses]
    return next((j for j in spoken if j.verdict == battle.verdict), next(iter(spoken), None))


def _telling(battle: Battle, judging: Judging, names: Mapping[str, str]) -> str:
    """Return the judge's sentence that best explains why somebody won; empty without any."""
    pair = (battle.model_a or "", battle.model_b or "")
    won, lost = pair[::-1] if battle.verdict == "b" else pair
    sides = (names.get(won, won), names.get(lost, lost))
    texts = [_with_names(sentence, battle, judging, names) for sentence in _sentences(judging)]
    if battle.verdict in ("a", "b"):
        # Judges also say what the loser did well, which is no reason why it lost.
        texts = [text for text in texts if not _speaks_against(text, *sides)]
    # max keeps the first of equals: the earlier sentence of the weightier standard.
    return max(texts, key=lambda sentence: _weight(sentence, *sides), default="")


def _speaks_against(sentence: str, won: str, lost: str) -> bool:
    """Return whether a sentence about one side alone gives no reason for the verdict."""
    tells_fault = bool(_FAULT.search(sentence))
    if won in sentence and lost in sentence:
        return False
    if lost in sentence:
        return not tells_fault
    return won in sentence and (tells_fault or not _MERIT.search(sentence))


def _sentences(judging: Judging) -> Iterator[str]:
    said = judging.analyses or {}
    for standard in _IN_REASONS:
        # The start of a text is enough for a line, whatever length a model wrote.
        yield from _SENTENCES.split(said.get(standard, "").strip()[:2000])


def _with_names(sentence: str, battle: Battle, judging: Judging, names: Mapping[str, str]) -> str:
    pair = (battle.model_a or "?", battle.model_b or "?")
    a, b = pair if judging.seats == "ab" else pair[::-1]
    seats = {"A": names.get(a, a), "B": names.get(b, b)}

    def name(found: re.Match[str]) -> str:
        return seats[next(group for group in found.groups() if group)]

    return _SEAT.sub(name, sentence)


def _weight(sentence: str, won: str, lost: str) -> float:
    words = len(sentence.split())
    if words < _LEAST_WORDS:
        return -1.0
    blame = bool(_FAULT.search(sentence)) * (2.0 if lost and lost in sentence else 0.5)
    praise = bool(won and won in sentence and _MERIT.search(sentence))
    return blame + 0.5 * praise + 0.5 * bool(_CONTRAST.search(sentence)) - (words > 30)


def _flat(text: str) -> str:
    return safe(" ".join(text.split())).rstrip(".;")


VERDICTS: dict[str, tuple[str, ...]] = {
    "win": ("a", "b"),
    "a": ("a",),
    "b": ("b",),
    "tie": tuple(sorted(TIES)),
    "tie_good": ("tie_good",),
    "tie_bad": ("tie_bad",),
    "split": ("split",),
    "void": ("void",),
    "forfeit": ("forfeit_a", "forfeit_b"),
    "forfeit_a": ("forfeit_a",),
    "forfeit_b": ("forfeit_b",),
}
"""Words for verdicts, each with the stored ones that it stands for; as on the leaderboard, a split
is a tie."""
Sort = Literal["played", "surprise", "hardest"]


class Selection(NamedTuple):
    """Which battles of a run are selected, and in which order; all given conditions must hold."""

    pair: tuple[str, str] | None = None
    """Two models, in either seat, by full or short names."""
    lost_by: str | None = None
    """The model that a judge decided against; a forfeit is no loss."""
    verdicts: Sequence[str] = ()
    """Words of VERDICTS, one of which it must have; empty: any."""
    contains: str | None = None
    """Text in question, answers, judges' words or reason, in any case."""
    sort: Sort = "played"

    def __str__(self) -> str:
        """Return its conditions as one types them."""
        typed = {
            "--pair": self.pair and ",".join(self.pair),
            "--lost-by": self.lost_by,
            "--verdict": ",".join(self.verdicts),
            "--contains": self.contains,
        }
        return safe(" ".join(f"{name} {value}" for name, value in typed.items() if value))


EVERY = Selection()


class Rated(Protocol):
    """A row of a leaderboard."""

    @property
    def model(self) -> str:
        """Name of the model."""

    @property
    def rating(self) -> float | None:
        """Its rating; None if it cannot be rated."""


Rate = Callable[[RunReader], Sequence[Rated]]
"""Returns the rows of a run's leaderboard, best first."""
_T = TypeVar("_T")


def chosen_rows(run: RunReader, selection: Selection, rate: Rate) -> Longs:
    """Return the selected battles of a run as rows of its outlines, in the selected order.

    Raises:
        BadInput: a name that no model of the run has.
    """
    kept = _is_chosen(run, selection)
    if selection.contains:
        rows = np.flatnonzero(kept)
        # Last, since it alone reads texts: of a million battles as few as the other conditions
        # leave.
        kept[rows] = _is_said(run.battles.where(kept), selection.contains)
    rows = np.flatnonzero(kept)
    if selection.sort == "surprise":
        figures = chances(run.outlines, rate(run))[rows]
    elif selection.sort == "hardest":
        graded = run.battles.where(kept).fields("difficulty")
        figures = np.array([-_as_number(difficulty) for (difficulty,) in graded], dtype=np.float64)
    else:
        return rows
    # Stable: equally surprising battles stay in the order in which they were played.
    found: Longs = rows[np.argsort(figures, kind="stable")]
    return found


def _as_number(difficulty: Any) -> float:
    return float(difficulty) if isinstance(difficulty, int | float) else 0.0


def chances(outlines: Outlines, rows: Sequence[Rated]) -> Floats:
    """Return the probability of each battle's outcome by the ratings; small ones are surprising.

    A win has the chance 1 / (1 + 10^((loser - winner) / 400)) of its winner; a tie .5 and the
    smaller of both sides' chances, since it surprises most between unequal models; what was not
    decided, or has a model without a rating, 1.
    """
    from videoautoarena.scoring.fitting.bradley_terry import SCALE

    rated = {row.model: row.rating for row in rows}
    a, b = (_numbers(outlines.texts[name], rated) for name in ("model_a", "model_b"))
    verdict = outlines.texts["verdict"]
    chance = 1.0 / (1.0 + np.exp((b - a) / SCALE))
    tied = 0.5 + np.minimum(chance, 1.0 - chance)
    found = np.where(verdict.among(["a"]), chance, np.where(verdict.among("b"), 1 - chance, tied))
    unknown = np.isnan(chance) | ~verdict.among(DECIDED)
    # Rounded, so that equal chances stand as they were played, whoever had which seat.
    result: Floats = np.where(unknown, 1.0, found).round(9)
    return result


def _numbers(column: TextColumn, numbers: Mapping[str, float | None]) -> Floats:
    values = [numbers.get(value) for value in column.values]
    found = np.array([np.nan if one is None else one for one in values], dtype=np.float64)
    return found[column.codes] if len(found) else np.empty(0)


def _is_chosen(run: RunReader, selection: Selection) -> Mask:
    """Return which battles are selected, as far as outlines tell."""
    outlines = run.outlines
    a, b, verdict = (outlines.texts[name] for name in ("model_a", "model_b", "verdict"))
    kept = np.ones(len(outlines), dtype=np.bool_)
    roster = list(dict.fromkeys([*(run.manifest.get("models") or ()), *seen_in(a, b)]))
    if selection.pair is not None:
        one, other = (_known(name, roster, "--pair") for name in selection.pair)
        if one == other:
            raise WrongArgument(f"--pair names {safe(one)} twice; name two models")
        kept &= (a.among([one]) & b.among([other])) | (a.among([other]) & b.among([one]))
    if selection.lost_by is not None:
        name = _known(selection.lost_by, roster, "--lost-by")
        kept &= lost_by(outlines, name)
    if selection.verdicts:
        kept &= verdict.among(each for word in selection.verdicts for each in VERDICTS[word])
    return kept


def lost_by(outlines: Outlines, model: str) -> Mask:
    """Return which battles a model lost by a judge's decision."""
    a, b, verdict = (outlines.texts[name] for name in ("model_a", "model_b", "verdict"))
    is_lost: Mask = (a.among([model]) & verdict.among("b")) | (
        b.among([model]) & verdict.among("a")
    )
    return is_lost


def _known(typed: str, roster: Sequence[str], option: str) -> str:
    """Return the model that was typed, in full or short; BadInput if there is none."""
    if (name := in_full(typed, roster)) in roster:
        return name
    there = ", ".join(roster[:8]) + (", ..." if len(roster) > 8 else "")
    raise BadInput(safe(f"{option} {typed}: no such model; there are {there or 'none'}"))


_SAID = ("question", "answer_a", "answer_b", "reason", "verdicts")


def _is_said(battles: BattlesOf, text: str) -> Mask:
    """Return which battles contain a text."""
    wanted = _plain(text)
    found = (any(wanted in _plain(said) for said in _texts(one)) for one in battles.fields(*_SAID))
    return np.fromiter(found, np.bool_, len(battles))


def _plain(text: str) -> str:
    """Return a text for comparison: one case, composed accents, single blanks."""
    return " ".join(composed(text).casefold().split())


def _texts(fields: Sequence[Any]) -> Iterator[str]:
    """Yield the texts of the fields in _SAID, which in a changed file may have any shape."""
    *texts, judgings = fields
    for judging in judgings if isinstance(judgings, list) else ():
        if isinstance(judging, dict):
            analyses = judging.get("analyses")
            texts += [judging.get("reason"), judging.get("own_answer")]
            texts += analyses.values() if isinstance(analyses, dict) else ()
    return (text for text in texts if isinstance(text, str))


_AT_ONCE = 128


def read_in_order(
    battles: BattlesOf, rows: Longs, read: Callable[[BattlesOf], Iterable[_T]]
) -> Iterator[_T]:
    """Yield what `read` returns for battles in the order of `rows`, a few in memory at a time."""
    if bool(np.all(rows[1:] > rows[:-1])):
        yield from read(battles.where(rows))
        return
    for first in range(0, len(rows), _AT_ONCE):
        # Rows have to ascend: they are read in stored order and handed out in the wanted one.
        part = rows[first : first + _AT_ONCE]
        ascending = np.sort(part)
        found = dict(zip(ascending.tolist(), read(battles.where(ascending)), strict=True))
        yield from (found[row] for row in part.tolist())


CUT = Marks(cut="...", line="-")
LEAST = 12
"""The fewest columns for who met, however narrow the terminal is."""
BESIDE = 48
"""Columns that question and reason need each to stand beside a battle, not beneath it."""
FOLDS = 8
"""The most lines that a name takes."""
ListForm = Literal["table", "csv", "json", "jsonl"]
COLUMNS = (
    *("id", "video", "duration_s", "category", "persona", "round", "origin", "difficulty"),
    *("model_a", "model_b", "verdict", "reason", "propensity", "question"),
)
"""Columns of the CSV: the fields of a battle that fit a cell; long texts are in the JSON."""


def listing(
    folder: Path,
    form: ListForm,
    columns: int = 80,
    *,
    selection: Selection = EVERY,
    rate: Rate = lambda _run: (),
) -> Iterator[str]:
    """Yield the lines that list battles of the run in `folder`.

    Args:
        folder: of the run.
        form: of the lines.
        columns: of the terminal, for a table.
        selection: which battles, in which order.
        rate: rates the models, which tells how surprising an outcome is.
    """
    with open_run(folder) as run:
        rows = chosen_rows(run, selection, rate)
        if form == "jsonl":
            yield from (json.dumps(as_json(one)) for one in read_in_order(run.battles, rows, iter))
        elif form == "csv":
            of = read_in_order(run.battles, rows, lambda some: some.fields(*COLUMNS))
            yield from comma_separated_lines(COLUMNS, of)
        elif form == "json":
            yield from _as_array(map(as_json, read_in_order(run.battles, rows, iter)))
        elif len(rows):
            yield from as_lines(run, rows, columns)
        elif len(run.battles):
            yield f"none of {len(run.battles):,} battles fits {selection}"
        else:
            yield "no battle is settled yet"


def _as_array(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield one indented JSON array, an object at a time."""
    # One behind, since the last object has no comma after it.
    held = ""
    for found in objects:
        yield f"{held}," if held else "["
        held = indent(json.dumps(found, indent=2), "  ")
    yield f"{held}\n]" if held else "[]"


def as_json(battle: Battle) -> dict[str, Any]:
    """Return a battle in the published shape that other programs rely on."""
    return battle.model_dump(by_alias=True, mode="python")


class _Layout(NamedTuple):
    """The widths of the table's columns."""

    id: int
    file: int
    length: int
    result: int
    beside: tuple[int, int] | None
    """Widths of question and reason; None if they stand beneath."""
    columns: int

    def row(self, *texts: str) -> Iterator[str]:
        """Yield the lines of one battle: id, file, length, round, result, question and reason."""
        id_, file, length_, round_, result_, asked, reason = texts
        files = _folded(file, self.file)
        results = _folded(result_, self.result)
        beside = []
        if self.beside is not None:
            beside = [fit(asked, self.beside[0], CUT), fit(reason, self.beside[1], CUT)]
        for k, (file, result_) in enumerate(zip_longest(files, results, fillvalue="")):
            first = (id_, length_, round_, *beside) if k == 0 else ("", "", "", "", "")
            line = (
                f"{first[0]:<{self.id}}  {fit(file, self.file, CUT)}  {first[1]:>{self.length}}  "
                f"{first[2]:>{len('round')}}  {fit(result_, self.result, CUT)}"
            )
            yield "  ".join([line, *first[3:]]).rstrip()
        if self.beside is None:
            for text in filter(None, (asked, reason)):
                yield f"  {fit(text, self.columns - 2, CUT)}".rstrip()


def as_lines(run: RunReader, rows: Longs, columns: int) -> Iterator[str]:
    """Yield a table of battles, at least one, under a header: who met, what was asked, why.

    Question and reason have a line each, as long as the terminal allows: beside the battle if
    there is room for both, else beneath it.
    """
    names = short_names(run.manifest.get("models") or ())
    films = {video.id: video for video in run.store.videos()}
    outlines = run.outlines.where(rows)
    seen = {video: _seen(films.get(video)) for video in outlines.texts["video"].counts()}
    layout = _layout(outlines, seen, names, columns)
    titles = ("battle", "video", "length", "round", "result")
    yield from layout.row(*titles, "question", "why")
    yield CUT.line * columns
    for battle in read_in_order(run.battles, rows, iter):
        file, length_ = seen[battle.video]
        asked = " ".join(safe(battle.question or "").split())
        told = (result(battle, names), asked, why(battle, names))
        yield from layout.row(safe(battle.id), file, length_, str(battle.round + 1), *told)


def _layout(
    outlines: Outlines,
    seen: Mapping[str, tuple[str, str]],
    names: Mapping[str, str],
    columns: int,
) -> _Layout:
    files, lengths = zip(*seen.values(), strict=True)
    id_ = _widest(["battle", *map(safe, outlines.ids())])
    file = min(_widest(["video", *files]), columns // 5)
    length_ = _widest(["length", *lengths])
    codes = np.stack([outlines.texts[one].codes for one in ("model_a", "model_b", "verdict")])
    # Of a million battles few differ in what the column says.
    _, firsts = np.unique(codes, axis=1, return_index=True)
    widest = _widest(["result", *(result(one, names) for one in outlines.where(firsts))])
    # Columns are two blanks apart: four gaps here, two more beside question and reason.
    used = id_ + file + length_ + len("round") + 4 * 2
    both = columns - used - widest - 2 * 2
    if both >= 2 * BESIDE:
        return _Layout(id_, file, length_, widest, (both - both // 2, both // 2), columns)
    return _Layout(id_, file, length_, min(widest, max(columns - used, LEAST)), None, columns)


def _folded(text: str, width: int) -> list[str]:
    """Return a text in at most FOLDS lines of `width`, broken between words if possible."""
    if cell_len(text) <= width:
        return [text]
    console = Console(width=width, color_system=None)
    cut = fit(text, min(cell_len(text), FOLDS * width), CUT)
    lines = Text(cut).wrap(console, width, overflow="fold")
    return [line.plain.rstrip() for line in lines[:FOLDS]]


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _seen(film: Video | None) -> tuple[str, str]:
    """Return the file of a video without its folders, and its length."""
    if film is None:
        return "?", "?"
    return safe(film.path.rpartition("/")[2]), length(film.duration_s)
