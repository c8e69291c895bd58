"""Judge outputs of VideoAutoBench as they are published.

It is asked to end in a section [Overall Judge] with one of [[A>B]], [[A=B]] and [[B>A]], where A is
the reference and B the candidate. Here the last label in the last such section binds.

A judge's output is a file of one JSON line, `<qid>.jsonl`, somewhere below a folder; its content
says what it is of, its name does not. The reference was always read first. Everything is checked
against the bench before anything is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import SCHEMA
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    REFERENCES,
    Against,
    Result,
    Ruling,
    write_result,
)
from videoautoarena.runs.bench.format.schema import Item
from videoautoarena.runs.formats.battle_table import quoted
from videoautoarena.runs.formats.files import decode, kind_of, oddity, parse_json, read_bytes
from videoautoarena.runs.run.rundir.reader import counted

Ruled = Literal["win", "tie", "loss"]
SECTION = "[Overall Judge]"
_SECTION = re.compile(r"\[\s*overall\s+judge\w*\s*\]", re.IGNORECASE)
_LABEL = r"(a\s*>{1,2}\s*b|b\s*>{1,2}\s*a|a\s*<{1,2}\s*b|b\s*<{1,2}\s*a|a\s*=\s*b|b\s*=\s*a)"
# Judges set labels in bold, as [[**A>B**]]; without a bound long runs of marks would be slow.
_BRACKETED = re.compile(rf"\[\[\W{{0,8}}?{_LABEL}\W{{0,8}}?\]\]", re.IGNORECASE)
_BARE = re.compile(rf"(?<!\w){_LABEL}(?!\w)", re.IGNORECASE)
_RULED: dict[str, Ruled] = {"B>A": "win", "A<B": "win", "A>B": "loss", "B<A": "loss"}


class ReadVerdict(NamedTuple):
    """What was read of a judge's words."""

    verdict: Ruled | None
    """Verdict for the candidate, which the judge knew as B; None if none can be read."""
    reason: str | None
    """Why there is none."""


def read_verdict(words: object) -> ReadVerdict:
    """Return the verdict that a judge's words end in.

    Without a section all labels in double brackets must say the same, and in a section without such
    a label all bare ones: what would have to be guessed is no verdict.
    """
    if not isinstance(words, str) or not words.strip():
        return ReadVerdict(None, "the judge said nothing")
    sections = _SECTION.split(words)
    if len(sections) == 1:
        return _unanimous(_BRACKETED.findall(words), f"no section {SECTION}")
    # Labels in double brackets are what the prompt asked for; bare ones may be mere prose.
    if labels := _BRACKETED.findall(sections[-1]):
        return ReadVerdict(_ruled(labels[-1]), None)
    return _unanimous(_BARE.findall(sections[-1]), f"no verdict after the last {SECTION}")


def published_rule(words: object) -> Ruled:
    """Return what the published scorer makes of a judge's words.

    That is: after the last "[Overall Judge]", a win if "B>A" occurs, else a tie if "=" does, else a
    loss. Source: VideoAutoBench, scoring script of the publication.
    """
    end = words.split(SECTION)[-1] if isinstance(words, str) else ""
    if "B>A" in end:
        return "win"
    return "tie" if "=" in end else "loss"


def _unanimous(labels: list[str], otherwise: str) -> ReadVerdict:
    said = {_ruled(label) for label in labels}
    if len(said) == 1:
        return ReadVerdict(said.pop(), None)
    return ReadVerdict(None, "its labels contradict each other" if said else otherwise)


def _ruled(label: str) -> Ruled:
    # Their bench has three verdicts: much better is no more than better.
    plain = re.sub(r"\s", "", label.upper()).replace(">>", ">").replace("<<", "<")
    return _RULED.get(plain, "tie")


WORDS = "GPT4o Judge response"
"""The key under which the published judge's words stand, whoever the judge was."""
# The published script asks by this alias, which stands for no one version.
JUDGE = "gpt-4o"
BINDING = ("video_id", "question")
"""Texts that must be as in the bench; others that differ are only counted."""
SUFFIXES = (".jsonl", ".json")
# Characters: as many as the head of a result takes.
_LONGEST_NAME = 200


