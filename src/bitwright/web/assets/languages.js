// The languages of the editor: how each is coloured, and the words it completes.

const words = (text) => new Set(text.split(" "));

const RULES = {
  comments: "#",
  keywords: words("let bits block cell when also write for in input output start steps halt at fixed point matches where ensure invariant examples chain graph group use end port whole if and or mod nothing signed unique positive one not place"),
  builtins: words("far all back next every north south west east nodes ports digits directed simple connected degree"),
};
const SBN = {
  comments: ";",
  keywords: words("sbn sub mov add jmp jneg clr inc dec halt"),
  builtins: words(".width .in .out .word .const .alias .macro .end"),
};
const SUBLEQ = {
  comments: ";",
  keywords: words("subleq sub jmp clr jle inc dec add mov halt in out"),
  builtins: words(".words .width .dialect .data .space .macro .end .const"),
};
const IMAGE = { comments: "#;", keywords: new Set(), builtins: new Set() };

export const LANGUAGES = { rules: RULES, nodes: RULES, sbn: SBN, "subleq assembly": SUBLEQ, "subleq image": IMAGE };

// The tokens of a text, for CodeMirror's StreamLanguage.
export const tokens = ({ comments, keywords, builtins }) => ({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (comments.includes(stream.peek())) { stream.skipToEnd(); return "comment"; }
    if (stream.match(/^"(?:\\.|[^"\\])*"?/) || stream.match(/^'(?:\\.|[^'\\])*'/)) return "string";
    if (stream.match(/^-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)\b/)) return "number";
    if (stream.match("..")) return "operator";
    const word = stream.match(/^[.@]?[A-Za-z_][A-Za-z0-9_]*/);
    if (word) {
      if (keywords.has(word[0])) return "keyword";
      if (builtins.has(word[0])) return "typeName";
      return comments === ";" && stream.peek() === ":" ? "labelName" : "variableName";
    }
    stream.next();
    return "operator";
  },
});

// Names for completion: those the text declares or uses, then the words of the language.
export function completions(text, at, { comments, keywords, builtins }) {
  const plain = text.split("\n").map((line) => line.split(comments[0])[0]).join("\n"), counts = new Map();
  for (const [word] of plain.matchAll(/[A-Za-z_][A-Za-z0-9_]*/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  if (counts.get(at) === 1) counts.delete(at); // the word being typed
  const sizes = new Map([...plain.matchAll(/([A-Za-z_][A-Za-z0-9_]*)(\[[^\]\n]*\])/g)].reverse().map(([, name, size]) => [name, size]));
  const known = (word) => keywords.has(word) || builtins.has(word);
  return [
    ...[...counts.keys()].filter((word) => !known(word)).sort().map((label) => ({ label, type: "variable", detail: sizes.get(label), boost: 1 })),
    ...[...keywords, ...builtins].map((label) => ({ label, type: "keyword" })),
  ];
}
