/* Finds a threshold whose change breaks the current run in a local state that it reaches; tests it before showing it. */

// The work limit counts evaluated cells, so that a slow computer finds the same threshold.
const MOST_STEPS = 20000, MOST_ASKED = 400000, MOST_TRIED = 6000000; // steps and cells of the run to break; cells in all trials

/** Runs from the start to the end, for at most `steps` steps or `asked` evaluated cells; returns the number of steps tried. */
function runFromStart(steps, asked = Infinity) {
  let tried = 0;
  for (live.reset(); live.goesOn && tried < steps && live.machine.asked < asked; tried++) live.advance();
  return tried;
}

/**
 * Returns a change of one threshold that makes the current run go wrong, or null. The best change gives another result,
 * few wrong bits in the first wrong state, and right states before it.
 */
function breakingChange() {
  forgetAnswers();
  const steps = runFromStart(MOST_STEPS, MOST_ASKED), right = stage.result();
  let left = MOST_TRIED, best = null;
  for (const { at, value } of changesAt(answers.flatMap((own) => [...own.values()]))) {
    if (left <= 0) break;
    const kept = threshold[at];
    threshold[at] = value;
    forgetAnswers();
    const tried = runFromStart(steps, left), wrong = live.machine.firstWrong;
    threshold[at] = kept;
    left -= live.machine.asked;
    if (!wrong || (live.goesOn && tried < steps)) continue; // right, or cut short
    const result = stage.result(), order = [result === right ? 1 : 0, wrong.bits.length, -wrong.step];
    if (!best || isBefore(order, best.order)) best = { at, value, order, steps, right, result };
  }
  forgetAnswers();
  return best;
}

const isBefore = (one, other) => one.reduce((found, value, at) => found || Math.sign(value - other[at]), 0) < 0;

/** Returns the smallest changes of T that break some of these local states. */
function changesAt(states) {
  const nearest = [new Map(), new Map()]; // for each threshold, the values that break a state where a port is on or off
  for (const { kind, matched } of states) {
    if (matched.length) sums(kind, matched).forEach((said, port) => {
      const at = thresholdAt(kind, port, matched.length);
      if (ruled(kind, port, matched)) nearest[0].set(at, Math.min(nearest[0].get(at) ?? Infinity, said));
      else nearest[1].set(at, Math.max(nearest[1].get(at) ?? -Infinity, said - 1));
    });
  }
  return nearest.flatMap((own) => [...own].map(([at, value]) => ({ at, value }))).filter(({ at, value }) => value !== threshold[at]);
}
