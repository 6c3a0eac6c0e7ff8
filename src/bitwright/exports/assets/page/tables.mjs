/* The numbers of the network, from the page. */

const kindsOfArray = { Int8Array, Uint8Array, Uint16Array, Uint32Array, Int32Array, Float64Array };
const arrayFrom = ([kind, text]) => new kindsOfArray[kind](decoded(text).buffer);
const { portExamples, units, mostMatches } = facts.network;
const blockBits = arrayFrom(facts.network.tables.blockBits);
