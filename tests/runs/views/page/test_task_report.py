"""A task set as one file: what it holds is what the commands print, and the set stays whole."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile_sets import NAME, TRAPS, hostile_set
from tests.support.played import invoke
from tests.support.played_sets import Played, play_set
from tests.support.task_sets import choice, free, write_set
from tests.support.told import summary_of
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import TaskLine, TaskResult, write_result
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.views.page.document import as_text

SMALL = Played(frames=(4, 64), needles=24)


class Summary(HTMLParser):
    """The data in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self._is_in = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_in = tag == "script" and dict(attrs).get("id") == "summary"

    def handle_data(self, data: str) -> None:
        self.text += data if self._is_in else ""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_set(tmp_path_factory.mktemp("played") / "my-set", SMALL).folder


def said(parts: list[Any], found: dict[str, Any]) -> str:
    return as_text(parts, found["words"]["short"])


def section(found: dict[str, Any], id_: str) -> dict[str, Any]:
    return next(one for one in found["sections"] if one["id"] == id_)


def says(found: dict[str, Any], id_: str) -> str:
    return said(section(found, id_)["says"], found)


def fields(found: dict[str, Any], id_: str, place: int = 0) -> list[dict[str, Any]]:
    return [row["fields"] for row in section(found, id_)["tables"][place]["rows"]]


def figure(row: dict[str, Any], key: str) -> tuple[Any, ...]:
    return row[key], row[f"{key}_low"], row[f"{key}_high"]


def bounds(of: dict[str, Any]) -> tuple[Any, ...]:
    return of["value"], of["low"], of["high"]


def test_a_page_shows_what_the_commands_print(played: Path, tmp_path: Path) -> None:
    done = invoke("report", played, "--to", tmp_path / "page.html", "--json")
    assert {**json.loads(done.stdout), "bytes": 0} == {
        "report": str(tmp_path / "page.html"), "items": 44, "models": 4, "bytes": 0
    }  # fmt: skip
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = json.loads(Summary(text).text)
    (board,) = json.loads(invoke("bench", "score", played, "--json").stdout)["boards"]
    scored = fields(found, "board-0")
    by_task = fields(found, "tasks-0")
    for row, shown, each in zip(board["models"], scored, by_task, strict=True):
        assert shown["model"] == each["model"] == row["model"]
        assert figure(shown, "m_avg") == bounds(row["m_avg"])
        for k, task in enumerate(row["tasks"]):
            assert figure(each, f"task_{k}") == bounds(task["figure"])
    value, low, high = bounds(board["models"][0]["m_avg"])
    first = section(found, "board-0")["tables"][0]["rows"][0]["cells"]
    assert first["m_avg"] == f"{value:.1f} ({low:.1f} to {high:.1f})"
    maps = {one["name"]: one for one in section(found, "positions-0")["tables"]}
    assert len(maps) == len(board["models"])
    for row in board["models"]:
        for line, cells in zip(maps[row["model"]]["rows"], row["positions"]["cells"], strict=False):
            shown = [line["fields"].get(f"at_{k}_n") for k in range(len(cells))]
            assert shown == [cell and cell["n"] for cell in cells]
    probes = json.loads(invoke("bench", "probe", played, "--json").stdout)
    away = [part["given_away"] for part in probes["parts"] if part["keyed"]]
    assert [row["given_away"] for row in fields(found, "probes")] == away
    sweep = board["sweeps"][0]
    assert f"{sweep['best']} frames" in said(section(found, "sweep-0")["each"][0], found)
    curve = fields(found, "sweep-0")
    assert {row["frames"] for row in curve if row["is_ringed"]} == {sweep["cheapest"]}
    results = fields(found, "methods", 1)
    assert [one["cost"] for one in results] == [0.0176, 0.2816] * 2
    assert fields(found, "methods", 2) == [{"role": "contestant", "digest": "c" * 64}]
    assert "connect-src" not in text
    assert not re.search(r"/tmp/|/root/|file:", Summary(text).text)


def test_a_page_lies_beside_the_results_and_nowhere_else_in_the_set(tmp_path: Path) -> None:
    bench = play_set(tmp_path / "set", Played(models=("m",), frames=(8,), needles=6))
    assert invoke("report", bench.folder).exit_code == 0
    assert (bench.folder / "results" / "report.html").is_file()
    assert invoke("report", bench.folder).exit_code == 0
    refused = str(invoke("report", bench.folder, "--to", bench.folder / "page.html").exception)
    assert "holds nothing but what was sealed" in refused
    words = ("pictures", bench.folder, "--to", bench.folder / "pictures")
    assert "holds nothing but what was sealed" in str(invoke(*words).exception)
    assert verify(bench.folder, None).problems == []
    assert invoke("report", bench.folder, "--split").exit_code == 2
    assert invoke("report", bench.folder, "--thumbs", 0).exit_code == 2


