// The values of nodes and edges in the text of an input: a,b or a:3,b:5 or *:1, as the command line takes them.

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

// As `items` reads it. Of inputs that are on or off only those that are on are named.

export const textOf = (found, { marks }) => [...found].filter(([, value]) => value !== "" && !(marks && value === "0"))
  .map(([key, value]) => (marks && key !== "*" ? key : `${key}:${value}`)).join(",");

export const placeKeys = (word, graph, at) => {
  if (word.place === "node") return [graph.nodes[at].name];
  const [one, other] = graph.edges[at].map((end) => graph.nodes[end].name);
  return graph.directed ? [`${one}-${other}`] : [`${one}-${other}`, `${other}-${one}`];
};

export function valueAt(found, keys, { marks }) {
  const own = keys.find((key) => found.has(key));
  return own === undefined ? found.get("*") ?? (marks ? "0" : "") : found.get(own);
}

export function withValue(found, keys, value) {
  const own = keys.find((key) => found.has(key)) ?? keys[0];
  return new Map(found).set(own, value);
}

// What is said of a node that goes away, or gets another name; null: it goes.

export function renamed(found, old, name) {
  const place = (key) => {
    const ends = key.split("-").map((end) => (end === old ? name : end));
    return ends.includes(null) ? null : ends.join("-");
  };
  return new Map([...found].map(([key, value]) => [place(key), value]).filter(([key]) => key !== null));
}
