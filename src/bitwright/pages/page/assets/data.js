// The data of the run: facts as JSON, arrays as one deflated piece, and its states. A page with a network makes its states as it runs.

const facts = JSON.parse(element("facts").textContent), arrays = {};
let live = null, openLive = () => {}; // makes further steps on a page with a network
let states = null, stride = 0, begin = 0; // from step `begin` on; bytes per state
const stateBit = (step, bit) => bitIn(states, bit, (step - begin) * stride);

async function decode() {
  const stream = new Blob([decoded(element("data").textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  let at = 0;
  for (const [name, coding, length] of facts.arrays) {
    arrays[name] = restore(coding, buffer, at, length);
    at += Math.ceil(length / 8) * 8;
  }
  element("data").textContent = ""; // frees what can be large
}

function restore(coding, buffer, at, length) {
  if (coding === "f8") return new Float64Array(buffer, at, length / 8);
  if (coding === "f4") return new Float32Array(buffer, at, length / 4);
  if (coding === "sum") {
    const values = new Int32Array(buffer, at, length / 4);
    for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
    return values;
  }
  const width = Number(coding.slice(3)); // "xor" and the bytes per state
  const rows = new Uint8Array(buffer, at, length);
  for (let i = width; i < length; i++) rows[i] ^= rows[i - width];
  return rows;
}
