"""Labels held against verdicts: by whom, how far judges agree, how well ratings are calibrated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.audited import by_key
from tests.support.labelled import label_all, season
from tests.support.played import battle, invoke, lineage, play, slot, video
from tests.support.quoted import misquoting
from videoautoarena.memory.records.records import Battle
from videoautoarena.memory.store.evidence import Label
from videoautoarena.runs.analysis.audit.human_agreement import (
    TIE,
    LabelledBattle,
    audit_labels,
    calibrate,
    compare,
    join_labels,
    judge_labels,
    mean_points,
    people_agree,
    show_labels,
)
from videoautoarena.runs.rating.finding import Finding
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.views.results.labels import labels_report, people_section

LONG = "word " * 30
SHORT = "word " * 10


def said(
    *pairs: tuple[str, str], answers: tuple[str, str] = ("x", "y"), first: int = 0
) -> list[LabelledBattle]:
    """Labels, each of a battle of its own video: what the judge said, what a person said."""
    spoken = []
    for k, (judge, person) in enumerate(pairs, first):
        place = slot(video(f"clip {k}".encode()), 0)
        one = battle(place, verdict=judge, answer_a=answers[0], answer_b=answers[1])
        spoken.append(LabelledBattle(_label(one, "anna", person), one))
    return spoken


def _label(of: Battle, labeller: str, verdict: str, **standards: str) -> Label:
    told = {"battle": of.id, "labeller": labeller, "verdict": verdict, "standards": standards}
    return Label.model_validate(told)


def found(spoken: list[LabelledBattle]) -> dict[str, Finding]:
    return by_key(judge_labels(spoken, seats_count=False))


def test_a_tie_is_a_word_and_both_kinds_are_one() -> None:
    findings = found(said(("a", "a"), ("split", "tie_bad"), ("tie_good", "tie"), ("b", "tie")))
    assert findings["labels.agreement"].value == 0.75
    # One battle is left where neither tied.
    assert findings["labels.agreement_without_ties"].value == 1.0
    assert findings["labels.agreement_without_ties"].n == 1


def test_kappa_takes_off_what_chance_gives() -> None:
    words = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    kappa = found(said(*words))["labels.kappa"]
    assert kappa.value == pytest.approx(0.4)
    assert kappa.low < 0.2 < 0.55 < kappa.high
    assert "kappa is 0.40" in kappa.sentence


def test_a_judge_surely_worse_than_length_raises_an_alarm() -> None:
    # What the judge said and a person said of answers of which a is the longer: of three labels
    # the judge has one right and length two.
    words = [("b", "a"), ("b", "a"), ("b", "b")] * 20
    findings = found(said(*words, answers=(LONG, SHORT)))
    assert findings["labels.length_only"].value == pytest.approx(2 / 3)
    assert "no better than always picking the longer one: 66.7 %" in (
        findings["labels.length_only"].sentence
    )
    gain = findings["labels.length_gain"]
    assert gain.value == pytest.approx(-1 / 3)
    assert gain.n == 60
    assert gain.high < 0.0
    assert gain.is_alarm
    assert "is -33.3 (-5" in gain.sentence


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([("b", "a"), ("b", "a"), ("b", "b")] * 2, id="too few to cry"),
        pytest.param([("b", "a")] * 17 + [("b", "b")] * 15, id="worse by what chance may do"),
        pytest.param([("a", "a"), ("a", "b"), ("a", "b")] * 20, id="always says what length says"),
        pytest.param([("b", "b"), ("a", "a"), ("b", "b")] * 20, id="sees more than length"),
    ],
)
def test_a_judge_that_may_be_better_than_length_raises_none(words: list[tuple[str, str]]) -> None:
    findings = found(said(*words, answers=(LONG, SHORT)))
    assert findings["labels.length_gain"].high > 0.0
    assert not any(finding.is_alarm for finding in findings.values())


def test_labels_of_one_video_are_no_evidence_of_others() -> None:
    words = [("b", "a"), ("b", "a"), ("b", "b")] * 20
    spoken = [
        LabelledBattle(label, of.model_copy(update={"video": "one clip"}))
        for label, of in said(*words, answers=(LONG, SHORT))
    ]
    gain = found(spoken)["labels.length_gain"]
    assert (gain.low, gain.high) == (-1.0, 1.0)
    assert not gain.is_alarm


def test_a_judge_that_sees_more_than_length_is_told_by_how_much() -> None:
    findings = found(said(*[("b", "b"), ("a", "a"), ("b", "b")] * 20, answers=(LONG, SHORT)))
    assert findings["labels.length_only"].value == pytest.approx(1 / 3)
    assert "in 100.0 % (9" in findings["labels.length_only"].sentence
    assert findings["labels.length_gain"].value == pytest.approx(2 / 3)
    assert findings["labels.length_gain"].low > 0.5


def test_lengths_within_a_tenth_are_matched() -> None:
    nearly = said(("a", "b"), ("a", "a"), answers=("word " * 10, "word " * 9))
    far = said(*[("a", "a")] * 3, answers=("word " * 10, "word " * 8), first=2)
    assert found([*nearly, *far])["labels.length_matched"].value == 0.5
    assert compare(nearly).longer.tolist() == [0, 0]
    assert compare(said(("a", "b"))).longer.tolist() == [TIE]
    assert "labels.length_only" not in found(said(("a", "b")))


def test_people_are_held_against_each_other() -> None:
    spoken = said(*[("a", "a")] * 6, *[("b", "b")] * 4)
    second = [LabelledBattle(_label(of.battle, "ben", "b"), of.battle) for of in spoken[4:]]
    share, alpha = people_agree([*spoken, *second])
    assert (share.value, share.n) == (pytest.approx(4 / 6), 6)
    # Krippendorff: 12 words, 2 a and 10 b; observed 4 / 12, expected 2 * 2 * 10 / (12 * 11).
    assert alpha.value == pytest.approx(1 - (4 / 12) / (40 / 132))
    assert found([*spoken, *second])["labels.people"].n == 6
    assert "labels.people" not in found(spoken)


def test_standards_are_told_where_they_were_labelled() -> None:
    spoken = said(("a", "a"), ("b", "b"))
    spoken[0] = LabelledBattle(
        _label(spoken[0].battle, "anna", "a", accuracy="a"), spoken[0].battle
    )
    findings = found(spoken)
    assert findings["labels.accuracy"].value == 1.0
    assert findings["labels.accuracy"].sentence.endswith("of 1 label on 1 video.")
    assert not {"labels.relevance", "labels.judge_accuracy"} & set(findings)


def test_without_labels_the_audit_says_that_nobody_looked() -> None:
    (finding,) = judge_labels([], seats_count=False)
    assert finding.n == 0
    assert np.isnan(finding.value)
    assert finding.sentence.startswith("No battle that counts has a human label")


def test_labels_of_what_does_not_count_are_left_out() -> None:
    one = battle(slot(video(), 0))
    void = battle(slot(video(), 1), verdict="void", reason="gone")
    labels = [_label(of, "anna", "a") for of in (one, void, battle(slot(video(), 2)))]
    assert join_labels(labels, [one, void]) == [LabelledBattle(labels[0], one)]


def test_several_words_on_a_battle_give_their_mean() -> None:
    one = battle(slot(video(), 0))
    words = ("a", "tie_bad", "b", "a")
    spoken = [LabelledBattle(_label(one, f"x{k}", word), one) for k, word in enumerate(words)]
    assert mean_points(spoken) == {one.id: 0.625}


def test_calibration_holds_people_against_the_ratings_of_the_judge() -> None:
    films = [video(f"clip {k}".encode()) for k in range(40)]
    # The judge gives hawk 30 of 40, bias-reduced 30.5 of 41: 185.2 points. People give it 20.
    battles = [battle(slot(film, 0), verdict="ab"[k % 4 == 0]) for k, film in enumerate(films)]
    spoken = [LabelledBattle(_label(of, "anna", "ab"[k % 2]), of) for k, of in enumerate(battles)]
    (row,) = calibrate(battles, spoken)
    assert row[:3] == (100.0, 200.0, 185.2)
    assert row.expected == pytest.approx(30.5 / 41, abs=1e-6)
    assert (row.better.value, row.better.n) == (0.5, 40)
    # Of every four battles judge and person agree on the third alone.
    assert row.agreed.value == pytest.approx(0.25)


def test_show_tells_who_labelled_how_much(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = season(out, videos=10, rounds=4)
    evil = "b\x1b[31men \u202e"
    label_all(out, words, "anna")
    label_all(out, dict(list(words.items())[:10]), evil)
    told = json.loads(invoke("labels", "show", out, "--json").output)
    assert (told["labels"], told["battles"], told["left_out"]) == (50, 40, 0)
    assert told["sample"] == {"drawn": 0, "labelled": 0, "decided": 40}
    assert [(row["labeller"], row["labels"]) for row in told["labellers"]] == [
        ("anna", 40),
        (evil, 10),
    ]
    text = invoke("labels", "show", out, width=80).output
    assert "50 labels of 40 battles by 2 people." in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "b\\x1b[31men" in text
    assert max(map(len, text.splitlines())) <= 80
    agreed = told["labellers"][0]["agreed"]
    value, low, high = (f"{100 * agreed[key]:.1f}" for key in ("value", "low", "high"))
    assert f"{value} ({low} to {high})" in text
    with open_run(out) as opened:
        report = labels_report(show_labels(opened))
    assert misquoting(report) == []
    section = people_section(report)
    assert section.says == report.sentence("labels.agreement")
    assert [row["labeller"] for row in section.tables[0].rows] == ["anna", evil]


def test_show_says_what_to_do_where_there_is_no_label(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    text = invoke("labels", "show", out).output
    assert "arena labels import" in text
    assert "arena labels sample" in text
    assert json.loads(invoke("labels", "show", out, "--json").output)["calibration"] == []


def test_the_audit_reads_the_labels_of_a_run(tmp_path: Path) -> None:
    from videoautoarena.runs.analysis.audit.evidence import AuditInput

    spoken = said(("a", "a"), ("b", "a"))
    given = AuditInput([of.battle for of in spoken], {}, [of.label for of in spoken])
    assert audit_labels(given)[0].value == 0.5
