// Numbers that are brought up to date rest while nobody looks at them; a grave act is asked for only once.
"use strict";
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.matches("[data-live]") && document.hidden) event.preventDefault();
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });  // as it was left, it asks for nothing
document.addEventListener("submit", (event) => {
  const button = event.target.matches(".danger") && event.submitter;
  if (!button) return;
  if (button.getAttribute("aria-disabled")) { event.preventDefault(); return; }
  button.setAttribute("aria-disabled", "true");
  button.textContent = "Forgetting…";
});
