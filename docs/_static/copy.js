/* A button on every block of code: of a session it copies the commands, of Python without its prompts, else all of it. */
"use strict";

function commands(text) {
  const lines = text.split("\n");
  const typed = lines.filter((line) => /^(\$|>>>|\.\.\.) /.test(line)).map((line) => line.replace(/^\S+ /, ""));
  return (typed.length && /^(\$|>>>) /m.test(text) ? typed : lines).join("\n").replace(/\n*$/, "\n");
}

function put(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done ? Promise.resolve() : Promise.reject(new Error("copying is not allowed"));
}

addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", () => {
      const say = (word) => {
        button.textContent = word;
        setTimeout(() => (button.textContent = "Copy"), 1500);
      };
      put(commands(block.querySelector("pre").textContent)).then(() => say("Copied"), () => say("Not allowed"));
    });
    block.prepend(button);
  }
});
