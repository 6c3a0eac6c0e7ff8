/* Finds a threshold whose change breaks the run on the screen. Candidates spoil a local state of the run, and are tried before one is shown. */

// Limits of the search, counted in evaluated cells, so that slow and fast computers find the same threshold.
const MOST_STEPS = 20000, MOST_CELLS = 400000, MOST_TRIED = 6000000; // steps and cells of the run to break; cells in all trials

/** Runs from the start to the end, or for `steps` steps or until `cells` cells are evaluated; returns the number of steps it tried. */
function runFromStart(steps, cells = Infinity) {
  let tried = 0;
  for (live.reset(); live.goesOn && tried < steps && live.machine.evaluated < cells; tried++) live.advance();
  return tried;
}

/**
 * A change of one threshold that makes the run on the screen fail, or null if none is found. The best changes the result
 * and has few wrong bits in its first wrong state, after as many right states as possible.
 */
function breakingChange() {
  forgetAnswers();
  const steps = runFromStart(MOST_STEPS, MOST_CELLS), right = stage.result();
  let left = MOST_TRIED, best = null;
  for (const { at, value } of changesAt(answers.flatMap((own) => [...own.values()]))) {
    if (left <= 0) break;
    const kept = threshold[at];
    threshold[at] = value;
    forgetAnswers();
    const tried = runFromStart(steps, left), wrong = live.machine.firstWrong;
    threshold[at] = kept;
    left -= live.machine.evaluated;
    if (!wrong || (live.goesOn && tried < steps)) continue; // no failure, or cut short
    const result = stage.result(), order = [result === right ? 1 : 0, wrong.bits.length, -wrong.step];
    if (!best || isBefore(order, best.order)) best = { at, value, order, steps, right, result };
  }
  forgetAnswers();
  return best;
}

const isBefore = (one, other) => one.reduce((order, value, at) => order || Math.sign(value - other[at]), 0) < 0;

/** Changes of T that spoil some of these local states, each as small as possible. */
function changesAt(states) {
  const nearest = [new Map(), new Map()]; // by threshold: the values that turn a port off, or on
  for (const { kind, matched } of states) {
    if (matched.length) sums(kind, matched).forEach((sum, port) => {
      const at = thresholdAt(kind, port, matched.length);
      if (ruled(kind, port, matched)) nearest[0].set(at, Math.min(nearest[0].get(at) ?? Infinity, sum));
      else nearest[1].set(at, Math.max(nearest[1].get(at) ?? -Infinity, sum - 1));
    });
  }
  return nearest.flatMap((own) => [...own].map(([at, value]) => ({ at, value }))).filter(({ at, value }) => value !== threshold[at]);
}
