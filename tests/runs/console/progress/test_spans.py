"""Calls, battles and runs as spans, as a collector on loopback takes them."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.clips import draw_folder
from tests.support.collector import TakenSpans, collecting
from tests.support.played import battle, judging, slot, video
from tests.support.small_runs import battles_of, play
from videoautoarena.agents.calls.ask import CallEvent
from videoautoarena.memory.records.errors import MissingExtra, WrongArgument
from videoautoarena.memory.records.records import Attempt, CallRow, Nonce, Usage
from videoautoarena.memory.store.store import Store
from videoautoarena.runs.cli.playing.simulate import simulate_command
from videoautoarena.runs.cli.program.main import arena
from videoautoarena.runs.console.progress import otlp, spans
from videoautoarena.runs.console.progress.events import BattleSettled, RunBegun, RunEvent
from videoautoarena.runs.console.progress.otlp import FOR_ALL, FOR_TRACES, collector_at
from videoautoarena.runs.console.progress.spans import SpanWriter, delivery_to, evaluations_of
from videoautoarena.runs.run.config.run_config import resolve
from videoautoarena.runs.run.config.run_request import RunRequest
from videoautoarena.runs.run.rundir.reader import RUN_FILE

KEY = "sk-4f9Q2mZr8WvT6bYx"
PAIR = ("offline:hawk", "offline:mole")
VIDEO = video()
SLOT = slot(VIDEO, 0)
BATTLE = battle(SLOT)


@pytest.fixture
def collector() -> Iterator[TakenSpans]:
    with collecting() as taken:
        yield taken


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_folder(tmp_path_factory.mktemp("spans") / "clips", 1, seconds=2)


class Played:
    """A run whose spans were taken."""

    def __init__(self, out: Path, taken: TakenSpans, said: list[str]) -> None:
        self.out = out
        self.taken = taken
        self.said = said
        with Store.open(out / RUN_FILE, write=False) as store:
            self.calls: list[CallRow] = store.journal.calls()
        self.battles = battles_of(out)


@pytest.fixture(scope="module")
def run(clips: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    said: list[str] = []
    out = tmp_path_factory.mktemp("spans") / "run"
    with collecting() as taken, pytest.MonkeyPatch.context() as env:
        env.setenv(FOR_ALL, taken.url)
        play(clips, out, models=PAIR, said=said)
    return Played(out, taken, said)


def test_there_is_a_span_for_each_call_each_battle_and_the_run(run: Played) -> None:
    assert run.taken.kinds == {"calls": len(run.calls), "battles": len(run.battles), "whole": 1}
    assert set(run.taken.paths) == {"/v1/traces"}
    digests = {span.attributes.get("videoautoarena.request.digest") for span in run.taken.spans}
    assert digests - {None} == {f"sha256:{row.key}" for row in run.calls}


def test_calls_stand_below_their_battle_and_those_about_a_video_below_the_run(run: Played) -> None:
    by_id = {span.id: span for span in run.taken.spans}
    (whole,) = [span for span in by_id.values() if span.name == "invoke_workflow tournament"]
    assert {span.trace for span in by_id.values()} == {whole.trace}
    assert whole.parent == ""
    for span in by_id.values():
        scope = span.attributes.get("videoautoarena.scope")
        if span.name.startswith("chat ") and scope == run.battles[0].video:
            assert span.parent == whole.id
        elif span.name.startswith("chat "):
            assert by_id[span.parent].attributes["videoautoarena.battle"] == scope
        elif span is not whole:
            assert span.parent == whole.id


def test_a_call_is_told_by_the_names_of_the_conventions(run: Played) -> None:
    rows = {f"sha256:{row.key}": row for row in run.calls}
    told = [span for span in run.taken.spans if span.name.startswith("chat ")]
    for span in told:
        said = span.attributes
        row = rows[said["videoautoarena.request.digest"]]
        assert said["gen_ai.operation.name"] == "chat"
        assert said["gen_ai.provider.name"] == "offline"
        assert span.name == f"chat {said['gen_ai.request.model']}"
        assert said["gen_ai.agent.name"] == row.nonce.role
        assert said["gen_ai.usage.input_tokens"] == row.usage.input_tokens
        assert said["gen_ai.usage.output_tokens"] == row.usage.output_tokens
        assert not span.is_error
    assert {span.attributes["gen_ai.agent.name"] for span in told} >= {"examiner", "judge"}


def test_a_battle_holds_its_verdict_and_each_judges_view_by_each_standard(run: Played) -> None:
    told = [span for span in run.taken.spans if span.name == "invoke_workflow battle"]
    battles = {one.id: one for one in run.battles}
    assert {span.attributes["videoautoarena.battle"] for span in told} == set(battles)
    for span in told:
        one = battles[span.attributes["videoautoarena.battle"]]
        assert span.attributes["videoautoarena.verdict"] == one.verdict
        assert {name for name, _ in span.events} == {"gen_ai.evaluation.result"}
        named = [said["gen_ai.evaluation.name"] for _, said in span.events]
        views = [["overall", *(view.standards or {})] for view in one.verdicts]
        assert Counter(named) == Counter(["battle", *(name for view in views for name in view)])
        assert span.events[0][1]["gen_ai.evaluation.score.label"] == one.verdict


def test_no_frame_prompt_or_answer_is_in_any_of_them(run: Played) -> None:
    raw = run.taken.raw
    # How a JPEG begins, raw and in base64.
    assert b"\xff\xd8\xff" not in raw
    assert b"/9j/" not in raw
    texts = [text for one in run.battles for text in (one.question, one.answer_a, one.answer_b)]
    assert not [text for text in texts if text and text.encode() in raw]


def test_it_is_said_where_they_go_and_what_they_hold(run: Played) -> None:
    host = run.taken.url.removeprefix("http://")
    (line,) = [line for line in run.said if "spans of" in line]
    assert line.startswith(f"spans of calls and battles go to {host}: ")


def test_the_process_is_named_unless_the_user_named_it(
    run: Played, collector: TakenSpans, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run.taken.resources[0]["service.name"] == "videoautoarena"
    monkeypatch.setenv("OTEL_SERVICE_NAME", "night")
    written(collector, [CALL_BEGUN, CALL_ENDED])
    assert collector.resources[0]["service.name"] == "night"


def test_a_run_that_has_nothing_left_to_play_sends_none(
    run: Played, clips: Path, collector: TakenSpans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOR_ALL, collector.url)
    said: list[str] = []
    play(clips, run.out, models=PAIR, said=said)
    assert not collector.bodies
    assert not [line for line in said if "spans of" in line]


def test_a_paid_job_is_one_span_above_those_of_its_calls(
    run: Played, clips: Path, tmp_path: Path, collector: TakenSpans, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    copytree(run.out, out)
    monkeypatch.setenv(FOR_ALL, collector.url)
    typed = ["categories", "tag", str(out), "--videos", str(clips), "--quiet"]
    for _ in range(2):
        done = CliRunner().invoke(arena, typed, standalone_mode=False)
        assert done.return_value == 0, done.output
    # What is known already is asked nobody again.
    (whole,) = [span for span in collector.spans if not span.parent]
    assert collector.kinds == {"calls": len(run.battles), "whole": 1}
    assert {span.parent for span in collector.spans} == {"", whole.id}


WAYS = {
    "nobody is there": {FOR_ALL: "http://127.0.0.1:9"},
    "it has no room": {},
    "it never answers": {},
    "it sends on": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_collector_that_takes_none_changes_no_battle_and_is_told_in_one_line(
    way: str,
    run: Played,
    clips: Path,
    tmp_path: Path,
    collector: TakenSpans,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(spans, "FLUSH_S", 0.2)
    monkeypatch.setenv(FOR_ALL, WAYS[way].get(FOR_ALL, collector.url))
    if way == "it never answers":
        collector.let_go.clear()
    elif way == "it has no room":
        collector.statuses[:] = [503] * 99
    elif way == "it sends on":
        collector.moved_to = f"{collector.url}/elsewhere"
        collector.statuses[:] = [307] * 99
    said: list[str] = []
    play(clips, tmp_path / "run", models=PAIR, said=said)
    assert battles_of(tmp_path / "run") == run.battles
    count = len(run.taken.spans)
    (line,) = [line for line in said if "not taken" in line]
    assert line.startswith(f"{count} of {count} spans were not taken by 127.0.0.1:")
    assert not collector.bodies
    assert "/elsewhere" not in collector.paths
    assert not caplog.records


CONFIG = resolve(RunRequest(models=PAIR)).config
PLACE = Nonce(scope=SLOT.id, role="contestant", generation=0, ordinal=0)


def happened(kind: Any, **more: Any) -> CallEvent:
    return CallEvent(kind, "offline:hawk", more.pop("nonce", PLACE), **more)


CALL_BEGUN = happened("started")
CALL_ENDED = happened("finished", usage=Usage(input_tokens=9, output_tokens=2), key="k" * 64)
BEGUN = RunBegun(
    out=Path("run"),
    seed=0,
    rounds=1,
    models=PAIR,
    examiner="offline:examiner",
    judges=("offline:examiner",),
    videos={VIDEO.id: "a.mp4"},
    slots=(SLOT,),
    battles=(),
)


def written(collector: TakenSpans, events: list[RunEvent], **how: Any) -> spans.LostSpans:
    """Have events written as spans and sent; return what was lost."""
    writer = SpanWriter(delivery_to(f"{collector.url}/v1/traces"), CONFIG, "tournament", **how)
    for event in events:
        writer.hear(event)
    return writer.close()


def test_a_call_that_failed_names_its_fault_and_each_retry(collector: TakenSpans) -> None:
    again = happened("retry", fault="http-429", seconds=2.5)
    attempt = Attempt(kind="http-429", reason="full", waited_s=2.5, cost_usd=0.25)
    ended = happened("finished", fault="timeout", cost_usd=0.5, attempts=(attempt,), text="late")
    written(collector, [BEGUN, CALL_BEGUN, again, ended, BattleSettled(BATTLE)])
    (call,) = [span for span in collector.spans if span.name == "chat hawk"]
    assert call.is_error
    assert call.attributes["error.type"] == "timeout"
    assert call.attributes["videoautoarena.tries"] == 2
    assert call.attributes["videoautoarena.cost_usd"] == 0.75
    assert call.events == [
        ("videoautoarena.retry", {"videoautoarena.pause_s": 2.5, "error.type": "http-429"})
    ]


def test_a_reply_tells_who_gave_it_and_how_it_ended(collector: TakenSpans) -> None:
    ended = happened("finished", served_by="hawk-2", ending="stop", text="Two.", seconds=3.0)
    written(collector, [BEGUN, CALL_BEGUN, ended])
    (call,) = [span for span in collector.spans if span.name == "chat hawk"]
    assert call.attributes["gen_ai.response.model"] == "hawk-2"
    assert call.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert call.attributes["videoautoarena.reply.digest"].startswith("sha256:")
    # News of another machine brings both ends at once.
    assert call.ns >= 3_000_000_000


def test_a_provider_by_name_is_told_by_the_conventions_with_what_its_cache_took(
    collector: TakenSpans,
) -> None:
    claude = "bedrock:anthropic.claude-sonnet-4-5"
    config = resolve(
        RunRequest(models=(claude, "mistral:pixtral"), examiner="openai:gpt-4.1")
    ).config
    usage = Usage(input_tokens=9, output_tokens=5, cached_tokens=4, written_tokens=3)
    usage = usage.model_copy(update={"reasoning_tokens": 2})
    writer = SpanWriter(delivery_to(f"{collector.url}/v1/traces"), config, "tournament")
    for alias in (claude, "mistral:pixtral"):
        writer.hear(CallEvent("started", alias, PLACE))
        writer.hear(CallEvent("finished", alias, PLACE, usage=usage))
    writer.close()
    there, api = (span.attributes for span in collector.spans if span.name.startswith("chat "))
    assert (there["gen_ai.provider.name"], api["gen_ai.provider.name"]) == (
        *("aws.bedrock", "mistral_ai"),
    )
    assert there["gen_ai.usage.cache_read.input_tokens"] == 4
    assert there["gen_ai.usage.cache_creation.input_tokens"] == 3
    assert there["gen_ai.usage.reasoning.output_tokens"] == 2
    assert api["server.address"] == "api.mistral.ai"
    # Its client alone knows which region's address it calls.
    assert "server.address" not in there


def test_a_call_that_the_journal_knows_is_counted_and_has_no_span(collector: TakenSpans) -> None:
    written(collector, [BEGUN, happened("recalled", text="Two."), BattleSettled(BATTLE)])
    assert collector.kinds == {"battles": 1, "whole": 1}
    told = [span.attributes["videoautoarena.calls.recalled"] for span in collector.spans]
    assert told == [1, 1]


def test_what_is_cut_off_ends_as_interrupted(collector: TakenSpans) -> None:
    written(collector, [BEGUN, CALL_BEGUN])
    assert collector.kinds == {"calls": 1, "battles": 1, "whole": 1}
    cut_off = [span for span in collector.spans if span.is_error]
    assert [span.attributes["error.type"] for span in cut_off] == ["interrupted"] * 2


def test_news_that_come_after_their_battle_open_no_other(collector: TakenSpans) -> None:
    late = [CALL_BEGUN, BattleSettled(BATTLE), CALL_ENDED, CALL_BEGUN, CALL_ENDED]
    written(collector, [BEGUN, *late])
    assert collector.kinds == {"calls": 2, "battles": 1, "whole": 1}
    (told,) = [span for span in collector.spans if span.name == "invoke_workflow battle"]
    assert {span.parent for span in collector.spans if span.name == "chat hawk"} == {told.id}


def test_equal_calls_under_way_on_two_machines_are_two(collector: TakenSpans) -> None:
    events = [happened(kind, node=node) for kind in ("started", "finished") for node in "ab"]
    written(collector, [BEGUN, *events])
    told = [span.attributes.get("videoautoarena.machine") for span in collector.spans]
    assert sorted(filter(None, told)) == ["a", "b"]


HOSTILE = f"\x1b[2J\u202e key {KEY} " + "long " * 500


def test_a_judges_words_are_one_short_printable_line_without_keys() -> None:
    standards = {"accuracy": "a"}
    harsh = judging(standards=standards, analyses={"accuracy": HOSTILE}, reason=HOSTILE)
    said = [
        one.get("gen_ai.evaluation.explanation")
        for one in evaluations_of(battle(SLOT, verdicts=(harsh,), reason=HOSTILE))
    ]
    assert len(said) == 3
    for words in said:
        assert isinstance(words, str)
        assert words.isprintable()
        assert len(words) <= 300
        assert KEY not in words


@pytest.mark.parametrize(
    ("verdict", "value"), [("a", 1.0), ("b", 0.0), ("tie_bad", 0.5), ("split", 0.5), ("void", None)]
)
def test_a_verdict_is_also_the_share_that_model_a_wins(verdict: Any, value: float | None) -> None:
    first = next(evaluations_of(battle(SLOT, verdict=verdict)))
    assert first["gen_ai.evaluation.score.label"] == verdict
    assert first.get("gen_ai.evaluation.score.value") == value


def test_more_spans_than_may_wait_are_lost_and_counted(
    collector: TakenSpans, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(spans, "QUEUE", 512)
    monkeypatch.setattr(spans, "FLUSH_S", 60.0)
    collector.let_go.clear()
    writer = SpanWriter(delivery_to(f"{collector.url}/v1/traces"), CONFIG, "tournament")
    for _ in range(2000):
        writer.hear(CALL_BEGUN)
        writer.hear(CALL_ENDED)
    collector.let_go.set()
    lost = writer.close()
    assert lost.of == 2001
    assert lost.spans == lost.of - len(collector.spans) > 0
    assert not caplog.records


def test_the_exporters_log_of_others_is_left_alone(
    collector: TakenSpans, caplog: pytest.LogCaptureFixture
) -> None:
    written(collector, [CALL_BEGUN, CALL_ENDED])
    name = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    logging.getLogger(name).warning("theirs")
    assert [record.message for record in caplog.records] == ["theirs"]


def test_its_headers_reach_the_collector_and_no_line(
    collector: TakenSpans, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"api-key={KEY}")
    written(collector, [CALL_BEGUN, CALL_ENDED])
    assert collector.headers[0]["api-key"] == KEY
    # One that cannot be read is quoted by OpenTelemetry's own warning.
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", KEY)
    written(collector, [CALL_BEGUN, CALL_ENDED])
    assert not caplog.records
    assert KEY.encode() not in collector.raw


def said_of(monkeypatch: pytest.MonkeyPatch, **variables: str) -> tuple[Any, list[str]]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    said: list[str] = []
    return otlp.named_collector(said.append), said


def test_without_a_name_nothing_is_sent_and_nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said_of(monkeypatch) == (None, [])


def test_the_base_address_gets_the_usual_path_and_the_whole_one_stands_above_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, _ = said_of(monkeypatch, **{FOR_ALL: "https://u:p@there:1/x/"})
    assert found == ("https://u:p@there:1/x/v1/traces", "there:1")
    found, _ = said_of(monkeypatch, **{FOR_TRACES: "http://here/spans"})
    assert found == ("http://here/spans", "here")


@pytest.mark.parametrize(
    "variables", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}]
)
def test_its_own_variables_turn_it_off(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said_of(monkeypatch, **{FOR_ALL: "http://there:1"}, **variables) == (None, [])


WRONG = ["", "there:4318", "ftp://there", "http://", "http://a b", "http://[::1", "http://a:1x"]


@pytest.mark.parametrize("address", WRONG)
def test_what_is_no_address_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WrongArgument, match="is no http address"), collector_at(address):
        pass
    found, said = said_of(monkeypatch, **{FOR_ALL: address})
    assert found is None
    assert len(said) == bool(address)


def test_without_its_package_the_option_is_refused_and_a_variable_is_said_to_do_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, otlp._EXPORTER, None)
    with (
        pytest.raises(MissingExtra, match=r"install it with: pip install .*\[otel\]"),
        collector_at("http://a"),
    ):
        pass
    found, (line,) = said_of(monkeypatch, **{FOR_ALL: "http://there:1"})
    assert found is None
    assert "[otel]" in line


def test_the_option_stands_above_the_variables_for_one_command(
    collector: TakenSpans, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOR_TRACES, "http://127.0.0.1:9/none")
    typed = ["--videos", str(clips), "--rounds", "1", "--models", ",".join(PAIR), "--quiet"]
    typed += ["--out", str(tmp_path / "run"), "--otlp", collector.url]
    done = CliRunner().invoke(simulate_command, typed, standalone_mode=False)
    assert done.return_value == 0, done.output
    assert collector.kinds["whole"] == 1
    assert collector.kinds["battles"] == 3
    assert os.environ[FOR_TRACES] == "http://127.0.0.1:9/none"


def test_settings_that_opentelemetry_refuses_are_one_line(
    collector: TakenSpans, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOR_ALL, collector.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "-1")
    said: list[str] = []
    recorder = otlp.SpanRecorder(CONFIG, "tournament", said.append)
    recorder.open()
    recorder.hear(CALL_BEGUN)
    asyncio.run(recorder.close())
    assert said == ["OpenTelemetry refuses the settings in OTEL_ variables: no spans are sent"]
