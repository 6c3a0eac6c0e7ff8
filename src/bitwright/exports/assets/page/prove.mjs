/* Compares every local state of every kind with the rules, which proves this page's network because integers are exact. */

/** Returns the choices of a block: its examples, and none (-1) if some configuration has no example. */
function choicesOf(block) {
  const examples = range(blockExample[block], blockExample[block + 1]);
  return examples.length < 2 ** blockBits[block] ? [-1, ...examples] : examples;
}

/** Returns the choices of each block of a kind. */
const choicesOfKind = (kind) => range(kindBlock[kind], kindBlock[kind + 1]).map(choicesOf);

/** Returns the number of local states. */
const countLocalStates = () => range(0, kinds).reduce((total, kind) => total + choicesOfKind(kind).reduce((product, own) => product * own.length, 1), 0);

/** Yields every local state as its kind and matching examples; the first block changes fastest. */
function* localStates() {
  for (let kind = 0; kind < kinds; kind++) {
    const choices = choicesOfKind(kind), digits = choices.map(() => 0);
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

/** The result so far. */
function nothingFound() {
  return { states: 0, wrong: 0, distance: null, margin: null, example: null };
}

/** Checks one local state. */
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

/** Checks all local states at once. */
function proveAll() {
  const found = nothingFound();
  for (const one of localStates()) judge(one, found);
  return found;
}
