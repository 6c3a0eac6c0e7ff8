/* Pages in frames follow the theme that was chosen for the site, where it is not the system's: they cannot see it themselves. */
"use strict";

function follow() {
  const theme = document.body.dataset.theme;
  for (const frame of document.querySelectorAll(".notebook-output iframe[srcdoc]")) {
    const chosen = theme === "light" || theme === "dark" ? ` data-theme="${theme}"` : "";
    const page = frame.srcdoc.replace(/<html lang="en"( data-theme="\w+")?>/, `<html lang="en"${chosen}>`);
    if (page !== frame.srcdoc) frame.srcdoc = page;
  }
}

addEventListener("DOMContentLoaded", () => {
  follow();
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-theme"] });
});
