// A network that was trained and tried: its error while it learnt, its certificate, and the files that run it elsewhere.

import { element, grouped, make, sentence, terms } from "./library/dom.mjs";
import { plot } from "./plot.js";

const FORMS = {
  safetensors: "the network, for bitwright", c: "one C99 file, without a library", mjs: "a JavaScript module", "d.mts": "the module's types", html: "one page that runs it offline", onnx: "a model for ONNX run times",
};
const ending = (name) => name.slice(name.indexOf(".") + 1);

export function liveTraining({ curve, tolerance }) {
  element("panel-network").replaceChildren(make("h3", "Training"), plot(curve, tolerance));
}

export function showNetwork(id, result, files) {
  const { certificate, missing } = result;
  element("panel-network").replaceChildren(
    ...proof(certificate, result),
    make("h3", "Take it with you"),
    make("div.exports", ...Object.keys(files).filter((name) => ending(name) in FORMS).map((name) =>
      make("a", { className: "button", href: `api/files/${id}/${name}`, download: name },
        make("strong", name), make("small", `${FORMS[ending(name)]}, ${kib(files[name])}`)))),
    ...Object.entries(missing).map(([name, why]) => make("p.soft", `${name} is not there: ${why}`)),
    make("h3", "Training"), plot(result.curve, result.tolerance),
    facts([["program", result.certificate.program_id ?? ""], ["network", `sha256 ${result.sha256}`]]),
  );
}

function proof(c, { width, examples, weight_bits, covers }) {
  const what = `width ${grouped(width)}, trained on ${grouped(examples)} examples, weights of ${weight_bits} bits`;
  if (c.problem) return [make("p.verdict", make("strong", "Not tried")), make("p", sentence(c.problem)), facts([["network", what]])];
  const rows = [...claimed(c), ["covers", covers], ["network", what], ["states", `${grouped(c.states)} tried, ${grouped(c.wrong)} wrong`]];
  if (c.closest) rows.push(["closest", `${grouped(c.distance)} from the other answer: ${c.closest.bit} at n = ${c.closest.n}; margin ${Math.abs(c.margin) < 5e-4 ? c.margin.toPrecision(1) : c.margin.toFixed(3)}`]);
  if (c.counterexample) rows.push(["wrong", `${c.counterexample.bit} must be ${c.counterexample.expected} at n = ${c.counterexample.n}; on: ${c.counterexample.on.slice(0, 12).join(", ") || "no bit"}`]);
  const meaning = c.certified ? "Proved of this very network, in exact arithmetic: in every one of these states it says what the rules say."
    : "This network is wrong in some state; train a wider one, or take another seed.";
  return [make("p.verdict", make(c.certified ? "strong.right" : "strong.wrong", c.certified ? "Proved" : sentence(c.verdict)), ", this network"),
    make("p.soft", meaning), facts(rows)];
}

// What is proved of the program itself: what its rules compute, if it says so.

export const claimed = ({ claims }) => claims.filter(({ about, verdict }) => about === "function" && verdict !== "not stated").map(({ sentence: said }) => ["function", said]);

export const facts = (rows) => make("dl.facts", ...terms(rows));

export const kib = (bytes) => `${grouped(Math.max(1, Math.round(bytes / 1024)))} KiB`;
