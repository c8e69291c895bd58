/* The second task: questions on one video, put in order by how likely a real user would ask them.
   Where they come from stays hidden. */
const RANKS = ["1st", "2nd", "3rd", "4th"];

/* Puts a question next in order, or takes it and all behind it out again. */
function chooseQuestion(place) {
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

function saveRanking() {
  if (!session.state.item || !isRanked()) return;
  const { order } = session.draft;
  vote({ ranks: order.map((_, place) => order.indexOf(place) + 1) });
}

function RankingTask({ state, draft }) {
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
function RankingBar({ state }) {
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
