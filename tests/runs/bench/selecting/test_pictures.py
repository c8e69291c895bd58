"""Topics of questions and frames: what is embedded, what it weighs, and that it is asked once."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import draw_folder
from tests.support.letters import Pictures
from tests.support.lives import Life
from tests.support.played import battle, slot, video
from tests.support.played import play as lay
from tests.support.small_runs import altered, play
from tests.support.whole_runs import battles, command, folder_bytes
from videoautoarena.memory.records.records import CallRow
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.freeze.freeze import FreezeInputs, documents_wanted, freeze
from videoautoarena.runs.bench.freeze.selection import BenchSelection
from videoautoarena.runs.bench.selecting.pictures import Documents, document_of
from videoautoarena.runs.cli.program.main import arena, guarded
from videoautoarena.runs.run.rundir.reader import RUN_FILE

MODEL = "tests.support.letters.Pictures:x"
OFFLINE = "offline:colours"
ROOT = Path(__file__).parents[4]
NUMBERS = st.lists(st.floats(-9, 9).filter(lambda x: abs(x) > 0.01), min_size=3, max_size=3)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run over two clips in which somebody won each battle; no test writes to it."""
    place = tmp_path_factory.mktemp("pictured")
    play(draw_folder(place / "videos", 2, seconds=2), place / "out", rounds=4)
    with altered(place / "out") as file:
        file.execute("UPDATE battles SET body = json_set(body, '$.verdict', 'a')")
    return place


@pytest.fixture
def out(ground: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ground / "out", tmp_path / "out"))


def drawn(out: Path, *typed: object, to: str = "bench", model: str = MODEL) -> Result:
    """Freeze a draw over topics beside a run; `return_value` is the exit code."""
    words = ("freeze", out, "--to", out.parent / to, "--size", 50, "--embeddings", model, *typed)
    return CliRunner().invoke(arena, [str(word) for word in words], standalone_mode=False)


def vectors_of(out: Path) -> list[CallRow]:
    """Return the calls for vectors."""
    with Store.open(out / RUN_FILE, write=False) as store:
        return [row for row in store.journal.calls() if row.nonce.role == "embedder"]


def test_words_and_pictures_weigh_alike_however_many_frames_there_are() -> None:
    words = np.array([0.0, 0.0, 5.0])
    red = np.array([2.0, 0, 0])
    blue = np.array([0, 8.0, 0])
    assert document_of(words, [red]) == pytest.approx([0.5, 0, 0.5])
    assert document_of(words, [red] * 7) == pytest.approx([0.5, 0, 0.5])
    half = 0.5 / np.sqrt(2)
    assert document_of(words, [red, blue]) == pytest.approx([half, half, 0.5])


def test_without_frames_a_document_is_the_question_alone() -> None:
    assert document_of(np.array([3.0, 4.0]), []) == pytest.approx([0.6, 0.8])


def test_a_vector_of_nothing_weighs_nothing() -> None:
    assert document_of(np.zeros(2), [np.array([0.0, 3.0])]) == pytest.approx([0, 0.5])


@settings(max_examples=20)
@given(NUMBERS, st.lists(NUMBERS, min_size=1, max_size=4), st.floats(0.1, 100))
def test_how_long_a_vector_is_does_not_matter(
    words: list[float], frames: list[list[float]], by: float
) -> None:
    one = document_of(np.array(words), [np.array(frame) for frame in frames])
    other = document_of(by * np.array(words), [by * np.array(frame) for frame in frames])
    assert one == pytest.approx(other, abs=1e-9)
    assert np.linalg.norm(one) <= 1 + 1e-9


