"""The form of each role's reply, as the role is told of it.

Every word of these is part of its calls' keys: with others, all that was begun with them would be
paid again.
"""

from __future__ import annotations

from videoautoarena.memory.records.questions import QUESTION_CATEGORIES
from videoautoarena.memory.records.records import CATEGORIES
from videoautoarena.memory.records.standards import PAPER_CONTRACTS, standards_of

_SCALE = '{"analysis": "...", "score": 3}'
_MOMENT = '"start_s": 12.0, "end_s": 15.5'
_CHOICE = '"question": "...", "answer": "...", "distractors": ["...", "...", "..."]'
_FREE = '"question": "...", "reference": "...", "points": ["...", "...", "..."]'
_FEWER = "items has one entry for each that was wanted, fewer where the video gives no more."
_SHOWN_FORM = '{"analysis": "...", "shown": "yes"}'
_CHECKED = (
    'moments is empty where the question is about the video as a whole. names is "yes" or "no".'
)
_TASK_SHAPES: dict[str, str] = {
    "topic_writer": f'{{"items": [{{{_CHOICE}}}]}}\n{_FEWER}',
    "plot_writer": f'{{"items": [{{{_MOMENT}, {_CHOICE}}}]}}\n{_FEWER}',
    "scene_writer": f'{{"items": [{{{_MOMENT}, {_FREE}}}]}}\n{_FEWER}',
    "summary_writer": f'{{"items": [{{{_FREE}}}]}}\nitems has one entry.',
    "option_checker": (
        f'{{"analysis": "...", "moments": [{{{_MOMENT}}}], "answer": "...", "names": "no"}}\n'
        'answer is one of "A", "B", "C", "D", "none", "several": the one option that is right, '
        f"that none is, or that more than one is. {_CHECKED}"
    ),
    "point_checker": (
        f'{{"moments": [{{{_MOMENT}}}], "points": [{_SHOWN_FORM}, {_SHOWN_FORM}], '
        f'"reference": {_SHOWN_FORM}, "names": "no"}}\n'
        "points has one entry for every scoring point, in their order. shown is "
        f'"yes" or "no". {_CHECKED}'
    ),
}
_ITEM = '{"analysis": "...", "answer": "yes"}'
_RATED = '{"analysis": "...", "score": 4}'
_ABILITIES = (
    "object_reference", "memory_recall", "content_summary", "answer_refusal", "topic_shifting",
    "proactive_interaction",
)  # fmt: skip
_EACH = "has one entry for every {} in their order"
_DIALOGUE_SHAPES: dict[str, str] = {
    "checklist_marker": (
        f'{{"items": [{_ITEM}, {_ITEM}]}}\nitems {_EACH.format("item of the checklist,")}. '
        'answer is "yes" or "no".'
    ),
    "scene_captioner": '{"caption": "...", "theme": "..."}',
    "scene_merger": (
        '{"together": ["yes", "no"]}\n'
        f"together {_EACH.format('pair of neighbours,')}: the first scene with the second, the "
        'second with the third, and so on. Each is "yes" or "no".'
    ),
    "object_finder": (
        '{"objects": [{"name": "...", "description": "...", "regions": [{"time_s": 12.0, '
        '"left": 0.1, "top": 0.2, "right": 0.4, "bottom": 0.6}]}]}\n'
        "left, top, right and bottom are shares of the picture's width and height, from 0 to 1. "
        "objects is empty where there is nothing to name."
    ),
    "object_matcher": f'{{"same": ["yes", "no"]}}\nsame {_EACH.format("pair,")}: "yes" or "no".',
    "fitness_rater": (
        "{"
        + ", ".join(f'"{ability}": {_RATED}' for ability in _ABILITIES)
        + "}\nEach score is a whole number from 1 to 6."
    ),
    "dialogist": (
        '{"rounds": [{"user": "...", "assistant": "...", "scored": "yes", "about": "video", '
        '"refers_to": null, "objects": ["o1"], "explicit": "...", "others": ["..."]}]}\n'
        'scored is "yes" or "no". about is "video" or "elsewhere". refers_to is the number of an '
        "earlier round, or null. objects, explicit and others are empty where there is nothing to "
        "say."
    ),
    "checklist_maker": (
        '{"items": [{"question": "...", "answer": "yes"}]}\n'
        'items has one to five entries. answer is "yes" or "no".'
    ),
    "checklist_validator": (
        '{"items": [{"analysis": "...", "answer": "yes", "repeats": null}]}\n'
        f"items {_EACH.format('item of the checklist,')}. answer is "
        '"yes", "no" or "open". repeats is the number of an earlier item, or null.'
    ),
    "leak_checker": '{"answer": "..."}',
    "dialogue_answerer": '{"answer": "..."}',
}
_CATEGORY_SHAPES: dict[str, str] = {
    "classifier": (
        "{" + ", ".join(f'"{name}": "..."' for name in QUESTION_CATEGORIES) + "}\n"
        'Each is "yes" or "no".'
    ),
    "topic_namer": '{"name": "..."}',
}
SHAPES: dict[str, str] = {
    "examiner": (
        '{"account": "...", "category": "...", '
        '"scenes": [{"start_s": 0.0, "end_s": 4.5, "what": "..."}]}\n'
        "category is one of: " + ", ".join(CATEGORIES) + "."
    ),
    "persona": (
        '{"personas": ["A person ...", "A person ...", "A person ..."]}\n'
        "Exactly three, the one closest to the content first."
    ),
    "questioner": '{"question": "..."}',
    "evolver": (
        '{"faults_a": ["..."], "faults_b": ["..."], "weaknesses_a": ["..."], '
        '"weaknesses_b": ["..."], "question": "..."}\n'
        "A list is empty where there is nothing to say."
    ),
    "grader": (
        '{"question_1": {"instruction_following": 2.5, "accuracy": 2.5, "relevance": 2.5, '
        '"helpfulness": 2.5, "overall": 2.5}, "question_2": {...}}\n'
        "Each number lies between 1.0 (easy) and 5.0 (hard), with one decimal."
    ),
    "scene_marker": (
        '{"points": [{"analysis": "...", "score": 5}, {"analysis": "...", "score": 1}], '
        f'"relevance": {_SCALE}}}\n'
        "points has one entry for every scoring point, in their order, each with a score of 1, 3 "
        "or 5. The score of relevance lies between 1 and 5."
    ),
    "summary_marker": (
        f'{{"completeness": {_SCALE}, "reliability": {_SCALE}}}\nEach score lies between 1 and 5.'
    ),
    **_TASK_SHAPES,
    **_DIALOGUE_SHAPES,
    **_CATEGORY_SHAPES,
}

