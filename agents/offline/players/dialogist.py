"""The offline examiner as it writes dialogues, and as it says what a clip is good for.

Plain rounds fill a dialogue up before what the ability needs. They ask for other facts, and a draft
is thrown away where they give an answer away, change what a reference means, or where somebody
would do without what the round is to show.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from videoautoarena.agents.offline.facets.table import FACETS
from videoautoarena.agents.offline.language.dialogues import (
    AnswerMoment,
    BoredTurn,
    Check,
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
"""Fewest rounds of a dialogue."""
APART_S = 0.3
"""Least distance of two moments that count as different."""
FEWEST_ITEMS = 4
TRIES = 12
"""Drafts that are written before it is said that none can be."""
WORDINGS = 8
SUMMED = 3
"""Facts in a summary."""
MOST_OTHERS = 3
RATED = ("object_reference", "memory_recall", "content_summary", "answer_refusal",
         "topic_shifting", "proactive_interaction")  # fmt: skip
UNFIT = 3
# Only clips that are rated 5 or 6 are used, as in MT-Video-Bench.
FIT = 5
VERY_FIT = 6
MANY = 6
"""Enough questions beside moments of the whole video to do without moments of its parts."""
ENOUGH = 3
"""Different questions that make a clip very fit."""
_VAGUE = frozenset(["picture", "video", "moment", "one"])


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
    """Questions that it may not ask again."""
    objects: tuple[BankObject, ...] = ()
    scored: int = 1
    """Rounds that are to be scored, where so many can be."""

    def has_asked(self, turn: UserTurn) -> bool:
        """Return whether the same was asked before, in whatever words."""
        before = [read(text) for text in self.asked]
        if not isinstance(turn, FactsTurn):
            return turn in before
        return any(
            isinstance(one, FactsTurn)
            and set(turn.ask.keys) == set(one.ask.keys)
            and (turn.part and turn.part.side) == (one.part and one.part.side)
            for one in before
        )


class RoundPlan(NamedTuple):
    """A round before it is worded."""

    turn: UserTurn
    lead: Lead = "next"
    is_scored: bool = False
    refers_to: int | None = None
    """Number of the round that names the moment its words point to."""
    meant_s: float | None = None
    """When the meant moment is, in seconds."""


class DraftRound(NamedTuple):
    """A round in words."""

    plan: RoundPlan
    user: str
    assistant: str

    @property
    def turn(self) -> Turn:
        """What was said, as a history holds it."""
        return self.user, self.assistant


def write_dialogue(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return the rounds of a dialogue that shows an ability; none if the clip has none."""
    # The text holds the code of the fences, which is another for every seed of a set.
    dice = Dice("dialogist", sent.text, sight_of(sent).key.hex())
    turns = blocks.get("turns", "").strip()
    asked = [str(one) for one in listed(blocks.get("asked", ""))]
    try:
        # a second try is told the rounds of the first: its scored ones were asked in vain
        refused = json.loads(blocks.get("refused", "") or "{}")["rounds"]
        vain = [str(one["user"]) for one in refused if one["scored"] == "yes"]
    except (ValueError, TypeError, KeyError):
        # A first try that was refused for its form has no rounds to read.
        vain = []
    asked += vain
    request = DialogueRequest(
        ability=blocks.get("ability", "").partition("\n")[0].strip(),
        turns=max(FEWEST, int(turns) if turns.isdecimal() and len(turns) < 3 else FEWEST),
        asked=tuple(asked),
        objects=_objects(blocks),
        scored=sent.scored_rounds or 1,
    )
    draft = draft_of(search(sight_of(sent)), request, dice)
    rounds = [_reply(draft, number, request, dice) for number in range(1, len(draft) + 1)]
    return {"rounds": rounds}


def rate_fitness(sent: ModelInput, blocks: dict[str, str]) -> dict[str, object]:
    """Return from 1 to 6 how well the frames serve each ability: by what can be written of them."""
    found = search(sight_of(sent))
    rated: dict[str, object] = {}
    for ability in RATED:
        request = DialogueRequest(ability, FEWEST, objects=_objects(blocks))
        can = bool(draft_of(found, request, Dice("fitness", ability, found.seen.key.hex())))
        many = _questions(found, ability)
        score = UNFIT if not can else VERY_FIT if many >= ENOUGH else FIT
        said = f"I find {many} questions to build on" + ("." if can else ", and none that holds.")
        rated[ability] = {"analysis": said, "score": score}
    return rated


