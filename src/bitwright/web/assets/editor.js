// The program text: CodeMirror with syntax colours, completion and a mark at every problem.

import { element, grouped, make } from "./library/dom.mjs";
import { completions, LANGUAGES, tokens } from "./languages.js";
import {
  EditorState, EditorView, StreamLanguage, autocompletion, bracketMatching, classHighlighter, completionKeymap, defaultKeymap, drawSelection,
  highlightActiveLine, history, historyKeymap, keymap, lineNumbers, lintGutter, lintKeymap, setDiagnostics, syntaxHighlighting,
} from "./vendor/codemirror.js";

const SHOWN = 100;
const list = element("problems");
let view = null, changed = () => {};

export function editor(onChange) {
  changed = onChange;
  view = new EditorView({ parent: element("editor"), state: state("", LANGUAGES.rules) });
}

export const read = () => view.state.doc.toString();

export function write(text, language) {
  view.setState(state(text, LANGUAGES[language]));
  mark([]);
}

function state(text, language) {
  const source = (context) => {
    const word = context.matchBefore(/[.@]?[A-Za-z_][A-Za-z0-9_]*/);
    if (!word && !context.explicit) return null;
    const line = context.state.doc.lineAt(context.pos);
    if ([...line.text.slice(0, context.pos - line.from)].some((sign) => language.comments.includes(sign))) return null;
    return { from: word?.from ?? context.pos, options: completions(context.state.doc.toString(), word?.text, language), validFor: /^[.@]?\w*$/ };
  };
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(), lintGutter(), history(), drawSelection(), highlightActiveLine(), bracketMatching(),
      StreamLanguage.define(tokens(language)), syntaxHighlighting(classHighlighter),
      autocompletion({ override: [source], icons: false }),
      keymap.of([...completionKeymap, ...lintKeymap, ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), ...historyKeymap]),
      EditorState.tabSize.of(4),
      EditorView.contentAttributes.of({ "aria-label": "Program text", "aria-describedby": "verdict", id: "text", tabindex: "0", spellcheck: "false", autocapitalize: "off" }),
      EditorView.domEventHandlers({ beforeinput }),
      EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
    ],
  });
}

// A browser that replaces selected text copies its style into an attribute, which the page's policy forbids.
function beforeinput(event, editing) {
  const selection = getSelection();
  if (event.inputType !== "insertText" || event.data === null || event.isComposing || selection.isCollapsed) return false;
  const range = selection.getRangeAt(0);
  const from = editing.posAtDOM(range.startContainer, range.startOffset), to = editing.posAtDOM(range.endContainer, range.endOffset);
  const insert = editing.state.toText(event.data);
  editing.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: "input.type", scrollIntoView: true });
  event.preventDefault();
  return true;
}

// Underlines each problem in the text, marks its line and lists all problems below the editor.
export function mark(problems, count = problems.length) {
  const shown = problems.slice(0, SHOWN), placed = shown.filter(({ line }) => line > 0 && line <= view.state.doc.lines);
  view.dispatch(setDiagnostics(view.state, placed.map((problem) => ({ ...range(problem), severity: "error", message: problem.message }))));
  list.replaceChildren(...shown.map((problem) => {
    const where = problem.line ? `${problem.line}:${problem.column}` : "";
    const button = make("button", { type: "button" }, make("code", where), ` ${problem.message}`);
    button.addEventListener("click", () => go(problem));
    return make("li", button);
  }));
  if (count > SHOWN) list.append(make("li", `and ${grouped(count - SHOWN)} more`));
}

// The server counts characters; the browser counts UTF-16 code units.
const placeIn = ({ from, to, text }, column) => Math.min(to, from + [...text].slice(0, Math.max(0, column - 1)).join("").length);

function range({ line, column }) {
  const place = view.state.doc.line(line), { from, to, text } = place, start = placeIn(place, column);
  const word = /^[.@#]?\w+/.exec(text.slice(start - from));
  const end = Math.min(to, start + Math.max(1, word?.[0].length ?? 1));
  return end > start ? { from: start, to: end } : { from: Math.max(from, start - 1), to: start };
}

function go({ line, column }) {
  if (!line) return;
  const at = placeIn(view.state.doc.line(Math.min(line, view.state.doc.lines)), column);
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  view.focus();
}
