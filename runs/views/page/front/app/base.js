/* What every page is built from: hooks, values that load, files to save. Any page may use this. */

import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/* Each result of `make`, kept by its key after the first call; where a promise broke, the next call
   tries again. `drop` forgets what fits a test. */

export function once(make) {
  const kept = new Map();
  const get = (key = "") => {
    if (!kept.has(key)) {
      const made = make(key);
      kept.set(key, made);
      made?.catch?.(() => kept.get(key) === made && kept.delete(key));
    }
    return kept.get(key);
  };
  get.drop = (fits = () => true) => {
    for (const key of [...kept.keys()]) if (fits(key)) kept.delete(key);
  };
  return get;
}

/* Draws a page in the place of the line that said it was loading. */
export function draw(page) {
  const place = document.getElementById("app");
  place.replaceChildren();
  render(page, place);
}

/* What went wrong, in the words of whoever noticed. */
export const messageOf = (error) => String(error?.message ?? error);

/* A promise's value once it is there; null until then, {failed} where it broke.
   New keys clear the value at once; a new version keeps the old one until the next has come. */
export function useLoaded(make, keys, version = 0) {
  const [held, hold] = useState({ keys: null, value: null });
  const current = held.keys?.every((key, place) => key === keys[place]);
  useEffect(() => {
    let wanted = true;
    const put = (value) => wanted && hold({ keys, value });
    Promise.resolve()
      .then(make)
      .then(put, (error) => put({ failed: messageOf(error) }));
    return () => {
      wanted = false;
    };
  }, [...keys, version]);
  return current ? held.value : null;
}

/* Calls `act` on events of the window; `act` is always the newest, so it sees state as it is.
   It listens before anything is painted: a server may answer sooner than that. */
export function useWindowEvent(name, act) {
  const newest = useRef(act);
  newest.current = act;
  useLayoutEffect(() => {
    const listen = (event) => newest.current(event);
    addEventListener(name, listen, { passive: name === "scroll" });
    return () => removeEventListener(name, listen);
  }, [name]);
}

/* Hands a file made here to the person who asked for it. */
export function save(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* What an object from the data holds by a key from the data, which may be `constructor`. */
export const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);

export const isNarrow = () => matchMedia("screen and (max-width: 720px)").matches;
