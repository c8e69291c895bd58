/* The first task: a video, a user, a question and two answers; nobody says who gave them. */
const VOTES = [
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

const voteFor = (verdict) => vote({ verdict, standards: session.draft.standards });

function BattleTask({ state, draft }) {
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

/* The four standards, folded away: a vote on them is welcome and not asked for. */
function ByStandard({ said }) {
  const choose = (standard, word) => {
    const { [standard]: before, ...others } = session.draft.standards;
    say({ standards: before === word ? others : { ...others, [standard]: word } });
  };
  const count = Object.keys(said).length;
  return html`<details class="by-standard" id="standards"><summary>Vote on the four standards, too
    ${count > 0 && html` <span class="muted">· ${count} of 4</span>`}</summary>
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

function BattleBar({ state }) {
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
function toggleStandards() {
  const box = document.getElementById("standards");
  if (!box) return;
  box.open = !box.open;
  box.querySelector(box.open ? "button" : "summary").focus();
}
