/* The start page of a folder: its runs, each with how far it has come. */
function Runs({ runs }) {
  const card = (run) => html`<${RunCard} key=${run.name} run=${run} />`;
  const none = html`<p class="muted">This folder holds no run.</p>`;
  return html`<header class="top"><${SkipLink} /><${Brand} href="?" />
    <span class="tools"><${ThemeButton} /></span></header>
    <main id="main" class="wide"><h1 class="page">Runs</h1>
    ${runs.length ? html`<ul class="cards">${runs.map(card)}</ul>` : none}</main>`;
}

function RunCard({ run }) {
  const inside = html`<span class="kicker">${stateOf(run)}</span>
    <b><bdi>${plain(run.name)}</bdi></b>${
      run.reason ? html`<span>${plain(run.reason)}</span>` : html`<${RunProgress} run=${run} />`
    }`;
  if (run.reason) return html`<li><div class="card">${inside}</div></li>`;
  return html`<li><a class="card" href=${`?run=${encodeURIComponent(run.id)}`}>${inside}</a></li>`;
}

function stateOf({ changed_s: changed, reason, running, settled, slots }) {
  if (reason) return "cannot be read";
  const state = running ? "being played" : settled < slots ? "stopped" : "complete";
  return `${state}${changed ? `, changed ${dated(changed)}` : ""}`;
}

function RunProgress({ run }) {
  const share = run.slots ? run.settled / run.slots : 0;
  return html`<span class="share-bar" aria-hidden="true">
      <i style=${{ width: `${100 * share}%` }}></i></span>
    <span class="muted"><span class="num">${whole(run.settled)}</span> of${" "}
      ${counted(run.slots, "battle")} between ${counted(run.models.length, "model")}</span>`;
}