@pytest.mark.slow
def test_topics_follow_the_documents_where_words_say_nothing(tmp_path: Path) -> None:
    places = [slot(video(), number) for number in range(40)]
    things = ("kettle", "ladder", "pepper", "window")
    asked = [f"Who moves the {things[number // 2 % 4]}?" for number in range(40)]
    made = [battle(at, question=asked[number]) for number, at in enumerate(places)]
    out = lay(tmp_path / "out", made)
    rng = np.random.default_rng(0)
    wish = BenchSelection(size=40, by=("topic",), embeddings=MODEL)
    wanted = documents_wanted(out, wish, FreezeInputs())
    kind = {one.qid: int(one.battle.rpartition("-r")[2]) % 2 for one in wanted}
    vectors = {qid: np.eye(3)[side] + 0.01 * rng.standard_normal(3) for qid, side in kind.items()}
    freeze(
        out,
        tmp_path / "bench",
        wish,
        None,
        FreezeInputs(documents=Documents(vectors, 40, 44, 0.25)),
    )
    topics: dict[int, set[str | None]] = {0: set(), 1: set()}
    for item in open_bench(tmp_path / "bench").items:
        topics[kind[item.qid]].add(item.topic)
    assert topics[0].isdisjoint(topics[1])
    card = " ".join((tmp_path / "bench" / "card.md").read_text().split())
    assert "of questions and frames" in card
    assert "0 of 40 questions had none (44 calls, $0.25)" in card


def test_each_question_and_four_frames_are_embedded_once_and_never_again(
    ground: Path, out: Path
) -> None:
    assert drawn(out).return_value == 0
    items = open_bench(out.parent / "bench").items
    rows = vectors_of(out)
    frames = [row for row in rows if row.frames]
    assert {row.frames for row in frames} == {1}
    assert len(rows) - len(frames) == len({item.question for item in items})
    # Those of the answers to a question are shared by most of the others about its video.
    assert len({item.video_id for item in items}) <= len(frames) < len(items)
    assert battles(out) == battles(ground / "out")
    before = Pictures.asked
    assert drawn(out, "--videos", out, to="again").return_value == 0
    assert Pictures.asked == before
    assert folder_bytes(out.parent / "bench") == folder_bytes(out.parent / "again")
    card = (out.parent / "bench" / "card.md").read_text()
    assert f"clusters by {MODEL.replace('_', chr(92) + '_')} of questions and frames" in card


@pytest.mark.slow
def test_another_draw_asks_for_what_is_new_alone_and_the_first_keeps_its_bytes(out: Path) -> None:
    drawn(out, "--per-video", 10, to="few")
    few = vectors_of(out)
    drawn(out, to="all")
    assert vectors_of(out)[: len(few)] == few
    assert len(vectors_of(out)) > len(few)
    drawn(out, "--per-video", 10, to="again")
    assert folder_bytes(out.parent / "few") == folder_bytes(out.parent / "again")


def test_a_plan_asks_nobody_and_writes_nothing(out: Path) -> None:
    before = (out / RUN_FILE).read_bytes()
    asked = Pictures.asked
    plan = json.loads(drawn(out, "--plan", "--json").stdout)
    assert plan["hard"] is None
    topics = plan["topics"]
    assert topics["calls_at_most"] == topics["questions"] + topics["frames"] > 0
    assert "go to tests.support.letters.Pictures" in topics["notices"][0]
    assert (out / RUN_FILE).read_bytes() == before
    assert Pictures.asked == asked


def test_frames_of_either_answer_are_embedded(out: Path) -> None:
    for seat, other in ("ab", "ba"):
        with altered(out) as file:
            file.execute(
                f"UPDATE battles SET body = json_set(body, '$.frames_{seat}', json('[]'), "
                f"'$.frames_{other}', json('[0]'))"
            )
        assert json.loads(drawn(out, "--plan", "--json").stdout)["topics"]["frames"] == 2


