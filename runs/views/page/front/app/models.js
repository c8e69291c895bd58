/* The pages of models: all of them, a card each, and what one does well and wrong. */

import { html } from "htm/preact";
import { own } from "./base.js";
import { Flag, Unloaded } from "./bits.js";
import { Axis, atPercent, Grid, Interval, Legend, Parts, Plot } from "./charts.js";
import { source } from "./data.js";
import { halvesTick, SHARE_AXIS } from "./judge.js";
import { intervalOf } from "./ladder.js";
import { Examples } from "./list.js";
import { useData } from "./live.js";
import {
  battleLink,
  battlesLink,
  boardCells,
  modelLink,
  nameOf,
  ratingAxis,
  roundName,
  rowOf,
  Sentence,
  shortOf,
  summary,
} from "./names.js";
import {
  clip,
  counted,
  fileName,
  isKnown,
  money,
  percent,
  ratio,
  signed,
  waited,
  whole,
  withInterval,
} from "./numbers.js";
import { useArrival } from "./route.js";
import { plain, Said } from "./text.js";

export function Models() {
  useArrival(true);
  const at = ratingAxis();
  const card = (row) => html`<${ModelCard} key=${row.model} row=${row} at=${at} />`;
  const none = html`<p class="muted">No model has played yet.</p>`;
  return html`<main id="main" class="wide"><h1 class="page">Models</h1>
    ${!summary.models.length && none}<ul class="cards">${summary.models.map(card)}</ul></main>`;
}

function placeOf(row, cells) {
  if (!isKnown(row.rating)) return "not rated";
  return isKnown(row.rank) ? `rank ${cells.rank}` : "not ranked";
}

function ModelCard({ row, at }) {
  const profile = own(summary.profiles, row.model);
  const cells = boardCells(row.model);
  const standing = summary.words.standing[row.model];
  return html`<li><a class="card" href=${modelLink(row.model)} title=${nameOf(row.model)}>
    <span class="kicker num">${placeOf(row, cells)}</span>
    <b><bdi>${plain(shortOf(row.model, 60))}</bdi></b>
    <span class="num big">${cells.rating}</span>
    <${Plot} height=${22}><line class="base" x1="0" x2="100%" y1="11" y2="11" />
      <${Interval} at=${at} ...${intervalOf(row)} y=${11} /></${Plot}>
    <span class="muted"><${Sentence} parts=${standing} />${" "}
      ${profile && html`<${ThemeSentences} profile=${profile} />`}</span>
    </a></li>`;
}

/* One model: where it stands, what goes wrong, whom it met, battles to look at. */

export function ModelPage({ name }) {
  const row = rowOf(name);
  const index = useData(() => source.index());
  const films = useData(() => source.videos());
  useArrival(index !== null && films !== null);
  if (!row) {
    return html`<main id="main" class="wide"><h1 class="page">No such model</h1>
      <p>There is none with the name <code><${Said} text=${clip(name, 200)} /></code>.${" "}
      <a class="plain" href="#models">All models</a></p></main>`;
  }
  const profile = own(summary.profiles, name) ?? emptyProfile(name);
  const error = index?.failed ?? films?.failed;
  const looks = index && films && !error ? { index, films } : null;
  return html`<main id="main" class="wide profile"><${ModelHead} row=${row} profile=${profile} />
    ${error && html`<${Unloaded} what="Its battles" error=${error} />`}
    <div class="panels two wide-left"><${WhatGoesWrong} profile=${profile} looks=${looks} />
      <${WhomItMet} profile=${profile} /></div>
    <div class="panels two">
      <section><h2>Telling wins <small>over the strongest, on the hardest questions</small></h2>
        <${BattleList} ids=${profile.wins} looks=${looks} /></section>
      <section><h2>Telling losses <small>to the weakest</small></h2>
        <${BattleList} ids=${profile.losses} looks=${looks} /></section></div></main>`;
}

const emptyProfile = (model) => ({
  model,
  looked_at: 0,
  themes: [],
  wins: [],
  losses: [],
  opponents: [],
});

