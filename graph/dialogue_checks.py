"""What code can check of a dialogue that was written: its form, its ability, its checklists.

Nothing is mended here: what is found is a reason, a sentence, and the number of the round. Words
are looked for in English, which is what the roles are asked to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles.write_dialogue import ChecklistQuestion, ItemValidation
from videoautoarena.graph.leaks import content, is_given_away, plain, values_in

Fall = Literal[
    "fitness", "unwritten", "rounds", "length", "repeated", "asked", "unscored", "refers", "object",
    "mention", "referents", "recall", "summary", "refusal", "shift", "question", "items", "balance",
    "unsolved", "memory", "referent", "leak", "values", "failed",
]  # fmt: skip
FALLS: Mapping[Fall, str] = {
    "fitness": "no part of the video rated 5 or 6 for the ability",
    "unwritten": "the examiner wrote none",
    "rounds": "more or fewer rounds than were wanted",
    "length": "a text too short or too long",
    "repeated": "the user says the same twice",
    "asked": "asked before of this video",
    "unscored": "no scored round, or one that is not about the video",
    "refers": "a round that goes back to none before it",
    "object": "an object that is not in the bank",
    "mention": "no indirect mention",
    "referents": "nothing else that could be meant",
    "recall": "a recall that does not name its round",
    "summary": "no summary with three new facts in the last round",
    "refusal": "a refusal that does not refuse, or a twin that does",
    "shift": "no two ways there and back, or too little about the video alone",
    "question": "no question of its own",
    "items": "fewer than two items that the reference settles",
    "balance": "too few items answered yes, or no",
    "unsolved": "not answered by who knows the history and sees other frames",
    "memory": "answered without the history",
    "referent": "answered for another thing that could be meant",
    "leak": "answered from the rest of the dialogue",
    "values": "its answer stands in the rest of the dialogue",
    "failed": "a call failed",
}
"""Why a dialogue is refused, in words."""
TURNS = (5, 8)
"""Rounds of a dialogue, the fewest and the most."""
USER = (2, 600)
"""Characters of what a user says, the fewest and the most."""
ASSISTANT = (1, 2_000)
ITEM = (4, 400)
SPELT = (0, 1_000)
MEMORABLE = ("object_reference", "memory_recall")
"""Abilities whose scored rounds can be answered only by knowing what was said before."""
MOST_OTHERS = 3
"""Most other things that could be meant which are tried, each with a call."""
NEW_FACTS = 3
"""Facts that a summary has to give and no earlier round gave."""
YES_SHARE = (0.2, 0.8)
"""Least and largest share of a checklist that may be answered yes."""

_ABSENT = re.compile(
    r"\b(?:not|no|never|none|nothing|nowhere|neither|nor|without|absent|absence|missing|lacks?"
    r"|cannot|deny|denies|refuses?|declines?)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:dialogue|conversation|rest)\b[^.!?;]{0,80}(?:\b(?:not|never|nothing)\b|n['\u2019]t)"
    r"|\b(?:not|never) (?:be )?(?:said|stated|mentioned|given|shown|told|known|specified)\b"
    r"|\bnothing\b[^.!?;]{0,40}\b(?:says?|said|tells?|told|gathered|known)\b"
    r"|\b(?:cannot|can['\u2019]t|can not) (?:tell|say|know|be (?:told|said|known|gathered))\b",
    re.IGNORECASE,
)
_YET = re.compile(r"\b(?:but|however|though|although|except|only)\b|\d", re.IGNORECASE)
"""Words behind which something is said after all."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_NUMBERED = {
    **{word: number for number, word in enumerate(_ORDINALS, 1)},
    **{f"{number}{end}": number for number, end in enumerate(("st", "nd", "rd", *["th"] * 5), 1)},
}
_PART = "(?:answer|question|reply|round|turn)"
_NTH = re.compile(
    rf"\b({'|'.join(_NUMBERED)}) {_PART}\b|\b{_PART} (?:number )?(\d)\b",
    re.ASCII | re.IGNORECASE,
)
_LAST = re.compile(rf"\b(?:last|previous) {_PART}\b", re.IGNORECASE)
_SAID = (
    r"(?:said|say|told|named?|mentioned|asked|talked|spoke|spoken|described|answer(?:ed|s)?"
    r"|repl(?:y|ied|ies)|question|round|turn|gave|given|counted|listed|pointed|explained|noticed)"
)
_BACK = re.compile(
    rf"\b(?:you|your|we|our|i|my|us)\b[^.?!]{{0,60}}?\b{_SAID}\b"
    rf"|\b(?:{'|'.join(_NUMBERED)}|last|earlier|previous|opening|initial) {_PART}s?\b"
    rf"|\b{_SAID} (?:earlier|before|above|previously|at first|first|second|third)\b|\bearlier\b"
    r"|\b(?:start|beginning|outset) of (?:our|this|the) (?:talk|chat|conversation|dialogue)\b",
    re.IGNORECASE,
)
"""Words by which somebody goes back to what was said, and not to what was seen."""
_NAMELESS = "picture frame scene shot clip moment part thing object item person area"
_VAGUE = frozenset(_NAMELESS.split())
"""Words of an object's name that name nothing."""
# Who refuses whatever is asked is right on every refusal, so that each has a twin whose thing is
# there.
_REFUSALS = {"answer_refusal": True, "refusal_twin": False}
"""Ability to whether its reference says that the thing is not there."""
_ENDED = re.compile(r"\?[\"'\u201d\u2019)\]*_]*$")


