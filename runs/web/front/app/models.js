/* All models, a card each. */
function Models() {
  useArrival(true);
  const at = ratingScale(summary.models);
  return html`<main id="main" class="wide"><h1 class="page">Models</h1>
    ${!summary.models.length && html`<p class="muted">No model has played yet.</p>`}
    <ul class="cards">${summary.models.map(
      (row) => html`<${ModelCard} key=${row.model} row=${row}
      at=${at} />`,
    )}</ul></main>`;
}

function ModelCard({ row, at }) {
  const isRated = isKnown(row.rating);
  const profile = summary.profiles[row.model];
  return html`<li><a class="card" href=${modelLink(row.model)} title=${nameOf(row.model)}>
    <span class="kicker num">${isRated ? `rank ${ranksOf(row)}` : "not rated"}</span>
    <b><bdi>${plain(shortOf(row.model, 60))}</bdi></b>
    <span class="num big">${whole(row.rating)}</span>
    <${Plot} height=${22}><line class="base" x1="0" x2="100%" y1="11" y2="11" />
      <${Interval} at=${at} value=${row.rating} low=${row.low} high=${row.high} y=${11} /></${Plot}>
    <span class="muted">${isRated && `${percent(row.win_rate)} won of `}${counted(
      row.battles,
      "battle",
    )}. ${profile && html`<${ThemeSentences} profile=${profile} />`}</span></a></li>`;
}
