/* What each model came to in dialogues: over abilities, on each, and on parts of the set. */
const SHARES = { at: scale(0, 100), ticks: [0, 25, 50, 75, 100], format: (x) => `${x}` };
const CONSTANTS = {
  all_yes: ["All yes", "every item answered yes"],
  all_no: ["All no", "every item answered no"],
  silence: ["Silence", "a reply without words"],
  refusal: ["Refuses all", "right where a refusal is asked for"],
};
const TWIN = "refusal_twin";
const TWIN_NOTE =
  "The twin is asked like a refusal, of what is there; over refusal is the percentage of its " +
  "rounds that are refused all the same, and its n counts rounds. Neither is in the overall.";
const PARTS = {
  turns: "By number of turns",
  length: "By length of the video",
  scenes: "By scenes",
};

const called = (ability) => titled(spaced(ability));
const keyOf = (row) => `${row.model}\n${row.judge}`;

/* Who it is, and how it was played: frames, history, judge where there are several. */
function Played({ row }) {
  const judges = new Set(summary.scores.models.map((one) => one.judge));
  const seen = isKnown(row.max_frames) ? counted(row.max_frames, "frame") : "";
  const frames = row.is_blind ? "saw no frames" : seen;
  const own = row.history === "own" && !row.model.endsWith("(own history)") ? ", own history" : "";
  const judge = judges.size > 1 && html` judge <${Said} text=${row.judge} />`;
  const odd = oddOf(row).map((text) => html` <${Flag} text=${text} />`);
  return html`<${Model} name=${row.model} link=${false} />
    <small>${frames}${own}${judge}${odd}</small>`;
}

function BoardSection() {
  const { scores, words, notes } = summary;
  const head = (cls, text) => html`<span role="columnheader" class=${cls}>${text}</span>`;
  const line = html`<span class="hidden">Score and interval</span><${Axis} ...${SHARES} />`;
  return html`<${Section} id="board" kicker="Scores" says=${html`<${Found} parts=${words.board} />`}
    note=${notes.map((text) => html`${plain(text)} `)}>
    <div class="ladder scores" role="table" aria-label="Scores">
      <div class="ladder-row ladder-head" role="row">${head("of-name", "Model")}
        ${head("of-plot", line)}${head("of-rating", "Overall")}</div>
      ${scores.models.map((row) => html`<${BoardRow} key=${keyOf(row)} row=${row} />`)}
      ${scores.constants.map((row) => html`<${ConstantRow} key=${row.name} row=${row} />`)}
    </div></${Section}>`;
}

function ScoreRow({ who, figure, cls = "", mark, children }) {
  return html`<div class=${`ladder-row ${cls}`} role="row">
    <span role="cell" class="of-name">${who}</span>
    <span role="cell" class="of-plot"><${Plot} height=${mark ? 42 : 48}>
      <${Grid} at=${SHARES.at} height="100%" ticks=${SHARES.ticks} />
      <${Interval} at=${SHARES.at} ...${figure ?? {}} y=${mark ? 21 : 24} mark=${mark} />
    </${Plot}></span>
    <span role="cell" class="of-rating">${children}</span></div>`;
}

const BoardRow = ({ row }) =>
  html`<${ScoreRow} who=${html`<${Played} row=${row} />`} figure=${row.overall} mark=${undefined}>
    <${Told} figure=${row.overall} /></${ScoreRow}>`;

function ConstantRow({ row }) {
  const [name, about] = CONSTANTS[row.name] ?? [row.name, ""];
  const figure = { value: row.overall };
  return html`<${ScoreRow} who=${html`${name}<small>${about}</small>`} figure=${figure} mark="ring"
    cls="constant"><span class="num">${fixed(row.overall)}</span></${ScoreRow}>`;
}

/* The twin and what is refused of it stand beside the refusals that they tell something of. */
function columnsOf(abilities) {
  const there = Object.keys(abilities).filter((one) => one !== TWIN);
  const place = there.indexOf("answer_refusal") + 1 || there.length;
  if (own(abilities, TWIN)) there.splice(place, 0, TWIN, "over_refusal");
  return there;
}

const figureOf = (row, column) =>
  column === "over_refusal"
    ? row.over_refusal
    : column === TWIN
      ? row.twin?.figure
      : row.abilities.find((one) => one.ability === column)?.figure;

