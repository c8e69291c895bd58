/* Questions by round: how hard they were, what was wrong with the answers, who held out. */

import { html } from "htm/preact";
import { own } from "./base.js";
import { Section, Table } from "./bits.js";
import { atPercent, Legend, Parts, Plot } from "./charts.js";
import { Curves } from "./curves.js";
import { battlesLink, roundName, sentenceOf, summary } from "./names.js";
import { clip, fixed, isKnown, sum, titled } from "./numbers.js";
import { Said } from "./text.js";

const ORIGINS = [
  { key: "first", name: "first", cls: "part-line" },
  { key: "evolved", name: "evolved", cls: "part-blue" },
  { key: "fresh", name: "fresh", cls: "part-orange" },
];
const ENDINGS = [
  { name: "a winner", of: ["a", "b"], cls: "part-ink" },
  { name: "both good", of: ["tie_good", "tie"], cls: "part-good" },
  { name: "both bad", of: ["tie_bad"], cls: "part-bad" },
  {
    name: "split, void or forfeit",
    of: ["split", "void", "forfeit_a", "forfeit_b"],
    cls: "part-void",
  },
];
const originParts = (origin) => ORIGINS.map((one) => ({ ...one, n: origin[one.key] ?? 0 }));
const endingParts = (verdicts) =>
  ENDINGS.map((one) => ({ ...one, n: sum(one.of.map((verdict) => verdicts[verdict] ?? 0)) }));

const CHART_HEIGHT = 190;
const ROUNDS_NOTE =
  "Difficulty is the grade that let a question through, from 1 to 5; fresh questions carry none. " +
  "Faults are those that were written down of a round’s answers to make the next question.";

export function Rounds() {
  const { rounds } = summary;
  if (!rounds.length) return null;
  return html`<${Section} id="rounds" kicker="Rounds" says=${sentenceOf("rounds")}
    note=${ROUNDS_NOTE}>${rounds.length > 1 && html`<${RoundCharts} rounds=${rounds} />`}
    <${RoundTable} rounds=${rounds} /><${Legend} rows=${[...ORIGINS, ...ENDINGS]} /></${Section}>`;
}

const RoundChart = ({ title, about, children }) => html`<figure>
  <figcaption><b>${title}</b> ${about}</figcaption>${children}</figure>`;

const POINTS = { height: CHART_HEIGHT, from: 13, to: 57, most: 13 };

function RoundCharts({ rounds }) {
  const { points } = summary.tables;
  return html`<div class="panels three">
    <${RoundChart} title="Difficulty" about="of each question, and the mean">
      <${Difficulty} rounds=${rounds} /></>
    <${RoundChart} title="Points taken" about="by model, a tie is half">
      ${points.rows.length > 0 && html`<${Curves} table=${points} ...${POINTS} />`}</>
    <${RoundChart} title="Faults" about="of the answers to each round’s questions">
      <${RoundThemes} rounds=${rounds} /></></div>`;
}

const ROUND_CLASSES = ["", "right", "broad", "right of-gate", "right of-difficulty", "broad"];

function RoundTable({ rounds }) {
  const { columns, rows } = summary.tables.rounds;
  const heads = columns.map(({ title }, k) => [titled(title), ROUND_CLASSES[k]]);
  const line = ({ cells }, k) => [
    html`<a href=${battlesLink({ round: rounds[k].round })}>${cells.number}</a>`,
    html`<span class="num">${cells.battles}</span>`,
    html`<${Parts} total=${rounds[k].battles} parts=${originParts(rounds[k].origin)} />`,
    html`<span class="num">${cells.refused}</span>`,
    html`<span class="num">${cells.difficulty}</span>`,
    html`<${Parts} total=${rounds[k].battles} parts=${endingParts(rounds[k].verdicts)} />`,
  ];
  return html`<${Table} label="Rounds" cls="tight rounds" columns=${heads}
    rows=${rows.map(line)} />`;
}

/* Three drawings of the rounds: difficulty, points by model, themes of faults. */

const GRADES = [1, 2, 3, 4, 5];
const MOST_SPECKS = 600;
const WIDEST_PX = 34;
const inRounds = (rounds, from, wide) => (place) =>
  from + (wide * place) / Math.max(rounds.length - 1, 1);

function RoundNames({ rounds, x }) {
  const name = (one, place) => html`<text class="tick mid" x=${atPercent(x(place))}
    y=${CHART_HEIGHT - 6}>${one.round + 1}</text>`;
  return rounds.map(name);
}

