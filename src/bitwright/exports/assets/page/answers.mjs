/* Caches the network's outputs in local states until a weight changes. The rules are only used to judge them. */

const answers = Array.from({ length: kinds }, () => new Map());
const keyBase = configuration.length + 2;
const keyPlaces = Math.floor(52 / Math.log2(keyBase)) - 1; // examples that fit in one exact number

/** Clears the cache after a weight has changed. */
function forgetAnswers() {
  for (const own of answers) own.clear();
}

/** Returns the output of a cell that matches these examples: its ports that are on, and those that differ from the rules. */
function answerTo(kind, matched) {
  let key = 1;
  if (matched.length <= keyPlaces) for (const example of matched) key = key * keyBase + example + 1;
  else key = matched.join();
  let found = answers[kind].get(key);
  if (found === undefined) {
    const ports = cell(kind, matched), on = [], wrong = [];
    for (let port = 0; port < ports.length; port++) {
      if (ports[port]) on.push(port);
      if (ports[port] !== ruled(kind, port, matched)) wrong.push(port);
    }
    found = { kind, matched, on, wrong };
    answers[kind].set(key, found);
  }
  return found;
}

/** Returns the rules' value for a port: 1 if a matching example writes it. */
function ruled(kind, port, matched) {
  const writers = portExamples[kindPort[kind] + port];
  return matched.some((example) => writers.includes(example)) ? 1 : 0;
}

/** Returns T for a port of a cell with n matches, and its index in the table. */
const thresholdOf = (kind, port, n) => threshold[thresholdAt(kind, port, n)];
const thresholdAt = (kind, port, n) => (n - 1) * (threshold.length / mostMatches) + portColumn[kindPort[kind] + port];

/** Returns the distance of a sum from the opposite output: at least 1 if the bit is right. */
function distanceOf(sum, limit, on) {
  return on ? sum - limit : limit + 1 - sum;
}
