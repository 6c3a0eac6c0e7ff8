/* The network's answers in local states, each evaluated once until a weight changes. The rules are only used to check them. */

const answers = Array.from({ length: kinds }, () => new Map());
const keyBase = configuration.length + 2;
const keyPlaces = Math.floor(52 / Math.log2(keyBase)) - 1; // examples that fit into one exact number

/** Forgets all answers, because a weight has changed. */
function forgetAnswers() {
  for (const own of answers) own.clear();
}

/** The answer for a cell that matches these examples: the ports that are on, and those that differ from the rules. */
function answerTo(kind, matched) {
  let key = 1;
  if (matched.length <= keyPlaces) for (const example of matched) key = key * keyBase + example + 1;
  else key = matched.join();
  let known = answers[kind].get(key);
  if (known === undefined) {
    const ports = cell(kind, matched), on = [], wrong = [];
    for (let port = 0; port < ports.length; port++) {
      if (ports[port]) on.push(port);
      if (ports[port] !== ruled(kind, port, matched)) wrong.push(port);
    }
    known = { kind, matched, on, wrong };
    answers[kind].set(key, known);
  }
  return known;
}

/** The value of a port by the rules: 1 if some matching example writes it. */
function ruled(kind, port, matched) {
  const writers = portExamples[kindPort[kind] + port];
  return matched.some((example) => writers.includes(example)) ? 1 : 0;
}

/** T for a port of a cell with n matches, and its position in the table. */
const thresholdOf = (kind, port, n) => threshold[thresholdAt(kind, port, n)];
const thresholdAt = (kind, port, n) => (n - 1) * (threshold.length / mostMatches) + portColumn[kindPort[kind] + port];

/** How much a sum would have to change to flip a bit that should be `on`; less than 1 if the bit is wrong. */
function distanceOf(sum, limit, on) {
  return on ? sum - limit : limit + 1 - sum;
}
