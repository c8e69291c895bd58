/* Dialogues as they were put: what the user says, the reference, the checklist, and how each model
   met it. All text here is that of models and of files. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { Flag, Segments, Table } from "./bits.js";
import { Model, summary } from "./names.js";
import { clip, counted, fixed } from "./numbers.js";
import { SentSection } from "./table.js";
import { Said } from "./text.js";

const RIGHT = "✓";
const WRONG = "✗";

export function Dialogues({ section }) {
  const { abilities, dialogues } = summary.shown;
  const [ability, choose] = useState(abilities[0].key);
  const mine = dialogues.filter((one) => one.ability === ability);
  const { says } = abilities.find((one) => one.key === ability);
  return html`<${SentSection} section=${section} says=${says}>
    <div class="ability-choice"><${Segments} label="Ability" value=${ability} onChange=${choose}
      options=${abilities.map((one) => [one.key, one.name])} /></div>
    <div class="dialogues">
      ${mine.map((one) => html`<${Dialogue} key=${one.qid} of=${one} />`)}</div>
  </${SentSection}>`;
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
  const head = ({ model }) => [html`<${Model} name=${model} most=${24} />`, "mark"];
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
  return html`<details class="reply"><summary><${Model} name=${by.model} />
      <small class="num">${met}</small></summary>
    ${of.response !== undefined && html`<${Said} as="p" text=${of.response} />`}
    ${of.reason !== undefined && html`<p class="note"><${Said} text=${of.reason} /></p>`}
  </details>`;
}