@dataclass
class JudgedSide:
    """What was read of the judgings against one reference."""

    judged: int = 0
    missing: int = 0
    """Questions of the bench without a judging."""
    void: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    otherwise: int = 0
    """Judgings that the published scorer, which looks for parts of words, reads differently."""
    differing: int = 0
    """Judgings that were let in though their texts differ from the bench's."""


@dataclass(frozen=True)
class JudgmentsImport:
    """A model's judgings that were taken in."""

    model: str
    judge: str
    questions: int
    selected: JudgedSide
    rejected: JudgedSide

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `arena import videoautobench-judgments --json`."""
        return {"schema": SCHEMA, **asdict(self)}

    def as_lines(self) -> list[str]:
        """Return it as lines for a person: one for each reference, then what is odd."""
        return [
            line
            for against in REFERENCES
            for line in _side_lines(against, getattr(self, against), self.questions)
        ]


def _side_lines(against: str, side: JudgedSide, questions: int) -> Iterator[str]:
    yield f"against {against}: {side.judged} of {counted(questions, 'question')} judged"
    if side.missing:
        yield f"  {side.missing} missing; the score is of the others, see arena bench score --of"
    if side.void:
        reasons = ", ".join(f"{why} ({n})" for why, n in side.reasons.items())
        yield f"  {side.void} void: {reasons}"
    if side.otherwise:
        yield f"  {side.otherwise} read otherwise by the published scorer"
    if side.differing:
        yield f"  {side.differing} with another persona, reference, question or video than here"


class _JudgeOutput(NamedTuple):
    """One judge output and where it stands."""

    where: str
    content: Mapping[str, Any]


def import_judgments(
    selected: Path,
    rejected: Path,
    bench: OpenBench,
    model: str,
    *,
    judge: str = JUDGE,
    allow_differing: bool = False,
    force: bool = False,
) -> JudgmentsImport:
    """Take in a model's judge outputs against both references, all of them or none.

    Raises:
        BadInput: a folder without any, a file that cannot be read, one that is not of this bench or
            stands twice, or a result of this model by this judge is there and not `force`.
    """
    model = named("model", model)
    judge = named("judge", judge)
    items = {item.qid: item for item in bench.items}
    rulings = []
    sides = {}
    for against, folder in zip(REFERENCES, (selected, rejected), strict=True):
        side = sides[against] = JudgedSide(missing=len(items))
        for line in _each(folder, items):
            item = items[line.content["qid"]]
            answers = {"selected": item.selected_answer, "rejected": item.rejected_answer}
            other = REFERENCES[REFERENCES.index(against) - 1]
            given = line.content.get("reference")
            # With the two folders exchanged every score would be that against the other reference.
            if isinstance(given, str) and given == answers[other] != answers[against]:
                raise BadInput(
                    f"{line.where} judges {quoted(item.qid)} against the {other} answer, not "
                    f"the {against} one; the first folder is that of the selected answers"
                )
            side.differing += check_texts(
                line.content,
                item,
                line.where,
                reference=answers[against],
                allow_differing=allow_differing,
            )
            ruling = _ruling(line.content, item.qid, against)
            _count(side, ruling)
            rulings.append(ruling)
    result = Result(
        bench=bench.bench,
        model=model,
        judge=judge,
        how="import",
        rulings=rulings,
        facts={"format": "videoautobench-judgments"},
    )
    write_result(bench, result, force=force)
    return JudgmentsImport(model, judge, len(items), **sides)


def _each(folder: Path, items: Mapping[str, Item]) -> Iterator[_JudgeOutput]:
    """Yield every judge output below `folder`, once a question."""
    seen: dict[str, str] = {}
    for line in _lines(folder):
        qid = line.content.get("qid")
        if not isinstance(qid, str):
            raise BadInput(f'{line.where} has no "qid"; nothing was imported')
        if qid not in items:
            raise BadInput(
                f"{line.where} judges {quoted(qid)}, which is not in the bench; nothing "
                "was imported"
            )
        if qid in seen:
            raise BadInput(
                f"{line.where} judges {quoted(qid)} again, after {seen[qid]}; nothing was imported"
            )
        seen[qid] = line.where
        yield line


def _lines(folder: Path) -> Iterator[_JudgeOutput]:
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder; unpack the judge outputs into one")
    files = list(files_below(folder, SUFFIXES))
    if not files:
        raise BadInput(f"{folder} holds no judge output; it must hold <qid>.jsonl files")
    for file in files:
        text = decode(read_bytes(file), str(file))
        # Not splitlines: it also breaks at characters such as U+2028, which JSON strings may hold.
        rows = text.split("\n") if file.suffix == ".jsonl" else [text]
        said = [(place, row) for place, row in enumerate(rows, start=1) if row.strip()]
        for place, row in said:
            where = f"{file}, line {place}" if len(said) > 1 else str(file)
            yield _JudgeOutput(where, read_object(parse_json(row, where), where))


def files_below(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files below a folder, whatever archives leave beside them left out."""
    for at, folders, names in os.walk(folder):
        # In order of names, so that what is refused first does not depend on the file system.
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(names):
            if name.endswith(endings) and not name.startswith("."):
                yield Path(at, name)


