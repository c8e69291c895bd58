/* The chain of questions that one user of one video asked, from the first. */
const EVOLVED_NOTE =
  "The bar is difficulty, 1 to 5. Each question is made from the faults of the answers before " +
  "it; one that is no harder is refused.";

function Lineage({ chain, now }) {
  const isEvolved = chain.length > 1 || chain[0]?.evolution.length > 0;
  const note = isEvolved
    ? EVOLVED_NOTE
    : "The only question of this user; none was made out of it.";
  const step = (one, place) => html`<${LineageStep} key=${one.id} battle=${one}
    isNow=${one.id === now} before=${chain[place - 1]} />`;
  return html`<aside class="lineage" aria-label="Lineage of the question" tabindex="0">
    <h2>Lineage</h2><ol>${chain.map(step)}</ol><p class="note tight">${note}</p></aside>`;
}

function LineageStep({ battle, isNow, before }) {
  const origin = battle.origin ?? "none";
  const question = clip(battle.question ?? "no question", 130);
  return html`<li class=${`step ${isNow ? "now" : ""} from-${origin}`}>
    <${CameFrom} battle=${battle} before=${before} />
    <a href=${battleLink(battle.id)} aria-current=${isNow ? "true" : null}>
      <span class="step-top"><b>${titled(roundName(battle.round))}</b>${" "}
        <span class="muted">${origin}</span>
        ${isKnown(battle.difficulty) && html`<${Grade} grade=${battle.difficulty} />`}</span>
      <span class="step-question"><${Said} text=${question} /></span>
      <span class="step-who"><${Outcome} verdict=${battle.verdict} most=${24} a=${battle.model_a}
        b=${battle.model_b} /> <${Chip} verdict=${battle.verdict} /></span></a></li>`;
}

/* What led to a question: attempts that were refused, the fault it was made of, or neither. */
function CameFrom({ battle, before }) {
  const passed = battle.evolution.find((step) => step.accepted);
  const refused = battle.evolution.filter((step) => !step.accepted);
  const why = refused.length ? ", since no harder one was found" : "";
  const because = html`<p class="because"><${Because} step=${passed} before=${before} /></p>`;
  return html`${refused.map((step) => html`<${Refused} step=${step} />`)}
    ${passed && before && because}
    ${battle.origin === "fresh" && html`<p class="because muted">Asked afresh${why}.</p>`}`;
}

function Refused({ step }) {
  return html`<p class="refused"><span class="cross" aria-hidden="true">×</span> refused,${" "}
    <span class="num">${fixed(step.new?.overall)}</span> after${" "}
    <span class="num">${fixed(step.old?.overall)}</span>:${" "}
    <s><${Said} text=${clip(step.question ?? "", 70)} /></s></p>`;
}

/* The first fault that the new question was made of, and whose it was. */
function Because({ step, before }) {
  const faults = [...step.faults_a, ...step.faults_b];
  if (!faults.length) {
    return html`<span class="muted">No fault was found; made harder all the same.</span>`;
  }
  const side = step.faults_a.length ? "a" : "b";
  const isBoth = step.faults_a.length > 0 && step.faults_a[0] === step.faults_b[0];
  const who = isBoth ? "Both" : shortOf(before[`model_${side}`], 24);
  const more = faults.length - (isBoth ? 2 : 1);
  return html`<bdi>${plain(who)}</bdi>: <${Said} text=${clip(faults[0], 160)} />
    ${more > 0 && html` <span class="muted">and ${more} more</span>`}`;
}
