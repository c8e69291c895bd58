"""The offline examiner as it writes dialogues, and as it says what a clip is good for.

Plain rounds fill a dialogue up before what the ability needs. They ask for other facts, and a draft
is thrown away where they give an answer away, change what a reference means, or where somebody
would do without what the round is to show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.dialogues import (
    AnswerMoment,
    BoredTurn,
    ColourRunTurn,
    FactsTurn,
    Lead,
    NumberedMoment,
    OffTopicTurn,
    OrderedMoment,
    PartReference,
    Referent,
    TimedMoment,
    TimeWindowCheck,
    UserTurn,
    ValueCheck,
    elsewhere,
    read,
    word,
)
from videoautoarena.agents.offline.language.phrasing import FactRequest
from videoautoarena.agents.offline.language.tables import Dice
from videoautoarena.agents.offline.language.tongues import times
from videoautoarena.agents.offline.players.answering import hook_keys, speak
from videoautoarena.agents.offline.players.checklists import (
    ChecklistItem,
    DialogueRound,
    gathered,
    is_met,
    is_said,
    items_of,
)
from videoautoarena.agents.offline.players.rounds import (
    DialogueFacts,
    Landmark,
    RecallQuestion,
    search,
)
from videoautoarena.agents.offline.players.scoring import askable
from videoautoarena.agents.offline.players.viewers import listed
from videoautoarena.agents.offline.vision.frame_features import ModelInput
from videoautoarena.agents.offline.vision.sequence import sight_of
from videoautoarena.agents.prompting.fences import Turn

FEWEST = 5
"""Rounds of a dialogue."""
APART_S = 0.3
"""Two moments that lie closer are the same to who is asked."""
FEWEST_ITEMS = 4


class BankObject(NamedTuple):
    """An object of the bank."""

    id: str
    name: str
    times: tuple[float, ...]
    """When it was seen."""


class DialogueRequest(NamedTuple):
    """What a dialogue is to be, as far as this examiner reads it."""

    ability: str
    turns: int
    asked: tuple[str, ...] = ()
    """What it may not ask again."""
    objects: tuple[BankObject, ...] = ()

    def has_asked(self, turn: UserTurn) -> bool:
        """Return whether the same was asked before, in whatever words."""
        return any(_same(turn, read(text)) for text in self.asked)


class RoundPlan(NamedTuple):
    """A round before it is worded."""

    turn: UserTurn
    lead: Lead = "next"
    is_scored: bool = False
    refers_to: int | None = None
    """Number of the round that names the moment its words point to."""
    meant_s: float | None = None
    """That moment."""


class DraftRound(NamedTuple):
    """A round in words."""

    plan: RoundPlan
    user: str
    assistant: str

    @property
    def turn(self) -> Turn:
        """What was said, as a history holds it."""
        return self.user, self.assistant


def is_fair(found: DialogueFacts, draft: Sequence[DraftRound], ability: str) -> bool:
    """Return whether each scored round shows what it is to show, and nothing gives it away."""
    scored = [number for number, one in enumerate(draft, 1) if one.plan.is_scored]
    return all(_is_fair_round(found, draft, number, ability) for number in scored)


def others_s(draft: Sequence[DraftRound], number: int) -> list[float]:
    """Return the other moments that the words of round `number` could be taken to point to.

    Of an answer that names several those beside the one that is meant come first.
    """
    one = draft[number - 1]
    if one.plan.meant_s is None or one.plan.refers_to is None:
        return []
    near = draft[one.plan.refers_to - 1]
    said = [time_s for each in (near, *draft[: number - 1]) for time_s in times(each.assistant)]
    found: list[float] = []
    for time_s in said:
        if all(abs(time_s - other) > APART_S for other in (one.plan.meant_s, *found)):
            found.append(time_s)
    return found


def _is_fair_round(
    found: DialogueFacts, draft: Sequence[DraftRound], number: int, ability: str
) -> bool:
    one = draft[number - 1]
    history = [each.turn for each in draft[: number - 1]]
    items = items_of(found, one.user, history)
    if read(one.user) != one.plan.turn or len(items) < FEWEST_ITEMS:
        return False
    shown = speak("examiner", found.left, one.user, history)
    if not is_met(items, one.assistant) or not is_met(items, shown):
        return False
    return _takes_history(found, draft, number, items) and not _is_leaked(
        draft, number, items, ability
    )


def _takes_history(
    found: DialogueFacts, draft: Sequence[DraftRound], number: int, items: Sequence[ChecklistItem]
) -> bool:
    """Return whether who does not know which moment is meant gets it wrong."""
    one = draft[number - 1]
    turn = one.plan.turn
    if not isinstance(turn, FactsTurn) or one.plan.meant_s is None:
        return True
    right = [item for item in items if item.is_yes]
    forgetful = speak("examiner", found.seen, one.user)
    if any(is_met([item], forgetful) for item in right):
        return False
    others = others_s(draft, number)
    dice = Dice("others", one.user)
    said = (
        speak("examiner", found.seen, word(turn.at(TimedMoment(other_s)), dice))
        for other_s in others
    )
    return bool(others) and not any(is_met(right, text) for text in said)


def _is_leaked(
    draft: Sequence[DraftRound], number: int, items: Sequence[ChecklistItem], ability: str
) -> bool:
    """Return whether the rest of the dialogue gives an answer away."""
    if isinstance(draft[number - 1].plan.turn, ColourRunTurn) and ability == "answer_refusal":
        return False
    right = [
        item
        for item in items
        if item.is_yes and isinstance(item.check, TimeWindowCheck | ValueCheck)
    ]
    rest = [
        DialogueRound(one.user, None if place == number else one.assistant)
        for place, one in enumerate(draft, 1)
    ]
    text = " ".join(f"{one.user} {one.assistant or ''}" for one in rest)
    said = [is_said(item.check, text) for item in right]
    # A summary is of what nobody has said yet; else a colour may come up again.
    is_new = ability == "content_summary"
    if all(said) or (is_new and any(said)):
        return bool(right)
    return is_met(items, gathered(rest, draft[number - 1].user), only_yes=True)


def _same(one: UserTurn, other: UserTurn | None) -> bool:
    if isinstance(one, FactsTurn) and isinstance(other, FactsTurn):
        is_alike = set(one.ask.keys) == set(other.ask.keys)
        return is_alike and (one.part and one.part.side) == (other.part and other.part.side)
    return one == other


def read_wish(blocks: dict[str, str]) -> DialogueRequest:
    """Return what the slots of a dialogist want."""
    ability = blocks.get("ability", "").partition("\n")[0].strip()
    turns = blocks.get("turns", "").strip()
    count = int(turns) if turns.isdecimal() and len(turns) < 3 else FEWEST
    asked = [str(one) for one in listed(blocks.get("asked", ""))]
    return DialogueRequest(
        ability, max(FEWEST, count), (*asked, *_refused(blocks)), read_objects(blocks)
    )


def _refused(blocks: dict[str, str]) -> list[str]:
    """Return what was asked by the scored rounds of the last try."""
    try:
        rounds = json.loads(blocks.get("refused", "") or "{}")["rounds"]
        return [str(one["user"]) for one in rounds if one["scored"] == "yes"]
    except (ValueError, TypeError, KeyError):
        return []


def read_objects(blocks: dict[str, str]) -> tuple[BankObject, ...]:
    """Return the bank in a slot; nothing where it holds something else."""
    try:
        return tuple(
            BankObject(
                str(one["id"]), str(one["name"]), tuple(float(s["time_s"]) for s in one["seen"])
            )
            for one in listed(blocks.get("objects", ""))
        )
    except (ValueError, TypeError, KeyError):
        return ()


TRIES = 12
"""Drafts that are written before it is said that none can be."""
WORDINGS = 8
SUMMED = 3
"""Facts in a summary."""
MOST_OTHERS = 3
RATED = ("object_reference", "memory_recall", "content_summary", "answer_refusal",
         "topic_shifting", "proactive_interaction")  # fmt: skip
UNFIT = 3
FIT = 5
VERY_FIT = 6
MANY = 6
"""Questions beside moments of the whole video from which on none of parts are needed."""
ENOUGH = 3
"""Different questions that make a clip very fit."""
_VAGUE = frozenset(["picture", "video", "moment", "one"])


def write_dialogue(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return the rounds of a dialogue that shows an ability; none where the clip has none."""
    # With the code of the fences, which is another for every seed of a set.
    dice = Dice("dialogist", sent.text, sight_of(sent).key.hex())
    wish = read_wish(blocks)
    draft = draft_of(search(sight_of(sent)), wish, dice)
    rounds = [_reply(draft, number, wish, dice) for number in range(1, len(draft) + 1)]
    return {"rounds": rounds}


