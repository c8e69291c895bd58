"""What the evolver wrote of answers becomes a profile of each model."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import videoautoarena as va
from tests.support.letters import Letters
from tests.support.played import battle, evolution, invoke, lineage, play, slot, video
from videoautoarena.memory.records.errors import WrongArgument
from videoautoarena.memory.records.records import Battle, Evolution
from videoautoarena.runs.rating.profile import build_profiles
from videoautoarena.runs.run.rundir.weaknesses import Look, Looks

CONTESTANTS = ("hawk", "owl", "mole")
BLIND = "misses on-screen text"
SLOW = "gives wrong times"
ODD = "hums a tune"
HOSTILE = "\x1b[2J[bold]<script>alert(1)</script>\u202e"


def looked_at(of: Battle, a: Sequence[str], b: Sequence[str], **changed: Any) -> Evolution:
    """Return an attempt that found weaknesses in the answers of a battle, each with its fault."""
    found = {
        "pair": (of.model_a, of.model_b),
        "weaknesses_a": tuple(a),
        "weaknesses_b": tuple(b),
        "faults_a": tuple(f"fault of {text}" for text in a),
        "faults_b": tuple(f"fault of {text}" for text in b),
    }
    return evolution(of.id).model_copy(update={**found, **changed})


def season(out: Path, *, videos: int = 30, shares: dict[str, float] | None = None) -> Path:
    """Return a run in which each model shows BLIND with a share of its own, and SLOW half the
    time."""
    rng = random.Random(2)
    often = shares or {"hawk": 0.1, "owl": 0.4, "mole": 0.9}
    films = [video(f"film {k}".encode(), path=f"{k}.mp4") for k in range(videos)]
    battles = []
    slots = []

    def drawn(model: str) -> list[str]:
        every = [BLIND] * (rng.random() < often[model]) + [SLOW] * (rng.random() < 0.5)
        return [rng.choice((text, f"{text}.", text.upper())) for text in every]

    for film in films:
        for round_ in range(4):
            a, b = rng.sample(CONTESTANTS, 2)
            here = slot(film, round_, ordinal=len(slots))
            before = battles[-1:] if round_ else []
            attempts = [looked_at(of, drawn(of.model_a), drawn(of.model_b)) for of in before]
            slots.append(here)
            said = {"model_a": a, "model_b": b, "verdict": rng.choice(["a", "b", "tie_bad"])}
            battles.append(battle(here, **said, evolution=tuple(attempts * rng.randint(1, 2))))
    return play(out, battles, videos=films, slots=slots)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return season(tmp_path_factory.mktemp("profile") / "out")


def printed(*words: object) -> Any:
    return json.loads(invoke(*words, "--json").stdout)


def recounted(out: Path) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Return how many answers of each model were looked at, and how many showed each theme."""
    battles = {one["id"]: one for one in printed("battles", out)}
    written = defaultdict[tuple[str, str], set[str]](set)
    for one in battles.values():
        for attempt in one["evolution"]:
            for seat in "ab":
                texts = attempt[f"weaknesses_{seat}"]
                written[attempt["battle"], seat] |= {text.casefold().rstrip(".") for text in texts}
    looked = defaultdict[str, int](int)
    shown = defaultdict[tuple[str, str], int](int)
    for (id_, seat), texts in written.items():
        model = battles[id_][f"model_{seat}"]
        looked[model] += 1
        for text in texts:
            shown[model, text] += 1
    return looked, shown


def test_counts_are_those_of_the_battles(run: Path) -> None:
    looked, shown = recounted(run)
    found = printed("leaderboard", run, "--profile")
    assert found["answers"] == sum(looked.values())
    for profile in found["profiles"]:
        model = profile["model"]
        assert profile["looked_at"] == looked[model]
        assert {row["theme"].casefold().rstrip(".") for row in profile["themes"]} == {
            BLIND,
            SLOW,
        }
        for row in profile["themes"]:
            theme = row["theme"].casefold().rstrip(".")
            others = [name for name in CONTESTANTS if name != model]
            assert (row["n"], row["of"]) == (shown[model, theme], looked[model])
            assert row["others_n"] == sum(shown[name, theme] for name in others)
            assert row["others_of"] == sum(looked[name] for name in others)
            gap = row["n"] / row["of"] - row["others_n"] / row["others_of"]
            assert row["difference"]["value"] == pytest.approx(gap, abs=1e-5)
        assert [row["n"] for row in profile["themes"]] == sorted(
            (row["n"] for row in profile["themes"]), reverse=True
        )


def test_a_model_is_marked_where_it_surely_differs_and_nowhere_else(run: Path) -> None:
    found = {
        profile["model"]: profile
        for profile in printed("leaderboard", run, "--profile")["profiles"]
    }
    marks = {
        (model, row["theme"].casefold().rstrip(".")): row["mark"]
        for model, profile in found.items()
        for row in profile["themes"]
    }
    assert marks["hawk", BLIND] == "less"
    assert marks["mole", BLIND] == "more"
    assert [marks[model, SLOW] for model in CONTESTANTS] == [None] * 3


