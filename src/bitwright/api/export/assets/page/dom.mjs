/* Small ways to write into the page. */

const byId = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en-US");
const plural = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** An element with attributes, classes and what is in it. */
function made(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...inside);
  return element;
}

/** Says something that a reader has to know, or nothing any more. */
function notice(text = "") {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

/** A canvas fit to its box, in pixels of the screen; gives its context and its size in CSS pixels. */
function fitted(canvas, height) {
  const width = Math.max(40, canvas.parentElement.clientWidth - paddingOf(canvas.parentElement));
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

function paddingOf(element) {
  const style = getComputedStyle(element);
  return parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
}
