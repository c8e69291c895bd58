/* What was left out, and why: battles without a verdict, files that could not be used. */
const WITHOUT_VERDICT = ["void", "forfeit_a", "forfeit_b"];

function Missing() {
  const { status } = summary;
  const gone = sum(WITHOUT_VERDICT.map((verdict) => status.verdicts[verdict] ?? 0));
  const files = filesLeftOut(status);
  return html`<${Section} id="missing" kicker="Left out" says=${sentenceOf("missing")}>
    ${gone > 0 && html`<${BattlesLeftOut} status=${status} />`}
    ${files.length > 0 && html`<${FilesLeftOut} files=${files} />`}
    ${status.damage.map((text) => html`<p class="note"><${Said} text=${text} /></p>`)}
  </${Section}>`;
}

/* A file that was set aside is listed once, with the reason it was set aside for. */
function filesLeftOut({ quarantine, skipped }) {
  const aside = new Set(quarantine.map((file) => file.path));
  return [...quarantine, ...skipped.filter((file) => !aside.has(file.path))];
}

const BATTLE_COLUMNS = [
  ["What", ""],
  ["Why", ""],
  ["Battles", "right"],
];

function BattlesLeftOut({ status }) {
  const count = (n) => html`<span class="num">${whole(n)}</span>`;
  const voids = Object.entries(status.void_reasons).map(([reason, n]) => [
    html`<a href=${battlesLink({ verdict: "void" })}>Void</a>`,
    html`<${Said} text=${reason} />`,
    count(n),
  ]);
  const forfeits = Object.entries(status.forfeits).map(([model, n]) => [
    html`<a href=${battlesLink({ verdict: "forfeit" })}>Forfeit</a>`,
    html`<${Model} name=${model} /> gave no answer`,
    count(n),
  ]);
  return html`<${Table} label="Battles left out" cls="tight" columns=${BATTLE_COLUMNS}
    rows=${[...voids, ...forfeits]} />`;
}

const FILE_COLUMNS = [
  ["File", ""],
  ["Why it was not used", "broad"],
];

function FilesLeftOut({ files }) {
  const rows = files.map((file) => [
    html`<${Said} text=${file.path} />`,
    html`<${Said} text=${file.reason} />`,
  ]);
  return html`<${Table} label="Files left out" cls="tight" columns=${FILE_COLUMNS}
    rows=${rows} />`;
}
