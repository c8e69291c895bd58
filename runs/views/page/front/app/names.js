/* What is shown, of a run or of a set, and how its models and outcomes are named. */

import { html } from "htm/preact";
import { h } from "preact";
import { own } from "./base.js";
import { DECIDED } from "./bits.js";
import { scale } from "./charts.js";
import { brief, isKnown } from "./numbers.js";
import { plain } from "./text.js";

export let summary = null;

export function putSummary(newest) {
  summary = newest;
}

export const nameOf = (model) => own(summary.words.short, model) ?? model ?? "nobody";
export const shortOf = (model, most) => brief(nameOf(model), most);
export const ratedModels = () => summary.models.filter((row) => isKnown(row.rating));
export const rowOf = (model) => summary.models.find((row) => row.model === model);
const LONGEST_NAME = 44;
const LONGEST_WHOLE_LINE = 26;

/* The row of a model on the leaderboard, every cell as it is written everywhere. */
export const boardCells = (model) =>
  summary.tables.leaderboard.rows.find((row) => row.fields.model === model).cells;

/* The axis of ratings, cut where the leaderboard's is. */
export function ratingAxis() {
  const { low, high } = summary.tables.leaderboard.axis;
  return low === high ? scale(low - 500, high + 500) : scale(low, high);
}

/* Ids count rounds from 0, readers from 1. */
export const roundName = (round) => `round ${round + 1}`;

export const modelLink = (model) => `#model=${encodeURIComponent(model)}`;
export const battleLink = (id) => `#battle=${encodeURIComponent(id)}`;
export const battlesLink = (wanted) => `#battles?${new URLSearchParams(wanted)}`;

/* Models of a run have pages of their own, those that played a set have none. */
export const hasPages = () => !summary.set;

/* A name is kept on one line where it is short, since names have hyphens that would break. */

export function Model({ name, link = hasPages(), most = LONGEST_NAME }) {
  const full = nameOf(name);
  const shown = brief(full, most);
  const attributes = {
    class: `model ${shown.length <= LONGEST_WHOLE_LINE ? "one-line" : ""}`,
    title: shown === full ? null : full,
  };
  const text = h("bdi", null, plain(shown));
  if (!link) return h("span", attributes, text);
  return h("a", { ...attributes, href: modelLink(name) }, text);
}

/* A figure and its unit stay on one line. */
const unbroken = (text) => text.replace(/(\d) (%|s\b)/g, "$1\u00a0$2");

/* A sentence made of words, figures of the tables, and names, which are links where they lead to a
   page. */
export function Sentence({ parts }) {
  const part = (one) => {
    if (typeof one === "string") return plain(unbroken(one));
    if ("figure" in one) return html`<span class="num">${unbroken(one.figure)}</span>`;
    const name = html`<${Model} name=${one.model} />`;
    return hasPages() ? name : html`<em class="who-said">${name}</em>`;
  };
  return parts.map(part);
}

/* The finding of one section. */
export const sentenceOf = (section) => html`<${Sentence} parts=${summary.words[section]} />`;

export function Listed({ models }) {
  const between = (place) => (place === 0 ? "" : place === models.length - 1 ? " and " : ", ");
  return models.map((model, place) => [between(place), html`<${Model} name=${model} />`]);
}

/* Who met whom and who won; coloured only where A and B stand beside it. */
export function Outcome({ verdict, a, b, isColoured = false, most = LONGEST_NAME }) {
  const one = html`<${Model} name=${a} link=${false} most=${most} />`;
  const other = html`<${Model} name=${b} link=${false} most=${most} />`;
  const word = (text) => html` <span class="muted">${text}</span> `;
  const winner = (name, side) =>
    html`<strong class=${isColoured ? `won-${side}` : ""}>${name}</strong>`;
  if (verdict === "a") return [winner(one, "a"), word("beat"), other];
  if (verdict === "b") return [winner(other, "b"), word("beat"), one];
  if (verdict === "forfeit_a") return [one, word("gave no answer to"), other];
  if (verdict === "forfeit_b") return [other, word("gave no answer to"), one];
  return [one, word(DECIDED.has(verdict) ? "and" : "met"), other];
}

export const StandIns = () => html`<p><b>Stand-ins played.</b> Every model is a small offline
  program that measures the frames it is sent. This shows the tool at work; it ranks no real model.
  </p>`;
