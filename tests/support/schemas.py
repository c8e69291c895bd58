"""What each role's reply is held to, so that a test can take one role after another."""

from __future__ import annotations

from videoautoarena.agents.prompting.contracts import (
    CONTRACTS,
    PAPER_CONTRACTS,
    ComparerReply,
    EvolverReply,
    ExaminerReply,
    FullJudgeReply,
    GraderReply,
    JudgeReply,
    PaperJudgeReply,
    PersonaReply,
    QuestionerReply,
    Reply,
    SceneMarkerReply,
    SummaryMarkerReply,
    WholeGraderReply,
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

_OTHERS: dict[tuple[str, int], type[Reply]] = {
    ("judge", 1): JudgeReply,
    ("judge", PAPER_CONTRACTS): PaperJudgeReply,
    ("grader", PAPER_CONTRACTS): WholeGraderReply,
}


def schema_of(role: str, number: int = CONTRACTS) -> type[Reply]:
    """What a role's reply is held to by the contracts of this number."""
    return _OTHERS.get((role, number), _SCHEMAS[role])
