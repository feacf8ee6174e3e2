// On a narrow screen the chosen task stands above the outline: what was opened there begins at the top.
"use strict";
document.addEventListener("htmx:afterSettle", (event) => {
  const main = event.target.closest("#main") ?? document.getElementById("main");
  if (event.target.id !== "dialog" && main?.querySelector(".opened") && matchMedia("(max-width: 50rem)").matches) scrollTo(0, 0);
});
