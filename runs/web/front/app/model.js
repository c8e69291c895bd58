/* One model: where it stands, what goes wrong, whom it met, battles to look at. */
function ModelPage({ name }) {
  const row = rowOf(name);
  const index = useData(() => source.index());
  const films = useData(() => source.videos());
  useArrival(index !== null && films !== null);
  if (!row) {
    return html`<main id="main" class="wide"><h1 class="page">No such model</h1>
      <p>There is none with the name <code><${Said} text=${clip(name, 200)} /></code>.${" "}
      <a class="plain" href="#models">All models</a></p></main>`;
  }
  const profile = own(summary.profiles, name) ?? emptyProfile(name);
  const looks = index && films && !index.failed && !films.failed ? { index, films } : null;
  return html`<main id="main" class="wide profile"><${ModelHead} row=${row} profile=${profile} />
    <div class="panels two wide-left"><${WhatGoesWrong} profile=${profile} looks=${looks} />
      <${WhomItMet} profile=${profile} /></div>
    <div class="panels two">
      <section><h2>Telling wins <small>over the strongest, on the hardest questions</small></h2>
        <${BattleList} ids=${profile.wins} looks=${looks} /></section>
      <section><h2>Telling losses <small>to the weakest</small></h2>
        <${BattleList} ids=${profile.losses} looks=${looks} /></section></div></main>`;
}

const emptyProfile = (model) => ({
  model,
  looked_at: 0,
  themes: [],
  wins: [],
  losses: [],
  opponents: [],
});

function ModelHead({ row, profile }) {
  const figures = [
    ["Win %", cellsOf(row.model).win_rate],
    ["Frames it is sent", whole(row.max_frames)],
    ["Tokens an answer", whole(row.mean_tokens?.value)],
    ["Median wait", waited(row.latency_s?.median)],
    ["Cost an answer", money(ratio(row.cost_usd, row.answers))],
    ["Refused", percent(row.refusal_share?.value)],
    ["Forfeits", whole(row.forfeits)],
  ];
  const figure = ([name, value]) => html`<div><dt>${name}</dt><dd class="num">${value}</dd></div>`;
  return html`<div class="battle-head"><div class="crumbs"><a href="#models">Models</a>
      <span class="slash">/</span><code>${plain(row.served ?? row.model)}</code></div>
    <h1 class="page"><bdi>${plain(nameOf(row.model))}</bdi></h1>
    <p class="rest"><${Sentence} parts=${summary.words.standing[row.model]} />${" "}
      <${ThemeSentences} profile=${profile} />
      ${row.flags.map((text) => html` <${Flag} text=${text} />`)}</p>
    <dl class="figures">${figures.map(figure)}</dl></div>`;
}

/* A bar an opponent: won, tied, lost, in the order of the ladder. */
const MET_PARTS = [
  { key: "wins", name: "won", cls: "part-blue" },
  { key: "ties", name: "tied", cls: "part-grey" },
  { key: "losses", name: "lost", cls: "part-orange" },
];

function WhomItMet({ profile }) {
  const place = new Map(summary.models.map((row, k) => [row.model, k]));
  const met = [...profile.opponents].sort((p, q) => place.get(p.model) - place.get(q.model));
  const row = (one) => html`<${MetRow} key=${one.model} model=${profile.model} rival=${one} />`;
  const none = html`<p class="muted">Nobody yet, in a battle that was decided.</p>`;
  const bars = html`<div>${met.map(row)}</div><${Legend} rows=${MET_PARTS} />`;
  return html`<section><h2>Whom it met</h2>${met.length ? bars : none}</section>`;
}

function MetRow({ model, rival }) {
  const count = rival.wins + rival.ties + rival.losses;
  const parts = MET_PARTS.map((part) => ({ ...part, n: rival[part.key] }));
  return html`<a class="met-row" title=${nameOf(rival.model)}
    href=${battlesLink({ model, rival: rival.model })}>
    <span><bdi>${plain(shortOf(rival.model, 22))}</bdi></span>
    <${Parts} total=${count} parts=${parts} /><span class="num right">${count}</span></a>`;
}

function BattleList({ ids, looks }) {
  if (!ids.length) return html`<p class="muted">None.</p>`;
  if (!looks) return null;
  const places = ids.map((id) => looks.index.place.get(id)).filter(isKnown);
  return html`<${Examples} ...${looks} places=${places} />`;
}
