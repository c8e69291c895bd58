"""The prompts: one text file a role, whose slots are filled with fenced blocks by code.

A file is a `string.Template`; `$persona` on a line of its own is where the persona's block goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    LATEST_CONTRACTS,
    READINGS,
)
from videoautoarena.agents.prompting.fences import fence
from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import Role
from videoautoarena.memory.records.standards import PAPER_CONTRACTS, STANDARDS, standards_of

SLOTS: dict[str, tuple[str, ...]] = {
    "examiner": (),
    "persona": ("brief",),
    "questioner": ("brief", "persona", "asked"),
    "contestant": (),
    "judge": ("persona", "question", "answer_a", "answer_b"),
    "evolver": ("persona", "question", "answer_a", "answer_b", "analyses", "refused"),
    "grader": ("persona", "question_1", "question_2"),
}
"""Role to the slots that its file must have, each exactly once, on a line of its own."""
PAPER_OMITS: dict[str, tuple[str, ...]] = {
    "persona": ("brief",),
    "questioner": ("brief",),
    "evolver": ("analyses",),
}
"""What these roles are not told in the VideoAutoArena paper: by its contracts a file may leave it
out."""
_KEY = ("question", "reference", "points", "answer")
BENCH_SLOTS: dict[str, tuple[str, ...]] = {
    "comparer": ("persona", "question", "answer_a", "answer_b"),
    "scene_marker": _KEY,
    "summary_marker": _KEY,
    "checklist_marker": ("question", "reference", "checklist", "answer"),
}
"""Slots of roles that no run has, only a bench."""
_MORE = ("count", "asked")
WRITER_SLOTS: dict[str, tuple[str, ...]] = {
    "topic_writer": _MORE,
    "plot_writer": _MORE,
    "scene_writer": _MORE,
    "summary_writer": ("asked",),
    "option_checker": ("question", "options"),
    "point_checker": ("question", "reference", "points"),
}
"""Slots of roles that only the making of tasks has."""
SCENE_SLOTS: dict[str, tuple[str, ...]] = {
    "scene_captioner": (),
    "scene_merger": ("scenes",),
    "object_finder": ("scene",),
    "object_matcher": ("pairs",),
}
"""Slots of roles that remember the scenes and objects of a video."""
DIALOGUE_SLOTS: dict[str, tuple[str, ...]] = {
    "fitness_rater": ("scenes", "objects"),
    "dialogist": ("ability", "turns", "scenes", "objects", "asked", "refused"),
    "checklist_maker": ("ability", "history", "question", "reference"),
    "checklist_validator": ("question", "reference", "checklist"),
    "leak_checker": ("dialogue", "question"),
    "dialogue_answerer": ("history", "question"),
}
"""Slots of roles that write and check dialogues."""
CATEGORY_SLOTS: dict[str, tuple[str, ...]] = {
    "classifier": ("question",),
    "topic_namer": ("questions",),
}
"""Slots of roles that sort questions after play."""
_ALL_SLOTS = SLOTS | BENCH_SLOTS | WRITER_SLOTS | SCENE_SLOTS | DIALOGUE_SLOTS | CATEGORY_SLOTS

_OWN = Path(__file__).parents[1] / "roles"
_PAPER = _OWN / "paper"
"""Files that stand in for those beside it where a run plays by the paper."""


@dataclass(frozen=True)
class PromptSet:
    """Each role's prompt, checked, and which contracts its reply is held to."""

    texts: Mapping[str, str]
    contracts: int = CONTRACTS
    """Number of the contracts that follow them; see `agents.prompting.contracts`."""
    reading: int = READINGS
    """Number of the way in which replies are read; see `agents.calls.replies`."""
    given: frozenset[str] = frozenset()
    """Roles whose text somebody gave in place of this project's."""

    def __post_init__(self) -> None:
        """Raise BadInput if a prompt is missing, empty, or has other slots than its role."""
        if self.contracts < 1:
            raise StoreError(f"contracts {self.contracts} cannot be: their numbers begin with 1")
        if self.contracts > LATEST_CONTRACTS:
            raise BadInput(
                f"contracts {self.contracts} are of a newer version; this one knows 1 to "
                f"{LATEST_CONTRACTS}, so update videoautoarena"
            )
        if self.reading > READINGS:
            raise BadInput(
                f"replies are read in way {self.reading} of a newer version; this one knows 1 to "
                f"{READINGS}, so update videoautoarena"
            )
        if unknown := sorted(set(self.texts) - set(_ALL_SLOTS)):
            raise BadInput(f"{unknown[0]!a} is no role; prompts are for {', '.join(SLOTS)}")
        for role in SLOTS:
            if role not in self.texts:
                raise BadInput(f"{role}.txt is missing; give every role its prompt")
        for role, text in self.texts.items():
            _check(role, text, omitted=self._may_omit(role))

    def _may_omit(self, role: str) -> tuple[str, ...]:
        return PAPER_OMITS.get(role, ()) if self.contracts == PAPER_CONTRACTS else ()

    @classmethod
    def load(
        cls,
        folder: Path | None = None,
        *,
        bench: bool = False,
        writers: bool = False,
        dialogues: bool = False,
        categories: bool = False,
        paper: bool = False,
    ) -> PromptSet:
        """Return this project's prompts, with the files in `folder` in place of its own.

        With `bench` also those of roles that only a bench has, with `writers` those of roles that
        make tasks, with `dialogues` those that remember scenes and make dialogues, with
        `categories` those that sort questions; without it files of theirs are of no use. With
        `paper` those of a run tell and ask what they do in the VideoAutoArena paper, under its
        contracts. Raises BadInput for no such folder, a file that is no role's, or an unusable
        prompt.
        """
        roles = SLOTS | (BENCH_SLOTS if bench or dialogues else {})
        roles |= WRITER_SLOTS if writers else {}
        roles |= SCENE_SLOTS | DIALOGUE_SLOTS if dialogues else {}
        roles |= CATEGORY_SLOTS if categories else {}
        contracts = PAPER_CONTRACTS if paper else CONTRACTS
        files = [_OWN / f"{role}.txt" for role in roles]
        if paper:
            files += sorted(_PAPER.glob("*.txt"))
        # Of two files for one role the later counts: the paper's stand behind our own.
        texts = {path.stem: _read(path, contracts) for path in files}
        found = _overrides(folder, contracts) if folder is not None else {}
        given = {role: text for role, text in found.items() if role in roles}
        return cls(texts | given, contracts, given=frozenset(given))

    @classmethod
    def from_texts(
        cls, texts: Mapping[str, str], *, contracts: int = CONTRACTS, reading: int = READINGS
    ) -> PromptSet:
        """Return the prompts that a run has copied; BadInput if one cannot be used."""
        return cls(dict(texts), contracts, reading)

    @cached_property
    def digests(self) -> dict[str, str]:
        """Role to the digest of its prompt file's text."""
        return {role: digest(text) for role, text in self.texts.items()}

    def fill(self, role: Role, texts: Mapping[str, str], *, code: str) -> str:
        """Return the role's prompt with each slot filled by its fenced text."""
        untold = self.untold(role)
        named = [name for name in _ALL_SLOTS[role] if name not in untold]
        blocks = {name: fence(name, code, texts[name]) for name in named}
        return self._templates[role].substitute(blocks)

    def untold(self, role: Role) -> frozenset[str]:
        """Return the slots of a role that its prompt leaves out, so that it is not told of them."""
        return self._untold[role]

    @cached_property
    def _untold(self) -> dict[str, frozenset[str]]:
        return {
            role: frozenset(self._may_omit(role)).difference(template.get_identifiers())
            for role, template in self._templates.items()
        }

    @cached_property
    def _templates(self) -> dict[str, Template]:
        # A blank behind a slot would stand behind the fence's end, which then is none.
        return {
            role: Template("\n".join(line.rstrip() for line in text.strip().splitlines()))
            for role, text in self.texts.items()
        }


