/* Every local state of every kind, compared with the rules: a proof of the network in this page, as integers are exact. */

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
