/* Canvases that are sharp on every screen, and what several pages draw on them. */

import { palette } from "./theme.mjs";

export const LETTERS = "system-ui, sans-serif", DIGITS = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";

/** Clears a canvas, makes it this large in CSS pixels, and returns its context. */
export function sheet(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, [across, down] = [width, height].map((side) => Math.round(side * ratio));
  if (canvas.width !== across || canvas.height !== down) {
    Object.assign(canvas, { width: across, height: down });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The width available to a canvas inside its parent. */
export function roomFor(canvas) {
  const box = canvas.parentElement, style = getComputedStyle(box);
  return Math.max(40, box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}

/** Returns a function that draws in the next frame, once. */
export function oncePerFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  };
}

/** The position of a pointer on a canvas. */
export function pointOn(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** Lets a click or the arrow keys choose a tile; `tiles` has at(x, y), chosen(), count(), columns() and choose(tile, event). */
export function choosable(canvas, tiles) {
  canvas.addEventListener("click", (event) => {
    const { x, y } = pointOn(canvas, event), tile = tiles.at(x, y);
    if (tile >= 0) tiles.choose(tile, event);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: tiles.columns(), ArrowUp: -tiles.columns() }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    tiles.choose(Math.min(Math.max(tiles.chosen() + by, 0), tiles.count() - 1), event);
  });
}

export function fillBox(context, colour, x, y, width, height) {
  context.fillStyle = colour;
  context.fillRect(x, y, width, height);
}

export function drawLine(context, colour, wide, ...points) {
  Object.assign(context, { strokeStyle: colour, lineWidth: wide });
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.stroke();
}

/** A filled tile, with a frame if a colour for it is given. */
export function drawTile(context, x, y, side, fill, frame, wide = 2) {
  const inset = side > 9 ? 2 : side > 3 ? 1 : 0;
  context.beginPath();
  context.roundRect(x + inset / 2, y + inset / 2, side - inset, side - inset, side > 12 ? 4 : side > 7 ? 2 : 0);
  context.fillStyle = fill;
  context.fill();
  if (!frame) return;
  context.lineWidth = wide;
  context.strokeStyle = frame;
  context.stroke();
}

/** Writes a line of text whose middle is at y, and shortens it where it is wider than `room`. */
export function write(context, text, x, y, { colour = palette.text, font = "11px", letters = LETTERS, align = "left", room = Infinity } = {}) {
  Object.assign(context, { font: `${font} ${letters}`, textAlign: align, textBaseline: "middle", fillStyle: colour });
  let kept = text;
  for (let length = text.length - 1; length > 0 && context.measureText(kept).width > room; length--) kept = `${text.slice(0, length)}…`;
  context.fillText(kept, x, y);
}

/** Text on a filled plate centred at (x, y), between `least` and `most`. */
export function plate(context, text, x, y, { fill = palette.text, least = -Infinity, most = Infinity, ...how } = {}) {
  context.font = `600 11px ${how.letters ?? LETTERS}`;
  const half = context.measureText(text).width / 2 + 5, middle = Math.min(Math.max(x, least + half), most - half);
  context.fillStyle = fill;
  context.beginPath();
  context.roundRect(middle - half, y - 8.5, 2 * half, 17, 7);
  context.fill();
  write(context, text, middle, y + 0.5, { colour: palette.paper, font: "600 11px", align: "center", ...how });
}
