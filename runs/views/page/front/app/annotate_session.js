/* What the server said last, and what may be sent to it. Keys and buttons read this, not what was
   drawn a moment ago, so that nothing is sent twice. */

import { useState } from "preact/hooks";
import { useWindowEvent } from "./base.js";

export const TASKS = ["battle", "ranking"];
const UNSAVED = "The server does not answer. Votes so far are saved; start arena annotate again.";
const ALREADY = "That was voted on already, perhaps in another tab. This is what is out now.";
/* A key pressed twice must not vote on what nobody has seen yet. */
const SETTLED_MS = 700;
const NOTHING_SAID = { standards: {}, note: "", order: [] };

export const session = {
  state: null,
  error: null,
  isSending: false,
  shownAt: 0,
  draft: NOTHING_SAID,
  last: NOTHING_SAID,
};

function changed() {
  dispatchEvent(new Event("annotate-state"));
}

function put(change) {
  Object.assign(session, change);
  changed();
}

export function say(part) {
  put({ draft: { ...session.draft, ...part } });
}

/* Shows what is out now; a draft lasts as long as its battle. */
function take(state, error = null) {
  const isNew = state.ticket !== session.state?.ticket;
  const draft = isNew ? NOTHING_SAID : session.draft;
  const shownAt = isNew ? performance.now() : session.shownAt;
  put({ state, error, draft, shownAt });
  if (isNew) scrollTo(0, 0);
}

async function answered(path, body) {
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, { cache: "no-store", ...options });
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  const found = isJson ? await response.json() : { error: (await response.text()).trim() };
  return { status: response.status, found };
}

/* Which task the address names. */
const taskNow = () => (location.hash === "#questions" ? "ranking" : "battle");

/* Asks for what is out. An answer that comes when another task is wanted by now is passed over. */
export async function load() {
  const task = taskNow();
  try {
    const { status, found } = await answered(`api/annotate/${task}`);
    if (task !== taskNow()) return;
    if (status === 200) take(found);
    else put({ error: found.error });
  } catch {
    put({ error: UNSAVED });
  }
}

/* Sends a vote or takes one back; true where it counted. */
async function send(what, body) {
  const { state } = session;
  const isSettled = performance.now() - session.shownAt >= SETTLED_MS;
  if (!state || session.isSending || !isSettled) return false;
  put({ isSending: true, error: null });
  try {
    const path = `api/annotate/${state.task}/${what}`;
    const { status, found } = await answered(path, { ticket: state.ticket, ...body });
    if (found.error) put({ error: found.error });
    else if (found.task === taskNow()) take(found, status === 409 ? ALREADY : null);
    return status === 200;
  } catch {
    put({ error: UNSAVED });
    return false;
  } finally {
    put({ isSending: false });
  }
}

/* A note may have half a character in it, which no JSON reader takes. */
const wellFormed = (text) => text.toWellFormed?.() ?? text;

export async function vote(body) {
  if (!session.state?.item) return;
  const said = session.draft;
  if (await send("vote", { ...body, note: wellFormed(said.note) })) put({ last: said });
}

/* Takes the last vote back, and what was said with it comes back, too. */
export async function undo() {
  if (!session.state?.can_undo) return;
  const said = session.last;
  if (await send("undo", {})) put({ draft: said, last: NOTHING_SAID });
}

/* The session as it is now, drawn again whenever it changes. */
export function useSession() {
  const [, redraw] = useState(0);
  useWindowEvent("annotate-state", () => redraw((n) => n + 1));
  return session;
}
