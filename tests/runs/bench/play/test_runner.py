"""A bench is played: asked once, judged by both references, and never paid twice."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.clips import draw_clip
from tests.support.published_bench import published, write_published
from tests.support.runfiles import intent
from tests.support.small_benches import calls_of, results_of
from tests.support.small_benches import run_bench as run
from videoautoarena.memory.records.errors import BadInput
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import (
    Answers,
    Ruling,
    write_answers,
)
from videoautoarena.runs.bench.format.results import (
    Result as Played,
)
from videoautoarena.runs.bench.format.results import (
    write_result as write_played,
)
from videoautoarena.runs.bench.format.verify import verify
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.cli.program.main import arena, guarded

PAIR = ("--model", "offline:hawk,offline:parrot")
REAL = ("--judge", "openai:gpt-4o")


@pytest.fixture
def bench(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "bench", tmp_path / "bench"))


@pytest.fixture
def videos(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "videos", tmp_path / "videos"))


def test_every_answer_is_held_against_both_references(ground: Path, bench: Path) -> None:
    told = run(bench, "--videos", ground / "videos", *PAIR, "--json")
    assert told.return_value == 0, told.output
    found = json.loads(told.stdout)
    played = results_of(bench)
    asked = [item.qid for item in open_bench(bench).items]
    assert found["scores"]["models"][0]["model"] == "offline:hawk"
    assert sorted(found["results"]) == sorted(
        f"results/{f.name}" for f in (bench / "results").glob("*.jsonl")
    )
    for result in played.values():
        assert [ruling.qid for ruling in result.rulings] == [qid for qid in asked for _ in "ab"]
        assert {ruling.against for ruling in result.rulings} == {"selected", "rejected"}
    hawk, parrot = (played[f"offline:{name}"].rulings for name in ("hawk", "parrot"))
    # The seats of a question are the same for everybody.
    assert [r.seats for r in hawk] == [r.seats for r in parrot]
    assert "win" not in {r.verdict for r in parrot}
    items = {item.qid: item for item in open_bench(bench).items}
    own = [
        r.verdict
        for r in hawk
        if r.against == "selected" and items[r.qid].selected_answer == r.response
    ]
    # Who wrote the selected answer ties with itself.
    assert set(own) == {"tie"}
    answers = [row for row in calls_of(bench) if row.nonce.role == "contestant"]
    assert len(answers) == 2 * len(asked)


def test_the_same_command_asks_nobody_and_comes_to_the_same(ground: Path, bench: Path) -> None:
    few = ("--model", "offline:mole", "--limit", 2)
    run(bench, "--videos", ground / "videos", *few)
    rows = calls_of(bench)
    before = results_of(bench)
    for file in (bench / "results").glob("*.jsonl"):
        file.unlink()
    again = run(bench, *few)  # what was seen is not looked for again
    assert again.return_value == 0
    assert "need no call; at most 0 calls" in again.stderr
    assert calls_of(bench) == rows
    assert results_of(bench) == before
    # What is left to be played needs the videos again.
    told = run(bench, "--model", "offline:blind", "--limit", 2)
    assert "pass their folder with --videos" in str(told.exception)


def test_what_a_kill_cut_off_is_told_when_a_bench_goes_on(ground: Path, bench: Path) -> None:
    films = ("--videos", ground / "videos")
    few = ("--model", "offline:mole", "--limit", 1)
    assert "possibly paid" not in run(bench, *films, *few).stderr
    with Store.open(bench / "results" / CALLS, write=True) as store:
        asyncio.run(store.journal.intend(intent(usd=0.25)))
    again = run(bench, *films, *few, "--json")
    assert "possibly paid: 1 attempt of unknown cost, up to" in again.stderr
    assert json.loads(again.stdout)["lost"] == {"tries": 1, "usd": 0.25, "tokens": 100}


@pytest.mark.slow
def test_another_model_uses_what_is_there(ground: Path, bench: Path) -> None:
    films = ("--videos", ground / "videos", "--swap", "none", "--limit", 2)
    run(bench, "--model", "offline:mole", *films)
    assert len(calls_of(bench)) == 6
    run(bench, "--model", "offline:mole,offline:parrot", *films)
    assert len(calls_of(bench)) == 12


def test_both_seatings_count_where_that_is_asked_for(ground: Path, bench: Path) -> None:
    told = run(
        bench,
        "--videos",
        ground / "videos",
        "--model",
        "offline:mole",
        "--swap",
        "all",
        "--limit",
        2,
    )
    assert told.return_value == 0
    rulings = results_of(bench)["offline:mole"].rulings
    seats = Counter((ruling.qid, ruling.against) for ruling in rulings)
    assert set(seats.values()) == {2}
    assert {ruling.seats for ruling in rulings} == {"ab", "ba"}


@pytest.mark.slow
def test_an_audit_changes_no_ruling(ground: Path, bench: Path, tmp_path: Path) -> None:
    twin = Path(shutil.copytree(bench, tmp_path / "twin"))
    for place, swap in ((bench, "1.0"), (twin, "none")):
        run(place, "--videos", ground / "videos", "--model", "offline:mole", "--swap", swap)
    audited, plain = (results_of(place)["offline:mole"] for place in (bench, twin))
    assert audited.rulings == plain.rulings
    assert audited.facts["audited"] == len(plain.rulings)
    assert plain.facts["audited"] == 0
    assert audited.facts["same_from_both_seats"] == audited.facts["audited"]


def test_fewer_questions_are_among_more(ground: Path, bench: Path) -> None:
    films = ("--videos", ground / "videos", "--model", "offline:blind")
    asked = []
    for limit in (1, 2):
        run(bench, *films, "--limit", limit, "--seed", 3)
        asked.append({ruling.qid for ruling in results_of(bench)["offline:blind"].rulings})
    assert [len(qids) for qids in asked] == [1, 2]
    assert asked[0] < asked[1]
    facts = results_of(bench)["offline:blind"].facts
    assert (facts["model"], facts["max_frames"]) == ("offline:blind", 0)
    assert (facts["judge"], facts["seed"], facts["questions"]) == ("offline:judge", 3, 2)


def test_a_plan_calls_nobody_and_writes_nothing(ground: Path, bench: Path) -> None:
    typed = ("--videos", ground / "videos", "--model", "openai:gpt-4o-mini", *REAL)
    told = run(bench, *typed, "--swap", "none", "--plan", "--json")
    plan = json.loads(told.stdout)
    questions = len(open_bench(bench).items)
    assert plan["calls_at_most"] == {
        "openai:gpt-4o-mini": questions,
        "openai:gpt-4o": 4 * questions,
    }
    assert "api.openai.com" in " ".join(plan["notices"])
    assert not (bench / "results").exists()


def test_a_plan_of_what_is_half_played_counts_the_other_half(ground: Path, bench: Path) -> None:
    run(bench, "--videos", ground / "videos", "--model", "offline:hawk", "--limit", 2, "--swap", 0)
    typed = ("--videos", ground / "videos", "--model", "offline:hawk", "--swap", 0)
    told = run(bench, *typed, "--plan", "--json")
    plan = json.loads(told.stdout)
    left = len(open_bench(bench).items) - 2
    assert plan["known"] == 2
    assert plan["calls_at_most"] == {"offline:hawk": left, "offline:judge": 4 * left}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_a_video_that_is_missing_or_swapped_stops_before_any_call_unless_it_is_allowed(
    bench: Path, videos: Path, is_swapped: bool
) -> None:
    (gone, there), (path, _) = zip(
        *((id_, entry.path or "") for id_, entry in open_bench(bench).manifest.videos.items()),
        strict=True,
    )
    (videos / path).unlink()
    if is_swapped:
        draw_clip(videos / path, 99, seconds=3)
    typed = ("--videos", videos, "--model", "offline:mole")
    why = "is another file than was frozen" if is_swapped else "is missing"
    for more in ((), ("--plan",)):
        refused = run(bench, *typed, *more)
        assert isinstance(refused.exception, BadInput)
        said = str(refused.exception)
        assert f"videos lacks 1 of the 2 videos asked about ({path} {why}" in said
        assert said.endswith("count questions of the missing as void with --allow-missing")
        assert not (bench / "results").exists()
    told = run(bench, *typed, "--allow-missing")
    assert told.return_value == 3
    assert f"video {path} {why}" in told.stderr
    film = {item.qid: item.video_id for item in open_bench(bench).items}
    rulings = results_of(bench)["offline:mole"].rulings
    assert {film[r.qid] for r in rulings if r.verdict == "void"} == {gone}
    assert {film[r.qid] for r in rulings if r.verdict != "void"} == {there}


def test_a_folder_without_its_videos_is_refused_with_how_many_are_sought(
    bench: Path, tmp_path: Path
) -> None:
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "another.mp4").write_text("never read: no video has so few bytes")
    told = run(bench, "--videos", tmp_path / "films", "--model", "offline:mole")
    assert isinstance(told.exception, BadInput)
    videos = len({item.video_id for item in open_bench(bench).items})
    assert f"holds none of the {videos} videos asked about (" in str(told.exception)


def test_a_video_that_moved_is_found_by_its_content(bench: Path, videos: Path) -> None:
    (videos / "deep").mkdir()
    for place, file in enumerate(sorted(videos.glob("*.mp4"))):
        file.rename(videos / "deep" / f"moved{place}.mp4")
    told = run(bench, "--videos", videos, "--model", "offline:blind", "--limit", 2)
    assert told.return_value == 0
    assert {r.verdict for r in results_of(bench)["offline:blind"].rulings} != {"void"}


def imported(place: Path, film: str, *, video_id: str) -> Path:
    """Import a bench of one question as it is published, whose video lies beside it."""
    (one,) = published(1, 1).values()
    file = write_published(place / "file.json", {"../../q": {**one, "video_id": video_id}})
    typed = ["import", "videoautobench", str(file), "--to", str(place / "imported")]
    done = CliRunner().invoke(arena, typed)
    assert done.exit_code == 0, done.output
    (place / "films").mkdir()
    draw_clip(place / "films" / film, 5, seconds=2)
    return place / "imported"


def test_a_video_of_unknown_content_goes_by_its_name_and_is_marked(tmp_path: Path) -> None:
    bench = imported(tmp_path, "vid_0-x.mp4", video_id="vid_0-x")
    typed = ("--videos", tmp_path / "films", "--model", "offline:mole", "--allow-offline-judge")
    told = run(bench, *typed)
    assert told.return_value == 0, told.output
    assert "1 video not checked" in told.stderr
    (tmp_path / "films" / "vid_0-x.mp4").unlink()
    draw_clip(tmp_path / "films" / "vid_0-x.mp4", 6, seconds=2)
    again = run(bench, *typed)
    assert isinstance(again.exception, BadInput)
    assert "is another file than when this bench was first run" in str(again.exception)
    assert {r.verdict for r in results_of(bench)["offline:mole"].rulings} != {"void"}


def test_a_folder_without_a_video_of_unknown_content_is_not_called_intact(tmp_path: Path) -> None:
    bench = imported(tmp_path, "vid_0-x.mp4", video_id="vid_0-x")
    found = verify(bench, tmp_path / "films")
    assert found.ok
    assert "checked, of 1 by name alone" in found.as_lines()[-1]
    (tmp_path / "films" / "vid_0-x.mp4").rename(tmp_path / "films" / "other.mp4")
    missing = verify(bench, tmp_path / "films")
    assert missing.problems == ["video vid_0-x is missing"]


@pytest.mark.parametrize("name", ["../outside", "a\x1b[31m%s{0}'\";--"])
def test_an_id_is_no_path_and_no_order(tmp_path: Path, name: str) -> None:
    bench = imported(tmp_path, "other.mp4", video_id=name)
    draw_clip(tmp_path / "outside.mp4", 7, seconds=2)
    typed = ("--videos", tmp_path / "films", "--model", "offline:mole", "--allow-offline-judge")
    told = run(bench, *typed)
    assert isinstance(told.exception, BadInput)
    assert "is missing" in str(told.exception)
    assert "\x1b" not in f"{told.output}{told.exception}"


def test_answers_that_were_handed_in_are_judged_and_nobody_is_asked(
    ground: Path, bench: Path
) -> None:
    opened = open_bench(bench)
    selected = {item.qid: item.selected_answer for item in opened.items[1:]}
    responses = {qid: f"<seed:think>\nHm.\n</seed:think>{text}" for qid, text in selected.items()}
    given = Answers(bench=opened.bench, model="theirs", how="import", responses=responses)
    write_answers(opened, given)
    typed = ("--videos", ground / "videos", "--model", "theirs", "--judge", "offline:judge")
    refused = run(bench, *typed)
    assert "not the answers that were handed in" in str(refused.exception)
    told = run(bench, *typed, "--allow-offline-judge")
    assert told.return_value == 0, told.output
    assert {row.nonce.role for row in calls_of(bench)} == {"judge"}
    rulings = results_of(bench)["theirs"].rulings
    assert [r.reason for r in rulings if r.response is None] == ["no answer was handed in"] * 2
    assert {r.verdict for r in rulings if r.response and r.against == "selected"} == {"tie"}
    assert {r.response for r in rulings if r.response} == {*selected.values()}


def test_a_result_that_was_imported_is_not_written_over(ground: Path, bench: Path) -> None:
    opened = open_bench(bench)
    ruling = Ruling(qid=opened.items[0].qid, against="selected", verdict="win")
    theirs = Played(
        bench=opened.bench,
        model="offline:hawk",
        judge="offline:judge",
        how="import",
        rulings=[ruling],
    )
    write_played(opened, theirs)
    told = run(bench, "--videos", ground / "videos", *PAIR)
    assert "has an imported result" in str(told.exception)
    assert results_of(bench)["offline:hawk"] == theirs


def test_calls_of_another_bench_are_not_used(ground: Path, bench: Path, tmp_path: Path) -> None:
    run(bench, "--videos", ground / "videos", "--model", "offline:blind", "--limit", 1)
    other = imported(tmp_path, "vid_0-x.mp4", video_id="vid_0-x")
    (other / "results").mkdir(exist_ok=True)
    shutil.copy(bench / "results" / CALLS, other / "results")
    typed = ("--videos", tmp_path / "films", "--model", "offline:blind", "--allow-offline-judge")
    assert "holds calls of another bench" in str(run(other, *typed).exception)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("--judge", "offline:hawk"), "cannot judge"),
        (("--model", "offline:hawk,offline:hawk"), "twice"),
        (("--model", "nobody"), "is no model"),
        (("--model", "openai:gpt-4o-mini"), "there is no judge"),
        (("--model", "openai:gpt-4o-mini", "--judge", "offline:judge"), "only understands"),
        (("--model", "openai:gpt-4o", *REAL), "its own battles"),
        (("--model", "openai:gpt-4o-mini", *REAL), "needs a key"),
        (("--videos", "/nowhere"), "/nowhere"),
        (("--videos", "empty"), "empty is empty; pass the folder"),
        ((), "holds no copies of its videos"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    ground: Path,
    bench: Path,
    typed: Sequence[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    films = ("--videos", str(ground / "videos")) if "--model" in typed or "--judge" in typed else ()
    line = ["bench", "run", str(bench), *films, *typed]
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == 1
    assert words in capsys.readouterr().err.splitlines()[-1]


def test_two_names_for_one_model_are_one_model(bench: Path, ground: Path, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text('[models.one]\nmodel = "offline:owl"\n[models.two]\nmodel = "offline:owl"\n')
    told = run(bench, "--videos", ground / "videos", "--model", "one,two", "--config", file)
    assert "are the same model" in str(told.exception)


EXAMINED = """
[models.pro]
model = "openai:gpt-4o"
[models.mini]
model = "openai:gpt-4o-mini"
[roles]
examiner = "pro"
"""


def test_the_examiner_of_the_file_judges_unless_it_competes(
    bench: Path, ground: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = tmp_path / "arena.toml"
    file.write_text(EXAMINED)
    told = run(bench, "--videos", ground / "videos", "--config", file, "--plan", "--model", "mini")
    assert "questions for mini, judged by pro" in told.stdout
    lacks = "could not start here yet: 'mini' needs a key; set OPENAI_API_KEY"
    assert lacks in " ".join(told.stdout.split())
    told = run(bench, "--videos", ground / "videos", "--config", file, "--model", "mini,pro")
    assert 'there is no judge, since the examiner "pro" competes' in str(told.exception)
    file.write_text(EXAMINED + 'judge = "openai:gpt-4.1"\n')
    told = run(bench, "--videos", ground / "videos", "--config", file, "--plan", "--model", "mini")
    assert "judged by openai:gpt-4.1" in told.stdout
