"""Whether a client would find credentials of its own: of files, of variables and of a machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from videoautoarena.agents.models.registry import parse_model
from videoautoarena.agents.providers import own_credentials
from videoautoarena.agents.providers.own_credentials import aws_credentials, google_credentials

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ID = "AKIDEXAMPLE"
NOWHERE = "127.0.0.1:9"
"""A port at which nothing listens."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any credentials, on a machine without a metadata service."""
    for name in (
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"),
        *("AWS_BEARER_TOKEN_BEDROCK", "AWS_EC2_METADATA_DISABLED", "AWS_CONFIG_FILE"),
        *("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
        *("AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "APPDATA"),
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://{NOWHERE}")
    monkeypatch.setenv("GCE_METADATA_IP", NOWHERE)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "a-project")
    return tmp_path


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@contextmanager
def metadata(replies: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a machine's metadata service, and the paths that it is asked for."""
    asked = list[str]()

    class Service(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = replies.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Metadata-Flavor", "Google")
            self.end_headers()
            self.wfile.write((body or "").encode())

        do_PUT = do_GET

        def log_message(self, *_said: Any) -> None:
            """Keep the terminal clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert aws_credentials() == (False, "no variable, file or role of this machine has any")
    assert google_credentials() == (False, "no file has any, and no metadata service answers")


@pytest.mark.parametrize("place", ["variables", "file", "profile", "bearer"])
def test_a_pair_of_keys_is_found_and_only_its_place_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    pair = f"aws_access_key_id = {ID}\naws_secret_access_key = {SECRET}\n"
    if place == "variables":
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", ID)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        told = "AWS_ACCESS_KEY_ID"
    elif place == "file":
        write(home / ".aws/credentials", f"[default]\n{pair}")
        told = "the file of shared credentials, profile default"
    elif place == "profile":
        monkeypatch.setenv("AWS_PROFILE", "work")
        write(home / ".aws/config", f"[profile work]\n{pair}")
        told = "the file of AWS's settings, profile work"
    else:
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", SECRET)
        told = "AWS_BEARER_TOKEN_BEDROCK"
    assert aws_credentials() == (True, told)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("[default]\naws_access_key_id = AKIDEXAMPLE\n", "a key without its secret"),
        (f"[default\naws_secret_access_key = {SECRET}\n", "botocore refuses"),
    ],
)
def test_half_a_pair_and_a_broken_file_are_told_without_their_words(
    home: Path, config: str, why: str
) -> None:
    write(home / ".aws/credentials", config)
    found = aws_credentials()
    assert not found.found
    assert why in found.source
    assert not {ID, SECRET} & set(found.source.split())


def test_a_profile_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "gone")
    assert aws_credentials() == (False, "the profile that AWS_PROFILE names is not there")


def test_no_program_is_started_and_no_container_asked(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign = home / "started"
    file = write(home / ".aws/config", f"[default]\ncredential_process = touch {sign}\n")
    assert aws_credentials() == (True, "a program that the profile default names; not started")
    assert not sign.exists()
    file.unlink()
    with metadata({}) as (address, asked):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"http://{address}/role")
        found = aws_credentials()
    assert found.found
    assert "the role of this container" in found.source
    assert asked == []


def test_the_role_of_a_machine_is_found_over_its_metadata_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {
        "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": ID, "SecretAccessKey": SECRET,
        "Token": "t", "LastUpdated": "2026-01-01T00:00:00Z", "Expiration": "2099-01-01T00:00:00Z",
    }  # fmt: skip
    roles = "/latest/meta-data/iam/security-credentials/"
    replies = {"/latest/api/token": "x", roles: "a-role", f"{roles}a-role": json.dumps(given)}
    with metadata(replies) as (address, _):
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://{address}")
        assert aws_credentials() == (True, "the role of this machine")


def user() -> str:
    return json.dumps(
        {"type": "authorized_user", "client_id": "c", "client_secret": SECRET, "refresh_token": "r"}
    )


def test_application_default_credentials_are_found_in_either_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".config/gcloud/application_default_credentials.json", user())
    assert google_credentials() == (True, "gcloud auth application-default login")
    named = write(home / "mine.json", user())
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(named))
    assert google_credentials() == (True, "GOOGLE_APPLICATION_CREDENTIALS")


@pytest.mark.parametrize("text", [None, SECRET, json.dumps({"type": SECRET})])
def test_a_file_that_is_named_and_cannot_be_used_is_told_without_its_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    file = home / "mine.json"
    if text is not None:
        write(file, text)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    why = "the file that GOOGLE_APPLICATION_CREDENTIALS names cannot be used"
    assert google_credentials() == (False, why)


def test_the_account_of_a_machine_is_found_with_one_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with metadata({"/": ""}) as (address, asked):
        monkeypatch.setenv("GCE_METADATA_IP", address)
        assert google_credentials() == (True, "the service account of this machine")
    assert asked == ["/"]
    assert capsys.readouterr() == ("", "")


def test_a_metadata_service_that_keeps_silent_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_credentials, "METADATA_S", 0.05)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:
        address = f"127.0.0.1:{silent.server_port}"
        monkeypatch.setenv("GCE_METADATA_IP", address)
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://{address}")
        assert not google_credentials().found
        assert not aws_credentials().found


def test_who_takes_a_key_or_is_of_another_s_making_has_no_answer() -> None:
    assert parse_model("openai:gpt-4o").maker.find_credentials() is None
    assert parse_model("bedrock:anthropic.claude-sonnet-4").maker.find_credentials() == (
        False,
        "no variable, file or role of this machine has any",
    )
