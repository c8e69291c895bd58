"""One battle can be read whole."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.played import (
    battle,
    call,
    evolution,
    invoke,
    judging,
    lineage,
    play,
    slot,
    video,
)
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.records.records import Attempt, Judging, Nonce
from videoautoarena.memory.records.standards import STANDARDS
from videoautoarena.runs.cli.program.main import load
from videoautoarena.runs.run.battles.detail_text import frame_times

IDS = [slot(video(), round_).id for round_ in range(3)]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    calls = [
        call(IDS[1]),
        call(
            IDS[1],
            nonce=Nonce(scope=IDS[1], role="contestant"),
            cost_usd=0.25,
            reply=None,
            failure="the server said no",
            attempts=(Attempt(kind="http-500", reason="oops", waited_s=1.0),),
        ),
    ]
    return play(tmp_path_factory.mktemp("played") / "out", lineage(video()), calls=calls)


def shown(out: Path, id_: str, width: int = 80) -> str:
    result = invoke("show", out, id_, width=width)
    assert result.exit_code == 0, result.exception
    return result.output


def test_the_page_begins_with_the_first_question_of_the_lineage(out: Path) -> None:
    page = shown(out, IDS[2])
    assert page.index("What is in the pan in round 0?") < page.index("pan in round 1?")
    assert "round 1, first: What is in the pan in round 0?" in page
    assert page.index("hawk beat owl") < page.index("mole beat hawk") < page.index("Persona 1")


def test_the_page_says_that_stand_ins_played(out: Path) -> None:
    assert "note: rates stand-ins" in shown(out, IDS[0]).splitlines()[1]


def test_the_page_says_what_was_asked_how_hard_and_aimed_at_whom(out: Path) -> None:
    page = shown(out, IDS[1])
    assert "Question (round 2, evolved, difficulty 3.5, aimed at hawk and owl)" in page
    assert "A person who cooks." in page


def test_the_page_says_who_was_the_judges_answer_a(out: Path) -> None:
    page = " ".join(shown(out, IDS[0]).split())
    assert "Judged by judge: hawk wins (Answer A: owl, Answer B: hawk)" in page
    for analysis in ("instruction following: Both", "accuracy: B is", "relevance:", "helpfulness:"):
        assert analysis in page


def test_a_judge_without_a_verdict_says_why(tmp_path: Path) -> None:
    mute = judging(verdict="failed", analyses=None, reason="no JSON, twice")
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdicts=(mute,))])
    assert "no JSON, twice" in shown(out, IDS[0])


def test_faults_stand_with_the_battle_they_were_found_in(out: Path) -> None:
    page = shown(out, IDS[0])
    found = page[page.index("Faults found in this battle") :]
    assert "faults of A hawk: misses the salt" in found
    assert "weaknesses of B owl: colour" in found
    assert "difficulty 2.5 -> 2.0 (sum of standards 10.0 -> 8.0): refused by the gate" in found
    assert "difficulty 2.5 -> 3.5 (sum of standards 10.0 -> 14.0): accepted" in found


def test_a_question_names_the_battle_it_came_from(out: Path) -> None:
    assert f"Where the question came from: attempt 2 from {IDS[0]}" in shown(out, IDS[1])
    assert "Where the question came from" not in shown(out, IDS[0])


def test_nothing_was_found_where_no_evolver_ran(out: Path) -> None:
    assert "the evolver was not called" in shown(out, IDS[2])


def test_calls_tell_tokens_cost_tries_and_failure(out: Path) -> None:
    page = " ".join(shown(out, IDS[1], 200).split())
    assert "Calls of this slot: 2, cost unknown" in page
    assert "1,000 tokens in, 50 tokens out, cost unknown, 0.25 s" in page
    assert "cost $0.2500, 0.25 s, 2 attempts, failed: the server said no" in page


def test_answers_stand_side_by_side_where_there_is_room(out: Path) -> None:
    def together(width: int) -> bool:
        lines = shown(out, IDS[0], width).splitlines()
        return any("An onion" in line and "A carrot." in line for line in lines)

    assert together(100)
    assert not together(99)


def test_no_line_is_wider_than_the_terminal_but_a_command_to_copy(out: Path) -> None:
    for width in (60, 100, 137):
        lines = shown(out, IDS[1], width).splitlines()
        assert max(len(line) for line in lines if "arena frames" not in line) <= width


def test_a_video_is_told_by_its_file_and_length_with_a_command_that_shows_its_frames(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spaced = tmp_path / "a run that lies in a folder with a long name and with blanks in it"
    shutil.copytree(out, spaced)
    lines = [line.strip() for line in shown(Path(spaced.name), IDS[1], 60).splitlines()]
    assert "Video clip.mp4, 12.5 s" in lines
    ((_, *typed),) = (shlex.split(line) for line in lines if line.startswith("arena frames "))
    understood = load("frames").make_context("frames", typed[1:]).params
    assert (understood["video"], understood["out"]) == (video().id, Path(spaced.name))


def test_long_rows_of_frame_times_are_cut_in_the_middle(out: Path) -> None:
    assert "12 frames at 0.00 1.00 2.00 3.00 ... 10.00 11.00 s" in shown(out, IDS[0])
    assert frame_times((0.0, 12.46)) == "2 frames at 0.00 12.46 s"
    assert frame_times(()) == "0 frames"


def test_nothing_hostile_reaches_the_terminal(tmp_path: Path) -> None:
    bad = "\x1b]0;owned\x07 [red]:smile: {0} %s \u202e\udcff\r"
    texts = dict.fromkeys(("question", "answer_a", "answer_b", "persona_text", "category"), bad)
    hostile = battle(slot(video(), 0), **texts, verdicts=(judging(reason=bad),))
    page = shown(play(tmp_path / "out", [hostile]), IDS[0])
    assert not set(page) & set("\x1b\x07\u202e\udcff\r")
    assert "[red]:smile: {0} %s" in page


def test_a_battle_that_never_came_to_a_draw_is_shown_too(tmp_path: Path) -> None:
    names = ("category", "persona_text", "origin", "question", "model_a", "model_b")
    nothing = dict.fromkeys((*names, "answer_a", "answer_b", "propensity"))
    void = battle(
        slot(video(), 0), **nothing, frames_a=(), verdict="void", reason="no frame", verdicts=()
    )
    page = shown(play(tmp_path / "out", [void]), IDS[0])
    assert "void: no frame" in page
    assert "nobody was drawn" in page


def test_json_holds_battle_lineage_findings_and_calls(out: Path) -> None:
    told = json.loads(invoke("show", out, IDS[1], "--json").output)
    assert told["battle"]["id"] == IDS[1]
    assert [battle["id"] for battle in told["earlier"]] == IDS[:1]
    assert [attempt["battle"] for attempt in told["found"]] == [IDS[1]]
    assert [row["role"] for row in told["calls"]] == ["judge", "contestant"]
    assert told["cost_usd"] is None


def test_cost_is_a_sum_only_where_every_part_is_known(tmp_path: Path) -> None:
    calls = [call(IDS[0], cost_usd=0.5), call(IDS[0], cost_usd=0.25)]
    out = play(tmp_path / "out", lineage(video()), calls=calls)
    assert json.loads(invoke("show", out, IDS[0], "--json").output)["cost_usd"] == 0.75


def test_the_beginning_of_an_id_is_enough_where_it_names_one(tmp_path: Path) -> None:
    out = play(tmp_path / "out", lineage(video())[:1])
    assert IDS[0] in shown(out, IDS[0][:5])


def test_an_ambiguous_beginning_names_the_candidates(out: Path) -> None:
    wrong = invoke("show", out, IDS[0][:-1]).exception
    assert isinstance(wrong, BadInput)
    assert all(id_ in str(wrong) for id_ in IDS)


def test_an_unknown_battle_names_those_that_come_near(out: Path) -> None:
    wrong = invoke("show", out, IDS[0][:-1] + "9").exception
    assert isinstance(wrong, BadInput)
    assert IDS[0] in str(wrong)


def superseded(tmp_path: Path) -> Path:
    """Return a run whose second round failed for a call and was played again with the third."""
    slots = [slot(video(), round_) for round_ in range(3)]
    again = [slot(video(), n, ordinal=n + 2, generation=1) for n in (1, 2)]
    calls = [
        call(IDS[1], reply=None, failure="no such key", failure_kind="http-401"),
        call(IDS[1], nonce=Nonce(scope=IDS[1], role="judge", generation=1)),
    ]
    battles = [
        battle(slots[0]),
        battle(slots[1], verdict="void", reason="no judge decided", question="What failed?"),
        battle(slots[2], question="What came after?"),
        battle(again[0], verdict="b", evolution=(evolution(slots[0].id),)),
        battle(again[1]),
    ]
    return play(tmp_path / "out", battles, slots=[*slots, *again], calls=calls)


def test_a_superseded_battle_says_so_and_stands_in_its_own_time(tmp_path: Path) -> None:
    out = superseded(tmp_path)
    assert f"note: superseded by {IDS[1]}~1; not counted" in shown(out, IDS[1])
    old, new = (
        json.loads(invoke("show", out, id_, "--json").output) for id_ in (IDS[2], f"{IDS[2]}~1")
    )
    assert [battle["id"] for battle in old["earlier"]] == IDS[:2]
    assert [battle["id"] for battle in new["earlier"]] == [IDS[0], f"{IDS[1]}~1"]
    assert (old["superseded_by"], new["superseded_by"]) == (f"{IDS[2]}~1", None)


def test_calls_of_a_later_generation_are_no_part_of_a_superseded_battle(tmp_path: Path) -> None:
    out = superseded(tmp_path)
    told = [
        json.loads(invoke("show", out, id_, "--json").output) for id_ in (IDS[1], f"{IDS[1]}~1")
    ]
    assert [[row["generation"] for row in one["calls"]] for one in told] == [[0], [0, 1]]


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_without_a_run_is_named(tmp_path: Path, made: bool) -> None:
    folder = tmp_path if made else tmp_path / "nothing"
    wrong = invoke("show", folder, "x").exception
    assert isinstance(wrong, BadInput)
    assert str(folder) in str(wrong)
    assert made == ("run.sqlite" in str(wrong))


def blaming(loser: str, *, seats: str = "ab", verdict: str = "a") -> Judging:
    """Return a judging that names a fault of the model in one seat, or of nobody."""
    said = dict.fromkeys(STANDARDS, "Both are fine, so to say.")
    if loser:
        said["accuracy"] = f"Answer {loser} misses the second cut."
    return judging(seats=seats, verdict=verdict, analyses=said)


BLAMES_B = (blaming("B"),)
FOUGHT = (*[("hawk", "owl")] * 4, *[("owl", "mole")] * 3, *[("hawk", "mole")] * 2)
"""Who beat whom before the battles that a test adds, so that they stand in this order."""


def played_by(
    tmp_path: Path,
    *more: tuple[str, str, dict[str, object]],
    fought: Sequence[tuple[str, str]] = FOUGHT,
    looked_at: tuple[int, int, int] | None = None,
) -> tuple[Path, list[str]]:
    """Return a run, and the ids of the battles that were added: winner, loser, what differs.

    Of one of these, by its place, the evolver found so many faults in the winner and the loser.
    """
    ended = [*((a, b, {"verdicts": BLAMES_B}) for a, b in fought), *more]
    films = [video(b"%d" % k, path=f"{k}.mp4") for k in range(len(ended))]
    battles = [
        battle(slot(film, 0), model_a=a, model_b=b, **changed)
        for film, (a, b, changed) in zip(films, ended, strict=True)
    ]
    added = battles[len(fought) :]
    if looked_at is not None:
        place, winner, loser = looked_at
        of = added[place]
        faults = {"faults_a": ("x",) * winner, "faults_b": ("x",) * loser}
        pair = {"pair": (of.model_a, of.model_b)}
        found = evolution(of.id).model_copy(update={**pair, **faults})
        film = films[len(fought) + place]
        battles.append(battle(slot(film, 1), verdict="void", evolution=(found,)))
    out = play(tmp_path / "out", battles, videos=films)
    return out, [one.id for one in added]


def opened(out: Path) -> tuple[str, str]:
    """Return which battle is opened where none is named, and why."""
    told = json.loads(invoke("show", out, "--json").output)
    return told["battle"]["id"], told["chosen"]


def test_without_an_id_the_least_likely_loss_of_the_first_is_opened(tmp_path: Path) -> None:
    lost = {"verdicts": BLAMES_B}
    out, (_, to_mole, _) = played_by(
        tmp_path, ("owl", "hawk", lost), ("mole", "hawk", lost), ("mole", "owl", lost)
    )
    id_, why = opened(out)
    assert id_ == to_mole
    assert why.startswith(
        "why this battle: hawk is first on the leaderboard and lost 2 battles; of"
    )
    assert why.endswith("%), among those whose judge names a fault of the loser")


@pytest.mark.parametrize(
    "verdicts",
    [
        (blaming(""),),
        (blaming("A"),),
        (blaming("B"), blaming("B", seats="ba", verdict="b")),
        (blaming("B"), blaming("", seats="ba", verdict="tie")),
    ],
)
def test_a_verdict_for_which_nothing_or_against_which_anything_speaks_stands_behind_another(
    tmp_path: Path, verdicts: tuple[Judging, ...]
) -> None:
    out, (to_owl, _) = played_by(
        tmp_path,
        ("owl", "hawk", {"verdicts": BLAMES_B}),
        ("mole", "hawk", {"verdicts": verdicts}),
    )
    assert opened(out)[0] == to_owl


def test_one_that_a_second_seating_confirms_comes_first_and_is_said_to(tmp_path: Path) -> None:
    once = {"verdicts": BLAMES_B}
    out, (_, confirmed) = played_by(tmp_path, ("mole", "hawk", once), ("owl", "hawk", BOTH))
    id_, why = opened(out)
    assert id_ == confirmed
    assert why.endswith("%), among those that a second look confirms")


BOTH = {"verdicts": (*BLAMES_B, blaming("A", seats="ba"))}


@pytest.mark.parametrize(
    ("winner", "loser", "about", "place"), [(2, 1, 0, 1), (0, 1, 1, 1), (1, 1, 1, 0)]
)
def test_the_evolver_speaks_for_a_verdict_or_against_it(
    tmp_path: Path, winner: int, loser: int, about: int, place: int
) -> None:
    lost = ("mole", "hawk", {"verdicts": BLAMES_B})
    out, ids = played_by(tmp_path, lost, lost, looked_at=(about, winner, loser))
    assert opened(out)[0] == ids[place]


def test_of_those_that_are_confirmed_the_least_likely_is_opened(tmp_path: Path) -> None:
    lost = ("mole", "hawk", BOTH), ("owl", "hawk", BOTH)
    out, (to_mole, _) = played_by(tmp_path, *lost, looked_at=(1, 0, 1))
    assert opened(out)[0] == to_mole


def test_one_that_lost_nothing_is_shown_beating_the_second(tmp_path: Path) -> None:
    out, (_, against) = played_by(
        tmp_path, ("owl", "hawk", {"verdict": "tie_good"}), ("hawk", "owl", BOTH)
    )
    id_, why = opened(out)
    assert id_ == against
    assert "lost none; of its 5 wins over owl, the second, this is one that a second" in why


def test_one_that_only_tied_with_the_second_is_shown_in_its_least_likely_win(
    tmp_path: Path,
) -> None:
    fought = [("hawk", "mole")] * 4 + [("owl", "mole")] * 2
    out, ids = played_by(
        tmp_path, *[("hawk", "owl", {"verdict": "tie"})] * 2, ("mole", "owl", {}), fought=fought
    )
    id_, why = opened(out)
    assert id_ not in ids
    assert "and lost none; of its 4 wins this is one whose judge" in why


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((("mole", "hawk", "a"), *[("hawk", "mole", "a")] * 2), "lost this one alone"),
        (
            (("hawk", "owl", "a"), ("owl", "mole", "a")),
            "it beat owl, the second, in this one alone",
        ),
        (
            (("hawk", "owl", "tie"), ("hawk", "owl", "tie")),
            "so nobody leads; of 2 ties this is one",
        ),
        ((("hawk", "owl", "split"),), "so nobody leads; this tie is all that they were in"),
    ],
)
def test_the_reason_fits_where_there_is_no_choice(
    tmp_path: Path, ends: Sequence[tuple[str, str, str]], said: str
) -> None:
    more = [(a, b, {"verdict": verdict, "verdicts": BLAMES_B}) for a, b, verdict in ends]
    why = opened(played_by(tmp_path, *more, fought=())[0])[1]
    assert said in why
    assert ("%" in why) == ("ties" not in why and "alone" not in why and "all" not in why)


def test_where_no_reason_names_a_fault_the_least_likely_is_opened(tmp_path: Path) -> None:
    vague = {"verdicts": (blaming(""),)}
    out, (to_mole, _) = played_by(tmp_path, ("mole", "hawk", vague), ("owl", "hawk", vague))
    id_, why = opened(out)
    assert id_ == to_mole
    assert why.endswith("%)")


def test_what_was_chosen_is_shown_in_brief_with_the_command_for_the_rest(tmp_path: Path) -> None:
    out, (lost,) = played_by(tmp_path, ("mole", "hawk", {"verdicts": BLAMES_B}))
    page = invoke("show", out, width=80).output
    lines = page.splitlines()
    assert lines[0].startswith(
        "why this battle: hawk is first on the leaderboard and lost this one alone"
    )
    assert lines[-1] == f"  arena show {out} {lost}"
    assert "Answer B misses the second cut." in page
    assert "Provenance" not in page
    assert max(len(line) for line in lines if "  arena " not in line) <= 80


def test_where_nothing_is_decided_one_line_says_so(tmp_path: Path) -> None:
    out = play(tmp_path / "out", [battle(slot(video(), 0), verdict="void", reason="lost")])
    wrong = invoke("show", out).exception
    assert isinstance(wrong, BadInput)
    assert str(wrong) == f"no battle in {out} is decided yet, so that none can be chosen"


def test_where_ratings_are_equal_nobody_is_called_the_first(tmp_path: Path) -> None:
    even = [("hawk", "owl"), ("owl", "hawk")]
    out, _ = played_by(tmp_path, fought=even)
    assert opened(out)[1] == (
        "why this battle: hawk and owl are rated alike, so nobody leads; of 2 battles with a "
        "winner this is one whose judge names a fault of the loser; all were equally likely by "
        "the ratings (50 %)"
    )
    tied = {"verdict": "tie_good", "verdicts": (judging(verdict="tie_good"),)}
    out, (tie,) = played_by(tmp_path / "tied", ("hawk", "owl", tied), fought=())
    assert opened(out) == (
        tie,
        "why this battle: hawk and owl are rated alike, so nobody leads; this tie is all that they "
        "were in",
    )
    page = invoke("show", out, width=80).output
    assert "Judged by judge: a tie, both good" in page
    assert "\nVerdict\n  hawk and owl tie, both good\n" in page


def test_wins_over_one_model_are_equally_likely_and_none_is_called_the_least(
    tmp_path: Path,
) -> None:
    out, _ = played_by(tmp_path, fought=[("hawk", "owl")] * 4)
    why = opened(out)[1]
    assert "of its 4 wins over owl, the second, this is one whose judge" in why
    assert "all were equally likely by the ratings (" in why
