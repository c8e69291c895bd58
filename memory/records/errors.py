"""Every error the arena raises on purpose.

ArenaError                    a person can act on it: one line, exit code 1
├── BadInput                  a value, file or flag that cannot be used
│   └── WrongArgument         typed with a value that it can never have: exit code 2
├── UnusableVideo             a file that gives no frames
│   └── DecoderLost           it killed its decoder, or overran its deadline
├── UnusableSubtitles         a file that gives no cues
├── FramesChanged             a video no longer gives the frames this run has seen
├── StoreError                the run file cannot be used
│   ├── StoreTooNew           written by a newer version
│   ├── RunLocked             another process is running it
│   └── ForeignRun            it holds a run with other settings
├── JournalMiss               a replay needed a call that was never recorded
└── CallFailed                a model call that failed for good; becomes a Forfeit or a Void
    ├── UnusableReply         a reply that holds no answer in the asked form, twice
    ├── EmptyReply            a reply without text
    ├── Refusal               a reply that its provider marks as the model's refusal
    ├── ContentFiltered       a reply or request that the provider's filter kept back
    ├── FramesLost            its frames can no longer be had, so nothing was sent
    └── ProviderFailed        the provider refused or could not be reached
"""


class ArenaError(Exception):
    """Something a person can act on; the command line prints it as one line."""


class BadInput(ArenaError):
    """A value, a file or a flag that cannot be used."""


class WrongArgument(BadInput):
    """A flag or an argument that was typed with a value that it can never have."""


class UnusableVideo(ArenaError):
    """A file that gives no frames; the message is the reason alone, without the name."""


class DecoderLost(UnusableVideo):
    """A file that killed the process which decoded it, or kept it past its deadline."""


class UnusableSubtitles(ArenaError):
    """A subtitle file that gives no cues; the message is the reason alone, without the name."""


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
    """A model call that failed for good.

    Attributes:
        kind: short machine word: "unusable-reply", "empty", "refusal", "content-filter",
            "too-large", "quota", "frames", "http-400", "timeout", "connection" ...
    """

    def __init__(self, reason: str, *, kind: str = "failed") -> None:
        super().__init__(reason)
        self.kind = kind


class UnusableReply(CallFailed):
    """A reply that holds no answer in the asked form, also after one repair round."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="unusable-reply")


class EmptyReply(CallFailed):
    """A reply without text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="empty")


class Refusal(CallFailed):
    """A reply that its provider marks as the model's refusal; prose that declines is an answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="refusal")


class ContentFiltered(CallFailed):
    """A reply or a request that the provider's filter kept back."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="content-filter")


class FramesLost(CallFailed):
    """A call that could not be sent, since its frames changed or can no longer be decoded."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, kind="frames")


class ProviderFailed(CallFailed):
    """The provider refused the call, or could not be reached, after all retries."""
