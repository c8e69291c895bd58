"""A log file as Inspect's viewer opens it: a zip of JSON in version 2 of its EvalLog.

Only its shapes are known here; no code of theirs is needed. A log is of one model on one task. All
text may be anybody's: ids that could be a path are replaced by digests, half characters by U+FFFD.
The same log is the same bytes, whenever it is written.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from videoautoarena.memory.records.digests import digest
from videoautoarena.memory.records.records import CallRow
from videoautoarena.runs.bench.format.schema import digest_of
from videoautoarena.runs.formats.files import whole_file
from videoautoarena.runs.formats.terminal import safe

VERSION = 2
"""Version of their EvalLog, as inspect_ai 0.3.285 reads it."""
_PLAIN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+~-]{0,99}")
_HALF = re.compile("[\ud800-\udfff]")
_SHOWN = 400
"""Characters of a text in the list of samples; the sample itself has all of it."""
# Words of OpenAI's and of Anthropic's protocol, to those that Inspect knows.
_STOPS = {"stop": "stop", "end_turn": "stop", "length": "max_tokens", "max_tokens": "max_tokens"}
Json = dict[str, Any]


@dataclass(frozen=True)
class LogSample:
    """One question as a model met it."""

    id: str
    """Anybody's text; it stands in the log only if it cannot be a path."""
    question: str
    target: str
    """What the answer was held against."""
    answer: str | None
    """None if the model gave none."""
    persona: str | None = None
    """Who asks, which contestants never learn."""
    asides: Sequence[Json] = ()
    """Messages that follow the answer."""
    pictures: Sequence[tuple[float, bytes]] = ()
    """Thumbnails as JPEG, with their times in seconds."""
    scores: Mapping[str, Json] = field(default_factory=dict)
    brief: Json = field(default_factory=dict)
    """Metadata that also stand in the list of samples."""
    metadata: Json = field(default_factory=dict)
    calls: Sequence[CallRow] = ()
    """The model's own calls about this question."""
    judging: Sequence[CallRow] = ()
    """The judges' calls, likewise."""
    error: str | None = None
    """Why it has no score."""


class LogScore(NamedTuple):
    """The figures of one scorer."""

    name: str
    metrics: Mapping[str, float | int | None]
    """Figures by name; those that are None are left out of the log."""


