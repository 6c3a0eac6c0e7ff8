// The values of nodes and edges in the text of an input: a,b or a:3,b:5 or *:1, as on the command line.

export function items(text, names) {
  const plain = text.trim(), found = new Map();
  if (plain === "order" || plain === "name") names.forEach((name, at) => found.set(name, plain === "order" ? String(at) : name));
  else for (const part of plain.split(",").filter((one) => one.trim())) {
    const colon = part.lastIndexOf(":");
    if (colon < 0) found.set(part.trim(), "1");
    else found.set(part.slice(0, colon).trim(), part.slice(colon + 1).trim());
  }
  return found;
}

export function valueAt(found, keys, { marks }) {
  const own = keys.find((key) => found.has(key));
  return own === undefined ? found.get("*") ?? (marks ? "0" : "") : found.get(own);
}

/** The text of a flag's input after a click on a node, which gets or loses the flag. */
export function toggled(text, names, name, { one }) {
  const there = [...items(text, names)].filter(([, value]) => value !== "0").map(([key]) => key), others = there.filter((key) => key !== name);
  return (one ? [name] : there.includes(name) ? others : [...others, name]).join(",");
}
