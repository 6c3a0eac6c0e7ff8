/* Draws a graph on a canvas: nodes as circles or as the cells of a grid, edges as lines, curves, loops and arrows. */

import { LETTERS, fillBox, pointOn, sheet, write } from "./canvas.mjs";
import { shortened } from "./dom.mjs";
import { inkOn, palette } from "./theme.mjs";

export class GraphDrawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.view = { scale: 1, x: 0, y: 0, zoomed: false }; // from the plane of the layout to pixels
    this.width = this.height = this.radius = 8;
  }

  /** Sets the graph: `x` and `y` of nodes, `from`, `to` and `bend` of edges. Nodes are about `spacing` apart; cells of a grid have side 1. */
  use({ x, y, from, to, bend = null, directed = false, grid = false, spacing = 1 }) {
    Object.assign(this, { xs: x, ys: y, from, to, bend, directed, grid, spacing });
    const half = grid ? 0.5 : 0, ends = (values) => [values.reduce((a, b) => Math.min(a, b)) - half, values.reduce((a, b) => Math.max(a, b)) + half];
    [this.left, this.right] = ends(x);
    [this.top, this.bottom] = ends(y);
    this.view.zoomed = false;
  }

  x(node) { return this.xs[node] * this.view.scale + this.view.x; }
  y(node) { return this.ys[node] * this.view.scale + this.view.y; }
  bent(edge) { return this.bend ? this.bend[edge] : 0; }
  seen(x, y) { return x > -40 && y > -40 && x < this.width + 40 && y < this.height + 40; }
  outside(node) { return this.x(node) < 0 || this.y(node) < 0 || this.x(node) > this.width || this.y(node) > this.height; }

  resize(width, height) {
    Object.assign(this, { width, height });
    if (!this.view.zoomed) this.fit();
  }

  fit() {
    const margin = this.grid ? 10 : 34, most = this.grid ? 60 : 110, across = (this.width - 2 * margin) / (this.right - this.left || 1e-9);
    this.show(Math.max(0.05, Math.min(most, across, (this.height - 2 * margin) / (this.bottom - this.top || 1e-9))), false);
    this.view.x = this.width / 2 - ((this.left + this.right) / 2) * this.view.scale;
    this.view.y = this.height / 2 - ((this.top + this.bottom) / 2) * this.view.scale;
  }

  zoom(by, x = this.width / 2, y = this.height / 2) {
    const scale = Math.max(0.2, Math.min(400, this.view.scale * by)), ratio = scale / this.view.scale;
    this.view.x = x - (x - this.view.x) * ratio;
    this.view.y = y - (y - this.view.y) * ratio;
    this.show(scale, true);
  }

  show(scale, zoomed) {
    Object.assign(this.view, { scale, zoomed });
    this.canvas.style.touchAction = zoomed ? "none" : "pan-x pan-y";
    this.radius = this.grid ? scale / 2 : Math.max(1.6, Math.min(17, this.spacing * scale * 0.36));
  }

  /** The node under a pointer, or -1. */
  nodeAt(event) {
    const { x, y } = pointOn(this.canvas, event), reach = this.grid ? this.radius : Math.max(this.radius + 3, event.pointerType === "touch" ? 16 : 7);
    let best = -1, least = Infinity;
    for (let node = 0; node < this.xs.length; node++) {
      const dx = Math.abs(this.x(node) - x), dy = Math.abs(this.y(node) - y), far = this.grid ? Math.max(dx, dy) : Math.hypot(dx, dy);
      if (far <= reach && far < least) { best = node; least = far; }
    }
    return best;
  }

  /** The control point of a curved edge; null for a straight line. */
  bow(edge) {
    const bend = this.bent(edge);
    if (!bend) return null;
    const low = Math.min(this.from[edge], this.to[edge]), high = Math.max(this.from[edge], this.to[edge]);
    const dx = this.x(high) - this.x(low), dy = this.y(high) - this.y(low), length = Math.hypot(dx, dy) || 1;
    const aside = bend * Math.min(34, 0.5 * length);
    return { x: (this.x(low) + this.x(high)) / 2 - (dy / length) * aside, y: (this.y(low) + this.y(high)) / 2 + (dx / length) * aside };
  }

  loopRadius(edge) { return Math.max(4, this.radius * 0.75) * (1 + 0.5 * this.bent(edge)); }

  trace(edge) {
    const { paint } = this, a = this.from[edge], b = this.to[edge];
    if (a === b) {
      const r = this.loopRadius(edge), y = this.y(a) - this.radius - r * 0.6;
      paint.moveTo(this.x(a) + r, y);
      paint.arc(this.x(a), y, r, 0, 2 * Math.PI);
      return;
    }
    if (this.grid && Math.max(Math.abs(this.xs[a] - this.xs[b]), Math.abs(this.ys[a] - this.ys[b])) > 1.5) return; // across the border of a torus
    const end = { x: this.x(b), y: this.y(b) }, middle = this.bow(edge) ?? end;
    paint.moveTo(this.x(a), this.y(a));
    paint.quadraticCurveTo(middle.x, middle.y, end.x, end.y);
  }

  /** A point of an edge and the direction there, seen from one of its nodes; `way(length)` is 0 at that node and 1 at the other. */
  along(edge, back, way) {
    const a = back ? this.to[edge] : this.from[edge], b = back ? this.from[edge] : this.to[edge], ax = this.x(a), ay = this.y(a);
    if (a === b) {
      const r = this.loopRadius(edge);
      return { x: ax + (back ? -r : r), y: ay - this.radius - r * 0.6, dx: 0, dy: back ? 1 : -1 };
    }
    const end = { x: this.x(b), y: this.y(b) }, m = this.bow(edge) || { x: (ax + end.x) / 2, y: (ay + end.y) / 2 };
    const length = Math.hypot(end.x - ax, end.y - ay) || 1, at = way(length), u = 1 - at;
    const dx = u * (m.x - ax) + at * (end.x - m.x), dy = u * (m.y - ay) + at * (end.y - m.y), speed = Math.hypot(dx, dy) || 1;
    return { x: u * u * ax + 2 * u * at * m.x + at * at * end.x, y: u * u * ay + 2 * u * at * m.y + at * at * end.y, dx: dx / speed, dy: dy / speed };
  }

  arrow({ x, y, dx, dy }, length) {
    const { paint } = this, wide = length * 0.55;
    paint.beginPath();
    paint.moveTo(x, y);
    paint.lineTo(x - dx * length - dy * wide, y - dy * length + dx * wide);
    paint.lineTo(x - dx * length + dy * wide, y - dy * length - dx * wide);
    paint.fill();
  }

  /** The arrow of a directed edge, where it meets the circle of its node. */
  tip(edge, length) {
    this.arrow(this.along(edge, false, (far) => Math.max(0.5, 1 - (this.radius + 1) / far)), length);
  }

  /** An arrow in the middle of an edge, away from one of its nodes. */
  middleArrow(edge, back, length) {
    const { x, y, dx, dy } = this.along(edge, back, () => 0.5);
    this.arrow({ x: x + (dx * length) / 2, y: y + (dy * length) / 2, dx, dy }, length);
  }

  /** Edges in one colour, with arrows if the graph is directed. */
  lines(edges, colour, wide, alpha = 1) {
    Object.assign(this.paint, { strokeStyle: colour, fillStyle: colour, lineWidth: wide, globalAlpha: alpha });
    this.paint.beginPath();
    for (const edge of edges) this.trace(edge);
    this.paint.stroke();
    if (this.directed && this.radius >= 3) for (const edge of edges) this.tip(edge, Math.max(5, Math.min(9, this.radius * 0.7) + wide));
    this.paint.globalAlpha = 1;
  }

  /** Clears the canvas. */
  begin() {
    this.paint = sheet(this.canvas, this.width, this.height);
    fillBox(this.paint, palette.paper, 0, 0, this.width, this.height);
  }

  node(node, hue, { text = "", name = "", aside = 0 } = {}) {
    const { paint, radius } = this, x = this.x(node), y = this.y(node);
    if (!this.seen(x, y)) return;
    paint.fillStyle = hue;
    if (this.grid) {
      const left = Math.round(x - radius), top = Math.round(y - radius), gap = this.view.scale >= 7 ? 1 : 0;
      paint.fillRect(left, top, Math.round(x + radius) - left - gap, Math.round(y + radius) - top - gap);
    } else {
      paint.beginPath();
      paint.arc(x, y, radius, 0, 2 * Math.PI);
      paint.fill();
      Object.assign(paint, { strokeStyle: palette.soft, lineWidth: radius >= 4 ? 1.2 : 0.5 });
      paint.stroke();
    }
    if (text) this.inside(text, x - aside, y - aside, hue);
    if (name) this.label(shortened(name, 12), x, y + radius + 8);
  }

  inside(text, x, y, hue) {
    const letters = Math.min(13, Math.max(8, this.radius * 0.95), (this.radius * 3.1) / text.length);
    if (letters < 6.5) return;
    write(this.paint, text, x, y + 0.5, { font: `600 ${letters}px`, align: "center", colour: hue.length === 7 ? inkOn(hue) : palette.text });
  }

  label(text, x, y, strong = false) {
    const { paint } = this, half = (strong ? 3.4 : 2.9) * text.length, place = Math.min(Math.max(x, half + 2), Math.max(half + 2, this.width - half - 2));
    const font = strong ? "600 12px" : "10.5px", colour = strong ? palette.text : palette.soft;
    Object.assign(paint, { font: `${font} ${LETTERS}`, textAlign: "center", textBaseline: "middle", lineJoin: "round", strokeStyle: palette.paper, lineWidth: 3 });
    paint.strokeText(text, place, y);
    write(paint, text, place, y, { font, colour, align: "center" });
  }

  /** A ring around a node, or the frame of a cell. */
  ring(node, colour, wide) {
    const { paint, radius } = this;
    paint.beginPath();
    if (this.grid) paint.rect(this.x(node) - radius, this.y(node) - radius, 2 * radius, 2 * radius);
    else paint.arc(this.x(node), this.y(node), radius + 3, 0, 2 * Math.PI);
    Object.assign(paint, { strokeStyle: colour, lineWidth: wide });
    paint.stroke();
  }

  /** Rings and labels nodes with an input, such as the source of a search. */
  given(name, nodes) {
    for (const node of nodes) {
      if (!this.seen(this.x(node), this.y(node))) continue;
      this.ring(node, palette.text, 2.5);
      if (nodes.length <= 8 && this.radius >= 7) this.label(name, this.x(node), this.y(node) - this.radius - 11, true);
    }
  }
}
