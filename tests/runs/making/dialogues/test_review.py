"""People review dialogues in a sheet: it comes back whole or not at all, into another set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.dialogue_sets import check, dialogue, turn, write_dialogues
from tests.support.played import invoke
from tests.support.reviewing import At, fill, play, read_rows, reviewed, with_videos
from tests.support.set_cards import read_card
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.runs.bench.dialogues.game import golden_turns
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import TWIN, Check, DialogueItem, Round
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.bench.format.writer import BEFORE_PASSING_ON
from videoautoarena.runs.formats.files import shown
from videoautoarena.runs.making.dialogues.review import ReviewOptions, review
from videoautoarena.runs.making.dialogues.review_sheet import write_sheet

HOSTILE = '=HYPERLINK("http://x")\r\n\'+1,\x1b[31m\ud800 \u202eabc\x00'


def test_a_sheet_shows_each_round_and_leaves_room_for_decisions(
    made: OpenBench[DialogueItem],
) -> None:
    file = write_sheet(made.folder).file
    assert file == made.folder.with_name("set-review.csv")
    assert file.read_bytes().startswith(
        b"\xef\xbb\xbfqid,video,ability,round,user,reference,item_1"
    )
    rows = read_rows(file)
    assert [row["round"] for row in rows] == ["1", "2", "3"] * 2
    assert rows[1] | {} == {
        **dict.fromkeys(rows[1], ""),
        "qid": made.items[0].qid,
        "video": "a",
        "ability": "object_reference",
        "round": "2",
        "user": "What comes 2th, after what you named before?",
        "reference": "It is heron2.",
        **{f"item_{k}": "Does the answer name heron2?" for k in (1, 2, 3)},
        **{f"expected_{k}": "yes" for k in (1, 2, 3)},
        **{f"item_{k}": "Does the answer name lamp2?" for k in (4, 5)},
        **{f"expected_{k}": "no" for k in (4, 5)},
    }
    assert list(rows[0])[-14:] == [
        "decision", "corrected_user", "corrected_reference",
        *(f"corrected_{of}_{k}" for k in range(1, 6) for of in ("item", "expected")),
        "note",
    ]  # fmt: skip


def test_decisions_make_another_set_that_says_what_was_before(
    made: OpenBench[DialogueItem],
) -> None:
    cells = {
        (1, "decision"): " Drop ",
        (2, "corrected_user"): "-And\nwhat then?",
        (2, "corrected_expected_4"): "YES",
        (2, "note"): "was unclear",
        (4, "decision"): "drop",
        (5, "decision"): "drop",
    }
    done, new = reviewed(made, cells)
    assert (done.dialogues, done.rounds, done.gone) == (1, 1, 1)
    assert done.counts == (0, 3, 1, 0)
    (item,), (old, _) = new.items, made.items
    first, second, third = item.rounds
    assert item.qid == item.own_qid() != old.qid
    assert item.made == {"reviewed": {"qid": old.qid}}
    assert first == old.rounds[0]
    assert second.checklist == []
    assert (second.user, second.reference) == (old.rounds[1].user, old.rounds[1].reference)
    assert second.made["review"] == {
        "reviewer": "first",
        "changed": ["checklist"],
        "before": {"checklist": [one.model_dump() for one in old.rounds[1].checklist]},
    }
    assert third.user == "-And\nwhat then?"
    assert [one.expected for one in third.checklist] == ["yes", "yes", "yes", "yes", "no"]
    assert third.made["review"] == {
        "reviewer": "first",
        "changed": ["user", "expected_4"],
        "before": {"user": old.rounds[2].user, "expected_4": "no"},
        "note": "was unclear",
    }
    sheet = made.folder.with_name("set-review.csv")
    assert new.manifest.selection["review"] == {
        "base": made.bench,
        "reviewer": "first",
        "sheet": sha256(sheet.read_bytes()).hexdigest(),
        **done.counts._asdict(),
    }
    assert set(new.manifest.videos) == {"a"}
    card = read_card(new.folder)
    assert "reviewed by first" in card
    assert card.count(BEFORE_PASSING_ON) == 1


def test_a_second_review_keeps_what_the_first_one_said(made: OpenBench[DialogueItem]) -> None:
    _, once = reviewed(made, {(1, "corrected_user"): "One?"})
    sheet = fill(write_sheet(once.folder).file, {(1, "corrected_user"): "Two?"})
    review(ReviewOptions(once.folder, made.folder.with_name("newer"), sheet, "second"))
    twice = open_bench(made.folder.with_name("newer"))
    said = twice.items[0].rounds[1].made["review"]
    assert (said["before"], said["earlier"]["before"]) == (
        {"user": "One?"},
        {"user": made.items[0].rounds[1].user},
    )
    assert twice.manifest.selection["review"]["earlier"]["base"] == made.bench


def test_copies_of_videos_come_along_with_their_subtitles(tmp_path: Path) -> None:
    base = with_videos(tmp_path / "set", [b"one", b"two"])
    gone = {(place, "decision"): "drop" for place in (1, 2)}
    done, new = reviewed(base, gone)
    assert done.dialogues == 1
    kept = base.items[1].video_id
    assert sorted(path.name for path in new.videos.iterdir()) == [f"{kept}.mp4", f"{kept}.srt"]  # type: ignore[union-attr]
    assert verify(new.folder, None).problems == []
    assert (new.manifest.licence, new.manifest.selection["examiner"]) == ("CC0", "openai:examiner")
    (base.folder / "videos" / f"{kept}.mp4").write_bytes(b"TWO")
    with pytest.raises(BadInput, match="has changed; see arena bench verify"):
        review(ReviewOptions(base.folder, tmp_path / "newer", tmp_path / "set-review.csv", "first"))
    assert not (tmp_path / "newer").exists()


TEXTS = st.one_of(
    st.just(HOSTILE),
    st.text(st.characters(), min_size=1, max_size=30),
    st.text("=+-@'\t\r\n\",; \ufeff", min_size=1, max_size=8),
)
ROUNDS = st.lists(
    st.builds(
        Round,
        user=TEXTS,
        reference=TEXTS,
        checklist=st.lists(
            st.builds(Check, text=TEXTS, expected=st.sampled_from(["yes", "no"])), max_size=7
        ),
    ),
    min_size=1,
    max_size=3,
)


@given(ROUNDS.filter(lambda rounds: any(one.is_scored for one in rounds)), TEXTS)
@settings(max_examples=15, deadline=None)
def test_whatever_texts_a_set_has_an_unchanged_sheet_changes_none(
    rounds: list[Round], correction: str
) -> None:
    """And a correction arrives as it was typed, but for how its lines end."""
    with TemporaryDirectory() as place:
        made = write_dialogues(Path(place, "set"), [dialogue("a", rounds=rounds, qid=HOSTILE)])
        _, new = reviewed(made, {})
        assert new.items == made.items
        for row in read_rows(Path(place, "set-review.csv")):
            assert not [cell for cell in row.values() if cell.lstrip()[:1] in ("=", "+", "-", "@")]
        typed = shown(correction)
        sheet = fill(Path(place, "set-review.csv"), {(0, "corrected_user"): typed})
        review(ReviewOptions(made.folder, Path(place, "other"), sheet, "first"))
        now = open_bench(Path(place, "other")).items[0].rounds[0].user
        is_kept = not typed.strip() or typed == shown(rounds[0].user)
        assert now == (rounds[0].user if is_kept else typed)


REFUSED: Sequence[tuple[At, str, str]] = [
    ((1, "decision"), "maybe", 'row 2: decision is "maybe"; it may be keep, drop or empty'),
    ((1, "qid"), "0" * 16, f'row 2: qid is "{"0" * 16}", which the set does not hold'),
    ((1, "round"), "9", "row 2: round is 9"),
    ((1, "round"), "0", "row 2: round is 0"),
    ((1, "round"), "two", 'row 2: round is "two", which is no number'),
    ((1, "round"), "1", "row 2: round is 1"),
    ((1, "video"), "b", "row 2: video is not what the set holds;"),
    ((1, "ability"), "memory_recall", "row 2: ability is not what the set holds;"),
    ((1, "user"), "Other?", "row 2: user is not what the set holds; write it as corrected_user"),
    ((1, "item_2"), "Other?", "row 2: item_2 is not what the set holds; write it as corrected_ite"),
    ((0, "item_1"), "New?", "row 1: item_1 is not what the set holds; write it as corrected"),
    ((0, "corrected_item_1"), "New?", "row 1: corrected_item_1 corrects an item that is not there"),
    ((1, "corrected_expected_2"), "maybe", 'row 2: corrected_expected_2 is "maybe"; it may be yes'),
    ((3, "corrected_user"), "x", "row 4: corrected_user corrects a round that is dropped"),
]  # fmt: skip


@pytest.mark.parametrize(("at", "typed", "why"), REFUSED)
def test_a_row_that_cannot_be_used_is_named_with_its_column(
    made: OpenBench[DialogueItem], at: At, typed: str, why: str
) -> None:
    sheet = fill(write_sheet(made.folder).file, {(3, "decision"): "drop", at: typed})
    to = made.folder.with_name("new")
    said = invoke("dialogues", "review", made.folder, "--from", sheet, "--reviewer", "first",
                  "--to", to)  # fmt: skip
    assert isinstance(said.exception, BadInput)
    line = str(said.exception)
    assert why in line
    assert line.endswith("; nothing was made")
    assert "\n" not in line
    assert not to.exists()


def test_all_rows_that_cannot_be_used_are_counted(made: OpenBench[DialogueItem]) -> None:
    cells = {(place, "decision"): "no" for place in (1, 3, 5)}
    with pytest.raises(BadInput, match=r"row 2: decision .*; rows 4, 6 cannot be used either"):
        reviewed(made, cells)


def test_a_doubled_row_and_a_missing_column_are_refused(made: OpenBench[DialogueItem]) -> None:
    file = write_sheet(made.folder).file
    rows = read_rows(file)
    fill(file, {}, rows=[*rows, rows[4]])
    wish = ReviewOptions(made.folder, made.folder.with_name("new"), file, "first")
    with pytest.raises(BadInput, match=r"row 7: round is 2 of .* a second time; nothing was made"):
        review(wish)
    fill(file, {}, rows=[{k: v for k, v in row.items() if k != "note"} for row in rows])
    with pytest.raises(BadInput, match=r"has no column note; nothing was made"):
        review(wish)
    file.write_text(write_sheet(made.folder, force=True).file.read_text().replace(",", ";"))
    with pytest.raises(BadInput, match=r"no column qid and \d+ more; save it with commas"):
        review(wish)
    assert not wish.to.exists()


def test_rounds_without_a_row_and_rows_of_nothing_change_nothing(
    made: OpenBench[DialogueItem],
) -> None:
    file = write_sheet(made.folder).file
    rows = read_rows(file)
    fill(file, {}, rows=[rows[1], dict.fromkeys(rows[1], "")])
    review(ReviewOptions(made.folder, made.folder.with_name("new"), file, "first"))
    assert open_bench(made.folder.with_name("new")).items == made.items


def test_corrections_may_not_make_two_dialogues_one(tmp_path: Path) -> None:
    one = dialogue("a")
    other = dialogue("a", rounds=[turn(1, 0, 0), turn(2), turn(4)])
    made = write_dialogues(tmp_path / "set", [one, other])
    texts = {"user": one.rounds[2].user, "reference": one.rounds[2].reference}
    texts |= {f"item_{k}": item.text for k, item in enumerate(one.rounds[2].checklist, 1)}
    with pytest.raises(BadInput, match="two dialogues would be the same"):
        reviewed(made, {(5, f"corrected_{name}"): text for name, text in texts.items()})
    assert not (tmp_path / "new").exists()


def test_records_of_an_import_that_no_longer_hold_go(tmp_path: Path) -> None:
    extra = {"mtqa": {"Round 1": {}}, "checklist": [], "mood": "x"}
    items = [dialogue(video, extra=extra, qid=f"summary_{video}") for video in "ab"]
    _, new = reviewed(write_dialogues(tmp_path / "set", items), {(1, "decision"): "drop"})
    assert [item.extra for item in new.items] == [{"mood": "x"}, extra]
    assert [item.qid for item in new.items] == [new.items[0].own_qid(), "summary_b"]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["--from", "x.csv", "--to", "new"], "--from needs --reviewer NAME"),
        (["--reviewer", "first"], "--reviewer needs --from FILE"),
        (["--from", "x.csv", "--reviewer", "first"], "a new set needs --to FOLDER"),
        (["--drop-easy", "1"], "a new set needs --to FOLDER"),
        (["--drop-easy", "nan", "--to", "new"], "nan is not in the range 0<=x<=1"),
        (["--drop-easy", "1", "--to", "new", "--force"], "--force is for the CSV file"),
        (["--drop-easy", "1.1", "--to", "new"], "1.1 is not in the range 0<=x<=1"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(typed: list[str], why: str) -> None:
    said = invoke("dialogues", "review", "set", *typed)
    assert why in f"{said.exception} {said.output}"


def test_a_sheet_is_not_overwritten_nor_written_into_the_set(
    made: OpenBench[DialogueItem], tmp_path: Path
) -> None:
    write_sheet(made.folder)
    with pytest.raises(BadInput, match="already exists; pass another name, or --force"):
        write_sheet(made.folder)
    with pytest.raises(BadInput, match="lies in the set"):
        write_sheet(made.folder, made.folder / "x.csv")
    with pytest.raises(BadInput, match=r"must end in \.csv"):
        write_sheet(made.folder, tmp_path / "x.tsv")
    with pytest.raises(BadInput, match="lies in the set"):
        review(
            ReviewOptions(
                made.folder, made.folder / "new", made.folder.with_name("set-review.csv"), "x"
            )
        )


def test_the_same_review_again_finds_its_set_there(made: OpenBench[DialogueItem]) -> None:
    first, _ = reviewed(made, {(1, "decision"): "drop"})
    again, _ = reviewed(made, {(1, "decision"): "drop"})
    assert (first.was_there, again.was_there, first.bench) == (False, True, again.bench)
    with pytest.raises(BadInput, match="holds something else"):
        reviewed(made, {(2, "decision"): "drop"})


def test_the_command_says_what_was_done_to_people_and_programs(
    made: OpenBench[DialogueItem],
) -> None:
    play(made, "m:\x1bx", [5, 0, 0, 5])
    file = made.folder.with_name("r.csv")
    to = made.folder.with_name("new")
    sheeted = invoke("dialogues", "review", made.folder, "--to", file, width=300)
    assert sheeted.stdout == f"{file}: 2 dialogues, 6 rounds, 4 scored\n"
    fill(file, {(2, "decision"): "drop"})
    typed = ["dialogues", "review", made.folder, "--from", file, "--reviewer", "fi\x1brst",
             "--drop-easy", "1", "--to", to]  # fmt: skip
    said = invoke(*typed, width=300)
    bench = open_bench(to).bench
    assert said.exit_code == 0
    assert said.stdout.splitlines() == [
        f"{to} made: 1 dialogue, 1 scored round, bench {bench[:12]}",
        "reviewed by fi\\x1brst: 1 dropped, 0 corrected, 1 scored as before",
        "easy: 2 rounds on which every model reaches 1: m:\\x1bx",
        "1 dialogue left out: no scored round is left",
        "results of the old set do not carry over: play this one",
    ]
    narrow = invoke(*typed).stdout.splitlines()
    assert max(map(len, narrow)) <= 80
    assert "reviewed by fi\\x1brst: 1 dropped, 0 corrected, 1 scored as before" in narrow
    assert json.loads(invoke(*typed, "--json").stdout) == {
        "schema": 1,
        "folder": str(to),
        "base": made.bench,
        "bench": bench,
        "dialogues": 1,
        "scored": 1,
        "gone": 1,
        "reviewer": "fi\x1brst",
        "kept": 1,
        "dropped": 1,
        "corrected": 0,
        "easy": 2,
        "easy_from": 1.0,
        "models": ["m:\x1bx"],
        "passed_over": {},
        "was_there": True,
    }


def test_a_set_of_another_kind_is_refused(tmp_path: Path) -> None:
    from tests.support.task_sets import choice, write_set

    write_set(tmp_path / "set", [choice("a")])
    with pytest.raises(BadInput, match="holds no dialogues: it is a set of kind choice"):
        write_sheet(tmp_path / "set")


def test_a_reviewer_has_a_name_of_a_line(made: OpenBench[DialogueItem]) -> None:
    sheet = write_sheet(made.folder).file
    for name, why in ((" \n ", "is empty"), ("x" * 101, "is longer than 100 characters")):
        with pytest.raises(BadInput, match=f"--reviewer {why}"):
            review(ReviewOptions(made.folder, made.folder.with_name("new"), sheet, name))


def test_a_round_that_was_dropped_is_not_easy_too(made: OpenBench[DialogueItem]) -> None:
    play(made, "m", [5, 0, 0, 5])
    done, new = reviewed(made, {(1, "decision"): "drop"}, easy=1.0)
    assert (done.counts.dropped, done.counts.easy) == (1, 1)
    assert set(new.items[0].rounds[1].made) == {"review"}


def test_a_longer_checklist_has_places_in_the_sheet(tmp_path: Path) -> None:
    rounds = [turn(1, checklist=[check(f"heron{k}") for k in range(7)])]
    made = write_dialogues(tmp_path / "set", [dialogue("a", rounds=rounds)])
    _, new = reviewed(made, {(0, "corrected_item_7"): "Is it so?"})
    assert new.items[0].rounds[0].checklist[6].text == "Is it so?"


def test_items_that_deny_are_found_again_where_they_were_corrected(tmp_path: Path) -> None:
    rounds = [turn(1, 2, 1).model_copy(update={"made": {"denials": [3]}})]
    bench = write_dialogues(tmp_path / "set", [dialogue("a", ability=TWIN, rounds=rounds)])
    words = {(0, "corrected_item_3"): "Is it a lamp?", (0, "corrected_item_1"): "Is it denied?"}
    words[0, "corrected_item_2"] = "Does it say that there is no heron?"
    _, new = reviewed(bench, words)
    assert new.items[0].rounds[0].made["denials"] == [2]


def test_items_that_deny_stay_known_beside_a_note_and_are_not_claimed_where_none_is_left(
    tmp_path: Path,
) -> None:
    rounds = [turn(k, 2, 1).model_copy(update={"made": {"denials": [3]}}) for k in (1, 2, 3)]
    rounds.append(turn(4, 2, 1))
    bench = write_dialogues(tmp_path / "set", [dialogue("a", ability=TWIN, rounds=rounds)])
    denying = "Does it say that there is no heron?"
    _, new = reviewed(
        bench,
        {(0, "note"): "fine", (1, "corrected_item_3"): "Is it a lamp?", (2, "decision"): "drop",
         (3, "corrected_item_1"): denying},
    )  # fmt: skip
    found = [one.made.get("denials") for one in new.items[0].rounds]
    assert found == [[3], None, None, [1]]


def test_rounds_that_every_model_answers_are_easy(made: OpenBench[DialogueItem]) -> None:
    play(made, "m:good", [5, 4, 5, 3])
    play(made, "m:poor", [4, 5, 3, 4], facts={"model": "offline:hawk"})
    play(made, "m:cut", [0, 0, 0])
    play(made, "m:own", [0, 0, 0, 0], history="own")
    done = review(ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.8))
    new = open_bench(done.folder)
    assert done.counts == (2, 0, 0, 2)
    assert done.played.taken == ("m:good", "m:poor (stand-in)")
    assert done.played.passed_over == {
        "m:cut": "which has 3 of 4 rounds",
        "m:own": "which was sent its own history",
    }
    (item,) = new.items
    assert item.rounds == made.items[1].rounds
    assert new.manifest.selection["review"] == {
        "base": made.bench,
        **done.counts._asdict(),
        "easy_from": 0.8,
        "models": ["m:good", "m:poor (stand-in)"],
    }


def test_a_share_that_is_just_reached_counts(made: OpenBench[DialogueItem]) -> None:
    play(made, "m:x", [3, 2, 3, 2])
    done = review(ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.6))
    assert done.counts.easy == 2
    said = open_bench(done.folder).items[0].rounds[1].made["easy"]
    before = [one.model_dump() for one in made.items[0].rounds[1].checklist]
    assert said == {"score": 0.6, "before": {"checklist": before}}


def test_a_round_that_was_corrected_is_not_the_one_that_was_easy(
    made: OpenBench[DialogueItem],
) -> None:
    """Nor is one whose history was."""
    play(made, "m:x", [5, 5, 5, 5])
    done, _ = reviewed(made, {(1, "corrected_item_1"): "Is it so?"}, easy=1.0)
    assert done.counts == (1, 0, 1, 2)
    assert done.gone == 1


@pytest.mark.parametrize("column", ["user", "reference"])
def test_every_round_after_a_corrected_one_is_another_than_was_played(
    made: OpenBench[DialogueItem], column: str
) -> None:
    play(made, "m:x", [5, 5, 5, 5])
    done, new = reviewed(made, {(0, f"corrected_{column}"): "The lamp."}, easy=1.0)
    assert done.counts == (2, 0, 1, 2)
    (item,) = new.items
    assert [one.is_scored for one in item.rounds] == [False, True, True]
    assert all("The lamp." in golden_turns(item, number)[0] for number in (2, 3))


def test_a_corrected_round_stays_and_an_easy_one_before_it_is_still_easy(
    made: OpenBench[DialogueItem],
) -> None:
    play(made, "m:x", [5, 5, 0, 0])
    _, new = reviewed(made, {(2, "corrected_item_1"): "Is it so?"}, easy=1.0)
    first, second, third = new.items[0].rounds
    assert (first.is_scored, second.is_scored, third.is_scored) == (False, False, True)
    assert third.checklist[0].text == "Is it so?"


def test_a_round_that_could_not_be_marked_is_not_easy(made: OpenBench[DialogueItem]) -> None:
    lost = RoundLine(qid=made.items[1].qid, round=3, end="unscored", response="So it is.")
    lines = [RoundLine(qid=item.qid, round=n, end="answered", answers=["yes"] * 3 + ["no"] * 2)
             for item in made.items for n in (2, 3)]  # fmt: skip
    write_result(
        made,
        DialogueResult(
            bench=made.bench, model="m:x", judge="j", how="run", lines=[*lines[:3], lost]
        ),
    )
    done = review(ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.5))
    assert done.counts.easy == 3


def test_nothing_easy_without_results_and_something_must_be_left(
    made: OpenBench[DialogueItem],
) -> None:
    wish = ReviewOptions(made.folder, made.folder.with_name("new"), easy=0.0)
    with pytest.raises(BadInput, match="no whole result with golden history"):
        review(wish)
    play(made, "m:x", [5, 5, 5, 5])
    with pytest.raises(BadInput, match="no scored round would be left"):
        review(wish)
    assert not wish.to.exists()
