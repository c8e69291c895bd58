"""arena-hard's files: what goes out comes in again, both versions are read, nothing is guessed."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.held import held
from tests.support.judged import bench_of
from tests.support.played import invoke
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench
from videoautoarena.runs.bench.format.results import read_anchored
from videoautoarena.runs.bench.score.anchor_score import build_anchored
from videoautoarena.runs.bench.score.score import build_scores
from videoautoarena.runs.exchange.interop.arena_hard import export_arena_hard, import_arena_hard


@pytest.fixture
def bench(tmp_path: Path) -> OpenBench:
    return bench_of(tmp_path / "ground", 3)


def write(file: Path, lines: Sequence[Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{x if isinstance(x, str) else json.dumps(x)}\n" for x in lines))
    return file


def second(qid: str, *scores: Any, **more: Any) -> dict[str, Any]:
    """A judgment as the second version has it."""
    games = [{"score": score, "judgment": {"answer": f"so: {score}"}} for score in scores]
    line = {"uid": qid, "category": "video", "judge": "gpt", "model": "owl", "baseline": "base"}
    return {**line, "games": games, **more}


def first(qid: str, *scores: Any) -> dict[str, Any]:
    """The same as the first version has it."""
    games = [{"user_prompt": "?", "judgment": f"so: {s}", "score": s} for s in scores]
    return {"question_id": qid, "model": "owl", "judge": "gpt", "games": games}


def verdicts(bench: OpenBench) -> list[tuple[str, str | None]]:
    (result,) = read_anchored(bench)
    return [(one.verdict, one.seats) for one in result.rulings]


def test_judgments_count_as_arena_hards_own_table_does(bench: OpenBench, tmp_path: Path) -> None:
    qids = [item.qid for item in bench.items]
    scores = [("B>>A", "A>B"), ("A=B", "A=B"), ("A>B", "B>>A")]
    lines = [second(qid, *said) for qid, said in zip(qids, scores, strict=True)]
    write(tmp_path / "data/model_judgment/gpt/owl.jsonl", lines)
    taken = import_arena_hard(tmp_path / "data", bench)
    assert (taken.results, taken.judgments, taken.void, taken.missing) == (1, 3, 0, 0)
    assert verdicts(bench) == [
        ("much_better", "ab"), ("better", "ba"), ("same", "ab"),
        ("same", "ba"), ("worse", "ab"), ("much_worse", "ba"),
    ]  # fmt: skip
    # Its list of scores is [1,1,1,1], [.5,.5], [0,0,0,0]: the mean of ten is .5.
    (board,) = build_anchored(bench, read_anchored(bench))
    assert board["models"][0]["score"] == pytest.approx(50.0)


def test_the_first_version_is_read_with_its_answers(bench: OpenBench, tmp_path: Path) -> None:
    data = tmp_path / "data"
    qids = [item.qid for item in bench.items]
    write(data / "model_judgment/gpt/owl.jsonl", [first(qids[0], "[[B>>A]]", "A>B")])
    for model in ("owl", "base"):
        turns = [{"content": f"{model} says", "token_len": 2}]
        line = {
            "question_id": qids[0],
            "model_id": model,
            "choices": [{"index": 0, "turns": turns}],
        }
        write(data / f"model_answer/{model}.jsonl", [line])
    with pytest.raises(BadInput, match="line 1: it names no baseline; pass --baseline"):
        import_arena_hard(data, bench)
    assert import_arena_hard(data, bench, baseline="base").answers == 1
    (result,) = read_anchored(bench)
    one = result.rulings[0]
    assert (one.response, one.anchor_response, one.words) == (
        "owl says",
        "base says",
        "so: [[B>>A]]",
    )
    assert (result.model, result.judge, result.anchor) == ("owl", "gpt", "base")


@pytest.mark.parametrize(
    ("label", "verdict"),
    [("A<<B", "much_better"), ("A<B", "better"), ("B=A", "same"), ("B<A", "worse"),
     ("B<<A", "much_worse"), (" [[ b >> a ]] ", "much_better")],
)  # fmt: skip
def test_mirrored_and_wrapped_labels_mean_what_they_say(
    bench: OpenBench, tmp_path: Path, label: str, verdict: str
) -> None:
    write(tmp_path / "model_judgment/gpt/owl.jsonl", [second(bench.items[0].qid, label, "A=B")])
    import_arena_hard(tmp_path, bench)
    assert verdicts(bench)[0] == (verdict, "ab")


@pytest.mark.parametrize("score", [None, "", "A>>>B", "A", "tie", "B", "x" * 10_000, "A>B and B>A"])
def test_what_cannot_be_read_is_void_and_no_tie(
    bench: OpenBench, tmp_path: Path, score: str | None
) -> None:
    write(tmp_path / "model_judgment/gpt/owl.jsonl", [second(bench.items[0].qid, "A=B", score)])
    assert import_arena_hard(tmp_path, bench).void == 1
    assert verdicts(bench) == [("same", "ab"), ("void", "ba")]
    (board,) = build_anchored(bench, read_anchored(bench))
    assert board["models"][0]["score"] is None


def test_a_game_of_null_is_void(bench: OpenBench, tmp_path: Path) -> None:
    line = {**second(bench.items[0].qid), "games": [None, {"score": "A>B"}]}
    write(tmp_path / "model_judgment/gpt/owl.jsonl", [line])
    assert import_arena_hard(tmp_path, bench).void == 1


def broken(qid: str) -> dict[str, tuple[Any, str]]:
    """What may stand in the second line, and what is said of it."""
    return {
        "no JSON": ("{", "is no JSON"),
        "a list": ([], "it is a list, no object"),
        "no id": ({"games": [], "baseline": "b"}, 'it has no "uid" and no "question_id"'),
        "no games": ({**second(qid), "games": None}, "it must have two games"),
        "one game": ({**second(qid), "games": [{"score": "A>B"}]}, "it must have two games"),
        "a game of text": ({**second(qid), "games": ["A>B", "A>B"]}, "a game of it is a text"),
        "a score of 1": (second(qid, 1, 1), "a score of it is a number"),
        "a model of 1": (second(qid, "A>B", "A>B", model=1), '"model" is a number, no name'),
        "another's": (second("q-99", "A>B", "A>B"), 'it judges "q-99", which is not in the bench'),
        "twice": (second("FIRST", "A>B", "A>B"), "again, after"),
        "key twice": ('{"uid": "a", "uid": "b"}', 'it has the key "uid" twice'),
        "NaN": ('{"uid": "a", "games": NaN}', "NaN"),
    }


@pytest.mark.parametrize("kind", broken(""))
def test_a_line_that_cannot_be_used_is_named_and_nothing_is_taken(
    bench: OpenBench, tmp_path: Path, kind: str
) -> None:
    good, other, _ = (item.qid for item in bench.items)
    line, said = broken(other)[kind]
    if isinstance(line, dict) and line.get("uid") == "FIRST":
        line["uid"] = good
    file = write(tmp_path / "model_judgment/gpt/owl.jsonl", [second(good, "A>B", "A>B"), line])
    with pytest.raises(BadInput) as told:
        import_arena_hard(tmp_path, bench)
    assert str(told.value).startswith(f"{file}, line 2")
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert read_anchored(bench) == []


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        (
            "question.jsonl",
            {"uid": "QID", "prompt": "Another?"},
            "the question .* differs from the bench",
        ),
        (
            "question.jsonl",
            {"uid": "QID", "turns": [{"content": "What?"}]},
            "the question .* differs from the bench",
        ),
        ("question.jsonl", {"uid": "QID", "prompt": 3}, "its question is a number"),
        ("model_answer/owl.jsonl", {"uid": "QID", "model": "owl"}, "there is no answer in it"),
        ("model_answer/owl.jsonl", {"uid": "QID", "messages": [3]}, "there is no answer in it"),
    ],
)
def test_what_stands_beside_judgments_is_held_against_the_bench(
    bench: OpenBench, tmp_path: Path, name: str, line: dict[str, Any], said: str
) -> None:
    qid = bench.items[0].qid
    write(tmp_path / "model_judgment/gpt/owl.jsonl", [second(qid, "A>B", "A>B")])
    file = write(tmp_path / name, [{**line, "uid": qid}])
    with pytest.raises(BadInput, match=f"line 1: {said}") as told:
        import_arena_hard(tmp_path, bench)
    assert str(told.value).startswith(str(file))
    if "another" in said:
        assert import_arena_hard(tmp_path, bench, allow_differing=True).judgments == 1


def test_a_folder_without_judgments_is_named(bench: OpenBench, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no judgment"):
        import_arena_hard(tmp_path, bench)
    with pytest.raises(BadInput, match="is no folder"):
        import_arena_hard(tmp_path / "none", bench)
    write(tmp_path / "model_judgment/owl.jsonl", [second(bench.items[0].qid, "A>B", "A>B")])
    with pytest.raises(BadInput, match="lies in no judge's folder"):
        import_arena_hard(tmp_path, bench)


def test_what_goes_out_comes_in_again_with_the_same_scores(tmp_path: Path) -> None:
    here, there = (bench_of(tmp_path / name, 3) for name in ("here", "there"))
    held(here, "../owl", ["> >>", "? =", "<<"], texts=("yes", "no"))
    held(here, "MOLE", ["< <", "= =", "-"], texts=("perhaps", "no"))
    held(here, "mole", ["> <", "<< <", "> >"], judge="other judge", texts=("maybe", "no"))
    exported = export_arena_hard(here, tmp_path / "data")
    assert (exported.questions, exported.judgments) == (3, 8)
    written = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert len(written) == len(exported.files) == 8
    taken = import_arena_hard(tmp_path / "data", there)
    assert (taken.results, taken.judgments, taken.void) == (3, 8, 1)
    ours, theirs = (build_anchored(bench, read_anchored(bench)) for bench in (here, there))
    for board in (*ours, *theirs):
        for row in board["models"]:
            for key in ("how", "much_worse"):  # what nobody read comes in as two games
                row.pop(key)
        for key in ("stand_ins", "seats"):
            board.pop(key)
    assert ours == theirs
    kept = {result.model: result.rulings[0].response for result in read_anchored(there)}
    assert (kept["../owl"], kept["MOLE"], kept["mole"]) == ("yes", "perhaps", "maybe")


def their_score(file: Path) -> float:
    """Return the percentage that arena-hard's own script makes of a file of judgments."""
    weighed = {"A>B": [1.0], "A>>B": [1.0] * 3, "A=B": [0.5], "B>A": [0.0], "B>>A": [0.0] * 3}
    scores: list[float] = []
    for line in map(json.loads, file.read_text().splitlines()):
        before, after = (game["score"] for game in line["games"])
        if before is not None and after is not None:
            scores += [*weighed[after], *(1 - score for score in weighed[before])]
    return 100 * sum(scores) / len(scores)


