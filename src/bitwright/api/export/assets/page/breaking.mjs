/* Finds one weight that breaks the run on the screen: it spoils a local state that the run meets, and is tried before it is shown. */

// How much is run: counted in cells that are asked, so that a slow computer finds the same.
const MOST_STEPS = 20000;
const MOST_ASKED = 400000; // in the run that is to be broken
const MOST_TRIED = 6000000; // in all trials

/** Runs from the start until it ends, or has tried `steps` steps or asked `asked` cells; how many steps it has tried. */
function runFromStart(stage, steps, asked = Infinity) {
  let how = stage.reset() ? "on" : "", tried = 0;
  for (; how === "on" && tried < steps && stage.app.machine.asked < asked; tried++) how = stage.advance();
  stage.ended = how === "on" ? "" : how;
  return tried;
}

/**
 * A change of one weight after which the run on the screen goes wrong; null where none is found. The best has another result,
 * few wrong bits in its first wrong state, and right states before it.
 * @returns {{name: string, at: number, value: number, steps: number, right: string, result: string} | null}
 */
function breakingChange(stage) {
  const { machine } = stage.app;
  forgetAnswers();
  const steps = runFromStart(stage, MOST_STEPS, MOST_ASKED), right = stage.result();
  let left = MOST_TRIED, best = null;
  for (const change of changesAt(answers.flatMap((own) => [...own.values()]))) {
    if (left <= 0) break;
    const { table } = LAYERS[change.name], kept = table[change.at];
    table[change.at] = change.value;
    forgetAnswers();
    const tried = runFromStart(stage, steps, left);
    table[change.at] = kept;
    left -= machine.asked;
    if (!machine.firstWrong || (!stage.ended && tried < steps)) continue; // right, or cut short
    const { step, bits } = machine.firstWrong, result = stage.result();
    const order = [result === right ? 1 : 0, bits.length, -step];
    if (!best || isBefore(order, best.order)) best = { ...change, order, steps, right, result };
  }
  forgetAnswers();
  stage.reset();
  return best;
}

const isBefore = (one, other) => one.reduce((found, value, at) => found || Math.sign(value - other[at]), 0) < 0;

/** Changes that spoil some of these local states: of T for each place as little as suffices, of B the most harmful for each port. */
function changesAt(states, mostWork = 3e7) {
  const width = first.length / configuration.length, ports = last.length / width;
  const spoilt = [new Uint32Array(last.length), new Uint32Array(last.length)]; // states, by a weight of -127, of 127
  const nearest = [new Map(), new Map()]; // for each threshold the value that spoils a state where a port is on, is off
  for (const { kind, matched } of states.slice(0, Math.max(16, mostWork / last.length))) {
    const n = matched.length;
    if (n === 0) continue;
    const hidden = new Float64Array(width);
    for (let unit = 0; unit < width; unit++) for (const example of matched) hidden[unit] += first[unit * configuration.length + example];
    sums(kind, matched).forEach((said, port) => {
      const on = ruled(kind, port, matched), limit = thresholdOf(kind, port, n), at = thresholdAt(kind, port, n);
      if (on) nearest[0].set(at, Math.min(nearest[0].get(at) ?? Infinity, said));
      else nearest[1].set(at, Math.max(nearest[1].get(at) ?? -Infinity, said - 1));
      for (let unit = 0; unit < width; unit++) {
        const place = unit * ports + kindPort[kind] + port;
        if (hidden[unit] > 0 && distanceOf(said + hidden[unit] * ((on ? -127 : 127) - last[place]), limit, on) < 1) spoilt[on ? 0 : 1][place]++;
      }
    });
  }
  const thresholds = nearest.flatMap((own) => [...own].map(([at, value]) => ({ name: "threshold", at, value })));
  return [...mostHarmful(spoilt, ports), ...thresholds.filter(({ at, value }) => value !== threshold[at])];
}

/** For each port and value the weight of B that spoils most states. */
function mostHarmful(spoilt, ports) {
  const best = new Map();
  spoilt.forEach((own, way) => {
    own.forEach((count, at) => {
      const key = 2 * (at % ports) + way;
      if (count > (best.get(key)?.count ?? 0)) best.set(key, { name: "last", at, value: way ? 127 : -127, count });
    });
  });
  return [...best.values()];
}
