"""Every battle of a run can be listed, and those that are asked for."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from rich.cells import cell_len

from tests.support.played import battle, invoke, judging, lineage, manifest, play, slot, video
from tests.support.small_runs import altered
from videoautoarena.memory.records.errors import BadInput, StoreError, WrongArgument
from videoautoarena.memory.records.outlines import Outlines
from videoautoarena.memory.records.records import Battle, Verdict
from videoautoarena.runs.cli.program.main import load
from videoautoarena.runs.run.battles.listing import FOLDS, VERDICTS, Sort, chances


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("played") / "out", lineage(video()))


def table(out: Path, *typed: object, width: int = 80) -> list[str]:
    """Return the lines of a table without its header."""
    result = invoke("battles", out, *typed, width=width)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    return lines[lines.index("-" * width) + 1 :]


def test_a_line_says_who_beat_whom_in_which_round_over_what_and_why(out: Path) -> None:
    head, _, first, *_ = invoke("battles", out, width=180).output.splitlines()
    assert head.split() == ["battle", "video", "length", "round", "result", "question", "why"]
    asked = "What is in the pan in round 0?"
    facts = f"{video().id}-p1-r0 clip.mp4 12.5 s 1 hawk beat owl"
    assert " ".join(first.split()) == f"{facts} {asked} hawk is right, owl is not"


def test_question_and_reason_have_lines_of_their_own_where_room_is_lacking(out: Path) -> None:
    facts, asked, why = table(out)[:3]
    assert facts.split()[1:] == ["clip.mp4", "12.5", "s", "1", "hawk", "beat", "owl"]
    assert (asked, why) == ("  What is in the pan in round 0?", "  hawk is right, owl is not")


def test_a_list_is_as_wide_as_the_terminal_and_its_names_fold(tmp_path: Path) -> None:
    films = [video(b"1", path="far/away/" + "名前" * 20 + ".mp4"), video(b"2", duration_s=4000.0)]
    talk = {"question": "What is this and that? " * 12, "model_a": "openai:gpt-4o-of-a-long-name"}
    battles = [battle(slot(film, k), **talk) for film in films for k in range(2)]
    battles.append(battle(slot(films[1], 2), verdict="void", reason="nobody knows why " * 15))
    settings = manifest(models=["openai:gpt-4o-of-a-long-name", "owl"])
    out = play(tmp_path / "out", battles, videos=films, settings=settings)
    for width in (72, 80, 133, 210):
        lines = table(out, width=width)
        assert max(map(cell_len, lines)) == width
        told = "".join(lines)
        assert (told.count("名"), told.count("前")) == (2 * 20, 2 * 20)
        assert "away" not in told
        assert "1:06:40" in lines[-3] or "1:06:40" in lines[-1]
    first, second = table(out)[:2]
    assert first.endswith(" gpt-4o-of-a-long-name beat")
    assert second.endswith(" owl")


def test_a_name_takes_a_bounded_number_of_lines(tmp_path: Path) -> None:
    film = video(path="x" * 5000)
    lines = table(play(tmp_path / "out", [battle(slot(film, 0))], videos=[film]))
    assert len(lines) == FOLDS + 2
    assert lines[FOLDS - 1].endswith("xx...")


def test_the_second_seat_can_win_and_ties_say_of_which_kind(out: Path) -> None:
    lines = table(out)
    assert "mole beat hawk" in lines[3]
    assert "hawk = owl, both good" in lines[6]


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ("void", "void: hawk, owl"),
        ("forfeit_a", "hawk forfeits to owl"),
        ("forfeit_b", "owl forfeits to hawk"),
        ("split", "hawk = owl, split"),
    ],
)
def test_a_line_says_why_nobody_won(tmp_path: Path, verdict: str, told: str) -> None:
    undecided = battle(slot(video(), 0), verdict=verdict, reason="frames changed")
    first, _, why = table(play(tmp_path / "out", [undecided]))
    assert told in first
    assert why == "  frames changed"


def test_json_lines_hold_everything_a_battle_holds(out: Path) -> None:
    lines = invoke("battles", out, "--jsonl").output.splitlines()
    assert [Battle.model_validate(json.loads(line)) for line in lines] == lineage(video())


def test_the_array_and_the_lines_hold_the_same(out: Path) -> None:
    lines = invoke("battles", out, "--jsonl").output.splitlines()
    assert json.loads(invoke("battles", out, "--json").output) == [json.loads(x) for x in lines]
    assert json.loads(lines[0])["schema"] == 1


def test_no_text_of_a_model_reaches_the_terminal_raw(tmp_path: Path) -> None:
    hostile = battle(slot(video(), 0), question="\x1b[2J\u202emoor\n\udcffx" * 9)
    out = play(tmp_path / "out", [hostile])
    shown = invoke("battles", out).output
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert json.loads(invoke("battles", out, "--jsonl").output)["question"] == hostile.question


def test_a_superseded_battle_is_not_listed(tmp_path: Path) -> None:
    places = [slot(video(), 0), slot(video(), 0, ordinal=1, generation=2)]
    out = play(tmp_path / "out", [battle(place) for place in places], slots=places)
    assert [line.split()[0] for line in table(out) if line[0] != " "] == [places[1].id]


def test_a_run_without_battles_says_so_and_lists_none(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [], slots=[slot(video(), 0)])
    assert invoke("battles", out).output == "no battle is settled yet\n"
    assert invoke("battles", out, "--jsonl").output == ""
    assert json.loads(invoke("battles", out, "--json").output) == []


FOUGHT = (
    ("hawk", "owl", "a"),
    ("hawk", "mole", "b"),
    ("owl", "hawk", "tie_good"),
    ("owl", "mole", "a"),
    ("hawk", "owl", "void"),
    ("hawk", "mole", "forfeit_a"),
    ("owl", "hawk", "a"),
    ("hawk", "mole", "split"),
    ("hawk", "mole", "a"),
    ("mole", "owl", "tie"),
)
HARD = {1: 3.5, 6: 4.5, 8: 3.5}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of battles that differ in all that may be asked for."""
    said = dict(
        instruction_following="Both do.",
        accuracy="A misses 100% of the Straße.",
        relevance="Both fit.",
        helpfulness="Both help.",
    )
    texts: dict[int, dict[str, object]] = {
        1: {"question": "Where is the RED\n  car (a.b*c)?"},
        3: {"answer_b": "The red car is gone."},
        7: {"verdicts": (judging(analyses=said),)},
        9: {"verdicts": (judging(verdict="failed", analyses=None, reason="lost: no Car"),)},
    }
    films = [video(b"%d" % k, path=f"{k}.mp4") for k in range(len(FOUGHT))]
    battles = [
        battle(
            slot(films[k], 0),
            model_a=f"openai:{a}",
            model_b=f"openai:{b}",
            verdict=verdict,
            reason="timeout" if verdict == "void" else None,
            difficulty=HARD.get(k),
            **texts.get(k, {}),
        )
        for k, (a, b, verdict) in enumerate(FOUGHT)
    ]
    settings = manifest(models=[f"openai:{name}" for name in ("hawk", "owl", "mole", "idle")])
    return play(tmp_path_factory.mktemp("many") / "out", battles, videos=films, settings=settings)


