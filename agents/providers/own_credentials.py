"""Whether a client that finds its credentials itself would find any here, by its own package.

Files and variables are looked at, and a machine's metadata service is asked once and briefly; no
other host is, no program is started, and nothing that is found is kept or shown but where it is.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

METADATA_S = 1.0
"""How long a metadata service may take, in seconds: where there is none, many wait in vain."""


class OwnCredentials(NamedTuple):
    """Whether a provider's client finds credentials, and where."""

    found: bool
    source: str
    """Where they are, or why there are none; never a part of them."""


_BEARER = "AWS_BEARER_TOKEN_BEDROCK"
_CONTAINER = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
_AWS_SOURCES = {
    "env": "AWS_ACCESS_KEY_ID",
    "shared-credentials-file": "the file of shared credentials",
    "config-file": "the file of AWS's settings",
    "assume-role": "a role that the profile names",
    "assume-role-with-web-identity": "a role by web identity",
    "sso": "single sign-on, which may have to be renewed",
    "login": "a login, which may have to be renewed",
    "iam-role": "the role of this machine",
}
"""What botocore calls a way to credentials, in words."""
_ASKED = ("container-role", "iam-role")
_STARTED = "custom-process"


def aws_credentials() -> OwnCredentials:
    """Return what the chain of botocore finds."""
    if os.environ.get(_BEARER, "").strip():
        return OwnCredentials(True, _BEARER)
    from botocore.exceptions import BotoCoreError, PartialCredentialsError, ProfileNotFound
    from botocore.session import Session

    session = Session()
    session.set_config_variable("metadata_service_timeout", METADATA_S)
    session.set_config_variable("metadata_service_num_attempts", 1)
    try:
        chain = session.get_component("credential_provider")
        machine = chain.get_provider("iam-role")
        for method in (*_ASKED, _STARTED):
            chain.remove(method)
        found = chain.load_credentials()
        profile = session.profile or "default"
        if found is None and session.get_scoped_config().get("credential_process"):
            return OwnCredentials(True, f"a program that the profile {profile} names; not started")
        container = next((name for name in _CONTAINER if os.environ.get(name)), None)
        if found is None and container is not None:
            return OwnCredentials(True, f"the role of this container, by {container}; not asked")
        # The last in botocore's order, too.
        found = found or machine.load()
    except ProfileNotFound:
        return OwnCredentials(False, "the profile that AWS_PROFILE names is not there")
    except PartialCredentialsError:
        return OwnCredentials(False, "a key without its secret, or the other way round")
    except BotoCoreError as wrong:
        # Its words may quote a line of a file.
        return OwnCredentials(False, f"botocore refuses what there is ({type(wrong).__name__})")
    if found is None:
        return OwnCredentials(False, "no variable, file or role of this machine has any")
    source = _AWS_SOURCES.get(found.method, str(found.method))
    named = f", profile {profile}" if found.method not in ("env", "iam-role") else ""
    return OwnCredentials(True, f"{source}{named}")


_FILE = "GOOGLE_APPLICATION_CREDENTIALS"


class _ReachedError(Exception):
    """The metadata service answers, and more is not asked of it."""


class _UnreachedError(Exception):
    """The metadata service does not answer in time."""


class _OneRequest:
    """Sends one request of google.auth, briefly."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self._is_sent = False

    def __call__(self, **how: Any) -> Any:
        from google.auth.exceptions import TransportError

        if self._is_sent:
            raise _ReachedError
        self._is_sent = True
        try:
            return self._send(**{**how, "timeout": METADATA_S})
        except TransportError:
            # Not passed on: it would be tried again, after seconds of sleep.
            raise _UnreachedError from None


def google_credentials() -> OwnCredentials:
    """Return whether application default credentials are found, as google.auth looks for them."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import Request
    from requests import Session

    file = os.environ.get(_FILE, "")
    with _hushed("google.auth"), Session() as session:
        try:
            once: Any = _OneRequest(Request(session))
            google.auth.default(request=once)
        except _ReachedError:
            return OwnCredentials(True, "the service account of this machine")
        except _UnreachedError:
            return OwnCredentials(False, "no file has any, and no metadata service answers")
        # Its words may quote a line of the file.
        except (GoogleAuthError, ValueError):
            named = f"the file that {_FILE} names cannot be used"
            return OwnCredentials(False, named if file else "no file has any that can be used")
    return OwnCredentials(True, _FILE if file else "gcloud auth application-default login")


@contextmanager
def _hushed(name: str) -> Iterator[None]:
    """Keep a package's warnings from the terminal: what they tell is in the result."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
