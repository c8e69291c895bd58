"""How a slot ends: as a battle that is judged, forfeit or void."""

from __future__ import annotations

from collections.abc import Sequence

from videoautoarena.agents.roles.judge import settle_verdict
from videoautoarena.graph.context import Arena
from videoautoarena.graph.state import PERSONAS, LineageState
from videoautoarena.memory.records.records import (
    Answer,
    Battle,
    Brief,
    Forfeit,
    Judging,
    Persona,
    Verdict,
)


def ended(
    arena: Arena,
    state: LineageState,
    *,
    verdict: Verdict,
    reason: str | None,
    verdicts: Sequence[Judging] = (),
) -> Battle:
    """Return the battle of the slot that `state` is in."""
    question, draw = state.get("question"), state.get("draw")
    a, b = state.get("answer_a"), state.get("answer_b")
    return Battle(
        id=arena.slot(state["video"], state["persona"].index, state["round"]),
        video=state["video"],
        duration_s=arena.videos[state["video"]].duration_s,
        category=state["brief"].category,
        persona=state["persona"].index,
        persona_text=state["persona"].text,
        round=state["round"],
        origin=question.origin if question else None,
        question=question.text if question else None,
        aimed_at=question.pair if question else None,
        difficulty=question.difficulty if question else None,
        model_a=draw.model_a if draw else None,
        model_b=draw.model_b if draw else None,
        answer_a=a.text if isinstance(a, Answer) else None,
        answer_b=b.text if isinstance(b, Answer) else None,
        frames_a=a.frames if isinstance(a, Answer) else (),
        frames_b=b.frames if isinstance(b, Answer) else (),
        verdict=verdict,
        reason=reason,
        verdicts=tuple(verdicts),
        evolution=state.get("evolution", ()),
        prompts=dict(arena.prompts),
        propensity=draw.propensity if draw else None,
        basis=draw.basis if draw else None,
    )


def judged(arena: Arena, state: LineageState, verdicts: Sequence[Judging]) -> Battle:
    """Return the battle as its judges settle it; void when none of them decides."""
    verdict, reason = settle_verdict(verdicts, audit_only=not arena.rules.seats_count)
    return ended(arena, state, verdict=verdict, reason=reason, verdicts=verdicts)


def unanswered(arena: Arena, state: LineageState) -> Battle | None:
    """Return a forfeit or a void where an answer is missing; None where both are there."""
    a, b = state["answer_a"], state["answer_b"]
    ours = next((x for x in (a, b) if isinstance(x, Forfeit) and x.is_ours), None)
    if ours:
        return ended(arena, state, verdict="void", reason=f"no answer: {ours.reason}")
    if isinstance(a, Forfeit) and isinstance(b, Forfeit):
        reason = f"no answer from either: {a.reason}; {b.reason}"
        return ended(arena, state, verdict="void", reason=reason)
    if isinstance(a, Forfeit):
        return ended(arena, state, verdict="forfeit_a", reason=a.reason)
    if isinstance(b, Forfeit):
        return ended(arena, state, verdict="forfeit_b", reason=b.reason)
    return None


def unplayed(arena: Arena, video: str, *, reason: str, brief: Brief | None) -> list[Battle]:
    """Return a void for each slot of a video that cannot be played."""
    nobody = brief or Brief(account="", category="other")
    unknown = {"persona_text": None} | ({} if brief else {"category": None})
    return [
        ended(arena, _unseen(video, nobody, p, round_), verdict="void", reason=reason).model_copy(
            update=unknown
        )
        for p in PERSONAS
        for round_ in range(arena.rules.rounds)
    ]


def _unseen(video: str, brief: Brief, persona: int, round_: int) -> LineageState:
    user = Persona(index=persona, text="")
    return LineageState(settled=[], video=video, brief=brief, persona=user, round=round_)
