/* How figures are written. A figure that is not known is a dash or a word, never 0. Any page may
   use this. */

export const isKnown = (x) => x !== null && x !== undefined && !Number.isNaN(x);
export const known = (x, write) => (isKnown(x) ? write(x) : "–");

/* A true minus, and never "-0". */
export const whole = (x) =>
  known(x, () => (Math.round(x) || 0).toLocaleString("en").replace("-", "−"));
export const fixed = (x, digits = 1) => known(x, () => evenly(x, digits).replace("-", "−"));
export const percent = (x, digits = 0) => known(x, () => `${evenly(100 * x, digits)} %`);
export const withInterval = ({ value, low, high }) =>
  isKnown(low) ? `${percent(value)} (${percent(low)} to ${percent(high)})` : percent(value);
export const signed = (x) => known(x, () => `${x >= 0 ? "+" : "−"}${whole(Math.abs(x))}`);
export const counted = (n, one, many = `${one}s`) => `${whole(n)} ${n === 1 ? one : many}`;
export const ratio = (x, n) => (isKnown(x) && n ? x / n : null);
export const sum = (list) => list.reduce((x, y) => x + y, 0);

/* As the commands print it: a half goes to the even digit, not up. */
function evenly(x, digits) {
  const isHalf = Math.abs((x * 2 ** (digits + 1)) % 2) === 1;
  const scale = 10 ** digits;
  return (isHalf ? (2 * Math.round((x * scale) / 2)) / scale : x).toFixed(digits);
}

export function money(x) {
  if (!isKnown(x)) return "unknown";
  if (x === 0) return "$0";
  return x < 0.01 ? `$${x.toFixed(4)}` : `$${x.toFixed(2)}`;
}

/* A short stretch of time, as waiting for an answer takes. */
export function waited(seconds) {
  if (!isKnown(seconds)) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 90 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/* A long stretch of time, as a run takes: about 40 s, about 3 min. */
export function roughly(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${(seconds / 3600).toFixed(1)} h`;
}

/* A moment of a video that lasts `all` seconds, as exact as a video of that length needs. */
export function clock(seconds, all = 0) {
  if (!isKnown(seconds)) return "–";
  if (all < 90) return `${seconds.toFixed(all < 3 ? 2 : 1)} s`;
  const digits = all > 600 ? 0 : 1;
  /* Rounded before it is split, or 119.97 would be 1:60.0. */
  const rounded = Number(seconds.toFixed(digits));
  const minutes = Math.floor(rounded / 60);
  const rest = (rounded - 60 * minutes).toFixed(digits);
  return `${minutes}:${rest.padStart(digits ? 4 : 2, "0")}`;
}

export function dated(seconds) {
  if (!isKnown(seconds)) return "";
  const options = { day: "numeric", month: "long", year: "numeric" };
  return new Date(seconds * 1000).toLocaleDateString("en", options);
}

export const titled = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const fileName = (path) => path.split("/").pop();
export const clip = (text, most) =>
  text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;

/* A long name keeps its beginning and its end, where names differ. */
export function brief(name, most) {
  if (name.length <= most) return name;
  return `${name.slice(0, Math.ceil(most / 2))}…${name.slice(1 - Math.floor(most / 2))}`;
}
