"""Scores on tasks are means over tasks; what is no answer is counted and never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.played import invoke
from tests.support.task_sets import choice, free, write_set
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.schema import TaskItem
from videoautoarena.runs.bench.score.task_points import ended, figure_of, measured
from videoautoarena.runs.bench.score.task_score import compare_tasks, score_tasks
from videoautoarena.scoring.intervals.proportions import Share

GPT_4O_DEV = {
    "topic": 87.4, "anomaly": 74.5, "needle": 64.8, "ego": 57.1, "plot": 65.1, "order": 56.7,
    "count": 46.3,
}  # fmt: skip
"""Accuracies as MLVU prints them."""


def line(item: TaskItem, reply: str | None, **changed: object) -> TaskLine:
    """Return what a reply came to; None is no answer."""
    end = "forfeit" if reply is None else "answered"
    return TaskLine.model_validate({"qid": item.qid, "end": end, "response": reply, **changed})


def hand_in(
    bench: OpenBench[TaskItem], model: str, lines: list[TaskLine], judge: str | None = None
) -> TaskResult:
    """Write and return a result."""
    result = TaskResult(bench=bench.bench, model=model, judge=judge, how="run", lines=lines)
    write_result(bench, result, force=True)
    return result


@pytest.mark.parametrize(
    ("size", "m_avg", "of_groups"),
    [
        (10, 65.7, (80.0, 63.33, 55.0)),
        pytest.param(1000, 64.6, (80.95, 62.33, 51.5), marks=pytest.mark.slow),
    ],
    ids=["of few items", "as MLVU prints it"],
)
def test_m_avg_is_the_mean_of_tasks(
    tmp_path: Path, size: int, m_avg: float, of_groups: tuple[float, ...]
) -> None:
    items = [
        choice(f"v{k}", k, task=task, qid=f"{task}-{k}") for task in GPT_4O_DEV for k in range(size)
    ]
    bench = write_set(tmp_path / "set", items)
    rest = {task: round(size / 100 * share) for task, share in GPT_4O_DEV.items()}
    lines = [
        line(item, "B" if int(item.qid.rpartition("-")[2]) < rest[item.task] else "A")
        for item in items
    ]
    scores = score_tasks(bench, [hand_in(bench, "gpt-4o", lines)])
    (board,) = scores.boards
    assert board.models[0].m_avg is not None
    assert round(board.models[0].m_avg.value or 0.0, 1) == m_avg
    assert board.chance == 25.0
    groups = {name: round(one.value or 0.0, 2) for name, one in board.models[0].groups.items()}
    assert groups == dict(
        zip(("holistic", "single detail", "multi detail"), of_groups, strict=True)
    )


def test_a_task_of_many_items_weighs_no_more_than_one_of_few(tmp_path: Path) -> None:
    items = [choice(f"v{k}", k, task="plot") for k in range(30)]
    items += [choice(f"v{k}", k, task="ego") for k in range(10)]
    bench = write_set(tmp_path / "set", items)
    lines = [line(item, "B" if item.task == "ego" else "C") for item in items]
    (row,) = score_tasks(bench, [hand_in(bench, "m", lines)]).boards[0].models
    assert row.m_avg is not None
    assert row.m_avg.value == 50.0
    assert row.overall is not None
    assert row.overall.value == 25.0
    assert {one.task: one.figure.value for one in row.tasks} == {"ego": 100.0, "plot": 0.0}


@pytest.mark.parametrize(
    ("changed", "reply", "end", "points", "published"),
    [
        ({}, "B", "right", 1.0, 1.0),
        ({}, "The answer is (B).", "right", 1.0, 1.0),
        ({}, "It must be a dog.", "right", 1.0, 0.0),
        ({}, "C", "wrong", 0.0, 0.0),
        ({}, "A or B, hard to say", "unreadable", 0.0, 0.0),
        ({}, "I cannot tell from this video.", "unreadable", 0.0, 0.0),
        ({}, None, "forfeit", 0.0, 0.0),
        ({"answer": None}, "B", "unscored", None, None),
        ({"answer": "a horse"}, "B", "unscored", None, 0.0),
        ({"options": ["a dog", "a dog", "a cat"]}, "A", "right", 1.0, 1.0),
        ({"options": ["a dog", "a dog", "a cat"]}, "B", "right", 1.0, 1.0),
    ],
)
def test_a_reply_is_read_strictly_and_otherwise_as_published(
    changed: Mapping[str, object],
    reply: str | None,
    end: str,
    points: float | None,
    published: float | None,
) -> None:
    item = choice("v", **changed)
    found = ended(item, line(item, reply))
    assert (found.end, found.points) == (end, points)
    assert ended(item, line(item, reply), as_published=True).points == published


def test_free_text_that_was_not_marked_is_unscored_and_zero_only_as_published(
    tmp_path: Path,
) -> None:
    items = [free(f"v{k}", k) for k in range(3)]
    bench = write_set(tmp_path / "set", items)
    good = {"accuracy": 5.0, "relevance": 3.0}
    lines = [
        line(items[0], "A dog runs.", scores=good),
        line(items[1], "A cat.", end="unscored", reason="not marked: the provider refused"),
        line(items[2], None),
    ]
    result = hand_in(bench, "m", lines, judge="j")
    (row,) = score_tasks(bench, [result]).boards[0].models
    assert row.g_avg is not None
    assert (row.g_avg.value, row.g_avg.n) == (5.0, 2)
    assert row.counts == {"scored": 1, "unscored": 1, "forfeit": 1}
    (published,) = score_tasks(bench, [result], as_published=True).boards[0].models
    assert published.g_avg is not None
    assert (round(published.g_avg.value or 0.0, 4), published.g_avg.n) == (2.6667, 3)


@pytest.mark.parametrize("scores", [{"accuracy": 6.0}, {"relevance": 0.5}, dict.fromkeys("abc", 1)])
def test_scores_outside_their_scales_are_no_line_of_a_result(scores: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="scores"):
        line(free("v"), "A dog runs.", scores=scores)


def test_parts_of_a_set_are_never_put_together(tmp_path: Path) -> None:
    items = [choice(f"v{k}", k, split=split) for split in ("dev", "test") for k in range(3)]
    bench = write_set(
        tmp_path / "set", [i.model_copy(update={"qid": f"q{k}"}) for k, i in enumerate(items)]
    )
    lines = [line(item, "B" if item.split == "dev" else "A") for item in bench.items]
    boards = score_tasks(bench, [hand_in(bench, "m", lines)]).boards
    figures = {board.split: board.models[0].m_avg for board in boards}
    assert {split: one and one.value for split, one in figures.items()} == {
        "dev": 100.0,
        "test": 0.0,
    }
    shown = invoke("bench", "score", bench.folder)
    assert "dev: 3 items about 3 videos" in shown.output
    assert "test: 3 items about 3 videos" in shown.output


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=30))
def test_the_order_of_items_changes_no_figure(drawn: list[tuple[str, bool]]) -> None:
    items = [choice(f"v{k % 4}", k, task=task) for k, (task, _) in enumerate(drawn)]
    points = {item.qid: float(one[1]) for item, one in zip(items, drawn, strict=True)}
    forward = measured(items, points)
    backward = measured(items[::-1], points)
    assert forward is not None
    assert backward is not None
    assert forward.mean.value == pytest.approx(backward.mean.value)
    assert forward.mean.low == pytest.approx(backward.mean.low, nan_ok=True)


def test_two_models_are_compared_over_tasks_and_not_items(tmp_path: Path) -> None:
    items = [choice(f"v{k}", k, task="plot") for k in range(30)]
    items += [choice(f"w{k}", k, task="ego") for k in range(10)]
    bench = write_set(tmp_path / "set", items)
    hand_in(bench, "a", [line(item, "B" if item.task == "ego" else "A") for item in items])
    hand_in(bench, "b", [line(item, "A") for item in items])
    (gap,) = compare_tasks(bench, "a", "b").gaps
    assert (gap.a, gap.b, gap.difference.value) == (50.0, 0.0, 50.0)
    assert gap.items == {"a_higher": 10, "level": 30, "b_higher": 0}
    assert gap.better is not None
    assert gap.better > 0.99
    said = invoke("bench", "compare", bench.folder, "b", "a").output
    assert "a is better than b, by 50.0 points" in " ".join(said.split())


@pytest.mark.parametrize(
    ("line_", "why"),
    [
        (("compare", "a", "a"), "compared with itself"),
        (("compare", "a", "nobody"), "nobody"),
        (("check",), "arena bench probe"),
        (("score", "--anchor", "a"), "for preferences"),
        (("score", "--judge", "j"), "marked nothing"),
        (("run", "--anchor", "a"), "anchor"),
        (("run", "--model", "offline:hawk", "--judge", "offline:judge"), "leave --judge out"),
    ],
)
def test_what_does_not_fit_tasks_is_refused(
    tmp_path: Path, line_: tuple[str, ...], why: str
) -> None:
    items = [choice(f"v{k}", k) for k in range(2)]
    bench = write_set(tmp_path / "set", items)
    hand_in(bench, "a", [line(item, "B") for item in items])
    answer = invoke("bench", line_[0], bench.folder, *line_[1:])
    assert answer.exception is not None
    assert why in str(answer.exception)


def test_a_result_on_another_set_or_with_a_line_twice_is_refused(tmp_path: Path) -> None:
    items = [choice("v", k) for k in range(2)]
    bench = write_set(tmp_path / "set", items)
    result = hand_in(bench, "a", [line(item, "B") for item in items])
    (file,) = (bench.folder / "results").glob("*.jsonl")
    file.write_text(file.read_text() + file.read_text().splitlines()[-1] + "\n")
    with pytest.raises(BadInput, match="two results for one question"):
        score_tasks(open_bench(bench.folder))
    strange = result.model_copy(update={"lines": [line(choice("v", 7), "B")]})
    write_result(bench, strange, force=True)
    with pytest.raises(BadInput, match="not in the bench"):
        score_tasks(open_bench(bench.folder))


def test_items_that_were_cut_from_one_video_are_one_piece_of_evidence(tmp_path: Path) -> None:
    cut = [choice(f"v{k}", k, made={"ground": [{"video": f"clip{k // 20}"}]}) for k in range(200)]
    alone = [choice(f"w{k}", k) for k in range(200)]
    widths = []
    for name, items in {"cut": cut, "alone": alone}.items():
        bench = write_set(tmp_path / name, items)
        # Right on all or nothing of a clip, as one that is at home in it.
        lines = [line(item, "B" if k // 20 % 2 else "A") for k, item in enumerate(items)]
        (board,) = score_tasks(bench, [hand_in(bench, "m", lines)]).boards
        figure = board.models[0].m_avg
        assert figure is not None
        assert figure.value == 50.0
        widths.append((figure.high or 0.0) - (figure.low or 0.0))
        assert (board.videos, board.sources) == (200, 10 if name == "cut" else 200)
    assert widths[0] > 3 * widths[1]


def test_text_that_is_not_marked_on_both_scales_from_1_to_5_has_no_score(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [free(f"v{k}", k) for k in range(2)])
    marks: list[dict[str, float]] = [{}, {"accuracy": 5.0}]
    lines = [line(i, "A dog.", scores=of) for i, of in zip(bench.items, marks, strict=True)]
    (row,) = score_tasks(bench, [hand_in(bench, "m", lines, judge="j")]).boards[0].models
    assert (row.g_avg, row.counts) == (None, {"unscored": 2})
    (file,) = (bench.folder / "results").glob("*.jsonl")
    file.write_text(file.read_text().replace("5.0", "9.0"))
    with pytest.raises(BadInput, match="line 3: not a valid line"):
        score_tasks(open_bench(bench.folder))


def test_chance_is_that_of_items_that_count(tmp_path: Path) -> None:
    items = [choice("v", 0, task="two", options=["a dog", "a cat"])]
    items += [choice("v", 1, task="four", answer="a horse")]
    bench = write_set(tmp_path / "set", items)
    result = hand_in(bench, "m", [line(item, "A") for item in items])
    assert score_tasks(bench, [result]).boards[0].chance == 50.0
    assert score_tasks(bench, [result], as_published=True).boards[0].chance == 37.5


def test_a_difference_of_two_models_lies_within_the_scale(tmp_path: Path) -> None:
    # A task of one item beside one of many makes weights that few videos say nothing about.
    items = [choice("v", 0, task="ego")]
    items += [choice(f"w{k % 2}", k, task="plot") for k in range(99)]
    bench = write_set(tmp_path / "set", items)
    for model, step in {"a": 3, "b": 2}.items():
        lines = [line(item, "B" if k % step else "A") for k, item in enumerate(items)]
        hand_in(bench, model, lines)
    (gap,) = compare_tasks(bench, "a", "b").gaps
    assert (gap.difference.low, gap.difference.high) == (-100.0, 100.0)


def test_a_mean_score_is_bounded_by_the_scale(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [free(f"v{k}", k) for k in range(4)])
    lines = [
        line(item, "A dog.", scores={"accuracy": 5.0, "relevance": 5.0 if k else 1.0})
        for k, item in enumerate(bench.items)
    ]
    (row,) = score_tasks(bench, [hand_in(bench, "m", lines, judge="j")]).boards[0].models
    assert row.g_avg is not None
    # Student's t of 3 degrees, 3.1824, times a standard error of 1.
    assert (row.g_avg.value, row.g_avg.high) == (9.0, 10.0)
    assert row.g_avg.low == pytest.approx(9 - 3.1824, abs=1e-3)
    assert row.tasks[0].figure == row.g_avg


@pytest.mark.parametrize("usd", ["-0.1", "1e308"])
def test_a_cost_that_cannot_be_is_refused(tmp_path: Path, usd: str) -> None:
    bench = write_set(tmp_path / "set", [choice("v")])
    hand_in(bench, "m", [line(bench.items[0], "B", usd=0.25)])
    (file,) = (bench.folder / "results").glob("*.jsonl")
    file.write_text(file.read_text().replace("0.25", usd))
    with pytest.raises(BadInput, match="line 2: not a valid line"):
        score_tasks(open_bench(bench.folder))


def test_a_copy_of_a_result_does_not_count_twice(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [choice("v")])
    hand_in(bench, "m", [line(bench.items[0], "B")])
    (file,) = (bench.folder / "results").glob("*.jsonl")
    file.with_name("copy.jsonl").write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match='two files with the result of "m"; move one away'):
        score_tasks(open_bench(bench.folder))


def test_a_task_named_like_a_column_takes_no_label_from_chance(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [choice("v", task="model")])
    hand_in(bench, "m", [line(bench.items[0], "B")])
    assert "(chance)" in invoke("bench", "score", bench.folder).output


def test_a_bound_that_a_sum_puts_below_zero_is_zero() -> None:
    found = figure_of(Share(0.5, -1e-17, 1.0, 4), 100.0)
    assert str(found.low) == "0.0"
