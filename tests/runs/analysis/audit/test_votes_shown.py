"""What `labels show` says of votes, of agreement by standard, and of ranked questions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, play, slot, video
from tests.support.quoted import misquoting
from videoautoarena.memory.store.evidence import (
    BattleVote,
    CastVote,
    LabelSample,
    RankedQuestion,
    RankingVote,
)
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.human_agreement import show_labels
from videoautoarena.runs.analysis.audit.label_sample import drawn_order
from videoautoarena.runs.rating.question_ranking import rank_sources
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.views.results.audit import labels_report

FILMS = [video(f"clip {k}".encode(), path=f"clip{k}.mp4") for k in range(4)]
IDS = [slot(film, 0).id for film in FILMS]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return play(tmp_path / "out", [battle(slot(film, 0)) for film in FILMS], videos=FILMS)


def vote(id_: str, labeller: str, verdict: str | None, **more: Any) -> BattleVote:
    said = {"battle": id_, "labeller": labeller, "verdict": verdict, "first": "a", **more}
    return BattleVote.model_validate(said)


def ranking(video_id: str, ranks: tuple[int, ...] | None, *, who: str = "anna") -> RankingVote:
    sources = ("this run", "old", "older")[: len(ranks or (1, 2))]
    posed = tuple(RankedQuestion(source=source, text=f"{source}?") for source in sources)
    return RankingVote(video=video_id, labeller=who, questions=posed, ranks=ranks)


def cast(out: Path, *votes: BattleVote | RankingVote, back: BattleVote | None = None) -> None:
    async def put() -> None:
        with Store.open(out / "run.sqlite", write=True) as store:
            for one in votes:
                await store.evidence.votes.put(one)
            if back is not None:
                await store.evidence.votes.withdraw(back)

    asyncio.run(put())


def shown(out: Path) -> Any:
    return json.loads(invoke("labels", "show", out, "--json").stdout)


def findings(out: Path) -> dict[str, Any]:
    return {found["key"]: found for found in shown(out)["findings"]}


def test_votes_are_counted_with_what_was_skipped_taken_back_and_named(run: Path) -> None:
    taken = vote(IDS[2], "anna", "b", named=("a",))
    others = [
        vote(IDS[0], "anna", "a", named=("a", "b")),
        vote(IDS[1], "anna", None),
        vote(IDS[0], "mara", "tie_bad", named=("a", "b")),
        vote(IDS[1], "tom", None),
    ]
    cast(run, taken, *others, back=taken)
    found = shown(run)
    assert found["labels"] == 2
    assert found["votes"] == {"cast": 5, "skipped": 2, "superseded": 1, "named": 1}
    rows = [
        (row["labeller"], row["labels"], row["skipped"], row["superseded"])
        for row in found["labellers"]
    ]
    assert rows == [("anna", 1, 1, 1), ("mara", 1, 0, 0), ("tom", 0, 1, 0)]
    text = invoke("labels", "show", run).stdout
    assert "2 labels of 1 battle by 2 people." in text
    assert "5 votes cast in sessions: 2 could not tell, 1 taken back." in text
    assert "In 1 battle an answer may name its maker." in text


def test_two_people_are_compared_by_each_standard_that_both_voted_on(run: Path) -> None:
    words = [("a", "a"), ("a", "tie_good"), ("tie_good", "tie_bad"), ("b", None)]
    said = []
    for id_, (one, other) in zip(IDS, words, strict=True):
        for who, word in (("anna", one), ("mara", other)):
            standards = {} if word is None else {"accuracy": word}
            said.append(vote(id_, who, "a", standards=standards))
    cast(run, *said)
    found = findings(run)["labels.people_accuracy"]
    # Both kinds of tie are one: they agree on the first and the third of three.
    assert (found["value"], found["n"]) == (pytest.approx(2 / 3), 3)
    assert findings(run)["labels.people"]["n"] == 4
    assert "labels.people_relevance" not in findings(run)


def test_shares_of_places_by_source_worked_by_hand(run: Path) -> None:
    said = [
        ranking(FILMS[0].id, (1, 2, 3)),
        ranking(FILMS[1].id, (2, 1, 3)),
        ranking(FILMS[2].id, (1, 2)),
        ranking(FILMS[0].id, (1, 3, 2), who="mara"),
        ranking(FILMS[3].id, None),
    ]
    cast(run, *said)
    found = shown(run)["ranking"]
    assert {k: found[k] for k in ("rankings", "videos", "skipped", "superseded")} == {
        **{"rankings": 4, "videos": 3, "skipped": 1, "superseded": 0}
    }
    values = {
        row["source"]: (row["n"], [place["value"] for place in row["places"]])
        for row in found["sources"]
    }
    assert values == {
        "this run": (4, [0.75, 0.25, 0.0]),
        "old": (4, [0.25, 0.5, 0.25]),
        "older": (3, pytest.approx([0.0, 1 / 3, 2 / 3], abs=1e-6)),
    }
    assert [row["source"] for row in found["sources"]] == ["this run", "old", "older"]
    for row in found["sources"]:
        for place in row["places"]:
            assert place["low"] <= place["value"] <= place["high"]
    text = invoke("labels", "show", run).stdout
    assert "Questions: 4 rankings on 3 videos; 1 could not be ranked." in text
    with open_run(run) as opened:
        assert misquoting(labels_report(show_labels(opened))) == []
    assert "this run" in text


def test_rankings_of_one_video_are_not_taken_for_independent() -> None:
    one_video = [CastVote(ranking("v", (1, 2), who=f"p{k}"), False) for k in range(8)]
    apart = [CastVote(ranking(f"v{k}", (1, 2)), False) for k in range(8)]
    narrow = rank_sources(apart)
    wide = rank_sources(one_video)
    assert narrow is not None
    assert wide is not None
    assert (wide.sources[0].places[0].low, wide.sources[0].places[0].high) == (0.0, 1.0)
    assert narrow.sources[0].places[0].low > 0.5


def test_rankings_that_were_taken_back_count_for_nothing() -> None:
    found = rank_sources([CastVote(ranking("v", (2, 1)), True)])
    assert found is not None
    assert (found.rankings, found.superseded, found.sources) == (0, 1, ())
    assert rank_sources([]) is None


def test_draws_follow_one_another_and_strata_take_turns_by_size() -> None:
    def sample(of: str, drawn: str) -> LabelSample:
        return LabelSample(seed=0, of=tuple(of), chance=0.5, drawn=tuple(drawn))

    assert drawn_order([sample("abcdef", "fa"), sample("abcdefg", "gb")]) == list("fagb")
    strata = [sample("abcdefgh", "hgfe"), sample("xyz", "yz")]
    assert drawn_order(strata) == ["h", "y", "g", "f", "z", "e"]
    assert drawn_order([*strata, sample("abcdefghxyz", "x")])[-1] == "x"
    assert drawn_order([]) == []
