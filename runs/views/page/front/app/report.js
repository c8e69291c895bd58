/* The page of a run, or of a folder of runs: which part is shown, the bar at its top, the keys. */

import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { draw, messageOf, useWindowEvent } from "./base.js";
import { Battle } from "./battle.js";
import { Contents, KeysHelp, Top, theme } from "./bits.js";
import { Browse } from "./browse.js";
import { runName, source } from "./data.js";
import { Judge } from "./judge.js";
import { Ladder, Opening } from "./ladder.js";
import { listLink, Newest, openAtCursor, stepBattle } from "./list.js";
import { follow, ProgressStrip, useData } from "./live.js";
import { Matrix } from "./matrix.js";
import { Methods, Missing, Spending } from "./methods.js";
import { ModelPage, Models } from "./models.js";
import { putSummary, shortOf, summary } from "./names.js";
import { clip, counted, dated, whole } from "./numbers.js";
import { People } from "./people.js";
import { Rounds } from "./rounds.js";
import { arrive, routeOf, startHistory, useArrival } from "./route.js";
import { Slices } from "./slices.js";
import { plain } from "./text.js";
import "../style/tokens.css";
import "../style/base.css";
import "../style/layout.css";
import "../style/text.css";
import "../style/charts.css";
import "../style/player.css";
import "../style/report.css";
import "../style/rounds.css";
import "../style/tasks.css";
import "../style/checks.css";
import "../style/browse.css";
import "../style/battle.css";
import "../style/model.css";
import "../style/print.css";

/* The report's parts in order. */

const REPORT_PARTS = [
  ["ladder", "Ladder"],
  ["newest", "Newest battles"],
  ["pairs", "Head to head"],
  ["rounds", "Rounds"],
  ["slices", "Slices"],
  ["judge", "Judge"],
  ["people", "People"],
  ["spending", "Cost and time"],
  ["missing", "Left out"],
  ["methods", "Methods"],
];

function Report() {
  const index = useData(() => (summary.live ? source.index() : null));
  const films = useData(() => (summary.live ? source.videos() : null));
  useArrival(true);
  return html`<div class="report"><${Contents} parts=${REPORT_PARTS} under="report/" />
    <main id="main"><${Opening} /><${Ladder} /><${Newest} index=${index} films=${films} />
      <${Matrix} /><${Rounds} /><${Slices} /><${Judge} /><${People} /><${Spending} /><${Missing} />
      <${Methods} /></main></div>`;
}

/* The start page of a folder: its runs, each with how far it has come. */
function Runs({ runs }) {
  const card = (run) => html`<${RunCard} key=${run.name} run=${run} />`;
  const none = html`<p class="muted">This folder holds no run.</p>`;
  return html`<${Top} home="?" />
    <main id="main" class="wide"><h1 class="page">Runs</h1>
    ${runs.length ? html`<ul class="cards">${runs.map(card)}</ul>` : none}</main>`;
}

function RunCard({ run }) {
  const inside = html`<span class="kicker">${stateOf(run)}</span>
    <b><bdi>${plain(run.name)}</bdi></b>${
      run.reason ? html`<span>${plain(run.reason)}</span>` : html`<${RunProgress} run=${run} />`
    }`;
  if (run.reason) return html`<li><div class="card">${inside}</div></li>`;
  return html`<li><a class="card" href=${`?run=${encodeURIComponent(run.id)}`}>${inside}</a></li>`;
}

function stateOf({ changed_s: changed, reason, running, settled, slots }) {
  if (reason) return "cannot be read";
  const state = running ? "being played" : settled < slots ? "stopped" : "complete";
  return `${state}${changed ? `, changed ${dated(changed)}` : ""}`;
}

function RunProgress({ run }) {
  const share = run.slots ? run.settled / run.slots : 0;
  return html`<span class="share-bar" aria-hidden="true">
      <i style=${{ width: `${100 * share}%` }}></i></span>
    <span class="muted"><span class="num">${whole(run.settled)}</span> of${" "}
      ${counted(run.slots, "battle")} between ${counted(run.models.length, "model")}</span>`;
}

const KEYS = [
  [["/"], "search the battles"],
  [["j", "k"], "next, previous battle"],
  [["Enter"], "open it"],
  [["Esc"], "back to the list; close"],
  [["f"], "whose frames are shown"],
  [["← ↑ → ↓"], "move in the head-to-head table and between frames"],
  [["r", "b", "m"], "report, battles, models"],
  [["t"], "light, dark, as the system"],
  [["?"], "these keys"],
];
const PAGES = [
  ["#report", "Report", ["report"]],
  ["#battles", "Battles", ["battles", "battle"]],
  ["#models", "Models", ["models", "model"]],
];

