"""What a run's calls of one video have in common on the wire."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.bodies import Kept, keeping
from tests.support.clips import draw_folder
from tests.support.loopback import Loopback, ask_offline
from tests.support.titles import cue, write_titles
from tests.support.typed import Terminal
from tests.support.whole_runs import KEY, opened, write_config
from videoautoarena.agents.prompting.contracts import FORMAT_LINE

SHARING = {"persona", "questioner", "judge", "evolver", "grader"}


def roles_of(out: Path) -> dict[str, str]:
    """Return the role of each call that was written down."""
    with opened(out) as file:
        rows = file.execute("SELECT key, role FROM calls")
        return dict(rows)


def up_to_role_text(request: Kept) -> bytes:
    """Return a body from its messages up to where its last text begins.

    Before them OpenAI's says which model is asked, and each model has a cache of its own.
    """
    text = request.parts[-1]["text"]
    for encoded in (json.dumps(text, ensure_ascii=False), json.dumps(text)):
        before, found, _ = request.body.rpartition(encoded.encode())
        if found:
            return before[max(before.find(b'"messages"'), 0) :]
    raise AssertionError("the last text stands nowhere in the body")


@pytest.mark.parametrize(
    "provider", ["openai", pytest.param("google_genai", marks=pytest.mark.slow)]
)
def test_all_roles_of_a_video_send_one_prefix(
    provider: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    videos = draw_folder(tmp_path / "videos", 1, seconds=3)
    write_titles(videos / "clip00.srt", cue(0.5, 1.0, "Schön 視"), cue(2.0, 9.0, "and on"))
    with keeping(brain=ask_offline) as book:
        server = Loopback(book.port, tmp_path)
        config = write_config(tmp_path / "arena.toml", provider, server)
        config.write_text(config.read_text().replace("key_env", 'detail = "low"\nkey_env'))
        out = tmp_path / "out"
        arguments = ("--videos", videos, "--rounds", "2", "--config", config, "--out", out)
        assert Terminal(capsys).simulate(*arguments).code == 0
    prefixes: dict[str, set[bytes]] = defaultdict(set)
    roles = roles_of(out)
    for request in book.requests:
        headers = {name.lower(): value for name, value in request.headers.items()}
        prefixes[roles[headers["idempotency-key"]]].add(up_to_role_text(request))
    assert prefixes.keys() >= SHARING | {"examiner", "contestant"}
    (prefix,) = set.union(*(prefixes[role] for role in SHARING | {"examiner"}))
    assert prefix.count(b"data:image/jpeg" if provider == "openai" else b"inlineData") > 15
    assert "Schön 視".encode() in prefix
    assert FORMAT_LINE.encode() not in prefix