def _objects(blocks: dict[str, str]) -> tuple[BankObject, ...]:
    """Return the bank in a slot; nothing if it holds something else."""
    try:
        return tuple(
            BankObject(
                str(one["id"]), str(one["name"]), tuple(float(s["time_s"]) for s in one["seen"])
            )
            for one in listed(blocks.get("objects", ""))
        )
    except (ValueError, TypeError, KeyError):
        return ()


def _questions(found: DialogueFacts, ability: str) -> int:
    """Return the number of different questions by which an ability could be shown."""
    dice = Dice("questions", ability)
    if ability in ("object_reference", "memory_recall"):
        return len(_recalls(found))
    if ability == "answer_refusal":
        return min(len(found.absent()), 1 + len(found.passing()))
    if ability == "proactive_interaction":
        return sum(found.fact(key, dice) is not None for key in hook_keys(found.seen))
    return len(found.facts(dice)) - 1


def draft_of(found: DialogueFacts, request: DialogueRequest, dice: Dice) -> list[DraftRound]:
    """Return the first draft that is fair, of the most scored rounds; empty if none is."""
    best = list[DraftRound]()
    for _ in range(TRIES):
        plan = _plan(found, request, dice)
        if plan is None:
            break
        for more in range(request.scored - 1, -1, -1):
            fuller = _with_more(found, plan, request, dice, more=more) if more else plan
            if _scored(fuller) <= _scored([one.plan for one in best]):
                continue
            draft = _worded(found, fuller, request, dice)
            if draft and is_fair(found, draft, request.ability):
                best = draft
                break
        if _scored([one.plan for one in best]) >= request.scored:
            break
    return best


def _scored(plan: Sequence[RoundPlan]) -> int:
    return sum(one.is_scored for one in plan)


def _with_more(
    found: DialogueFacts,
    plan: Sequence[RoundPlan],
    request: DialogueRequest,
    dice: Dice,
    *,
    more: int,
) -> list[RoundPlan]:
    """Return a plan in which so many further rounds are scored in place of plain ones.

    Empty if there are too few of either, and for abilities of which this examiner finds one round a
    dialogue: a summary is one, what is striking is said once, and a second moment to go back to
    was hardly ever fair.
    """
    if request.ability in ("answer_refusal", "refusal_twin"):
        return _more_colours(found, plan, request, dice, more=more)
    if request.ability == "topic_shifting":
        return _more_returns(found, plan, dice, more=more)
    return []


def _more_colours(
    found: DialogueFacts,
    plan: Sequence[RoundPlan],
    request: DialogueRequest,
    dice: Dice,
    *,
    more: int,
) -> list[RoundPlan]:
    every = found.absent() if request.ability == "answer_refusal" else found.passing()
    turns = [
        turn
        for colour in dice.shuffled(every)
        if not request.has_asked(turn := ColourRunTurn(colour))
        and turn not in [one.turn for one in plan]
    ]
    # The first round is there to be built on.
    spots = dice.shuffled([k for k, one in enumerate(plan) if k and not one.is_scored])
    if min(len(turns), len(spots)) < more:
        return []
    fuller = list(plan)
    for spot, turn in zip(spots[:more], turns, strict=False):
        fuller[spot] = RoundPlan(turn, is_scored=True)
    return fuller


def _more_returns(
    found: DialogueFacts, plan: Sequence[RoundPlan], dice: Dice, *, more: int
) -> list[RoundPlan]:
    first_far = next(k for k, one in enumerate(plan) if isinstance(one.turn, OffTopicTurn))
    # One round about the video has to come before it is left.
    if first_far - 1 < more:
        return []
    used = {key for one in plan if isinstance(one.turn, FactsTurn) for key in one.turn.ask.keys}
    added = []
    for _ in range(more):
        keys = _keys(found, dice, 2, but=[*used])
        if keys is None:
            return []
        used |= {*keys}
        added.append(RoundPlan(FactsTurn(FactRequest(keys)), is_scored=True))
    return [*plan[more:], *added]


