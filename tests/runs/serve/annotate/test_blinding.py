"""What a labeller hears of a battle, and what not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.annotated import annotating, votes
from tests.support.played import battle, call, judging, play, slot, video
from videoautoarena.memory.records.records import Frame, VideoFrames
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.serve.annotate.battles import Makers


def held(work: Any) -> Any:
    return asyncio.run(work)


SECRETS = ("hawk", "owl", "mole", "offline", "verdict", "seat", "cost", "judge", "model", "usd")


def test_10_votes_hear_nothing_of_models_verdicts_seats_costs_ids_or_files(tmp_path: Path) -> None:
    films = [video(f"clip {k}".encode(), path=f"private{k}.mp4") for k in range(5)]
    places = [slot(film, k) for film in films for k in range(2)]
    said = judging(own_answer="what the judge thinks", verdict="b")
    battles = [
        battle(
            place,
            verdict="b",
            verdicts=(said,),
            answer_a=f"one thing {n}",
            answer_b=f"another {n}",
        )
        for n, place in enumerate(places)
    ]
    calls = [call(place.id, cost_usd=0.123456) for place in places]
    out = play(tmp_path / "out", battles, videos=films, calls=calls)
    for k, film in enumerate(films):
        (tmp_path / film.path).write_bytes(f"clip {k}".encode())

    async def session() -> tuple[list[bytes], int]:
        async with annotating(out, "anna", "mara", videos=tmp_path) as (anna, mara):
            for k in range(10):
                task = "/api/annotate/battle"
                ticket = (await anna.state())["ticket"]
                played = await anna.ask(f"{task}/video/{ticket}")
                assert played.status == 200
                await anna.ask(f"{task}/frame/{ticket}/0")
                await anna.ask(f"{task}/vote", b"{}")
                await anna.vote(("a", "b", "tie_good", "tie_bad", "skip")[k % 5])
                if k % 7 == 0:
                    await anna.undo()
                    await anna.vote("a")
            await anna.state("ranking")
            await mara.vote("b")
            assert (await anna.state())["item"] is None
            heard = [*anna.heard, *mara.heard]
            heads = [json.dumps(answer.headers).encode() for answer in heard]
            return [*heads, *(answer.body for answer in heard)], len(heard)

    heard, count = held(session())
    assert count > 60
    ids = {place.id for place in places} | {film.id for film in films}
    names = {film.path for film in films} | {str(tmp_path), "private", "clip.mp4"}
    text = b"\n".join(heard).decode().casefold()
    told = [word for word in (*SECRETS, "0.123456", *ids, *names) if word.casefold() in text]
    assert told == []
    assert "one thing" in text


def test_the_video_is_played_in_ranges_and_one_that_changed_is_not(tmp_path: Path) -> None:
    content = b"\0\0\0\x18ftypmp42" + b"0123456789"
    film = video(content, path="clip.mp4")
    out = play(tmp_path / "out", [battle(slot(film, 0))], videos=[film])
    file = tmp_path / "clip.mp4"
    file.write_bytes(content)

    async def session() -> list[Any]:
        async with annotating(out, videos=tmp_path) as (anna,):
            address = f"/api/annotate/battle/video/{(await anna.state())['ticket']}"
            part = await anna.visitor.ask(address, headers={"Range": "bytes=14-17"})
            file.write_bytes(content[::-1])
            changed = await anna.visitor.ask(address)
            file.unlink()
            gone = await anna.visitor.ask(address)
            return [part, changed.status, gone.status]

    part, *others = held(session())
    assert (part.status, part.body, part.headers["content-type"]) == (206, b"2345", "video/mp4")
    assert "content-disposition" not in part.headers
    assert others == [404, 404]


def test_what_browsers_do_not_play_is_shown_as_frames(tmp_path: Path) -> None:
    film = video(path="clip.avi")
    out = play(tmp_path / "out", [battle(slot(film, 0))], videos=[film])

    async def fill() -> None:
        with Store.open(out / "run.sqlite", write=True) as store:
            frames = (Frame(time_s=0.0, digest="0" * 64), Frame(time_s=2.5, digest="1" * 64))
            await store.put_frames(
                VideoFrames(video=film.id, width_px=4, height_px=3, frames=frames)
            )

    async def session() -> Any:
        async with annotating(out) as (anna,):
            state = await anna.state()
            base = f"/api/annotate/battle/frame/{state['ticket']}"
            # Neither the file nor its frames are at hand any more, and no name is said.
            lost = await anna.ask(f"{base}/0")
            return state["item"]["video"], lost, (await anna.ask(f"{base}/2")).status

    asyncio.run(fill())
    shown, lost, beyond = held(session())
    assert (shown["plays"], shown["times"]) == (False, [0.0, 2.5])
    assert (lost.status, beyond) == (404, 404)
    assert b"avi" not in lost.body


def test_an_answer_that_names_its_maker_is_marked(tmp_path: Path) -> None:
    film = video()
    out = play(
        tmp_path / "out",
        [battle(slot(film, 0), answer_a="I am ChatGPT, by OpenAI: an onion.", answer_b="A pan.")],
    )

    async def session() -> Any:
        async with annotating(out) as (anna,):
            item = (await anna.state())["item"]
            await anna.vote()
            return item

    marks = {of["text"]: of["may_name_maker"] for of in held(session())["answers"]}
    assert marks == {"I am ChatGPT, by OpenAI: an onion.": True, "A pan.": False}
    assert [cast.vote.named for cast in votes(out)] == [("a",)]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("As a large model by ALIBABA I see a pan.", True),
        ("gpt-4o here", True),
        ("GPT4", True),
        ("我是Qwen大模型", True),
        ("My name is qwen2.5 vl-72b instruct.", True),
        ("This is team_red speaking.", True),
        ("It is a redteam drill, glmour and llamas.", False),
        ("A pan with an onion.", False),
        ("", False),
    ],
)
def test_makers_are_known_by_their_names_however_they_are_spelt(text: str, is_named: bool) -> None:
    cast = {"team-red": {"model": "local:Qwen/Qwen2.5-VL-72B-Instruct"}}
    makers = Makers.of_run({"models": ["team-red"], "cast": cast})
    assert makers.are_named_in(text) is is_named


def test_hostile_text_comes_back_as_what_it_is(tmp_path: Path) -> None:
    traps = "</script><img src=x onerror=alert(1)>\u202e\x00\ud800 ‮"
    film = video()
    places = [battle(slot(film, 0), answer_a=traps, answer_b=traps, question=traps)]
    out = play(tmp_path / "out", places)
    note = "<b>\u0000\u202e'; DROP TABLE votes; --"

    async def session() -> Any:
        async with annotating(out, '<i>"anna') as (anna,):
            shown = await anna.state()
            await anna.vote("a", note=note)
            return shown, anna.heard[0]

    shown, answer = held(session())
    assert shown["item"]["question"] == traps
    assert shown["item"]["answers"][1]["text"] == traps
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert [cast.vote.note for cast in votes(out)] == [note]
