from __future__ import annotations

import json
from pathlib import Path

import pytest

from videoautoarena.memory.records.errors import (
    ArenaError,
    CallFailed,
    EmptyReply,
    FramesLost,
    MissingExtra,
    ProviderFailed,
    Refusal,
    UnusableReply,
    install_command,
)
from videoautoarena.memory.records.records import Grade


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnusableReply("no verdict"), "unusable-reply"),
        (EmptyReply("no text"), "empty"),
        (Refusal("I cannot help with that"), "refusal"),
        (FramesLost("frames changed"), "frames"),
        (ProviderFailed("bad request", kind="http-400"), "http-400"),
        (CallFailed("no reason"), "failed"),
    ],
)
def test_a_failed_call_says_of_what_kind(error: CallFailed, kind: str) -> None:
    assert error.kind == kind
    assert isinstance(error, ArenaError)


def install(folder: Path, origin: dict[str, object] | None) -> None:
    """Lay down what pip writes of an installation, and of where it came from."""
    metadata = folder / "videoautoarena-1.0.dist-info"
    metadata.mkdir()
    told = "Metadata-Version: 2.1\nName: videoautoarena\nVersion: 1.0\n"
    (metadata / "METADATA").write_text(told)
    if origin is not None:
        (metadata / "direct_url.json").write_text(json.dumps(origin))


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'videoautoarena[web]'"),
        ({"url": "https://host/a.whl", "archive_info": {}}, "pip install 'videoautoarena[web]'"),
        (
            {"url": "file:///home/an%20arena", "dir_info": {"editable": True}},
            "pip install -e '/home/an arena[web]'",
        ),
        ({"url": "file:///home/arena", "dir_info": {}}, "pip install '/home/arena[web]'"),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    origin: dict[str, object] | None,
    command: str,
) -> None:
    install(tmp_path, origin)
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("web") == command
    said = str(MissingExtra("pages need h11", "web"))
    assert said == f"pages need h11; install it with: {command}"


def test_in_the_clone_itself_an_extra_is_that_of_the_folder_one_stands_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(tmp_path, {"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert install_command("web") == "pip install -e '.[web]'"


def test_a_grade_adds_up_its_four_standards() -> None:
    grade = Grade(
        instruction_following=1.1, accuracy=2.2, relevance=3.3, helpfulness=4.4, overall=5.0
    )
    assert grade.total == 11.0