def _plan(found: DialogueFacts, request: DialogueRequest, dice: Dice) -> list[RoundPlan] | None:
    """Return what is asked in which round; None if the clip does not serve the ability."""
    if request.ability in ("object_reference", "memory_recall"):
        return _recall_plan(found, request, dice)
    if request.ability == "topic_shifting":
        return _shift_plan(found, request, dice)
    keys: tuple[str, ...] | None = ()
    place = request.turns
    colours: list[str] = []
    if request.ability == "content_summary":
        keys = _keys(found, dice, SUMMED)
    elif request.ability == "proactive_interaction":
        keys = tuple(set(hook_keys(found.seen)))
        if not all(found.fact(key, dice) for key in keys):
            return None
    elif request.ability in ("answer_refusal", "refusal_twin"):
        every = found.absent() if request.ability == "answer_refusal" else found.passing()
        colours = [one for one in every if not request.has_asked(ColourRunTurn(one))]
    else:
        return None
    if keys is None:
        return None
    is_summary = request.ability == "content_summary"
    asked = FactsTurn(FactRequest(keys))
    # If a summary repeated earlier rounds, coarse players would copy them from the history.
    kept = _withheld(found, [asked] if keys else [], is_new=is_summary)
    fillers = _fillers(found, kept, set(keys), dice, count=request.turns - 1)
    if fillers is None or not (keys or colours):
        return None
    scored = RoundPlan(BoredTurn(), is_scored=True)
    if is_summary:
        scored = RoundPlan(asked, "close", is_scored=True)
    elif colours:
        place = 2 + dice.below(request.turns - 1)
        scored = RoundPlan(ColourRunTurn(dice.one(colours)), is_scored=True)
    plans = [RoundPlan(one) for one in fillers]
    plans.insert(place - 1, scored)
    return plans


def _recall_plan(
    found: DialogueFacts, request: DialogueRequest, dice: Dice
) -> list[RoundPlan] | None:
    """Return rounds that name a moment, and one that points to it."""
    is_reference = request.ability == "object_reference"
    if is_reference and not request.objects:
        return None
    for recall in dice.shuffled(_recalls(found)):
        if is_reference:
            two = _pair(found, recall, dice)
            if two is None:
                continue
            meant, other = recall.moment, next(one for one in two if one != recall.moment)
            ordered = OrderedMoment("earlier" if meant.at_s < other.at_s else "later")
            ways: list[Referent] = [NumberedMoment(two.index(meant) + 1), ordered]
            named = _asking(two)
            place = request.turns - 1
            moment = dice.one(ways)
        else:
            place = 1 + dice.below(request.turns - 3)
            named = _asking([recall.moment])
            moment = AnswerMoment(place)
        scored = FactsTurn(FactRequest(recall.keys), PartReference(recall.side, moment))
        if request.has_asked(scored) and dice.below(4):
            continue
        kept = _withheld(found, [scored.at(TimedMoment(recall.moment.at_s))], is_new=True)
        taken = {*named.ask.keys, *recall.keys}
        # Where a reference is to be mistaken, another answer has to name a moment, too.
        is_timed = not is_reference
        fillers = _fillers(found, kept, taken, dice, count=request.turns - 2, timed=is_timed)
        if fillers is None:
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


def _pair(found: DialogueFacts, recall: RecallQuestion, dice: Dice) -> list[Landmark] | None:
    """Return the meant moment and one to take for it by mistake, in any order; None without one."""
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
    return dice.shuffled([meant, dice.one(partners)]) if partners else None


def _asking(moments: Sequence[Landmark]) -> FactsTurn:
    """Return the question that moments of one part are the answer to."""
    since_s = moments[0].since_s
    part = None if since_s is None else PartReference(moments[0].side, TimedMoment(since_s))
    return FactsTurn(FactRequest(tuple(one.key for one in moments)), part)


