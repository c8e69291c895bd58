"""Kinds of question: categories, of which a question may have several."""

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
"""All categories, in the order in which they are asked for and shown."""

Decision = Literal["yes", "no", "unknown"]
"""Whether a question is of a category; "unknown" where the reply could not be read, never "no"."""