def read_object(value: Any, where: str) -> dict[str, Any]:
    """Return what was read of a file as an object without odd places.

    Raises:
        BadInput: it is none; `where` says what it was to be.
    """
    if not isinstance(value, dict):
        raise BadInput(f"{where} holds {kind_of(value)}, no object; nothing was imported")
    if wrong := oddity(value):
        raise BadInput(f"{where} {wrong}; nothing was imported")
    return value


def check_texts(
    content: Mapping[str, Any],
    item: Item,
    where: str,
    *,
    reference: str | None = None,
    allow_differing: bool,
) -> bool:
    """Return whether what somebody wrote is about other texts than the bench's.

    Texts that are missing do not count as different, nor does space at the ends.

    Raises:
        BadInput: it is about another question or video, and that is not allowed; or it holds no
            text where one must be.
    """
    ours = {"video_id": item.video_id, "persona": item.persona, "question": item.question}
    if reference is not None:
        ours["reference"] = reference
    differs = []
    for key in ours:
        value = content.get(key, ours[key])
        if not isinstance(value, str):
            raise BadInput(f'{where} has {kind_of(value)} under "{key}"; it must be a text')
        if value.strip() != ours[key].strip():
            differs.append(key)
    binding = [key for key in differs if key in BINDING]
    if binding and not allow_differing:
        raise BadInput(
            f"{where}: the {binding[0]} of {quoted(item.qid)} differs from the bench; "
            "import it with --allow-differing; nothing was imported"
        )
    return bool(differs)


def _ruling(content: Mapping[str, Any], qid: str, against: Against) -> Ruling:
    words = content.get(WORDS)
    response = content.get("response")
    read = read_verdict(words)
    return Ruling(
        qid=qid,
        against=against,
        verdict=read.verdict or "void",
        # The published scripts read the reference as A, always.
        seats="ab",
        response=response if isinstance(response, str) else None,
        words=words if isinstance(words, str) else None,
        reason=read.reason,
    )


def _count(side: JudgedSide, ruling: Ruling) -> None:
    side.judged += 1
    side.missing -= 1
    if ruling.verdict == "void":
        side.void += 1
        why = ruling.reason or "no reason"
        side.reasons[why] = side.reasons.get(why, 0) + 1
    elif ruling.verdict != published_rule(ruling.words):
        side.otherwise += 1


def named(what: str, name: str) -> str:
    """Return the name of a model or a judge as it will be shown.

    Raises:
        BadInput: it is empty or too long.
    """
    plain = " ".join(name.split())
    if not plain or len(plain) > _LONGEST_NAME:
        raise BadInput(f"the name of a {what} must have 1 to {_LONGEST_NAME} characters")
    return plain