def test_too_few_answers_mark_nothing(tmp_path: Path) -> None:
    out = season(tmp_path / "out", videos=6, shares={"hawk": 0.0, "owl": 0.0, "mole": 1.0})
    found = printed("leaderboard", out, "--profile")["profiles"]
    assert all(profile["tested"] == 0 for profile in found)
    assert {row["mark"] for profile in found for row in profile["themes"]} == {None}
    assert "Nothing is marked" in invoke("leaderboard", out, "--profile", "mole").stdout


def test_a_battle_counts_once_however_often_it_was_looked_at(tmp_path: Path) -> None:
    film = video()
    first, second, third = (battle(slot(film, round_)) for round_ in range(3))
    attempts = (
        looked_at(first, [BLIND], [], accepted=False),
        looked_at(first, [BLIND, SLOW], [BLIND]),
    )
    lost = looked_at(second, [SLOW], []).model_copy(update={"battle": "gone"})
    battles = [
        first,
        second.model_copy(update={"evolution": attempts}),
        third.model_copy(update={"evolution": (lost,)}),
    ]
    with va.open_run(play(tmp_path / "out", battles)) as run:
        hawk = run.profile("hawk").to_json()
        owl = run.profile("owl").to_json()
    assert (hawk["looked_at"], owl["looked_at"]) == (1, 1)
    assert [(row["theme"], row["n"], row["others_n"]) for row in hawk["themes"]] == [(BLIND, 1, 1)]
    assert hawk["other"] == {"n": 1, "quotes": [SLOW], "battles": [first.id]}
    assert hawk["themes"][0]["quotes"] == [f"fault of {BLIND}", f"fault of {SLOW}"]


def test_telling_battles_are_wins_over_the_best_and_losses_to_the_worst(tmp_path: Path) -> None:
    film = video()
    ended = [
        ("hawk", "owl", "a", None),
        ("hawk", "owl", "a", 2.0),
        ("hawk", "mole", "a", 3.0),
        ("owl", "mole", "a", 4.0),
        ("owl", "mole", "a", 2.0),
        ("owl", "hawk", "a", 2.5),
        ("mole", "owl", "b", 3.0),
        ("owl", "hawk", "a", 4.5),
        ("owl", "mole", "tie_good", 4.5),
        ("mole", "hawk", "a", 1.5),
    ]
    battles = [
        battle(slot(film, k), model_a=a, model_b=b, verdict=verdict, difficulty=difficulty)
        for k, (a, b, verdict, difficulty) in enumerate(ended)
    ]
    out = play(tmp_path / "out", battles)
    order = [row["model"] for row in printed("leaderboard", out)["models"]]
    assert order == ["owl", "hawk", "mole"]
    owl = printed("leaderboard", out, "--profile", "owl")
    assert owl["wins"] == [battles[k].id for k in (7, 5, 3, 6)]
    assert owl["losses"] == [battles[k].id for k in (1, 0)]
    assert owl["opponents"] == [
        {"model": "hawk", "wins": 2, "ties": 0, "losses": 2},
        {"model": "mole", "wins": 3, "ties": 1, "losses": 0},
    ]


def test_a_run_without_evolutions_says_so(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0))])
    found = printed("leaderboard", out, "--profile")
    assert (found["answers"], found["weaknesses"]) == (0, 0)
    assert [profile["themes"] for profile in found["profiles"]] == [[], [], []]
    assert "looked at no answer yet" in invoke("leaderboard", out, "--profile").stdout
    assert "none of its answers yet" in invoke("leaderboard", out, "--profile", "owl").stdout


def test_a_model_alone_has_nobody_to_differ_from() -> None:
    every = [Look(f"b{k}", f"v{k % 9}", "hawk", (BLIND,), ()) for k in range(60)]
    (hawk,) = build_profiles(Looks([], every), {"hawk": None}).profiles
    (row,) = hawk.themes
    assert (row.n, row.of, row.others_of, row.others_share, row.mark) == (60, 60, 0, None, None)
    assert row.difference == (None, None, None)


def test_a_rare_theme_is_not_tested_and_the_clearest_answers_speak_for_a_theme() -> None:
    shown = {1: (BLIND, SLOW), 2: (BLIND,), 3: (ODD,), 4: (ODD,)}
    every = [
        Look(f"b{k}", f"v{k % 9}", model, texts, tuple(f"fault of b{k}" for _ in texts[:1]))
        for k in range(60)
        for model in ("hawk", "owl")
        for texts in [shown.get(k, (BLIND,) * (k % 2)) if model == "hawk" else ()]
    ]
    hawk, _ = build_profiles(Looks([], every), {"hawk": None, "owl": None}).profiles
    blind, odd = hawk.themes
    assert (blind.theme, odd.theme, odd.n, hawk.tested) == (BLIND, ODD, 2, 1)
    assert (blind.battles[0], blind.quotes[0]) == ("b2", "fault of b2")
    assert hawk.other.quotes == (SLOW,)


