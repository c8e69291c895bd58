/* The report's first screen: what the run says, how much stands behind it, and the ladder. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Flag, Section } from "./bits.js";
import { Axis, Grid, Interval, Plot } from "./charts.js";
import {
  boardCells,
  Listed,
  modelLink,
  nameOf,
  ratedModels,
  ratingAxis,
  Sentence,
  StandIns,
  sentenceOf,
  shortOf,
  summary,
} from "./names.js";
import { counted, dated, isKnown, titled, whole } from "./numbers.js";
import { plain } from "./text.js";

export function Opening() {
  const { run, words } = summary;
  const when = dated(run.began_s);
  return html`<header class="opening">
    <p class="kicker"><bdi>${plain(run.name)}</bdi>${when && ` · ${when}`}</p>
    <h1><${Sentence} parts=${words.lead} /></h1>
    <p class="behind"><${Sentence} parts=${words.behind} /></p>
    <${Banner} />
  </header>`;
}

/* What a reader must know before believing the order. */
function Banner() {
  const warnings = summary.settings.warnings.filter((text) => !text.startsWith("rates stand-ins"));
  const { alarms } = summary.words;
  if (!summary.stand_ins && !warnings.length && !alarms.length) return null;
  return html`<div class="banner" role="note">
    ${alarms.length > 0 && html`<${FirstAlarm} alarms=${alarms} />`}
    ${summary.stand_ins && html`<${StandIns} />`}
    ${warnings.map((text) => html`<${Warning} text=${text} />`)}</div>`;
}

/* As under a board, which has one line for them: the others stand where the judge is told of. */
function FirstAlarm({ alarms }) {
  const others = counted(alarms.length - 1, "more alarm");
  const more = html` <a class="plain" href="#report/judge">${others}</a>`;
  return html`<p><b><${Sentence} parts=${alarms[0]} /></b>${alarms.length > 1 && more}</p>`;
}

function Warning({ text }) {
  const isFew = text.includes("too few videos");
  const hint = isFew && " Take the order below for a first impression.";
  return html`<p><b>${plain(titled(text))}.</b>${hint}</p>`;
}

/* The ladder: ratings on one axis, each with the places that its interval leaves open. */
const MOST_CELLS = 16;
const TOO_FEW_VIDEOS = "too few videos to rank";

/* A cell a place where there is room, else a bar from the best place to the worst. */
function RankStrip({ row, of }) {
  if (!isKnown(row.rank)) return null;
  if (of > MOST_CELLS) return html`<${RankBar} row=${row} of=${of} />`;
  const kind = (place) => {
    if (place === row.rank) return "here";
    return place >= row.rank_best && place <= row.rank_worst ? "open" : "";
  };
  const cells = Array.from({ length: of }, (_, place) => html`<i class=${kind(place + 1)}></i>`);
  return html`<span class="rank-strip" aria-hidden="true">${cells}</span>`;
}

function RankBar({ row, of }) {
  const left = (place) => `${(100 * (place - 1)) / of}%`;
  const wide = (places) => `${(100 * places) / of}%`;
  const open = row.rank_worst - row.rank_best + 1;
  return html`<span class="rank-bar" aria-hidden="true">
    <i class="open" style=${{ left: left(row.rank_best), width: wide(open) }}></i>
    <i class="here" style=${{ left: left(row.rank), width: wide(1) }}></i></span>`;
}

export function Ladder() {
  const [isStyled, setStyled] = useState(false);
  const rows = ratedModels();
  if (!rows.length) return html`<${NotRated} />`;
  const at = ratingAxis();
  const ticks = at.ticks(6);
  const isRefused = summary.words.control.length > 0;
  const canSwitch = isRefused || rows.some((row) => row.style);
  const line = (row) => html`<${LadderRow} key=${row.model} row=${row} of=${rows.length} at=${at}
    ticks=${ticks} isStyled=${isStyled} />`;
  const cls = `ladder ${rows.length > MOST_CELLS ? "many" : ""}`;
  return html`<${Section} id="ladder" kicker="The ladder" says=${sentenceOf("ladder")}
    tools=${canSwitch && html`<${StyleSwitch} on=${isStyled} set=${setStyled} />`}
    note=${html`<${LadderNote} rows=${rows} />`}>
    ${isStyled && isRefused && html`<p class="note" role="status">${sentenceOf("control")}</p>`}
    <div class=${cls} role="table" aria-label="Ratings">
      <${LadderHead} at=${at} ticks=${ticks} />
      ${rows.map(line)}
    </div><${Unrated} /></${Section}>`;
}