@dataclass(frozen=True)
class EvalLog:
    """What stands before the samples of a log."""

    task: str
    model: str
    source: str
    """Digest of what it was made from; with task and model it makes the log's ids."""
    dataset: str
    began_s: float
    """Seconds since 1970."""
    ended_s: float
    scores: Sequence[LogScore]
    metadata: Json
    parameters: Json = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Role to the name of the model in it."""
    is_whole: bool = True
    """Whether all was played."""

    @property
    def id(self) -> str:
        """The same whenever it is written."""
        return digest_of([self.source, self.task, self.model])[:22]

    @property
    def file_name(self) -> str:
        """Named like theirs by time, task, model, id; nothing but letters, digits and hyphens."""
        time = _iso(self.began_s).replace(":", "-").replace("+", "-")
        return f"{time}_{_slug(self.task)}_{_slug(self.model)}_{self.id}.eval"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.casefold())[:40].strip("-") or "x"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()


def write_log(to: Path, log: EvalLog, samples: Iterable[LogSample]) -> int:
    """Write a log whole or not at all, one sample in memory at a time; return how many it has.

    Raises:
        BadInput: it cannot be written.
    """
    with whole_file(to) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        summaries = list[Json]()
        own = Counter[str]()
        judges = Counter[str]()
        for sample in samples:
            whole = _sample(log, sample)
            # Their viewer makes this name of id and epoch, and finds a sample by no other.
            _put(archive, f"samples/{whole['id']}_epoch_1.json", whole)
            scores = {
                name: {**score, "explanation": _short(score.get("explanation") or "")}
                for name, score in whole["scores"].items()
            }
            summaries.append(
                {
                    "id": whole["id"],
                    "epoch": 1,
                    "input": _short(sample.question),
                    "target": _short(sample.target),
                    "metadata": sample.brief,
                    "scores": scores,
                    "model_usage": whole["model_usage"],
                    "role_usage": whole["role_usage"],
                    "uuid": whole["uuid"],
                    "completed": True,
                    "message_count": len(whole["messages"]),
                    **({"error": _short(sample.error)} if sample.error is not None else {}),
                }
            )
            own += _counted(sample.calls)
            judges += _counted(sample.judging)
        span = {"started_at": _iso(log.began_s), "completed_at": _iso(log.ended_s)}
        # Behind the samples, whose ids it names: a zip is read by its directory, so order means
        # nothing.
        _put(archive, "_journal/start.json", {"version": VERSION, "eval": _spec(log, summaries),
                                              "plan": _PLAN})  # fmt: skip
        _put(archive, "summaries.json", summaries)
        _put(
            archive,
            "header.json",
            {
                "version": VERSION,
                "status": "success" if log.is_whole else "cancelled",
                "eval": _spec(log, summaries),
                "plan": _PLAN,
                "results": {
                    "total_samples": len(summaries),
                    "completed_samples": sum("error" not in one for one in summaries),
                    "scores": [_figures(score, summaries) for score in log.scores],
                },
                "stats": {**span, **_usages(log, own, judges)},
            },
        )
        return len(summaries)


def _put(archive: ZipFile, name: str, value: Any) -> None:
    entry = ZipInfo(name)  # without a time of its own
    entry.compress_type = ZIP_DEFLATED
    # Rights as Unix has them in a zip; without any zipfile gives them to the owner alone.
    entry.external_attr = 0o644 << 16
    # Not as ASCII: lone surrogates would be escaped, and not be found by what replaces them.
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    # Other programs refuse lone surrogates.
    archive.writestr(entry, _HALF.sub("\ufffd", text).encode())


_PLAN = {"name": "plan", "steps": [{"solver": "contestant", "params": {}, "params_passed": {}}]}


def _spec(log: EvalLog, summaries: Sequence[Json]) -> Json:
    return {
        "eval_id": log.id,
        "run_id": log.source[:22],
        "created": _iso(log.began_s),
        "task": safe(log.task),
        "task_id": log.id,
        "dataset": {
            "name": safe(log.dataset),
            "samples": len(summaries),
            "sample_ids": [one["id"] for one in summaries],
            "shuffled": False,
        },
        "model": safe(log.model),
        "model_generate_config": log.parameters,
        "model_roles": {role: {"model": safe(name)} for role, name in log.roles.items()} or None,
        "config": {"epochs": 1},
        "packages": {"videoautoarena": version("videoautoarena")},
        "metadata": log.metadata,
        "scorers": [{"name": score.name, "options": {}} for score in log.scores],
    }


def _figures(score: LogScore, summaries: Sequence[Json]) -> Json:
    scored = sum(score.name in one["scores"] for one in summaries)
    return {
        "name": score.name,
        "scorer": score.name,
        "scored_samples": scored,
        "unscored_samples": len(summaries) - scored,
        "metrics": {
            name: {"name": name, "value": value}
            for name, value in score.metrics.items()
            if value is not None
        },
    }


def _sample(log: EvalLog, sample: LogSample) -> Json:
    asked, attachments = _asked(sample)
    who = f"The user, shown to the judge only: {sample.persona}"
    persona = [{"role": "system", "content": who}] if sample.persona is not None else []
    # Their shape demands the traces, which a void or a forfeit does not have.
    error = {"message": sample.error, "traceback": "", "traceback_ansi": ""}
    messages = [{"role": "user", "content": asked, "source": "input"}]
    output: Json = {"model": safe(log.model), "choices": []}
    if sample.answer is not None:
        said = {"role": "assistant", "content": sample.answer, "model": safe(log.model),
                "source": "generate"}  # fmt: skip
        messages.append(said)
        stop = _STOPS.get((sample.calls[-1].ending or "").lower() if sample.calls else "")
        output["choices"] = [{"message": said, "stop_reason": stop or "unknown"}]
        output["completion"] = sample.answer
    if sample.calls:
        output["time"] = sum(row.latency_s for row in sample.calls)
    return {
        "id": plain_id(sample.id),
        "epoch": 1,
        "input": [messages[0]],
        "target": sample.target,
        "messages": [*persona, *messages, *sample.asides],
        "output": output,
        "scores": dict(sample.scores),
        "metadata": {**sample.brief, **sample.metadata},
        **_usages(log, _counted(sample.calls), _counted(sample.judging)),
        "uuid": digest_of([log.id, sample.id])[:22],
        "attachments": attachments,
        **({"error": error} if sample.error is not None else {}),
    }


def plain_id(text: str) -> str:
    """Return an id that is no path, nothing a shell knows, and no other text's."""
    return text if _PLAIN_ID.fullmatch(text) else f"id-{digest_of(text)[:16]}"


def _asked(sample: LogSample) -> tuple[Any, dict[str, str]]:
    """Return the question as a message's content, and the pictures in it by what it calls them."""
    if not sample.pictures:
        return sample.question, {}
    content: list[Json] = [{"type": "text", "text": sample.question}]
    attachments = {}
    for time_s, jpeg in sample.pictures:
        # By its content, so that a picture that is shown twice stands in the log once.
        name = digest(jpeg)[:32]
        attachments[name] = f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"
        content += [{"type": "text", "text": f"\n\n{time_s:.2f} s"},
                    {"type": "image", "image": f"attachment://{name}"}]  # fmt: skip
    return content, attachments


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _counted(rows: Iterable[CallRow]) -> Counter[str]:
    """Return the tokens of calls and all their tries; uncounted ones are left out."""
    sums = Counter[str]()
    for used in (one.usage for row in rows for one in row.tries):
        sums["input_tokens"] += used.input_tokens or 0
        sums["output_tokens"] += used.output_tokens or 0
        sums["input_tokens_cache_read"] += used.cached_tokens or 0
        sums["reasoning_tokens"] += used.reasoning_tokens or 0
    return sums


def _usages(log: EvalLog, own: Counter[str], judges: Counter[str]) -> Json:
    """Return what the model used, and beside it what its judging took."""
    return {
        "model_usage": {safe(log.model): _usage(own)} if own else {},
        "role_usage": {"judge": _usage(judges)} if judges else {},
    }


def _usage(sums: Counter[str]) -> Json:
    return {**sums, "total_tokens": sums["input_tokens"] + sums["output_tokens"]}
