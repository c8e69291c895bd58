"""Who leads on a set: below ten videos nobody, and else from paired differences by video."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.held import held
from tests.support.judged import bench_of, judged
from tests.support.task_sets import choice, write_set
from tests.support.told import board_report
from videoautoarena.runs.bench.dialogues.score import score_dialogues
from videoautoarena.runs.bench.format.results import (
    DialogueResult,
    RoundLine,
    TaskLine,
    TaskResult,
    read_anchored,
    read_results,
    write_result,
)
from videoautoarena.runs.bench.score.anchor_score import AnchorScoring, build_anchored
from videoautoarena.runs.bench.score.leads import rank_on_items
from videoautoarena.runs.bench.score.score import build_scores
from videoautoarena.runs.bench.score.task_score import score_tasks
from videoautoarena.runs.views.results.scores import set_reports


def points_of(right: int, of: int, *, seed: int) -> dict[str, float]:
    """Return points on so many items of which so many are right, wherever."""
    rights = [float(k < right) for k in range(of)]
    Random(seed).shuffle(rights)
    return {str(k): one for k, one in enumerate(rights)}


def test_below_ten_videos_nobody_leads_and_a_rank_is_none() -> None:
    items = {str(k): choice(f"v{k % 9}", k) for k in range(90)}
    points = {"owl": points_of(90, 90, seed=0), "mole": points_of(0, 90, seed=0)}
    few = rank_on_items(items, points)
    assert few.lead is not None
    assert (few.lead.is_ranked, few.lead.videos, few.lead.above) == (False, 9, ("mole",))
    assert few.places == {}
    more = rank_on_items(
        {**items, "90": choice("v9", 90)}, {**points, "owl": {**points["owl"], "90": 1.0}}
    )
    assert more.lead is not None
    assert more.lead.is_ranked
    assert more.lead.first == ("owl",)
    assert set(more.places) == {"owl"}


def test_a_model_on_few_videos_leads_nobody_who_was_seen_on_many() -> None:
    items = {str(k): choice(f"v{k}", k) for k in range(40)}
    points = {
        "lucky": {str(k): 1.0 for k in range(3)},
        "owl": points_of(30, 40, seed=1),
        "mole": points_of(10, 40, seed=2),
    }
    found = rank_on_items(items, points)
    assert found.lead is not None
    assert (found.lead.first, found.lead.models) == (("owl",), 2)
    assert "lucky" not in found.places
    assert found.places["owl"].rank == 1


def test_videos_count_that_two_models_share_and_a_sentence_says_so(tmp_path: Path) -> None:
    items = [choice(f"v{k}", k) for k in range(24)]
    bench = write_set(tmp_path / "set", items)
    for model, mine, reply in (("owl", items[:13], "B"), ("mole", items[11:], "A")):
        lines = [TaskLine(qid=item.qid, end="answered", response=reply) for item in mine]
        made = {"bench": bench.bench, "judge": None, "how": "run", "lines": lines, "facts": {}}
        write_result(bench, TaskResult.model_validate({**made, "model": model}))
    (board,) = score_tasks(bench).boards
    assert board.lead is not None
    assert (board.lead.is_ranked, board.lead.videos, board.lead.seen) == (False, 2, 24)
    (report,) = set_reports(score_tasks(bench))
    said = "2 shared videos are too few to rank (10 are needed): owl"
    assert said in report.headline.text


def test_who_is_apart_goes_by_pairs_where_intervals_overlap() -> None:
    items = {str(k): choice(f"v{k}", k) for k in range(60)}
    base = points_of(30, 60, seed=3)
    wrong = [qid for qid, right in base.items() if not right]
    better = {**base, **{qid: 1.0 for qid in wrong[:9]}}
    found = rank_on_items(items, {"owl": better, "mole": base})
    assert found.lead is not None
    assert (found.lead.rivals, found.lead.nearest, found.lead.more) == ((), None, None)
    turned = {**base, **{qid: 1.0 for qid in wrong[:2]}}
    near = rank_on_items(items, {"owl": turned, "mole": base}).lead
    assert near is not None
    assert near.rivals == ("mole",)
    assert near.more is not None


def test_nobody_leads_a_board_that_several_judges_made(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    for judge in ("one", "two"):
        judged(bench, "owl", ["win"] * 12, ["win"] * 12, judge=judge)
    board = build_scores(bench, read_results(bench))
    assert board["lead"] is None
    assert [row["rank"] for row in board["models"]] == [None, None]
    headline = board_report(board).headline
    assert headline is not None
    assert headline.text == "Judges differ: compare models that one judge judged."


def test_against_an_anchor_it_is_among_those_compared(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, 12)
    held(bench, "owl", ["> >"] * 12)
    held(bench, "mole", ["> <", "= =", "> >", "= ="] * 3)
    (board,) = build_anchored(bench, read_anchored(bench))
    assert (board["lead"]["first"], board["lead"]["models"]) == (["owl"], 3)
    assert set(board["lead"]["above"]) == {"mole", "base"}
    assert [row["rank_best"] for row in board["models"]] == [1, 2]
    assert (board["models"][1]["rank_worst"], board["anchor_ranks"]["rank_worst"]) == (3, 3)
    (styled,) = build_anchored(bench, read_anchored(bench), AnchorScoring(style=True))
    assert styled["lead"]["basis"] == board["lead"]["basis"]


def test_frames_and_views_that_are_no_rivals_are_not_ranked(tmp_path: Path) -> None:
    items = [choice(f"v{k}", k) for k in range(12)]
    bench = write_set(tmp_path / "set", items)
    for view, reply in (("whole", "B"), ("blind", "A")):
        lines = [TaskLine(qid=item.qid, end="answered", response=reply) for item in items]
        facts = {"model": "m", "max_frames": 8, "view": view}
        made = {"bench": bench.bench, "judge": None, "how": "run", "lines": lines, "facts": facts}
        write_result(bench, TaskResult.model_validate({**made, "model": f"m ({view})"}))
    (board,) = score_tasks(bench).boards
    assert board.lead is not None
    assert (board.lead.first, board.lead.models) == (("m (whole)",), 1)
    assert [(row.view, row.rank) for row in board.models] == [("whole", 1), ("blind", None)]


def test_a_history_of_its_own_is_no_rival_of_a_golden_one(tmp_path: Path) -> None:
    items = [dialogue(f"film{k}", k) for k in range(12)]
    bench = write_dialogues(tmp_path / "set", items)
    for model, history in (("able", "golden"), ("able (own history)", "own"), ("owl", "golden")):
        answers = ["yes"] * 3 + ["no"] * (2 if history == "golden" and model == "able" else 0)
        answers += ["yes"] * (5 - len(answers))
        lines = [
            RoundLine(qid=item.qid, round=n, end="answered", answers=answers)  # type: ignore[arg-type]
            for item in items
            for n in (2, 3)
        ]
        made = {
            "bench": bench.bench,
            "judge": "j",
            "how": "run",
            "history": history,
            "lines": lines,
        }
        write_result(bench, DialogueResult.model_validate({**made, "model": model}))
    scores = score_dialogues(bench)
    assert scores.lead is not None
    assert (scores.lead.first, scores.lead.above) == (("able",), ("owl",))
    ranks = {row.model: row.rank for row in scores.models}
    assert ranks == {"able": 1, "owl": 2, "able (own history)": None}
    (report,) = set_reports(scores)
    assert report.headline is not None
    assert report.headline.text == "able leads, and no other may be best."
