"""Clients that trust one authority: to read all of them takes longer than most tests here."""

from __future__ import annotations

from pathlib import Path

import pytest

END = "-----END CERTIFICATE-----\n"


@pytest.fixture(scope="session")
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with the first certificate of those that clients bring."""
    import certifi

    file = tmp_path_factory.mktemp("trusted") / "authority.pem"
    file.write_text(Path(certifi.where()).read_text().partition(END)[0] + END)
    return file


@pytest.fixture(autouse=True)
def trusted(one_authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Gemini's client, which makes two TLS contexts of its own, trust that one."""
    monkeypatch.setenv("SSL_CERT_FILE", str(one_authority))