class DialogueFault(NamedTuple):
    """What is wrong with a dialogue."""

    reason: Fall
    why: str
    round: int | None = None


@dataclass(frozen=True)
class DialogueRequirements:
    """What a dialogue has to fit into."""

    ability: str
    turns: tuple[int, int] = TURNS
    bank: Mapping[str, str] | None = None
    """Id to name of each object of the clip."""
    asked: Collection[str] = ()
    """What the scored rounds of other dialogues asked."""


def find_fault(rounds: Sequence[RoundReply], frame: DialogueRequirements) -> DialogueFault | None:
    """Return the first thing that is wrong with a dialogue before it has checklists."""
    return next(_faults(rounds, frame), None)


def scored(rounds: Sequence[RoundReply]) -> list[int]:
    """Return the numbers of the scored rounds, from 1."""
    return [number for number, one in enumerate(rounds, 1) if one.scored == "yes"]


def kept_items(
    items: Sequence[ChecklistQuestion], checked: Sequence[ItemValidation]
) -> tuple[ChecklistQuestion, ...]:
    """Return the items that the reference settles as was expected, each once."""
    kept = dict[str, ChecklistQuestion]()
    numbers = set[int]()
    for number, (item, one) in enumerate(zip(items, checked, strict=True), 1):
        fits = ITEM[0] <= len(item.text) <= ITEM[1] and plain(item.text)
        # What repeats an item that fell is the first of its kind.
        is_new = one.repeats not in numbers and plain(item.text) not in kept
        if fits and is_new and one.is_yes is item.is_yes:
            kept[plain(item.text)] = item
            numbers.add(number)
    return tuple(kept.values())


def checklist_fault(
    items: Sequence[ChecklistQuestion], rounds: Sequence[RoundReply], number: int, *, ability: str
) -> DialogueFault | None:
    """Return what is wrong with the items that were kept of round `number`, from 1."""
    yes = [item for item in items if item.is_yes]
    if len(items) < 2:
        return DialogueFault("items", f"{len(items)} of its items can be used", number)
    low, high = YES_SHARE
    if not low <= len(yes) / len(items) <= high:
        return DialogueFault(
            "balance", f"{len(yes)} of {len(items)} items are answered yes", number
        )
    wants_absent = _REFUSALS.get(ability)
    if wants_absent is not None:
        absent = [item for item in items if _ABSENT.search(item.text)]
        if not absent or any(item.is_yes is not wants_absent for item in absent):
            word = "yes" if wants_absent else "no"
            why = f"whether it says that the thing is not there must be asked, and answered {word}"
            return DialogueFault("refusal", why, number)
    if ability == "content_summary":
        one = rounds[number - 1]
        earlier = [f"{each.user}\n{each.assistant}" for each in rounds[: number - 1]]
        valued = [values_in(item.text, but=one.user, reference=one.assistant) for item in yes]
        new = [
            values
            for values in valued
            if values and not any(values.stands_in(text) for text in earlier)
        ]
        if len(new) < NEW_FACTS:
            return DialogueFault("summary", f"{len(new)} facts that no earlier round gave", number)
    return None


