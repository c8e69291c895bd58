"""Files of labels: what is taken in, and in which words the rest is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.labelled import rows
from tests.support.played import battle, invoke, lineage, play, slot, video
from videoautoarena.memory.records.errors import BadInput, RunLocked
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.label_import import import_labels

FIRST, SECOND, TIED = (slot(video(), round_).id for round_ in range(3))
EVERYTHING = "battle labeller verdict instruction_following accuracy relevance helpfulness"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test writes to."""
    return play(tmp_path_factory.mktemp("ground") / "out", lineage(video()))


@pytest.fixture
def run(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground, tmp_path / "out"))


def labels(run: Path) -> list[Label]:
    with Store.open(run / "run.sqlite", write=False) as store:
        return store.evidence.labels()


def refused(run: Path, file: Path, labeller: str | None = None) -> str:
    with pytest.raises(BadInput) as wrong:
        import_labels(run, file, labeller=labeller)
    assert labels(run) == []
    return str(wrong.value).removeprefix(str(file))


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.parquet"])
def test_a_file_of_labels_is_taken_in_whatever_its_form(
    name: str, tmp_path: Path, run: Path
) -> None:
    file = rows(
        tmp_path / name,
        (FIRST, "anna", "tie_bad", "a", "b", "tie", "tie_good"),
        (TIED, "ben", "b", "", "", "", ""),
        columns=EVERYTHING,
    )
    assert import_labels(run, file).as_line() == "2 labels added"
    first, second = labels(run)
    assert first.verdict == "tie_bad"
    assert first.standards == {
        "instruction_following": "a",
        "accuracy": "b",
        "relevance": "tie",
        "helpfulness": "tie_good",
    }
    assert second == Label(battle=TIED, labeller="ben", verdict="b")


@pytest.mark.parametrize(
    ("spelt", "meant"),
    [
        ("model_a", "a"),
        (" B ", "b"),
        ("Tie", "tie"),
        ("tie (bothbad)", "tie_bad"),
        ("Tie Good", "tie_good"),
        ("bothgood", "tie_good"),
        ("0.5", "tie"),
        ("1", "a"),
        ("0", "b"),
    ],
)
def test_a_verdict_may_be_spelt_as_rate_reads_it(
    spelt: str, meant: str, tmp_path: Path, run: Path
) -> None:
    import_labels(run, rows(tmp_path / "x.csv", (FIRST, "anna", spelt)))
    assert [label.verdict for label in labels(run)] == [meant]


def test_a_second_import_adds_nothing_and_says_so(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.csv", (FIRST, "anna", "a"), (SECOND, " anna ", "tie"))
    import_labels(run, file)
    again = import_labels(run, file)
    assert again.as_line() == "0 labels added; 2 rows known already"
    assert len(labels(run)) == 2


def test_rows_that_are_not_filled_in_yet_are_passed_over(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.csv", (FIRST, "anna", "a"), (SECOND, "", ""), (TIED, "", " "))
    found = import_labels(run, file)
    assert found.as_line() == "1 label added; 2 rows without a verdict skipped"


def test_a_file_may_leave_out_who_labelled(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.csv", (FIRST, "a"), columns="battle verdict")
    assert refused(run, file) == (
        ' has no column labeller; it has "battle", "verdict"; name who labelled with --labeller'
    )
    import_labels(run, file, labeller="anna")
    assert labels(run)[0].labeller == "anna"


def test_a_labellers_other_word_on_a_battle_is_refused_by_name(tmp_path: Path, run: Path) -> None:
    one = rows(tmp_path / "one.csv", (FIRST, "anna", "a"), (FIRST, "anna", "tie_bad"))
    assert refused(run, one) == (
        f', row 2: "anna" labelled {FIRST} as a before, and as tie_bad now; nothing was imported'
    )
    import_labels(run, rows(tmp_path / "two.csv", (FIRST, "anna", "a")))
    with pytest.raises(BadInput, match=r'row 1: "anna" labelled .* as a before'):
        import_labels(run, rows(tmp_path / "three.csv", (FIRST, "anna", "b")))
    with pytest.raises(BadInput, match=r"and as a \(accuracy b\) now"):
        import_labels(
            run,
            rows(
                tmp_path / "four.csv",
                (FIRST, "anna", "a", "b"),
                columns="battle labeller verdict accuracy",
            ),
        )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("nowhere", "anna", "a"), 'there is no battle "nowhere" in this run'),
        (("", "anna", "a"), "battle is missing"),
        ((FIRST, "", "a"), "labeller is missing; name who it was with --labeller"),
        ((FIRST, "x" * 101, "a"), "labeller is longer than 100 characters"),
        ((FIRST, "anna", "split"), 'verdict is "split"; it may be a, b, tie, tie_good or tie_bad'),
        ((FIRST, "anna", "2"), 'verdict is "2"; it may be'),
    ],
)
def test_a_row_that_cannot_be_used_is_named_and_nothing_is_imported(
    row: tuple[str, ...], why: str, tmp_path: Path, run: Path
) -> None:
    told = refused(run, rows(tmp_path / "x.csv", (FIRST, "cy", "a"), row))
    assert told.startswith(f", row 2: {why}")
    assert told.endswith("; nothing was imported")


