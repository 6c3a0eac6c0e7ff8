/* Finds one threshold that breaks the run on the screen: it spoils a local state that the run meets, and is tried before it is shown. */

// How much is run: counted in cells that are evaluated, so that a slow computer finds the same.
const MOST_STEPS = 20000, MOST_ASKED = 400000, MOST_TRIED = 6000000; // steps and cells of the run that is to be broken; cells in all trials

/** Runs from the start until it ends, or has tried `steps` steps or evaluated `asked` cells; how many steps it has tried. */
function runFromStart(steps, asked = Infinity) {
  let tried = 0;
  for (live.reset(); live.goesOn && tried < steps && live.machine.asked < asked; tried++) live.advance();
  return tried;
}

/**
 * A change of one threshold after which the run on the screen goes wrong; null where none is found. The best has another
 * result, few wrong bits in its first wrong state, and right states before it.
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

/** Changes of T that spoil some of these local states, each by as little as suffices. */
function changesAt(states) {
  const nearest = [new Map(), new Map()]; // for each threshold the value that spoils a state where a port is on, is off
  for (const { kind, matched } of states) {
    if (matched.length) sums(kind, matched).forEach((said, port) => {
      const at = thresholdAt(kind, port, matched.length);
      if (ruled(kind, port, matched)) nearest[0].set(at, Math.min(nearest[0].get(at) ?? Infinity, said));
      else nearest[1].set(at, Math.max(nearest[1].get(at) ?? -Infinity, said - 1));
    });
  }
  return nearest.flatMap((own) => [...own].map(([at, value]) => ({ at, value }))).filter(({ at, value }) => value !== threshold[at]);
}
