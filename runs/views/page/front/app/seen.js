/* Who saw which frames of a battle's video: a lane each on one axis of time, which is also the
   switch. Where the video is served it plays above, and a tick opens its frame at full size. */

import { html } from "htm/preact";
import { useRef, useState } from "preact/hooks";
import { own, useWindowEvent } from "./base.js";
import { Side } from "./bits.js";
import { Axis, Plot, scale, Upright } from "./charts.js";
import { source } from "./data.js";
import { Thumb } from "./list.js";
import { nameOf } from "./names.js";
import { brief, clock, counted, fixed, known } from "./numbers.js";
import { FrameDialog, Player } from "./player.js";
import { plain } from "./text.js";

const FEW_THUMBS = 72;
const READERS = ["a", "b", "judge"];

/* The places of the frames that a contestant or a role was sent. A role that several models play,
   and a contestant with a role's name, stand with both. */

export function seenBy(film, role, name) {
  const alone = role === "contestant" ? name : role;
  return own(film.seen, `${role} ${name}`) ?? own(film.seen, alone) ?? [];
}

/* Of every reader: its side, its name, the places of its frames among the video's. */
function lanesOf(battle, film) {
  const ofModel = (side) => {
    const name = battle[`model_${side}`];
    const isSent = battle[`answer_${side}`] !== null;
    return {
      key: side,
      name: nameOf(name),
      places: isSent ? seenBy(film, "contestant", name) : [],
    };
  };
  return [
    ofModel("a"),
    ofModel("b"),
    { key: "judge", name: "the judge", places: seenBy(film, "judge", battle.verdicts[0]?.judge) },
  ];
}

export function Seen({ battle, film }) {
  const lanes = lanesOf(battle, film);
  const [who, setWho] = useState(lanes[0].places.length <= lanes[1].places.length ? "a" : "b");
  const [hot, setHot] = useState(null);
  const [opened, setOpened] = useState(null);
  const player = useRef(null);
  useWindowEvent("arena-frames", () =>
    setWho((now) => READERS[(READERS.indexOf(now) + 1) % READERS.length]),
  );
  const lane = lanes.find((one) => one.key === who);
  const src = source.video(battle.video);
  const frameUrl = (place) => source.frame(battle.video, place);
  /* A tick shows its frame and takes the video there. */
  const open = (key, place) => {
    setWho(key);
    player.current?.seek(film.times[place]);
    setOpened(place);
  };
  const opens = src ? open : null;
  const frames = { times: film.times, duration: film.duration_s, frameUrl };
  const video = html`<${Player} src=${src} control=${player} ...${frames} />`;
  const dialog = html`<${FrameDialog} places=${lane.places} place=${opened} name=${lane.name}
    move=${(place) => open(who, place)} close=${() => setOpened(null)} ...${frames} />`;
  return html`<section class="seen" aria-label="Frames that each saw">${src && video}
    <${Lanes} lanes=${lanes} film=${film} who=${who} hot=${hot} pick=${setWho} open=${opens} />
    <${Sheet} key=${who} lane=${lane} battle=${battle} film=${film} hot=${setHot}
      open=${opens && ((place) => open(who, place))} />
    ${opened !== null && dialog}</section>`;
}

function Lanes({ lanes, film, who, hot, pick, open }) {
  const duration = film.duration_s || film.times.at(-1) || 1;
  const at = scale(0, duration);
  const bare = (time) => clock(time, duration).replace(/\.0+(?= s|$)/, "");
  const row = (lane) => html`<${Lane} key=${lane.key} lane=${lane} times=${film.times} at=${at}
    isOn=${who === lane.key} hot=${hot} pick=${() => pick(lane.key)}
    open=${open && ((place) => open(lane.key, place))} />`;
  return html`<div class="lanes" role="group" aria-label="Whose frames are shown">
    ${lanes.map(row)}<div class="lane-axis">
    <${Axis} at=${at} ticks=${at.ticks(6)} format=${bare} /></div></div>`;
}

