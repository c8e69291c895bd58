/* A video that plays, its frames where it cannot, and a frame at full size. Any page may use this:
   `frameUrl(place)` is the address of the picture at `times[place]`. */

import { html } from "htm/preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { brief, clock } from "./numbers.js";
import { plain } from "./text.js";

export function Player({ src, times, duration, frameUrl, control }) {
  const [isBroken, setBroken] = useState(false);
  const video = useRef(null);
  useLayoutEffect(() => {
    const seek = (time) => {
      if (video.current) video.current.currentTime = time;
    };
    control.current = { seek };
    return () => {
      control.current = null;
    };
  }, [control]);
  if (isBroken) {
    const instead = times.length ? ", so its frames are shown instead" : "";
    return html`<div class="player"><${FramePlayer} times=${times} duration=${duration}
      frameUrl=${frameUrl} /><p class="note tight">This browser cannot play the
      video${instead}.</p></div>`;
  }
  /* Sound without a picture is not playing it: some browsers give up on the picture alone. */
  const check = () => video.current.videoWidth === 0 && setBroken(true);
  return html`<div class="player"><video ref=${video} controls muted playsinline preload="metadata"
    src=${src} aria-label="The video" onLoadedMetadata=${check}
    onError=${() => setBroken(true)}></video></div>`;
}

/* Frames one after another, in the time the video takes. */

export function FramePlayer({ times, duration, frameUrl }) {
  const [place, setPlace] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const last = times.length - 1;
  useEffect(() => {
    if (!isPlaying) return undefined;
    const next = () => setPlace((now) => Math.min(now + 1, last));
    const timer = setInterval(next, (1000 * (duration || times.length)) / times.length);
    return () => clearInterval(timer);
  }, [isPlaying, last]);
  useEffect(() => {
    if (place === last) setPlaying(false);
  }, [place]);
  if (last < 0) return html`<p class="no-frames">No frames of this video are recorded.</p>`;
  const play = () => {
    if (place === last) setPlace(0);
    setPlaying(!isPlaying);
  };
  const time = clock(times[place], duration);
  return html`<div class="frame-player"><img src=${frameUrl(place)} alt=${`frame at ${time}`} />
    <div class="frame-bar"><button onClick=${play}
      disabled=${!last}>${isPlaying ? "Pause" : "Play frames"}</button>
      <input type="range" aria-label="Frame" aria-valuetext=${time} min="0" max=${last}
        value=${place} onInput=${(event) => setPlace(Number(event.target.value))} />
      <span class="num">${time}</span></div></div>`;
}

/* One frame as large as the window allows; arrows go to the next one of the same reader. */
export function FrameDialog({ places, times, duration, place, name, frameUrl, move, close }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    box.current.showModal();
    return () => opener?.focus?.();
  }, []);
  const at = places.indexOf(place);
  const step = (by) => places[at + by] !== undefined && move(places[at + by]);
  const press = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) step(by);
  };
  const outside = (event) => event.target === box.current && box.current.close();
  const time = clock(times[place], duration);
  const button = (by, sign, label) => html`<button disabled=${places[at + by] === undefined}
    onClick=${() => step(by)} aria-label=${label}>${sign}</button>`;
  const of = `frame ${at + 1} of ${places.length} that`;
  return html`<dialog ref=${box} class="frame-dialog" aria-label=${`Frame at ${time}`}
    onClose=${close} onClick=${outside} onKeyDown=${press}>
    <img src=${frameUrl(place)} alt=${`frame at ${time}`} />
    <p><b class="num">${time}</b>${" "}
      <span class="muted">${of} <bdi>${plain(brief(name, 44))}</bdi> was sent</span>
      <span class="steps">${button(-1, "←", "Frame before")}${button(1, "→", "Next frame")}
      <button onClick=${() => box.current.close()}>Close</button></span></p></dialog>`;
}
