"""What holds for every test: no way out of the machine, no key, a home of its own."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from tests.support.typed import Terminal

SEALED = Path(__file__).parent / "support" / "sealed"
sys.path.append(str(SEALED))

import sealed_sockets  # noqa: E402, F401  importing it seals this process

LEFT_OUT_ENDINGS = ("_API_KEY", "_API_BASE", "_BASE_URL", "_PROXY")
LEFT_OUT_STARTS = (
    *("LANGSMITH_", "LANGCHAIN_", "OPENAI_", "GOOGLE_", "GEMINI_", "ARENA_", "OTEL_"),
    *("ANTHROPIC_", "AWS_", "AZURE_", "CLOUDSDK_", "GCE_"),
)
HOMES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
DURATIONS = Path(__file__).parent / "durations.json"
WORTH_NOTING_S = 0.5
SLOW_ALONE = "(slow or hypothesis)"
"""Stands in what `make slow` selects by."""

# Nothing here may hang on how busy the machine is, or on which examples chance brings today.
for profile, examples in (("brief", 25), ("thorough", 200)):
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("brief")
# Hypothesis draws from the constants of all modules that are loaded, even where it is derandomized:
# which these are hangs on the files that a worker got before.
NO_CONSTANTS = providers.Constants()
providers._get_local_constants = lambda: NO_CONSTANTS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-durations",
        action="store_true",
        help=f"write into {DURATIONS.name} how long each test took that takes {WORTH_NOTING_S} s",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationsWriter())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Search nothing for garbage that is only there to stay: modules, and twelve thousand tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file for the slow suite that has nothing of it: half a minute for each worker."""
    if collection_path.suffix != ".py" or SLOW_ALONE not in config.getoption("markexpr"):
        return None
    text = collection_path.read_text()
    return None if "mark.slow" in text or "hypothesis" in text else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker is left alone with one of them."""
    seconds = durations()
    by_file: Counter[Path] = Counter()
    for item in items:
        by_file[item.path] += seconds.get(item.nodeid, 0)
    items.sort(key=lambda item: by_file[item.path], reverse=True)


def durations() -> dict[str, float]:
    """Return the seconds that slower tests took on an idle machine, by id."""
    found: dict[str, float] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return found


class DurationsWriter:
    """Keeps what the tests of this session took; of others stays what was known."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.taken[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        kept = durations() | {test: round(taken, 1) for test, taken in self.taken.items()}
        noted = {test: taken for test, taken in sorted(kept.items()) if taken >= WORTH_NOTING_S}
        DURATIONS.write_text(json.dumps(noted, indent=0) + "\n")


def is_left_out(name: str) -> bool:
    """Say whether an environment variable could carry a key, a way out or a setting into a test."""
    upper = name.upper()
    return upper.endswith(LEFT_OUT_ENDINGS) or upper.startswith(LEFT_OUT_STARTS)


def move_in(home: Path, env: pytest.MonkeyPatch) -> None:
    """Point every variable that names somebody's home or cache into `home`."""
    for name in HOMES:
        place = home if name == "HOME" else home / name.lower()
        place.mkdir(parents=True, exist_ok=True)
        env.setenv(name, str(place))


def one_authority(folder: Path) -> Path:
    """Return a file with the first certificate that clients bring: reading all takes 25 ms each."""
    import certifi

    end = "-----END CERTIFICATE-----\n"
    file = folder / "authority.pem"
    file.write_text(Path(certifi.where()).read_text().partition(end)[0] + end)
    return file


@pytest.fixture(scope="session", autouse=True)
def sealed_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Leave no key in the environment, and seal every Python that a test starts."""
    home = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as env:
        for name in filter(is_left_out, list(os.environ)):
            env.delenv(name)
        env.setenv("PYTHONPATH", str(SEALED), prepend=os.pathsep)
        move_in(home / "session", env)
        env.setenv("SSL_CERT_FILE", str(one_authority(home)))
        # Runs that tests share were begun by whoever goes on with them, in whatever process.
        env.setenv("XDG_STATE_HOME", str(shared_folder(tmp_path_factory) / "state"))
        yield home


@pytest.fixture(autouse=True)
def _no_past_calls() -> None:
    """Let no plan go by what calls of earlier tests took, which is kept for the whole machine."""
    (Path(os.environ["XDG_STATE_HOME"]) / "videoautoarena" / "calls.json").unlink(missing_ok=True)


@pytest.fixture(scope="session", autouse=True)
def heard_interrupts() -> Iterator[None]:
    """Let commands and their children hear Ctrl-C, also where a shell's `&` has ignored it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all processes of a session have in common."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def sample_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project's own twelve clips, encoded once for all workers; copy, never change."""
    from videoautoarena.video.synth.samples import make_samples

    folder = shared_folder(tmp_path_factory) / "sample-clips"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_samples(folder)
    return folder


class Homes:
    """Empty homes, one after another; few tests leave anything, and most can share one.

    A home for each takes half a minute of the suite to make and remove.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0

    def empty(self) -> Path:
        """Return the latest home if nothing was left in it, else a new one."""
        latest = self._folder / str(self._made)
        if latest.exists() and not is_untouched(latest):
            self._made += 1
        return self._folder / str(self._made)


def is_untouched(home: Path) -> bool:
    """Say whether a home holds nothing but the empty folders that it began with."""
    folders = {name.lower() for name in HOMES if name != "HOME"}
    return set(os.listdir(home)) == folders and not any(
        os.listdir(f"{home}/{name}") for name in folders
    )


@pytest.fixture(scope="session")
def homes(sealed_environment: Path) -> Homes:
    """Return the homes of the tests of this process."""
    return Homes(sealed_environment)


@pytest.fixture(autouse=True)
def home(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty home, with empty caches and no configuration."""
    place = homes.empty()
    move_in(place, monkeypatch)
    return place


@pytest.fixture
def terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Terminal:
    """Commands as a person types them in the folder of the test."""
    from tests.support.typed import Terminal

    monkeypatch.chdir(tmp_path)
    return Terminal(capsys)
