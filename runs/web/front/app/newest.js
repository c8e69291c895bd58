/* While a run goes on: the battles that were decided last. */
const NEWEST = 6;

function Newest({ index, films }) {
  if (!summary.live || !index?.size || !films || films.failed) return null;
  const places = Array.from({ length: index.size }, (_, place) => place);
  const last = places.slice(-NEWEST).reverse();
  const says = summary.live.running ? "The newest battles, as they come in." : "The last battles.";
  return html`<${Section} id="newest" kicker="Newest battles" says=${says}>
    <${Examples} index=${index} films=${films} places=${last} /></${Section}>`;
}
