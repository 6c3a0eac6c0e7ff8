/* Compares the network with the rules in every local state of every kind: a proof, because its integers are exact. */

/** The choices of a block: its examples, and none (-1) if some configuration has no example. */
function choicesOf(block) {
  const examples = range(blockExample[block], blockExample[block + 1]);
  return examples.length < 2 ** blockBits[block] ? [-1, ...examples] : examples;
}

/** The choices of each block of a kind. */
const choicesOfKind = (kind) => range(kindBlock[kind], kindBlock[kind + 1]).map(choicesOf);

/** The number of local states. */
const countLocalStates = () => range(0, kinds).reduce((total, kind) => total + choicesOfKind(kind).reduce((product, own) => product * own.length, 1), 0);

/** Every local state, as its kind and the matching examples; the first block changes fastest. */
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

const nothingFound = () => ({ states: 0, wrong: 0, distance: null, margin: null, example: null });

/** Checks one local state, and adds it to the result. */
function judge({ kind, matched }, found) {
  found.states++;
  const n = matched.length;
  if (n === 0) return;
  let nearest = Infinity;
  sums(kind, matched).forEach((sum, port) => {
    nearest = Math.min(nearest, distanceOf(sum, thresholdOf(kind, port, n), ruled(kind, port, matched)));
  });
  if (nearest === Infinity) return;
  if (nearest < 1) {
    found.wrong++;
    found.example ??= { kind, matched };
  }
  const margin = (nearest - 0.5) / units[n - 1];
  if (found.distance === null || nearest < found.distance) found.distance = nearest;
  if (found.margin === null || margin < found.margin) found.margin = margin;
}

/** The result for all local states. */
function proveAll() {
  const found = nothingFound();
  for (const state of localStates()) judge(state, found);
  return found;
}