def rate_fitness(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return from 1 to 6 how well the frames serve each ability: by what can be written of them."""
    found = search(sight_of(sent))
    rated: dict[str, object] = {}
    for ability in RATED:
        wish = DialogueRequest(ability, FEWEST, objects=read_objects(blocks))
        can = bool(draft_of(found, wish, Dice("fitness", ability, found.seen.key.hex())))
        many = _questions(found, ability)
        score = UNFIT if not can else VERY_FIT if many >= ENOUGH else FIT
        said = f"I find {many} questions to build on" + ("." if can else ", and none that holds.")
        rated[ability] = {"analysis": said, "score": score}
    return rated


def draft_of(found: DialogueFacts, wish: DialogueRequest, dice: Dice) -> list[DraftRound]:
    """Return the first draft that is fair; nothing where none is."""
    for _ in range(TRIES):
        plan = _PLANS[wish.ability](found, wish, dice) if wish.ability in _PLANS else None
        if plan is None:
            break
        draft = _worded(found, plan, wish, dice)
        if draft and is_fair(found, draft, wish.ability):
            return draft
    return []


# What is asked, ability by ability.


def _recall_plan(found: DialogueFacts, wish: DialogueRequest, dice: Dice) -> list[RoundPlan] | None:
    """Return rounds that name a moment, and one that points to it."""
    is_reference = wish.ability == "object_reference"
    if is_reference and not wish.objects:
        return None
    for recall in dice.shuffled(_recalls(found)):
        setting = _pair(found, recall, wish, dice) if is_reference else _lone(recall, wish, dice)
        if setting is None:
            continue
        named, place, moment = setting
        scored = FactsTurn(FactRequest(recall.keys), PartReference(recall.side, moment))
        if wish.has_asked(scored) and dice.below(4):
            continue
        kept = _WithheldFacts(found, [scored.at(TimedMoment(recall.moment.at_s))], is_new=True)
        taken = {*named.ask.keys, *recall.keys}
        fillers = _fillers(kept, taken, dice, count=wish.turns - 2, timed=not is_reference)
        if len(fillers) < wish.turns - 2:
            continue
        plans = [RoundPlan(one) for one in fillers]
        plans.insert(place - 1, RoundPlan(named))
        last = RoundPlan(scored, is_scored=True, refers_to=place, meant_s=recall.moment.at_s)
        return [*plans, last]
    return None


def _recalls(found: DialogueFacts) -> list[RecallQuestion]:
    """Return questions beside moments of the whole video; where these are few, also of parts."""
    whole = found.recalls(found.named())
    return whole if len(whole) >= MANY else whole + found.recalls(found.named_in_parts())


def _pair(
    found: DialogueFacts, recall: RecallQuestion, wish: DialogueRequest, dice: Dice
) -> tuple[FactsTurn, int, Referent] | None:
    """Return a round that names two moments, its number, and how one of them is pointed to."""
    meant = recall.moment
    moments = found.named() if meant.since_s is None else found.named_in_parts()
    partners = [
        one
        for one in moments
        if one.key != meant.key
        and (one.since_s, one.since_s and one.side) == (meant.since_s, meant.since_s and meant.side)
        and abs(one.at_s - meant.at_s) > APART_S
        and found.is_missed(recall, one.at_s)
    ]
    if not partners:
        return None
    other = dice.one(partners)
    two = dice.shuffled([meant, other])
    ordered = OrderedMoment("earlier" if meant.at_s < other.at_s else "later")
    ways: list[Referent] = [NumberedMoment(two.index(meant) + 1), ordered]
    return _asking(two), wish.turns - 1, dice.one(ways)


def _lone(
    recall: RecallQuestion, wish: DialogueRequest, dice: Dice
) -> tuple[FactsTurn, int, Referent]:
    """Return the same of a round that names one moment."""
    place = 1 + dice.below(wish.turns - 3)
    return _asking([recall.moment]), place, AnswerMoment(place)


def _asking(moments: Sequence[Landmark]) -> FactsTurn:
    """Return the question that moments of one part are the answer to."""
    since_s = moments[0].since_s
    part = None if since_s is None else PartReference(moments[0].side, TimedMoment(since_s))
    return FactsTurn(FactRequest(tuple(one.key for one in moments)), part)


def _summary_plan(
    found: DialogueFacts, wish: DialogueRequest, dice: Dice
) -> list[RoundPlan] | None:
    keys = _keys(found, dice, SUMMED)
    if keys is None:
        return None
    summed = FactsTurn(FactRequest(keys))
    kept = _WithheldFacts(found, [summed], is_new=True)
    fillers = _fillers(kept, set(keys), dice, count=wish.turns - 1)
    if len(fillers) < wish.turns - 1:
        return None
    return [*map(RoundPlan, fillers), RoundPlan(summed, "close", is_scored=True)]


def _refusal_plan(
    found: DialogueFacts, wish: DialogueRequest, dice: Dice
) -> list[RoundPlan] | None:
    colours = found.absent() if wish.ability == "answer_refusal" else found.passing()
    fresh = [one for one in colours if not wish.has_asked(ColourRunTurn(one))]
    fillers = _fillers(_WithheldFacts(found), set(), dice, count=wish.turns - 1)
    if not fresh or len(fillers) < wish.turns - 1:
        return None
    plans = [RoundPlan(one) for one in fillers]
    place = 2 + dice.below(wish.turns - 1)
    plans.insert(place - 1, RoundPlan(ColourRunTurn(dice.one(fresh)), is_scored=True))
    return plans


def _shift_plan(found: DialogueFacts, wish: DialogueRequest, dice: Dice) -> list[RoundPlan] | None:
    """Return rounds that leave the video twice and come back to it twice."""
    first = _keys(found, dice, 2)
    if first is None:
        return None
    second = _keys(found, dice, 2, but=first) if dice.below(3) else None
    far = [RoundPlan(OffTopicTurn(topic)) for topic in dice.shuffled(list(elsewhere()))[:2]]
    count = wish.turns - 3 - (second is not None)
    kept = _WithheldFacts(found, [FactsTurn(FactRequest(keys)) for keys in (first, second) if keys])
    fillers = _fillers(kept, {*first, *(second or ())}, dice, count=count)
    if len(fillers) < count:
        return None
    back = RoundPlan(FactsTurn(FactRequest(first)), "back", is_scored=True)
    if second is None:
        *early, last = fillers
        again = RoundPlan(last, "back")
    else:
        early = fillers
        again = RoundPlan(FactsTurn(FactRequest(second)), "back", is_scored=True)
    return [*map(RoundPlan, early), far[0], back, far[1], again]


def _proactive_plan(
    found: DialogueFacts, wish: DialogueRequest, dice: Dice
) -> list[RoundPlan] | None:
    keys = set(hook_keys(found.seen))
    if not all(found.fact(key, dice) for key in keys):
        return None
    kept = _WithheldFacts(found, [FactsTurn(FactRequest(tuple(keys)))])
    fillers = _fillers(kept, keys, dice, count=wish.turns - 1)
    if len(fillers) < wish.turns - 1:
        return None
    return [*map(RoundPlan, fillers), RoundPlan(BoredTurn(), is_scored=True)]


_PLANS: Mapping[str, Callable[[DialogueFacts, DialogueRequest, Dice], list[RoundPlan] | None]] = {
    "object_reference": _recall_plan,
    "memory_recall": _recall_plan,
    "content_summary": _summary_plan,
    "answer_refusal": _refusal_plan,
    "refusal_twin": _refusal_plan,
    "topic_shifting": _shift_plan,
    "proactive_interaction": _proactive_plan,
}


def _keys(
    found: DialogueFacts, dice: Dice, count: int, *, but: Sequence[str] = ()
) -> tuple[str, ...] | None:
    """Return so many facts that are plain, a time among them; None where there are fewer.

    Of few values one is soon guessed, so that sides are asked for last.
    """
    facts = [one.key for one in found.facts(dice) if one.key not in but]
    drawn = sorted(dice.shuffled(facts), key=lambda key: FACETS[key].type == "choice")
    timed = [key for key in drawn if FACETS[key].type == "instant"]
    if len(drawn) < count or not timed:
        return None
    rest = [key for key in drawn if key != timed[0]]
    return tuple(dice.shuffled([timed[0], *rest[: count - 1]]))


class _WithheldFacts:
    """What no filler may say: what is right of the scored rounds."""

    def __init__(
        self, found: DialogueFacts, scored: Sequence[FactsTurn] = (), *, is_new: bool = False
    ) -> None:
        """Take questions that need no history; `is_new` where not even a colour may come up."""
        self.found = found
        self._checks = [
            item.check
            for turn in scored
            for item in items_of(found, word(turn, Dice("kept")), ())
            if item.is_yes and (is_new or isinstance(item.check, TimeWindowCheck))
        ]

    def is_told(self, turn: FactsTurn) -> bool:
        """Return whether a question, or the answer to it, says any of it."""
        asked = word(turn, Dice("kept"))
        text = f"{asked} {speak('examiner', self.found.seen, asked)}"
        return any(is_said(check, text) for check in self._checks)


def _fillers(
    kept: _WithheldFacts, but: set[str], dice: Dice, *, count: int, timed: bool = False
) -> list[FactsTurn]:
    """Return plain questions on other facts, each asked once; fewer where there are no more."""
    found = kept.found
    plain = [key for key in dice.shuffled(askable(found.seen)) if key not in but]
    # Where a reference is to be mistaken, another answer has to name a moment, too.
    plain.sort(key=lambda key: timed and FACETS[key].type != "instant")
    parts = [one for one in found.named_in_parts() if one.key not in but]
    chosen: list[FactsTurn] = []
    for turn in (
        *(FactsTurn(FactRequest((key,))) for key in plain),
        *map(_alone, dice.shuffled(parts)),
    ):
        if len(chosen) == count:
            break
        if not kept.is_told(turn):
            chosen.append(turn)
    return dice.shuffled(chosen)


def _alone(moment: Landmark) -> FactsTurn:
    return _asking([moment])


# From a plan to words, and what of a slot is read.


def _worded(
    found: DialogueFacts, plan: Sequence[RoundPlan], wish: DialogueRequest, dice: Dice
) -> list[DraftRound]:
    """Return the rounds of a plan; nothing where no words are left for one that has to be new."""
    draft: list[DraftRound] = []
    for number, one in enumerate(plan, 1):
        lead = "start" if number == 1 else one.lead
        said = [*(each.user for each in draft), *wish.asked]
        user = _new_words(one.turn, lead, said, wish, dice)
        if user is None:
            return []
        history = [each.turn for each in draft]
        assistant = speak("examiner", found.seen, user, history)
        draft.append(DraftRound(one, user, assistant))
    return draft


def _new_words(
    turn: UserTurn, lead: Lead, said: Sequence[str], wish: DialogueRequest, dice: Dice
) -> str | None:
    """Return words that were not used yet; None where none are found.

    What is there is asked for in the words in which something was that is not.
    """
    if wish.ability == "refusal_twin" and isinstance(turn, ColourRunTurn):
        for text in reversed(wish.asked):
            if isinstance(before := read(text), ColourRunTurn):
                again = text.replace(before.colour, turn.colour)
                if again not in said and read(again) == turn:
                    return again
    drawn = (word(turn, dice, lead=lead) for _ in range(WORDINGS))
    return next((text for text in drawn if text not in said), None)


def _reply(
    draft: Sequence[DraftRound], number: int, wish: DialogueRequest, dice: Dice
) -> dict[str, object]:
    one = draft[number - 1]
    turn = one.plan.turn
    meant_s = one.plan.meant_s
    explicit = ""
    others = list[str]()
    if isinstance(turn, FactsTurn) and meant_s is not None:
        explicit = word(turn.at(TimedMoment(meant_s)), dice)
        others = [
            word(turn.at(TimedMoment(at_s)), dice) for at_s in others_s(draft, number)[:MOST_OTHERS]
        ]
    return {
        "user": one.user,
        "assistant": one.assistant,
        "scored": "yes" if one.plan.is_scored else "no",
        "about": "elsewhere" if isinstance(turn, OffTopicTurn) else "video",
        "refers_to": one.plan.refers_to,
        "objects": [] if meant_s is None else _objects_at(meant_s, one.user, wish),
        "explicit": explicit,
        "others": others,
    }


def _objects_at(time_s: float, user: str, wish: DialogueRequest) -> list[str]:
    """Return the object in the picture then, or next to it in time, that the words do not name."""
    used = set(re.findall(r"\w+", user.lower()))
    seen = sorted(
        (abs(at_s - time_s), one.id)
        for one in wish.objects
        if not used.intersection(set(re.findall(r"\w+", one.name.lower())) - _VAGUE)
        for at_s in one.times
    )
    return [seen[0][1]] if seen else []


def _questions(found: DialogueFacts, ability: str) -> int:
    """Return how many different questions an ability could be shown by."""
    dice = Dice("questions", ability)
    if ability in ("object_reference", "memory_recall"):
        return len(_recalls(found))
    if ability == "answer_refusal":
        return min(len(found.absent()), 1 + len(found.passing()))
    if ability == "proactive_interaction":
        return sum(found.fact(key, dice) is not None for key in hook_keys(found.seen))
    return len(found.facts(dice)) - 1
