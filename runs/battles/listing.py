"""Battles one a line: who beat whom and why, for people or for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

from videoautoarena.memory.records.outlines import Outline
from videoautoarena.memory.records.records import Battle, Judging, Video
from videoautoarena.runs.rundir.reader import BattlesOf, open_run, outcome, readable_reason
from videoautoarena.runs.text.tables import Marks, cells, comma_separated_lines, fit
from videoautoarena.runs.text.terminal import safe
from videoautoarena.runs.text.words import length

STANDARDS = ("accuracy", "instruction_following", "helpfulness", "relevance")
"""In the order in which they give the reason."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_FAULT = re.compile(
    r"\b(not|no|nothing|never|wrong\w*|incorrect\w*|miss\w*|fail\w*|lack\w*|omit\w*|ignor\w*|vague\w*"
    r"|hallucinat\w*|invent\w*|confus\w*|unsupported|contradict\w*|wander\w*|gives .* for)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(while|whereas|but|however|more|unlike|only|both|neither)\b", re.I)
_SEAT = re.compile(
    r"\b(?:[Tt]he )?(?:[Aa]nswer|[Mm]odel|[Rr]esponse|[Aa]ssistant|[Cc]ontestant) ([AB])\b"
    r"|(?<=[a-z,;:] )([AB])\b|^(B)\b|^(A)(?='s\b| [a-z]*[^s\W]s\b| [a-z]+ly\b)"
)
"""A seat, and not the article: that begins a sentence, and no verb follows it."""
_ERROR_CLASS = re.compile(r"\b[A-Z]\w+(?:Error|Exception|Timeout): ")
"""What stands before a provider's own words, and takes half a line."""
_TIES = {"tie": "tie", "tie_good": "both good", "tie_bad": "both bad", "split": "split"}


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Return models by names without their provider, where those still tell them apart."""
    short = {model: model.rpartition(":")[2] or model for model in models}
    return short if len(set(short.values())) == len(short) else {m: m for m in models}


def result(battle: Battle, names: Mapping[str, str]) -> str:
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
    """Return the reason of a verdict as one phrase; empty where none was given."""
    if battle.reason:
        return _flat(_ERROR_CLASS.sub("", readable_reason(battle.reason)))
    judging = next((j for j in battle.verdicts if j.verdict == battle.verdict and j.analyses), None)
    judging = judging or next((j for j in battle.verdicts if j.analyses), None)
    if judging is None:
        return ""
    texts = [_with_names(sentence, battle, judging, names) for sentence in _sentences(judging)]
    loser = {"a": battle.model_b, "b": battle.model_a}.get(battle.verdict)
    lost = names.get(loser or "", loser or "")
    # max keeps the first of equals: the earlier sentence of the weightier standard.
    return _flat(max(texts, key=lambda sentence: _weight(sentence, lost), default=""))


def _sentences(judging: Judging) -> Iterator[str]:
    for standard in STANDARDS:
        yield from _SENTENCES.split(getattr(judging.analyses, standard).strip()[:2000])


def _with_names(sentence: str, battle: Battle, judging: Judging, names: Mapping[str, str]) -> str:
    pair = (battle.model_a or "?", battle.model_b or "?")
    a, b = pair if judging.seats == "ab" else pair[::-1]
    seats = {"A": names.get(a, a), "B": names.get(b, b)}

    def name(found: re.Match[str]) -> str:
        return seats[next(group for group in found.groups() if group)]

    return _SEAT.sub(name, sentence)


def _weight(sentence: str, loser: str) -> float:
    words = len(sentence.split())
    if words < 4:
        return -1.0
    blame = bool(_FAULT.search(sentence)) * (2.0 if loser and loser in sentence else 0.5)
    return blame + 0.5 * bool(_CONTRAST.search(sentence)) - (words > 30)


def _flat(text: str) -> str:
    return safe(" ".join(text.split())).rstrip(".;")


CUT = Marks(cut="...")
LEAST = 24
"""Columns for what a line says, however narrow the terminal is."""
ListForm = Literal["table", "csv", "json", "jsonl"]
COLUMNS = (
    *("id", "video", "duration_s", "category", "persona", "round", "origin", "difficulty"),
    *("model_a", "model_b", "verdict", "reason", "propensity", "question"),
)
"""Of the CSV: what a battle holds that fits a cell; the texts are in the JSON."""


def listing(folder: Path, form: ListForm, columns: int = 80) -> Iterator[str]:
    """Yield the lines that list the battles of the run in `folder`, a table in so many columns."""
    with open_run(folder) as run:
        if form == "jsonl":
            yield from (json.dumps(as_json(battle)) for battle in run.battles)
        elif form == "csv":
            yield from comma_separated_lines(COLUMNS, run.battles.fields(*COLUMNS))
        elif form == "json":
            yield from _as_array(map(as_json, run.battles))
        elif len(run.battles):
            films = {video.id: video for video in run.store.videos()}
            names = short_names(run.manifest.get("models") or ())
            yield from as_lines(run.battles, films, names, columns)
        else:
            yield "no battle is settled yet"


def _as_array(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Give one JSON array, indented, an object at a time."""
    held = ""
    for found in objects:
        yield f"{held}," if held else "["
        held = indent(json.dumps(found, indent=2), "  ")
    yield f"{held}\n]" if held else "[]"


