/* The labelling page: one thing to vote on at a time, and nothing of any other. */

import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { load, session, TASKS, undo, useSession, vote } from "./annotate_session.js";
import {
  BattleBar,
  BattleTask,
  chooseQuestion,
  RankingBar,
  RankingTask,
  saveRanking,
  toggleStandards,
  VOTES,
  voteFor,
} from "./annotate_tasks.js";
import { draw, useWindowEvent } from "./base.js";
import { KeysHelp, Top, theme } from "./bits.js";
import { counted, whole } from "./numbers.js";
import { plain, Said } from "./text.js";
import "../style/tokens.css";
import "../style/base.css";
import "../style/layout.css";
import "../style/text.css";
import "../style/player.css";
import "../style/annotate.css";

const KEYS = {
  battle: [
    [["1", "2"], "A, B is better"],
    [["3", "4"], "both good, both bad"],
    [["5"], "cannot tell"],
    [["s"], "the standards"],
    [["n"], "write a note; Esc leaves it"],
    [["u"], "take the last vote back"],
    [["t"], "light, dark, as the system"],
    [["?"], "these keys"],
  ],
  ranking: [
    [["1", "2", "3", "4"], "the next question in your order"],
    [["Enter"], "save the order"],
    [["5"], "cannot tell"],
    [["n"], "write a note; Esc leaves it"],
    [["u"], "take the last ranking back"],
    [["t"], "light, dark, as the system"],
    [["?"], "these keys"],
  ],
};
const NAMES = { battle: "Answers", ranking: "Questions" };
const THINGS = {
  battle: ["battle", "battles"],
  ranking: ["set of questions", "sets of questions"],
};

const linkOfTask = { battle: "#answers", ranking: "#questions" };

function TasksTop({ state, help }) {
  const tasks = TASKS.filter((task) => state.tasks[task].total > 0);
  const link = (task) => html`<a key=${task} href=${linkOfTask[task]}
    aria-current=${task === state.task ? "page" : null}>${NAMES[task]}</a>`;
  const nav = tasks.length > 1 && html`<nav aria-label="Tasks">${tasks.map(link)}</nav>`;
  const who = html`<span class="who cut"><${Said} text=${state.labeller} /></span>`;
  return html`<${Top} home=${linkOfTask[state.task]} nav=${nav} who=${who} help=${help} />`;
}

function Progress({ state }) {
  const { done, skipped, total } = state.tasks[state.task];
  const now = state.item ? html`<b class="num">${done + 1}</b> of ${whole(total)}` : "Done";
  const skips = skipped > 0 && ` · ${whole(skipped)} skipped`;
  const hidden =
    state.task === "battle"
      ? "sides are drawn; names and the judge’s verdict stay hidden"
      : "the order is drawn; where questions come from stays hidden";
  return html`<div class="progress-head"><div class="progress" role="progressbar"
    aria-label="Progress" aria-valuenow=${done} aria-valuemin="0" aria-valuemax=${total}>
    <i style=${{ width: `${(100 * done) / Math.max(total, 1)}%` }}></i></div>
    <p>${now}${skips}<span class="muted"> · ${hidden}</span></p></div>`;
}

/* What is left for this labeller once a task is through. */

function Finished({ state }) {
  const { total } = state.tasks[state.task];
  const rest = TASKS.find((task) => state.tasks[task].done < state.tasks[task].total);
  if (total === 0) return html`<h1 class="page">There is nothing to do here.</h1>`;
  const goOn = html`<a class="plain" href=${linkOfTask[rest]}>Go on with ${" "}
    ${rest && NAMES[rest].toLowerCase()}</a>`;
  return html`<h1 class="page">That was all: ${counted(total, ...THINGS[state.task])}.</h1>
    <p class="muted how">Every vote is in the run. You can close this page.</p>
    <p class="actions"><button disabled=${!state.can_undo} onClick=${undo}>Take the last one
      back</button>${rest && goOn}</p>`;
}

function Task({ state, draft }) {
  if (!state.item) return html`<${Finished} state=${state} />`;
  const isBattle = state.task === "battle";
  return isBattle
    ? html`<${BattleTask} state=${state} draft=${draft} /><${BattleBar} state=${state} />`
    : html`<${RankingTask} state=${state} draft=${draft} /><${RankingBar} state=${state} />`;
}

function press(event, help) {
  const { state } = session;
  const isTyping = event.target.closest?.("input[type=text]");
  if (isTyping && event.key === "Escape") event.target.blur();
  if (isTyping || event.metaKey || event.ctrlKey || event.altKey || event.repeat || !state) return;
  if (document.querySelector("dialog[open]") && event.key !== "?") return;
  const act = actOf(event, state.task, help);
  if (!act) return;
  event.preventDefault();
  act();
}

function actOf(event, task, help) {
  const common = { u: undo, t: theme.turn, "?": help, n: writeNote }[event.key];
  if (common || !session.state.item) return common;
  if (task === "battle") {
    const found = VOTES.find(([key]) => key === event.key);
    return found ? () => voteFor(found[1]) : event.key === "s" && toggleStandards;
  }
  if (event.key === "Enter")
    return event.target.closest?.("button, a, summary") ? null : saveRanking;
  if (event.key === "5") return () => vote({ ranks: null });
  return /^[1-4]$/.test(event.key) && (() => chooseQuestion(Number(event.key) - 1));
}

const writeNote = () => document.querySelector(".note-field input")?.focus();

function App() {
  const { state, error, draft } = useSession();
  const box = useRef(null);
  const help = () => (box.current.open ? box.current.close() : box.current.showModal());
  useWindowEvent("keydown", (event) => press(event, help));
  useWindowEvent("hashchange", load);
  useEffect(() => {
    if (!state) return;
    const { done, total } = state.tasks[state.task];
    document.title = `${state.item ? `${done + 1} of ${total}` : "Done"} · Labelling`;
  }, [state]);
  const banner = error && html`<p class="banner">${plain(error)}</p>`;
  const alert = html`<div role="alert">${banner}</div>`;
  if (!state) return html`<main id="main" class="wide">${alert}</main>`;
  return html`<${TasksTop} state=${state} help=${help} />
    <main id="main" class="wide labelling" aria-busy=${session.isSending}>
      <${Progress} state=${state} />${alert}<${Task} state=${state} draft=${draft} /></main>
    <p class="hidden" role="status">${statusOf(state)}</p>
    <${KeysHelp} box=${box} rows=${KEYS[state.task]} />`;
}

function statusOf(state) {
  const { done, total } = state.tasks[state.task];
  return done > 0 ? `${done} of ${total} saved` : "";
}

async function start() {
  theme.start();
  await load();
  draw(html`<${App} />`);
  const { tasks, item } = session.state ?? {};
  /* Whoever has questions alone to rank need not look for them. */
  if (tasks && !item && tasks.battle.total === 0 && tasks.ranking.total > 0) {
    location.hash = linkOfTask.ranking;
  }
}

start();
