"""Models that are sent the best clips play benches and battles, and pay for no clip twice."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support.clips import draw_folder
from tests.support.letters import Pictures
from tests.support.lives import Life
from tests.support.small_benches import calls_of, run_bench
from tests.support.small_runs import battles_of, play, play_again
from tests.support.task_sets import choice, write_set
from tests.support.whole_runs import command
from videoautoarena.memory.records.records import Battle, CallRow
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.api.add import AddRequest, add
from videoautoarena.runs.api.simulate import resume
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.results import read_tasks
from videoautoarena.runs.bench.play.calls import CALLS
from videoautoarena.runs.cli.program.ending import run_async
from videoautoarena.runs.console.progress.events import Listeners, nobody
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE
from videoautoarena.video.folder.find import find_videos

TOML = """
[models]
finder.retrieval = { model = "offline:mole", frames_per_clip = 2, embeddings = "offline:colours" }
viewer.retrieval = { model = "offline:mole", frames_per_clip = 2, embeddings = "pictures" }
[models.reader.retrieval]
model = "offline:mole"
frames_per_clip = 2
embeddings = "letters"
captioner = "offline:terse"
[models.pictures]
model = "tests.support.letters.Pictures:small"
[models.letters]
model = "tests.support.letters.Letters:small"
price = { input_usd = 0.1, output_usd = 0.0 }
"""
QUIET = Listeners(lambda _line: None, nobody)
PLAYERS = ("finder", "reader", "viewer", "offline:mole")
FRAMES = 12
CLIPS = FRAMES // 2
Place = tuple[Path, Path, tuple[str, ...]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Two clips of twelve frames, a set of four tasks about them, and how it is played."""
    folder = tmp_path_factory.mktemp("retrieval")
    videos = draw_folder(folder / "videos", 2, seconds=2)
    (folder / "arena.toml").write_text(TOML)
    ids = [video.id for video in find_videos(videos).videos]
    write_set(folder / "set", [choice(id_, k) for id_ in ids for k in range(2)], videos=videos)
    typed = ("--config", str(folder / "arena.toml"), "--model", ",".join(PLAYERS))
    return folder, videos, (*typed, "--videos", str(videos))


def made(rows: Iterable[CallRow]) -> Counter[tuple[str, str]]:
    return Counter((row.alias, row.nonce.role) for row in rows)


@pytest.fixture(scope="module")
def played(place: Place) -> list[CallRow]:
    folder, _, typed = place
    planned = json.loads(run_bench(folder / "set", *typed, "--plan", "--json").stdout)
    # The plan knows no video's length before it is looked at.
    assert planned["calls_at_most"]["letters"] == 2 * 64 + 4
    assert planned["calls_at_most"]["offline:terse"] == 2 * 64
    expected = {(line["model"], line["role"]): line["calls"] for line in planned["lines"]}
    assert expected["letters", "embedder"] == 2 * CLIPS + 4
    assert expected["offline:terse", "captioner"] == 2 * CLIPS
    found = run_bench(folder / "set", *typed)
    assert found.return_value == 0, found.output
    return calls_of(folder / "set")


def test_clips_are_asked_about_once_a_video_and_questions_once(played: list[CallRow]) -> None:
    calls = made(row for row in played if row.nonce.role != "contestant")
    assert calls == {
        **{
            (name, "embedder"): 2 * CLIPS + 4 for name in ("offline:colours", "letters", "pictures")
        },
        ("offline:terse", "captioner"): 2 * CLIPS,
    }
    # Two who come to the same clips of one model are answered once.
    answers = [row for row in played if row.nonce.role == "contestant"]
    assert 8 <= len(answers) <= 16
    assert {row.frames for row in answers} == {4}


def test_what_embeddings_may_have_cost_is_in_the_journal(played: list[CallRow]) -> None:
    paid = [row for row in played if row.alias == "letters"]
    assert all(0 < (row.may_have_cost_usd or 0) < 1e-3 for row in paid)
    free = [row for row in played if row.alias == "offline:colours"]
    assert {row.cost_usd for row in free} == {0.0}