function PagesTop({ page, help }) {
  const link = ([to, name, pages]) => html`<a href=${to} key=${to}
    aria-current=${pages.includes(page) ? "page" : null}>${name}</a>`;
  const runs = html`<a href=${location.pathname}>Runs</a>`;
  const nav = html`<nav aria-label="Pages">${runName !== null && runs}${PAGES.map(link)}</nav>`;
  return html`<${Top} home="#report" nav=${nav} help=${help} />`;
}

function Foot({ help }) {
  const how = source.isServed
    ? html`<code>arena view</code> and served on this machine alone`
    : html`<code>arena report</code> as one file that asks nobody for anything`;
  return html`<footer class="foot">Made by ${how}.${" "}
    <button class="quiet" onClick=${help}>Keys</button></footer>`;
}

function Page({ route }) {
  if (route.page === "battles") return html`<${Browse} query=${route.query} />`;
  if (route.page === "battle") return html`<${Battle} id=${route.id} />`;
  if (route.page === "model") return html`<${ModelPage} key=${route.id} name=${route.id} />`;
  return route.page === "models" ? html`<${Models} />` : html`<${Report} />`;
}

function backToList() {
  location.hash = listLink();
}

function search(route) {
  if (route.page !== "battles") location.hash = "#battles";
  const focus = () => document.getElementById("search")?.focus();
  if (document.getElementById("search")) focus();
  else setTimeout(focus, 60);
}

function step(route, by) {
  if (route.page === "battle") stepBattle(route.id, by);
  else dispatchEvent(new CustomEvent("arena-step", { detail: by }));
}

/* What each key does; the address is read when it is pressed, since a redraw may not have come. */
function actionOf(key, help) {
  const route = routeOf(location.hash);
  const actions = {
    "/": () => search(route),
    "?": help,
    t: theme.turn,
    r: () => (location.hash = "#report"),
    b: () => (location.hash = "#battles"),
    m: () => (location.hash = "#models"),
    f: () => dispatchEvent(new Event("arena-frames")),
    j: () => step(route, 1),
    k: () => step(route, -1),
    Enter: () => route.page === "battles" && openAtCursor(),
    Escape: () => route.page === "battle" && backToList(),
  };
  return Object.hasOwn(actions, key) ? actions[key] : null;
}

function press(event, help) {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
  const target = event.target.closest ? event.target : document.body;
  if (event.key === "Escape" && target.closest("input")) {
    target.blur();
    return;
  }
  if (target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  const isPressable = target.closest("a, button, summary");
  if (event.key === "Enter" && isPressable) return;
  const act = actionOf(event.key, help);
  if (!act) return;
  if (event.key !== "Enter" && event.key !== "Escape") event.preventDefault();
  act();
}

const TITLES = { battles: "Battles", models: "Models" };

function titleOf(route) {
  if (route.page === "battle") return `Battle ${clip(route.id, 40)}`;
  if (route.page === "model") return shortOf(route.id, 60);
  return TITLES[route.page];
}

const reportTitle = document.title;

/* A page's name in the window, and the place that a reader of the page goes on from. */
function useNewPage(route) {
  const isFirst = useRef(true);
  useEffect(() => {
    const title = titleOf(route);
    document.title = title ? `${title} · ${summary.run.name}` : reportTitle;
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    const main = document.getElementById("main");
    main?.setAttribute("tabindex", "-1");
    main?.focus({ preventScroll: true });
  }, [route.page, route.id]);
}

function App() {
  const [route, setRoute] = useState(routeOf(location.hash));
  const [, redraw] = useState(0);
  const box = useRef(null);
  const help = () => (box.current.open ? box.current.close() : box.current.showModal());
  useWindowEvent("hashchange", () => {
    arrive();
    setRoute(routeOf(location.hash));
  });
  useWindowEvent("arena-route", () => setRoute(routeOf(location.hash)));
  useWindowEvent("arena-data", () => redraw((n) => n + 1));
  useWindowEvent("keydown", (event) => press(event, help));
  useNewPage(route);
  return html`<${PagesTop} page=${route.page} help=${help} /><${ProgressStrip} />
    <${Page} route=${route} /><${KeysHelp} box=${box} rows=${KEYS} /><${Foot} help=${help} />`;
}

function Broken({ error }) {
  const runs = html`<p><a class="plain" href=${location.pathname}>All runs</a></p>`;
  return html`<main id="main" class="wide"><h1 class="page">Nothing to show</h1>
    <p class="banner" role="alert">${plain(messageOf(error))}</p>${runName && runs}</main>`;
}

/* Draws the run, or the runs to choose from where the address names none. */
async function start() {
  theme.start();
  try {
    const runs = await source.runs();
    if (runs) {
      draw(html`<${Runs} runs=${runs} />`);
      return;
    }
    putSummary(await source.summary());
  } catch (error) {
    draw(html`<${Broken} error=${error} />`);
    return;
  }
  startHistory();
  draw(html`<${App} />`);
  performance.mark("arena-first");
  follow();
  // What cannot be loaded is said where it is wanted.
  await source.index().then(
    () => performance.mark("arena-ready"),
    () => null,
  );
}

start();