function ModelHead({ row, profile }) {
  const figures = [
    ["Win %", boardCells(row.model).win_rate],
    ["Sent of a video", row.frames_sent],
    ["Tokens an answer", whole(row.mean_tokens?.value)],
    ["Median wait", waited(row.latency_s?.median)],
    ["Cost an answer", money(ratio(row.cost_usd, row.answers))],
    ["Refused", percent(row.refusal_share?.value)],
    ["Forfeits", whole(row.forfeits)],
  ];
  const figure = ([name, value]) => html`<div><dt>${name}</dt><dd class="num">${value}</dd></div>`;
  return html`<div class="battle-head"><div class="crumbs"><a href="#models">Models</a>
      <span class="slash">/</span><code>${plain(row.served ?? row.model)}</code></div>
    <h1 class="page"><bdi>${plain(nameOf(row.model))}</bdi></h1>
    <p class="rest"><${Sentence} parts=${summary.words.standing[row.model]} />${" "}
      <${ThemeSentences} profile=${profile} />
      ${row.flags.map((text) => html` <${Flag} text=${text} />`)}</p>
    <dl class="figures">${figures.filter(([, value]) => value !== "").map(figure)}</dl></div>`;
}

/* A bar an opponent: won, tied, lost, in the order of the ladder. */
const MET_PARTS = [
  { key: "wins", name: "won", cls: "part-blue" },
  { key: "ties", name: "tied", cls: "part-grey" },
  { key: "losses", name: "lost", cls: "part-orange" },
];

function WhomItMet({ profile }) {
  const place = new Map(summary.models.map((row, k) => [row.model, k]));
  const met = [...profile.opponents].sort((p, q) => place.get(p.model) - place.get(q.model));
  const row = (one) => html`<${MetRow} key=${one.model} model=${profile.model} rival=${one} />`;
  const none = html`<p class="muted">Nobody yet, in a battle that was decided.</p>`;
  const bars = html`<div>${met.map(row)}</div><${Legend} rows=${MET_PARTS} />`;
  return html`<section><h2>Whom it met</h2>${met.length ? bars : none}</section>`;
}

function MetRow({ model, rival }) {
  const count = rival.wins + rival.ties + rival.losses;
  const parts = MET_PARTS.map((part) => ({ ...part, n: rival[part.key] }));
  return html`<a class="met-row" title=${nameOf(rival.model)}
    href=${battlesLink({ model, rival: rival.model })}>
    <span><bdi>${plain(shortOf(rival.model, 22))}</bdi></span>
    <${Parts} total=${count} parts=${parts} /><span class="num right">${count}</span></a>`;
}

function BattleList({ ids, looks }) {
  if (!ids.length) return html`<p class="muted">None.</p>`;
  if (!looks) return null;
  const places = ids.map((id) => looks.index.place.get(id)).filter(isKnown);
  return html`<${Examples} ...${looks} places=${places} />`;
}

/* Themes of a model's faults, beside how often the others show them. */
const THEME_EXAMPLES = 4;

/* The theme it shows most more often than others, and the one it shows most less often. */
function markedThemes(profile) {
  const gap = (row) => Math.abs(row.difference.value);
  const most = (mark) =>
    profile.themes.filter((row) => row.mark === mark).sort((p, q) => gap(q) - gap(p))[0];
  return [most("more"), most("less")].filter(Boolean);
}

function ThemeSentences({ profile }) {
  return markedThemes(profile).map((row) => html`<${ThemeSentence} key=${row.mark} row=${row} />`);
}

function ThemeSentence({ row }) {
  const shares = `${percent(row.share)} of its answers, ${percent(row.others_share)} of theirs. `;
  return html`“<${Said} text=${clip(row.theme, 80)} />” is ${row.mark} often its fault than others’:
    ${" "}${shares}`;
}

