"""Drawing battles to be labelled: at random, blinded, and on record."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.support.labelled import NAMES, label_all, season
from tests.support.played import battle, invoke, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.evidence import LabelSample
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.human_agreement import chances
from videoautoarena.runs.analysis.audit.label_import import import_labels
from videoautoarena.runs.analysis.audit.label_sample import (
    _path_from,
    draw_sample,
    shuffle,
    write_rest,
)
from videoautoarena.runs.run.rundir.opener import FOLDER_FILE, videos_folder


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that no test writes to."""
    place = tmp_path_factory.mktemp("ground") / "out"
    season(place, videos=10, rounds=4)
    return place


@pytest.fixture
def run(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground, tmp_path / "out"))


def samples(run: Path) -> list[LabelSample]:
    with Store.open(run / "run.sqlite", write=False) as store:
        return store.evidence.samples()


def test_a_draw_is_written_for_people_and_kept_in_the_run(tmp_path: Path, run: Path) -> None:
    drawn = draw_sample(run, tmp_path / "x.csv", number=15)
    with (tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    (kept,) = samples(run)
    assert {row["battle"] for row in rows} == set(kept.drawn)
    assert len(rows) == drawn.drawn == 15
    assert kept.chance == 15 / 40
    assert len(kept.of) == 40
    assert set(kept.drawn) < set(kept.of)
    assert {row["verdict"] for row in rows} == {""}
    assert rows[0]["question"].startswith("What is in the pan")
    assert Path(rows[0]["video"]).name.startswith("clip")


def test_the_file_does_not_say_who_answered(tmp_path: Path, run: Path) -> None:
    for name in ("x.csv", "x.jsonl", "x.tsv"):
        draw_sample(run, tmp_path / name, number=5)
        text = (tmp_path / name).read_text()
        assert not any(model in text for model in NAMES)


def test_what_people_filled_in_comes_back(tmp_path: Path, run: Path) -> None:
    draw_sample(run, tmp_path / "x.jsonl", number=8)
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    for line in lines[:6]:
        line.update(verdict="tie_bad", labeller="anna", accuracy="a")
    # As samples of before name videos.
    lines[0]["video"] = "/home/somebody/videos/clip.mp4"
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert import_labels(run, tmp_path / "x.jsonl")[:3] == (6, 0, 2)


def test_no_way_leads_through_the_root_or_to_another_user() -> None:
    mine = Path("/home/me/drawn")
    assert _path_from(mine, Path("/somewhere else/films"), "a.mp4") == "a.mp4"
    assert _path_from(mine, Path("/home/somebody/films"), "a.mp4") == "a.mp4"
    assert _path_from(mine, Path("/home/me/films"), "a.mp4") == "../films/a.mp4"


def test_a_draw_whose_folder_of_videos_is_not_known_names_no_other(
    tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(run / "run.sqlite", write=True) as store:
        store.put_file(FOLDER_FILE, "/somewhere else/videos", replace=True)
        assert videos_folder(store) is None
        paths = {film.path for film in store.videos()}
    to = tmp_path / "drawn" / "x.jsonl"
    to.parent.mkdir()
    draw_sample(run, to, number=8)
    assert {json.loads(line)["video"] for line in to.read_text().splitlines()} <= paths


def test_every_battle_is_as_likely_as_any_other_to_be_drawn(tmp_path: Path, run: Path) -> None:
    counts = Counter[str]()
    copies = 200
    with Store.open(run / "run.sqlite", write=False) as store:
        ids = [one.id for one in store.battles()]
    for seed in range(copies):
        counts.update(shuffle(ids, seed, 0)[:10])
    # Chi-square with 39 degrees exceeds 73 once in a thousand.
    expected = copies * 10 / 40
    assert sum((counts[id_] - expected) ** 2 / expected for id_ in ids) < 73


def test_a_seed_draws_the_same_again_and_another_seed_others(tmp_path: Path) -> None:
    found = []
    for k, seed in enumerate((3, 3, 4)):
        season(tmp_path / f"out{k}", videos=10, rounds=4)
        draw_sample(tmp_path / f"out{k}", tmp_path / f"{k}.csv", number=10, seed=seed)
        found.append((tmp_path / f"{k}.csv").read_bytes())
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_further_draws_take_what_is_left_and_all_are_one_random_subset(
    tmp_path: Path, run: Path
) -> None:
    draw_sample(run, tmp_path / "x.csv", number=10)
    more = draw_sample(run, tmp_path / "y.csv", number=15)
    first, second = samples(run)
    assert not set(first.drawn) & set(second.drawn)
    assert second.chance == 15 / 30
    assert second.of == first.of
    assert (more.sampled, more.decided) == (25, 40)
    # As likely as if 25 of 40 had been drawn at once.
    assert chances([first, second]) == pytest.approx(dict.fromkeys(first.of, 25 / 40))


def test_battles_of_later_rounds_are_as_likely_as_their_own_draw_makes_them() -> None:
    first = LabelSample(seed=0, of=("p", "q"), chance=0.5, drawn=("p",))
    second = LabelSample(seed=0, of=("p", "q", "r"), chance=0.5, drawn=("r",))
    assert chances([first, second]) == {"p": 0.75, "q": 0.75, "r": 0.5}


def test_by_pair_every_pair_is_drawn_as_often_as_far_as_it_met(tmp_path: Path) -> None:
    films = [video(f"clip {k}".encode(), path=f"{k}.mp4") for k in range(20)]
    pairs = [("hawk", "owl")] * 14 + [("mole", "hawk")] * 4 + [("owl", "mole")] * 2
    battles = [
        battle(slot(film, 0), model_a=a, model_b=b)
        for film, (a, b) in zip(films, pairs, strict=True)
    ]
    out = play(tmp_path / "out", battles, videos=films)
    draw_sample(out, tmp_path / "x.csv", number=10, by="pair")
    drawn = {(len(one.of), len(one.drawn), one.chance) for one in samples(out)}
    assert drawn == {(14, 4, 4 / 14), (4, 4, 1.0), (2, 2, 1.0)}
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 11


def test_a_draw_that_leaves_a_part_out_is_refused_and_nothing_is_kept(
    tmp_path: Path, run: Path
) -> None:
    with pytest.raises(BadInput, match="pass n= 10 or more"):
        draw_sample(run, tmp_path / "x.csv", number=9, by="video")
    assert samples(run) == []
    draw_sample(run, tmp_path / "x.csv", number=10, by="video")
    assert list(chances(samples(run)).values()) == [1 / 4] * 40


def test_the_rest_of_a_draw_can_be_written_again(tmp_path: Path, run: Path) -> None:
    draw_sample(run, tmp_path / "x.csv", number=6)
    ids = samples(run)[0].drawn
    label_all(run, dict.fromkeys(ids[:4], "a"))
    rest = write_rest(run, tmp_path / "y.jsonl")
    told = [json.loads(line)["battle"] for line in (tmp_path / "y.jsonl").read_text().splitlines()]
    assert told == list(ids[4:])
    assert (rest.drawn, rest.written, len(samples(run))) == (0, 2, 1)
    label_all(run, dict.fromkeys(ids[4:], "b"))
    with pytest.raises(BadInput, match="every battle that was drawn has a label"):
        write_rest(run, tmp_path / "z.csv")


def test_without_a_draw_there_is_no_rest(tmp_path: Path, run: Path) -> None:
    with pytest.raises(BadInput, match="nothing was drawn from this run yet"):
        write_rest(run, tmp_path / "x.csv")


def test_more_than_there_are_cannot_be_drawn(tmp_path: Path, run: Path) -> None:
    draw_sample(run, tmp_path / "x.csv", number=30)
    with pytest.raises(BadInput) as wrong:
        draw_sample(run, tmp_path / "y.csv", number=11)
    assert str(wrong.value) == (
        "10 decided battles left to draw (30 were drawn before); pass --n 10"
    )
    draw_sample(run, tmp_path / "y.csv", number=10)
    with pytest.raises(BadInput, match="play more first"):
        draw_sample(run, tmp_path / "z.csv", number=1)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x.txt", "must end in .csv, .tsv or .jsonl"),
        ("there.csv", "already exists and may hold labels"),
        ("nowhere/x.csv", "is not a folder; create it"),
        ("out/run.sqlite.csv", "is the run itself"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_drawn(
    name: str, why: str, tmp_path: Path, run: Path
) -> None:
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(BadInput, match=why):
        draw_sample(run, tmp_path / name, number=3)
    assert samples(run) == []


def test_answers_are_no_formulas_and_no_escapes_in_a_sheet(tmp_path: Path) -> None:
    evil = battle(slot(video(), 0), answer_a="=HYPERLINK(1)", answer_b='x\x1b[2J\r\n- y,"z"')
    out = play(tmp_path / "out", [evil])
    draw_sample(out, tmp_path / "x.csv", number=1)
    with (tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["answer_a"] == "'=HYPERLINK(1)"
    assert row["answer_b"] == 'x\\x1b[2J\n- y,"z"'


def test_the_command_says_what_it_drew(tmp_path: Path, run: Path) -> None:
    said = invoke("labels", "sample", run, "--n", 12, "--to", tmp_path / "x.csv").stdout
    assert said.endswith("x.csv; 12 of 40 decided battles are drawn so far\n")
    told = invoke("labels", "sample", run, "--rest", "--to", tmp_path / "y.csv", "--json").stdout
    assert json.loads(told) == {
        "schema": 1,
        "drawn": 0,
        "written": 12,
        "sampled": 12,
        "decided": 40,
    }
