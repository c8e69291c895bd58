"""What making dialogues takes: calls, dollars, and what leaves the machine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from videoautoarena.graph.dialogue import EXEMPT, TRIES
from videoautoarena.graph.dialogue_checks import MEMORABLE, MOST_OTHERS
from videoautoarena.memory.records.records import Role, Video
from videoautoarena.memory.records.scenes import Span
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.config.disclosure import REPAIR, judges_notice
from videoautoarena.runs.config.run_config import RunConfig
from videoautoarena.runs.dialogues.making import MOST_CLIPS, SPARE, DialogueWish, scope_of
from videoautoarena.runs.rundir.frames import has_subtitles
from videoautoarena.runs.scenes.plan import plan_scenes
from videoautoarena.runs.tasks.watch_plan import WatchPlan
from videoautoarena.runs.tournament.plan import REPAIRED, SAMPLE, Line, estimated, measured

SERVED = 0.8
"""Share of videos that serve an ability."""
AGAIN = 0.3
"""Dialogues that are written once more, for each that is wanted."""
RATED = 1.5
"""Clips of a video that are rated."""
OTHERS = 1.5
"""Other things that could be meant, which are tried."""
MOST_SCORED = 8


def plan_making(
    config: RunConfig,
    wish: DialogueWish,
    shots: Mapping[str, Sequence[Span]],
    *,
    videos: Sequence[Video],
    known: int,
    store: Store | None,
) -> WatchPlan:
    """Return what `videos`, those that are open, will take beyond what the journal has.

    `shots` are the stretches of each between cuts.
    """
    seen = measured(store.journal.latest(SAMPLE) if store else [])
    left, left_most = defaultdict[Role, float](float), Counter[Role]()
    for video in videos:
        for line in plan_scenes(config, video.id, shots[video.id], store).lines:
            left[line.role] += line.calls
            left_most[line.role] += line.most_calls
    expected, most = _calls(wish, len(videos))
    made = _made(videos, store)
    for role in most:
        left[role] += max(expected[role] * (1 + REPAIRED) - made[role], 0.0)
        left_most[role] += max(most[role] * REPAIR - made[role], 0)
    lines = [
        estimated(config, Line(config.examiner, role, calls, left_most[role]), seen)
        for role, calls in left.items()
        if videos
    ]
    calls = {config.examiner: sum(line.most_calls for line in lines)}
    notices = judges_notice(
        config,
        calls if videos else {},
        videos=len(videos),
        has_subtitles=store is not None and has_subtitles(store),
    )
    return WatchPlan(tuple(lines), known, tuple(notices))


def _calls(wish: DialogueWish, videos: int) -> tuple[dict[Role, float], Counter[Role]]:
    """Return the calls that are expected, and the most that can be, by role."""
    expected, most = defaultdict[Role, float](float), Counter[Role]()
    expected["fitness_rater"] = RATED * videos
    most["fitness_rater"] = MOST_CLIPS * videos
    for kind in wish.kinds:
        wanted = wish.per_video * videos
        tries = (wish.per_video + SPARE) * videos * TRIES
        written = wanted * SERVED * (1 + AGAIN)
        answers, most_answers = 1.0, 1
        if kind in MEMORABLE:
            answers += 1 + OTHERS
            most_answers += 1 + MOST_OTHERS
        blind = kind not in EXEMPT
        expected["dialogist"] += written
        most["dialogist"] += tries
        most_rounds = tries * MOST_SCORED
        for role in ("checklist_maker", "checklist_validator"):
            expected[role] += written
            most[role] += most_rounds
        expected["dialogue_answerer"] += written * answers
        most["dialogue_answerer"] += most_rounds * most_answers
        expected["leak_checker"] += written * blind
        most["leak_checker"] += most_rounds * blind
        expected["checklist_marker"] += written * (answers + blind)
        most["checklist_marker"] += most_rounds * (most_answers + blind)
    return expected, most


def _made(videos: Sequence[Video], store: Store | None) -> Counter[str]:
    """Return the calls about open videos that the journal has, by role."""
    starts = tuple(f"{scope_of(video.id)}-" for video in videos)
    found = Counter[str]()
    for scope, _, role in store.journal.each_answered() if store else ():
        if scope.startswith(starts):
            found[role] += 1
    return found
