"""Judgments of arena-hard's folder, of either version, taken in as they stand and written again.

A folder holds `model_judgment/<judge>/<model>.jsonl`, beside it `model_answer/<model>.jsonl` and
`question.jsonl` where somebody kept them. Everything is checked against the bench before anything
is written; what a line cannot say is named with its file and line.

Files that are written have the keys of the second version and the ids of the first, so that tools
of both find theirs. Nothing that a name holds is a path: what is no plain name ends in a digest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.memory.records.remedies import option, step
from videoautoarena.runs.bench.format.points import DEGREES, LABELS, LEADS, by_question
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    Anchored,
    Comparison,
    read_anchored,
    write_result,
)
from videoautoarena.runs.bench.format.schema import Item, digest_of
from videoautoarena.runs.bench.score.score import anchored_by
from videoautoarena.runs.exchange.interop.judgments import files_below, named
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import (
    decode,
    kind_of,
    make_folder,
    oddity,
    parse_json,
    read_bytes,
    refuse_existing,
    write_lines,
)
from videoautoarena.runs.run.rundir.reader import counted

CATEGORY = "video"
"""The category under which arena-hard's tools find the questions."""
QUESTIONS = "question.jsonl"
ANSWERS = "model_answer"
JUDGMENTS = "model_judgment"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MIRRORED = {"A>>B": "B>>A", "A>B": "B>A", "A=B": "A=B", "B>A": "A>B", "B>>A": "A>>B"}
Line = dict[str, Any]


class ArenaHardExport(NamedTuple):
    """What was written."""

    folder: Path
    questions: int
    answers: int
    judgments: int
    files: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return {**self._asdict(), "folder": str(self.folder), "files": list(self.files)}

    def as_line(self) -> str:
        """Return it as a line for a person."""
        return (
            f"{self.folder}: {counted(self.questions, 'question')}, "
            f"{counted(self.answers, 'answer')} and {counted(self.judgments, 'judgment')} "
            "as arena-hard files"
        )


def export_arena_hard(
    bench: OpenBench, to: Path, *, judge: str | None = None, force: bool = False
) -> ArenaHardExport:
    """Write a bench, and what was held against anchors on it, as arena-hard's folder.

    A judge's line holds two games; a seating that was void has no score there, as in arena-hard.

    Raises:
        BadInput: nothing was held against an anchor; a file is there and not `force`; or one model
            answered a question in two ways, of which the folder has room for one.
    """
    results = anchored_by(bench, judge=judge)
    if not results:
        raise BadInput(
            f"there are no results against an anchor on {bench.folder}"
            + (f" by {quoted(judge)}" if judge else "")
            + f"; make some with {step('bench run', anchor='MODEL')}"
        )
    answers = _answered_texts(results)
    files = {
        Path(QUESTIONS): [
            {
                "uid": item.qid,
                "question_id": item.qid,
                "category": CATEGORY,
                "subcategory": item.category or CATEGORY,
                # The second version of their tools reads the prompt, the first one the turns.
                "prompt": item.question,
                "turns": [{"content": item.question}],
                "video_id": item.video_id,
                "persona": item.persona,
            }
            for item in bench.items
        ]
    }
    names = _names(answers)
    for model, texts in answers.items():
        lines = [_answer(model, item, texts[item.qid]) for item in bench.items if item.qid in texts]
        files[Path(ANSWERS, f"{names[model]}.jsonl")] = lines
    judges = _names(one.judge for one in results)
    judged = 0
    for result in results:
        # Not from `names`: a model of which no answer was kept is not in it.
        file = f"{_names([result.model])[result.model]}.jsonl"
        path = Path(JUDGMENTS, judges[result.judge], file)
        lines = list(_judgment_lines(bench, result))
        # Results of one model against several anchors share a file there.
        files[path] = [*files.get(path, []), *lines]
        judged += len(lines)
    # All are looked at before any is written, so that a refusal leaves no half of a folder.
    for path in files:
        refuse_existing(to / path, force=force)
    for path, lines in files.items():
        make_folder((to / path).parent)
        write_lines(to / path, lines)
    given = sum(len(texts) for texts in answers.values())
    return ArenaHardExport(to, len(bench.items), given, judged, tuple(str(path) for path in files))