function AbilitiesSection() {
  const { scores, words } = summary;
  const columns = columnsOf(scores.abilities);
  const refused = Math.max(...scores.models.map((row) => row.over_refusal?.n ?? 0));
  const count = (column) => (column === "over_refusal" ? refused : scores.abilities[column]);
  const head = (column) => [
    html`<b>${called(column)}</b><small class="num">n ${whole(count(column))}</small>`,
    `right ${column === TWIN || column === "over_refusal" ? "beside" : ""}`,
  ];
  const line = (row) => [
    html`<${Model} name=${row.model} link=${false} />`,
    ...columns.map((column) => html`<${Told} figure=${figureOf(row, column)} />`),
  ];
  const muted = (text, cls = "") => html`<span class=${`muted ${cls}`}>${text}</span>`;
  const constant = (row) => [
    muted(CONSTANTS[row.name]?.[0] ?? row.name),
    ...columns.map((column) => muted(fixed(row.abilities[column]), "num")),
  ];
  const note = html`Items answered as expected, in percent: the mean of an ability’s dialogues, and
    beneath it the 95 % interval, which knows which dialogues share a video; n counts dialogues.
    ${isKnown(own(scores.abilities, TWIN)) && TWIN_NOTE}`;
  return html`<${Section} id="abilities" kicker="By ability"
    says=${html`<${Found} parts=${words.abilities} />`} note=${note}>
    <${Table} label="Scores by ability" cls="by-task by-ability"
      columns=${[["Model", ""], ...columns.map(head)]}
      rows=${[...scores.models.map(line), ...scores.constants.map(constant)]} /></${Section}>`;
}

function PartsSection() {
  const { scores, words } = summary;
  const tables = Object.entries(PARTS).flatMap(([by, title]) => {
    const found = scores.models.flatMap((row) => row.parts.filter((one) => one.by === by));
    const parts = [...new Set(found.map((one) => one.part))];
    if (by === "turns") parts.sort((one, other) => one - other);
    return parts.length > 1 ? [{ by, title, parts }] : [];
  });
  if (!tables.length) return null;
  const shown = ({ by, title, parts }) => {
    const of = (row, part) => row.parts.find((one) => one.by === by && one.part === part)?.figure;
    const line = (row) => [
      html`<${Model} name=${row.model} link=${false} />`,
      ...parts.map((part) => html`<${Told} figure=${of(row, part)} />`),
    ];
    const n = (part) => Math.max(...scores.models.map((row) => of(row, part)?.n ?? 0));
    const heads = parts.map((part) => [
      html`<b>${by === "turns" ? `${part} turns` : titled(part)}</b>
        <small class="num">n ${whole(n(part))}</small>`,
      "right",
    ]);
    return html`<h3>${title}</h3><${Table} label=${title} cls="by-task of-parts"
      columns=${[["Model", ""], ...heads]} rows=${scores.models.map(line)} />`;
  };
  return html`<${Section} id="parts" kicker="Turns, length, scenes"
    says=${html`<${Found} parts=${words.parts} />`}
    note="The mean of the dialogues of the six abilities, whatever their ability, in percent.">
    ${tables.map(shown)}</${Section}>`;
}

const points = (x) => known(x, () => `${x > 0 ? "+" : ""}${fixed(x)}`);

/* A difference with its interval. */
function Change({ gap }) {
  if (!gap) return html`<span class="num muted">–</span>`;
  const { value, low, high } = gap.difference;
  const told = isKnown(low) ? `${points(low)} to ${points(high)}` : "";
  return html`<b class="num">${points(value)}</b><small class="num">${told}</small>`;
}

function HistorySection() {
  const { histories, words } = summary;
  if (!histories.length) return null;
  const there = [...new Set(histories.flatMap((one) => one.abilities.map((gap) => gap.ability)))];
  const columns = [
    ["Model", ""],
    ["Golden", "right"],
    ["Own", "right"],
    ["Change", "right"],
    ...there.map((ability) => [called(ability), "right"]),
  ];
  const line = (one) => [
    html`<${Model} name=${one.models[1]} link=${false} />`,
    html`<span class="num">${fixed(one.overall?.b)}</span>`,
    html`<span class="num">${fixed(one.overall?.a)}</span>`,
    html`<${Change} gap=${one.overall} />`,
    ...there.map((ability) => {
      const gap = one.abilities.find((some) => some.ability === ability);
      return html`<${Change} gap=${gap} />`;
    }),
  ];
  return html`<${Section} id="history" kicker="History"
    says=${html`<${Found} parts=${words.histories} />`}
    note="Golden: the rounds before have the reference answers; own: what the model answered itself.
    Changes are in points, over dialogues that count in both, with 95 % intervals by video.">
    <${Table} label="Own history beside golden" cls="by-task" columns=${columns}
      rows=${histories.map(line)} /></${Section}>`;
}
