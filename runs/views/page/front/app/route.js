/* The address says which page is shown; where a page was scrolled to comes back with it. */

import { useLayoutEffect } from "preact/hooks";

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function routeOf(hash) {
  const text = hash.replace(/^#/, "");
  if (text.startsWith("battle=")) return { page: "battle", id: decoded(text.slice(7)) };
  if (text.startsWith("model=")) return { page: "model", id: decoded(text.slice(6)) };
  if (/^battles(\?|$)/.test(text)) {
    return { page: "battles", query: new URLSearchParams(text.slice(8)) };
  }
  if (text === "models") return { page: "models" };
  const part = text.startsWith("report/") ? text.slice(7) : null;
  return { page: "report", part };
}

/* Where the page that is about to be drawn should start: a height for one come back to, else a
   part of it or its top. `isDue` until a page that has its data has gone there. */
const arrival = { y: null, part: null, isDue: true };
const heights = new Map();
let entry = 0;
let newestEntry = 0;

/* An entry of the history without a number was not there before: a link was followed. */
export function arrive() {
  heights.set(entry, scrollY);
  const old = history.state?.entry;
  entry = old ?? ++newestEntry;
  if (old === undefined) history.replaceState({ entry }, "");
  const y = old === undefined ? null : (heights.get(old) ?? null);
  Object.assign(arrival, { y, part: routeOf(location.hash).part ?? null, isDue: true });
}

/* A reload keeps its place too. */
export function startHistory() {
  history.scrollRestoration = "manual";
  newestEntry = entry = history.state?.entry ?? 0;
  const y = history.state?.y ?? null;
  Object.assign(arrival, { y, part: routeOf(location.hash).part ?? null, isDue: true });
  history.replaceState({ entry }, "");
  addEventListener("pagehide", () => history.replaceState({ entry, y: scrollY }, ""));
}

/* Goes to where the page should start, once it has what it draws. */
export function useArrival(isReady, start = 0) {
  useLayoutEffect(() => {
    if (!isReady || !arrival.isDue) return;
    arrival.isDue = false;
    const part = arrival.y === null && arrival.part && document.getElementById(arrival.part);
    if (part) part.scrollIntoView();
    else scrollTo(0, arrival.y ?? start);
  });
}

/* Puts another address in place of this one, as filters do: going back skips the steps between. */
export function replaceAddress(hash) {
  history.replaceState({ entry }, "", hash);
  dispatchEvent(new Event("arena-route"));
}