function Lane({ lane, times, at, isOn, hot, pick, open }) {
  const tick = (place) => {
    const isHot = hot === place;
    return html`<${Upright} at=${at} x=${times[place]} from=${isHot ? 1 : 5} to=${isHot ? 21 : 17}
      cls=${`frame ${isHot ? "hot" : ""}`} />`;
  };
  const plot = html`<${Plot} height=${22}><line class="base" x1="0" x2="100%" y1="11" y2="11" />
    ${lane.places.map(tick)}</${Plot}>`;
  const ticks = html`<${LaneTicks} lane=${lane} times=${times} at=${at} open=${open}
    plot=${plot} />`;
  const sign = lane.key === "judge" ? "j" : lane.key;
  return html`<div class=${`lane lane-${sign} ${isOn ? "on" : ""}`}>
    <button class="lane-name cut" aria-pressed=${isOn} onClick=${pick}><${Side} side=${sign} />
      ${" "}<bdi>${plain(brief(lane.name, 24))}</bdi></button>
    ${open && lane.places.length ? ticks : html`<span class="lane-plot">${plot}</span>`}
    <span class="lane-count num">${lane.places.length}<span class="hidden"> frames</span></span>
    </div>`;
}

/* The tick nearest to where the lane was clicked; its first where a key pressed it. */
function LaneTicks({ lane, times, at, open, plot }) {
  const choose = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = event.detail === 0 ? 0 : (100 * (event.clientX - box.left)) / box.width;
    const gap = (place) => Math.abs(at(times[place]) - x);
    open(lane.places.reduce((best, place) => (gap(place) < gap(best) ? place : best)));
  };
  return html`<button class="lane-plot" onClick=${choose}
    aria-label=${`Open a frame that ${lane.name} was sent`}>${plot}</button>`;
}

const acrossOf = (frames) => [4, 16, 72].findIndex((most) => frames <= most);
const ACROSS = { 0: 4, 1: 8, 2: 12, [-1]: 16 };

/* The frames of one reader as a contact sheet, each with its time. */
function Sheet({ lane, battle, film, hot, open }) {
  const [isWhole, setWhole] = useState(false);
  const { places } = lane;
  if (!places.length) return html`<${NoFrames} lane=${lane} battle=${battle} film=${film} />`;
  const drawn = film.sprite ? places.filter((place) => film.sprite.of.includes(place)) : [];
  const shown = isWhole ? drawn : drawn.slice(0, FEW_THUMBS);
  const shot = (place) => html`<${Shot} key=${place} video=${battle.video} film=${film}
    place=${place} hot=${hot} open=${open} />`;
  const toggle = html`<button class="quiet" onClick=${() => setWhole(!isWhole)}>
    ${isWhole ? "Show fewer" : `Show all ${drawn.length}`}</button>`;
  return html`<div class=${`sheet by-${ACROSS[acrossOf(places.length)]}`}>${shown.map(shot)}</div>
    <p class="note tight"><${SheetNote} places=${places} film=${film} drawn=${drawn.length} />
      ${drawn.length > FEW_THUMBS && toggle}</p>`;
}

function SheetNote({ places, film, drawn }) {
  const { times, duration_s: duration } = film;
  const span = times[places.at(-1)] - times[places[0]];
  const gap = places.length > 1 ? span / (places.length - 1) : null;
  const every = `, one every ${known(gap, (x) => fixed(x, x < 1 ? 2 : 1))} s of `;
  const pictured = drawn === 0 ? "None is pictured here." : `${drawn} of them are pictured here.`;
  return html`${counted(places.length, "frame")}
    ${gap !== null && every + clock(duration, duration)}; exact times.${" "}
    ${drawn < places.length && pictured}`;
}

function Shot({ video, film, place, hot, open }) {
  const time = clock(film.times[place], film.duration_s);
  const inside = html`<${Thumb} video=${video} film=${film} place=${place}
    label=${open ? null : `frame at ${time}`} /><small class="num">${time}</small>`;
  const over = { onMouseEnter: () => hot(place), onMouseLeave: () => hot(null) };
  if (!open) return html`<span class="shot" ...${over}>${inside}</span>`;
  return html`<button class="shot" ...${over} onClick=${() => open(place)}
    aria-label=${`Open the frame at ${time}`}>${inside}</button>`;
}

function NoFrames({ lane, battle, film }) {
  const said = () => {
    if (lane.key === "judge" || !film.times.length) return "No frames of this video are recorded.";
    if (battle[`answer_${lane.key}`] === null) return "It gave no answer.";
    return html`<b><bdi>${plain(brief(lane.name, 44))}</bdi></b> was sent no frame. It answered
      without seeing the video.`;
  };
  return html`<p class="no-frames">${said()}</p>`;
}
