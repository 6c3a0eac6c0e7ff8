// CodeMirror as one file for the page of `bitwright serve`, and the licences of what is in it: npm ci && npm run build

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const folder = new URL("../../src/bitwright/web/assets/vendor/", import.meta.url);
const packages = ["@codemirror/autocomplete", "@codemirror/commands", "@codemirror/language", "@codemirror/lint", "@codemirror/state",
  "@codemirror/view", "@lezer/common", "@lezer/highlight", "@marijn/find-cluster-break", "crelt", "style-mod", "w3c-keyname"];

// style-mod writes a <style> element, which the page's policy forbids. Where a document can adopt style sheets it does
// so for shadow roots only; here it does so for the page too.
const adopt = {
  name: "adopt-style-sheets",
  setup(set) {
    set.onLoad({ filter: /style-mod\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8"), mended = text.replace("if (!root.head && root.adoptedStyleSheets", "if (root.adoptedStyleSheets");
      if (mended === text) throw new Error("style-mod has changed; look at how it mounts styles");
      return { contents: mended };
    });
  },
};

mkdirSync(folder, { recursive: true });
await build({
  entryPoints: ["codemirror.mjs"], bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none", charset: "utf8",
  banner: { js: "/* CodeMirror 6, MIT licence, see LICENSE.txt; made by tools/editor */" },
  outfile: new URL("codemirror.js", folder).pathname, plugins: [adopt],
});
const licences = packages.map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(new URL("LICENSE.txt", folder), licences.join("\n----\n\n"));