def meanings(one: RoundReply) -> list[str]:
    """Return what else a round could mean, each once."""
    others = {plain(text): text for text in one.others}
    return [text for key, text in others.items() if key not in (plain(one.explicit), "")]


def gives_away(
    items: Sequence[ChecklistQuestion], rounds: Sequence[RoundReply], number: int
) -> bool:
    """Return whether all that the items of a round ask for stands in the rest of its dialogue."""
    one = rounds[number - 1]
    rest = [
        text
        for place, each in enumerate(rounds, 1)
        for text in ((each.user,) if place == number else (each.user, each.assistant))
    ]
    yes, no = ([item.text for item in items if item.is_yes is right] for right in (True, False))
    asked = f"{one.user}\n{one.explicit}"
    return is_given_away(yes, asked, rest, no=no, reference=one.assistant)


def says_nothing(answer: str) -> bool:
    """Return whether each sentence of an answer says that nothing is known."""
    sentences = re.split(r"(?<=[.!?;])\s+", answer.strip())
    return all(_UNKNOWN.search(one) and not _YET.search(one) for one in sentences if plain(one))


def denials(items: Sequence[ChecklistQuestion]) -> list[int]:
    """Return the numbers, from 1, of the items that ask whether a thing is said not to be there."""
    return [number for number, item in enumerate(items, 1) if _ABSENT.search(item.text)]


def _faults(rounds: Sequence[RoundReply], frame: DialogueRequirements) -> Iterator[DialogueFault]:
    fewest, most = frame.turns
    if not rounds:
        yield DialogueFault("unwritten", "no dialogue was written")
    if not fewest <= len(rounds) <= most:
        yield DialogueFault("rounds", f"{len(rounds)} rounds, and {fewest} to {most} were wanted")
    said = set[str]()
    for number, one in enumerate(rounds, 1):
        texts = [("user", one.user, USER), ("answer", one.assistant, ASSISTANT)]
        texts += [("explicit", one.explicit, SPELT)]
        texts += [("other meaning", text, SPELT) for text in one.others]
        for who, text, (low, high) in texts:
            if not low <= len(text) <= high:
                yield DialogueFault("length", f"its {who} has {len(text)} characters", number)
        if plain(one.user) in said:
            yield DialogueFault("repeated", "the user said the same in an earlier round", number)
        said.add(plain(one.user))
    marked = scored(rounds)
    if not marked:
        yield DialogueFault("unscored", "no round is scored")
    bank = frame.bank or {}
    for number, one in enumerate(rounds, 1):
        if one.refers_to is not None and one.refers_to >= number:
            yield DialogueFault("refers", f"it goes back to round {one.refers_to}", number)
        if unknown := [id_ for id_ in one.objects if id_ not in bank]:
            yield DialogueFault(
                "object", f"{len(unknown)} of its objects are not in the bank", number
            )
    asked = {plain(text) for text in frame.asked}
    for number in marked:
        one = rounds[number - 1]
        if plain(one.user) in asked:
            yield DialogueFault("asked", "another dialogue about this video asks the same", number)
        if one.about != "video" and frame.ability != "proactive_interaction":
            yield DialogueFault("unscored", "a scored round is not about the video", number)
    yield from _RULES[frame.ability](rounds, frame)


