"""The leaderboard on the scale of people: what it says, and what it asks for where it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.labelled import label_all, season
from tests.support.played import battle, invoke, lineage, play, slot, video
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.evidence import LabelSample
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.analysis.audit.label_sample import draw_sample
from videoautoarena.runs.analysis.leaderboard.board import board_of, labelled_board_of
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 240 battles, of which 90 were drawn and labelled."""
    folder = tmp_path_factory.mktemp("labelled")
    words = season(folder / "out")
    draw_sample(folder / "out", folder / "x.csv", number=90)
    label_all(folder / "out", {id_: words[id_] for id_ in drawn(folder / "out")})
    return folder / "out"


def drawn(out: Path) -> list[str]:
    with Store.open(out / "run.sqlite", write=False) as store:
        return [id_ for sample in store.evidence.samples() for id_ in sample.drawn]


def ratings(table: RatedLeaderboard) -> dict[str, float]:
    return {row["model"]: row["rating"] for row in table.to_json()["models"]}


def test_the_judges_favourite_falls_to_where_people_see_it(labelled: Path) -> None:
    judged = ratings(board_of(labelled))
    corrected = labelled_board_of(labelled)
    assert judged["mole"] > ratings(corrected)["mole"] + 50
    assert [row["model"] for row in corrected.to_json()["models"]] == ["hawk", "owl", "mole"]


def test_the_shape_is_that_of_every_leaderboard_with_labels_beside(labelled: Path) -> None:
    usual = board_of(labelled).to_json()
    table = labelled_board_of(labelled).to_json()
    assert set(table) == set(usual)
    assert set(table["settings"]) - set(usual["settings"]) == {"labels"}
    rows = {row["model"]: row for row in table["models"]}
    assert sum(row["labels"] for row in rows.values()) == 180
    assert rows["hawk"]["battles"] == {r["model"]: r for r in usual["models"]}["hawk"]["battles"]
    labels = table["settings"]["labels"]
    assert {key: labels[key] for key in ("battles", "labellers", "random")} == {
        "battles": 90,
        "labellers": 1,
        "random": "drawn",
    }
    (group,) = labels["groups"]
    assert (group["labels"], group["of"]) == (90, 240)
    assert 0.0 < group["lambda"] <= 1.0
    assert group["gain"] > 1.0
    assert table["settings"]["videos"] == usual["settings"]["videos"] == [40]
    told = " ".join(table["settings"]["warnings"])
    assert "on the scale of 1 person who labelled 90 of 240 battles" in told
    assert "win % count the verdicts of the judge" in told
    json.dumps(table, allow_nan=False)


