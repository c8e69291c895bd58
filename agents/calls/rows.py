"""What is written down of a finished call, and what its row means ever after."""

from __future__ import annotations

from videoautoarena.agents.calls.attempts import Ended
from videoautoarena.agents.limits.estimates import may_be_charged
from videoautoarena.agents.limits.prices import REFUSED, Cost, cost_of
from videoautoarena.agents.models.registry import Model
from videoautoarena.agents.prompting.layout import Request
from videoautoarena.agents.transport.redaction import redacted, reply_without_keys, sound
from videoautoarena.memory.records.errors import (
    CallFailed,
    ContentFiltered,
    EmptyReply,
    FramesLost,
    ProviderFailed,
    Refusal,
)
from videoautoarena.memory.records.records import CallRow, Usage

NO_USAGE = Usage()
_FAILURES: dict[str, type[CallFailed]] = {
    "frames": FramesLost,
    "empty": EmptyReply,
    "refusal": Refusal,
    "content-filter": ContentFiltered,
}


def replied(row: CallRow) -> CallRow:
    """Return a row that holds a reply, or raise its failure as it was raised the first time."""
    if row.reply is not None:
        return row
    reason = row.failure or ""
    kind = row.failure_kind or "failed"
    raise _FAILURES[kind](reason) if kind in _FAILURES else ProviderFailed(reason, kind=kind)


def row_of(key: str, model: Model, request: Request, ended: Ended) -> CallRow:
    """Return the row of a call: what came back, or why it failed for good."""
    received = ended.received
    fault = ended.fault
    reply = failure = kind = None
    if fault is not None:
        failure = fault.reason
        kind = fault.kind
    elif received is not None and received.text.strip():
        # The reply stands in the row as it will be replayed, so a key must not get that far.
        reply = reply_without_keys(sound(received.text), *filter(None, [model.key_env]))
    elif received is not None:
        failure = redacted(received.refusal, key_env=model.key_env)
        kind = "refusal"
    cost = _cost(model, ended)
    return CallRow(
        key=key,
        nonce=request.nonce,
        model=model.resolved,
        alias=model.alias,
        endpoint=model.endpoint,
        prompt=request.prompt,
        reply=reply,
        failure=failure,
        failure_kind=kind,
        usage=received.usage if received else NO_USAGE,
        cost_usd=cost.usd,
        cost_from=cost.source,
        served_by=received.served_by if received else None,
        ending=(redacted(received.ending) or None) if received else None,
        frames=len(request.frames.frames) if request.frames else 0,
        structured=ended.structured,
        text_chars=len(request.text),
        latency_s=round(ended.latency_s, 4),
        attempts=ended.attempts,
    )


def _cost(model: Model, ended: Ended) -> Cost:
    """Return what the last try cost; a failed one costs nothing only where nobody was at work."""
    if ended.received is not None:
        return cost_of(model, ended.received.usage, ended.received.cost_usd)
    if ended.fault is not None and not may_be_charged(ended.fault.kind):
        return Cost(0.0, REFUSED)
    return cost_of(model, NO_USAGE)
