"""Dialogues about clips of several scenes: contestants see what the examiner saw, as one prefix."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bodies import Book, Kept, keeping
from tests.support.clips import draw_clip
from tests.support.loopback import Loopback, ask_offline
from tests.support.played import invoke
from tests.support.whole_runs import KEY, write_config
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.bench.dialogues.game import round_scope
from videoautoarena.runs.bench.format.reader import open_bench
from videoautoarena.runs.bench.format.schema import DialogueItem
from videoautoarena.runs.making.tasks.drafting import CALLS
from videoautoarena.runs.run.rundir.frames import part_id, stored_frames

pytestmark = pytest.mark.slow

CLIP = re.compile(r"dialogues-[0-9a-f]+-(whole|s\d+|c\d+(-\d+)*)")
"""How the scopes of all calls about dialogues of a clip begin."""
SHOWN_ALL = {"fitness_rater", "dialogist", "checklist_maker", "dialogue_answerer"}
"""Roles that are shown all frames of a clip."""


@dataclass(frozen=True)
class Stage:
    """A set that was made over HTTP of a film of several scenes, and played from a copy."""

    bench: Path
    book: Book
    planned: dict[str, float]
    """Calls, and tokens in and out, as they were foreseen."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    place = tmp_path_factory.mktemp("scenes")
    (place / "videos").mkdir()
    draw_clip(place / "videos" / "film.mp4", 2, seconds=24)
    with keeping(brain=ask_offline) as book, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOPBACK_KEY", KEY)
        config = write_config(place / "arena.toml", "openai", Loopback(book.port, place))
        typed = ("dialogues", "make", place / "videos", "--to", place / "set", "--config", config)
        planned = invoke(*typed, "--per-video", 3, "--plan", "--json")
        assert planned.exit_code == 0, planned.output
        made = invoke(*typed, "--per-video", 3, "-q")
        assert made.exit_code == 0, made.output
        # To another folder, without the files it was made of.
        bench = Path(shutil.move(place / "set", place / "elsewhere"))
        shutil.rmtree(place / "videos")
        cast = ("--model", "hawk,owl", "--judge", "judge", "--config", config)
        played = invoke("bench", "run", bench, *cast, "-q")
        assert played.exit_code == 0, played.output
        yield Stage(bench, book, json.loads(planned.stdout)["plan"])


def items_of(stage: Stage) -> list[DialogueItem]:
    items: list[DialogueItem] = list(open_bench(stage.bench).items)
    return items


def requests_of(stage: Stage, name: str) -> Iterator[tuple[str, str, Kept]]:
    """Yield role, scope and body of every request that is in a file of calls."""
    with Store.open(stage.bench / "results" / name, write=False) as store:
        known = {row.key: row.nonce for row in store.journal.calls()}
    for request in stage.book.requests:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if (nonce := known.get(headers["idempotency-key"])) is not None:
            yield nonce.role, nonce.scope, request


def frames_of(request: Kept) -> bytes:
    """Return a body from its messages up to where its last text begins."""
    text = request.parts[-1]["text"]
    for encoded in (json.dumps(text, ensure_ascii=False), json.dumps(text)):
        before, found, _ = request.body.rpartition(encoded.encode())
        if found:
            return before[before.find(b'"messages"') :]
    raise AssertionError("the last text stands nowhere in the body")


def test_contestants_see_the_very_frames_that_a_dialogue_was_made_of(stage: Stage) -> None:
    parts = [item for item in items_of(stage) if item.spans]
    assert len({(item.video_id, *map(tuple, item.spans)) for item in parts}) >= 2
    made, played = (
        Store.open(stage.bench / "results" / name, write=False) for name in (CALLS, "calls.sqlite")
    )
    with made, played:
        for item in parts:
            part = part_id(item.video_id, item.spans)
            examined = stored_frames(made, item.video_id, part)
            shown = stored_frames(played, item.video_id, part)
            assert examined is not None, item.spans
            assert shown is not None
            assert shown.frames == examined.frames
            assert shown.frames[0].time_s == 0.0
    assert invoke("bench", "verify", stage.bench).exit_code == 0
    assert invoke("bench", "score", stage.bench).exit_code == 0


def test_all_roles_and_all_turns_of_a_clip_send_one_prefix(stage: Stage) -> None:
    by_clip = defaultdict[str, dict[bytes, set[str]]](dict)
    roles = set[str]()
    for role, scope, request in requests_of(stage, CALLS):
        if role in SHOWN_ALL:
            clip = CLIP.match(scope)
            assert clip is not None, scope
            by_clip[clip[0]].setdefault(frames_of(request), set()).add(role)
            roles.add(role)
    assert roles == SHOWN_ALL
    for prefixes in by_clip.values():
        # Apart from all of its frames, those that a contestant is not sent.
        shown = sorted(prefixes, key=lambda one: one.count(b"data:image/jpeg"))
        assert len(shown) <= 2
        assert all(prefixes[one] == {"dialogue_answerer"} for one in shown[:-1])


def test_all_turns_of_all_contestants_send_one_prefix(stage: Stage) -> None:
    clip_of = {
        round_scope(item, number): (item.video_id, *map(tuple, item.spans))
        for item in items_of(stage)
        for number in range(1, len(item.rounds) + 1)
    }
    prefixes = defaultdict[object, set[bytes]](set)
    turns = Counter[object]()
    for role, scope, request in requests_of(stage, "calls.sqlite"):
        if role == "contestant":
            who = clip_of[scope], json.loads(request.body)["model"]
            prefixes[who].add(frames_of(request))
            turns[who] += 1
    assert {len(found) for found in prefixes.values()} == {1}
    assert max(turns.values()) > 1
    shown = {one.count(b"data:image/jpeg") for found in prefixes.values() for one in found}
    assert max(shown) == 64