function StyleSwitch({ on, set }) {
  return html`<label class="check"><input type="checkbox" checked=${on}
    onChange=${(event) => set(event.target.checked)} /> <span>style control${" "}
    <svg width="10" height="10" aria-hidden="true"><circle class="ring" cx="5" cy="5" r="3.5" />
    </svg></span></label>`;
}

/* What the ladder draws in a way of its own; all other columns of the board stand behind these. */
const DRAWN = new Set([
  "rank",
  "model",
  "rating",
  "interval",
  "bar",
  "win_rate",
  "battles",
  "own_flags",
]);
const furtherColumns = () =>
  summary.tables.leaderboard.columns.filter(({ key, is_detail }) => !(is_detail || DRAWN.has(key)));

function LadderHead({ at, ticks }) {
  const head = (cls, text) => html`<span role="columnheader" class=${cls}>${text}</span>`;
  const axis = html`<span class="hidden">Rating and interval</span>
    <${Axis} at=${at} ticks=${ticks} />`;
  return html`<div class="ladder-row ladder-head" role="row">
    ${head("of-rank", "Rank")}${head("of-name", "Model")}${head("of-plot", axis)}
    ${head("of-rating", "Rating")}${head("of-wins", "Win %")}${head("of-battles", "Battles")}
    ${head("of-tokens", "Tokens")}
    ${furtherColumns().map(({ title }) => head("of-further", titled(title)))}</div>`;
}

function LadderRow({ row, of, at, ticks, isStyled }) {
  const cells = boardCells(row.model);
  const further = furtherColumns().map(
    ({ key }) => html`<span role="cell" class="of-further num">${cells[key]}</span>`,
  );
  return html`<div class="ladder-row" role="row">
    <span role="cell" class="of-rank"><span class="num">${cells.rank}</span>
      <${RankStrip} row=${row} of=${of} /></span>
    <span role="cell" class="of-name"><${LadderName} row=${row} /></span>
    <span role="cell" class="of-plot"><${LadderPlot} row=${row} at=${at} ticks=${ticks}
      isStyled=${isStyled} /></span>
    <span role="cell" class="of-rating"><b class="num">${cells.rating}</b>
      <small class="num">${cells.interval}</small></span>
    <span role="cell" class="of-wins num">${cells.win_rate}</span>
    <span role="cell" class="of-battles num">${cells.battles}
      <small class="num" title="won, tied, lost">${cells.record}</small></span>
    <span role="cell" class="of-tokens num">${whole(row.mean_tokens?.value)}</span>
    ${further}</div>`;
}

function LadderName({ row }) {
  const flags = row.flags.filter((flag) => flag !== TOO_FEW_VIDEOS);
  return html`<a class="stretch" href=${modelLink(row.model)} title=${nameOf(row.model)}>
      <bdi>${plain(shortOf(row.model, 40))}</bdi></a>
    <small>${row.frames_sent}${flags.map((flag) => html` <${Flag} text=${flag} />`)}</small>`;
}

function LadderPlot({ row, at, ticks, isStyled }) {
  const style = isStyled && row.style;
  const adjusted = html`<${Interval} at=${at} ...${intervalOf(style)} y=${33} cls="faint"
    mark="ring" />`;
  return html`<${Plot} height=${48}>
    <${Grid} at=${at} height="100%" ticks=${ticks} strong=${summary.settings.mean} />
    ${style && adjusted}
    <${Interval} at=${at} ...${intervalOf(row)} y=${style ? 19 : 24} /></${Plot}>`;
}

export const intervalOf = (row) => ({ value: row?.rating, low: row?.low, high: row?.high });

function LadderNote({ rows }) {
  const few = rows.some((row) => row.flags.includes(TOO_FEW_VIDEOS));
  const warning = html` <strong class="warn-text">Where there are too few videos no model is
    ranked.</strong>`;
  return html`Bradley–Terry strength; 400 points are odds of ten to one. Bars are 95 % intervals
    that know which battles share a video; an arrow runs off the axis. A rank is the range of places
    that the differences to all others leave open.${few && warning}`;
}

/* Models that no decided battle has placed stand below the ladder, not in it. */
function Unrated() {
  const rows = summary.models.filter((row) => !isKnown(row.rating));
  if (!rows.length) return null;
  return html`<p class="note">Not rated, for want of a decided battle:${" "}
    <${Listed} models=${rows.map((row) => row.model)} />.</p>`;
}

function NotRated() {
  const says = html`${sentenceOf("ladder")} A rating needs a decided battle.`;
  return html`<${Section} id="ladder" kicker="The ladder" says=${says}><${Unrated} /></${Section}>`;
}