def test_our_score_is_what_arena_hards_script_makes_of_our_file(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12, each=2)
    dice = random.Random(7)
    words = ["<<", "<", "=", ">", ">>", "?"]
    for model in ("owl", "mole", "hawk"):
        held(bench, model, [" ".join(dice.choices(words, k=2)) for _ in bench.items])
    export_arena_hard(bench, tmp_path / "data")
    (board,) = build_anchored(bench, read_anchored(bench))
    for row in board["models"]:
        file = tmp_path / f"data/model_judgment/judge/{row['model']}.jsonl"
        assert row["void"] > 0
        assert row["score"] == pytest.approx(their_score(file), abs=1e-6)


def test_each_line_has_the_ids_of_both_versions(bench: OpenBench, tmp_path: Path) -> None:
    held(bench, "owl", ["> >"])
    export_arena_hard(bench, tmp_path / "data")
    for file in (tmp_path / "data").rglob("*.jsonl"):
        for line in map(json.loads, file.read_text().splitlines()):
            assert line["uid"] == line["question_id"]
    (judged,) = (tmp_path / "data/model_judgment/judge").iterdir()
    line = json.loads(judged.read_text())
    assert [game["score"] for game in line["games"]] == ["B>A", "A>B"]
    assert line["baseline"] == "base"
    with pytest.raises(BadInput, match="already exists"):
        export_arena_hard(bench, tmp_path / "data")


def test_without_an_anchor_there_is_nothing_to_write(bench: OpenBench, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"make some with bench\.run\(anchor="):
        export_arena_hard(bench, tmp_path / "data")
    assert build_scores(bench, [])["stand_ins"] is False


def test_a_result_is_not_replaced_unasked(bench: OpenBench, tmp_path: Path) -> None:
    write(tmp_path / "model_judgment/gpt/owl.jsonl", [second(bench.items[0].qid, "A>B", "A>B")])
    line = ("import", "arena-hard", tmp_path, "--bench", bench.folder)
    told = json.loads(invoke(*line, "--json").stdout)
    assert told == {
        "schema": 1, "results": 1, "models": 1, "judgments": 1, "void": 0, "missing": 2,
        "answers": 0,
    }  # fmt: skip
    assert "pass --force to replace it" in str(invoke(*line).exception)
    assert invoke(*line, "--force").exit_code == 0