def _answered_texts(results: Sequence[Anchored]) -> dict[str, dict[str, str]]:
    """Return what each model answered, by name and qid; the anchors among them."""
    found: dict[str, dict[str, str]] = {}
    for result in results:
        for one in result.rulings:
            for name, text in ((result.model, one.response), (result.anchor, one.anchor_response)):
                if text is None:
                    continue
                if found.setdefault(name, {}).setdefault(one.qid, text) != text:
                    raise BadInput(
                        f"{quoted(name)} answered {quoted(one.qid)} in two ways; "
                        f"name one judge with {option('judge')}"
                    )
    return found


def _names(names: Iterable[str]) -> dict[str, str]:
    """Return a name of a file or folder for each; no two share one, whatever the case."""
    return {
        name: name
        # Some file systems fold case, and would take two names that differ in it alone for one.
        if _PLAIN.fullmatch(name) and name == name.casefold()
        else f"{re.sub('[^a-z0-9.]+', '-', name.casefold())[:60].strip('-.')}-{digest_of(name)[:8]}"
        for name in names
    }


def _answer(model: str, item: Item, text: str) -> Line:
    return {
        "uid": item.qid,
        "question_id": item.qid,
        "ans_id": digest_of([model, item.qid])[:22],
        "model": model,
        "model_id": model,
        "messages": [
            {"role": "user", "content": item.question},
            {"role": "assistant", "content": {"answer": text}},
        ],
        "choices": [{"index": 0, "turns": [{"content": text}]}],
    }


def _judgment_lines(bench: OpenBench, result: Anchored) -> Iterator[Line]:
    found = by_question(result)
    for item in bench.items:
        if item.qid in found:
            comparisons = found[item.qid]
            seated: Mapping[str | None, Comparison] = {one.seats: one for one in comparisons}
            games = []
            for seats in ("ab", "ba"):
                # A line without a seating stands for both, and fills both games.
                one = seated.get(seats) or seated.get(None)
                label = LABELS[LEADS[one.verdict]] if one and one.verdict != "void" else None
                if label is not None and seats == "ba":
                    # In the second game the candidate is A.
                    label = _MIRRORED[label]
                words = (one.words if one else None) or (one.reason if one else None) or ""
                games.append({"score": label, "judgment": {"answer": words}})
            yield {
                "uid": item.qid,
                "question_id": item.qid,
                "category": CATEGORY,
                "judge": result.judge,
                "model": result.model,
                "baseline": result.anchor,
                "games": games,
            }


FIRST = {
    **{label: lead for lead, label in LABELS.items()},
    **{"A<<B": 2, "A<B": 1, "B=A": 0, "B<A": -1, "B<<A": -2},
}
"""How far the candidate is ahead by the label of the game in which the anchor is A."""
IDS = ("uid", "question_id")
_AROUND = re.compile(r"[\s\[\]]")
_LONGEST = 40
"""The most characters of a verdict, with what is around it."""


