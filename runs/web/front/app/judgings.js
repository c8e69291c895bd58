/* Why a battle ended as it did: every judging with its reasons, standard by standard. */
const listedVerdicts = (battle) => new Set(battle.verdicts.map((judging) => judging.verdict));

function Judgings({ battle }) {
  const count = battle.verdicts.length;
  if (!count) return null;
  const agree = listedVerdicts(battle).size > 1 ? "which disagree" : "which agree";
  const one = (judging) => html`<${Judging} judging=${judging} battle=${battle} />`;
  const how = count === 1 ? "one judging" : `${count} judgings, ${agree}`;
  return html`<section class="judgings" aria-labelledby="why"><h2 id="why">Why <small>${how}</small>
    </h2><div class=${`judging-grid ${count > 1 ? "several" : ""}`}>
    ${battle.verdicts.map(one)}</div></section>`;
}

function Judging({ judging, battle }) {
  const isSwapped = judging.seats === "ba";
  const first = isSwapped ? "b" : "a";
  const reason = judging.reason || "It gave no reasons.";
  const bare = html`<p class="muted"><${Said} text=${reason} /></p>`;
  return html`<div class="judging">
    <p class="judging-head"><b><bdi>${plain(shortOf(judging.judge, 30))}</bdi></b> read${" "}
      <${Side} side=${first} /> <bdi>${plain(shortOf(battle[`model_${first}`], 30))}</bdi> first
      <span class="judging-verdict"><${Ahead} verdict=${judging.verdict} battle=${battle} />
      </span></p>
    ${isSwapped && html`<${SwapNote} battle=${battle} />`}
    ${judging.analyses ? html`<${Analyses} judging=${judging} battle=${battle} />` : bare}</div>`;
}

/* Its words keep the names of the seats it read, so a reader must know which is which. */
function SwapNote({ battle }) {
  const name = (side) => html`<b><bdi>${plain(shortOf(battle[`model_${side}`], 30))}</bdi></b>`;
  return html`<p class="swap-note">It read the answers in swapped order: in its words “A” and “B”
    mean ${name("b")} and ${name("a")}.</p>`;
}

function Ahead({ verdict, battle }) {
  if (!isWin(verdict)) return html`<${Chip} verdict=${verdict} />`;
  return html`for <${Side} side=${verdict} />${" "}
    <bdi>${plain(shortOf(battle[`model_${verdict}`], 30))}</bdi>`;
}

/* Who is ahead on one standard; a judge that left it open is said to have. */
function StandardChip({ verdict }) {
  if (verdict === "a" || verdict === "b") {
    return html`<span class="standard-chip"><${Side} side=${verdict} /> ahead</span>`;
  }
  const word = verdict === "tie" ? "level" : "left open";
  return html`<span class="standard-chip muted">${word}</span>`;
}

function Analyses({ judging, battle }) {
  const isAsked = judging.standards && Object.keys(judging.standards).length > 0;
  const row = ([key, name]) => html`<div key=${key}><dt>${name}
    ${isAsked && html`<${StandardChip} verdict=${judging.standards[key]} />`}</dt>
    <dd><${Said} as="div" text=${judging.analyses[key] ?? "–"} /></dd></div>`;
  const note = html`<p class="note tight">This run did not ask who is ahead on each standard.</p>`;
  return html`<dl class="standards">${STANDARDS.map(row)}</dl>
    ${!isAsked && isWin(battle.verdict) && note}`;
}
