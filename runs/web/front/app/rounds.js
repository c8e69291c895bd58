/* Questions by round: how hard they were, what was wrong with the answers, who held out. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { own } from "./base.js";
import { Section, Table } from "./bits.js";
import { apart, atPercent, Legend, lineClass, Parts, Plot } from "./charts.js";
import {
  battlesLink,
  nameOf,
  ratedModels,
  roundName,
  sentenceOf,
  shortOf,
  summary,
} from "./names.js";
import { clip, counted, fixed, isKnown, percent, sum, titled } from "./numbers.js";
import { plain, Said } from "./text.js";

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

function RoundCharts({ rounds }) {
  return html`<div class="panels three">
    <${RoundChart} title="Difficulty" about="of each question, and the mean">
      <${Difficulty} rounds=${rounds} /></>
    <${RoundChart} title="Points taken" about="by model, a tie is half">
      <${Points} rounds=${rounds} /></>
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

const CHART_HEIGHT = 190;
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

const MOST_LINES = 9;

const isIn = (model) => (round) => own(round.points, model);

/* Share of points by round, a line a model; its name stands at the line's end. */
function Points({ rounds }) {
  const [on, setOn] = useState(null);
  const y = (share) => 14 + (CHART_HEIGHT - 40) * (1 - share);
  const x = inRounds(rounds, 13, 44);
  const rated = ratedModels().map((row) => row.model);
  const models = rated.filter((model) => rounds.some(isIn(model))).slice(0, MOST_LINES);
  const lasts = models.map((model) => rounds.findLast(isIn(model)).points[model].share);
  const places = apart(lasts.map(y), 13, 12, CHART_HEIGHT - 26);
  const line = (model, k) => html`<${PointsLine} key=${model} rounds=${rounds} x=${x} y=${y}
    model=${model} label=${{ from: y(lasts[k]), to: places[k], share: lasts[k] }}
    cls=${lineClass(model, k, on)} on=${setOn} />`;
  const level = (share) => html`<${Level} y=${y(share)} to="59%">${percent(share)}</>`;
  const left = rated.length - models.length;
  const more = html`<text class="tick" x="63%" y=${CHART_HEIGHT - 6}>and ${left} more</text>`;
  return html`<${Plot} height=${CHART_HEIGHT} cls="points" label=${pointsLabel(models.length)}>
    ${[0, 0.5, 1].map(level)}<${RoundNames} rounds=${rounds} x=${x} />
    ${models.map(line)}${left > 0 && more}</${Plot}>`;
}

const pointsLabel = (lines) =>
  `Share of points by round of ${counted(lines, "model")}; each model’s page has its figures`;

function PointsLine({ rounds, x, y, model, label, cls, on }) {
  const at = (place) => rounds[place] && own(rounds[place].points, model);
  const line = (place) => html`<line x1=${atPercent(x(place))} y1=${y(at(place).share)}
    x2=${atPercent(x(place + 1))} y2=${y(at(place + 1).share)} />`;
  const dot = (place) => html`<circle cx=${atPercent(x(place))} cy=${y(at(place).share)} r="2.6">
    <title>${nameOf(model)}, ${roundName(rounds[place].round)}: ${percent(at(place).share)} of${" "}
    ${at(place).n}</title></circle>`;
  const places = rounds.map((_, place) => place);
  return html`<g class=${cls} onMouseEnter=${() => on(model)} onMouseLeave=${() => on(null)}>
    ${places.map((place) => at(place) && at(place + 1) && line(place))}
    ${places.map((place) => at(place) && dot(place))}
    <line class="leader" x1="59.5%" x2="62%" y1=${label.from} y2=${label.to} />
    <text x="63%" y=${label.to + 4}><tspan class="name">${plain(shortOf(model, 13))}</tspan>${" "}
      <tspan class="share">${percent(label.share)}</tspan></text></g>`;
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
  const name = (one) => html`<th scope="col" class="num">${one.round}</th>`;
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
