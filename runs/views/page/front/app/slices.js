/* Slices: boards of parts of the battles, side by side on one axis. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Section, Segments } from "./bits.js";
import { Axis, Grid, Interval, Plot } from "./charts.js";
import { intervalOf } from "./ladder.js";
import { battlesLink, nameOf, ratedModels, ratingAxis, shortOf, summary } from "./names.js";
import { clip, counted, isKnown, percent, signed, whole } from "./numbers.js";
import { plain, Said } from "./text.js";

const TRAITS = [
  ["duration", "Length of video"],
  ["category", "Category"],
  ["round", "Round"],
  ["persona", "User"],
  ["format", "Form asked for"],
  ["origin", "Origin"],
  ["language", "Language"],
  ["question-category", "Kind of question"],
  ["topic", "Topic"],
];
const MOST_PANELS = 6;
const ENOUGH = 100;

/* A column of the file of facts; behind the mark it is called like a trait of ours. */

const TAKEN = "column:";
const columnSays = (key) =>
  key.startsWith(TAKEN) ? `${clip(key.slice(TAKEN.length), 24)} of the video` : clip(key, 24);

/* The battles of a slice, where the list can be narrowed to it. */
function sliceLink(trait, slice) {
  if (trait === "round") return battlesLink({ round: slice.slice(1) });
  if (trait === "persona" && /^P\d /.test(slice)) return battlesLink({ persona: slice[1] });
  const isFilter = trait === "duration" || trait === "category";
  return isFilter ? battlesLink({ [trait]: slice }) : "#battles";
}

function slicesSay(all) {
  if (!all.length) return "Nothing is known of this trait.";
  if (all.length === 1) return `Everything here is of one kind: ${all[0].slice}.`;
  const enough = all.filter((one) => one.battles >= ENOUGH).length;
  const have = enough === 1 ? "has" : "have";
  if (enough) return `${enough} of ${all.length} slices ${have} a hundred battles or more.`;
  return "No slice has the hundred battles that a board of its own needs; read these as hints.";
}

const SLICES_NOTE =
  "Each panel is a board of its own, on one axis. Pale intervals: fewer than a hundred battles. " +
  "Open dot: one-sided, no finite gap fits.";

/* Traits of questions: models across, slices down. */
const HEATS = {
  "question-category": ["kind of question", "A question may be of several kinds."],
  topic: ["topic", "A topic is named by the weightiest words of its questions."],
};
const heatNote = ([what, more]) =>
  `Points above or below the mean of each ${what}, each on a scale of its own; below them ` +
  "battles. Pale: fewer than a hundred. One-sided: no finite gap fits. –: not rated there, or " +
  `never met those that were. ${more} Both bad: battles that both answers lost.`;
const FULL_HEAT = 400;

export function Slices() {
  const [wanted, setTrait] = useState("duration");
  const named = new Set(TRAITS.map(([key]) => key));
  const own = Object.keys(summary.slices).filter((key) => !named.has(key));
  const columns = own.map((key) => [key, html`<bdi>${plain(columnSays(key))}</bdi>`]);
  const traits = [...TRAITS, ...columns].filter(([key]) => summary.slices[key]?.length);
  if (!traits.length || !ratedModels().length) return null;
  const trait = traits.some(([key]) => key === wanted) ? wanted : traits[0][0];
  const all = summary.slices[trait];
  const some = all.slice(0, MOST_PANELS);
  const heat = HEATS[trait];
  const tools = html`<${Segments} label="Slice by" options=${traits} value=${trait}
    onChange=${setTrait} />`;
  if (heat) {
    return html`<${Section} id="slices" kicker="Slices" says=${plain(slicesSay(all))}
      tools=${tools} note=${heatNote(heat)}>
      <${Kinds} boards=${all} what=${heat[0]} /></${Section}>`;
  }
  const more = all.length > some.length;
  const cut = more ? ` The first ${some.length} of ${all.length} slices are drawn.` : "";
  return html`<${Section} id="slices" kicker="Slices" says=${plain(slicesSay(all))} tools=${tools}
    note=${`${SLICES_NOTE}${cut}`}>${trait === "language" && html`<${JudgeByLanguage} />`}
    <${Boards} trait=${trait} boards=${some} /></${Section}>`;
}