/* A line across with what it stands for at its left. */
const Level = ({ y, to = "100%", children }) => html`<g class="grid">
  <line x1="0" x2=${to} y1=${y} y2=${y} />
  <text class="tick" x="0" y=${y - 3}>${children}</text></g>`;

/* Every question a speck, specks of one grade side by side; the mean as a line. */
function Difficulty({ rounds }) {
  const y = (grade) => 8 + ((CHART_HEIGHT - 34) * (5 - grade)) / 4;
  const x = inRounds(rounds, 17, 77);
  const said = rounds.map((one) => `${roundName(one.round)} ${fixed(one.difficulty.mean)}`);
  const level = (grade) => html`<${Level} y=${y(grade)}>${grade}${grade === 5 && " hardest"}</>`;
  const ungraded = html`<text class="tick mid" x=${atPercent(x(0))} y=${y(1) - 20}>
    not graded</text>`;
  return html`<${Plot} height=${CHART_HEIGHT} label=${`Mean difficulty: ${said.join(", ")}`}>
    ${GRADES.map(level)}<${RoundNames} rounds=${rounds} x=${x} />
    ${rounds.map((one, place) => specksOf(one.difficulty.values, x(place), y))}
    <${MeanLine} rounds=${rounds} x=${x} y=${y} />
    ${rounds[0].difficulty.mean === null && ungraded}</${Plot}>`;
}

function specksOf(values, x, y) {
  const step = Math.max(1, Math.ceil(values.length / MOST_SPECKS));
  const seen = new Map();
  return values
    .filter((_, place) => place % step === 0)
    .map((grade) => {
      const n = seen.get(grade) ?? 0;
      seen.set(grade, n + 1);
      const aside = (n % 2 ? 1 : -1) * Math.ceil(n / 2) * 5;
      if (Math.abs(aside) > WIDEST_PX) return null;
      return html`<svg x=${atPercent(x)} y=${y(grade)} overflow="visible">
        <circle class="speck" cx=${aside} cy="0" r="2.2" /></svg>`;
    });
}

function MeanLine({ rounds, x, y }) {
  const spots = rounds.map(({ difficulty }, place) =>
    isKnown(difficulty.mean) ? { x: x(place), y: y(difficulty.mean), mean: difficulty.mean } : null,
  );
  const line = (one, other) => html`<line class="mean" x1=${atPercent(one.x)} y1=${one.y}
    x2=${atPercent(other.x)} y2=${other.y} />`;
  const dot = (one) => html`<circle class="mean-dot" cx=${atPercent(one.x)} cy=${one.y} r="4.5" />
    <svg x=${atPercent(one.x)} y=${one.y} overflow="visible"><text class="mean-text" x="0"
      y="-11">${fixed(one.mean)}</text></svg>`;
  return html`<g>${spots.map((one, k) => one && spots[k + 1] && line(one, spots[k + 1]))}
    ${spots.map((one) => one && dot(one))}</g>`;
}

const MOST_THEMES = 6;

/* Themes of faults by round, the commonest first; a round's are of the answers to its questions. */
function RoundThemes({ rounds }) {
  const total = new Map();
  for (const { themes } of rounds) {
    for (const [theme, n] of Object.entries(themes)) total.set(theme, (total.get(theme) ?? 0) + n);
  }
  const common = [...total].sort((one, other) => other[1] - one[1]).slice(0, MOST_THEMES);
  if (!common.length) return html`<p class="muted">None were written down.</p>`;
  const looked = rounds.filter((one) => one.looked_at);
  const counts = looked.flatMap((one) => common.map(([theme]) => own(one.themes, theme) ?? 0));
  const most = Math.max(...counts, 1);
  const name = (one) => html`<th scope="col" class="num">${one.round + 1}</th>`;
  const line = ([theme, n]) => html`<${ThemeLine} key=${theme} theme=${theme} n=${n} most=${most}
    rounds=${looked} />`;
  return html`<table class="round-themes">
    <caption class="hidden">Faults by theme and round</caption>
    <thead><tr><td></td>${looked.map(name)}<th scope="col" class="right">all</th></tr></thead>
    <tbody>${common.map(line)}</tbody></table>`;
}

function ThemeLine({ theme, n, most, rounds }) {
  const cell = (one) => html`<${ThemeCell} n=${own(one.themes, theme) ?? 0} most=${most} />`;
  return html`<tr><th scope="row"><${Said} text=${clip(theme, 90)} /></th>${rounds.map(cell)}
    <td class="right num">${n}</td></tr>`;
}

function ThemeCell({ n, most }) {
  const style = { "--strength": Math.sqrt(n / most) };
  return html`<td><span class="heat num" style=${style}>
    ${n || html`<span class="muted">·</span>`}</span></td>`;
}
