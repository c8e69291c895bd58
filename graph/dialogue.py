"""Making one dialogue: written, held to its form, given checklists, tried out, repaired once.

Cheap checks come first. Whatever fails ends the try with a reason; the dialogist is told it and
tries once more, after which the dialogue is dropped. Every call stands in the journal, so that
a repetition costs nothing and comes to the same.

Source: MT-Video-Bench, quality control: rounds that can be answered without the video, checklists
that their answers do not settle, and dialogues that miss their ability are thrown out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.contracts import RoundReply
from videoautoarena.agents.roles.mark import ReplyWithChecklist, check_off
from videoautoarena.agents.roles.write_dialogue import (
    ChecklistQuestion,
    Dialogist,
    DialogueBrief,
    DialogueRefusal,
    ShownRound,
    other_half,
    turns_of,
)
from videoautoarena.graph.context import Update
from videoautoarena.graph.dialogue_checks import (
    MEMORABLE,
    MOST_OTHERS,
    DialogueFault,
    DialogueRequirements,
    checklist_fault,
    find_fault,
    gives_away,
    kept_items,
    meanings,
    says_nothing,
    scored,
)
from videoautoarena.memory.records.errors import CallFailed

T = TypeVar("T")
TRIES = 2
"""A dialogue is written once, and once more where that one is refused."""
EXEMPT = ("answer_refusal", "proactive_interaction")
"""Abilities whose rounds the leak filter leaves alone: whoever refuses blindly refuses rightly, and
a question to the user is found in no dialogue."""
WIDE = "refusal_twin"
"""Its stretches are wide: times of anything else fall into them, so that values give away nothing;
what is said to it blindly is held against its items all the same."""
SOLVED = 1.0
"""Share of items that an answer must meet which knows the history and sees other frames."""
HARD = 0.8
"""The same share, for abilities whose rounds ask for several facts."""
_SEVERAL = ("content_summary", "topic_shifting", "proactive_interaction")
MOST_TOLD = 40_000
"""Characters of a refused dialogue that is shown to its writer again."""


@dataclass(frozen=True)
class DialogueContext:
    """What a dialogue is made with."""

    dialogist: Dialogist
    marker: Model
    """Holds answers against checklists; is shown no frames."""
    ability: str
    turns: tuple[int, int]
    slot: str
    """Scope of all calls about this dialogue."""
    asked: tuple[str, ...] = ()
    """What the scored rounds of other dialogues about this video asked."""
    wanted: int | None = None
    """Rounds that are asked for; None: the fewest of `turns`."""
    on_failed: Callable[[str], None] = lambda _scope: None
    """Called with the scope of every call that failed for good."""

    @property
    def frame(self) -> DialogueRequirements:
        """What a dialogue has to fit into."""
        memory = self.dialogist.memory
        clip = self.dialogist.clip
        bank = {one.id: one.name for one in memory.seen_in(clip.scenes)}
        return DialogueRequirements(self.ability, self.turns, bank, self.asked)


class MadeDialogue(NamedTuple):
    """A dialogue that was made, or why it was not."""

    rounds: tuple[RoundReply, ...]
    checklists: dict[int, tuple[ChecklistQuestion, ...]]
    """Number of each scored round, from 1, to its items."""
    faults: tuple[DialogueFault, ...]
    """What was wrong with each try, in order."""
    is_done: bool
    tried: tuple[dict[str, Any], ...] = ()
    """Each answer that was tried out, with the items it met."""


class DialogueState(TypedDict, total=False):
    """One dialogue while it is made."""

    ask: int
    """Which try it is, from 0."""
    rounds: tuple[RoundReply, ...]
    checklists: dict[int, tuple[ChecklistQuestion, ...]]
    fault: DialogueFault | None
    """What is wrong with this try."""
    faults: tuple[DialogueFault, ...]
    tried: tuple[dict[str, Any], ...]


async def write(state: DialogueState, runtime: Runtime[DialogueContext]) -> Update:
    """Write it, or once more where it was refused."""
    shop = runtime.context
    ask = state.get("ask", 0)
    refused = None
    if faults := state.get("faults"):
        last = faults[-1]
        rounds = state.get("rounds", ())
        is_long = sum(len(one.model_dump_json()) for one in rounds) > MOST_TOLD
        refused = DialogueRefusal(last.reason, last.why, last.round, () if is_long else rounds)
    asked = DialogueBrief(shop.ability, shop.wanted or shop.turns[0], shop.asked, refused)
    # LangGraph keeps what a node does not return, so what is left of the last try is cleared.
    begun: Update = {"checklists": {}, "tried": (), "fault": None}
    try:
        rounds = await _noted(shop, shop.slot, shop.dialogist.write(asked, slot=shop.slot, ask=ask))
    except CallFailed as failure:
        return {**begun, "rounds": (), "fault": DialogueFault("failed", str(failure))}
    return {**begun, "rounds": rounds, "fault": find_fault(rounds, shop.frame)}


async def list_items(state: DialogueState, runtime: Runtime[DialogueContext]) -> Update:
    """Give each scored round a checklist that its reference settles."""
    shop = runtime.context
    rounds = state["rounds"]
    checklists = dict[int, tuple[ChecklistQuestion, ...]]()
    for number in scored(rounds):
        one = rounds[number - 1]
        question = ShownRound(one.user, one.assistant, turns_of(rounds, number))
        ask = _ask(state, number)
        try:
            items = await _noted(
                shop,
                shop.slot,
                shop.dialogist.list_items(shop.ability, question, slot=shop.slot, ask=ask),
            )
            checked = await _noted(
                shop, shop.slot, shop.dialogist.validate(question, items, slot=shop.slot, ask=ask)
            )
        except CallFailed as failure:
            return {"fault": DialogueFault("failed", str(failure), number)}
        kept = kept_items(items, checked)
        checklists[number] = kept
        fault = checklist_fault(kept, rounds, number, ability=shop.ability)
        # Blind answers alone miss what is given away in other words: of 104 such leaks, planted for
        # the offline models, they found none and values found all.
        is_secret = shop.ability != WIDE and keeps_secret(shop.ability, one)
        if fault is None and is_secret and gives_away(kept, rounds, number):
            fault = DialogueFault(
                "values", "all that it asks for stands elsewhere in the dialogue", number
            )
        if fault is not None:
            # Ended at the first: further checklists would be paid for a dialogue that falls.
            return {"checklists": checklists, "fault": fault}
    return {"checklists": checklists}


async def try_out(state: DialogueState, runtime: Runtime[DialogueContext]) -> Update:
    """Have each scored round answered by models that know all and by such that lack something.

    Without frames comes first, since that costs least.
    """
    trial = _AnswerTrial(runtime.context, state)
    return {"fault": await trial.fault(), "tried": tuple(trial.tried)}


async def refuse(state: DialogueState) -> Update:
    """Note what is wrong, and begin the next try."""
    faults = state.get("faults", ())
    if fault := state.get("fault"):
        faults = (*faults, fault)
    return {"faults": faults, "ask": state.get("ask", 0) + 1}


def after(following: str) -> Any:
    """Return the function that decides whether a try goes on with `following`."""

    def decide(state: DialogueState) -> str:
        return "refuse" if state.get("fault") else following

    return decide


def again(state: DialogueState) -> str:
    """Return "write" while there is a try left; what a failed call ends is not tried again."""
    # Nothing more is paid for a dialogue of which a call failed for good.
    is_failed = any(fault.reason == "failed" for fault in state.get("faults", ()))
    return END if is_failed or state.get("ask", 0) >= TRIES else "write"


builder = StateGraph(DialogueState, context_schema=DialogueContext)
builder.add_node("write", write)
builder.add_node("list_items", list_items)
builder.add_node("try_out", try_out)
builder.add_node("refuse", refuse)
builder.add_edge(START, "write")
builder.add_conditional_edges("write", after("list_items"), ["list_items", "refuse"])
builder.add_conditional_edges("list_items", after("try_out"), ["try_out", "refuse"])
builder.add_conditional_edges("try_out", after(END), [END, "refuse"])
builder.add_conditional_edges("refuse", again, ["write", END])
dialogue = builder.compile(name="dialogue")


async def make_dialogue(shop: DialogueContext) -> MadeDialogue:
    """Return a dialogue that passed every check, or why both tries fell.

    A try costs one call to be written, two a scored round for its checklist, and two for each
    answer that is tried out: one for abilities that need no memory and no filter, up to three more
    and one for each other thing that could be meant for those that do.
    """
    state = await dialogue.ainvoke(DialogueState(ask=0, faults=()), context=shop)
    return MadeDialogue(
        rounds=state.get("rounds", ()),
        checklists=state.get("checklists", {}),
        faults=state.get("faults", ()),
        is_done=not state.get("fault"),
        tried=state.get("tried", ()),
    )


@dataclass(frozen=True)
class _AnswerTrial:
    """Answers that are tried out in one try."""

    shop: DialogueContext
    state: DialogueState
    tried: list[dict[str, Any]] = field(default_factory=list)

    async def fault(self) -> DialogueFault | None:
        """Return the first thing that is wrong with a round."""
        # Check by check, not round by round: the cheapest may drop the dialogue before a dearer one
        # is paid.
        for check in (self._leak, self._unsolved, self._memory):
            for number, items in self.state["checklists"].items():
                try:
                    fault = await check(number, items)
                except CallFailed as failure:
                    return DialogueFault("failed", str(failure), number)
                if fault is not None:
                    return fault
        return None

    async def _leak(self, number: int, items: Sequence[ChecklistQuestion]) -> DialogueFault | None:
        """Have a round answered without frames, but with the rest of the dialogue."""
        shop = self.shop
        rounds = self.state["rounds"]
        if not keeps_secret(shop.ability, rounds[number - 1]):
            return None
        ask = _ask(self.state, number)
        call = shop.dialogist.answer_blind(rounds, number, slot=shop.slot, ask=ask)
        answer = await _noted(shop, shop.slot, call)
        how = "sees no frames"
        # Such an answer meets the items answered no; no call is paid to learn that.
        if says_nothing(answer):
            met = [not item.is_yes for item in items]
            self.tried.append({"round": number, "how": how, "answer": answer, "met": met})
        elif _is_told(items, await self._met(how, answer, number, items, MOST_OTHERS + 2)):
            return DialogueFault("leak", "the rest of the dialogue answers it", number)
        return None

    async def _unsolved(
        self, number: int, items: Sequence[ChecklistQuestion]
    ) -> DialogueFault | None:
        """Have a round answered with all its history, from frames that a player does not see."""
        rounds = self.state["rounds"]
        answer = await self._answer(rounds[number - 1].user, turns_of(rounds, number), number, 0)
        met = await self._met("knows all, sees other frames", answer, number, items, 0)
        if sum(met) / len(met) >= (HARD if self.shop.ability in _SEVERAL else SOLVED):
            return None
        return DialogueFault("unsolved", f"{sum(met)} of {len(met)} items met", number)

    async def _memory(
        self, number: int, items: Sequence[ChecklistQuestion]
    ) -> DialogueFault | None:
        """Have a round answered without its history, and for whatever else it could mean."""
        if self.shop.ability not in MEMORABLE:
            return None
        one = self.state["rounds"][number - 1]
        answer = await self._answer(one.user, (), number, 1)
        if _is_told(items, await self._met("knows no history", answer, number, items, 1)):
            return DialogueFault("memory", "who knows no history answers it", number)
        for place, other in enumerate(meanings(one)[:MOST_OTHERS], 2):
            answer = await self._answer(other, (), number, place)
            met = await self._met("takes it for another", answer, number, items, place)
            if _is_told(items, met):
                return DialogueFault("referent", "it may mean something else as well", number)
        return None

    async def _answer(
        self, user: str, history: Sequence[tuple[str, str]], number: int, place: int
    ) -> str:
        shop = self.shop
        dialogist = shop.dialogist
        # Not the frames that a player is sent: a round chosen by those would be solved by
        # selection.
        frames = other_half(dialogist.frames) if place == 0 else dialogist.frames
        # Place 0 knows all, 1 knows no history, one more for each other meaning; blind answers are
        # marked under the last.
        ask = _ask(self.state, number) * (MOST_OTHERS + 3) + place
        call = dialogist.answer(user, history, frames=frames, slot=shop.slot, ask=ask)
        return await _noted(shop, shop.slot, call)

    async def _met(
        self, how: str, answer: str, number: int, items: Sequence[ChecklistQuestion], place: int
    ) -> list[bool]:
        """Return which items an answer meets as expected."""
        shop = self.shop
        one = self.state["rounds"][number - 1]
        case = ReplyWithChecklist(
            one.user, one.assistant, answer, tuple(item.text for item in items)
        )
        slot = f"{shop.slot}:mark:{_ask(self.state, number)}:{place}"
        call = check_off(shop.dialogist.prompter, shop.marker, case=case, slot=slot)
        said = await _noted(shop, slot, call)
        met = [(word == "yes") is item.is_yes for word, item in zip(said, items, strict=True)]
        self.tried.append({"round": number, "how": how, "answer": answer, "met": met})
        return met


async def _noted(shop: DialogueContext, scope: str, call: Awaitable[T]) -> T:
    """Return the result of a call; report the scope of one that fails."""
    try:
        return await call
    except CallFailed:
        shop.on_failed(scope)
        raise


def _is_told(items: Sequence[ChecklistQuestion], met: Sequence[bool]) -> bool:
    """Return whether an answer meets all that is answered yes."""
    return all(is_met for item, is_met in zip(items, met, strict=True) if item.is_yes)


def keeps_secret(ability: str, one: RoundReply) -> bool:
    """Return whether the rest of its dialogue may not answer a round."""
    return ability not in EXEMPT and one.about == "video"


def _ask(state: DialogueState, number: int) -> int:
    """Return the number that tells asks about a round in one try from those in others."""
    # No dialogue has 16 rounds (`TURNS` allows eight), so that no two asks share a number.
    return state.get("ask", 0) * 16 + number
