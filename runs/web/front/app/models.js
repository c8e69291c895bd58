/* All models, a card each. */
function Models() {
  useArrival(true);
  const at = ratingAxis();
  const card = (row) => html`<${ModelCard} key=${row.model} row=${row} at=${at} />`;
  const none = html`<p class="muted">No model has played yet.</p>`;
  return html`<main id="main" class="wide"><h1 class="page">Models</h1>
    ${!summary.models.length && none}<ul class="cards">${summary.models.map(card)}</ul></main>`;
}

function ModelCard({ row, at }) {
  const profile = own(summary.profiles, row.model);
  const cells = cellsOf(row.model);
  const standing = summary.words.standing[row.model];
  return html`<li><a class="card" href=${modelLink(row.model)} title=${nameOf(row.model)}>
    <span class="kicker num">${isKnown(row.rating) ? `rank ${cells.rank}` : "not rated"}</span>
    <b><bdi>${plain(shortOf(row.model, 60))}</bdi></b>
    <span class="num big">${cells.rating}</span>
    <${Plot} height=${22}><line class="base" x1="0" x2="100%" y1="11" y2="11" />
      <${Interval} at=${at} ...${intervalOf(row)} y=${11} /></${Plot}>
    <span class="muted"><${Sentence} parts=${standing} />${" "}
      ${profile && html`<${ThemeSentences} profile=${profile} />`}</span>
    </a></li>`;
}
