/* The start page of a folder: its runs, each with how far it has come. */
function Runs({ runs }) {
  return html`<header class="top"><${SkipLink} /><${Brand} href="?" />
    <span class="tools"><${ThemeButton} /></span></header>
    <main id="main" class="wide"><h1 class="page">Runs</h1>
    ${
      runs.length
        ? html`<ul class="cards runs">${runs.map(
            (run) => html`<${RunCard}
      key=${run.name} run=${run} />`,
          )}</ul>`
        : html`<p class="muted">This folder holds no run.</p>`
    }
    </main>`;
}

function RunCard({ run }) {
  const share = run.slots ? run.settled / run.slots : 0;
  const state = run.running ? "running" : run.settled < run.slots ? "stopped" : "complete";
  const leader = run.leader
    ? html`<bdi>${plain(brief(run.leader, 44))}</bdi> leads`
    : "no leader yet";
  return html`<li><a class="card" href=${`?run=${encodeURIComponent(run.name)}`}>
    <span class="kicker">${[dated(run.began_s), state].filter(Boolean).join(" · ")}</span>
    <b><bdi>${plain(run.name)}</bdi></b>
    <span class="share-bar" aria-hidden="true"><i style=${{ width: `${100 * share}%` }}></i></span>
    <span class="muted"><span class="num">${whole(run.settled)}</span> of ${" "}
      ${counted(run.slots, "battle")}; ${leader}</span></a></li>`;
}
