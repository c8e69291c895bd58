"""What each role's reply is held to, so that a test can take one role after another."""

from __future__ import annotations

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    ComparerReply,
    EvolverReply,
    ExaminerReply,
    FullJudgeReply,
    GraderReply,
    JudgeReply,
    PersonaReply,
    QuestionerReply,
    Reply,
    SceneMarkerReply,
    SummaryMarkerReply,
)
from videoautoarena.agents.prompting.task_contracts import (
    OptionCheckerReply,
    PlotWriterReply,
    PointCheckerReply,
    SceneWriterReply,
    SummaryWriterReply,
    TopicWriterReply,
)

_SCHEMAS: dict[str, type[Reply]] = {
    "examiner": ExaminerReply,
    "persona": PersonaReply,
    "questioner": QuestionerReply,
    "judge": FullJudgeReply,
    "evolver": EvolverReply,
    "grader": GraderReply,
    "comparer": ComparerReply,
    "scene_marker": SceneMarkerReply,
    "summary_marker": SummaryMarkerReply,
    "topic_writer": TopicWriterReply,
    "plot_writer": PlotWriterReply,
    "scene_writer": SceneWriterReply,
    "summary_writer": SummaryWriterReply,
    "option_checker": OptionCheckerReply,
    "point_checker": PointCheckerReply,
}


def schema_of(role: str, number: int = CONTRACTS) -> type[Reply]:
    """What a role's reply is held to by the contracts of this number."""
    return JudgeReply if (role, number) == ("judge", 1) else _SCHEMAS[role]
