"""The page of a set of dialogues: its figures are those of the commands, its text is harmless."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.dialogue_sets import dialogue, write_dialogues
from tests.support.played import invoke
from tests.support.played_dialogues import OWN, Talked, play_dialogues
from tests.support.told import summary_of
from tests.support.traps import NAME, TRAPS
from videoautoarena.runs.bench.format.reader import OpenBench, open_bench
from videoautoarena.runs.bench.format.results import DialogueResult, RoundLine, write_result
from videoautoarena.runs.bench.format.schema import ABILITIES, MADE
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.run.rundir.reader import STAND_INS
from videoautoarena.runs.views.page import set_page
from videoautoarena.runs.views.page.document import as_text
from videoautoarena.runs.views.results.dialogues import MEMORY_NOTE


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    talked = Talked(models=("openai:thorough", "openai:quick", f"openai:thorough{OWN}"))
    return play_dialogues(tmp_path_factory.mktemp("set") / "talks", talked).folder


@pytest.fixture(scope="module")
def summary(played: Path) -> dict[str, Any]:
    return summary_of(open_bench(played))


def section(found: dict[str, Any], id_: str) -> dict[str, Any]:
    return next(one for one in found["sections"] if one["id"] == id_)


def says(found: dict[str, Any], id_: str) -> str:
    return as_text(section(found, id_)["says"], found["words"]["short"])


def notes(found: dict[str, Any]) -> list[str]:
    short = found["words"]["short"]
    return [as_text(one["parts"], short) for one in section(found, "board")["notes"]]


def fields(found: dict[str, Any], id_: str, place: int = 0) -> list[dict[str, Any]]:
    return [row["fields"] for row in section(found, id_)["tables"][place]["rows"]]


def printed(*line: object) -> Any:
    return json.loads(invoke(*line, "--json").stdout)


def written(file: Path) -> dict[str, Any]:
    found = re.search(r'id="summary">(.*?)</script>', file.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])  # type: ignore[no-any-return]


def test_a_page_shows_what_the_commands_print(played: Path, tmp_path: Path) -> None:
    done = invoke("report", played, "--to", tmp_path / "page.html")
    assert "56 dialogues, 3 results" in done.output
    found = written(tmp_path / "page.html")
    scores = printed("bench", "score", played)
    board = fields(found, "board")
    by_ability = fields(found, "abilities")
    for row, shown, each in zip(scores["models"], board, by_ability, strict=False):
        assert shown["model"] == each["model"] == row["model"]
        assert shown["overall_low"] == row["overall"]["low"]
        for one in (*row["abilities"], row["twin"]):
            assert each[f"{one['ability']}_high"] == one["figure"]["high"]
        assert each["over_refusal"] == row["over_refusal"]["value"]
    assert [row["overall"] for row in board[3:]] == [one["overall"] for one in scores["constants"]]
    gap = printed("bench", "compare", played, f"openai:thorough{OWN}", "openai:thorough")
    (history,) = fields(found, "history")
    assert (history["own"], history["golden"]) == (gap["overall"]["a"], gap["overall"]["b"])
    for one in gap["abilities"]:
        assert history[f"{one['ability']}_low"] == one["difference"]["low"]
    assert (found["set"]["items"], found["set"]["results"], found["set"]["videos"]) == (56, 3, 8)
    assert [one["answers"] for one in fields(found, "methods", 1)] == [136, 136, 136]
    assert verify(played, None).problems == []


def test_who_was_sent_its_own_history_alone_is_held_against_nothing(tmp_path: Path) -> None:
    bench = write_dialogues(tmp_path / "set", [dialogue("a")])
    lines = [
        RoundLine(qid=bench.items[0].qid, round=n, end="answered", answers=["yes"] * 5)
        for n in (2, 3)
    ]
    said = {"bench": bench.bench, "judge": "j", "history": "own", "how": "run", "lines": lines}
    write_result(bench, DialogueResult.model_validate({**said, "model": "m:x"}))
    found = summary_of(open_bench(bench.folder))
    assert "history" not in [one["id"] for one in found["sections"]]


def test_every_dialogue_stands_there_with_each_reply_and_item(
    played: Path, summary: dict[str, Any]
) -> None:
    shown = summary["shown"]
    bench = open_bench(played)
    order = [row["model"] for row in fields(summary, "board")][:3]
    assert [one["model"] for one in shown["results"]] == order
    assert {one["qid"] for one in shown["dialogues"]} == set(bench.by_qid)
    for one in shown["dialogues"]:
        item = bench.by_qid[one["qid"]]
        assert [part["user"] for part in one["rounds"]] == [part.user for part in item.rounds]
        assert [len(part["said"]) for part in one["rounds"]] == [
            len(order) if part.is_scored else 0 for part in item.rounds
        ]
    said = [each for one in shown["dialogues"] for part in one["rounds"] for each in part["said"]]
    assert sum("response" in each for each in said) == 3 * 136
    assert sum(each["end"] == "forfeit" for each in said) == 3 * 4


def test_sentences_name_the_best_of_the_golden_history_and_what_the_own_one_costs(
    summary: dict[str, Any],
) -> None:
    words = summary["words"]
    told = {name: as_text(words[name], words["short"]) for name in words if name != "short"}
    told |= {id_: says(summary, id_) for id_ in ("board", "abilities", "parts", "history")}
    best, *_, silent, _ = fields(summary, "board")
    assert told["rest"] == (
        f"thorough meets {best['overall']:.1f} % of what is expected, averaged over 6 "
        f"abilities; saying nothing gives {silent['overall']:.1f} %."
    )
    assert told["lead"] == (
        "8 videos are too few to rank (10 are needed): thorough, scored highest, is above quick as "
        "of now."
    )
    assert OWN not in told["lead"] + told["rest"] + told["board"]
    assert told["abilities"].startswith("Object reference is the hardest ability, ")
    assert re.search(r"Of what is there, \d+\.\d % is refused all the same\.$", told["abilities"])
    assert re.fullmatch(
        r"With its own replies as history, thorough loses \d+\.\d points\.", told["history"]
    )
    low, high = re.findall(r"at ([\d.]+) %", told["parts"])
    assert float(low) < float(high)


def test_own_history_is_beside_golden_only_where_both_were_marked(tmp_path: Path) -> None:
    talked = Talked(models=("a:one", f"a:one{OWN}", "a:two", "a:three"), videos=1)
    bench = play_dialogues(tmp_path / "set", talked)
    for model, marked in (("a:two", ()), ("a:three", ("refusal_twin",))):
        lines = [
            RoundLine(qid=item.qid, round=n, end="answered", answers=["yes"] * len(one.checklist))
            if item.ability in marked
            else RoundLine(qid=item.qid, round=n, end="unscored", response="A lamp.")
            for item in bench.items
            for n, one in enumerate(item.rounds, 1)
            if one.is_scored
        ]
        said = {"bench": bench.bench, "model": f"{model}{OWN}", "judge": talked.judge}
        write_result(bench, DialogueResult(**said, how="run", history="own", lines=lines))
    found = summary_of(bench)
    assert {row["model"] for row in fields(found, "history")} == {"a:one"}
    told = says(found, "history")
    assert re.fullmatch(
        r"With its own replies as history, one (loses|gains) \d+\.\d points\.", told
    )


def test_only_a_set_that_was_made_here_says_that_rounds_without_memory_were_refused(
    summary: dict[str, Any], played: Path
) -> None:
    assert MEMORY_NOTE.text not in notes(summary)
    bench = open_bench(played)
    source = bench.manifest.source.model_copy(update={"kind": MADE})
    made = bench.manifest.model_copy(update={"source": source})
    found = summary_of(OpenBench(bench.folder, bench.bench, made, bench.items))
    assert MEMORY_NOTE.text in notes(found)


def test_a_page_stays_small_and_still_shows_each_ability(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_page, "MOST_BYTES", 40_000)
    found = summary_of(open_bench(played))["shown"]["dialogues"]
    assert 7 <= len(found) < 56
    assert {one["ability"] for one in found} == set(Talked().abilities)
    assert len(json.dumps(found)) <= 41_000
    monkeypatch.setattr(set_page, "_cut", lambda text, *_: text and "水" * len(text))
    wide = summary_of(open_bench(played))["shown"]["dialogues"]
    assert len(json.dumps(wide, ensure_ascii=False).encode()) <= 41_000


def test_long_texts_are_cut_and_that_stand_ins_played_is_said_once(tmp_path: Path) -> None:
    talked = Talked(models=("offline:hawk",), videos=1, text="x" * 3000)
    found = summary_of(play_dialogues(tmp_path / "set", talked))
    last = found["shown"]["dialogues"][0]["rounds"][-1]
    assert (last["user"], last["checks"][0][0]) == ("x" * 1999 + "…", "x" * 499 + "…")
    assert len(last["said"][0]["response"]) == 2000
    assert found["stand_ins"]
    assert [note for note in notes(found) if note.startswith(STAND_INS)] == []


def test_what_a_set_was_made_with_is_said_as_it_was_asked() -> None:
    asked = {"seed": 0, "turns": [1, 5], "unseen": True, "cut": False, "licence": None}
    assert set_page._written(asked) == "seed 0, turns 1, 5, unseen yes, cut no, licence none"


def test_text_that_is_out_to_do_harm_ends_no_element_of_the_page(tmp_path: Path) -> None:
    hostile = "".join(trap for trap in TRAPS if len(trap) < 4000 and "\ud800" not in trap)
    talked = Talked(models=(NAME, f"{NAME}{OWN}"), videos=1, text=hostile, judge=NAME)
    bench = play_dialogues(tmp_path / "set", talked)
    done = invoke("report", bench.folder)
    assert done.exit_code == 0, done.output
    page = (bench.folder / "results" / "report.html").read_text()
    outside = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    named = {name.lower() for name in re.findall(r"</?([a-zA-Z][^\s>]*)", outside)}
    known = "html head meta title body noscript main div h1 p table caption thead tbody tr td th"
    assert named <= set(known.split())
    assert page.count("<script") == page.count("</script>") == 3
    assert "<img" not in summary_of(bench)["plain"]


def test_of_a_set_without_results_and_of_one_without_the_twin_nothing_is_claimed(
    tmp_path: Path,
) -> None:
    bench = write_dialogues(tmp_path / "bare", [dialogue("v", 1)])
    assert "has no results" in str(invoke("report", bench.folder).exception)
    one = play_dialogues(tmp_path / "one", Talked(abilities=("topic_shifting",), videos=2))
    assert says(summary_of(one), "abilities") == "All dialogues are of one ability, topic shifting."
    level = Talked(models=("a:none",), abilities=ABILITIES, videos=1, skill=1.0)
    found = summary_of(play_dialogues(tmp_path / "level", level))
    assert says(found, "abilities") == "All abilities are at 100.0 % on average."