/* No board by language is read before what the judge is like in each. */
function JudgeByLanguage() {
  const found = summary.audit.filter((one) => one.key.startsWith("language."));
  const line = (one) => html`<li key=${one.key}>${one.alarm && html`<b>Alarm. </b>`}
    ${plain(one.sentence)}</li>`;
  return html`<h3>First, the judge in each language</h3>
    <ul class="unknown">${found.map(line)}</ul>`;
}

function Boards({ trait, boards }) {
  const at = ratingAxis();
  const ticks = at.ticks(3);
  const axis = html`<span class="panel"><${Axis} at=${at} ticks=${ticks} /></span>`;
  const head = (board) => html`<a href=${sliceLink(trait, board.slice)}>
    <b><${Said} text=${clip(board.slice, 40)} /></b> <small class="num">
    ${counted(board.battles, "battle")}, ${counted(board.videos, "video")}</small></a>`;
  const cell = (model) => (board) =>
    html`<${BoardCell} board=${board} model=${model} at=${at}
    ticks=${ticks} />`;
  const line = ({ model }) => html`<div class="slice-row" key=${model}>
    <span class="of-name" title=${nameOf(model)}><bdi>${plain(shortOf(model, 16))}</bdi></span>
    ${boards.map(cell(model))}</div>`;
  return html`<div class="slices" style=${{ "--panels": boards.length }} tabindex="0" role="region"
    aria-label="Boards by slice, may scroll sideways">
    <div class="slice-row slice-head"><span></span>${boards.map(head)}</div>
    ${ratedModels().map(line)}
    <div class="slice-row"><span></span>${boards.map(() => axis)}</div></div>`;
}

function BoardCell({ board, model, at, ticks }) {
  const row = board.rows.find((one) => one.model === model);
  const isRated = row && isKnown(row.rating);
  const open = row?.flags.includes("one-sided") ? "open" : "";
  const cls = `small ${board.battles < ENOUGH ? "pale" : ""} ${open}`;
  return html`<span class="panel"><${Plot} height=${26}
    label=${`${shortOf(model, 44)}, ${board.slice}: ${isRated ? boardSays(row) : "not rated"}`}>
    <${Grid} at=${at} height=${26} ticks=${ticks} strong=${summary.settings.mean} />
    <${Interval} at=${at} ...${intervalOf(row)} y=${13} cls=${cls} /></${Plot}></span>`;
}

function boardSays(row) {
  const interval = isKnown(row.low) ? `, ${whole(row.low)} to ${whole(row.high)}` : "";
  return `${whole(row.rating)}${interval}, ${counted(row.battles, "battle")}`;
}

/* Kinds or topics of questions down, models across: who is strong in what. */
function Kinds({ boards, what }) {
  const models = ratedModels();
  const head = ({ model }) => html`<th scope="col" key=${model} title=${nameOf(model)}>
    <bdi>${plain(shortOf(model, 20))}</bdi></th>`;
  const line = (board) => html`<tr key=${board.slice}><th scope="row"><${Said}
    text=${clip(board.slice, 40)} /></th>
    ${models.map(({ model }) => html`<${KindCell} key=${model} board=${board} model=${model} />`)}
    <td class="num">${percent(board.both_bad.value, 1)}</td></tr>`;
  return html`<div class="matrix-box" tabindex="0" role="region"
    aria-label=${`Models by ${what}, may scroll sideways`}><table class="matrix kinds"
    style=${{ "--models": models.length + 1 }}>
    <thead><tr><td></td>${models.map(head)}<th scope="col">both bad</th></tr></thead>
    <tbody>${boards.map(line)}</tbody></table></div>`;
}

function KindCell({ board, model }) {
  const row = board.rows.find((one) => one.model === model);
  // Who never met the others of a kind stands on a scale of his own.
  if (!isKnown(row?.rating) || row.flags.includes("not comparable"))
    return html`<td class="muted">–</td>`;
  const gap = row.rating - summary.settings.mean;
  const style = { "--strength": Math.min(Math.abs(gap) / FULL_HEAT, 1) };
  const cls = `cell ${gap < 0 ? "down" : "up"} ${row.battles < ENOUGH ? "thin" : ""}`;
  const word = row.flags.includes("one-sided") ? html` <small>one-sided</small>` : "";
  return html`<td class=${cls} style=${style}><b class="num">${signed(gap)}</b>
    <small class="num">${whole(row.battles)}</small>${word}</td>`;
}
