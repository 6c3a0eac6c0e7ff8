/*
{% for line in about %}
 *{{' ' ~ line if line}}
{% endfor %}
 *
 * A cell that matches a set S of n examples outputs 1 at its port i exactly if n > 0 and G_i > T[n, column of i],
 * where G_i is the sum over all units u of B[u, i] * max(0, sum of A[u, j] for j in S), in integers.
 */

/** first is A, unit by unit; last is B, unit by unit; threshold is T, row n - 1. */
{% for name, values, kind in tables %}
{% if page %}
const {{name}} = arrayFrom(facts.network.tables.{{name}});
{% else %}
const {{name}} = new {{kind or values|array_type}}([
{{values|numbers}}
]);
{% endif %}
{% endfor %}

/**
 * Returns the examples that a cell of this kind matches.
 * @param {number} kind
 * @param {ArrayLike<number>} configurations of each of its blocks
 * @returns {number[]} their numbers
 */
export function match(kind, configurations) {
  const matched = [];
  const from = kindBlock[kind];
  for (let block = from; block < kindBlock[kind + 1]; block++) {
    const wanted = configurations[block - from];
    const end = blockExample[block + 1];
    let low = blockExample[block];
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (configuration[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    if (low < end && configuration[low] === wanted) matched.push(low);
  }
  return matched;
}

/**
 * Computes G for each port of a cell that matches these examples.
 * @param {number} kind
 * @param {ArrayLike<number>} matched
 * @returns { {{sums}} }
 */
export function sums(kind, matched) {
  const from = kindPort[kind];
  const count = kindPort[kind + 1] - from;
  const n = matched.length;
  const found = new {{sums}}(count);
  for (let unit = 0; unit < {{core.first.shape[0]}}; unit++) {
    const row = unit * {{core.first.shape[1]}};
    let hidden = 0;
    for (let i = 0; i < n; i++) hidden += first[row + matched[i]];
    if (hidden > 0) {
      const at = unit * {{core.last.shape[1]}} + from;
      for (let i = 0; i < count; i++) found[i] += hidden * last[at + i];
    }
  }
  return found;
}

/**
 * Returns the network's output for a cell that matches these examples: 0 or 1 for each port of its kind.
 * @param {number} kind
 * @param {ArrayLike<number>} matched
 * @returns {Uint8Array}
 */
export function cell(kind, matched) {
  const from = kindPort[kind];
  const n = matched.length;
  const ports = new Uint8Array(kindPort[kind + 1] - from);
  if (n === 0) return ports;
  const said = sums(kind, matched);
  for (let i = 0; i < ports.length; i++) {
    ports[i] = said[i] > threshold[(n - 1) * {{core.thresholds.shape[1]}} + portColumn[from + i]] ? 1 : 0;
  }
  return ports;
}

/** The number of kinds of cells. */
export const kinds = kindBlock.length - 1;
