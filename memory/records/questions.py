"""What kinds of question are asked: categories that do not exclude one another."""

from __future__ import annotations

from typing import Literal, get_args

QuestionCategory = Literal[
    "captioning",
    "text_on_screen",
    "entities",
    "counting",
    "order_and_time",
    "cause_and_reasoning",
    "humour",
    "diagrams",
    "creative_writing",
    "advice",
    "homework",
    "code",
]
QUESTION_CATEGORIES: tuple[QuestionCategory, ...] = get_args(QuestionCategory)
"""All of them, in the order in which they are asked for and shown."""

Decision = Literal["yes", "no", "unknown"]
"""Whether a question is of a category; "unknown" is what could not be read, and never a no."""
