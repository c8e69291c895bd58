"""Questions on one video that people rank without knowing where they come from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.annotated import annotating, rankings, votes
from tests.support.played import battle, call, play, slot, video
from tests.support.votes import written
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Nonce
from videoautoarena.memory.store.evidence import RankedQuestion
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.runs.serve.annotate.questions import question_sets, read_questions

ACCOUNT = "A cook dices an onion; <b>nobody</b> speaks."
COLUMNS = ["video", "question", "source"]
FILMS = [video(f"clip {k}".encode(), path=f"shelf/clip{k}.mp4") for k in range(3)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run over three videos, of which the first was described twice, once past repair."""
    said = json.dumps({"account": ACCOUNT, "category": "other", "scenes": []})
    nonce = Nonce(scope=FILMS[0].id, role="examiner")
    calls = [
        call(FILMS[0].id, nonce=nonce, reply=said),
        call(FILMS[0].id, nonce=nonce.model_copy(update={"ordinal": 1}), reply="{no JSON"),
    ]
    battles = [battle(slot(film, k)) for film in FILMS for k in range(2)]
    return play(tmp_path / "out", battles, videos=FILMS, calls=calls)


def others(tmp_path: Path, *rows: tuple[object, ...], name: str = "others.csv") -> Path:
    return written(tmp_path / name, rows, COLUMNS)


def held(work: Any) -> Any:
    return asyncio.run(work)


def test_a_ranking_is_kept_with_what_was_shown_and_in_which_order(
    tmp_path: Path, run: Path
) -> None:
    file = others(
        tmp_path, ("clip0.mp4", "How many cooks?", "old bench"), ("clip0", "Why?", "new bench")
    )

    async def session() -> Any:
        async with annotating(run, number=0, against=(file,)) as (anna,):
            first = await anna.state("ranking")
            return first, await anna.rank([2, 3, 1], note="the pan")

    first, after = held(session())
    (cast,) = rankings(run)
    assert [posed.text for posed in cast.vote.questions] == first["item"]["questions"]
    assert {posed.source for posed in cast.vote.questions} == {"this run", "old bench", "new bench"}
    assert (cast.vote.ranks, cast.vote.note, cast.vote.video) == ((2, 3, 1), "the pan", FILMS[0].id)
    assert first["item"]["account"] == ACCOUNT
    assert "bench" not in json.dumps(first)
    assert "this run" not in json.dumps(first)
    assert after["item"] is None
    assert after["tasks"]["ranking"] == {"done": 1, "skipped": 0, "total": 1}
    assert votes(run) == []


def test_undo_skip_and_resume_of_rankings(tmp_path: Path, run: Path) -> None:
    file = others(tmp_path, *((film.id, f"What of {k}?", "x") for k, film in enumerate(FILMS)))

    async def session(skips: int) -> Any:
        async with annotating(run, number=0, against=(file,)) as (anna,):
            before = await anna.state("ranking")
            for _ in range(skips):
                await anna.rank(None)
            await anna.undo("ranking")
            await anna.rank([1, 2])
            return before

    assert held(session(2))["tasks"]["ranking"]["done"] == 0
    assert held(session(1))["tasks"]["ranking"] == {"done": 2, "skipped": 1, "total": 3}
    marks = [(cast.vote.ranks, cast.is_superseded) for cast in rankings(run)]
    assert marks == [
        *((None, False), (None, True), ((1, 2), False)),
        *((None, True), ((1, 2), False)),
    ]


def test_ranks_are_1_to_k_each_once(tmp_path: Path, run: Path) -> None:
    file = others(tmp_path, ("clip0", "Why?", "x"))
    wrong: list[Any] = [[1], [1, 1], [0, 1], [1, 2, 3], [2, 3], ["1", "2"], 1]

    async def session() -> list[int]:
        statuses = []
        async with annotating(run, number=0, against=(file,)) as (anna,):
            for ranks in wrong:
                await anna.rank(ranks)
                statuses.append(anna.heard[-1].status)
        return statuses

    assert held(session()) == [400] * 7
    assert rankings(run) == []


def test_the_order_shown_is_drawn_for_each_labeller_and_stays(tmp_path: Path, run: Path) -> None:
    file = others(tmp_path, *(("clip0", f"{k}?", f"bench {k}") for k in range(3)))

    async def session() -> list[list[str]]:
        names = [f"p{k}" for k in range(8)]
        async with annotating(run, *names, number=0, against=(file,)) as people:
            return [(await one.state("ranking"))["item"]["questions"] for one in people]

    first = held(session())
    assert held(session()) == first
    assert len({tuple(order) for order in first}) > 3
    assert len({tuple(sorted(order)) for order in first}) == 1


