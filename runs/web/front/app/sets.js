/* What the pages of all kinds of frozen sets share: their sentences, figures, frame and start. */

import { html } from "htm/preact";
import { render } from "preact";
import { own, useWindowEvent } from "./base.js";
import { Contents, Facts, Section, Table, Top, theme } from "./bits.js";
import { Model, putSummary, summary } from "./names.js";
import { counted, fixed, isKnown, money, spaced, sum, titled, whole } from "./numbers.js";
import { plain, Said } from "./text.js";

/* A figure and its unit stay on one line. */

const unbroken = (text) => text.replace(/(\d) (%|s\b)/g, "$1\u00a0$2");

/* A sentence whose names are set apart; there is no page of a model to lead to. */
export const Found = ({ parts }) =>
  parts.map((one) =>
    typeof one === "string"
      ? plain(unbroken(one))
      : html`<em class="who-said"><${Model} name=${one.model} link=${false} /></em>`,
  );

const Amount = ({ n, one }) => html`<b class="num">${whole(n)}</b> ${n === 1 ? one : `${one}s`}`;

const hasValue = (figure) => isKnown(figure?.value);

export const spanOf = (figure, digits) =>
  isKnown(figure.low) ? `${fixed(figure.low, digits)}–${fixed(figure.high, digits)}` : "";

/* A figure with its interval beneath it. */
export function Told({ figure, digits = 1 }) {
  if (!hasValue(figure)) return html`<span class="num muted">–</span>`;
  return html`<b class="num">${fixed(figure.value, digits)}</b>
    <small class="num">${spanOf(figure, digits)}</small>`;
}

const ODD_ENDS = {
  unreadable: "unreadable",
  forfeit: "without an answer",
  unscored: "unscored",
  void: "without a video",
};

/* What a model's figure is less sure of: endings that are no choice, and items it was not asked. */
export function oddOf(row) {
  const found = Object.entries(ODD_ENDS)
    .filter(([end]) => own(row.counts, end))
    .map(([end, words]) => `${whole(row.counts[end])} ${words}`);
  return row.missing ? [...found, `${whole(row.missing)} not asked`] : found;
}

/* Who and what is behind the figures, below the finding of the whole. */
export function SetOpening({ what }) {
  const { set, words, scores, results } = summary;
  const models = new Set(results.map((one) => one.model ?? one.name)).size;
  const standIns = html`<div class="banner" role="note">
    <p>
      <b>Stand-ins played.</b> Every model is a small offline program that measures the frames it is
      sent. This shows the tool at work; it ranks no real model.
    </p>
  </div>`;
  return html`<header class="opening">
    <p class="kicker"><bdi>${plain(set.name)}</bdi></p>
    <h1><${Found} parts=${words.lead} /></h1>
    ${words.rest.length > 0 && html`<p class="rest"><${Found} parts=${words.rest} /></p>`}
    <p class="behind"><${Amount} n=${set.items} one=${what} /> about${" "}
      <${Amount} n=${set.videos} one="video" />,${" "}
      <${Amount} n=${models} one="model" />,${" "}
      <${Amount} n=${results.length} one="result" />.</p>
    ${scores.stand_ins && standIns}
  </header>`;
}

/* The page around the parts of a set; `sections` are pairs of an id and what it is called. */
export function SetPage({ sections, children }) {
  useWindowEvent("keydown", (event) => {
    const isTyped = event.metaKey || event.ctrlKey || event.altKey;
    if (event.key === "t" && !isTyped) theme.turn();
  });
  return html`<${Top} home="#main" />
    <div class="report">
      <${Contents} parts=${sections} />
      <main id="main">${children}</main>
    </div>
    <footer class="foot">
      Made by <code>arena report</code> as one file that asks nobody for anything.
    </footer>`;
}

export function startSet(Report) {
  theme.start();
  putSummary(JSON.parse(document.getElementById("summary").textContent));
  render(html`<${Report} />`, document.getElementById("app"));
  const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (part) part.scrollIntoView();
}