def test_among_models_alike_hardly_any_is_marked_however_many_themes_there_are() -> None:
    rng = random.Random(6)
    themes = [chr(97 + k) * 6 for k in range(20)]
    models = [f"model {k}" for k in range(12)]
    every = [
        Look(f"b{k}", f"v{k % 40}", model, tuple(t for t in themes if rng.random() < 0.3), ())
        for k in range(400)
        for model in rng.sample(models, 2)
    ]
    found = build_profiles(Looks([], every), dict.fromkeys(models)).profiles
    assert {profile.tested for profile in found} == {20}
    rows = [row for profile in found for row in profile.themes]
    apart = [row for row in rows if row.difference.low * row.difference.high > 0]
    assert sum(row.mark is not None for row in rows) <= 2 < 4 < len(apart)


def test_weaknesses_that_never_come_again_are_no_themes(tmp_path: Path) -> None:
    film = video()
    words = ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"]
    battles = [battle(slot(film, round_)) for round_ in range(4)]
    for k in range(3):
        attempt = looked_at(battles[k], [words[2 * k]], [words[2 * k + 1]])
        battles[k + 1] = battles[k + 1].model_copy(update={"evolution": (attempt,)})
    hawk = printed("leaderboard", play(tmp_path / "out", battles), "--profile", "hawk")
    assert hawk["themes"] == []
    assert hawk["other"]["n"] == 3
    assert hawk["other"]["quotes"] == words[::2]


def test_hostile_weaknesses_are_shown_and_do_nothing(tmp_path: Path) -> None:
    film = video()
    battles = [battle(slot(film, round_)) for round_ in range(3)]
    for k in (0, 1):
        attempt = looked_at(battles[k], [HOSTILE], [HOSTILE])
        battles[k + 1] = battles[k + 1].model_copy(update={"evolution": (attempt,)})
    out = play(tmp_path / "out", battles)
    for words in (("leaderboard", out, "--profile"), ("leaderboard", out, "--profile", "hawk")):
        shown = invoke(*words, width=200).stdout
        assert "\\x1b[2J[bold]<script>" in shown
        assert not {"\x1b", "\u202e"} & set(shown)
    with va.open_run(out) as run:
        pages = run.profiles()._repr_html_() + run.profile("hawk")._repr_html_()
    assert "<script" not in pages
    assert printed("leaderboard", out, "--profile", "hawk")["themes"][0]["theme"] == HOSTILE


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("howk", "there are hawk, 2 more"), ("zzz", "there are mole, hawk, owl")],
)
def test_a_model_that_there_is_not_is_refused_with_those_that_are_near(
    tmp_path: Path, typed: str, offered: str
) -> None:
    out = play(tmp_path / "out", lineage(video()))
    refused = invoke("leaderboard", out, "--profile", typed)
    assert isinstance(refused.exception, WrongArgument)
    assert str(refused.exception) == f"no model is called {typed!r}; {offered}"


def test_the_library_returns_what_the_command_prints(run: Path) -> None:
    with va.open_run(run) as opened:
        every = opened.profiles()
        one = opened.profile("MOLE")
    assert json.loads(json.dumps(every.to_json())) == printed("leaderboard", run, "--profile")
    assert json.loads(json.dumps(one.to_json())) == printed("leaderboard", run, "--profile", "mole")
    assert str(every) == invoke("leaderboard", run, "--profile").stdout.removesuffix("\n")
    assert str(one) == invoke("leaderboard", run, "--profile", "mole").stdout.removesuffix("\n")
    assert len(every) == 3
    assert {row["mark"] for row in one} == {"more", None}


def test_embeddings_make_the_themes_and_are_asked_for_once(tmp_path: Path) -> None:
    out = season(tmp_path / "out", videos=5)
    before = Letters.asked
    name = "tests.support.letters.Letters:plain"
    first = invoke("leaderboard", out, "--profile", "--embeddings", name, "--json")
    assert "weaknesses go to" in first.stderr
    assert (
        invoke("leaderboard", out, "--profile", "--embeddings", name, "--json").stdout
        == first.stdout
    )
    assert Letters.asked == before + 1
    found = json.loads(first.stdout)
    assert found["grouped_by"] == name
    assert {"theme", "n", "mark"} <= set(found["profiles"][0]["themes"][0])


def test_few_quotes_and_battles_of_the_run_stand_for_a_theme(run: Path) -> None:
    found = printed("leaderboard", run, "--profile", "owl")
    assert all(len(row["quotes"]) <= 4 and len(row["battles"]) <= 6 for row in found["themes"])
    ids = {one["id"] for one in printed("battles", run)}
    assert {id_ for row in found["themes"] for id_ in row["battles"]} <= ids
