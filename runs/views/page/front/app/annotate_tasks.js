/* The two tasks of the labelling page: which of two answers is better, and which question a real
   user would rather ask. Nobody says where answers or questions come from. */

import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { say, session, undo, vote } from "./annotate_session.js";
import { Flag, Segments, Side, STANDARDS } from "./bits.js";
import { Markdown } from "./markdown.js";
import { FramePlayer, Player } from "./player.js";
import { Said } from "./text.js";

export const VOTES = [
  ["1", "a", "A is better"],
  ["2", "b", "B is better"],
  ["3", "tie_good", "Both good"],
  ["4", "tie_bad", "Both bad"],
  ["5", "skip", "Can’t tell"],
];
const BY_STANDARD = [
  ["a", "A"],
  ["b", "B"],
  ["tie_good", "both good"],
  ["tie_bad", "both bad"],
];

export const voteFor = (verdict) => vote({ verdict, standards: session.draft.standards });

export function BattleTask({ state, draft }) {
  const { item, ticket } = state;
  return html`<div class="case-grid"><${CaseVideo} key=${ticket} state=${state} />
      <div><p class="kicker">The user</p><p class="persona"><${Said} text=${item.persona} /></p>
        <p class="kicker">The question</p>
        <h1 class="question"><${Said} text=${item.question} /></h1></div></div>
    <div class="answers" key=${ticket}>${item.answers.map(
      (answer, place) => html`<${Answer}
      key=${place} side=${"ab"[place]} answer=${answer} />`,
    )}</div>
    ${
      item.answers.some((answer) => answer.may_name_maker) &&
      html`<p class="note">A marked answer may
      say who gave it. Vote on what it says of the video.</p>`
    }
    <${ByStandard} said=${draft.standards} /><${NoteField} note=${draft.note} />`;
}

function CaseVideo({ state }) {
  const { item, task, ticket } = state;
  const { times, duration_s: duration, plays } = item.video;
  const control = useRef(null);
  const frameUrl = (place) => `api/annotate/${task}/frame/${ticket}/${place}`;
  if (!plays) {
    return html`<div class="player"><${FramePlayer} times=${times} duration=${duration}
      frameUrl=${frameUrl} /><p class="note tight">Browsers cannot play this video; these are
      frames of it.</p></div>`;
  }
  return html`<${Player} src=${`api/annotate/${task}/video/${ticket}`} times=${times}
    duration=${duration} frameUrl=${frameUrl} control=${control} />`;
}

function Answer({ side, answer }) {
  const name = `Answer ${side.toUpperCase()}`;
  return html`<article class=${`answer answer-${side}`} aria-label=${name}>
    <header><${Side} side=${side} /><b>${name}</b>${
      answer.may_name_maker && html`<${Flag} text="may name its maker" />`
    }</header><${Markdown} text=${answer.text} /></article>`;
}

/* The standards, folded away: a vote on them is welcome and not asked for. */

function ByStandard({ said }) {
  const choose = (standard, word) => {
    const { [standard]: before, ...others } = session.draft.standards;
    say({ standards: before === word ? others : { ...others, [standard]: word } });
  };
  const count = Object.keys(said).length;
  return html`<details class="by-standard" id="standards"><summary>Vote on each standard, too
    ${count > 0 && html` <span class="muted">· ${count} of ${STANDARDS.length}</span>`}</summary>
    <div class="four">${STANDARDS.map(
      ([key, name]) => html`<div key=${key}><b>${name}</b>
      <${Segments} label=${name} value=${said[key]} options=${BY_STANDARD}
        onChange=${(word) => choose(key, word)} /></div>`,
    )}</div></details>`;
}

function NoteField({ note }) {
  return html`<label class="note-field"><span>Note</span><input type="text" maxlength="2000"
    value=${note} placeholder="optional; stays with the vote" autocomplete="off"
    onInput=${(event) => say({ note: event.target.value })} /></label>`;
}

export function BattleBar({ state }) {
  const button = ([key, verdict, text]) => html`<button key=${key} class=${`vote vote-${verdict}`}
    onClick=${() => voteFor(verdict)}><kbd>${key}</kbd><span>${text}</span></button>`;
  return html`<div class="vote-bar" role="group" aria-label="Your vote">
    ${VOTES.map(button)}<${UndoButton} state=${state} /></div>`;
}

function UndoButton({ state }) {
  return html`<button class="vote undo" disabled=${!state.can_undo} onClick=${undo}>
    <kbd>u</kbd><span>Undo</span></button>`;
}

/* Opens or folds the standards, and goes there. */
export function toggleStandards() {
  const box = document.getElementById("standards");
  if (!box) return;
  box.open = !box.open;
  box.querySelector(box.open ? "button" : "summary").focus();
}

/* Questions on one video, put in order by how likely a real user would ask them. */
const RANKS = ["1st", "2nd", "3rd", "4th"];

/* Puts a question next in order, or takes it and all behind it out again. */
export function chooseQuestion(place) {
  const { state, draft } = session;
  const count = state.item.questions.length;
  if (place >= count) return;
  const at = draft.order.indexOf(place);
  const order = at < 0 ? [...draft.order, place] : draft.order.slice(0, at);
  if (at < 0 && order.length === count - 1) {
    order.push([...Array(count).keys()].find((other) => !order.includes(other)));
  }
  say({ order });
}

const isRanked = () => session.draft.order.length === session.state.item?.questions.length;

export function saveRanking() {
  if (!session.state.item || !isRanked()) return;
  const { order } = session.draft;
  vote({ ranks: order.map((_, place) => order.indexOf(place) + 1) });
}

export function RankingTask({ state, draft }) {
  const { item, ticket } = state;
  return html`<div class="case-grid"><${CaseVideo} key=${ticket} state=${state} />
      <div><p class="kicker">What the video shows</p>
        <p class="persona account" tabindex="0">
          <${Said} text=${item.account ?? "There is no account."} />
        </p>
      </div></div>
    <h1 class="page">Which would somebody who watches this really ask?</h1>
    <p class="muted how">Choose the likeliest question first, then the next; choose one again to
      take it back.</p>
    <ol class="questions" key=${ticket}>${item.questions.map(
      (text, place) => html`<${Choice}
      key=${place} place=${place} text=${text} rank=${draft.order.indexOf(place)} />`,
    )}</ol>
    <${NoteField} note=${draft.note} />`;
}

function Choice({ place, text, rank }) {
  return html`<li><button class=${`choice ${rank < 0 ? "" : "chosen"}`} aria-pressed=${rank >= 0}
    onClick=${() => chooseQuestion(place)}><kbd>${place + 1}</kbd><${Said} text=${text} />
    <span class="rank">${RANKS[rank] ?? ""}</span></button></li>`;
}

/* Once all are in order, Enter saves them wherever the focus was. */
export function RankingBar({ state }) {
  const save = useRef(null);
  const isDone = isRanked();
  useEffect(() => {
    if (isDone) save.current.focus({ preventScroll: true });
  }, [isDone]);
  return html`<div class="vote-bar" role="group" aria-label="Your ranking">
    <button ref=${save} class="vote vote-save" disabled=${!isDone} onClick=${saveRanking}>
      <kbd>Enter</kbd><span>Save this order</span></button>
    <button class="vote" onClick=${() => vote({ ranks: null })}><kbd>5</kbd>
      <span>Can’t tell</span></button><${UndoButton} state=${state} /></div>`;
}