def _shift_plan(
    found: DialogueFacts, request: DialogueRequest, dice: Dice
) -> list[RoundPlan] | None:
    """Return rounds that leave the video twice and come back to it twice."""
    first = _keys(found, dice, 2)
    if first is None:
        return None
    second = _keys(found, dice, 2, but=first) if dice.below(3) else None
    far = [RoundPlan(OffTopicTurn(topic)) for topic in dice.shuffled(list(elsewhere()))[:2]]
    scored = [FactsTurn(FactRequest(keys)) for keys in (first, second) if keys]
    taken = {key for turn in scored for key in turn.ask.keys}
    count = request.turns - 2 - len(scored)
    fillers = _fillers(found, _withheld(found, scored), taken, dice, count=count)
    if fillers is None:
        return None
    back = [RoundPlan(turn, "back", is_scored=True) for turn in scored]
    if second is None:
        back.append(RoundPlan(fillers.pop(), "back"))
    return [*map(RoundPlan, fillers), far[0], back[0], far[1], back[1]]


def _keys(
    found: DialogueFacts, dice: Dice, count: int, *, but: Sequence[str] = ()
) -> tuple[str, ...] | None:
    """Return so many facts that are plain, a time among them; None if there are fewer."""
    facts = [one.key for one in found.facts(dice) if one.key not in but]
    # Of few values one is soon guessed, so that sides are asked for last.
    drawn = sorted(dice.shuffled(facts), key=lambda key: FACETS[key].type == "choice")
    # By habit alone nobody gave one of 103 times rightly, but half of the choices between sides.
    timed = [key for key in drawn if FACETS[key].type == "instant"]
    if len(drawn) < count or not timed:
        return None
    rest = [key for key in drawn if key != timed[0]]
    return tuple(dice.shuffled([timed[0], *rest[: count - 1]]))


def _withheld(
    found: DialogueFacts, scored: Sequence[FactsTurn], *, is_new: bool = False
) -> list[Check]:
    """Return what is right in the scored rounds, which need no history, so that no filler says it.

    Where the answer is to be new, not even a colour of it may come up.
    """
    return [
        item.check
        for turn in scored
        for item in items_of(found, word(turn, Dice("kept")), ())
        if item.is_yes and (is_new or isinstance(item.check, TimeWindowCheck))
    ]


def _fillers(
    found: DialogueFacts,
    withheld: Sequence[Check],
    but: set[str],
    dice: Dice,
    *,
    count: int,
    timed: bool = False,
) -> list[FactsTurn] | None:
    """Return plain questions on other facts, each asked once; None if there are too few."""
    plain = [key for key in dice.shuffled(askable(found.seen)) if key not in but]
    plain.sort(key=lambda key: timed and FACETS[key].type != "instant")
    parts = [one for one in found.named_in_parts() if one.key not in but]
    turns = [FactsTurn(FactRequest((key,))) for key in plain]
    turns += [_asking([one]) for one in dice.shuffled(parts)]
    chosen: list[FactsTurn] = []
    for turn in turns:
        if len(chosen) == count:
            break
        asked = word(turn, Dice("kept"))
        text = f"{asked} {speak('examiner', found.seen, asked)}"
        if not any(is_said(check, text) for check in withheld):
            chosen.append(turn)
    return dice.shuffled(chosen) if len(chosen) == count else None


def _worded(
    found: DialogueFacts, plan: Sequence[RoundPlan], request: DialogueRequest, dice: Dice
) -> list[DraftRound]:
    """Return the rounds of a plan in words; empty if one finds no words not used before."""
    draft: list[DraftRound] = []
    for number, one in enumerate(plan, 1):
        said = [*(each.user for each in draft), *request.asked]
        words: list[str] = []
        if request.ability == "refusal_twin" and isinstance(one.turn, ColourRunTurn):
            # What is there is asked for in the words in which something was that is not.
            for text in reversed(request.asked):
                if isinstance(before := read(text), ColourRunTurn):
                    again = text.replace(before.colour, one.turn.colour)
                    if read(again) == one.turn:
                        words.append(again)
        lead = "start" if number == 1 else one.lead
        user = next((text for text in words if text not in said), None)
        if user is None:
            drawn = (word(one.turn, dice, lead=lead) for _ in range(WORDINGS))
            user = next((text for text in drawn if text not in said), None)
        if user is None:
            return []
        assistant = speak("examiner", found.seen, user, [each.turn for each in draft])
        draft.append(DraftRound(one, user, assistant))
    return draft