def test_all_rows_that_cannot_be_used_are_named(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.jsonl", *[("nowhere", "anna", "a")] * 12)
    assert "; lines 2, 3, 4, 5, 6, 7, 8, 9 and 3 more cannot be used either;" in refused(run, file)


def test_what_was_not_decided_has_no_label(tmp_path: Path) -> None:
    film = video()
    void = battle(slot(film, 0), verdict="void", model_b=None, answer_b=None, reason="gone")
    fallen = battle(slot(film, 1), verdict="forfeit_b", answer_b=None, reason="silent")
    run = play(tmp_path / "out", [void, fallen])
    file = tmp_path / "x.csv"
    assert "is void: there are no two answers" in refused(run, rows(file, (FIRST, "anna", "a")))
    assert "is forfeit: there are no two answers" in refused(run, rows(file, (SECOND, "anna", "a")))


def test_what_was_superseded_has_no_label(tmp_path: Path) -> None:
    film = video()
    old = battle(slot(film, 0))
    new = battle(slot(film, 0, generation=1, ordinal=1))
    slots = [slot(film, 0, ordinal=0), slot(film, 0, ordinal=1, generation=1)]
    run = play(tmp_path / "out", [old, new], slots=slots)
    told = refused(run, rows(tmp_path / "x.csv", (old.id, "anna", "a")))
    assert " was superseded" in told


def test_a_missing_column_is_named(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.csv", (FIRST, "anna"), columns="battle labeller")
    assert refused(run, file) == ' has no column verdict; it has "battle", "labeller"'


def test_a_run_that_is_being_played_takes_no_labels(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.csv", (FIRST, "anna", "a"))
    with Store.open(run / "run.sqlite", write=True), pytest.raises(RunLocked):
        import_labels(run, file)


def test_the_command_says_what_came_of_it(tmp_path: Path, run: Path) -> None:
    file = rows(tmp_path / "x.csv", (FIRST, "=cmd\x1b[31m", "a"))
    assert invoke("labels", "import", file, run).stdout == "1 label added\n"
    told = json.loads(invoke("labels", "import", file, run, "--json").stdout)
    assert told == {"schema": 1, "added": 0, "known": 1, "blank": 0}


def test_labels_that_were_exported_can_be_imported(tmp_path: Path, run: Path) -> None:
    whole = (FIRST, "anna", "tie_bad", "a", "b", "tie", "tie_good")
    import_labels(run, rows(tmp_path / "x.csv", whole, columns=EVERYTHING))
    import_labels(run, rows(tmp_path / "y.csv", (TIED, "ben", "b")))
    (tmp_path / "z.jsonl").write_text(invoke("export", run, "--what", "labels").stdout)
    assert json.loads((tmp_path / "z.jsonl").read_text().splitlines()[1]) == {
        "schema": 1,
        "battle": TIED,
        "labeller": "ben",
        "verdict": "b",
    }
    other = play(tmp_path / "other", lineage(video()))
    import_labels(other, tmp_path / "z.jsonl")
    assert labels(other) == labels(run)


def test_a_labeller_in_other_letters_is_the_same_person(tmp_path: Path, run: Path) -> None:
    first = rows(tmp_path / "x.csv", (FIRST, "Ren\u00e9", "a"), columns="battle labeller verdict")
    again = rows(
        tmp_path / "y.csv",
        (FIRST, "Rene\u0301", "a"),
        (SECOND, "Rene\u0301", "b"),
        columns="battle labeller verdict",
    )
    import_labels(run, first)
    assert import_labels(run, again).as_line() == "1 label added; 1 row known already"
    assert {label.labeller for label in labels(run)} == {"Ren\u00e9"}


def test_a_label_with_one_key_twice_is_refused_with_its_line(tmp_path: Path, run: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(f'{{"battle": "{FIRST}", "labeller": "a", "verdict": "a", "verdict": "b"}}\n')
    assert refused(run, file) == ', line 1: has the key "verdict" twice; keep one'