def _object_reference(
    rounds: Sequence[RoundReply], frame: DialogueRequirements
) -> Iterator[DialogueFault]:
    bank = frame.bank or {}
    for number in scored(rounds):
        one = rounds[number - 1]
        if one.refers_to is None:
            yield DialogueFault("refers", "it goes back to no round", number)
        if not one.objects:
            yield DialogueFault("object", "it names no object of the bank", number)
        words = content(one.user) - _VAGUE
        if any(content(bank.get(id_, "")) & words for id_ in one.objects):
            yield DialogueFault("mention", "the user's words name the object itself", number)
        yield from _spelt_out(one, number)


def _memory_recall(
    rounds: Sequence[RoundReply], _frame: DialogueRequirements
) -> Iterator[DialogueFault]:
    for number in scored(rounds):
        one = rounds[number - 1]
        if one.refers_to is None:
            yield DialogueFault("refers", "it goes back to no round", number)
        else:
            named = {
                int(found[2] or _NUMBERED[found[1].lower()]) for found in _NTH.finditer(one.user)
            }
            if _LAST.search(one.user):
                named.add(number - 1)
            if one.refers_to not in named if named else _BACK.search(one.user) is None:
                why = f"the user's words do not go back to round {one.refers_to}"
                yield DialogueFault("recall", why, number)
        yield from _spelt_out(one, number)


def _spelt_out(one: RoundReply, number: int) -> Iterator[DialogueFault]:
    """Yield what a round lacks whose words mean something only after earlier ones."""
    if not plain(one.explicit) or plain(one.explicit) == plain(one.user):
        yield DialogueFault(
            "mention", "explicit does not spell out what the user's words mean", number
        )
    if not meanings(one):
        yield DialogueFault("referents", "others names nothing else that could be meant", number)


def _content_summary(
    rounds: Sequence[RoundReply], _frame: DialogueRequirements
) -> Iterator[DialogueFault]:
    if scored(rounds) != [len(rounds)]:
        yield DialogueFault("summary", "the last round, and no other, is to be scored")


def _refusal(rounds: Sequence[RoundReply], frame: DialogueRequirements) -> Iterator[DialogueFault]:
    wants_absent = _REFUSALS[frame.ability]
    for number in scored(rounds):
        if bool(_ABSENT.search(rounds[number - 1].assistant)) is not wants_absent:
            word = "does not say" if wants_absent else "says"
            yield DialogueFault(
                "refusal", f"its reference {word} that the thing is not there", number
            )


def _topic_shifting(
    rounds: Sequence[RoundReply], _frame: DialogueRequirements
) -> Iterator[DialogueFault]:
    runs = "".join("v" if one.about == "video" else "e" for one in rounds)
    runs = re.sub(r"(.)\1+", r"\1", runs)
    # Each v is a run of rounds about the video, each e one that is elsewhere.
    if not runs.startswith("vevev"):
        yield DialogueFault("shift", "it does not leave the video and come back twice")
    alone = [one for one in rounds if one.about == "video" and one.refers_to is None]
    if len(alone) < 2:
        yield DialogueFault("shift", f"{len(alone)} rounds are about the video alone")
    left = next((n for n, one in enumerate(rounds, 1) if one.about == "elsewhere"), 0)
    for number in scored(rounds):
        if number < left:
            yield DialogueFault("shift", "it is scored before the video was left", number)


def _proactive(
    rounds: Sequence[RoundReply], _frame: DialogueRequirements
) -> Iterator[DialogueFault]:
    for number in scored(rounds):
        if not _ENDED.search(rounds[number - 1].assistant):
            yield DialogueFault("question", "its reference does not end in a question", number)


_RULES: Mapping[
    str, Callable[[Sequence[RoundReply], DialogueRequirements], Iterator[DialogueFault]]
] = {
    "object_reference": _object_reference,
    "memory_recall": _memory_recall,
    "content_summary": _content_summary,
    "answer_refusal": _refusal,
    "refusal_twin": _refusal,
    "topic_shifting": _topic_shifting,
    "proactive_interaction": _proactive,
}
