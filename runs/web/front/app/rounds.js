/* Questions by round: how hard they were, what was wrong with the answers, who held out. */
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

function Rounds() {
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
