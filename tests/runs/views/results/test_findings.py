"""What is said of judges, of people, of categories: each number is a figure beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import draw_folder
from tests.support.played import invoke
from tests.support.quoted import misquoting, numbers, without_names
from tests.support.seasons import FAIR, Nature, Season
from tests.support.small_runs import play
from videoautoarena.runs.analysis.audit.checks import with_checks
from videoautoarena.runs.analysis.audit.rejudge import (
    Confusion,
    CorrelationBounds,
    Figures,
    Ranked,
    Rejudged,
    RejudgedBoards,
)
from videoautoarena.runs.analysis.audit.rejudge import RejudgeReport as Views
from videoautoarena.runs.analysis.audit.report import AuditReport, find_all
from videoautoarena.runs.analysis.categories.figures import CategoryReport, Count, Group, Place
from videoautoarena.runs.rating.finding import UNKNOWN, Figure, Finding
from videoautoarena.runs.rating.method import BattleTotals
from videoautoarena.runs.views.results.audit import audit_report, rejudged_reports
from videoautoarena.runs.views.results.categories import categories_report
from videoautoarena.runs.views.results.forms import as_text
from videoautoarena.runs.views.results.remarks import audit_sentences, findings_said
from videoautoarena.runs.views.results.report import Quote, Report

EVIL = "x 77 {n}\x1b[2J"
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 2000)


Judged = tuple[int, int, Nature, bool, bool]
NATURES = st.builds(
    Nature,
    seat=st.sampled_from([0.0, 2.0]),
    length=st.sampled_from([0.0, 2.0]),
    sees=st.sampled_from([0.0, 0.9]),
    mishaps=st.sampled_from([0.0, 0.2]),
)
JUDGED = st.tuples(COUNTS, st.integers(1, 4), NATURES, st.booleans(), st.booleans())
"""Runs of a judge that is fair or not, alone or in a panel, in a language or two."""


def found_in(judged: Judged) -> list[Finding]:
    """Return what an audit finds of a judge."""
    seed, videos, nature, is_panel, is_spoken = judged
    spoken = {"en": FAIR, "de": nature} if is_spoken else None
    season = Season(seed, videos, nature, panel=is_panel, languages=spoken)
    return with_checks(find_all(season.audited()))


def report_of(found: Iterable[Finding]) -> AuditReport:
    return AuditReport(
        {"judge": "judge", EVIL: "y"}, BattleTotals(12, 9, 2, 1, 1, 2), False, [EVIL], list(found)
    )


def shown(record: dict[str, Any]) -> str:
    """Return a share and its interval as its JSON record has them, by a rule of its own."""
    is_gap = "excess." in record["key"] or "_ga" in record["key"]
    texts = [f"{100 * record[key]:{'+' * is_gap}.1f}" for key in ("value", "low", "high")]
    value, low, high = (text.replace("-0.0", "+0.0" if is_gap else "0.0") for text in texts)
    return f"{value}{'' if is_gap else ' %'} ({low} to {high})"


def misquoted(found: list[Finding]) -> list[str]:
    """Return what the sentences and lists of findings say otherwise than their records."""
    wrong = []
    for one in found:
        record = one.to_json()
        assert one.check is not None
        is_share = one.check.unit == "share" and not one.key.startswith("frames.")
        if is_share and record["value"] is not None:
            needed = [shown(record), *([f"{one.n:,} "] if "{n" in one.words else [])]
            wrong += [one.sentence for text in needed if text not in record["sentence"]]
    report = audit_report(report_of(found))
    lists = (table for table in report.tables if table.is_list)
    lines = [str(row["line"]) for table in lists for row in table.rows]
    known = {n for one in found for n in numbers(one.sentence)} | {"95"}
    wrong += [line for line in lines if not known.issuperset(numbers(line))]
    return [*wrong, *misquoting(report)]


@settings(max_examples=8, deadline=None)
@given(JUDGED)
def test_what_an_audit_says_are_the_figures_of_its_findings(
    judged: Judged,
) -> None:
    found = found_in(judged)
    assert misquoted(found) == []
    report = audit_report(report_of(found))
    assert [one.text for one in report.sentences] == [one.sentence for one in found]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(JUDGED)
def test_so_it_is_for_many_audits(judged: Judged) -> None:
    found = found_in(judged)
    assert misquoted(found) == []
    report = audit_report(report_of(found))
    assert [one.text for one in report.sentences] == [one.sentence for one in found]


def test_the_line_under_a_leaderboard_says_on_how_many_videos_a_share_stands() -> None:
    found = find_all(Season(1, 5, FAIR).audited())
    (line,) = (one for one in audit_sentences(found) if one.role == "more")
    voids = next(one for one in found if one.key == "verdicts.voids")
    assert f"void battles {shown(voids.to_json())} of 45 on 5 videos" in line.text
    assert misquoting(Report((), (line,))) == []


def test_an_alarm_says_the_same_everywhere_and_quotes_its_figures() -> None:
    given = find_all(Season(1, 5, FAIR).audited())
    found = [replace(one, is_alarm=True) for one in given if one.key == "seats.first"]
    (alarm,) = audit_sentences(found)
    assert alarm.text == f"AUDIT ALARM: {found[0].sentence}"
    quoted = [part for part in alarm.parts if isinstance(part, Quote)]
    assert [quote.text for quote in quoted] == [shown(found[0].to_json()), str(found[0].n), "5"]
    assert f"- ALARM: {found[0].sentence[:30]}" in as_text(audit_report(report_of(found)))


def test_a_name_in_a_finding_is_text_and_no_place_for_a_figure() -> None:
    words = "{judge} was wrong in {figure} of {n:battle} on {videos:video}."
    found = Finding("a.b", 0.25, 0.1, 0.5, 1200, words, told={"judge": EVIL}, videos=1)
    said = "x 77 {n}[2J was wrong in 25.0 % (10.0 to 50.0) of 1,200 battles on 1 video."
    assert found.sentence.replace("\\x1b", "").replace("\ufffd", "") == said
    (told,) = findings_said([found])[1]
    assert told.text == found.sentence
    assert numbers(without_names(told)) == ["25.0", "10.0", "50.0", "1,200", "1"]


def test_words_with_a_number_of_their_own_are_no_sentence() -> None:
    with pytest.raises(ValueError, match="quotes its figures"):
        findings_said([Finding("a.b", 0.25, 0.1, 0.5, 4, "In 3 of 4 battles.")])


figures = st.builds(
    lambda ends, n: Figure(ends[1], ends[0], ends[2], n),
    st.tuples(SHARES, SHARES, SHARES).map(sorted),
    st.integers(1, 3000),
) | st.just(UNKNOWN)
ratings = st.floats(-3000, 3000)
ranked = st.builds(
    Ranked,
    *(st.just("hawk"), ratings, ratings, ratings, st.none() | st.integers(1, 9)),
    *(ratings, ratings, ratings, st.none() | st.integers(1, 9)),
)
bounds = st.builds(CorrelationBounds, SHARES, SHARES, SHARES) | st.just(
    CorrelationBounds(None, None, None)
)
rejudged = st.builds(
    Rejudged,
    *(st.just(EVIL), st.none(), COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
    *(figures, figures, st.builds(Figures, figures, figures), figures),
    st.just(Confusion(("a", "b", "tie"), ((1, 2, 3), (4, 5, 6), (7, 8, 9)))),
    st.builds(RejudgedBoards, bounds, bounds, st.lists(ranked, max_size=3)),
)


@settings(max_examples=25, deadline=None)
@given(rejudged)
def test_what_is_said_of_another_judge_are_its_figures(judge: Rejudged) -> None:
    (report,) = rejudged_reports(Views({"judges": ["j"]}, [EVIL], [judge]))
    assert misquoting(report) == []
    record = judge.to_json()
    assert report.above[1].text == record["sentence"]
    if judge.battles and judge.agreement.value is not None:
        assert shown({"key": "", **record["agreement"]}) in record["sentence"]
        if judge.longer_answer.value is not None:
            longer = shown({"key": "", **record["longer_answer"]})
            assert record["sentence"].endswith(f"{longer} of {judge.longer_answer.n:,}.")
    assert all(line.isprintable() for line in as_text(report).splitlines())


@st.composite
def categories(draw: st.DrawFn) -> CategoryReport:
    """The categories of a run of three models."""
    names = ["counting", "causes", "none of these"]
    counts = [Count(name, draw(COUNTS), draw(COUNTS), draw(figures)) for name in names]
    places = tuple(
        Place(name, 1.0, None, None, k, 1.0, k, draw(st.none() | st.integers(-3, 3)), 4, k == 1)
        for k, name in enumerate(("hawk", EVIL, "mole"))
    )
    groups = tuple(Group(name, draw(COUNTS), draw(figures), True, places) for name in names[:2])
    tagged = draw(COUNTS)
    overlap = ((draw(COUNTS), draw(COUNTS)), (0, 0))
    whole = draw(COUNTS) + tagged
    return CategoryReport(EVIL, "m", whole, tagged, tuple(counts), overlap, groups, groups)


@settings(max_examples=15, deadline=None)
@given(categories())
def test_what_is_said_of_categories_is_in_their_tables(found: CategoryReport) -> None:
    report = categories_report(found)
    assert misquoting(report) == []
    text = as_text(report)
    assert all(line.isprintable() for line in text.splitlines())
    for one in found.counts:
        if one.share.value is not None:
            assert shown({"key": "", **one.share._asdict()}).replace(" %", "") in text


def test_what_a_played_run_says_of_its_judges_is_in_the_figures_it_exports(tmp_path: Path) -> None:
    videos = draw_folder(tmp_path / "videos", 2, seconds=2.5)
    models = ("offline:hawk", "offline:parrot", "offline:blind")
    play(videos, tmp_path / "out", models=models, swap="all", rounds=1)
    record = json.loads(invoke("audit", tmp_path / "out", "--json").stdout)
    text = " ".join(invoke("audit", tmp_path / "out").stdout.split())
    for one in record["findings"]:
        assert one["sentence"] in text
        if one["key"].startswith(("verdicts.", "seats.", "length.")) and one["value"] is not None:
            assert shown(one) in one["sentence"]
            assert f"on {one['videos']} video" in one["sentence"]
