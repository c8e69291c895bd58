/* Small pieces that all pages share. Nothing here knows of a run. */

import { html } from "htm/preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { useWindowEvent } from "./base.js";
import { plain } from "./text.js";

export const Side = ({ side }) =>
  html`<span class=${`side side-${side}`}>${side.toUpperCase()}</span>`;

export const Flag = ({ text }) => html`<span class="flag">${plain(text)}</span>`;

/* What stands in the place of what could not be loaded. */
export const Unloaded = ({ what, error }) =>
  html`<p class="banner" role="alert">${what} cannot be shown: ${plain(error)}</p>`;

const VERDICTS = {
  a: "A is better",
  b: "B is better",
  tie: "tie",
  tie_good: "tie, both good",
  tie_bad: "tie, both bad",
  split: "seats disagree",
  void: "void",
  forfeit: "forfeit",
  forfeit_a: "forfeit",
  forfeit_b: "forfeit",
};
export const DECIDED = new Set(["a", "b", "tie", "tie_good", "tie_bad", "split"]);
export const isWin = (verdict) => verdict === "a" || verdict === "b";

/* How a battle ended, unless somebody won it: then the winner's name says it. */
export function Chip({ verdict }) {
  if (isWin(verdict)) return null;
  const kind = verdict.replace(/_[ab]$/, "");
  return html`<span class=${`chip chip-${kind}`}>${VERDICTS[verdict] ?? plain(verdict)}</span>`;
}

/* What judges are asked for: pairs of key and title, which every page brings along. */
export const STANDARDS = JSON.parse(document.getElementById("judging-standards").textContent);

/* One of a few: options are pairs of key and text. */
export function Segments({ label, options, value, onChange }) {
  const option = ([key, text]) => html`<button key=${key} aria-pressed=${key === value}
    class=${key === value ? "on" : ""} onClick=${() => onChange(key)}>${text}</button>`;
  return html`<div class="segments" role="group" aria-label=${label}>${options.map(option)}</div>`;
}

/* A part of a page: what it is about, what it says, its tools, its figures, how to read them. */
export function Section({ id, kicker, says, note, children, tools }) {
  return html`<section id=${id} class="section" aria-labelledby=${`${id}-h`}>
    <header><p class="kicker">${kicker}</p><h2 id=${`${id}-h`}>${says}</h2>${tools}</header>
    ${children}
    ${note && html`<p class="note">${note}</p>`}
  </section>`;
}

export const Facts = ({ rows }) => html`<dl class="facts">
  ${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;

/* A table that scrolls sideways where it must; columns are [title, class]. */
export function Table({ label, columns, rows, cls = "" }) {
  const head = ([title, kind]) => html`<th scope="col" class=${kind}>${title}</th>`;
  const cell = (inside, place) => html`<td class=${columns[place][1]}>${inside}</td>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class=${`data ${cls}`}><thead><tr>${columns.map(head)}</tr></thead>
    <tbody>${rows.map((cells) => html`<tr>${cells.map(cell)}</tr>`)}</tbody></table></div>`;
}

/* Light, dark or as the system; a button of the page's top. */
const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };
export const theme = {
  /* A private window, or a file in some browsers, has no storage. */
  remembered() {
    try {
      return localStorage.getItem("arena-theme");
    } catch {
      return null;
    }
  },
  now: () => document.documentElement.dataset.theme ?? "auto",
  put(name) {
    document.documentElement.dataset.theme = name;
    dispatchEvent(new Event("arena-theme"));
    try {
      localStorage.setItem("arena-theme", name);
    } catch {
      /* It then holds for this page alone. */
    }
  },
  turn() {
    const names = Object.keys(THEMES);
    theme.put(names[(names.indexOf(theme.now()) + 1) % names.length]);
  },
  start() {
    const name = theme.remembered();
    document.documentElement.dataset.theme = name in THEMES ? name : "auto";
  },
};

function ThemeButton() {
  const [, redraw] = useState(0);
  useWindowEvent("arena-theme", () => redraw((n) => n + 1));
  return html`<button class="quiet" onClick=${theme.turn}
    title="Light, dark, or as the system (t)">${THEMES[theme.now()]}</button>`;
}

/* The keys of a page: rows are [keys, what they do]. `box` is a ref that opens and closes it. */
export function KeysHelp({ box, rows }) {
  const close = (event) => event.target === box.current && box.current.close();
  const row = ([keys, what]) => html`<div><dt>${keys.map((one) => html`<kbd>${one}</kbd> `)}</dt>
    <dd>${what}</dd></div>`;
  return html`<dialog ref=${box} class="help" aria-labelledby="help-h" onClick=${close}>
    <h2 id="help-h">Keys</h2><dl>${rows.map(row)}</dl>
    <button onClick=${() => box.current.close()}>Close</button></dialog>`;
}

/* The bar at the top of a page: the way to its start, to its parts, and what can be set. */
export function Top({ home, nav, who, help }) {
  const keys = html`<button class="quiet" onClick=${help} aria-label="Keys"
    title="Keys (?)">?</button>`;
  return html`<header class="top"><${SkipLink} /><${Brand} href=${home} />${nav}
    <span class="tools">${who}<${ThemeButton} />${help && keys}</span></header>`;
}

/* Only parts that are there are listed, so the list is made once they are drawn; parts are pairs of
   an id and what it is called, and links to them begin with `under`. */
export function Contents({ parts, under = "" }) {
  const [shown, setShown] = useState([]);
  useLayoutEffect(() => {
    const found = parts.filter(([id]) => document.getElementById(id));
    setShown((old) => (old.length === found.length ? old : found));
  });
  const link = ([id, name]) => html`<li key=${id}><a href=${`#${under}${id}`}>${name}</a></li>`;
  return html`<nav class="contents" aria-label="In this report"><ol>${shown.map(link)}</ol></nav>`;
}

/* The mark and name of the project, as a link to the page's start. */
function Brand({ href }) {
  return html`<a class="brand" href=${href} aria-label="VideoAutoArena">
    <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
    <rect x="1" y="3.5" width="16" height="11" rx="2.5" class="mark-ground" />
    <path d="M7 6.6 L11.6 9 L7 11.4 Z" class="mark-sign" /></svg><span>VideoAutoArena</span></a>`;
}

function SkipLink() {
  const skip = (event) => {
    event.preventDefault();
    const main = document.querySelector("main");
    main.setAttribute("tabindex", "-1");
    main.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>`;
}
