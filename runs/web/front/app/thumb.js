/* One picture of a video's sheet, as wide as the box it stands in. */
function Thumb({ video, film, place, label }) {
  const url = useLoaded(() => (film?.sprite ? source.sheet(video) : null), [video, !film?.sprite]);
  const sprite = film?.sprite;
  const cell = sprite ? sprite.of.indexOf(place) : -1;
  const isDrawn = typeof url === "string" && cell >= 0;
  const style = { aspectRatio: shapeOf(film), ...(isDrawn ? cellOf(sprite, cell, url) : {}) };
  return html`<span class=${`thumb ${isDrawn ? "" : "empty"}`} style=${style}
    role=${label ? "img" : null} aria-label=${label}></span>`;
}

function shapeOf(film) {
  if (film?.sprite) return `${film.sprite.w} / ${film.sprite.h}`;
  return film?.width && film?.height ? `${film.width} / ${film.height}` : "16 / 9";
}

/* Percentages put any cell of the sheet into a box of any width. */
function cellOf(sprite, cell, url) {
  const { columns } = sprite;
  const lines = Math.ceil(sprite.of.length / columns);
  const x = columns > 1 ? (cell % columns) / (columns - 1) : 0;
  const y = lines > 1 ? Math.floor(cell / columns) / (lines - 1) : 0;
  return {
    backgroundImage: `url("${url}")`,
    backgroundSize: `${columns * 100}% ${lines * 100}%`,
    backgroundPosition: `${100 * x}% ${100 * y}%`,
  };
}

/* The picture that stands for a video in a list: a third in, past its titles. */
const standInOf = (film) => film?.sprite?.of[Math.floor(film.sprite.of.length / 3)];
