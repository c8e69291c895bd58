"""Thoughts of every dialect that is known, and what is left of a reply without them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videoautoarena.agents.calls.replies import answer_of
from videoautoarena.agents.calls.thoughts import thought_mark

ANSWER = "The kettle is green."

WRITTEN = {
    "deepseek": "<think>\nA kettle?\n</think>\n\n{}",
    "deepseek, its template opens": "A kettle, or a pot?</think>{}",
    "qwen without thoughts": "<think>\n\n</think>\n\n{}",
    "template and model both open": "<think>\n<think>\nA kettle?</think>\n{}",
    "blocks in a row": "<think>one</think>\n<thinking>two</thinking>\n{}",
    "one block in another": "<think>one\n<think>two</think>\nthree\n</think>\n{}",
    "closed twice": "<think>one</think>\nand more\n</think>\n{}",
    "seed": "<seed:think>one<seed:cot_budget_reflect>two</seed:cot_budget_reflect></seed:think>{}",
    "magistral": "[THINK]one[/THINK]{}",
    "kimi": "◁think▷one◁/think▷{}",
    "cohere": "<|START_THINKING|>one<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
    "keye": "<analysis>easy</analysis><think>one</think><answer>{}</answer>",
    "gemma 4": "<|channel>thought\none<channel|>{}",
    "gemma 4, nothing thought": "<|channel>thought\n<channel|>{}<turn|>",
    "medgemma": "<unused94>thought\none<unused95>{}",
    "apertus": "<|inner_prefix|>one<|inner_suffix|>{}",
    "openthinker": "<|begin_of_thought|>one<|end_of_thought|>\n"
    "<|begin_of_solution|>{}<|end_of_solution|>",
    "granite": "Here is my thought process:\none\nHere is my response:\n{}",
    "glm": "<think>one</think><answer><|begin_of_box|>{}<|end_of_box|></answer>",
    "glm, cut before its end": "<think>one</think><answer>{}",
    "ernie": "<think>\none\n</think>\n\n<response>\n{}\n</response>\n",
    "gpt-oss": "<|channel|>analysis<|message|>one<|end|><|start|>assistant<|channel|>final"
    "<|message|>{}<|return|>",
    "gpt-oss thinking twice": "<|channel|>analysis<|message|>one<|end|><|start|>assistant"
    "<|channel|>commentary<|message|>two<|end|><|start|>assistant<|channel|>final<|message|>{}",
    "gpt-oss, its first mark taken off": "one<|end|><|start|>assistant<|channel|>final"
    "<|message|>{}",
    "gpt-oss, all marks taken off": "analysisWe need the colour.assistantfinal{}",
    "a tag of its own": "<scratchpad>\none\n</scratchpad>\n{}",
    "brackets of its own": "[REASONING]one[/REASONING]\n{}",
    "tokens of its own": "<|begin_of_plan|>one<|end_of_plan|>{}",
    "nothing but a wrapper of its own": "<output>{}</output>",
    "a stop token": "{}<|im_end|>",
    "a role before it": "<|im_start|>assistant\n<think>one</think>{}",
    "a second thought behind it": "{}\n<think>\nor is it blue",
    "a thought in the middle of a line": "{} <think>Is it?</think>",
    "blanks in its marks": "< think >one</ think >{}",
    "attributes in its mark": "<thinking type='a' budget=\"2\">one</thinking>{}",
    "an empty mark": "<think/>{}",
    "an unknown mark with attributes": '<details type="reasoning" done="true">one</details>{}',
    "a byte order mark before it": "\ufeff<think>one</think>{}",
    "a template's first token before it": "<s><think>one</think>{}</s>",
    "gpt-oss ends its thought without another mark": "<|channel|>analysis<|message|>one<|end|>{}",
    "gpt-oss drafts an answer": "<|channel|>final<|message|>draft<|end|><|start|>assistant"
    "<|channel|>analysis<|message|>one<|end|><|start|>assistant<|channel|>final<|message|>{}",
    "closed once too often": "<think>one</think>\n\n{}\n</think>",
    "a thought that speaks of its mark": "<think>the <think> tag</think>{}",
}


@pytest.mark.parametrize("dialect", WRITTEN)
def test_nothing_but_the_answer_is_left(dialect: str) -> None:
    said = WRITTEN[dialect].format(ANSWER)
    assert answer_of(said) == ANSWER
    assert thought_mark(answer_of(said)) is None


@pytest.mark.parametrize("dialect", WRITTEN)
def test_an_answer_of_many_lines_is_left_whole(dialect: str) -> None:
    answer = "- a kettle\n- a {pot}\n\n| t | what |\n|---|---|\n| 1 | it boils |"
    assert answer_of(WRITTEN[dialect].replace("{}", answer)) == answer


@pytest.mark.parametrize(
    "said",
    [
        "<think>one",
        "<think>one</think>",
        "one\n</think>\n",
        "<seed:think>one",
        "<|channel>thought\none",
        "<|channel|>analysis<|message|>one",
        "<|START_THINKING|>one<|END_THINKING|>",
    ],
)
def test_thoughts_alone_are_no_answer(said: str) -> None:
    assert answer_of(said) == ""


@pytest.mark.parametrize(
    "said",
    [
        "It says <think> on the sign.",
        "It says </think> on the sign.",
        'The shirt reads "</think>".',
        "<b>Green</b>, as far as I can see.",
        "<p>A kettle.</p>\n<p>It is green.</p>",
        "[00:12] He turns.",
        "Analysis: the kettle is green.",
        "analysis of the scene: the assistant finally leaves.",
        "if a < b and b > c",
        "  indented\n",
        "The slide shows <answer>42</answer> in bold.",
        "In code:\n```xml\n<thinking>\nfoo\n</thinking>\n```\nThat is all.",
        "It prints `<think>ok</think>`, then waits.",
        "It shows *</think>* in italics.",
        "Er zeigt „</think>“ auf der Tafel.",
        "A sign says </think>, and people laugh.",
        "The last token shown is </s>",
        "The HTML ends in </response>",
        "<button>Click me</button> is the element.",
        "<speaker>Ann</speaker>: hello.",
        "Tokens: `<|begin_of_box|>`",
        "",
    ],
)
def test_what_is_no_thought_stays_as_it_is(said: str) -> None:
    assert answer_of(said) == said


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        (ANSWER, None),
        ("It says <think> on the sign.", "<think>"),
        ("It says </think> on the sign.", "</think>"),
        ("A kettle, [THINK] or so", "[THINK]"),
        ("so <|channel|>final<|message|> it is", "<|channel|>final<|message|>"),
    ],
)
def test_a_mark_that_an_answer_still_holds_is_named(said: str, mark: str | None) -> None:
    assert thought_mark(said) == mark


PIECES = st.sampled_from([
    "<think>", "</think>", "\n", " ", "one", ANSWER, "<|channel|>analysis<|message|>", "<|end|>",
    "<|channel|>final<|message|>", "<answer>", "</answer>", "<x1>", "</x1>", "[THINK]", "[/THINK]",
    "<|im_end|>", "<unused94>", "<unused95>", '"', "{",
])  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_is_left_holds_no_thoughts_any_more(said: str) -> None:
    once = answer_of(f"<think>one</think>\n{said}")
    assert not once.startswith("<think>one")


@given(st.lists(PIECES, max_size=12).map("".join))
def test_an_answer_behind_everything_is_kept(said: str) -> None:
    assert answer_of(f"{said}\n</think>\n{ANSWER}").endswith(ANSWER)


WASTE = (
    *("<think>", "</think>", "\n<think>", "<a1>", "<|im_end|> ", " ", "</s>", "<a1></a1>"),
    *("<|channel|>final<|message|>", "<|channel|>final<|message|><|end|>x", "<answer>", "`a`"),
    *("<|start|>", "verdict ", "<think a=", "```\n"),
)


@pytest.mark.parametrize("piece", WASTE)
def test_a_text_made_to_waste_time_is_read_all_the_same(piece: str) -> None:
    assert isinstance(answer_of(piece * (50_000 // len(piece))), str)
