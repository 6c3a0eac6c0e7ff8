/* Canvases that are sharp on every screen, and shapes that several pages draw. */

import { palette } from "./theme.mjs";

export const LETTERS = "system-ui, sans-serif", DIGITS = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";

/** Clears a canvas, resizes it in CSS pixels, and returns its context. */
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

/** Writes a line of text vertically centred at y, shortened to a width of `room`. */
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