def test_of_a_set_without_results_there_is_no_page(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [choice("v", 0)])
    assert "has no results" in str(invoke("report", bench.folder).exception)


def test_sentences_name_the_best_beside_chance_and_who_is_close(played: Path) -> None:
    found = summary_of(open_bench(played))
    (board,) = json.loads(invoke("bench", "score", played, "--json").stdout)["boards"]
    best = board["models"][0]
    score = said(found["words"]["rest"], found)
    assert best["model"].removeprefix("openai:") in score
    assert f"right {best['m_avg']['value']:.1f} % of the time" in score
    assert score.endswith("averaged over tasks; guessing gives 25.0 %.")
    lead = said(found["words"]["lead"], found)
    assert all(name.removeprefix("openai:") in lead for name in board["lead"]["rivals"])
    gap = round(best["m_avg"]["value"], 1) - round(board["models"][1]["m_avg"]["value"], 1)
    assert f"stands {gap:.1f} points above" in says(found, "board-0")
    task = r"(needle|count) is the hardest task, \d+\.\d % right"
    assert re.match(task, says(found, "tasks-0"))
    assert re.match(r"In 30 s .* in 3 min \d+\.\d %", says(found, "positions-0"))


def test_parts_of_a_set_stay_apart_and_one_of_free_text_has_no_chance(tmp_path: Path) -> None:
    parts = Played(models=("m",), frames=(8,), splits=("dev", "test"), needles=6)
    found = summary_of(play_set(tmp_path / "parts", parts))
    assert [one["title"] for one in found["sections"]][::3] == [
        "Scores · dev",
        "Scores · test",
        "Shortcuts",
    ]
    assert says(found, "board-0") == "dev: One model has a score."
    assert says(found, "board-1") == "test: One model has a score."
    text = Played(models=("m",), frames=(8,), needles=0)
    found = summary_of(play_set(tmp_path / "text", text))
    assert said(found["words"]["lead"], found) == "m is the only model with a score."
    assert re.fullmatch(r"m scores \d\.\d\d of 10\.", said(found["words"]["rest"], found))
    assert section(found, "probes")["tables"] == []


def test_text_that_is_out_to_do_harm_ends_no_element_of_the_page(tmp_path: Path) -> None:
    bench = hostile_set(tmp_path / "set")
    assert invoke("report", bench.folder, "--to", tmp_path / "page.html").exit_code == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = json.loads(Summary(text).text)
    assert NAME in {row["model"] for row in fields(found, "board-0")}
    tasks = {column["title"] for column in section(found, "tasks-0")["tables"][0]["columns"]}
    assert len(tasks) >= len(TRAPS) - 1
    assert text.count("<script") == 3
    assert "<img" not in summary_of(bench)["plain"]


def test_no_model_is_held_against_itself_nor_marks_against_percents(tmp_path: Path) -> None:
    items = [*(choice(f"v{k}", k) for k in range(4)), free("v", 9)]
    bench = write_set(tmp_path / "set", items)
    marks = {"accuracy": 4.0, "relevance": 4.0}
    lines = [
        TaskLine(qid=i.qid, end="answered", response="B", scores={} if i.is_choice else marks)
        for i in items
    ]
    for model, judge, of in (("m", "J", lines), ("m", "K", lines), ("text", "J", lines[-1:])):
        write_result(
            bench,
            TaskResult(bench=bench.bench, model=model, judge=judge, how="run", lines=of),
        )
    found = summary_of(bench)
    assert says(found, "board-0") == "One model has a score."
    assert said(found["words"]["lead"], found) == "m is the only model with a score."


def test_where_nothing_could_be_scored_the_page_says_so(tmp_path: Path) -> None:
    bench = write_set(tmp_path / "set", [free("v", 0)])
    lines = [TaskLine(qid=bench.items[0].qid, end="unscored", response="A dog.")]
    result = {"bench": bench.bench, "model": "m", "judge": "j", "how": "run", "lines": lines}
    write_result(bench, TaskResult.model_validate(result))
    found = summary_of(bench)
    (row,) = fields(found, "board-0")
    assert (row["odd"], row["m_avg"]) == (["1 unscored"], None)
    assert says(found, "board-0") == "No model has a score."
    assert invoke("report", bench.folder, "--to", tmp_path / "page.html").exit_code == 0
