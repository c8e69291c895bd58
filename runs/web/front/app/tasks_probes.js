/* Shortcuts: what the options give away without the video, to text probes and to models. */
const READ_BLIND = {
  blind: "no frames",
  one: "one frame",
  shuffled: "shuffled",
  other: "another video",
};
const MOST_QIDS = 12;

const PROBES_NOTE =
  "A probe picks an option by text alone; beside it stands what chance earns. Found: it earns " +
  "more than drawn keys would give it (one-sided, p < .001). Balanced too exactly: it earns " +
  "less, which gives answers away by elimination.";

function ProbesSection() {
  const { probes, words } = summary;
  const { scores, asked, defects } = probes;
  const parts = probes.parts.filter((part) => part.keyed);
  return html`<${Section} id="probes" kicker="Shortcuts" note=${PROBES_NOTE}
    says=${html`<${Found} parts=${words.probes} />`}>
    ${scores.length > 0 && html`<${ScoredTwice} rows=${scores} />`}
    ${parts.length > 0 && html`<${TextProbes} parts=${parts} />`}
    ${asked.length > 0 && html`<${AskedProbes} rows=${asked} />`}
    ${defects.length > 0 && html`<${Defects} rows=${defects} />`}</${Section}>`;
}

const partName = ({ split, task }) =>
  html`<${Said} text=${split === null ? task : `${split}: ${task}`} />`;

/* Both scores: over all items, and over those that text alone does not give away. */
function ScoredTwice({ rows }) {
  const columns = [
    ["Model", ""],
    ["All items", "right"],
    ["Without what is given away", "right"],
  ];
  const line = (row) => [
    html`${row.split !== null && html`<${Said} text=${`${row.split}: `} />`}
      <${Model} name=${row.model} link=${false} />`,
    html`<${Told} figure=${row.every} />`,
    html`<${Told} figure=${row.rest} />`,
  ];
  return html`<h3>Both scores</h3><${Table} label="Scores with and without what is given away"
    cls="by-task" columns=${columns} rows=${rows.map(line)} />`;
}

function TextProbes({ parts }) {
  const names = [...new Set(parts.flatMap((part) => part.results.map((one) => one.probe)))];
  const columns = [
    ["Task", ""],
    ["Items", "right"],
    ["Given away", "right"],
    ["Chance", "right"],
    ...names.map((name) => [titled(name), "right"]),
  ];
  const cell = (part) => (name) => {
    const one = part.results.find((result) => result.probe === name);
    return html`<${ProbeCell} result=${one} />`;
  };
  const line = (part) => [
    partName(part),
    html`<span class="num">${whole(part.keyed)}</span>`,
    html`<span class="num">${whole(part.given_away)}</span>`,
    html`<span class="num">${percent(part.results[0]?.chance)}</span>`,
    ...names.map(cell(part)),
  ];
  return html`<h3>By text alone</h3><${Table} label="Text probes" cls="tight by-task"
    columns=${columns} rows=${parts.map(line)} />`;
}

function ProbeCell({ result }) {
  if (!result || !isKnown(result.share)) return html`<span class="muted">–</span>`;
  const share = percent(result.share);
  if (result.reading === "clean") return html`<span class="num">${share}</span>`;
  return html`<b class="num">${share}</b> <${Flag} text=${result.reading} />`;
}

/* Each view a column; a row a task and model. */
function AskedProbes({ rows }) {
  const views = ["whole", ...Object.keys(READ_BLIND)];
  const columns = [
    ["Task", ""],
    ["Model", ""],
    ["Whole video", "right"],
    ...Object.values(READ_BLIND).map((name) => [titled(name), "right"]),
    ["Chance", "right"],
  ];
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.split, row.task, row.model]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  const cell = (some) => (view) => {
    const one = some.find((row) => row.view === view);
    if (!one || !isKnown(one.accuracy)) return html`<span class="muted">–</span>`;
    return html`<b class="num">${fixed(one.accuracy)}</b> <small class="num">n ${one.n}</small>`;
  };
  const line = (some) => [
    partName(some[0]),
    html`<${Model} name=${some[0].model} link=${false} />`,
    ...views.map(cell(some)),
    html`<span class="num">${fixed(some[0].chance)}</span>`,
  ];
  return html`<h3>Models without the video <small>accuracy in percent</small></h3>
    <${Table} label="Models without the video" cls="tight by-task" columns=${columns}
      rows=${[...groups.values()].map(line)} />`;
}

function Defects({ rows }) {
  const columns = [
    ["Defect", ""],
    ["Items", "right"],
    ["Which", "broad"],
  ];
  const line = ({ flaw, qids }) => {
    const named = qids.slice(0, MOST_QIDS).map((alike) => alike.join(" = "));
    const more = qids.length - named.length;
    const rest = more > 0 ? ` and ${whole(more)} more` : "";
    return [
      html`<${Said} text=${flaw} />`,
      html`<span class="num">${whole(qids.length)}</span>`,
      html`<${Said} text=${`${named.join(", ")}${rest}`} />`,
    ];
  };
  return html`<h3>Defects</h3>
    <${Table} label="Defects" cls="tight" columns=${columns} rows=${rows.map(line)} />`;
}
