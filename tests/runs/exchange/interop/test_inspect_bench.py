"""What models came to on a bench as logs that Inspect's viewer opens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.inspect_logs import read_logs
from tests.support.played import invoke
from tests.support.published_bench import published, write_published
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import Result, Ruling, write_result
from videoautoarena.runs.exchange.interop.videoautobench import import_videoautobench

ANALYSES = {
    name: f"words on {name}"
    for name in ("instruction_following", "accuracy", "relevance", "helpfulness")
}
HALF = "half \ud83d a sign"


@pytest.fixture
def bench(tmp_path: Path) -> OpenBench:
    """A bench of four questions, one of which is called like a path and says half a character."""
    given = published(4, 4)
    last = given.pop(next(reversed(given)))
    given["../../etc/x"] = {**last, "question": HALF}
    import_videoautobench(write_published(tmp_path / "b.json", given), tmp_path / "bench")
    return open_bench(tmp_path / "bench")


def ruled(bench: OpenBench, model: str, verdicts: str, *, judge: str = "gpt") -> None:
    """Write a result with a verdict a ruling: w, t, l, v; first all of selected."""
    words = {"w": "win", "t": "tie", "l": "loss", "v": "void"}
    sides = ("selected", "rejected")
    jobs = [(item.qid, side) for side in sides for item in bench.items]
    rulings = [
        Ruling(
            qid=qid,
            against=side,  # type: ignore[arg-type]
            verdict=words[said],  # type: ignore[arg-type]
            seats="ab",
            response=f"my answer to {qid}",
            words=None if said == "v" else json.dumps({"verdict": "b", **ANALYSES}),
            reason="unreadable" if said == "v" else None,
        )
        for (qid, side), said in zip(jobs, verdicts, strict=True)
    ]
    write_result(
        bench, Result(bench=bench.bench, model=model, judge=judge, how="import", rulings=rulings)
    )


def export(bench: OpenBench, to: Path, *typed: str) -> str:
    told = invoke("bench", "export", bench.folder, "--format", "inspect", "--to", to, *typed)
    assert told.exit_code == 0, told.output
    return told.stdout


def test_a_question_is_a_sample_with_what_it_brought_against_both(
    bench: OpenBench, tmp_path: Path
) -> None:
    ruled(bench, "mine", "wtlw" + "wwtw")
    export(bench, tmp_path / "logs")
    log = read_logs(tmp_path / "logs")["mine"]
    samples = [log.samples[one["id"]] for one in log.summaries]
    found = [[sample["scores"][name]["value"] for sample in samples]
             for name in ("bench", "vs_selected", "vs_rejected")]  # fmt: skip
    assert found == [[1.0, 0.75, 0.0, 1.0], [1.0, 0.5, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]]
    first = samples[0]
    words = first["scores"]["vs_selected"]["explanation"]
    assert "**gpt** (A is the selected answer, B is mine): win" in words
    assert "helpfulness: words on helpfulness" in words
    assert first["target"] == bench.items[0].selected_answer
    assert bench.items[0].rejected_answer in first["messages"][-1]["content"]
    assert bench.items[0].persona in first["messages"][0]["content"]


def test_its_figures_are_those_of_the_score(bench: OpenBench, tmp_path: Path) -> None:
    ruled(bench, "mine", "wtlwwwtw")
    ruled(bench, "theirs", "lllvwwtv")
    export(bench, tmp_path / "logs")
    logs = read_logs(tmp_path / "logs")
    for row in json.loads(invoke("bench", "score", bench.folder, "--json").stdout)["models"]:
        figures = logs[row["model"]].metrics
        names = ("average", "low", "high", "n")
        assert [figures["bench"][name] for name in names] == [row[name] for name in names]
        assert figures["vs_rejected"]["value"] == row["rejected"]["value"]
        assert figures["vs_selected"]["void"] == row["selected"]["void"]


def test_what_was_not_judged_is_an_error_and_has_no_score(bench: OpenBench, tmp_path: Path) -> None:
    ruled(bench, "mine", "vwww" + "vvww")
    export(bench, tmp_path / "logs")
    log = read_logs(tmp_path / "logs")["mine"]
    both, one, *rest = (log.samples[line["id"]] for line in log.summaries)
    assert both["scores"] == {}
    assert list(one["scores"]) == ["vs_selected"]
    assert both["error"]["message"] == one["error"]["message"] == "void: unreadable"
    assert not any("error" in sample for sample in rest)


def test_names_and_halves_of_signs_that_harm_others_do_not_reach_them(
    bench: OpenBench, tmp_path: Path
) -> None:
    ruled(bench, "mine", "wwwwwwww")
    export(bench, tmp_path / "logs")
    (sample,) = (
        sample
        for sample in read_logs(tmp_path / "logs")["mine"].samples.values()
        if sample["metadata"]["qid"] == "../../etc/x"
    )
    assert sample["input"][0]["content"] == "half \ufffd a sign"
    assert sample["id"].startswith("id-")


def test_judges_stand_apart_and_one_can_be_picked(bench: OpenBench, tmp_path: Path) -> None:
    ruled(bench, "mine", "wwwwwwww")
    ruled(bench, "mine", "llllllll", judge="other")
    told = json.loads(export(bench, tmp_path / "both", "--json"))
    assert told["samples"] == 8
    assert len(told["files"]) == len(list((tmp_path / "both").iterdir())) == 2
    export(bench, tmp_path / "one", "--judge", "other")
    (log,) = read_logs(tmp_path / "one").values()
    assert log.header["eval"]["model_roles"]["judge"]["model"] == "other"
    assert log.metrics["bench"]["average"] == 0.0


def test_a_bench_without_results_has_no_logs(bench: OpenBench, tmp_path: Path) -> None:
    told = invoke("bench", "export", bench.folder, "--format", "inspect", "--to", tmp_path / "logs")
    assert "has no results" in str(told.exception)