def test_what_vectors_cost_is_the_sum_of_all_tries(out: Path) -> None:
    drawn(out, to="first")
    tries = """[{"kind": "status", "reason": "x", "waited_s": 0, "cost_usd": 0.25}]"""
    with altered(out) as file:
        file.execute(
            "UPDATE calls SET body = json_set(body, '$.cost_usd', 0.5, '$.attempts', json(?)) "
            "WHERE role = 'embedder'",
            (tries,),
        )
    assert drawn(out).return_value == 0
    calls = len(vectors_of(out))
    card = (out.parent / "bench" / "card.md").read_text()
    assert f"({calls} calls, ${0.75 * calls:.2f})" in " ".join(card.split())


def test_a_vector_that_fails_writes_no_bench_until_it_is_asked_again(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pictures, "is_broken", True)
    told = drawn(out)
    assert told.return_value == 3
    assert "embedder gave no vector" in told.stderr
    assert not (out.parent / "bench").exists()
    monkeypatch.setattr(Pictures, "is_broken", False)
    assert drawn(out).return_value == 3
    assert drawn(out, "--retry-failed").return_value == 0


@pytest.mark.parametrize(
    ("model", "typed", "said"),
    [
        ("tests.support.letters.Apart:x", (), "vectors of several lengths (3, 26)"),
        ("offline:hawk", (), "embeds nothing; use offline:colours"),
        ("no.such.Package:x", (), "cannot be used: ModuleNotFoundError"),
        (MODEL, ("--videos", "/nowhere"), "/nowhere"),
    ],
)
def test_what_cannot_be_is_one_line(
    out: Path, model: str, typed: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("freeze", str(out), "--to", str(out.parent / "bench"), "--size", "5")
    line = [*words, "--embeddings", model, *typed]
    assert guarded(lambda: arena.main(line, standalone_mode=False)) == 1
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not (out.parent / "bench").exists()


@pytest.mark.slow
def test_hard_questions_and_offline_embeddings_go_together(out: Path) -> None:
    with altered(out) as file:
        file.execute("UPDATE battles SET body = json_set(body, '$.verdict', 'tie_bad')")
    first = json.loads(drawn(out, "--hard", "--plan", "--json", model=OFFLINE).stdout)
    assert first["topics"] is None
    assert drawn(out, "--hard", model=OFFLINE).return_value == 0
    after = json.loads(drawn(out, "--hard", "--plan", "--json", model=OFFLINE).stdout)
    assert after["hard"]["known"] == after["hard"]["answers"] == 24
    assert after["topics"]["calls_at_most"] == 0


def test_too_few_questions_for_topics_are_not_embedded(out: Path) -> None:
    told = drawn(out, "--per-video", 2)
    assert told.return_value == 0
    assert "nothing is embedded" in told.stderr
    assert vectors_of(out) == []


@pytest.mark.slow
def test_vectors_that_were_had_before_a_kill_are_not_asked_for_again(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = 6
    log = tmp_path / "asked"
    line = command("arena", "freeze", out, "--to", out.parent / "bench", "--size", 50)
    slow = ["--embeddings", "tests.support.letters.Logged:x", "--concurrency", "2"]
    extra = {"ASKED_LOG": str(log), "PYTHONPATH": str(ROOT)}
    with Life([*line, *slow], extra=extra) as life:
        life.until(lambda: log.exists() and len(log.read_text().splitlines()) >= begun)
        life.interrupt(signal.SIGKILL)
        assert life.end() == -signal.SIGKILL
    had = vectors_of(out)
    assert len(had) >= begun - 3
    before = log.read_text().splitlines()
    assert not (out.parent / "bench").exists()
    monkeypatch.setenv("ASKED_LOG", str(log))
    assert drawn(out, *slow[2:], model=slow[1]).return_value == 0
    rows = vectors_of(out)
    asked = log.read_text().splitlines()[len(before) :]
    assert rows[: len(had)] == had
    assert len(asked) == len(rows) - len(had)
    # What was sent when it was killed is not known; it is at most as many as are asked at once.
    assert len(before) - len(had) <= 2
    assert len(open_bench(out.parent / "bench").items) == 24
