"""Every error the arena raises on purpose."""

from __future__ import annotations


class ArenaError(Exception):
    """Something a person can act on; the command line prints it as one line, exit code 1."""


class BadInput(ArenaError):
    """A value, a file or a flag that cannot be used."""


class WrongArgument(BadInput):
    """A flag or an argument that was typed with a value it can never have: exit code 2."""


class MissingExtra(BadInput):
    """Something needs an extra of this package; the message ends with how to install it."""

    def __init__(self, lack: str, extra: str) -> None:
        """Say what is lacking, and how the extra is installed where this package came from."""
        super().__init__(f"{lack}; install it with: {install_command(extra)}")


def need_package(name: str, lack: str, extra: str) -> None:
    """Raise MissingExtra, its message beginning with `lack`, where a package is not installed."""
    from importlib.util import find_spec

    if find_spec(name) is None:
        raise MissingExtra(lack, extra)


def install_command(extra: str) -> str:
    """Return the command that installs an extra; from the clone, where a clone is installed."""
    # Imported here: every command loads this module, and few of them need this function.
    import json
    import shlex
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    wanted = f"videoautoarena[{extra}]"
    try:
        origin = distribution("videoautoarena").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    found = json.loads(origin) if origin else {}
    # By PEP 610 a package that was installed from a
    # folder has this, one from an index no such file.
    if "dir_info" not in found:
        return f"pip install {shlex.quote(wanted)}"
    clone = Path(unquote(urlsplit(found["url"]).path))
    place = "." if clone == Path.cwd() else str(clone)
    editable = "-e " if found["dir_info"].get("editable") else ""
    return f"pip install {editable}{shlex.quote(f'{place}[{extra}]')}"


class Unfinished(ArenaError):
    """Work that ended early, or of which more failed than is accepted; the same call goes on."""

    def __init__(self, reason: str, *, kind: str) -> None:
        """Say why, and as `kind` in a word.

        `interrupted`, `cap`, `unreachable` (a server), `hopeless` (a model), or `failed`.
        """
        super().__init__(reason)
        self.kind = kind


class UnusableVideo(ArenaError):
    """A file gives no frames; the message is the reason alone, without the name."""


class DecoderLost(UnusableVideo):
    """A file killed the process that decoded it, or kept it busy past its deadline."""


class UnusableSubtitles(ArenaError):
    """A subtitle file gives no cues; the message is the reason alone, without the name."""


class FramesChanged(ArenaError):
    """A video no longer gives the frames this run has seen."""


class StoreError(ArenaError):
    """The run file cannot be used."""


class StoreTooNew(StoreError):
    """The run file was written by a newer version."""


class RunLocked(StoreError):
    """Another process is running this run."""


class ForeignRun(StoreError):
    """The folder holds a run with other settings."""


class JournalMiss(ArenaError):
    """A replay needed a call that was never recorded."""


class CallFailed(ArenaError):
    """A model call that failed for good; becomes a forfeit or a void."""

    kind = "failed"
    """Short machine word, such as "quota", "http-400", "timeout" or "connection"."""


class BatchRefused(ArenaError):
    """A provider takes no batch, or does not say what came of one; its calls have no row."""

    def __init__(self, reason: str, *, model: str, may_be_paid: bool = False) -> None:
        """Say why, of which model, and whether its calls may be paid for all the same."""
        super().__init__(reason)
        self.model = model
        self.may_be_paid = may_be_paid


class UnusableReply(CallFailed):
    """A reply that holds no answer in the asked form, also after one repair round."""

    kind = "unusable-reply"


class EmptyReply(CallFailed):
    """A reply without text."""

    kind = "empty"


class Refusal(CallFailed):
    """A reply that its provider marks as the model's refusal; prose that declines is an answer."""

    kind = "refusal"


class ContentFiltered(CallFailed):
    """A reply or a request that the provider's filter kept back."""

    kind = "content-filter"


class FramesLost(CallFailed):
    """A call that could not be sent, since its frames changed or can no longer be decoded."""

    kind = "frames"


class ProviderFailed(CallFailed):
    """The provider refused the call, or could not be reached, after all retries."""

    def __init__(self, reason: str, *, kind: str = "failed") -> None:
        super().__init__(reason)
        self.kind = kind