def listed(out: Path, *typed: str) -> list[int]:
    """Return which battles of `many` are listed, in their order."""
    result = invoke("battles", out, *typed, "--json")
    assert result.exit_code == 0, result.output
    places = {video(b"%d" % k).id: k for k in range(len(FOUGHT))}
    return [places[found["video"]] for found in json.loads(result.output)]


@pytest.mark.parametrize(
    ("typed", "rows"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("--pair hawk,owl", [0, 2, 4, 6]),
        ("--pair openai:owl,Hawk", [0, 2, 4, 6]),
        ("--pair hawk --pair owl", [0, 2, 4, 6]),
        ("--pair hawk,idle", []),
        ("--lost-by hawk", [1, 6]),
        ("--lost-by mole", [3, 8]),
        ("--verdict win", [0, 1, 3, 6, 8]),
        ("--verdict b", [1]),
        ("--verdict tie", [2, 7, 9]),
        ("--verdict tie_good", [2]),
        ("--verdict forfeit --verdict void", [4, 5]),
        ("--verdict forfeit_b", []),
        ("--sort hardest", [6, 1, 8, 0, 2, 3, 4, 5, 7, 9]),
        ("--sort hardest --pair hawk,mole", [1, 8, 5, 7]),
        ("--pair hawk,owl --lost-by hawk --verdict a", [6]),
    ],
)
def test_battles_are_those_that_are_asked_for(many: Path, typed: str, rows: list[int]) -> None:
    assert listed(many, *typed.split()) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("red car", [1, 3]),
        ("RED\tCAR (a.B*C)", [1]),
        ("a.b.c", []),
        ("100% of the STRASSE", [7]),
        ("no car", [9]),
        ("Timeout", [4]),
        ("openai", []),
        ("both do", [7]),
    ],
)
def test_a_text_is_looked_for_as_it_is_in_whatever_case(
    many: Path, text: str, rows: list[int]
) -> None:
    assert listed(many, "--contains", text) == rows


