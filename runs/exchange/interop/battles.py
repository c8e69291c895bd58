"""Battles as others publish them, turned into lines that `arena rate` reads.

Three shapes are known by their keys: VideoAutoArena's histories, Chatbot Arena's and FastChat's
battles, and arena-hard's judgments. Nothing is guessed: a verdict that cannot be read is void.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.exchange.interop.judgments import WORDS
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import (
    decode,
    kind_of,
    oddity,
    parse_json,
    read_bytes,
    refuse_existing,
    write_lines,
)
from videoautoarena.runs.formats.words import composed, respellings
from videoautoarena.runs.rating.rate import verdict_of
from videoautoarena.runs.run.rundir.reader import counted

Format = Literal["videoautoarena", "fastchat", "arena-hard"]
NEEDED: dict[Format, tuple[str, ...]] = {
    "videoautoarena": ("model a", "model b"),
    "fastchat": ("model_a", "model_b", "winner"),
    "arena-hard": ("model", "games"),
}
"""Keys that every battle of a format has, and by which the format is known."""
WINNERS = {"a": "model_a", "b": "model_b", "tie": "tie", "tie_bad": "tie (bothbad)", "void": "void"}
"""The end of a battle to what is written of it."""
WEIGHT = 3
"""Battles that arena-hard counts for a verdict of much better."""
SEATS = ("model_a", "model_b")
_OVERALL = "Overall Judge"
# Whole words, and A and B as capitals alone: `a` is an article.
_PLAYER = re.compile(r"\b(A|B|[Tt]ie|TIE)\b")
_GAME = re.compile(r"\s*\[*\s*(A>>B|A>B|A=B|B>A|B>>A)\s*\]*\s*")
Line = dict[str, Any]


@dataclass(frozen=True)
class BattlesImport:
    """Battles that were taken in."""

    file: str
    format: str
    battles: int
    void: int
    models: int
    respelled: int = 0
    """Models whose names stood there in composed and in decomposed letters: each is one."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import battles --json`."""
        return {"schema": SCHEMA, **asdict(self)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        void = f"; {self.void} void" if self.void else ""
        battles = counted(self.battles, "battle")
        letters = (
            f"; {counted(self.respelled, 'name')} in composed and in decomposed letters, "
            "each taken for one model"
        )
        models = counted(self.models, "model")
        return f"{battles} of {models}, {self.format}{void}{letters if self.respelled else ''}"


def import_battles(
    files: Sequence[Path],
    to: Path,
    *,
    form: Format | None = None,
    baseline: str | None = None,
    force: bool = False,
) -> BattlesImport:
    """Write the battles of some files as JSON lines for `arena rate`, whole or not at all.

    Args:
        files: each a JSON list, an object of battles by id, or JSON lines.
        to: the file to write.
        form: the format of the battles; None to go by their keys.
        baseline: the model that all were held against, for arena-hard's judgments without its name.
        force: replace `to`.

    Raises:
        BadInput: a file or a battle in it cannot be used, which is named; or `to` is there.
    """
    if to.suffix != ".jsonl":
        raise BadInput(f"{to} must end in .jsonl")
    refuse_existing(to, force=force)
    lines: list[Line] = []
    for file in files:
        for where, battle in _each(file):
            # The first battle decides for all: formats are never mixed in one file of ratings.
            form = form or _form_of(battle, where)
            for key in NEEDED[form]:
                if key not in battle:
                    raise BadInput(f"{where} has no {quoted(key)}, as every {form} battle has")
            lines += _READERS[form](battle, where, baseline)
    respelled = len(respellings(line[seat] for line in lines for seat in SEATS))
    for line in lines:
        # One model whose accents are written in two ways would be rated as two.
        line.update({seat: composed(line[seat]) for seat in SEATS})
    write_lines(to, lines)
    models = {line[seat] for line in lines for seat in SEATS}
    ends = Counter(line["winner"] for line in lines)
    return BattlesImport(
        str(to), form or "no format", len(lines), ends["void"], len(models), respelled=respelled
    )


def _each(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every battle of a file with where it stands."""
    for place, battle in enumerate(_battles(file), start=1):
        where = f"{file}, battle {place}"
        if not isinstance(battle, dict):
            raise BadInput(f"{where} is {kind_of(battle)}, no object")
        if wrong := oddity(battle):
            raise BadInput(f"{where} {wrong}")
        yield where, battle


def _battles(file: Path) -> Sequence[Any]:
    text = decode(read_bytes(file), str(file))
    if file.suffix in (".jsonl", ".ndjson"):
        # Not splitlines: it also breaks at characters such as U+2028, which JSON strings may hold.
        rows = enumerate(text.split("\n"), start=1)
        return [parse_json(row, f"{file}, line {k}") for k, row in rows if row.strip()]
    read = parse_json(text, str(file))
    found = list(read.values()) if isinstance(read, dict) else read
    if not isinstance(found, list) or not found:
        raise BadInput(f"{file} holds no list of battles")
    return found


def _form_of(battle: Mapping[str, Any], where: str) -> Format:
    for form, keys in NEEDED.items():
        if all(key in battle for key in keys):
            return form
    there = ", ".join(quoted(key) for key in list(battle)[:8]) or "nothing"
    raise BadInput(f"{where} is of no known format; it has {there}; pass --format")


def _of_video_arena(battle: Mapping[str, Any], where: str, _: str | None) -> list[Line]:
    words = battle.get(_OVERALL)
    if not isinstance(words, str):
        whole = battle.get(WORDS)
        words = whole.split(f"[{_OVERALL}]")[-1] if isinstance(whole, str) else ""
    # The published reader looks for the letters anywhere, so that in it "Both" is B.
    said = {found.casefold() for found in _PLAYER.findall(words)}
    line = {
        "model_a": _name(battle, "model a", where),
        "model_b": _name(battle, "model b", where),
        "winner": WINNERS[said.pop() if len(said) == 1 else "void"],
        **_texts(battle, {"model a answer": "answer_a", "model b answer": "answer_b"}),
        **_texts(battle, {"video_id": "video", "qid": "qid", "question": "question"}),
    }
    return [{**line, "origin": "evolved" if battle.get("evol") else "first"}]


def _of_fastchat(battle: Mapping[str, Any], where: str, _: str | None) -> list[Line]:
    verdict = verdict_of(battle["winner"])
    if verdict is None:
        raise BadInput(f"{where}: winner is {quoted(battle['winner'])}; it may be model_a, model_b "
                       "or tie")  # fmt: skip
    return [
        {
            "model_a": _name(battle, "model_a", where),
            "model_b": _name(battle, "model_b", where),
            "winner": WINNERS.get(verdict, verdict),
            **_texts(battle, {"video": "video", "question_id": "qid", "judge": "judge"}),
        }
    ]


def _of_arena_hard(battle: Mapping[str, Any], where: str, baseline: str | None) -> list[Line]:
    """Return a battle a game, three where one side was much better; both void where one is.

    The baseline is A in the first game and B in the second.
    """
    model = _name(battle, "model", where)
    games = battle["games"]
    if not isinstance(games, list) or len(games) != 2:
        raise BadInput(f"{where} must have two games")
    against = battle.get("baseline", baseline)
    if not isinstance(against, str) or not against.strip():
        raise BadInput(f"{where} names no baseline; pass --baseline")
    # A question takes the place of the video: its games depend on each other, and intervals go by
    # that.
    rest = _texts(battle, {"uid": "video", "question_id": "video", "judge": "judge"})
    scores = [_score(game) for game in games]
    seats = ((against.strip(), model), (model, against.strip()))
    lines = []
    for (a, b), score in zip(seats, scores, strict=True):
        line: Line = {"model_a": a, "model_b": b, "winner": "void", **rest}
        # Arena-hard drops a question of which one game cannot be read, so both are void.
        if None in scores or score is None:
            lines.append(line)
            continue
        winner = "tie" if score == "A=B" else f"model_{score[0].lower()}"
        lines += [{**line, "winner": winner}] * (WEIGHT if ">>" in score else 1)
    return lines


def _score(game: Any) -> str | None:
    score = game.get("score") if isinstance(game, dict) else None
    found = _GAME.fullmatch(score) if isinstance(score, str) else None
    return found[1] if found else None


def _name(battle: Mapping[str, Any], key: str, where: str) -> str:
    value = battle[key]
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{where} has no name under {quoted(key)}")
    return value.strip()


def _texts(battle: Mapping[str, Any], keys: Mapping[str, str]) -> Line:
    """Return what the battle says under some keys, by what it is called here; no gaps."""
    return {
        ours: str(battle[theirs])
        for theirs, ours in keys.items()
        if isinstance(battle.get(theirs), str | int)
    }


_READERS: dict[Format, Callable[[Mapping[str, Any], str, str | None], list[Line]]] = {
    "videoautoarena": _of_video_arena,
    "fastchat": _of_fastchat,
    "arena-hard": _of_arena_hard,
}
