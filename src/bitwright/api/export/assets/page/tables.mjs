/* The numbers of the network, as they came with the page. */

const kindsOfArray = { Int8Array, Uint8Array, Uint16Array, Uint32Array, Int32Array, Float64Array };

function arrayFrom([kind, text]) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new kindsOfArray[kind](bytes.buffer);
}

const { portExamples, units, mostMatches } = facts.network;
const blockBits = arrayFrom(facts.network.tables.blockBits);
