/* What was wrong with the answers of a battle, and what came of it. */
function Faults({ battle, step, next }) {
  const box = (side) => html`<${FaultBox} key=${side} side=${side} step=${step}
    model=${battle[`model_${side}`]} />`;
  return html`<section class="wrong" aria-labelledby="wrong"><h2 id="wrong">What was wrong with the
    answers <small>written down to make the next question</small></h2>
    <div class="answers">${["a", "b"].map(box)}</div>
    <${LedTo} step=${step} next=${next} /></section>`;
}

function FaultBox({ side, step, model }) {
  const faults = step[`faults_${side}`];
  const weaknesses = step[`weaknesses_${side}`];
  const fault = (text) => html`<li><${Said} as="div" text=${text} /></li>`;
  const weakness = (text, place) => html`${place > 0 && "; "}<${Said} text=${text} />`;
  const behind = html`<p class="behind-it"><span class="muted">Behind it:</span>${" "}
    ${weaknesses.map(weakness)}</p>`;
  const none = html`<p class="muted">Nothing was found.</p>`;
  return html`<div class=${`fault-box answer-${side}`}>
    <header><${Side} side=${side} /> <${Model} name=${model} /></header>
    ${faults.length ? html`<ul>${faults.map(fault)}</ul>` : none}
    ${weaknesses.length > 0 && behind}</div>`;
}

function LedTo({ step, next }) {
  const grade = (graded) => html`<b class="num">${fixed(graded?.overall)}</b>`;
  if (!step.accepted) {
    return html`<p class="led-to">The question made of it was refused: ${grade(step.new)} is no
      harder than ${grade(step.old)}.</p>`;
  }
  const link = html`<a class="plain" href=${battleLink(next.id)}>${roundName(next.round)}</a>`;
  return html`<p class="led-to">Led to ${link}, graded ${grade(step.new)} after${" "}
    ${grade(step.old)}.</p>`;
}

const TOOK_COLUMNS = [
  ["Role", ""],
  ["Who", ""],
  ["Calls", "right"],
  ["Read", "right"],
  ["Wrote", "right"],
  ["Waited", "right"],
  ["Cost", "right"],
];

/* Calls, tokens, time and money of one battle; a sum with something unknown in it is unknown. */
function Took({ battle }) {
  const rows = Object.entries(battle.took ?? {});
  if (!rows.length) return null;
  const total = (key) =>
    rows.every(([, row]) => isKnown(row[key])) ? sum(rows.map(([, row]) => row[key])) : null;
  const tokens = isKnown(total("in")) && isKnown(total("out")) ? total("in") + total("out") : null;
  const num = (text) => html`<span class="num">${text}</span>`;
  const cells = rows.map(([who, row]) => [
    titled(who.slice(0, who.indexOf(":"))),
    html`<bdi>${plain(shortOf(who.slice(who.indexOf(":") + 1), 40))}</bdi>`,
    num(whole(row.calls)),
    num(whole(row.in)),
    num(whole(row.out)),
    num(waited(row.s)),
    num(money(row.usd)),
  ]);
  const calls = counted(total("calls"), "call");
  return html`<details class="took"><summary>What this battle took: ${calls},${" "}
    ${whole(tokens)} tokens, ${waited(total("s"))}, cost ${money(total("usd"))}</summary>
    <${Table} label="Calls of this battle" cls="tight" columns=${TOOK_COLUMNS} rows=${cells} />
    </details>`;
}
