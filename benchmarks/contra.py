"""Whether every surface names the same leader, rivals and ranks of the same board.

    python -m benchmarks.contra [--boards N]

Random boards of 2 to 40 models: few videos and many, islands, models that lost or won everything.
Of each the terminal, Markdown, JSON, the data of a page and the ladder's picture are read for the
headline and for the rank of every model; a board on which two of them differ is named.
"""

from __future__ import annotations

import argparse
import re
import sys
from html import unescape
from typing import NamedTuple

import numpy as np

from videoautoarena.runs.analysis.leaderboard.slices import PairRecords
from videoautoarena.runs.rating.leaderboard import RatedLeaderboard
from videoautoarena.runs.rating.method import RatingMethod
from videoautoarena.runs.rating.table import build
from videoautoarena.runs.views.figures.canvas import render
from videoautoarena.runs.views.figures.ranking import ladder
from videoautoarena.runs.views.results.forms import as_text, csv_text, marked_up
from videoautoarena.runs.views.results.leaderboard import leaderboard_report
from videoautoarena.runs.views.results.run_page import (
    RunRecords,
    UnplayedCounts,
    page_words,
    run_page,
)

VIDEOS = (1, 4, 9, 10, 12, 30, 100)
MOST_MODELS = 40


class Bout(NamedTuple):
    """A battle of which only models, video and verdict matter."""

    video: str
    model_a: str | None
    model_b: str | None
    verdict: str


def random_board(seed: int) -> RatedLeaderboard:
    """Return the leaderboard of random battles."""
    rng = np.random.default_rng(seed)
    models = int(rng.integers(2, MOST_MODELS + 1))
    videos = int(rng.choice(VIDEOS))
    names = [f"m{k:02}" for k in range(models)]
    has_islands = models > 5 and rng.random() < 0.2
    groups = [names[: models // 3], names[models // 3 :]] if has_islands else [names]
    strength = dict(zip(names, rng.normal(0.0, rng.choice([0.0, 0.5, 2.0]), models), strict=True))
    if rng.random() < 0.3:
        strength[names[-1]] = -30.0
    battles = []
    for k in range(int(rng.integers(1, 40 * models))):
        group = groups[int(rng.integers(len(groups)))]
        if len(group) < 2:
            continue
        a, b = (group[int(place)] for place in rng.permutation(len(group))[:2])
        won = rng.random() < 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
        verdict = "tie_good" if rng.random() < 0.07 else "a" if won else "b"
        battles.append(Bout(f"v{k % videos}", a, b, verdict))
    return build(battles, names, method=RatingMethod(simultaneous=bool(rng.random() < 0.2)))


def contradictions(board: RatedLeaderboard) -> list[str]:
    """Return on which surfaces a board says something else than its records."""
    report = leaderboard_report(board)
    assert report.headline is not None
    said = report.headline.text
    page = run_page(
        RunRecords(
            board,
            PairRecords((), board),
            (),
            (),
            (),
            (),
            (),
            0.0,
            0.0,
            0,
            UnplayedCounts(0, 0, 0, 0),
        )
    )
    words = page_words(page, {})["lead"]
    on_page = "".join(
        part if isinstance(part, str) else part.get("model") or part["figure"] for part in words
    )
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", render(ladder(board), "svg").decode())
    headlines = {
        "terminal": " ".join(as_text(report).split()),
        "Markdown": marked_up(report, "markdown"),
        "page": on_page,
        "picture": unescape(" ".join(drawn)),
    }
    # A picture has room for three lines, which is always enough for who leads and who may be best.
    told = {where: said.partition(";")[0] if where == "picture" else said for where in headlines}
    wrong = [where for where, text in headlines.items() if told[where] not in text]
    if board.leads:
        lead = board.to_json()["leads"][0]
        named = {*lead["first"], *lead["rivals"][:1]}
        is_whole = "any of the others" in said or not lead["is_ranked"]
        if not is_whole and not all(name in said for name in named):
            wrong.append("JSON")
    ranks = {row.model: (row.rank_best, row.rank_worst) for row in board.models}
    table = report.tables[0]
    for k, row in enumerate(table.rows):
        best, worst = ranks[row["model"]]
        rank = "–" if best is None else f"{best}" if best == worst else f"{best}-{worst}"
        lines = (table.cell(k, table.column("rank")), page.tables[0].cell(k, table.column("rank")))
        if any(line != rank for line in lines):
            wrong.append(f"rank of {row['model']}")
    csv = [line.split(",") for line in csv_text(report.data_table).splitlines()]
    at = [csv[0].index(name) for name in ("model", "rank_best", "rank_worst")]
    for line in csv[1:]:
        model, *said_ranks = (line[k] for k in at)
        if said_ranks != ["" if x is None else str(x) for x in ranks[model]]:
            wrong.append(f"CSV's rank of {model}")
    return wrong


def main() -> int:
    """Print the boards that contradict themselves; return 1 where one does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--boards", type=int, default=500)
    boards = parser.parse_args().boards
    found = 0
    for seed in range(boards):
        wrong = contradictions(random_board(seed))
        found += bool(wrong)
        if wrong:
            print(f"board {seed}: {', '.join(wrong)}", flush=True)
    print(f"{boards} boards, {found} of which contradict themselves")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