/* How a set and the results on it came about: where items are from, who answered, at what cost. */
const RESULT_COLUMNS = [
  ["Result", ""],
  ["Served as", ""],
  ["Frames", "right"],
  ["Seed", "right"],
  ["Judge", ""],
  ["Answers", "right"],
  ["No answer", "right"],
  ["Cost of answers", "right"],
];

/* `sources` are the commands that print the same figures; `extra` says what the cost leaves out. */
export function MethodsSection({ sources, what, extra }) {
  const { set, results } = summary;
  const rows = results.map((one) => [
    html`<${Model} name=${one.name} link=${false} />`,
    one.how === "import" ? "imported" : html`<${Said} text=${`${one.model ?? "unknown"}`} />`,
    html`<span class="num">${whole(one.max_frames)}</span>`,
    html`<span class="num">${isKnown(one.seed) ? `${one.seed}` : "–"}</span>`,
    one.judge === null ? "–" : html`<${Said} text=${one.judge} />`,
    html`<span class="num">${whole(one.answers)}</span>`,
    html`<span class="num">${whole(one.forfeits)}</span>`,
    html`<span class="num">${costOf(one)}</span>`,
  ]);
  return html`<${Section} id="methods" kicker="Methods" says=${methodsSay(results)}
    note=${html`The figures of this page are those of${" "}
      ${sources.map((one, place) => [place > 0 && " and ", html`<code>${one}</code>`])}. The cost is
      that of the answers; ${extra}.`}>
    <${Facts} rows=${setFacts(set, what)} />
    <${Table} label="Results" cls="tight results" columns=${RESULT_COLUMNS} rows=${rows} />
    <${Digests} results=${results} /></${Section}>`;
}

function methodsSay(results) {
  const answers = sum(results.map((one) => one.answers));
  const unknown = sum(results.map((one) => one.unknown_cost));
  const cost = sum(results.map((one) => one.cost_usd ?? 0));
  const paid = unknown === answers ? "an unknown cost" : money(cost);
  const rest = unknown && unknown < answers ? ` and ${whole(unknown)} of unknown cost` : "";
  return `${counted(answers, "answer")} for ${paid}${rest}.`;
}

function costOf(one) {
  if (!isKnown(one.cost_usd)) return "unknown";
  const rest = one.unknown_cost ? ` + ${whole(one.unknown_cost)} unknown` : "";
  return `${money(one.cost_usd)}${rest}`;
}

/* What was asked for when a set was made, as text. */
function writtenOut(value) {
  if (Array.isArray(value)) return value.map(writtenOut).join(", ");
  if (typeof value !== "object" || value === null) return `${value}`;
  const pairs = Object.entries(value).map(([key, held]) => `${key} ${writtenOut(held)}`);
  return pairs.join(", ") || "none";
}

function setFacts(set, what) {
  const { source, selection, generator } = set;
  const said = (value) => html`<${Said} text=${writtenOut(value)} />`;
  const chosen = Object.entries(selection ?? {}).map(([key, value]) => [
    titled(spaced(key)),
    said(value),
  ]);
  return [
    ["Set", html`<${Said} text=${set.name} />`],
    ["Digest", html`<code>${plain(set.bench)}</code>`],
    [titled(`${what}s`), `${counted(set.items, what)} about ${counted(set.videos, "video")}`],
    ["Source", html`<${Said} text=${`${source.kind}, ${source.format}`} />`],
    ["Version", html`<${Said} text=${`${generator.name} ${generator.version}`} />`],
    ["Licence", html`<${Said} text=${set.licence ?? "not stated"} />`],
    ...chosen,
  ];
}

function Digests({ results }) {
  const rows = new Map();
  for (const { prompts } of results) {
    for (const [role, digest] of Object.entries(prompts ?? {})) {
      rows.set(`${role}\n${digest}`, [
        html`<${Said} text=${role} />`,
        html`<${Said} text=${`${digest}`} />`,
      ]);
    }
  }
  if (!rows.size) return null;
  const columns = [
    ["Role", ""],
    ["SHA-256 of its prompt", ""],
  ];
  return html`<details>
    <summary>Prompts, by digest</summary>
    <${Table} label="Prompts" cls="tight mono" columns=${columns} rows=${[...rows.values()]} />
  </details>`;
}