def test_labels_of_every_battle_leave_nothing_to_the_judge(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = season(out, videos=20, rounds=4)
    label_all(out, words)
    table = labelled_board_of(out, assume_random=True)
    assert table.to_json()["settings"]["labels"]["random"] == "assumed"
    assert "are assumed to be a random sample" in " ".join(table.to_json()["settings"]["warnings"])
    (group,) = table.to_json()["settings"]["labels"]["groups"]
    assert group["gain"] == pytest.approx(1.0)
    # As if people had been the judge.
    other = tmp_path / "other"
    season(other, videos=20, rounds=4)
    _replace_verdicts(other, words)
    by_people = board_of(other)
    for model, rating in ratings(by_people).items():
        assert ratings(table)[model] == pytest.approx(rating, abs=0.01)


def _replace_verdicts(out: Path, words: dict[str, str]) -> None:
    from tests.support.small_runs import altered

    with altered(out) as file:
        for id_, body in file.execute("SELECT id, body FROM battles").fetchall():
            if id_ not in words:
                continue
            changed = {**json.loads(body), "verdict": words[id_]}
            file.execute(
                "UPDATE battles SET body = ? WHERE id = ?",
                (json.dumps(changed, sort_keys=True, separators=(",", ":")), id_),
            )


def test_what_was_drawn_and_not_labelled_what_came_later_and_what_was_not_drawn_is_told(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    words = season(out)
    ids = sorted(words)
    known = ids[:200]
    later = ids[200:]
    order = np.random.default_rng(0).permutation(known).tolist()
    sample = LabelSample(seed=0, of=tuple(known), chance=0.4, drawn=tuple(order[:80]))
    with Store.open(out / "run.sqlite", write=True) as store:
        store.evidence.add_samples([sample])
    label_all(out, {id_: words[id_] for id_ in [*order[:70], later[0], later[1]]})
    # What is void is neither rated nor waited for.
    _replace_verdicts(out, dict.fromkeys(order[70:73], "void"))
    table = labelled_board_of(out)
    told = " ".join(table.to_json()["settings"]["warnings"])
    assert "7 of 77 drawn battles have no label yet" in told
    assert "labels of 2 battles outside the random draws are left out" in told
    assert "40 battles decided after the last draw left out" in told
    totals = table.to_json()["settings"]["totals"]
    assert (totals["decided"], totals["voids"]) == (197, 3)
    assert table.to_json()["settings"]["labels"]["groups"][0]["of"] == 197


def test_an_anchor_and_ranks_that_hold_at_once_go_with_labels(labelled: Path) -> None:
    method = RatingMethod(anchor="owl=1200", simultaneous=True, pairs=True)
    table = labelled_board_of(labelled, method)
    assert ratings(table)["owl"] == pytest.approx(1200.0)
    assert table.to_json()["settings"]["simultaneous"]
    better = table.to_json()["pairs"]["better"]
    assert better[0][1] + better[1][0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "method",
    [
        RatingMethod(style=True),
        RatingMethod(ties="davidson"),
        RatingMethod(intervals="bootstrap"),
        RatingMethod(elo=True),
    ],
)
def test_what_does_not_go_with_labels_is_refused(labelled: Path, method: RatingMethod) -> None:
    with pytest.raises(BadInput, match="leave out the other options"):
        labelled_board_of(labelled, method)


def test_without_labels_it_says_how_to_come_by_some(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    with pytest.raises(BadInput, match="no battle of this run has a label; draw battles with"):
        labelled_board_of(out)


def test_labels_that_nobody_drew_at_random_say_nothing_of_the_rest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    label_all(out, season(out, videos=4, rounds=2))
    with pytest.raises(BadInput, match="or pass assume_random=True if the labels are"):
        labelled_board_of(out)


def test_too_few_labels_of_a_model_are_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = season(out)
    draw_sample(out, tmp_path / "x.csv", number=240)
    with Store.open(out / "run.sqlite", write=False) as store:
        chosen = {
            one.id: words[one.id]
            for one in store.battles()
            if "mole" not in (one.model_a, one.model_b)
        }
    label_all(out, chosen)
    with pytest.raises(BadInput) as wrong:
        labelled_board_of(out)
    assert str(wrong.value) == (
        'too few labelled battles: each model needs 10, and there are of "mole" 0; draw and label '
        "more with arena labels sample"
    )


def test_the_command_prints_it_in_every_form(labelled: Path, tmp_path: Path) -> None:
    text = invoke("leaderboard", labelled, "--labels", width=80).output
    assert "note: ratings are on the scale of 1 person who labelled 90 of 240" in text
    assert max(map(len, text.splitlines())) <= 80
    table = json.loads(invoke("leaderboard", labelled, "--labels", "--json").output)
    assert table["settings"]["labels"]["random"] == "drawn"
    assert (
        "on the scale of 1 person"
        in invoke("leaderboard", labelled, "--labels", "--format", "markdown").output
    )
    picture = tmp_path / "x.svg"
    assert invoke("leaderboard", labelled, "--labels", "--picture", picture).exit_code == 0
    assert picture.read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--assume-random"], "goes with --labels"),
        (["--labels", "--by", "round"], "leave out --by"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    labelled: Path, options: list[str], why: str
) -> None:
    said = invoke("leaderboard", labelled, *options)
    assert said.exit_code == 2
    assert why in said.output


def test_labels_too_uneven_to_rate_by_are_said_to_be_too_few(tmp_path: Path) -> None:
    # Two groups that never met; of one, hardly anything was labelled.
    films = [video(f"clip {k}".encode(), path=f"{k}.mp4") for k in range(40)]
    pairs = [("hawk", "owl")] * 39 + [("mole", "fox")]
    battles = [
        battle(slot(film, 0), model_a=a, model_b=b)
        for film, (a, b) in zip(films, pairs, strict=True)
    ]
    out = play(tmp_path / "out", battles, videos=films)
    label_all(out, {one.id: "a" for one in battles[:39]})
    with pytest.raises(BadInput, match='there are of "mole" 0, "fox" 0'):
        labelled_board_of(out, assume_random=True)