def test_each_source_has_one_question_a_video_and_at_most_four_are_shown(
    tmp_path: Path, run: Path
) -> None:
    rows = [(film.path, f"{s} {q}?", f"s{s}") for film in FILMS for s in range(6) for q in range(3)]
    with open_run(run) as opened:
        given = read_questions([others(tmp_path, *rows)], opened.store.videos())
        found = question_sets(opened, given.questions, seed=5)
        assert question_sets(opened, given.questions, seed=5) == found
    assert {one.video for one in found} == {film.id for film in FILMS}
    for one in found:
        sources = [posed.source for posed in one.questions]
        assert len(set(sources)) == len(sources) == 4
        assert "this run" in sources


def test_videos_with_one_source_alone_are_left_out(tmp_path: Path) -> None:
    battles = [battle(slot(FILMS[0], 0)), battle(slot(FILMS[1], 0), verdict="void", reason="x")]
    out = play(tmp_path / "out", battles, videos=FILMS[:2])
    with open_run(out) as opened:
        given = {FILMS[0].id: [RankedQuestion(source="x", text="?")], FILMS[1].id: []}
        given[FILMS[1].id].append(RankedQuestion(source="x", text="?"))
        assert [one.video for one in question_sets(opened, given, seed=0)] == [FILMS[0].id]


def test_questions_are_read_by_id_path_or_name_from_csv_and_json_lines(tmp_path: Path) -> None:
    rows = [(FILMS[0].id, "a?", "x"), (FILMS[0].path, "b?", "x"), ("nowhere.mp4", "c?", "x")]
    file = tmp_path / "more.jsonl"
    file.write_text(json.dumps(dict(zip(COLUMNS, ("clip1", "d?", "y"), strict=True))) + "\n")
    given = read_questions([others(tmp_path, *rows), file], FILMS)
    assert {video: [one.text for one in posed] for video, posed in given.questions.items()} == {
        FILMS[0].id: ["a?", "b?"],
        FILMS[1].id: ["d?"],
    }
    assert given.strange == 1


def test_a_name_that_several_videos_have_is_refused_and_their_paths_are_not(
    tmp_path: Path,
) -> None:
    twins = [FILMS[n].model_copy(update={"path": f"day{n}/clip.mp4"}) for n in range(2)]
    given = read_questions([others(tmp_path, ("day1/clip.mp4", "a?", "x"))], twins)
    assert list(given.questions) == [twins[1].id]
    with pytest.raises(BadInput, match="the name of 2 videos of this run; write the path of one"):
        read_questions([others(tmp_path, ("clip.mp4", "a?", "x"))], twins)


@pytest.mark.parametrize(
    ("rows", "columns", "why"),
    [
        ([("clip0", "a?")], ["video", "question"], "has no column source"),
        ([("clip0", "", "x")], COLUMNS, "row 1: question is missing"),
        ([("clip0", "a?", "This run")], COLUMNS, 'source cannot be "this run"'),
        ([("elsewhere", "a?", "x")], COLUMNS, "has no question on a video of this run"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    tmp_path: Path, rows: list[tuple[object, ...]], columns: list[str], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        read_questions([written(tmp_path / "x.csv", rows, columns)], FILMS)


def test_without_two_sources_there_is_nothing_to_rank(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(FILMS[0], 0))], videos=FILMS)

    async def session() -> None:
        async with annotating(out, against=(others(tmp_path, ("clip1", "a?", "x")),)):
            pass

    with pytest.raises(BadInput, match="no video has questions from two sources"):
        held(session())


def test_half_a_character_in_a_file_and_hostile_sources_do_no_harm(
    tmp_path: Path, run: Path
) -> None:
    file = tmp_path / "x.jsonl"
    row = {"video": "clip0", "question": "</script>\ud800\u202e?", "source": "<img onerror=x>"}
    file.write_text(json.dumps(row) + "\n")

    async def session() -> Any:
        async with annotating(run, number=0, against=(file,)) as (anna,):
            item = (await anna.state("ranking"))["item"]
            await anna.rank([2, 1])
            return item["questions"]

    assert row["question"] in held(session())
    (cast,) = rankings(run)
    assert row["source"] in {posed.source for posed in cast.vote.questions}
