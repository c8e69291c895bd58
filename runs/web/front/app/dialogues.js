/* The page of a set of dialogues: what each model came to over abilities, on each, on parts of the
   set, and the dialogues themselves. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { own } from "./base.js";
import { Flag, Section, Segments, Table } from "./bits.js";
import { Axis, Grid, Interval, Plot, scale } from "./charts.js";
import { Model, summary } from "./names.js";
import { clip, counted, fixed, isKnown, known, spaced, sum, titled, whole } from "./numbers.js";
import { Found, MethodsSection, oddOf, SetOpening, SetPage, startSet, Told } from "./sets.js";
import { plain, Said } from "./text.js";
import "../style/tokens.css";
import "../style/base.css";
import "../style/layout.css";
import "../style/text.css";
import "../style/charts.css";
import "../style/report.css";
import "../style/tasks.css";
import "../style/dialogues.css";
import "../style/print.css";

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

/* Dialogues as they were put: what the user says, the reference, the checklist, and how each model
   met it. All text here is that of models and of files. */
const RIGHT = "✓";
const WRONG = "✗";

function DialoguesSection() {
  const { shown, set } = summary;
  const there = [...new Set(shown.dialogues.map((one) => one.ability))];
  const [ability, choose] = useState(there[0]);
  if (!there.length) return null;
  const mine = shown.dialogues.filter((one) => one.ability === ability);
  const all = shown.dialogues.length === set.items;
  const cut = all ? "" : `${whole(shown.dialogues.length)} of ${counted(set.items, "dialogue")}. `;
  const most = shown.results.length;
  const few = most < summary.scores.models.length ? `Of the first ${most} models. ` : "";
  const tools = html`<${Segments} label="Ability" value=${ability} onChange=${choose}
    options=${there.map((one) => [one, called(one)])} />`;
  return html`<${Section} id="dialogues" kicker="Dialogues" says=${sayShown(mine, ability)}
    note=${
      `${cut}${few}${RIGHT} answered as expected, ${WRONG} not. The judge sees question, ` +
      "reference, reply and items, and no frames. Long texts are cut."
    }>
    <div class="ability-choice">${tools}</div>
    <div class="dialogues">
      ${mine.map((one) => html`<${Dialogue} key=${one.qid} of=${one} />`)}</div>
  </${Section}>`;
}

function sayShown(mine, ability) {
  const scored = sum(mine.map((one) => one.rounds.filter((round) => round.checks.length).length));
  const many = mine.length === 1 ? "One dialogue" : `${whole(mine.length)} dialogues`;
  return `${many} of ${spaced(ability)}, with ${counted(scored, "scored round")}.`;
}

function Dialogue({ of }) {
  const [open, setOpen] = useState(false);
  const last = of.rounds.findLast((one) => one.checks.length) ?? of.rounds.at(-1);
  const scenes = { true: "cross scene", false: "one scene" }[of.is_cross_scene];
  const facts = [counted(of.rounds.length, "turn"), scenes].filter(Boolean).join(", ");
  const event = of.event !== null && html` · <${Said} text=${of.event} />`;
  const spans = of.spans.map(([from, to]) => `${fixed(from)}–${fixed(to)} s`).join(", ");
  return html`<details onToggle=${(event_) => setOpen(event_.currentTarget.open)}>
    <summary><${Said} text=${clip(last?.user ?? "", 110)} />
      <small><${Said} text=${of.video} />${event}${" · "}${facts}</small></summary>
    ${open && spans && html`<p class="note">Of the video: ${spans}</p>`}
    ${open && of.rounds.map((one, k) => html`<${Turn} key=${k} of=${one} number=${k + 1} />`)}
  </details>`;
}

function Turn({ of, number }) {
  const flags = [
    !of.checks.length && "not scored",
    !of.is_about_video && "off the video",
    of.refers_to !== null && `goes back to round ${of.refers_to}`,
  ].filter(Boolean);
  return html`<article class="turn">
    <h3>Round ${number}${flags.map((text) => html` <${Flag} text=${text} />`)}</h3>
    <div class="said-user"><b>User</b><${Said} as="p" text=${of.user} /></div>
    <div><b>Reference</b><${Said} as="p" text=${of.reference} /></div>
    ${of.checks.length > 0 && html`<${Checklist} of=${of} number=${number} />`}
  </article>`;
}

function Checklist({ of, number }) {
  const { results } = summary.shown;
  const head = ({ model }) => [html`<${Model} name=${model} link=${false} most=${24} />`, "mark"];
  const columns = [["Item", ""], ["Expected", ""], ...results.map(head)];
  const line = ([text, expected], place) => [
    html`<${Said} text=${text} />`,
    expected,
    ...of.said.map((one) => html`<${Mark} said=${one?.answers[place]} expected=${expected} />`),
  ];
  const reply = (one, k) =>
    one && html`<${Reply} key=${k} of=${one} by=${results[k]} checks=${of.checks} />`;
  return html`<${Table} label=${`Checklist of round ${number}`} cls="checklist" columns=${columns}
      rows=${of.checks.map(line)} />
    ${of.said.map(reply)}`;
}

function Mark({ said, expected }) {
  if (said === undefined) return html`<span class="muted">–</span>`;
  const isRight = said === expected;
  const told = `${said}, ${isRight ? "as expected" : "not as expected"}`;
  return html`<span class=${isRight ? "met" : "unmet"} title=${told}>
    <span aria-hidden="true">${isRight ? RIGHT : WRONG}</span>
    <span class="hidden">${told}</span></span>`;
}

const ENDS = { forfeit: "no answer", unscored: "not marked", void: "not asked" };

function Reply({ of, by, checks }) {
  const right = of.answers.filter((one, place) => one === checks[place][1]).length;
  const met = of.answers.length ? `${right} of ${checks.length}` : (ENDS[of.end] ?? of.end);
  return html`<details class="reply"><summary><${Model} name=${by.model} link=${false} />
      <small class="num">${met}</small></summary>
    ${of.response !== undefined && html`<${Said} as="p" text=${of.response} />`}
    ${of.reason !== undefined && html`<p class="note"><${Said} text=${of.reason} /></p>`}
  </details>`;
}

/* The report of a set of dialogues: its parts in order. */
const SECTIONS = [
  ["board", "Scores"],
  ["abilities", "By ability"],
  ["parts", "Turns, length, scenes"],
  ["history", "History"],
  ["dialogues", "Dialogues"],
  ["methods", "Methods"],
];

const DialogueReport = () =>
  html`<${SetPage} sections=${SECTIONS}>
    <${SetOpening} what="dialogue" /><${BoardSection} /><${AbilitiesSection} /><${PartsSection} />
    <${HistorySection} /><${DialoguesSection} />
    <${MethodsSection} sources=${["arena bench score --json", "arena bench compare --json"]}
      what="dialogue" extra="marking replies costs extra" /></${SetPage}>`;

startSet(DialogueReport);