"""Role to the form of its reply, by contract 1; those of judges list standards."""

PAPER_SHAPES: dict[str, str] = SHAPES | {
    "grader": (
        '{"question_1": {"instruction_following": 3, "accuracy": 3, "relevance": 3, '
        '"helpfulness": 3, "overall": 3}, "question_2": {...}}\n'
        "Each number is a whole one from 1 (easy) to 5 (hard)."
    ),
}
"""What the VideoAutoArena paper asks for, in our words and as JSON."""

SHAPES_2: dict[str, str] = SHAPES | {
    "persona": (
        '{"personas": ["...", "...", "..."]}\nExactly three, the one closest to the content first.'
    ),
}


def judge_shape(number: int) -> str:
    """Return the form of a judge's reply by the contracts of a number."""
    if judges_in_full(number):
        each = _each_standard(number, '{"analysis": "...", "verdict": "..."}')
        return (
            f'{{"own_answer": "...", {each}, "verdict": "..."}}\n'
            "Write the keys in this order. own_answer is what you would have answered yourself. "
            "Each analysis names what decides that standard; the one on accuracy gives the times "
            "of the frames that decide it, as they stand before the frames (t=12.00s). The verdict "
            'of a standard is one of "A", "B", "tie", "abstain": which answer is better by it '
            "alone, that neither is, or that you cannot tell. The last verdict is over all and one "
            'of "A", "B", "tie_good", "tie_bad", "abstain": the better answer, two equally good '
            "ones, two equally bad ones, or that you cannot tell."
        )
    each = _each_standard(number, '"..."')
    if number == PAPER_CONTRACTS:
        return (
            f'{{{each}, "verdict": "..."}}\n'
            'Write the keys in this order. verdict is one of "A", "B", "tie_good", "tie_bad": the '
            "better answer, two equally good ones, or two equally bad ones."
        )
    return (
        f'{{{each}, "verdict": "A"}}\n'
        'verdict is one of "A", "B", "tie_good", "tie_bad", "abstain": the better answer, two '
        "equally good ones, two equally bad ones, or that you cannot tell."
    )


def comparer_shape(number: int) -> str:
    """Return the form of a comparer's reply by the contracts of a number."""
    each = _each_standard(number, '"..."')
    return (
        f'{{"own_answer": "...", {each}, "verdict": "A>B"}}\n'
        'verdict is one of "A>>B", "A>B", "A=B", "B>A", "B>>A", "abstain": A is much better, a '
        "little better, neither is, B is a little better, much better, or that you cannot tell."
    )


def judges_in_full(number: int) -> bool:
    """Return whether a judge also answers for itself and decides each standard."""
    return number not in (1, PAPER_CONTRACTS)


def _each_standard(number: int, value: str) -> str:
    return ", ".join(f'"{name}": {value}' for name in standards_of(number))
