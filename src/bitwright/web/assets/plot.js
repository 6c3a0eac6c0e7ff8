// The training error, step by step, on a logarithmic scale; drawn again as it grows.

import { grouped, make, niceStep } from "./library/dom.mjs";

const WIDEST = 640, NARROW = 360, HEIGHT = 260, LEFT = 62, RIGHT = 16, TOP = 14, BOTTOM = 40;
const SVG = "http://www.w3.org/2000/svg";

export function plot(points, tolerance) {
  const WIDTH = innerWidth < 700 ? NARROW : WIDEST;
  const drawn = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img" });
  const last = points.at(-1) ?? [0, 1];
  drawn.setAttribute("aria-label", `The largest error after ${last[0]} steps is ${last[1].toPrecision(3)}; training stops at ${tolerance}`);
  const errors = points.map(([, error]) => error).filter((error) => error > 0);
  const high = Math.ceil(Math.log10(Math.max(1, ...errors))), low = Math.floor(Math.log10(Math.min(tolerance, ...errors)) + 1e-9);
  const most = Math.max(10, last[0]), x = (step) => LEFT + (WIDTH - LEFT - RIGHT) * step / most;
  const y = (error) => TOP + (HEIGHT - TOP - BOTTOM) * (high - Math.log10(Math.max(error, 10 ** low))) / Math.max(1, high - low);
  for (let power = low; power <= high; power++) {
    drawn.append(draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(10 ** power), y2: y(10 ** power), class: "rule" }),
      text(LEFT - 8, y(10 ** power) + 4, power < -3 ? `1e${power}` : String(10 ** power > 0 ? Number((10 ** power).toPrecision(1)) : 0), "end"));
  }
  for (let step = 0; step <= most; step += niceStep(most / 6)) drawn.append(text(x(step), HEIGHT - BOTTOM + 18, grouped(step), "middle"));
  drawn.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "steps of gradient descent", "middle"));
  drawn.append(draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tolerance), y2: y(tolerance), class: "goal" }));
  if (points.length) drawn.append(draw("polyline", { points: points.map(([step, error]) => `${x(step).toFixed(1)},${y(error).toFixed(1)}`).join(" "), class: "curve" }),
    draw("circle", { cx: x(last[0]), cy: y(last[1]), r: 3.5, class: "end" }));
  return make("figure.training", drawn, make("figcaption", { className: "soft",
    textContent: `Largest error of any output: ${last[1].toPrecision(3)} after ${grouped(last[0])} step${last[0] === 1 ? "" : "s"}; training stops at ${tolerance}, the dashed line.` }));
}

export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const text = (x, y, words, anchor) => draw("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor }, words);