def as_json(battle: Battle) -> dict[str, Any]:
    """Return a battle in the shape other programs rely on."""
    return battle.model_dump(by_alias=True, mode="python")


def as_lines(
    battles: BattlesOf, films: Mapping[str, Video], names: Mapping[str, str], columns: int
) -> Iterator[str]:
    """Give one aligned line a battle: id, video, outcome, question, cut to `columns`.

    Args:
        battles: in the order in which they are listed, one at least.
        films: by id.
        names: of models, as short as they may be.
        columns: of the terminal.
    """
    outlines = battles.outlines
    seen = {video: _seen(films.get(video)) for video in outlines.texts["video"].counts()}
    long = _widest(map(safe, outlines.ids()))
    file, lasts = (_widest(column) for column in zip(*seen.values(), strict=True))
    file = min(file, columns // 5)
    room = max(columns - long - file - lasts - 5, LEAST)
    # Both names of a pair are to be seen, whatever their lengths.
    most = max((room - len(" beat ")) // 2, len("..."))
    cut = {m: fit(name, most, CUT) if cells(name) > most else name for m, name in names.items()}

    reasons = dict(battles.reasons())

    def ended(battle: Outline) -> str:
        a, b = (cut.get(model or "", model) for model in (battle.model_a, battle.model_b))
        return outcome(battle._replace(model_a=a, model_b=b), reasons.get(battle.id))

    width = min(_widest(map(ended, outlines)), room * 3 // 5)
    for battle, (question,) in zip(outlines, battles.fields("question"), strict=True):
        name, length_ = seen[battle.video]
        asked = " ".join(safe(question or "").split())
        yield (
            f"{safe(battle.id):<{long}}  {fit(name, file, CUT)} {length_:>{lasts}}  "
            f"{_ended(ended(battle), asked, width, room)}".rstrip()
        )


def _widest(texts: Iterable[str]) -> int:
    return max(map(cells, texts), default=0)


def _seen(film: Video | None) -> tuple[str, str]:
    """Return the file of a video, without its folders, and how long it is."""
    if film is None:
        return "?", "?"
    return safe(film.path.rpartition("/")[2]), length(film.duration_s)


def _ended(texts: str, asked: str, width: int, room: int) -> str:
    """Return who won and what was asked; what needs more than its column takes the question's."""
    if cells(texts) > width:
        return fit(texts, room, CUT)
    return f"{fit(texts, width, CUT)}  {fit(asked, room - width - 2, CUT)}"