def test_a_second_run_asks_nothing_and_a_lost_end_is_all_that_is_asked_again(
    place: Place, played: list[CallRow]
) -> None:
    folder, _, typed = place
    results = folder / "set" / "results"
    files = {file.name: file.read_bytes() for file in results.glob("*.jsonl")}
    assert run_bench(folder / "set", *typed).return_value == 0
    assert calls_of(folder / "set") == played
    for left in (len(played) // 3,):
        with sqlite3.connect(results / CALLS) as store:
            store.execute("DELETE FROM calls WHERE place > ?", (left,))
        before = calls_of(folder / "set")
        assert len(before) == left
        for file in results.glob("*.jsonl"):
            file.unlink()
        assert run_bench(folder / "set", *typed).return_value == 0
        rows = calls_of(folder / "set")
        assert rows[:left] == before
        assert {row.key: row.reply for row in rows} == {row.key: row.reply for row in played}
        assert {file.name: file.read_bytes() for file in results.glob("*.jsonl")} == files


def test_results_say_who_retrieved(place: Place, played: list[CallRow]) -> None:
    assert played
    found = {one.model: one for one in read_tasks(open_bench(place[0] / "set"))}
    assert sorted(found) == sorted(PLAYERS)
    assert all(line.end == "answered" for one in found.values() for line in one.lines)
    assert found["reader"].facts["retrieval"] == {
        "embeddings": "tests.support.letters.Letters:small",
        "captioner": "offline:terse",
        "frames_per_clip": 2,
        "keep": 2,
    }
    assert "retrieval" not in found["offline:mole"].facts


@pytest.mark.slow
def test_a_probe_shows_the_best_clips_shuffled_or_those_of_another_video(
    place: Place, tmp_path: Path
) -> None:
    folder, videos, _ = place
    ids = [video.id for video in find_videos(videos).videos]
    write_set(tmp_path / "set", [choice(id_) for id_ in ids], videos=videos)
    typed = ("--config", folder / "arena.toml", "--model", "finder", "--videos", videos)
    typed = (*typed, "--limit", "1")
    assert run_bench(tmp_path / "set", *typed).return_value == 0
    planned = run_bench(tmp_path / "set", *typed, "--plan", "--json", word="probe")
    assert json.loads(planned.stdout)["calls_at_most"] == {
        "finder": 4,
        "offline:colours": 2 * 64 + 1,
    }
    assert run_bench(tmp_path / "set", *typed, word="probe").return_value == 0
    rows = calls_of(tmp_path / "set")
    assert made(rows) == {
        ("finder", "contestant"): 1 + 4,
        ("offline:colours", "embedder"): 2 * CLIPS + 1,
    }
    shown = Counter(row.frames for row in rows if row.nonce.role == "contestant")
    assert shown == {0: 1, 1: 1, 4: 1 + 2}


def test_what_is_sent_clips_is_swept_by_no_number_of_frames(place: Place) -> None:
    folder, _, typed = place
    swept = run_bench(folder / "set", *typed, "--sweep", "frames=2,4")
    assert "is sent the frames of the clips it keeps" in str(swept.exception)


@pytest.mark.slow
def test_battles_are_played_and_replayed_with_retrieval(place: Place, tmp_path: Path) -> None:
    folder, videos, _ = place
    flags = {
        "models": ("finder", "offline:mole"),
        "rounds": 1,
        "config": folder / "arena.toml",
        "seed": 3,
    }
    play(videos, tmp_path / "out", **flags)
    battles = battles_of(tmp_path / "out")
    assert len(battles) == 6
    with Store.open(tmp_path / "out" / RUN_FILE, write=False) as store:
        calls = made(store.journal.calls())
    assert calls["offline:colours", "embedder"] == 2 * CLIPS + 6
    again = play_again(tmp_path / "out")
    assert (again.battles, again.others) == (6, 0)
    play(videos, tmp_path / "again", **flags)
    assert battles_of(tmp_path / "again") == battles


def frames_and_battles(out: Path) -> tuple[Counter[tuple[str, str]], list[Battle]]:
    with Store.open(out / RUN_FILE, write=False) as store:
        return made(store.journal.calls()), battles_of(out)


@pytest.mark.slow
def test_battles_without_a_vector_are_forfeits_until_they_are_played_again(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, videos, _ = place
    names = ("viewer", "offline:mole")
    flags = {"models": names, "config": folder / "arena.toml", "allow_offline_judge": True}
    monkeypatch.setattr(Pictures, "is_broken", True)
    play(videos, tmp_path / "out", rounds=1, **flags)
    calls, battles = frames_and_battles(tmp_path / "out")
    assert {battle.reason for battle in battles} == {"embedder gave no vector"}
    assert calls["pictures", "embedder"] == 2 * CLIPS + 6
    assert play_again(tmp_path / "out").others == 0
    monkeypatch.setattr(Pictures, "is_broken", False)
    again = RunRequest(out=tmp_path / "out", retry_failed=True)
    run_async(resume(again, say=QUIET.say, hear=QUIET.hear))
    calls, battles = frames_and_battles(tmp_path / "out")
    # The questions had vectors; each clip is asked for once more, whoever wants it first.
    assert calls["pictures", "embedder"] == 2 * 2 * CLIPS + 6
    assert all(battle.answer_a and battle.answer_b for battle in battles if "~1" in battle.id)
    assert play_again(tmp_path / "out").others == 0


@pytest.mark.slow
def test_a_newcomer_may_be_sent_the_best_clips(place: Place, tmp_path: Path) -> None:
    folder, videos, _ = place
    play(videos, tmp_path / "out", models=("offline:hawk", "offline:mole"), rounds=1)
    config = folder / "arena.toml"
    request = AddRequest(out=tmp_path / "out", model="finder", config=config, battles=4)
    run_async(add(request, say=QUIET.say, hear=QUIET.hear))
    calls, battles = frames_and_battles(tmp_path / "out")
    assert len([battle for battle in battles if "finder" in (battle.model_a, battle.model_b)]) == 4
    assert calls["offline:colours", "embedder"] == 2 * CLIPS + 4
    assert play_again(tmp_path / "out").others == 0


class House(ThreadingHTTPServer):
    """A provider on 127.0.0.1 that captions, embeds and answers by OpenAI's protocol."""

    daemon_threads = True

    def __init__(self, *, failing: int = 0, pause_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.failing, self.pause_s = failing, pause_s
        """How many first requests of a sort fail; how long an answer takes."""
        self.keys: list[str] = []
        """What each request was sent under, in the order in which they arrived."""
        self.paths: list[str] = []
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __exit__(self, *raised: object) -> None:
        self.shutdown()
        self.server_close()


class Visit(BaseHTTPRequestHandler):
    """One request."""

    server: House

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.paths.append(self.path)
        self.server.keys.append(self.headers["Idempotency-Key"])
        is_bad = self.server.paths.count(self.path) <= self.server.failing
        time.sleep(self.server.pause_s)
        found: dict[str, Any] = {"model": asked["model"]}
        if self.path.endswith("embeddings"):
            vectors = [[float(text.count(one)) for one in "aeiou"] for text in asked["input"]]
            found["data"] = [{"embedding": v, "index": k} for k, v in enumerate(vectors)]
            found["usage"] = {"prompt_tokens": 3, "total_tokens": 3}
        else:
            times = re.findall(r"t=([0-9.]+)s", json.dumps(asked))
            message = {"role": "assistant", "content": f"A square at {times}."}
            found["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
            found["usage"] = {"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35}
        body = json.dumps({"error": {"message": "busy"}} if is_bad else found).encode()
        self.send_response(500 if is_bad else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


REMOTE = """
[models.finder.retrieval]
model = "describer"
frames_per_clip = 2
embeddings = "vectors"
captioner = "describer"
[models.vectors]
model = "openai:small"
base_url = "{url}"
price = {{ input_usd = 0.02, output_usd = 0.0 }}
[models.describer]
model = "openai:vlm"
base_url = "{url}"
price = {{ input_usd = 1.0, output_usd = 2.0 }}
"""
ASKED = {
    ("describer", "captioner"): 2 * CLIPS,
    ("vectors", "embedder"): 2 * CLIPS + 4,
    ("finder", "contestant"): 4,
}


def far_set(place: Place, folder: Path, server: House) -> list[str]:
    """Write a set of four tasks that a server plays, and return how it is played."""
    (folder / "arena.toml").write_text(REMOTE.format(url=server.url))
    videos = place[1]
    ids = [video.id for video in find_videos(videos).videos]
    items = [choice(id_, k) for id_ in ids for k in range(2)]
    write_set(folder / "set", items, videos=videos)
    typed = ("--config", folder / "arena.toml", "--model", "finder", "--videos", videos)
    return [*map(str, typed), "--max-usd", "5"]


@pytest.mark.slow  # langchain_openai takes two seconds to import
def test_captions_and_vectors_of_a_server_are_priced_tried_again_and_kept(
    place: Place, tmp_path: Path
) -> None:
    with House(failing=1) as server:
        typed = far_set(place, tmp_path, server)
        assert run_bench(tmp_path / "set", *typed).return_value == 0
        rows = calls_of(tmp_path / "set")
        assert made(rows) == ASKED
        captions = [row for row in rows if row.nonce.role == "captioner"]
        assert sum(row.cost_usd or 0 for row in captions) == pytest.approx(2 * CLIPS * 40e-6)
        assert sum(len(row.attempts) for row in rows) == 2
        assert Counter(server.keys).keys() == {row.key for row in rows}
        asked = len(server.keys)
        assert asked == len(rows) + 2
        assert run_bench(tmp_path / "set", *typed).return_value == 0
        assert len(server.keys) == asked


@pytest.mark.slow  # a process that imports langchain_openai
def test_a_bench_that_is_killed_pays_for_no_caption_vector_or_answer_twice(
    place: Place, tmp_path: Path
) -> None:
    with House(pause_s=0.05) as server:
        typed = far_set(place, tmp_path, server)
        line = command("arena", "bench", "run", tmp_path / "set", *typed, "--concurrency", "4")
        kept = set[str]()
        before = 0
        moments = (14,)
        for arrived in moments:
            with Life(line) as life:
                life.until(lambda most=arrived: len(server.keys) >= most)
            # What was answered and written down is asked for by nobody who comes later.
            assert not kept & set(server.keys[before:])
            kept = {row.key for row in calls_of(tmp_path / "set")}
            before = len(server.keys)
        assert run_bench(tmp_path / "set", *typed).return_value == 0
        assert not kept & set(server.keys[before:])
        rows = calls_of(tmp_path / "set")
    assert made(rows) == ASKED
    sent = Counter(server.keys)
    assert sent.keys() == {row.key for row in rows}
    # Only what was under way at a kill was sent again.
    assert sent.total() - len(sent) <= 4 * len(moments)
    assert 0 < len(kept) < len(rows)
    (result,) = read_tasks(open_bench(tmp_path / "set"))
    assert {line.end for line in result.lines} == {"answered"}