@dataclass(frozen=True)
class ArenaHardImport:
    """Judgments that were taken in."""

    results: int
    models: int
    judgments: int
    void: int
    """Judgments among them with a game without a readable verdict."""
    missing: int
    """Questions of the bench without a judgment, summed over results."""
    answers: int
    """Judgments of which both answers are there."""

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import arena-hard --json`."""
        return {"schema": SCHEMA, **asdict(self)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person."""
        head = (
            f"{counted(self.judgments, 'judgment')} of {counted(self.models, 'model')} in "
            f"{counted(self.results, 'result')}, {self.answers} with both answers"
        )
        odd = {"void": self.void, "missing": self.missing}
        return [head, *(f"  {number} {what}" for what, number in odd.items() if number)]


class _ArenaHardLine(NamedTuple):
    """One object of a JSON lines file, and where it stands."""

    where: str
    content: Mapping[str, Any]


Answers = Mapping[tuple[str, str], str]
"""Model and qid to the text of the answer."""


def import_arena_hard(
    folder: Path,
    bench: OpenBench,
    *,
    baseline: str | None = None,
    allow_differing: bool = False,
    force: bool = False,
) -> ArenaHardImport:
    """Take in all judgments of a folder, or none of them.

    Args:
        folder: as arena-hard has it below `data/<bench>`.
        bench: the one whose questions were judged, by their qid.
        baseline: the model that all were held against, for lines that do not name it.
        allow_differing: take in what is about another text of a question than the bench's.
        force: replace what the same judges said of the same models.

    Raises:
        BadInput: a file or a line cannot be used, which is named; or a result is there already.
    """
    items = {item.qid: item for item in bench.items}
    if not allow_differing:
        _check_questions(folder, items)
    answers = _answers(folder, items)
    found = _judgments(folder, items, answers, baseline)
    results = [
        Anchored(
            bench=bench.bench,
            model=model,
            judge=judge,
            anchor=anchor,
            how="import",
            rulings=comparisons,
            facts={"format": "arena-hard"},
        )
        for (model, judge, anchor), comparisons in found.items()
    ]
    # All are looked at before any is written, so that a refusal takes in none.
    there = (
        set[tuple[str, ...]]()
        if force
        else {(r.model, r.judge, r.anchor) for r in read_anchored(bench)}
    )
    for one in results:
        if (one.model, one.judge, one.anchor) in there:
            raise BadInput(
                f"{bench.folder} has a result of {quoted(one.model)} by {quoted(one.judge)} "
                f"against {quoted(one.anchor)} already; pass --force to replace it"
            )
    for result in results:
        write_result(bench, result, force=force)
    return _taken(results, questions=len(items))


def _taken(results: Sequence[Anchored], *, questions: int) -> ArenaHardImport:
    judged = [games for one in results for games in by_question(one).values()]
    return ArenaHardImport(
        results=len(results),
        models=len({one.model for one in results}),
        judgments=len(judged),
        void=sum(any(game.verdict == "void" for game in games) for games in judged),
        missing=len(results) * questions - len(judged),
        answers=sum(
            games[0].response is not None and games[0].anchor_response is not None
            for games in judged
        ),
    )


def _check_questions(folder: Path, items: Mapping[str, Item]) -> None:
    """Refuse questions of other words; what the bench does not ask is of no concern here."""
    file = folder / QUESTIONS
    if not file.is_file():
        return
    for line in _lines(file):
        item = items.get(_qid(line))
        prompt = line.content.get("prompt")
        # The second version has a prompt, the first had turns.
        if prompt is None and (turns := line.content.get("turns")) is not None:
            first = turns[0] if isinstance(turns, list) and turns else None
            prompt = first.get("content") if isinstance(first, dict) else None
        if prompt is not None and not isinstance(prompt, str):
            raise _bad(line, f"its question is {kind_of(prompt)}, not text")
        if item is not None and prompt is not None and prompt.strip() != item.question.strip():
            raise BadInput(
                f"{line.where}: the question {quoted(item.qid)} differs from the bench; "
                "import it with --allow-differing; nothing was imported"
            )


def _answers(folder: Path, items: Mapping[str, Item]) -> Answers:
    found: dict[tuple[str, str], str] = {}
    for file in files_below(folder / ANSWERS, (".jsonl",)):
        for line in _lines(file):
            model = _name(line, ("model", "model_id")) or file.stem
            key = (model, _qid(line))
            if key in found:
                raise _bad(line, f"{quoted(model)} answers {quoted(key[1])} again")
            if key[1] in items:
                found[key] = _text(line)
    return found


def _text(line: _ArenaHardLine) -> str:
    """Return the answer in a line: the last message of the second version, or of the first."""
    messages = line.content.get("messages")
    choices = line.content.get("choices")
    last: Any = None
    if isinstance(messages, list) and messages:
        last = messages[-1]
    elif isinstance(choices, list) and choices and isinstance(choices[0], dict):
        turns = choices[0].get("turns")
        last = turns[-1] if isinstance(turns, list) and turns else None
    text = last.get("content") if isinstance(last, dict) else None
    if isinstance(text, dict):
        text = text.get("answer")
    if not isinstance(text, str):
        raise _bad(line, "there is no answer in it")
    return text


def _judgments(
    folder: Path, items: Mapping[str, Item], answers: Answers, baseline: str | None
) -> dict[tuple[str, str, str], list[Comparison]]:
    """Return the comparisons by model, judge and anchor, in the order of the bench."""
    place = {qid: k for k, qid in enumerate(items)}
    found = defaultdict[tuple[str, str, str], list[Comparison]](list)
    seen: dict[tuple[str, str, str, str], str] = {}
    for line, judge, stem in _judged(folder):
        model = _name(line, ("model",)) or stem
        anchor = _name(line, ("baseline",)) or baseline
        if anchor is None:
            raise _bad(line, "it names no baseline; pass --baseline")
        judge = named("judge", _name(line, ("judge",)) or judge)
        key = (named("model", model), judge, named("baseline", anchor))
        qid = _qid(line)
        if qid not in items:
            raise _bad(line, f"it judges {quoted(qid)}, which is not in the bench")
        if (before := seen.setdefault((*key, qid), line.where)) != line.where:
            raise _bad(line, f"it judges {quoted(qid)} again, after {before}")
        texts = (answers.get((model, qid)), answers.get((anchor, qid)))
        games = line.content.get("games")
        if not isinstance(games, list) or len(games) != 2:
            raise _bad(line, "it must have two games")
        found[key] += [
            _comparison(line, qid, game, is_second=bool(k), texts=texts)
            for k, game in enumerate(games)
        ]
    for comparisons in found.values():
        comparisons.sort(key=lambda one: place[one.qid])
    return dict(found)


def _judged(folder: Path) -> Iterator[tuple[_ArenaHardLine, str, str]]:
    """Yield each judgment, with the names that its folder and its file have."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder; pass one that holds {JUDGMENTS}")
    files = list(files_below(folder / JUDGMENTS, (".jsonl",)))
    if not files:
        raise BadInput(f"{folder} holds no judgment; there must be {JUDGMENTS}/<judge>/*.jsonl")
    for file in files:
        if file.parent.name == JUDGMENTS:
            raise BadInput(f"{file} lies in no judge's folder; move it into {JUDGMENTS}/<judge>")
        for line in _lines(file):
            yield line, file.parent.name, file.stem


def _comparison(
    line: _ArenaHardLine,
    qid: str,
    game: Any,
    *,
    is_second: bool,
    texts: tuple[str | None, str | None],
) -> Comparison:
    if game is not None and not isinstance(game, dict):
        raise _bad(line, f"a game of it is {kind_of(game)}, no object")
    score = game.get("score") if game else None
    if score is not None and not isinstance(score, str):
        raise _bad(line, f"a score of it is {kind_of(score)}, no text")
    lead = None
    why = "the judge gave no verdict"
    if score is not None:
        # Cut first: a score may be any text, of megabytes.
        # In upper case, as arena-hard's own parser reads it.
        label = _AROUND.sub("", score[: _LONGEST + 1]).upper()
        lead = FIRST.get(label) if len(score) <= _LONGEST else None
        why = f"{quoted(score[:_LONGEST])} is no verdict"
    if lead is not None and is_second:
        # In the second game the candidate is A.
        lead = -lead
    said = game.get("judgment") if game else None
    if isinstance(said, dict):
        said = said.get("answer")
    return Comparison(
        qid=qid,
        verdict="void" if lead is None else DEGREES[lead],
        seats="ba" if is_second else "ab",
        response=texts[0],
        anchor_response=texts[1],
        words=said if isinstance(said, str) and said else None,
        reason=why if lead is None else None,
    )


def _qid(line: _ArenaHardLine) -> str:
    for key in IDS:
        value = line.content.get(key)
        if isinstance(value, str) and value:
            return value
    raise _bad(line, 'it has no "uid" and no "question_id"')


def _name(line: _ArenaHardLine, keys: Sequence[str]) -> str | None:
    for key in keys:
        value = line.content.get(key)
        if value is None:
            continue
        if not isinstance(value, str) or not value.strip():
            raise _bad(line, f'"{key}" is {kind_of(value)}, no name')
        return value
    return None


def _lines(file: Path) -> Iterator[_ArenaHardLine]:
    """Yield the objects of a file; lines are as JSON lines have them, between line feeds."""
    # Not splitlines: it also breaks at characters such as U+2028, which JSON strings may hold.
    for place, row in enumerate(decode(read_bytes(file), str(file)).split("\n"), start=1):
        if not row.strip():
            continue
        where = f"{file}, line {place}"
        value = parse_json(row, where)
        if not isinstance(value, dict):
            raise BadInput(f"{where}: it is {kind_of(value)}, no object; nothing was imported")
        if wrong := oddity(value):
            raise BadInput(f"{where}: it {wrong}; nothing was imported")
        yield _ArenaHardLine(where, value)


def _bad(line: _ArenaHardLine, why: str) -> BadInput:
    return BadInput(f"{line.where}: {why}; nothing was imported")
