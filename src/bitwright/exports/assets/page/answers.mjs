/* The network's answers in local states, each evaluated once until a weight changes. The rules serve only to judge them. */

const answers = Array.from({ length: kinds }, () => new Map());
const keyBase = configuration.length + 2;
const keyPlaces = Math.floor(52 / Math.log2(keyBase)) - 1; // examples that make one exact number

/** Forgets all answers, after a weight has changed. */
function forgetAnswers() {
  for (const own of answers) own.clear();
}

/** The answer for a cell that matches these examples: its ports that are on, and those that differ from the rules. */
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

/** What the rules give for a port: 1 if some example that matches writes it. */
function ruled(kind, port, matched) {
  const writers = portExamples[kindPort[kind] + port];
  return matched.some((example) => writers.includes(example)) ? 1 : 0;
}

/** T for a port of a cell with n matches, and where it is in the table. */
const thresholdOf = (kind, port, n) => threshold[thresholdAt(kind, port, n)];
const thresholdAt = (kind, port, n) => (n - 1) * (threshold.length / mostMatches) + portColumn[kindPort[kind] + port];

/** How far a sum is from the other answer: 1 or more where the bit is as it should be. */
function distanceOf(sum, limit, on) {
  return on ? sum - limit : limit + 1 - sum;
}
