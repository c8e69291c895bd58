"""Scores on sets as reports: what sentences say, and that tables say the same in every form."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.dialogue_sets import dialogue, turn, write_dialogues
from tests.support.held import LABELS, held
from tests.support.judged import bench_of
from tests.support.played import invoke
from tests.support.played_dialogues import OWN, Talked, play_dialogues
from tests.support.played_sets import Played, play_set
from tests.support.quoted import misquoting, numbers
from tests.support.task_sets import choice, free, needle, write_set
from tests.support.told import summary_of
from videoautoarena.runs.bench.dialogues.score import compare_dialogues, score_dialogues
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import (
    REFERENCES,
    DialogueResult,
    Result,
    RoundLine,
    Ruling,
    TaskLine,
    TaskResult,
)
from videoautoarena.runs.bench.format.schema import ABILITIES, TWIN
from videoautoarena.runs.bench.score.anchor_score import AnchorScores, AnchorScoring, build_anchored
from videoautoarena.runs.bench.score.score import build_scores
from videoautoarena.runs.bench.score.shortcuts import probe_all
from videoautoarena.runs.bench.score.task_score import compare_tasks, score_tasks
from videoautoarena.runs.views.results.checks import probes_report
from videoautoarena.runs.views.results.comparisons import comparison_report, pasted, set_reports
from videoautoarena.runs.views.results.forms import as_text
from videoautoarena.runs.views.results.report import Report

NAMES = ("ant", "bee", "cat", "dog", "emu")
CONSTANTS = {"10", "95", "2", "3", "50", "60"}
"""Videos to rank by, the level, the margin, a weight, examples, and videos that are few."""
Kind = Literal["preferences", "anchored", "tasks", "dialogues"]
Benches = Mapping[Kind, OpenBench[Any]]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Benches:
    """Sets of some forty items about twenty videos; each test takes the first of them."""
    place = tmp_path_factory.mktemp("sets")
    tasks = [
        needle(f"film{k % 20}", k, at=float(k), background=(30, 60, 180)[k % 3])
        if k % 2
        else choice(f"film{k % 20}", k, task="count")
        for k in range(30)
    ]
    tasks += [free(f"film{k}", k) for k in range(10)]
    kinds = (*ABILITIES, TWIN)
    talks = [
        dialogue(
            f"film{k % 20}", k, ability=kinds[k % 7], rounds=[turn(k)] * (2 + k % 2), qid=f"q{k}"
        )
        for k in range(42)
    ]
    ground = bench_of(place / "ground", 20, each=2)
    return {
        "preferences": ground,
        "anchored": ground,
        "tasks": write_set(place / "tasks", tasks),
        "dialogues": write_dialogues(place / "talks", talks),
    }


@st.composite
def scored(draw: st.DrawFn, kind: Kind, benches: Benches) -> Any:
    """Draw scores of one to five models, of few videos or many, with odd endings here and there."""
    whole = benches[kind]
    items = whole.items[: draw(st.sampled_from([3, 9, 20, 40]))]
    bench = OpenBench(whole.folder, whole.bench, whole.manifest, items)
    names = NAMES[: draw(st.integers(1, 5))]
    chance = draw(st.randoms(use_true_random=False))
    skills = [draw(st.sampled_from([0.0, 0.3, 0.5, 0.55, 0.9, 1.0])) for _ in names]
    odd = draw(st.sampled_from([0.0, 0.1]))
    results = [
        RESULTS[kind](bench, name, skill, odd, chance)
        for name, skill in zip(names, skills, strict=True)
    ]
    return bench, SCORED[kind](bench, results)


def preferred(bench: OpenBench[Any], name: str, skill: float, odd: float, chance: Any) -> Result:
    rulings = [
        Ruling(
            qid=item.qid,
            against=against,
            verdict="void"
            if chance.random() < odd
            else "win"
            if chance.random() < skill
            else chance.choice(["tie", "loss"]),
        )
        for item in bench.items
        for against in REFERENCES
        if chance.random() >= odd
    ]
    return Result(bench=bench.bench, model=name, judge="j", how="import", rulings=rulings)


def against(bench: OpenBench[Any], name: str, skill: float, odd: float, chance: Any) -> Any:
    words = list(LABELS)
    said = [
        "-"
        if chance.random() < odd
        else " ".join(
            words[int(chance.random() > skill) * 3 + chance.randrange(2)] for _ in range(2)
        )
        for _ in bench.items
    ]
    return held(bench, name, said, write=False)


def answered(bench: OpenBench[Any], name: str, skill: float, odd: float, chance: Any) -> TaskResult:
    lines = []
    for item in bench.items:
        is_right = chance.random() < skill
        said: dict[str, Any] = {"end": "answered", "response": "B" if is_right else "A"}
        if not item.is_choice:
            said["scores"] = {"accuracy": 1.0 + 4 * skill, "relevance": 2.0 + is_right}
        if chance.random() < odd:
            said = {"end": chance.choice(["forfeit", "void"])}
        lines.append(TaskLine.model_validate({"qid": item.qid, "usd": 0.001, **said}))
    frames = 4 if name in NAMES[:2] else 64
    facts = {"model": NAMES[NAMES.index(name) % 2], "max_frames": frames, "view": "whole"}
    return TaskResult(bench=bench.bench, model=name, judge="j", how="run", lines=lines, facts=facts)


def talked(
    bench: OpenBench[Any], name: str, skill: float, odd: float, chance: Any
) -> DialogueResult:
    lines = []
    for item in bench.items:
        for number, one in enumerate(item.rounds, 1):
            said: Sequence[str] = [
                check.expected if chance.random() < skill else "no" for check in one.checklist
            ]
            end = chance.choice(["forfeit", "unscored"]) if chance.random() < odd else "answered"
            made = {"qid": item.qid, "round": number, "end": end}
            made |= {"answers": said} if end == "answered" else {}
            lines.append(RoundLine.model_validate(made))
    made = {"bench": bench.bench, "judge": "j", "how": "run", "history": "golden", "lines": lines}
    return DialogueResult.model_validate({**made, "model": name})


RESULTS: Mapping[Kind, Any] = {
    "preferences": preferred,
    "anchored": against,
    "tasks": answered,
    "dialogues": talked,
}
SCORED: Mapping[Kind, Any] = {
    "preferences": lambda bench, found: AnchorScores(build_scores(bench, found, by="duration"), []),
    "anchored": lambda bench, found: AnchorScores(
        {"models": []}, build_anchored(bench, found, AnchorScoring(style=True))
    ),
    "tasks": score_tasks,
    "dialogues": score_dialogues,
}
KINDS: tuple[Kind, ...] = ("preferences", "anchored", "tasks", "dialogues")


def differences(report: Report) -> set[str]:
    """Return how far two figures of a column lie apart, and the numbers of its title."""
    found = set[str]()
    for table in report.to_json()["tables"].values():
        for column in table["columns"]:
            found.update(numbers(column["title"]))
            cells = [row["cells"][column["key"]] for row in table["rows"]]
            if column["kind"] in ("percent", "mark"):
                figures = [float(cell) for cell in cells if re.fullmatch(r"[\d.]+", cell)]
                digits = 1 if column["kind"] == "percent" else 2
                found.update(f"{abs(x - y):.{digits}f}" for x, y in permutations(figures, 2))
    return found


def misquoted(report: Report) -> list[str]:
    """Return the sentences of a report on a set with a number that its tables do not show."""
    return misquoting(report, also=CONSTANTS | differences(report))


def forms_of(scores: Any, report: Report) -> dict[str, str]:
    """Return in which forms scores are shown, as text without marks or wrapping."""
    parts = report.to_json()["headline"]
    each = (p if isinstance(p, str) else p.get("model") or p["figure"] for p in parts)
    return {
        "text": " ".join(as_text(report).split()),
        "json": "".join(each),
        "markdown": pasted(scores, "markdown"),
        "html": html.unescape(pasted(scores, "html")),
    }


def misranked(report: Report, *, is_few: bool) -> list[str]:
    """Return what is said of a first that the table has not, or below ten videos of any."""
    table = report.tables[0]
    headline = report.headline
    assert headline is not None
    if is_few:
        columns = [column for column in table.columns if column.key == "rank"]
        ranks = {table.cell(k, column) for column in columns for k in range(len(table.rows))}
        return [*sorted(ranks - {"–"}), *[headline.text] * (" leads" in headline.text)]
    if " leads" not in headline.text:
        return []
    # One that was asked about a few videos alone may stand above who leads, without a rank.
    first = next(row["model"] for row in table.rows if row["rank"] is not None)
    is_first = first.removesuffix(" (anchor)") == headline.text.split(" leads")[0]
    return [] if is_first else [headline.text]


def wrong_in(bench: OpenBench[Any], scores: Any) -> list[str]:
    """Return what a report of scores says that its tables, or one of its forms, do not say."""
    (report,) = set_reports(scores)
    assert report.headline is not None
    assert report.headline in report.sentences
    told = report.headline.text
    lacking = [form for form, shown in forms_of(scores, report).items() if told not in shown]
    is_few = len({item.cluster for item in bench.items}) < 10
    return [*misquoted(report), *misranked(report, is_few=is_few), *lacking]


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_average_of_tasks_stands_beside_its_own_interval_and_number_of_items(
    benches: Benches, data: st.DataObject
) -> None:
    _, scores = data.draw(scored("tasks", benches))
    (report, *_) = set_reports(scores)
    table = report.tables[0]
    keys = [column.key for column in table.columns]
    shown = [of for of in ("m_avg", "g_avg", "overall") if of in keys]
    assert shown
    assert len({column.title for column in table.columns}) == len(keys)
    for of in shown:
        place = keys.index(of)
        assert keys[place : place + 3] == [of, f"{of}_interval", f"{of}_n"]
        for k, row in enumerate(scores.boards[0].models):
            figure = getattr(row, of)
            cells = [table.cell(k, column) for column in table.columns[place : place + 3]]
            digits = 2 if of == "g_avg" else 1
            if figure is not None and figure.low is not None:
                low, high = (f"{bound:.{digits}f}" for bound in (figure.low, figure.high))
                assert cells[1:] == [f"{low} to {high}", str(figure.n)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_a_sentence_is_in_its_table_and_the_headline_in_every_form(
    kind: Kind, benches: Benches
) -> None:
    @settings(max_examples=5, database=None)
    @given(scored(kind, benches))
    def check(drawn: Any) -> None:
        assert wrong_in(*drawn) == []
        assert pasted(drawn[1], "csv").count("\n") >= 1

    check()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_so_it_is_for_many_boards(kind: Kind, benches: Benches) -> None:
    @settings(max_examples=60, database=None)
    @given(scored(kind, benches))
    def check(drawn: Any) -> None:
        assert wrong_in(*drawn) == []

    check()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[OpenBench[Any], OpenBench[Any]]:
    """Tasks and dialogues that models have answered."""
    place = tmp_path_factory.mktemp("played")
    talked = Talked(models=("a:one", f"a:one{OWN}", "a:two"), abilities=ABILITIES[:2], videos=4)
    tasks = play_set(place / "tasks", Played(frames=(4, 64), needles=12))
    return tasks, play_dialogues(place / "talks", talked)


def test_comparisons_and_shortcuts_say_what_their_tables_show(
    played: tuple[OpenBench[Any], OpenBench[Any]],
) -> None:
    tasks, talks = played
    names = ("openai:quick (64 frames)", "openai:quick (4 frames)")
    there = comparison_report(compare_tasks(tasks, *names))
    back = comparison_report(compare_tasks(tasks, *names[::-1]))
    assert there.headline is not None
    assert back.headline is not None
    assert there.headline.text == back.headline.text
    talk = comparison_report(compare_dialogues(talks, "a:one", "a:two"))
    for report in (there, back, talk, probes_report(probe_all(tasks))):
        assert misquoted(report) == []


def test_the_headline_of_a_set_is_one_on_a_terminal_in_json_and_on_its_page(
    played: tuple[OpenBench[Any], OpenBench[Any]],
) -> None:
    tasks, talks = played
    for bench, score in ((tasks, score_tasks), (talks, score_dialogues)):
        report = set_reports(score(bench))[0]  # type: ignore[operator]
        assert report.headline is not None
        told = report.headline.text
        summary = summary_of(bench)
        lead = summary["words"]["lead"]
        parts = (p if isinstance(p, str) else p.get("model") or p["figure"] for p in lead)
        said = "".join(parts)
        assert said == told
        assert lead == report.to_json()["headline"]
        assert told in html.unescape(summary["plain"])
        for form in ("table", "markdown"):
            printed = invoke("bench", "score", bench.folder, "--format", form).stdout
            assert told in " ".join(printed.replace("\\", "").split())
