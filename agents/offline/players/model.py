"""The offline models as LangChain chat models, and which role answers a message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig, ensure_config

from videoautoarena.agents.offline import EMBEDDER
from videoautoarena.agents.offline.language.categories import categories_in, topic_in
from videoautoarena.agents.offline.players.checklists import (
    answer_last,
    check_leak,
    make_checklist,
    validate_checklist,
)
from videoautoarena.agents.offline.players.dialogist import rate_fitness, write_dialogue
from videoautoarena.agents.offline.players.evolver import evolve, grade
from videoautoarena.agents.offline.players.judge import compare, judge
from videoautoarena.agents.offline.players.marking import mark_checklist, mark_scene, mark_summary
from videoautoarena.agents.offline.players.scenes import (
    caption_scene,
    find_objects,
    match_objects,
    merge_scenes,
)
from videoautoarena.agents.offline.players.tasks import (
    check_options,
    check_points,
    write_plots,
    write_scenes,
    write_summary,
    write_topics,
)
from videoautoarena.agents.offline.players.viewers import answer, examine, first_question, invent
from videoautoarena.agents.offline.vision.frame_features import ModelInput, read
from videoautoarena.agents.offline.vision.looks import vector_of
from videoautoarena.agents.prompting.fences import open_fences
from videoautoarena.agents.prompting.tracing import has_handlers

PANEL = frozenset({"examiner", "judge"})
"""Kinds that play whichever role the contract names."""
SEES: dict[str, Callable[[ModelInput, dict[str, str]], dict[str, Any]]] = {
    "examiner": examine,
    "persona": invent,
    "questioner": first_question,
    "judge": judge,
    "evolver": evolve,
    "grader": grade,
    "comparer": compare,
    "topic_writer": write_topics,
    "plot_writer": write_plots,
    "scene_writer": write_scenes,
    "summary_writer": write_summary,
    "option_checker": check_options,
    "point_checker": check_points,
    "fitness_rater": rate_fitness,
    "dialogist": write_dialogue,
    "checklist_maker": make_checklist,
    "dialogue_answerer": answer_last,
    "scene_captioner": caption_scene,
    "object_finder": find_objects,
}
"""Roles that go by frames."""
READS: dict[str, Callable[[dict[str, str]], dict[str, Any]]] = {
    "scene_marker": mark_scene,
    "summary_marker": mark_summary,
    "checklist_marker": mark_checklist,
    "scene_merger": merge_scenes,
    "object_matcher": match_objects,
    "checklist_validator": validate_checklist,
    "leak_checker": check_leak,
    "classifier": lambda blocks: categories_in(blocks.get("question", "")),
    "topic_namer": lambda blocks: {"name": topic_in(blocks.get("questions", ""))},
}
"""Roles that look at no frame, or are shown none."""


def reply(kind: str, sent: ModelInput) -> str:
    """Return the reply of an offline model; the role is read outside the fences only."""
    if kind == EMBEDDER:
        return json.dumps(vector_of(sent))
    # a contestant is never anything else, whatever the question says of reply formats
    role = sent.role if kind in PANEL else None
    blocks = open_fences(sent.text)[1] if role else {}
    if role in READS:
        return json.dumps(READS[role](blocks))
    if role in SEES and sent.pictures:
        return json.dumps(SEES[role](sent, blocks))
    return answer(kind, sent)


class OfflineModel(BaseChatModel):
    """One member of the offline cast. Knows the messages of the call and nothing else."""

    kind: str

    @property
    def _llm_type(self) -> str:
        return "offline"

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Return the reply, made in a thread so that a first look at frames holds nobody up."""
        # With nobody listening, LangChain still copies every image for tracing: 20 to 30 ms for
        # 128 frames, against 4 ms for the reply itself.
        if has_handlers(ensure_config(config).get("callbacks")):
            return await super().ainvoke(input, config, stop=stop, **kwargs)
        messages = self._convert_input(input).to_messages()
        return await asyncio.to_thread(self._speak, messages)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._speak(messages))])

    def _speak(self, messages: list[BaseMessage]) -> AIMessage:
        sent = read(messages)
        text = reply(self.kind, sent)
        # Words and images count as one token each.
        into = sent.words + len(sent.pictures)
        out = len(text.split())
        usage = UsageMetadata(input_tokens=into, output_tokens=out, total_tokens=into + out)
        return AIMessage(content=text, usage_metadata=usage)
