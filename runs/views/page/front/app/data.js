/* Where the data come from: blocks in this very file, files beside it, or the server that gave this
   page out. No other file knows which; each of `source`'s values is a promise, kept after the first
   call. */

import { once } from "./base.js";

const inlined = document.getElementById("summary");
const inFile = inlined !== null;
const inlineSummary = inFile ? JSON.parse(inlined.textContent) : null;
const parsed = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else addEventListener("DOMContentLoaded", done, { once: true });
});

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

/* Blocks that lie in files beside this one come as scripts, the only thing that a page from a disk
   may load; each hands its text over by its name. */
const awaited = new Map();
const BLOCK_NAME = /^(?:index|videos|part-\d+|sprite-[0-9a-f]{12})$/;

function siblingAddress(name) {
  if (!BLOCK_NAME.test(name)) throw new Error("no such block");
  return `${encodeURIComponent(inlineSummary.siblings)}/${name}.js`;
}

const siblingPolicy = once(() => {
  window.arenaBlock = (name, text) => awaited.get(name)?.(text);
  const rules = { createScriptURL: siblingAddress };
  return window.trustedTypes?.createPolicy("arena-siblings", rules) ?? rules;
});

function sibling(name) {
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    awaited.set(name, done);
    script.onerror = () => fail(new Error(`${siblingAddress(name)} is not beside this file`));
    script.src = siblingPolicy().createScriptURL(name);
    document.head.append(script);
  });
}

/* The text of an inert block; the big ones stand below the script, so they may still be coming. */
async function blockOf(name) {
  if (inlineSummary.siblings) return sibling(name);
  await parsed;
  return document.getElementById(name)?.textContent ?? null;
}

async function unpacked(name) {
  const text = await blockOf(name);
  if (text === null) throw new Error(`this file holds no ${name}`);
  const bytes = new Blob([bytesOf(text)]).stream();
  return new Response(bytes.pipeThrough(new DecompressionStream("gzip"))).json();
}

export const runName = new URLSearchParams(location.search).get("run");
const runQuery = runName === null ? "" : `?run=${encodeURIComponent(runName)}`;
const addressIn = (path) => `api/${path}${runQuery}`;

export const NO_SERVER = "the server does not answer; start arena view again";

async function asked(address) {
  const reply = await fetch(address, { cache: "no-store" }).catch(() => {
    throw new Error(NO_SERVER);
  });
  if (!reply.ok) throw new Error((await reply.text()).trim() || `the server said ${reply.status}`);
  return reply.json();
}

export const source = {
  isServed: !inFile,
  summary: once(async () => inlineSummary ?? asked(addressIn("summary"))),
  index: once(async () => indexed(await (inFile ? unpacked("index") : asked(addressIn("index"))))),
  videos: once(async () =>
    filmsOf(await (inFile ? unpacked("videos") : asked(addressIn("videos")))),
  ),
  part: once((number) =>
    inFile ? unpacked(`part-${number}`) : asked(addressIn(`part/${number}`)),
  ),
  sheet: once(async (video) => {
    if (!inFile) return addressIn(`sprite/${encodeURIComponent(video)}`);
    const text = await blockOf(`sprite-${video}`);
    return text && URL.createObjectURL(new Blob([bytesOf(text)], { type: "image/webp" }));
  }),
  /* Only a server has these; null in a file. */
  video: (video) => (inFile ? null : addressIn(`video/${encodeURIComponent(video)}`)),
  frame: (video, place) =>
    inFile ? null : addressIn(`frame/${encodeURIComponent(video)}/${place}`),
  events: () => (inFile ? null : new EventSource(addressIn("events"))),
  /* The runs of a folder; null where one run alone is shown. */
  async runs() {
    if (inFile || runName !== null) return null;
    return (await asked("api/runs")).runs;
  },
};

/* A video of which no frame was decoded has none that anybody saw. */
function filmsOf(videos) {
  for (const film of Object.values(videos)) {
    film.times ??= [];
    film.seen ??= {};
  }
  return videos;
}

/* What the columns do not say by themselves: places of ids, chains of questions, searched text. */
function indexed(index) {
  index.size = index.id.length;
  index.place = new Map(index.id.map((id, place) => [id, place]));
  index.text = index.question.map((text, place) => `${text} ${index.id[place]}`.toLowerCase());
  index.chains = new Map();
  for (let place = 0; place < index.size; place++) {
    const key = chainKey(index, place);
    if (!index.chains.has(key)) index.chains.set(key, []);
    index.chains.get(key).push(place);
  }
  for (const chain of index.chains.values()) {
    chain.sort((one, other) => index.round[one] - index.round[other]);
  }
  return index;
}

export const chainKey = (index, place) => `${index.video[place]}-${index.persona[place]}`;

export async function battleAt(place) {
  const index = await source.index();
  const number = Math.floor(place / index.chunk);
  return (await source.part(number))[place - number * index.chunk];
}

export async function* everyBattle() {
  const index = await source.index();
  for (let number = 0; number * index.chunk < index.size; number++) {
    yield* await source.part(number);
  }
}
