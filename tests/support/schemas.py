"""What each role's reply is held to, so that a test can take one role after another."""

from __future__ import annotations

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    EvolverReply,
    ExaminerReply,
    GraderReply,
    OptionCheckerReply,
    PersonaReply,
    PlotWriterReply,
    PointCheckerReply,
    QuestionerReply,
    Reply,
    SceneMarkerReply,
    SceneWriterReply,
    SummaryMarkerReply,
    SummaryWriterReply,
    TopicWriterReply,
    WholeGraderReply,
    comparer_reply,
    judge_reply,
)
from videoautoarena.memory.records.standards import PAPER_CONTRACTS

_SCHEMAS: dict[str, type[Reply]] = {
    "examiner": ExaminerReply,
    "persona": PersonaReply,
    "questioner": QuestionerReply,
    "evolver": EvolverReply,
    "grader": GraderReply,
    "scene_marker": SceneMarkerReply,
    "summary_marker": SummaryMarkerReply,
    "topic_writer": TopicWriterReply,
    "plot_writer": PlotWriterReply,
    "scene_writer": SceneWriterReply,
    "summary_writer": SummaryWriterReply,
    "option_checker": OptionCheckerReply,
    "point_checker": PointCheckerReply,
}

_OTHERS: dict[tuple[str, int], type[Reply]] = {
    ("grader", PAPER_CONTRACTS): WholeGraderReply,
}


def schema_of(role: str, number: int = CONTRACTS) -> type[Reply]:
    """What a role's reply is held to by the contracts of this number."""
    if role in ("judge", "comparer"):
        return judge_reply(number) if role == "judge" else comparer_reply(number)
    return _OTHERS.get((role, number), _SCHEMAS[role])
