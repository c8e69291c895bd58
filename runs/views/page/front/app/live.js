/* A page that is served follows its run: events of the server renew the data, the page stays where
   it is. A component asks by `useData`, which keeps its value until the newer one has come. */

import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { messageOf, useLoaded, useWindowEvent } from "./base.js";
import { NO_SERVER, source } from "./data.js";
import { putSummary, summary } from "./names.js";
import { counted, isKnown, money, roughly, whole } from "./numbers.js";

const data = { version: 0, error: null };
export const useData = (make, keys = []) => useLoaded(make, keys, data.version);
const PAUSE_MS = 2000;
const PAUSE_OF_MANY_MS = 10000;
const MANY = 1000;

function changed() {
  data.version++;
  dispatchEvent(new Event("arena-data"));
}

/* Forgets what may have changed from a battle on, and loads it anew before anything is redrawn. */

async function renew(from) {
  const { chunk } = await source.index();
  source.summary.drop();
  source.index.drop();
  source.videos.drop();
  source.part.drop((number) => number >= Math.floor(from / chunk));
  const [newest] = await Promise.all([source.summary(), source.index(), source.videos()]);
  // Events may have come while it was on its way.
  if (newest.live && summary.live?.settled > newest.live.settled) newest.live = summary.live;
  putSummary(newest);
  changed();
}

/* Gathers events until the pause is over, so that a fast run does not keep the page loading. */
export function follow() {
  const events = source.events();
  if (!events) return;
  let from = Infinity;
  let timer = null;
  const act = async () => {
    const start = from;
    from = Infinity;
    data.error = await renew(start).then(() => null, messageOf);
    if (data.error) changed();
    timer = null;
    if (from !== Infinity) plan(from);
  };
  const plan = (start) => {
    from = Math.min(from, start);
    const pause = summary.status.settled > MANY ? PAUSE_OF_MANY_MS : PAUSE_MS;
    if (timer === null) timer = setTimeout(act, pause);
  };
  events.addEventListener("error", () => putError(NO_SERVER));
  events.addEventListener("open", () => putError(null));
  events.addEventListener("summary", (event) => putLive(JSON.parse(event.data)));
  events.addEventListener("battles", (event) => plan(JSON.parse(event.data).from));
  events.addEventListener("end", () => {
    events.close();
    if (summary.live?.running) plan(0);
    putLive({ running: false });
  });
}

function putError(error) {
  data.error = error;
  dispatchEvent(new Event("arena-live"));
}

function putLive(figures) {
  summary.live = { ...summary.live, ...figures };
  dispatchEvent(new Event("arena-live"));
}

function leftOf(live) {
  if (!live.running)
    return live.settled < live.slots ? "not being played now" : "played to its end";
  return isKnown(live.eta_s) ? `${roughly(live.eta_s)} left` : "time left not known yet";
}

const sumOf = (machines, name) => machines.reduce((sum, one) => sum + one[name], 0);

function standOf(machines) {
  const [workers, flying, calls, lost] = ["workers", "under_way", "calls", "lost"].map((name) =>
    sumOf(machines, name),
  );
  const stand = `${counted(workers, "worker")}, ${counted(flying, "call")} in flight`;
  const loss = lost > 0 && html`, <em class="loud">${counted(lost, "worker")} lost</em>`;
  return html`${stand}, ${whole(calls)} finished${loss}`;
}

/* The machines of a cluster in a line; of several, each in a table to be opened. */
function MachinesStrip({ machines }) {
  if (machines.length === 1)
    return html`<p class="on-machines">on ${machines[0].node}: ${standOf(machines)}</p>`;
  const ordered = [...machines].sort((a, b) => b.lost - a.lost);
  return html`<details class="on-machines">
    <summary>on ${counted(machines.length, "machine")}: ${standOf(machines)}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Machines"><table>
      <thead><tr><th>Machine</th><th>Workers</th><th>In flight</th><th>Finished</th>
        <th>Lost</th></tr></thead>
      <tbody>${ordered.map(
        (one) => html`<tr key=${one.node}><td class="machine">${one.node}</td>
          ${["workers", "under_way", "calls"].map(
            (name) => html`<td class="num">${whole(one[name])}</td>`,
          )}
          <td class="num">${one.lost ? html`<em class="loud">${whole(one.lost)}</em>` : "0"}</td>
        </tr>`,
      )}</tbody>
    </table></div>
  </details>`;
}

/* A slim line at the top: how far the run has come, and on which machines. */
export function ProgressStrip() {
  const [, redraw] = useState(0);
  useWindowEvent("arena-live", () => redraw((n) => n + 1));
  const live = summary?.live;
  if (!live) return null;
  const share = live.slots ? live.settled / live.slots : 0;
  const spent = isKnown(live.spent_usd) && live.spent_usd > 0 ? `, ${money(live.spent_usd)}` : "";
  return html`<div class=${`strip-live ${live.running ? "running" : ""}`}>
    <i style=${{ width: `${100 * share}%` }}></i>
    <p role="status"><b class="num">${whole(live.settled)}</b> of${" "}
      ${counted(live.slots, "battle")} ·${" "}
      ${leftOf(live)}${spent}${data.error && html` · <em class="loud">${data.error}</em>`}</p>
    ${live.running && live.cluster && html`<${MachinesStrip} machines=${live.cluster.machines} />`}
  </div>`;
}
