"""Battles that people vote on: blinded, one at a time, and in the run before the next is shown."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.annotated import annotating, votes
from tests.support.labelled import rows, season
from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.evidence import Label
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.label_import import import_labels
from videoautoarena.runs.analysis.audit.label_sample import draw_sample
from videoautoarena.runs.serve.annotate.battles import first_shown


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played") / "out"
    season(out, videos=10, rounds=4)
    return out


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "out")


def labels(out: Path) -> list[Label]:
    with Store.open(out / "run.sqlite", write=False) as store:
        return store.evidence.labels()


def drawn(out: Path) -> list[str]:
    with Store.open(out / "run.sqlite", write=False) as store:
        return [id_ for sample in store.evidence.samples() for id_ in sample.drawn]


def held(work: Any) -> Any:
    return asyncio.run(work)


def test_a_vote_becomes_a_label_in_terms_of_the_run(tmp_path: Path) -> None:
    # Of these battles mara is shown some as the run seats them and some the other way round.
    film = video()
    out = play(tmp_path / "out", [battle(slot(film, k)) for k in range(8)])
    ids = [slot(film, k).id for k in range(8)]
    firsts = {id_: first_shown(7, "mara", id_) for id_ in ids}
    assert set(firsts.values()) == {"a", "b"}

    async def session() -> dict[str, str]:
        shown = {}
        async with annotating(out, "mara") as (mara,):
            for id_ in drawn(out):
                item = (await mara.state())["item"]
                shown[id_] = item["answers"][0]["text"]
                await mara.vote("a", standards={"accuracy": "b"}, note=" seen twice ")
        return shown

    shown = held(session())
    texts = {"a": "An onion, diced, from second 3 on.", "b": "A carrot."}
    assert shown == {id_: texts[firsts[id_]] for id_ in drawn(out)}
    for label in labels(out):
        first = firsts[label.battle]
        assert label.verdict == first
        assert label.standards == {"accuracy": "b" if first == "a" else "a"}
    assert [(cast.vote.first, cast.vote.note) for cast in votes(out)] == [
        (firsts[id_], "seen twice") for id_ in drawn(out)
    ]


def test_both_good_both_bad_and_cannot_tell(run: Path) -> None:
    async def session() -> Any:
        async with annotating(run) as (anna,):
            for count, verdict in enumerate(("tie_good", "tie_bad", "skip"), 1):
                state = await anna.vote(verdict)
                # What was answered is in the run by then, whatever becomes of the session.
                assert len(votes(run)) == count
            return state

    state = held(session())
    assert [cast.vote.verdict for cast in votes(run)] == ["tie_good", "tie_bad", None]
    assert [label.verdict for label in labels(run)] == ["tie_good", "tie_bad"]
    assert state["tasks"]["battle"] == {"done": 3, "skipped": 1, "total": 40}


def test_battles_come_in_drawn_order_those_of_earlier_draws_first(
    tmp_path: Path, run: Path
) -> None:
    draw_sample(run, tmp_path / "x.csv", number=5, seed=3)
    earlier = drawn(run)

    async def session() -> None:
        async with annotating(run, number=12) as (anna,):
            for _ in range(12):
                await anna.vote()
            assert (await anna.state())["item"] is None

    held(session())
    assert len(drawn(run)) == 12
    assert [cast.vote.battle for cast in votes(run)] == drawn(run)
    assert drawn(run)[:5] == earlier


def test_a_second_start_draws_nothing_and_goes_on_where_the_first_ended(run: Path) -> None:
    async def session(count: int) -> Any:
        async with annotating(run, number=9) as (anna,):
            state = await anna.state()
            for _ in range(count):
                await anna.vote()
            return state["tasks"]["battle"]["done"]

    assert held(session(4)) == 0
    first = drawn(run)
    assert held(session(5)) == 4
    assert drawn(run) == first
    assert [cast.vote.battle for cast in votes(run)] == first


def test_reloading_shows_the_same_battle_with_the_same_sides(run: Path) -> None:
    async def session() -> list[Any]:
        async with annotating(run) as (anna,):
            return [await anna.state() for _ in range(3)]

    first, *others = held(session())
    assert others == [first, first]
    again = held(session())[0]
    assert again["item"] == first["item"]
    assert again["ticket"] != first["ticket"]


def test_undo_takes_back_the_last_vote_which_stays_on_record(run: Path) -> None:
    async def session() -> list[Any]:
        async with annotating(run) as (anna,):
            first = (await anna.state())["item"]
            await anna.vote("a")
            undone = await anna.undo()
            assert undone["item"] == first
            assert not undone["can_undo"]
            await anna.vote("tie_bad")
            second = await anna.vote("b")
            return [second, await anna.undo()]

    before, after = held(session())
    assert before["tasks"]["battle"]["done"] == 2
    assert after["tasks"]["battle"]["done"] == 1
    assert [cast.is_superseded for cast in votes(run)] == [True, False, True]
    assert [label.verdict for label in labels(run)] == ["tie_bad"]


def test_a_vote_sent_twice_counts_once(run: Path) -> None:
    async def session() -> list[int]:
        async with annotating(run) as (anna,):
            body = {"ticket": (await anna.state())["ticket"], "verdict": "a"}
            answers = await asyncio.gather(
                *(anna.ask("/api/annotate/battle/vote", body) for _ in range(4))
            )
            # Also when the battle has come back meanwhile.
            await anna.undo()
            late = await anna.ask("/api/annotate/battle/vote", body)
            return sorted([answer.status for answer in (*answers, late)])

    assert held(session()) == [200, 409, 409, 409, 409]
    assert [cast.is_superseded for cast in votes(run)] == [True]


def test_an_undo_sent_twice_takes_back_one_vote(run: Path) -> None:
    async def session() -> list[int]:
        async with annotating(run) as (anna,):
            await anna.vote()
            await anna.vote()
            body = {"ticket": (await anna.state())["ticket"]}
            answers = [await anna.ask("/api/annotate/battle/undo", body) for _ in range(2)]
            return [answer.status for answer in answers]

    assert held(session()) == [200, 409]
    assert [cast.is_superseded for cast in votes(run)] == [False, True]


def test_two_labellers_vote_on_the_same_battles_without_a_word_of_each_other(run: Path) -> None:
    async def session() -> None:
        async with annotating(run, "anna", "mara", number=6) as (anna, mara):
            for _ in range(6):
                await anna.vote("tie_good")
            assert (await mara.state())["tasks"]["battle"]["done"] == 0
            assert (await mara.state())["labeller"] == "mara"
            for _ in range(4):
                await mara.vote("tie_bad")
            await anna.undo()
            assert (await mara.state())["tasks"]["battle"]["done"] == 4

    held(session())
    mine = {
        name: [cast.vote.battle for cast in votes(run) if cast.vote.labeller == name]
        for name in ("anna", "mara")
    }
    assert mine["anna"][:4] == mine["mara"] == drawn(run)[:4]


def test_sides_are_drawn_for_each_labeller_and_battle(run: Path) -> None:
    ids = [f"v-p1-r{k}" for k in range(400)]
    turned = [first_shown(7, "anna", id_) == "b" for id_ in ids]
    assert 150 < sum(turned) < 250
    assert turned != [first_shown(7, "mara", id_) == "b" for id_ in ids]


def test_what_is_no_vote_is_refused_and_changes_nothing(run: Path) -> None:
    async def session() -> list[int]:
        async with annotating(run) as (anna,):
            ticket = (await anna.state())["ticket"]
            vote = {"ticket": ticket, "verdict": "a"}
            bodies: list[Any] = [
                b"",
                b"[]",
                b"\xff",
                {"ticket": ticket},
                {**vote, "verdict": "void"},
                {**vote, "battle": "v-p1-r0"},
                {**vote, "standards": {"beauty": "a"}},
                {**vote, "standards": {"accuracy": "tie"}},
                {**vote, "note": "x" * 2001},
                {**vote, "note": ["x"]},
                {**vote, "ticket": 7},
            ]
            statuses = [(await anna.ask("/api/annotate/battle/vote", b)).status for b in bodies]
            assert (await anna.state())["ticket"] == ticket
            return statuses

    assert held(session()) == [400] * 11
    assert votes(run) == []


def test_nothing_but_the_battle_that_is_out_can_be_asked_for(run: Path) -> None:
    async def session() -> list[int]:
        async with annotating(run) as (anna,):
            old = (await anna.state())["ticket"]
            await anna.vote()
            id_ = drawn(run)[0]
            paths = [
                f"/api/annotate/battle/video/{old}",
                f"/api/annotate/battle/frame/{old}/0",
                f"/api/annotate/battle/video/{id_}",
                "/api/annotate/battles",
                f"/api/annotate/battle/{id_}",
                "/api/summary",
            ]
            return [(await anna.ask(path)).status for path in paths]

    assert held(session()) == [404] * 6


def test_nobody_labels_without_a_link(run: Path) -> None:
    async def session() -> list[int]:
        async with annotating(run) as (anna,):
            ticket = (await anna.state())["ticket"]
            anna.visitor.cookie = ""
            body = {"ticket": ticket, "verdict": "a"}
            return [
                (await anna.ask("/api/annotate/battle")).status,
                (await anna.ask("/api/annotate/battle/vote", body)).status,
            ]

    assert held(session()) == [403, 403]
    assert votes(run) == []


def test_files_and_votes_of_one_labeller_do_not_contradict_silently(
    tmp_path: Path, run: Path
) -> None:
    draw_sample(run, tmp_path / "x.csv", number=4)
    first, second, third, _ = drawn(run)
    import_labels(run, rows(tmp_path / "l.csv", (first, "anna", "a"), (second, "mara", "a")))

    async def session() -> Any:
        async with annotating(run, number=4) as (anna,):
            before = (await anna.state())["tasks"]["battle"]
            await anna.vote("tie_good")
            await anna.vote("skip")
            return before

    # What anna said in a file is not asked again; what mara said is.
    assert held(session()) == {"done": 1, "skipped": 0, "total": 4}
    assert [cast.vote.battle for cast in votes(run)] == [second, third]
    with pytest.raises(BadInput, match=r"labelled .* as tie_good before, and as a now"):
        import_labels(run, rows(tmp_path / "m.csv", (second, "anna", "a")))
    same = import_labels(run, rows(tmp_path / "n.csv", (second, "anna", "tie_good")))
    assert same.known == 1
    # Who could not tell may say it in a file later on.
    import_labels(run, rows(tmp_path / "o.csv", (third, "anna", "b")))
    assert [(of.battle, of.labeller, of.verdict) for of in labels(run)] == [
        (first, "anna", "a"),
        (second, "mara", "a"),
        (third, "anna", "b"),
        (second, "anna", "tie_good"),
    ]


def test_votes_on_a_draw_rate_on_the_scale_of_people(tmp_path: Path) -> None:
    words = season(tmp_path / "out", videos=12, rounds=5)
    out = tmp_path / "out"

    async def session() -> None:
        async with annotating(out, number=45) as (anna,):
            for id_ in drawn(out):
                word = words[id_]
                if word in ("a", "b"):
                    word = "a" if word == first_shown(7, "anna", id_) else "b"
                await anna.vote(word)

    held(session())
    assert {of.battle: of.verdict for of in labels(out)} == {id_: words[id_] for id_ in drawn(out)}
    board = json.loads(invoke("leaderboard", out, "--labels", "--json").stdout)
    assert board["settings"]["labels"]["random"] == "drawn"
    assert board["settings"]["labels"]["battles"] == 45
