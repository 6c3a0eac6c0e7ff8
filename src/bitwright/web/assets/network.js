// A network that was trained and tried: its error while it learnt, its certificate, and the files that run it elsewhere.

import { element, make, sentence, whole } from "./ask.js";
import { plot } from "./plot.js";

const FORMS = {
  c: "one C99 file, without a library", mjs: "a JavaScript module", "d.mts": "the module's types", html: "one page that runs it offline", onnx: "a model for ONNX run times",
};
const ending = (name) => name.slice(name.indexOf(".") + 1);

export function liveTraining({ curve, tolerance }) {
  element("panel-network").replaceChildren(make("h3", { textContent: "Training" }), plot(curve, tolerance));
}

export function showNetwork(id, result, files) {
  const { certificate, exports, missing } = result;
  element("panel-network").replaceChildren(
    ...proof(certificate, result),
    make("h3", { textContent: "Take it with you" }),
    make("div", { className: "exports" }, ...["network.safetensors", ...exports].filter((name) => name in files).map((name) =>
      make("a", { className: "button", href: `api/runs/${id}/${name}?save=true`, download: name },
        make("strong", { textContent: name }), make("small", { textContent: `${FORMS[ending(name)] ?? "the network, for bitwright"}, ${kib(files[name])}` })))),
    ...Object.entries(missing).map(([name, why]) => make("p", { className: "soft", textContent: `${name} is not there: ${why}` })),
    make("h3", { textContent: "Training" }), plot(result.curve, result.tolerance),
    facts([["program", result.certificate.program_id ?? ""], ["network", `sha256 ${result.sha256}`]]),
  );
}

function proof(c, { width, examples, weight_bits, covers }) {
  const what = `width ${whole(width)}, trained on ${whole(examples)} examples, weights of ${weight_bits} bits`;
  if (c.problem) return [make("p", { className: "verdict" }, make("strong", { textContent: "Not tried" })), make("p", { textContent: sentence(c.problem) }), facts([["network", what]])];
  const rows = [["covers", covers], ["network", what], ["states", `${whole(c.states)} tried, ${whole(c.wrong)} wrong`]];
  if (c.closest) rows.push(["closest", `${whole(c.distance)} from the other answer: ${c.closest.bit} at n = ${c.closest.n}; margin ${c.margin.toFixed(3)}`]);
  if (c.counterexample) rows.push(["wrong", `${c.counterexample.bit} must be ${c.counterexample.expected} at n = ${c.counterexample.n}; on: ${c.counterexample.on.slice(0, 12).join(", ") || "no bit"}`]);
  const meaning = c.certified ? "Proved of this very network, in exact arithmetic: in every one of these states it says what the rules say."
    : "This network is wrong in some state; train a wider one, or take another seed.";
  return [make("p", { className: c.certified ? "verdict yes" : "verdict no" }, make("strong", { textContent: c.certified ? "Proved" : sentence(c.verdict) }), ", this network"),
    make("p", { className: "soft", textContent: meaning }), facts(rows)];
}

export const facts = (rows) => make("dl", { className: "facts" }, ...rows.flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })]));

export const kib = (bytes) => `${Math.max(1, Math.round(bytes / 1024)).toLocaleString("en")} KiB`;
