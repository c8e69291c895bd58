"""The judge in each language: what is measured, when it is an alarm, and what is left unsaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from tests.runs.analysis.audit.test_truth_figures import trial
from tests.support.audited import audited, by_key, entry, fought
from tests.support.seasons import FAIR, Nature, Season
from videoautoarena.memory.records.records import Battle
from videoautoarena.runs.analysis.audit.evidence import AuditInput
from videoautoarena.runs.analysis.audit.languages import audit_languages
from videoautoarena.runs.analysis.audit.report import chosen, find_all
from videoautoarena.runs.rating.finding import raise_alarms

CAST = {name: entry(f"offline:{name}") for name in ("terse", "windbag", "judge")}
QUESTIONS = {
    "en": "How often does the cook lift the lid before she puts salt into the soup?",
    "de": "Wie oft hebt die Köchin den Deckel, bevor sie Salz in die Suppe gibt?",
}


def of(battles: list[Battle], **changed: object) -> AuditInput:
    given = audited(battles, cast=CAST)
    return AuditInput(**{**vars(given), **changed})  # type: ignore[arg-type]


def asked(number: int, verdict: str, *said: str, **changed: object) -> Battle:
    """Return one of forty battles, by turns in English and in German, on ten videos."""
    language = ("en", "de")[number % 2]
    texts = {"answer_a": "long " * 9, "answer_b": "short", "question": QUESTIONS[language]}
    video = f"v{number % 10}"
    played = fought(number, "windbag", "terse", verdict, *said, video=video, **texts)
    return played.model_copy(update={"language": language, **changed})


def uneven() -> list[Battle]:
    """Return battles whose judge goes by the order of the answers in German alone."""
    words = (("judge:a", "judge:a:ba"), ("judge:a", "judge:b:ba"))
    return [asked(n, "a", *words[n % 2]) for n in range(80)]


def test_verdicts_that_change_with_the_order_are_counted_in_each_language() -> None:
    found = by_key(raise_alarms(audit_languages(of(uneven()))))
    assert (found["language.flips.en"].value, found["language.flips.en"].n) == (0.0, 40)
    assert (found["language.flips.de"].value, found["language.flips.de"].n) == (1.0, 40)
    gap = found["language.flips_gap.de"]
    assert (gap.value, gap.is_alarm) == (1.0, True)
    assert gap.sentence.startswith("In German (de), the share of verdicts changed by the order of")


def test_the_first_and_the_longer_answer_are_counted_as_one_counts_by_hand() -> None:
    found = by_key(audit_languages(of(uneven())))
    # In German both seatings went to the answer read first, in English one each.
    assert (found["language.first.en"].value, found["language.first.en"].n) == (0.5, 80)
    assert (found["language.first.de"].value, found["language.first.de"].n) == (1.0, 80)
    # Answer a is the longer one of each battle and won it; of every fifth it did not.
    lost = [
        one.model_copy(update={"verdict": "b"}) if k % 10 in (1, 3) else one
        for k, one in enumerate(uneven())
    ]
    found = by_key(audit_languages(of(lost)))
    assert (found["language.longer.en"].value, found["language.longer.en"].n) == (1.0, 40)
    assert (found["language.longer.de"].value, found["language.longer.de"].n) == (0.6, 40)


def test_a_battle_of_unknown_language_stands_on_neither_side_of_a_difference() -> None:
    unknown = [asked(n, "a", "judge:a", "judge:b:ba", language=None) for n in range(80, 160)]
    alone, beside = (
        by_key(audit_languages(of(battles)))["language.flips_gap.de"]
        for battles in (uneven(), [*uneven(), *unknown])
    )
    assert (alone.value, alone.low, alone.n) == (beside.value, beside.low, beside.n)


def test_known_answers_count_as_they_stand_and_only_where_there_is_a_verdict() -> None:
    trials = [
        trial(number, verdict).model_copy(update={"language": code, "id": f"truth:{number}{again}"})
        for code, number, verdict, again in (
            ("en", 0, "a", ""), ("en", 1, "tie", ""), ("en", 2, "failed", ""),
            ("de", 3, "failed", ""), ("de", 3, "a", "~1"), ("de", 4, "b", ""),
            ("de", 4, "a", "~1"), ("de", 5, "abstain", ""), (None, 6, "b", ""),
        )
    ]  # fmt: skip
    found = by_key(audit_languages(of(uneven(), trials=trials)))
    assert (found["language.truth.en"].value, found["language.truth.en"].n) == (0.75, 2)
    assert (found["language.truth.de"].value, found["language.truth.de"].n) == (1.0, 2)


def test_questions_about_one_video_are_one_cluster_of_those_that_kept_their_language() -> None:
    mixed = [
        one.model_copy(update={"question": QUESTIONS["en"]}) if one.video in ("v1", "v3") else one
        for one in uneven()
    ]
    apart = [one.model_copy(update={"video": f"own {k}"}) for k, one in enumerate(mixed)]
    few, many = (by_key(audit_languages(of(some)))["language.kept.de"] for some in (mixed, apart))
    assert few.value == many.value == 0.6
    assert few.high - few.low > 1.5 * (many.high - many.low)


def test_two_languages_differ_once_and_three_each_from_the_others() -> None:
    two = by_key(audit_languages(of(uneven())))
    assert [key for key in two if key.startswith("language.flips_gap")] == ["language.flips_gap.de"]
    third = [asked(n, "a", "judge:a", "judge:a:ba", language="fr") for n in range(80, 120)]
    three = by_key(audit_languages(of([*uneven(), *third])))
    assert {key for key in three if "flips_gap" in key} == {
        f"language.flips_gap.{code}" for code in ("de", "en", "fr")
    }


def test_one_language_has_nothing_beside_it() -> None:
    alone = [battle for battle in uneven() if battle.language == "de"]
    assert audit_languages(of(alone)) == []
    assert find_all(of([b.model_copy(update={"language": None}) for b in uneven()])) == [
        found
        for found in find_all(of([b.model_copy(update={"language": None}) for b in uneven()]))
        if not found.key.startswith("language.")
    ]


def test_without_a_language_drawn_a_board_by_language_is_told_it_by_the_questions() -> None:
    untold = [battle.model_copy(update={"language": None}) for battle in uneven()]
    found = by_key(audit_languages(of(untold, by_language=True, is_brief=True)))
    assert found["language.flips.de"].value == 1.0
    assert "language.kept.de" not in found


def test_what_is_found_by_language_stands_first_beside_a_board_by_language() -> None:
    given = of(uneven(), by_language=True, is_brief=True)
    keys = [found.key for found in chosen(find_all(given), by_language=True)]
    firsts = [key.startswith("language.") for key in keys]
    assert keys[0] == "language.flips.de"
    assert firsts == sorted(firsts, reverse=True)
    assert len(set(keys)) == len(keys)


def test_under_any_other_board_only_alarms_are_said() -> None:
    keys = {found.key for found in chosen(find_all(of(uneven(), is_brief=True)))}
    assert "language.flips_gap.de" in keys
    assert "language.flips.de" not in keys


def test_questions_in_another_language_than_the_one_drawn_are_an_alarm() -> None:
    english = [battle.model_copy(update={"question": QUESTIONS["en"]}) for battle in uneven()]
    found = by_key(raise_alarms(audit_languages(of(english))))
    assert (found["language.kept.en"].value, found["language.kept.en"].is_alarm) == (1.0, False)
    assert (found["language.kept.de"].value, found["language.kept.de"].is_alarm) == (0.0, True)


def test_a_language_from_a_file_of_somebodys_is_no_escape_in_a_sentence() -> None:
    hostile = [
        battle.model_copy(update={"language": "\x1b[31mde" if battle.language == "de" else "en"})
        for battle in uneven()
    ]
    assert all("\x1b" not in found.sentence for found in audit_languages(of(hostile)))


def raised(runs: int, *, videos: int, languages: Mapping[str, Nature]) -> Counter[str]:
    """Return in how many runs each alarm by language was raised, and any under "any"."""
    found: Counter[str] = Counter()
    for seed in range(runs):
        given = Season(seed, videos, FAIR, languages=languages).audited()
        keys = {one.key for one in find_all(given) if one.is_alarm and "_gap." in one.key}
        found.update(keys | ({"any"} if keys else set()))
    return found


def test_an_even_judge_is_not_accused_of_a_language() -> None:
    assert raised(10, videos=12, languages={"en": FAIR, "de": FAIR, "zh": FAIR})["any"] <= 1


@pytest.mark.parametrize(
    ("nature", "key"),
    [
        (Nature(length=4.0), "longer"),
        pytest.param(Nature(seat=1.5), "first", marks=pytest.mark.slow),
        pytest.param(Nature(sees=0.0), "truth", marks=pytest.mark.slow),
        pytest.param(Nature(slips=0.5), "flips", marks=pytest.mark.slow),
    ],
)
def test_a_judge_that_is_another_in_one_language_is_found(nature: Nature, key: str) -> None:
    # A fifth of the battles is judged twice, so that changed verdicts take more of them.
    videos = 80 if key == "flips" else 40
    found = raised(3, videos=videos, languages={"en": FAIR, "de": nature})
    assert found[f"language.{key}_gap.de"] == 3
