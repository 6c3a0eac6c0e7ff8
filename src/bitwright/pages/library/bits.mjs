/* Bits of a state, packed eight to a byte, the first one highest, and their names. A field has a name, extents, a size and an offset. */

export const bitIn = (packed, bit, from = 0) => (packed[from + (bit >> 3)] >> (7 - (bit & 7))) & 1;

/** The index of the last entry at most `value` in a sorted list, or in a part of it; the index before the part if there is none. */
export function lastUpTo(sorted, value, low = 0, high = sorted.length, keyOf = (entry) => entry) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(sorted[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const fieldOf = (fields, bit) => fields[lastUpTo(fields, bit, 0, fields.length, (field) => field.offset)];

/** `p[3]`, `M[2,1]` or `done`. The last index of an array runs fastest. */
export function bitName(fields, bit) {
  const field = fieldOf(fields, bit), index = [];
  let rest = bit - field.offset;
  for (const extent of [...field.extents].reverse()) {
    index.unshift((rest % extent) + 1);
    rest = Math.floor(rest / extent);
  }
  return index.length ? `${field.name}[${index.join(",")}]` : field.name;
}

/** The number made by bits, lowest first; `on(bit)` is 0 or 1. */
export function numberOf(bits, on, signed = false) {
  if (!bits.length) return 0n;
  const value = BigInt(`0b${Array.from(bits, on).reverse().join("")}`);
  return signed ? BigInt.asIntN(bits.length, value) : value;
}

/** The value of a word of nodes, ports or a graph: null if it has none, a BigInt if a Number would be rounded. */
export function wordValue({ bits, where, way, signed }, on) {
  if (where !== null && !on(where)) return null;
  if (way === "place") return bits.reduce((sum, bit, place) => sum + (place + 1) * on(bit), 0);
  const value = numberOf(bits, (bit) => on(bit) ^ (way === "not" ? 1 : 0), signed);
  return bits.length > 52 ? value : Number(value);
}

/** Draws a bar for every step from `first` to `last` in which a bit is on; without a gap, adjacent bars are joined. */
export function drawBars(context, on, first, last, x, wide, y, high, gap = 0) {
  for (let step = first; step <= last; step++) {
    if (!on(step)) continue;
    const from = step;
    if (!gap) while (step < last && on(step + 1)) step++;
    const left = x(from) + gap;
    context.fillRect(left, y, Math.max(x(step) + wide - left, 1), high);
  }
}