def _reply(
    draft: Sequence[DraftRound], number: int, request: DialogueRequest, dice: Dice
) -> dict[str, object]:
    one = draft[number - 1]
    turn = one.plan.turn
    meant_s = one.plan.meant_s
    explicit = ""
    others = list[str]()
    objects = list[str]()
    if isinstance(turn, FactsTurn) and meant_s is not None:
        explicit = word(turn.at(TimedMoment(meant_s)), dice)
        times_s = others_s(draft, number)[:MOST_OTHERS]
        others = [word(turn.at(TimedMoment(at_s)), dice) for at_s in times_s]
        # The object in the picture then, or next to it in time, that the words do not name.
        used = set(re.findall(r"\w+", one.user.lower()))
        near = sorted(
            (abs(at_s - meant_s), each.id)
            for each in request.objects
            if not used.intersection(set(re.findall(r"\w+", each.name.lower())) - _VAGUE)
            for at_s in each.times
        )
        objects = [near[0][1]] if near else []
    return {
        "user": one.user,
        "assistant": one.assistant,
        "scored": "yes" if one.plan.is_scored else "no",
        "about": "elsewhere" if isinstance(turn, OffTopicTurn) else "video",
        "refers_to": one.plan.refers_to,
        "objects": objects,
        "explicit": explicit,
        "others": others,
    }


def others_s(draft: Sequence[DraftRound], number: int) -> list[float]:
    """Return the other moments that the words of round `number` could be taken to point to.

    Those that stand in one answer with the meant moment come first.
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


def is_fair(found: DialogueFacts, draft: Sequence[DraftRound], ability: str) -> bool:
    """Return whether each scored round shows what it is to show, and nothing gives it away."""
    scored = [number for number, one in enumerate(draft, 1) if one.plan.is_scored]
    return all(_is_fair_round(found, draft, number, ability) for number in scored)


def _is_fair_round(
    found: DialogueFacts, draft: Sequence[DraftRound], number: int, ability: str
) -> bool:
    one = draft[number - 1]
    turn = one.plan.turn
    history = [each.turn for each in draft[: number - 1]]
    items = items_of(found, one.user, history)
    if read(one.user) != turn or len(items) < FEWEST_ITEMS:
        return False
    # By frames that no player is sent: chosen by its own, a player would be right by selection.
    shown = speak("examiner", found.left, one.user, history)
    if not is_met(items, one.assistant) or not is_met(items, shown):
        return False
    if isinstance(turn, FactsTurn) and one.plan.meant_s is not None:
        # Who does not know which moment is meant has to get it wrong.
        right = [item for item in items if item.is_yes]
        forgetful = speak("examiner", found.seen, one.user)
        if any(is_met([item], forgetful) for item in right):
            return False
        dice = Dice("others", one.user)
        asked = [word(turn.at(TimedMoment(at_s)), dice) for at_s in others_s(draft, number)]
        mistaken = (speak("examiner", found.seen, other) for other in asked)
        if not asked or any(is_met(right, text) for text in mistaken):
            return False
    # Whoever refuses blindly is right here, so that nothing can give the answer away.
    if isinstance(turn, ColourRunTurn) and ability == "answer_refusal":
        return True
    # The rest of the dialogue may not give the answer away.
    values = TimeWindowCheck | ValueCheck
    facts = [item for item in items if item.is_yes and isinstance(item.check, values)]
    rest = [
        DialogueRound(each.user, None if place == number else each.assistant)
        for place, each in enumerate(draft, 1)
    ]
    text = " ".join(f"{each.user} {each.assistant or ''}" for each in rest)
    said = [is_said(item.check, text) for item in facts]
    # A summary is of what nobody has said yet; else a colour may come up again.
    if all(said) or (ability == "content_summary" and any(said)):
        return not facts
    # All of them have to be met: when any one sufficed, .163 of the clean rounds were lost.
    return not is_met(items, gathered(rest, one.user), only_yes=True)