def test_a_changed_file_with_other_shapes_ends_no_search(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video()))
    with altered(out) as file:
        file.execute("DROP TRIGGER IF EXISTS battles_stay")
        change = "json_set(body, '$.difficulty', 'x', '$.verdicts[0].analyses', 7, '$.reason', 1)"
        file.execute(f"UPDATE battles SET body = {change}")
    typed = ("--contains", "nowhere", "--sort", "hardest")
    assert invoke("battles", out, *typed).output.startswith("none of 3 battles fits")
    assert isinstance(invoke("battles", out, "--sort", "hardest").exception, StoreError)


class Rated(NamedTuple):
    model: str
    rating: float | None


def test_an_outcome_is_as_likely_as_the_ratings_say() -> None:
    ends = ("a", "b", "tie_bad", "split", "void", "forfeit_b")
    fought = [battle(slot(video(), k), verdict=verdict) for k, verdict in enumerate(ends)]
    fought.append(battle(slot(video(), 6), model_b="mole"))
    rows = [Rated("hawk", 1400.0), Rated("owl", 1000.0), Rated("mole", None)]
    found = chances(Outlines.of(fought), rows)
    assert found == pytest.approx([10 / 11, 1 / 11, 0.5 + 1 / 11, 0.5 + 1 / 11, 1, 1, 1])


def test_what_the_ratings_made_least_likely_comes_first(many: Path) -> None:
    board = json.loads(invoke("leaderboard", many, "--json").output)["models"]
    rating = {row["model"].removeprefix("openai:"): row["rating"] for row in board}

    def chance(k: int) -> float:
        a, b, verdict = FOUGHT[k]
        of_a = 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400))
        tie = 0.5 + min(of_a, 1 - of_a)
        known = {"a": of_a, "b": 1 - of_a, "void": 1.0, "forfeit_a": 1.0}
        return round(known.get(verdict, tie), 9)

    rows = listed(many, "--sort", "surprise")
    assert rows == sorted(range(len(FOUGHT)), key=chance)
    assert rows[-2:] == [4, 5]


def test_every_form_obeys_what_is_asked_for(many: Path) -> None:
    typed = ("--pair", "hawk,mole", "--sort", "hardest")
    wanted = [found["id"] for found in json.loads(invoke("battles", many, *typed, "--json").output)]
    lines = invoke("battles", many, *typed, "--jsonl").output.splitlines()
    rows = csv.DictReader(StringIO(invoke("battles", many, *typed, "--format", "csv").output))
    shown = [line.split()[0] for line in table(many, *typed) if line[0] != " "]
    assert len(wanted) == 4
    assert wanted == [json.loads(line)["id"] for line in lines]
    assert wanted == [row["id"] for row in rows]
    assert wanted == shown


@pytest.mark.parametrize(
    ("typed", "kind", "said"),
    [
        ("--lost-by nobody", BadInput, "--lost-by nobody: no such model; there are openai:hawk, "),
        ("--pair hawk,x\x1b[2J", BadInput, "--pair x\\x1b[2J: no such model; there are openai:h"),
        ("--pair hawk,openai:hawk", WrongArgument, "--pair names openai:hawk twice; name two"),
    ],
)
def test_a_name_that_is_none_is_refused_in_a_line_with_those_there_are(
    many: Path, typed: str, kind: type, said: str
) -> None:
    wrong = invoke("battles", many, *typed.split(" ")).exception
    assert type(wrong) is kind
    assert str(wrong).startswith(said)
    assert "\n" not in str(wrong)


def test_a_pair_is_two_models(many: Path) -> None:
    refused = invoke("battles", many, "--pair", "hawk")
    assert refused.exit_code == 2
    assert "--pair takes two models, as in hawk,owl, not 1" in refused.output


def test_a_selection_that_no_battle_fits_is_said_in_a_line(many: Path) -> None:
    typed = ("--lost-by", "idle", "--verdict", "win", "--contains", "no\x1b[2J")
    told = "none of 10 battles fits --lost-by idle --verdict win --contains no\\x1b[2J\n"
    assert invoke("battles", many, *typed).output == told


def test_words_for_verdicts_are_the_same_on_the_command_line_and_name_all_that_are_stored() -> None:
    options = {option.name: option for option in load("battles").params}
    assert options["verdicts"].type.choices == tuple(VERDICTS)  # type: ignore[attr-defined]
    assert options["sort"].type.choices == get_args(Sort)  # type: ignore[attr-defined]
    stored = [verdict for word in VERDICTS.values() for verdict in word]
    assert set(stored) == set(get_args(Verdict))