def _overrides(folder: Path, contracts: int) -> dict[str, str]:
    if not folder.is_dir():
        raise BadInput(f"{str(folder)!a} is no folder; give one with files like judge.txt")
    found = sorted(folder.glob("*.txt"))
    for path in found:
        if path.stem not in _ALL_SLOTS:
            roles = ", ".join(_ALL_SLOTS)
            raise BadInput(f"{path.name!a} is no role's prompt; name it after {roles}")
    if not found:
        raise BadInput(f"{str(folder)!a} holds no prompt; put files like judge.txt into it")
    return {path.stem: _read(path, contracts) for path in found}


_COUNTED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _read(path: Path, contracts: int) -> str:
    """Return a prompt file's text, with the standards of these contracts where it lists them.

    `$standards` stands for the numbered list, `$how_many_standards` for their number in a word.
    They are no slots: what a run copies, and its digest, is the text with the standards in it.
    """
    try:
        # Some editors put a byte order mark before the text, which is no part of a prompt.
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name!a} cannot be read as UTF-8 text: {error}") from None
    names = standards_of(contracts)
    listed = []
    for number, name in enumerate(names, start=1):
        standard = STANDARDS[name]
        asked = standard.comparer if path.stem == "comparer" else standard.judge
        if contracts == PAPER_CONTRACTS and standard.paper and path.stem == "judge":
            asked = standard.paper
        listed.append(f"{number}. {standard.words.capitalize()}: {asked}")
    text = text.replace("$how_many_standards", _COUNTED[len(names)])
    return text.replace("$standards", "\n".join(listed))


def _check(role: str, text: str, *, omitted: tuple[str, ...] = ()) -> None:
    name = f"{role}.txt"
    if not text.strip():
        raise BadInput(f"{name} is empty; write what the {role} is to do")
    template = Template(text)
    if not template.is_valid():
        raise BadInput(f"{name} has a $ that starts no slot; write $$ for the sign itself")
    found = template.get_identifiers()
    for slot in found:
        if slot not in _ALL_SLOTS[role]:
            raise BadInput(f"{name} has the unknown slot ${slot}; {_known(role)}")
    lines = [line.rstrip() for line in text.splitlines()]
    for slot in _ALL_SLOTS[role]:
        if slot not in found and slot in omitted:
            continue
        if slot not in found:
            raise BadInput(f"{name} misses the slot ${slot}; {_known(role)}")
        # Fences are known at the beginning of a line alone.
        standing = lines.count(f"${slot}") + lines.count(f"${{{slot}}}")
        named = [match["named"] or match["braced"] for match in Template.pattern.finditer(text)]
        if standing != 1 or named.count(slot) != 1:
            raise BadInput(f"{name} must have ${slot} once, on a line of its own")


def _known(role: str) -> str:
    slots = " ".join(f"${slot}" for slot in _ALL_SLOTS[role])
    return f"it takes {slots}" if slots else "it takes none"
