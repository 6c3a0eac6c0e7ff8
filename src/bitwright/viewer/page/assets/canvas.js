// Canvases: colours of the page's style, sharp lines on every screen, and one drawing a frame.

let palette = {}, scheduled = false;

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  palette = { fields: [0, 1, 2, 3, 4, 5, 6].map((i) => get(`--field-${i}`)), phases: [0, 1, 2, 3, 4].map((i) => get(`--phase-${i}`)) };
  for (const name of ["text", "soft", "line", "paper", "well", "accent", "wrong", "now", "chosen"]) palette[name] = get(`--${name}`);
}

function sharp(target, context, w, h) {
  const ratio = window.devicePixelRatio || 1;
  if (target.width !== Math.round(w * ratio) || target.height !== Math.round(h * ratio)) {
    target.width = Math.round(w * ratio);
    target.height = Math.round(h * ratio);
    target.style.width = `${w}px`;
    target.style.height = `${h}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
}

function redraw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; draw(); });
}
