"""Which questions can be answered without the video: those that a contestant without frames won."""

from __future__ import annotations

from collections.abc import Sequence

from memory.records import TIES, Battle
from runs.audit_input import AuditInput, above, finding, percent, unknown
from runs.console import safe
from runs.findings import Finding
from runs.reading import about_video
from scoring.shares import measure_share

MOST_LEAKED = 1 / 3
"""More wins without a frame are an alarm."""
_NAMED = 5
"""So many of the questions are named."""
_UNTOLD = (
    "Nobody played without frames, so nobody knows which questions need the video; add a "
    "contestant with max_frames = 0, such as offline:blind among stand-ins."
)
_CONSTANT = "offline:parrot"
"""To win against it takes no video."""


def audit_leak(given: AuditInput) -> list[Finding]:
    """Return how often a contestant without frames beat one that had some."""
    return [_leak(name, given) for name in blind_of(given)] or [unknown("leak.blind", _UNTOLD)]


def blind_of(given: AuditInput) -> list[str]:
    """Return the names of those who played without a frame."""
    names = {name for b in given.decided for name in (b.model_a, b.model_b) if name}
    return sorted(name for name in names if given.is_blind(name))


def _leak(name: str, given: AuditInput) -> Finding:
    fought = [b for b in given.decided if is_leak_test(b, name, given)]
    key, shown = f"leak.blind.{safe(name)}", safe(name)
    if not fought:
        return unknown(key, f"{shown} met nobody who saw the video.")
    share = measure_share([_points(b, name) for b in fought], given.number_videos(fought))
    sentence = (
        f"Without a frame {shown} took {percent(share)} of {share.n} questions from models that "
        f"saw the video; so far they can be answered unseen{_worst(fought, name, given)}."
    )
    return finding(key, share, sentence, crosses=above(share, MOST_LEAKED))


def is_leak_test(battle: Battle, name: str, given: AuditInput) -> bool:
    """Return whether a battle shows if its question can be answered without the video.

    Args:
        battle: which was decided.
        name: of a contestant without frames, who need not be in it.
        given: tells who else saw none.
    """
    if name not in (battle.model_a, battle.model_b):
        return False
    other = (battle.model_b if battle.model_a == name else battle.model_a) or ""
    return not given.is_blind(other) and given.model_of(other) != _CONSTANT


def _points(battle: Battle, name: str) -> float:
    if battle.verdict in TIES:
        return 0.5
    return float((battle.verdict == "a") == (battle.model_a == name))


def _worst(fought: Sequence[Battle], name: str, given: AuditInput) -> str:
    """Name questions it won, the latest rounds first: those were meant to be the hardest."""
    won = [battle for battle in fought if _points(battle, name) == 1.0]
    won.sort(key=lambda battle: -battle.round)
    told = ", ".join(_about(battle, given) for battle in won[:_NAMED])
    more = f" and {len(won) - _NAMED} more" if len(won) > _NAMED else ""
    return f", such as {told}{more}" if won else ""


def _about(battle: Battle, given: AuditInput) -> str:
    film = given.films.get(battle.video)
    return f"{safe(battle.id)} ({about_video(film)})" if film else safe(battle.id)
