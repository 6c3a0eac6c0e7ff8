/* Every local state of every kind, compared with the rules: a proof of the network in this page, as whole numbers are exact. */

/** Which choices a block has: an example, or none (-1) where some configuration has no example. */
function choicesOf(block) {
  const found = [];
  if (blockExample[block + 1] - blockExample[block] < 2 ** blockBits[block]) found.push(-1);
  for (let example = blockExample[block]; example < blockExample[block + 1]; example++) found.push(example);
  return found;
}

/** How many local states there are. */
function countLocalStates() {
  let total = 0;
  for (let kind = 0; kind < kinds; kind++) {
    let own = 1;
    for (let block = kindBlock[kind]; block < kindBlock[kind + 1]; block++) own *= choicesOf(block).length;
    total += own;
  }
  return total;
}

/** Every local state as its kind and the examples that match; the first block changes fastest. */
function* localStates() {
  for (let kind = 0; kind < kinds; kind++) {
    const choices = [];
    for (let block = kindBlock[kind]; block < kindBlock[kind + 1]; block++) choices.push(choicesOf(block));
    const digits = choices.map(() => 0);
    for (let place = 0; place < digits.length; ) {
      const chosen = choices.map((own, at) => own[digits[at]]);
      yield { kind, matched: chosen.filter((example) => example >= 0) };
      for (place = 0; place < digits.length; place++) {
        digits[place]++;
        if (digits[place] < choices[place].length) break;
        digits[place] = 0;
      }
    }
  }
}

/** What is found so far. */
function nothingFound() {
  return { states: 0, wrong: 0, distance: null, margin: null, example: null };
}

/** Looks at one local state. */
function judge({ kind, matched }, found) {
  found.states++;
  const n = matched.length;
  if (n === 0) return;
  const said = sums(kind, matched);
  let nearest = Infinity;
  for (let port = 0; port < said.length; port++) {
    nearest = Math.min(nearest, distanceOf(said[port], thresholdOf(kind, port, n), ruled(kind, port, matched)));
  }
  if (nearest === Infinity) return;
  if (nearest < 1) {
    found.wrong++;
    found.example ??= { kind, matched };
  }
  const margin = (nearest - 0.5) / units[n - 1];
  if (found.distance === null || nearest < found.distance) found.distance = nearest;
  if (found.margin === null || margin < found.margin) found.margin = margin;
}

/** All of it at once. */
function proveAll() {
  const found = nothingFound();
  for (const one of localStates()) judge(one, found);
  return found;
}

/**
 * One weight of the last layer that makes as many local states wrong as one weight can: where, and to what.
 * @returns {{unit: number, port: number, value: number, wrong: number} | null} null where no such weight does any harm
 */
function weakestWeight(mostWork = 3e7) {
  const width = first.length / configuration.length;
  const ports = last.length / width;
  const mostStates = Math.max(16, mostWork / (width * ports)); // some of them, so that a reader need not wait
  const harm = [new Uint16Array(width * ports), new Uint16Array(width * ports)]; // set to -127, set to 127
  let seen = 0;
  for (const { kind, matched } of localStates()) {
    if (++seen > mostStates) break;
    const n = matched.length;
    if (n === 0) continue;
    const said = sums(kind, matched);
    for (let unit = 0; unit < width; unit++) {
      let hidden = 0;
      for (const example of matched) hidden += first[unit * configuration.length + example];
      if (hidden <= 0) continue;
      for (let port = 0; port < said.length; port++) {
        const at = unit * ports + kindPort[kind] + port;
        const limit = thresholdOf(kind, port, n);
        const on = ruled(kind, port, matched);
        for (const way of [0, 1]) {
          const sum = said[port] + hidden * ((way ? 127 : -127) - last[at]);
          if (distanceOf(sum, limit, on) < 1) harm[way][at]++;
        }
      }
    }
  }
  let best = null;
  for (const way of [0, 1]) {
    harm[way].forEach((wrong, at) => {
      if (wrong > (best ? best.wrong : 0)) {
        best = { unit: Math.floor(at / ports), port: at % ports, value: way ? 127 : -127, wrong };
      }
    });
  }
  return best;
}

/** The place of the threshold without which most local states are wrong: where it is never exceeded, no port comes on. */
function weakestThreshold(mostStates = 5000) {
  const harm = new Map();
  let seen = 0;
  for (const { kind, matched } of localStates()) {
    if (++seen > mostStates) break;
    for (let port = 0; matched.length && port < kindPort[kind + 1] - kindPort[kind]; port++) {
      if (!ruled(kind, port, matched)) continue;
      const at = thresholdAt(kind, port, matched.length);
      harm.set(at, (harm.get(at) ?? 0) + 1);
    }
  }
  return [...harm].reduce((best, one) => (one[1] > best[1] ? one : best), [0, 0])[0];
}