function WhatGoesWrong({ profile, looks }) {
  const about = `in ${counted(profile.looked_at, "answer")} that were looked at for faults`;
  const shown = profile.themes.filter((row) => row.n > 0 || row.mark);
  const row = (one) => html`<${ThemeRow} key=${one.theme} row=${one} looks=${looks} />`;
  const table = html`<div role="table" aria-label="Themes of its faults">${shown.map(row)}
    <${ThemeAxis} /></div><p class="note">${THEME_NOTE}</p>`;
  const none = profile.looked_at
    ? "No faults of it were written down."
    : "None of its answers was looked at for faults.";
  return html`<section><h2>What goes wrong <small>${about}</small></h2>
    ${shown.length ? table : html`<p class="muted">${none}</p>`}</section>`;
}

const THEME_NOTE =
  "Dot: the share of its looked-at answers that show it, with its 95 % interval; ring: of " +
  "everybody else’s. Below the counts: the difference in percentage points, marked where its " +
  "95 % interval leaves out zero.";

function ThemeRow({ row, looks }) {
  const word = row.mark === "more" ? "more than others" : "less than others";
  const said =
    `${withInterval({ ...row, value: row.share })} of its answers, ` +
    `${percent(row.others_share)} of others’`;
  return html`<div class=${`theme-row ${row.mark ?? ""}`} role="row">
    <span role="cell" class="of-theme"><b><${Said} text=${clip(row.theme, 160)} /></b>${" "}
      ${row.mark && html`<span class=${`chip chip-${row.mark}`}>${word}</span>`}
      <${ThemeExamples} row=${row} looks=${looks} /></span>
    <span role="cell" class="of-plot"><${ThemePlot} row=${row} label=${said} /></span>
    <span role="cell" class="of-count num"><b>${row.n}</b> of ${row.of}
      <small>${differenceSays(row.difference)}</small></span></div>`;
}

/* The gap to the others in hundredths: +24 (3 to 45). */
function differenceSays(difference) {
  if (!isKnown(difference?.value)) return "";
  const points = (x) => signed(100 * x);
  if (!isKnown(difference.low)) return points(difference.value);
  return `${points(difference.value)} (${points(difference.low)} to ${points(difference.high)})`;
}

function ThemePlot({ row, label }) {
  const { at, ticks } = SHARE_AXIS;
  const others = isKnown(row.others_share) && atPercent(at(row.others_share));
  return html`<${Plot} height=${30} label=${label}><${Grid} at=${at} height=${30} ticks=${ticks} />
    ${others && html`<circle class="ring" cx=${others} cy="23" r="3.5" />`}
    <${Interval} at=${at} value=${row.share} low=${row.low} high=${row.high} y=${11}
      cls="small" /></${Plot}>`;
}

function ThemeAxis() {
  const { at, ticks } = SHARE_AXIS;
  return html`<div class="theme-row theme-foot" aria-hidden="true"><span></span>
    <span class="of-plot"><${Axis} at=${at} ticks=${ticks} format=${halvesTick} /></span>
    <span></span></div>`;
}

/* A quote of it, and battles where it shows, named by round and video. */
function ThemeExamples({ row, looks }) {
  const name = (id) => (looks ? battleName(id, looks) : plain(id));
  const link = (id) => html`<a href=${battleLink(id)}>${name(id)}</a>`;
  const ids = row.battles.slice(0, THEME_EXAMPLES);
  const links = ids.map((id, place) => [place > 0 && ", ", link(id)]);
  const quote = html`e.g. <${Said} text=${clip(row.quotes[0] ?? "", 140)} />`;
  const isBoth = row.quotes.length > 0 && ids.length > 0;
  return html`<small>${row.quotes.length > 0 && quote}${isBoth && " · "}${links}</small>`;
}

function battleName(id, { index, films }) {
  const place = index.place.get(id);
  if (place === undefined) return plain(id);
  const video = index.videos[index.video[place]];
  const file = fileName(films[video]?.path ?? video).replace(/\.[^.]+$/, "");
  return html`${roundName(index.round[place])} of <bdi>${plain(clip(file, 40))}</bdi>`;
}
