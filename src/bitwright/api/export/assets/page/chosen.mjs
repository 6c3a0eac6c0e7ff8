/* The chosen cell: its bits, how many examples match, and for each port the sum G beside the threshold T. */

class ChosenView {
  constructor(app) {
    this.app = app;
    hear("cell-number", "input", () => {
      const number = Number(element("cell-number").value);
      if (Number.isInteger(number) && number >= 1 && number <= app.machine.cells) app.choose(number - 1);
    });
  }

  draw() {
    const { machine, shown, chosen } = this.app, { wires } = machine;
    const name = this.app.stage.bitName ?? ((bit) => bitName(wires.fields, bit));
    const { kind, matched, wrong } = machine.answer(chosen, shown), number = element("cell-number");
    number.max = machine.cells;
    if (document.activeElement !== number) number.value = chosen + 1;
    const n = matched.length;
    element("chosen-about").textContent = `Kind ${kind + 1} of ${kinds}; ${n ? `n = ${n}: ${plural(n, "example matches", "examples match")}` : "nothing matches, so all ports are off"}.`;
    element("chosen-bits").replaceChildren(...this.blocks(kind, chosen, name));
    const said = n ? sums(kind, matched) : [], rows = [];
    for (let port = 0; port < kindPorts[kind] && port < 64; port++) {
      const targets = this.targets(chosen, port, name), limit = n ? thresholdOf(kind, port, n) : 0;
      const over = n ? said[port] - limit : 0, isWrong = wrong.includes(port);
      const figures = n ? [grouped(said[port]).replace("-", "−"), grouped(limit), (over > 0 ? "+" : "−") + grouped(Math.abs(over))] : ["–", "–", "–"];
      const says = make("td", isWrong ? { className: "wrong" } : {}, n && over > 0 ? "on" : "off", isWrong ? ", wrong" : "");
      rows.push(row(targets, figures[0], figures[1], make("td", figures[2], n ? this.scale(over / units[n - 1], isWrong) : ""), says));
    }
    element("ports").tBodies[0].replaceChildren(...rows);
    const more = kindPorts[kind] > 64 ? ` The first 64 of ${grouped(kindPorts[kind])} ports.` : "";
    element("chosen-note").textContent = "n counts the examples that match in this cell. The network makes one integer G of them for each port; the port is on where G exceeds T, the threshold for this n. The bars are as long as G is far from T." + more;
  }

  blocks(kind, cell, name) {
    const { machine, shown } = this.app, bad = new Set(this.app.wrongBits()), found = [];
    let at = machine.cellAt[cell];
    for (let block = kindBlock[kind]; block < kindBlock[kind + 1]; block++) {
      const box = make("span.bits");
      for (let i = 0; i < blockBits[block]; i++) {
        const bit = machine.wires.cellBit[at++];
        box.append(make("span", { className: bad.has(bit) ? "is-bad" : shown[bit] ? "is-on" : "" }, `${name(bit)} ${shown[bit]}`));
      }
      found.push(box);
      if (found.length > 64) break;
    }
    return found;
  }

  /** The bits that a port sets, in a few words. */
  targets(cell, port, name) {
    const bits = this.app.machine.wired(cell, port), named = Array.from(bits.subarray(0, 2), name).join(" ");
    return bits.length > 2 ? `${named} and ${grouped(bits.length - 2)} more` : named || "nothing here";
  }

  /** A bar from the threshold in the middle to where the sum is, in the unit of margins. */
  scale(over, isWrong) {
    const far = Math.max(-1, Math.min(1, over)) * 50;
    const bar = make("i", { className: isWrong ? "is-bad" : over > 0 ? "" : "is-off" });
    bar.style.setProperty("--from", `${Math.min(50, 50 + far)}%`);
    bar.style.setProperty("--long", `${Math.abs(far)}%`);
    return make("div.scale", { "aria-hidden": "true" }, bar);
  }
}
