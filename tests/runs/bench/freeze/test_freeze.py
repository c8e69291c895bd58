"""A run becomes a test set that outlives it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import battle, invoke, judging, lineage, manifest, play, slot, video
from videoautoarena.memory.records.errors import BadInput, StoreError
from videoautoarena.memory.records.records import StoredAnswer
from videoautoarena.memory.records.standards import PAPER_CONTRACTS
from videoautoarena.runs.run.config.preset import left_by_preset
from videoautoarena.runs.run.rundir.reader import open_run
from videoautoarena.scoring.texts.traits import bucket


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return play(tmp_path / "out", lineage(video()))


def frozen(out: Path, name: str = "bench") -> Path:
    """Freeze a run beside it and return the bench."""
    result = invoke("freeze", out, "--to", out.parent / name)
    assert result.exit_code == 0, result.exception
    return out.parent / name


def questions(bench: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (bench / "questions.jsonl").read_text().splitlines()]


def contents(bench: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in bench.iterdir()}


def test_only_battles_with_a_winner_become_questions(out: Path) -> None:
    assert [q["battle"] for q in questions(frozen(out))] == [
        slot(video(), round_).id for round_ in (0, 1)
    ]


def test_the_winners_answer_is_the_selected_one_in_either_seat(out: Path) -> None:
    first, second = questions(frozen(out))
    assert (first["selected_model"], first["rejected_model"]) == ("hawk", "owl")
    assert (second["selected_model"], second["rejected_model"]) == ("mole", "hawk")
    assert first["selected_answer"] == second["rejected_answer"]
    assert (first["selected_seat"], second["selected_seat"]) == ("a", "b")


def test_a_question_says_where_it_comes_from(out: Path) -> None:
    second = questions(frozen(out))[1]
    assert (second["schema"], second["chosen_by"]) == (2, "judge")
    assert second["persona"] == "A person who cooks."
    assert (second["round"], second["origin"], second["difficulty"]) == (1, "evolved", 3.5)
    assert second["judge_verdicts"] == [{"judge": "judge", "seats": "ba", "verdict": "a"}]


def test_the_manifest_names_every_file_by_size_and_digest(out: Path) -> None:
    bench = frozen(out)
    told = json.loads((bench / "manifest.json").read_bytes())
    assert told["files"] == {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in contents(bench).items()
        if name != "manifest.json"
    }
    assert told["count"] == 2


def test_the_manifest_maps_videos_to_digest_and_relative_path(out: Path) -> None:
    told = json.loads((frozen(out) / "manifest.json").read_bytes())
    entry = told["videos"][video().id]
    assert (entry["sha256"], entry["path"]) == (video().sha256, "clip.mp4")


def test_a_video_nobody_won_over_is_not_listed(tmp_path: Path) -> None:
    other = video(b"other", path="other.mp4")
    tied = battle(slot(other, 0), verdict="tie")
    out = play(tmp_path / "out", [*lineage(video()), tied], videos=[video(), other])
    assert list(json.loads((frozen(out) / "manifest.json").read_bytes())["videos"]) == [video().id]


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (None, "play more rounds or videos"),
        ("Red.", "in 1 of them both models gave the same answer, word for word; play models that"),
    ],
)
def test_a_run_of_ties_alone_says_what_it_needs(
    tmp_path: Path, answer: str | None, advice: str
) -> None:
    texts = {} if answer is None else {"answer_a": answer, "answer_b": answer}
    tied = battle(slot(video(), 0), verdict="tie", **texts)
    out = play(tmp_path / "out", [tied], videos=[video()])
    wrong = invoke("freeze", out, "--to", tmp_path / "bench").exception
    assert f"has a winner (1 settled); {advice}" in str(wrong)


def test_the_same_run_freezes_to_the_same_bytes_wherever_it_lies(out: Path, tmp_path: Path) -> None:
    again = play(tmp_path / "elsewhere" / "deep", lineage(video()))
    assert contents(frozen(out)) == contents(frozen(again))


def test_a_bench_names_no_place_on_this_machine(tmp_path: Path) -> None:
    settings = manifest()
    settings["cast"]["hawk"]["endpoint"] = "http://10.0.0.7:8000/v1"
    bench = frozen(play(tmp_path / "out", lineage(video()), settings=settings))
    everything = b"".join(contents(bench).values())
    assert str(tmp_path).encode() not in everything
    assert b"10.0.0.7" not in everything


@pytest.mark.parametrize(("is_offline", "more"), [(True, ""), (False, " --model MODEL")])
def test_a_frozen_bench_says_how_it_is_played(tmp_path: Path, is_offline: bool, more: str) -> None:
    out = play(tmp_path / "out", lineage(video()), settings=manifest(offline=is_offline))
    bench = tmp_path / "bench"
    videos = tmp_path / "my clips"
    told = invoke("freeze", out, "--to", bench).stderr.splitlines()
    assert told[-1] == f"to play it: arena bench run {bench} --videos VIDEOS{more}"
    told = invoke("freeze", out, "--to", bench, "--videos", videos).stderr.splitlines()
    assert told[-1] == f"to play it: arena bench run {bench} --videos '{videos}'{more}"


def test_freezing_again_finds_the_bench_already_there(out: Path) -> None:
    before = contents(frozen(out))
    again = invoke("freeze", out, "--to", out.parent / "bench", "--json")
    assert json.loads(again.output)["was_there"] is True
    assert contents(out.parent / "bench") == before


def test_another_bench_is_never_overwritten(out: Path) -> None:
    bench = frozen(out)
    (bench / "card.md").write_text("my own notes")
    refused = invoke("freeze", out, "--to", bench)
    assert isinstance(refused.exception, BadInput)
    assert (bench / "card.md").read_text() == "my own notes"


def test_a_folder_with_other_things_in_it_is_refused(out: Path) -> None:
    assert isinstance(invoke("freeze", out, "--to", out).exception, BadInput)


def test_an_empty_folder_is_filled_and_a_missing_parent_is_made(out: Path) -> None:
    (out.parent / "empty").mkdir()
    assert contents(frozen(out, "empty")) == contents(frozen(out, "a/b/c"))


def test_a_link_to_an_empty_folder_stays_a_link(out: Path) -> None:
    (out.parent / "real").mkdir()
    (out.parent / "link").symlink_to("real")
    assert len(contents(frozen(out, "link"))) == 3
    assert (out.parent / "link").is_symlink()


def test_a_file_in_the_way_is_one_line_and_leaves_nothing(out: Path) -> None:
    (out.parent / "file").write_text("x")
    before = sorted(os.listdir(out.parent))
    for to in (out.parent / "file", out.parent / "file" / "below"):
        assert isinstance(invoke("freeze", out, "--to", to).exception, BadInput)
    assert sorted(os.listdir(out.parent)) == before


def test_nothing_but_the_bench_is_left_beside_it(out: Path) -> None:
    frozen(out)
    assert sorted(os.listdir(out.parent)) == ["bench", "out"]


@pytest.mark.parametrize("verdict", ["tie", "split", "void"])
def test_a_run_without_a_winner_cannot_be_frozen(tmp_path: Path, verdict: str) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict=verdict)])
    refused = invoke("freeze", out, "--to", tmp_path / "bench")
    assert isinstance(refused.exception, BadInput)
    assert refused.exit_code == 1
    assert not (tmp_path / "bench").exists()


def test_an_unfinished_run_freezes_what_is_there_and_says_so(tmp_path: Path) -> None:
    slots = [slot(video(), round_) for round_ in range(2)]
    out = play(tmp_path / "out", [battle(slots[0])], slots=slots)
    result = invoke("freeze", out, "--to", tmp_path / "bench")
    assert result.exit_code == 0
    assert "the run is not finished: 1 slot to go" in result.output


def test_battles_without_a_winner_are_left_out_and_said_to_be_by_their_reasons(
    tmp_path: Path,
) -> None:
    ends = ("a", "split", "tie_good", "tie_bad", "tie", "forfeit_a", "void")
    places = [slot(video(), round_) for round_ in range(len(ends))]
    battles = [battle(place, verdict=end) for place, end in zip(places, ends, strict=True)]
    out = play(tmp_path / "out", battles)
    result = invoke("freeze", out, "--to", tmp_path / "bench")
    told = json.loads((tmp_path / "bench" / "manifest.json").read_bytes())
    reasons = {"split: the seatings disagreed": 1, "tie": 3, "forfeit": 1, "void": 1}
    assert told["selection"]["without_winner"] == reasons
    assert "left out: 6 battles without a winner (card.md)" in result.output
    assert "split: the seatings disagreed | 1 |" in (tmp_path / "bench" / "card.md").read_text()


COUNTED = (
    re.compile(r": (\d+) questions? about "),
    re.compile(r"^left out: (\d+) battles? "),
)


def lines_count(lines: list[str]) -> int:
    """Return how many battles the lines that freeze prints are about."""
    told = [int(found[1]) for line in lines for one in COUNTED if (found := one.search(line))]
    dropped = [line for line in lines if line.startswith("not chosen: ")]
    return sum(told) + sum(int(n) for line in dropped for n in re.findall(r"(\d+) (?!%)", line))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "options", [(), ("--size", 3), ("--per-video", 1, "--distinct", "--leak-filter")]
)
def test_every_battle_of_a_run_is_in_exactly_one_line(
    tmp_path: Path, seed: int, options: tuple[object, ...]
) -> None:
    dice = random.Random(seed)
    films = [video(f"{seed} {k}".encode(), path=f"{k}.mp4") for k in range(3)]
    endings = ("a", "b", "tie", "tie_good", "tie_bad", "split", "void", "forfeit_a")
    battles = [battle(slot(films[0], 0))]
    for film, round_ in product(films, range(1, 5)):
        asked = dice.choice(["What is it?", f"What is in the pan in round {round_}?"])
        place = slot(film, round_)
        battles.append(battle(place, verdict=dice.choice(endings), question=asked))
        if dice.random() < 0.5:
            met = StoredAnswer(battle=place.id, seat=dice.choice(["a", "b"]))
            other = {"model_b": "new"} if met.seat == "a" else {"model_a": "new"}
            guest = slot(film, round_, generation=1).model_copy(update={"id": f"{place.id}+1"})
            battles.append(battle(guest, verdict=dice.choice("ab"), borrowed=met, **other))
    settings = manifest(models=["hawk", "owl", "new"], guests={"new": [1]})
    out = play(tmp_path / "out", battles, videos=films, settings=settings)
    with open_run(out) as run:
        whole = len(run.battles)
    assert whole > 12
    typed = ("freeze", out, "--to", tmp_path / "bench", *options)
    # However long the path of the bench is, its line is one.
    lines = invoke(*typed, width=10_000).output.splitlines()
    assert lines_count(lines) == whole, lines
    again = invoke(*typed, "--json")
    told = json.loads(again.output)
    parts = (told["questions"], told["left_out"], told["borrowed"], *told["dropped"].values())
    assert (sum(parts), told["battles"]) == (whole, whole)
    assert "new" in told["without_answer"]
    assert any(re.match("without an answer in it: .*new", line) for line in lines)
    card = (tmp_path / "bench" / "card.md").read_text()
    assert not re.search(r"^- models: .*new", card, re.M)
    assert re.search(r"^- without an answer here: .*new", card, re.M)


def test_a_superseded_battle_is_no_question(tmp_path: Path) -> None:
    places = [slot(video(), 0), slot(video(), 0, ordinal=1, generation=1)]
    out = play(tmp_path / "out", [battle(place) for place in places], slots=places)
    assert [q["battle"] for q in questions(frozen(out))] == [places[1].id]


def test_two_battles_with_the_same_words_have_two_qids(tmp_path: Path) -> None:
    slots = [slot(video(), round_) for round_ in range(2)]
    out = play(tmp_path / "out", [battle(place, question="Same?") for place in slots])
    first, second = questions(frozen(out))
    assert first["qid"] != second["qid"]


def test_a_winner_without_an_answer_is_a_damaged_run(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), answer_b=None)])
    assert isinstance(invoke("freeze", out, "--to", tmp_path / "b").exception, StoreError)


def test_file_names_and_words_that_are_no_unicode_survive(tmp_path: Path) -> None:
    film = video(path="caf\udce9/a b.mp4")
    out = play(tmp_path / "out", [battle(slot(film, 0), question="\ud800 \x1b?")], videos=[film])
    bench = frozen(out)
    told = json.loads((bench / "manifest.json").read_bytes())
    assert told["videos"][film.id]["path"] == "caf\udce9/a b.mp4"
    assert questions(bench)[0]["question"] == "\ud800 \x1b?"
    assert all(content.isascii() for content in contents(bench).values())


def test_the_card_counts_what_is_in_and_what_is_not(out: Path) -> None:
    card = (frozen(out) / "card.md").read_text()
    for row in ("# Bench of 2 questions", "| 8-15 s | 2 |", "| Cooking Recipes | 2 |"):
        assert row in card
    assert "| not here, since nobody won | battles |\n| --- | ---: |\n| tie | 1 |" in card
    assert "the longer one in 1 of 2 questions" in card


@pytest.mark.parametrize("number", [2, PAPER_CONTRACTS])
def test_the_card_of_a_run_by_the_paper_says_what_is_not_as_there(
    number: int, tmp_path: Path
) -> None:
    settings = manifest(preset="paper", contracts=number)
    card = (
        frozen(play(tmp_path / "out", lineage(video()), settings=settings)) / "card.md"
    ).read_text()
    (said,) = re.findall("^- left by the preset: (.*)$", card, re.M)
    assert tuple(said.split("; ")) == left_by_preset(is_early=number == 2)


def test_the_card_says_that_stand_ins_were_rated(out: Path, tmp_path: Path) -> None:
    assert "offline stand-ins" in (frozen(out) / "card.md").read_text()
    settings = manifest(models=["hawk", "gpt"])
    settings["cast"]["gpt"] = {"model": "openai:gpt-4o"}
    real = play(tmp_path / "real" / "out", lineage(video()), settings=settings)
    assert "stand-ins" not in (frozen(real) / "card.md").read_text()


def test_the_card_says_who_judged_whom(tmp_path: Path) -> None:
    settings = manifest(self_judging=True, offline_judge_on_real=True)
    card = (
        frozen(play(tmp_path / "out", lineage(video()), settings=settings)) / "card.md"
    ).read_text()
    assert "also competed" in card
    assert "An offline judge rated real models" in card
    assert "judge (offline:judge)" in card


def test_names_cannot_break_the_card(tmp_path: Path) -> None:
    evil = battle(slot(video(), 0), category="x|y](http://z)\n# <b>", verdicts=(judging(),))
    card = (frozen(play(tmp_path / "out", [evil])) / "card.md").read_text()
    assert "| x\\|y\\](http://z)\\\\x0a\\# \\<b\\> | 1 |" in card


@pytest.mark.parametrize(
    ("duration_s", "name"),
    [(0.5, "up to 8 s"), (8, "up to 8 s"), (8.01, "8-15 s"), (3601, "above 3600 s")],
)
def test_a_duration_falls_into_one_bucket(duration_s: float, name: str) -> None:
    assert bucket(duration_s) == name
