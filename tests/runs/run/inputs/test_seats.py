"""Users are drawn evenly, sit where the file wants them, and once a draw is made it stays."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.runfiles import video
from videoautoarena.graph.slot_ids import PERSONAS
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.run.inputs.users import (
    BroughtUser,
    Seated,
    UserFile,
    keep_seats,
    repeated_users,
    seats,
    seats_of,
    users_text,
)

FILMS = [video(f"{number}.mp4") for number in range(12)]


def users(*told: dict[str, Any]) -> UserFile:
    brought = [
        BroughtUser(line=line, **{"text": f"user {line}", **one}) for line, one in enumerate(told)
    ]
    return UserFile(name="users.jsonl", sha256="0" * 64, users=tuple(brought))


def lines(seated: dict[str, Seated], film: int) -> dict[int, int]:
    return {place: user.line for place, user in seated[FILMS[film].id].users.items()}


ONE = st.fixed_dictionaries(
    {"video": st.none() | st.sampled_from([film.id for film in FILMS])},
    optional={"index": st.none() | st.sampled_from(PERSONAS)},
)


@settings(max_examples=25)
@given(st.lists(ONE, max_size=30), st.integers(0, 9), st.integers(1, 12))
def test_each_place_has_one_user_that_belongs_there(
    told: list[dict[str, Any]], seed: int, count: int
) -> None:
    crowd = Counter[Any]()
    fair = []
    for one in told:
        # What reading refuses: four of a video, or two of one index.
        crowd[one["video"]] += 1
        index = one.get("index")
        crowd[one["video"], index] += 1
        if one["video"] is None or (
            crowd[one["video"]] <= 3 and (index is None or crowd[one["video"], index] < 2)
        ):
            fair.append(one)
    found = dict(seats(users(*fair), FILMS[:count], seed=seed))
    assert list(found) == [film.id for film in FILMS[:count]]
    for film, seated in found.items():
        texts = [user.text for user in seated.users.values()]
        assert len(texts) == len(set(texts))
        for place, user in seated.users.items():
            assert user.index in (None, place)
            assert user.video in (None, film)
        bound = {line for line, one in enumerate(fair) if one["video"] == film}
        assert bound <= {user.line for user in seated.users.values()}


@settings(max_examples=25)
@given(st.integers(1, 40), st.integers(0, 9))
def test_users_that_may_sit_anywhere_are_drawn_equally_often(count: int, seed: int) -> None:
    found = dict(seats(users(*[{}] * count), FILMS, seed=seed))
    times = Counter(user.line for one in found.values() for user in one.users.values())
    assert sum(times.values()) == min(count, 3) * len(FILMS)
    drawn = [times[line] for line in range(count)]
    assert max(drawn) - min(drawn) <= 1


@settings(max_examples=25)
@given(st.integers(0, 11), st.integers(1, 20))
def test_videos_that_come_later_go_on_where_the_draw_ended(first: int, count: int) -> None:
    file = users(*[{}] * count)
    whole = dict(seats(file, FILMS, seed=3))
    early = dict(seats(file, FILMS[:first], seed=3))
    late = dict(seats(file, FILMS[first:], seed=3, before=early.values()))
    assert early | late == whole


def test_a_run_that_grows_draws_on_from_who_it_has(tmp_path: Path) -> None:
    file = users(*[{}] * 7)
    with Store.create(tmp_path / "run.sqlite", {"seed": 3}, texts=users_text(file)) as store:
        for part in (FILMS[:5], FILMS[5:]):
            keep_seats(store, part, seed=3)
            store.add_videos(part)
        kept = {film.id: seats_of(store, film.id) for film in FILMS}
    assert kept == dict(seats(file, FILMS, seed=3))


def test_another_seed_draws_others() -> None:
    file = users(*[{}] * 12)
    assert dict(seats(file, FILMS, seed=0)) == dict(seats(file, FILMS, seed=0))
    assert dict(seats(file, FILMS, seed=0)) != dict(seats(file, FILMS, seed=1))


def test_an_index_is_a_place_and_bound_users_fill_up_from_the_first() -> None:
    film = FILMS[0].id
    file = users({"video": film}, {"video": film, "index": 1}, {"index": 3}, {"index": 2})
    assert lines(dict(seats(file, FILMS, seed=0)), 0) == {1: 1, 2: 0, 3: 2}
    assert lines(dict(seats(file, FILMS, seed=0)), 1) == {2: 3, 3: 2}


def test_who_can_sit_in_one_place_only_has_it_before_who_can_sit_anywhere() -> None:
    found = dict(seats(users({}, {}, {"index": 1}), FILMS[:1], seed=0))
    assert lines(found, 0)[1] == 2
    assert found[FILMS[0].id].is_full


def test_a_user_that_is_bound_to_a_video_is_not_drawn_beside_itself() -> None:
    file = users({"text": "A", "video": FILMS[0].id}, {"text": " a"})
    assert lines(dict(seats(file, FILMS[:2], seed=0)), 0) == {1: 0}


def test_nobody_sits_anywhere_where_nobody_was_brought() -> None:
    assert dict(seats(None, FILMS[:1], seed=0)) == {FILMS[0].id: Seated(users={})}


def test_users_are_alike_by_the_measure_of_near_duplicates() -> None:
    nurse = "A nurse on the night shift who has never seen the sea."
    assert repeated_users([nurse, "A diver.", nurse.replace("nurse", "Nurse,")]) == {2}
    assert repeated_users([nurse, "A diver.", "A cook."]) == set()
