"""Published judge outputs and answers that were handed in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import invoke
from tests.support.published_bench import (
    WORDS,
    judgment,
    published,
    write_judgments,
    write_published,
)
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import read_answers, read_results
from videoautoarena.runs.exchange.interop.judgments import import_judgments
from videoautoarena.runs.exchange.interop.videoautobench import (
    import_submission,
    import_videoautobench,
)

BENCH = published(6, 4)
QIDS = list(BENCH)


@pytest.fixture
def bench(tmp_path: Path) -> OpenBench:
    import_videoautobench(write_published(tmp_path / "vab.json", BENCH), tmp_path / "bench")
    return open_bench(tmp_path / "bench")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    verdicts = ["win", "tie", "loss", "win", "nothing to read", "loss"]
    return (
        write_judgments(tmp_path, BENCH, against="selected", verdicts=verdicts),
        write_judgments(tmp_path, BENCH, against="rejected", verdicts=["win"] * 6),
    )


def one_of(folder: Path, qid: str = QIDS[0]) -> Path:
    (file,) = folder.rglob(f"{qid}.jsonl")
    return file


def rewrite(file: Path, **changed: Any) -> None:
    content = {**json.loads(file.read_text()), **changed}
    file.write_text(json.dumps({k: v for k, v in content.items() if v is not ...}) + "\n")


def test_judgments_become_rulings_of_the_candidate(
    bench: OpenBench, folders: tuple[Path, Path]
) -> None:
    taken = import_judgments(*folders, bench, "aria")
    (result,) = read_results(bench)
    assert (result.model, result.judge, result.how) == ("aria", "gpt-4o", "import")
    against = {(r.qid, r.against): r for r in result.rulings}
    verdicts = [against[qid, "selected"].verdict for qid in QIDS]
    assert verdicts == ["win", "tie", "loss", "win", "void", "loss"]
    first = against[QIDS[0], "selected"]
    assert (first.seats, first.response) == ("ab", f"my answer to {QIDS[0]}")
    assert first.words is not None
    assert first.words.endswith(WORDS["win"])
    assert (taken.selected.void, taken.selected.missing, taken.rejected.void) == (1, 0, 0)


def test_what_is_void_or_missing_is_counted_and_shown(
    bench: OpenBench, folders: tuple[Path, Path]
) -> None:
    one_of(folders[1]).unlink()
    words = ("import", "videoautobench-judgments", *folders, "--bench", bench.folder)
    said = invoke(*words, "--model", "aria").stdout
    assert "against selected: 6 of 6 questions judged" in said
    assert "1 void: no section [Overall Judge] (1)" in said
    assert "against rejected: 5 of 6 questions judged\n  1 missing" in said
    again = json.loads(invoke(*words, "--model", "aria", "--force", "--json").stdout)
    assert (again["selected"]["void"], again["rejected"]["missing"]) == (1, 1)


def test_the_content_binds_and_not_the_name(bench: OpenBench, folders: tuple[Path, Path]) -> None:
    first = one_of(folders[0])
    second = one_of(folders[0], QIDS[2])
    first.rename(first.with_name("spare"))
    second.rename(first)
    first.with_name("spare").rename(first.with_name("elsewhere.json"))
    import_judgments(*folders, bench, "aria")
    (result,) = read_results(bench)
    verdicts = {r.qid: r.verdict for r in result.rulings if r.against == "selected"}
    assert (verdicts[QIDS[0]], verdicts[QIDS[2]]) == ("win", "loss")


def test_what_archives_leave_beside_is_passed_over(
    bench: OpenBench, folders: tuple[Path, Path]
) -> None:
    for name in ("__MACOSX/._a.jsonl", ".DS_Store", "._b.jsonl", "README.txt", ".git/x.json"):
        file = folders[0] / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"\x00\xff")
    assert import_judgments(*folders, bench, "aria").selected.judged == 6


def test_all_lines_may_stand_in_one_file(bench: OpenBench, tmp_path: Path) -> None:
    for against in ("selected", "rejected"):
        lines = [
            json.dumps(
                judgment(BENCH, qid, against=against, words=f"\u2028{WORDS['tie']}"),
                ensure_ascii=False,
            )
            for qid in BENCH
        ]
        (tmp_path / against).mkdir()
        (tmp_path / against / "all.jsonl").write_text("\n".join(lines))
    taken = import_judgments(tmp_path / "selected", tmp_path / "rejected", bench, "aria")
    assert taken.selected.judged == taken.rejected.judged == 6


def test_a_second_import_of_a_model_is_refused_or_replaces(
    bench: OpenBench, folders: tuple[Path, Path]
) -> None:
    import_judgments(*folders, bench, "aria")
    with pytest.raises(BadInput, match=r'result of "aria" by "gpt-4o" already; pass --force'):
        import_judgments(*folders, bench, "aria")
    import_judgments(*folders, bench, "aria", force=True)
    import_judgments(*folders, bench, "aria", judge="other")
    assert len(read_results(bench)) == 2


def test_swapped_folders_are_noticed(bench: OpenBench, folders: tuple[Path, Path]) -> None:
    with pytest.raises(BadInput, match="against the rejected answer, not the selected one"):
        import_judgments(folders[1], folders[0], bench, "aria")
    assert read_results(bench) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"qid": ...}, 'has no "qid"'),
        ({"qid": 3}, 'has no "qid"'),
        ({"qid": "else\x1b[2J"}, r'judges "else\x1b[2J", which is not in the bench'),
        ({"qid": QIDS[1]}, f'judges "{QIDS[1]}"'),
        ({"question": "Why?"}, f'the question of "{QIDS[0]}" differs from the bench'),
        ({"video_id": "v"}, "the video_id of"),
        ({"persona": None}, 'has null under "persona"'),
        ({"x": float("nan")}, "holds NaN"),
    ],
)
def test_a_judgment_that_cannot_be_of_this_bench_is_named(
    bench: OpenBench, folders: tuple[Path, Path], changed: dict[str, Any], told: str
) -> None:
    rewrite(one_of(folders[0]), **changed)
    with pytest.raises(BadInput) as wrong:
        import_judgments(*folders, bench, "aria")
    assert told in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert read_results(bench) == []


def test_differing_texts_are_let_in_when_asked_and_counted(
    bench: OpenBench, folders: tuple[Path, Path]
) -> None:
    rewrite(one_of(folders[0]), question="Why?", persona=...)
    taken = import_judgments(*folders, bench, "aria", allow_differing=True)
    assert (taken.selected.differing, taken.rejected.differing) == (1, 0)


@pytest.mark.parametrize("changed", [{"persona": "Somebody."}, {"reference": "An older answer."}])
def test_another_persona_or_reference_is_counted_and_told(
    bench: OpenBench, folders: tuple[Path, Path], changed: dict[str, str]
) -> None:
    rewrite(one_of(folders[0]), **changed)
    taken = import_judgments(*folders, bench, "aria")
    assert (taken.selected.differing, taken.rejected.differing) == (1, 0)
    assert any("1 with another persona, reference" in line for line in taken.as_lines())


def test_a_qid_that_stands_twice_is_named_with_both_places(
    bench: OpenBench, folders: tuple[Path, Path]
) -> None:
    file = one_of(folders[0])
    (folders[0] / "copy.jsonl").write_text(file.read_text())
    with pytest.raises(BadInput, match=rf"{QIDS[0]}.* again, after .*copy\.jsonl"):
        import_judgments(*folders, bench, "aria")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "holds a list"),
        (b"{", "is no JSON"),
        (b'{"qid": "a", "qid": "b"}', 'has the key "qid" twice'),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    bench: OpenBench, folders: tuple[Path, Path], content: bytes, told: str
) -> None:
    file = one_of(folders[0])
    file.write_bytes(content)
    with pytest.raises(BadInput, match=told) as wrong:
        import_judgments(*folders, bench, "aria")
    assert file.name in str(wrong.value)


def test_a_folder_without_judgments_is_one_line(
    bench: OpenBench, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for folder, told in (
        (tmp_path / "empty", "holds no judge output"),
        (tmp_path / "not there", "is no folder"),
        (tmp_path / "vab.json", "is no folder"),
    ):
        with pytest.raises(BadInput, match=told):
            import_judgments(folders[0], folder, bench, "aria")


@pytest.mark.parametrize("model", ["", "  ", "m" * 201])
def test_a_model_has_a_name(bench: OpenBench, folders: tuple[Path, Path], model: str) -> None:
    with pytest.raises(BadInput, match="name of a model"):
        import_judgments(*folders, bench, model)


def submitted(tmp_path: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> Path:
    answers = {
        qid: {
            **{key: BENCH[qid][key] for key in ("video_id", "persona", "question")},
            "qid": qid,
            "response": f"answer {qid}",
        }
        for qid in QIDS
    }
    change(answers)
    file = tmp_path / "submission.json"
    file.write_text(json.dumps(answers))
    return file


def test_answers_that_were_handed_in_wait_to_be_judged(bench: OpenBench, tmp_path: Path) -> None:
    taken = import_submission(submitted(tmp_path), bench, "aria")
    assert (taken.answers, taken.empty, taken.missing) == (6, 0, 0)
    answers = read_answers(bench, "aria")
    assert answers is not None
    assert answers.responses == {qid: f"answer {qid}" for qid in QIDS}
    assert read_results(bench) == []


def test_empty_and_missing_answers_are_counted(bench: OpenBench, tmp_path: Path) -> None:
    def change(answers: dict[str, Any]) -> None:
        answers.pop(QIDS[0])
        answers[QIDS[1]]["response"] = " "

    file = submitted(tmp_path, change)
    words = ("import", "videoautobench-submission", file, "--bench", bench.folder)
    said = invoke(*words, "--model", "aria")
    assert said.stdout == "4 of 6 questions answered, 1 empty, 1 missing\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: a[QIDS[1]].pop("response"), f'"{QIDS[1]}" has no "response"'),
        (lambda a: a[QIDS[1]].update(response=None), f'"{QIDS[1]}" has null under "response"'),
        (lambda a: a[QIDS[1]].update(qid="x"), f'"{QIDS[1]}" says it has the qid "x"'),
        (lambda a: a[QIDS[1]].update(question="x"), f'the question of "{QIDS[1]}" differs'),
        (lambda a: a.update(other={}), '"other": this question is not in the bench'),
        (lambda a: a.update({QIDS[1]: []}), f'"{QIDS[1]}" holds a list'),
        (lambda a: a.clear(), "an object of answers by their qid"),
    ],
)
def test_an_answer_that_cannot_be_of_this_bench_is_named(
    bench: OpenBench, tmp_path: Path, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    with pytest.raises(BadInput) as wrong:
        import_submission(submitted(tmp_path, change), bench, "aria")
    assert told in str(wrong.value)
    assert read_answers(bench, "aria") is None
