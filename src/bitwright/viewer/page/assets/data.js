// The data of the run: facts as JSON, arrays as one deflated piece.

const element = (id) => document.getElementById(id);
const facts = JSON.parse(element("facts").textContent);
const arrays = {};

async function decode() {
  const text = atob(element("data").textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  let at = 0;
  for (const [name, coding, length] of facts.arrays) {
    arrays[name] = restore(coding, buffer, at, length);
    at += Math.ceil(length / 8) * 8;
  }
  element("data").textContent = ""; // it can be large, and is not needed any more
}

function restore(coding, buffer, at, length) {
  if (coding === "f8") return new Float64Array(buffer, at, length / 8);
  if (coding === "f4") return new Float32Array(buffer, at, length / 4);
  if (coding === "sum") {
    const values = new Int32Array(buffer, at, length / 4);
    for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
    return values;
  }
  const width = Number(coding.slice(3)); // "xor" and the bytes of a state
  const rows = new Uint8Array(buffer, at, length);
  for (let i = width; i < length; i++) rows[i] ^= rows[i - width];
  return rows;
}

// Numbers for people.

const whole = (n) => n.toLocaleString("en-US");

function short(x) {
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "–";
  if (Number.isInteger(x)) return whole(x).replace("-", "−");
  const size = Math.abs(x);
  return (size < 1e-3 || size >= 1e6 ? x.toExponential(1) : x.toFixed(size < 0.1 ? 4 : 3)).replaceAll("-", "−");
}

function make(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}
