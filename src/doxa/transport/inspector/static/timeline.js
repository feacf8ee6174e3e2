// A slider sets the field beside it and tells of its day in words; the form then fetches what that day shows.
"use strict";
(() => {
  const DAY = 86_400_000;
  const words = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
  const parts = (one) => {
    const axis = one.closest("[data-axis]");
    return axis && { first: Date.parse(axis.dataset.first), range: axis.querySelector("[type=range]"), field: axis.querySelector("[name]"), output: axis.querySelector("output") };
  };
  const tell = ({ range, output }, text) => { output.value = text; range.setAttribute("aria-valuetext", text); };
  const moved = (one) => one.form.dispatchEvent(new CustomEvent("moved", { bubbles: true }));

  document.addEventListener("input", (event) => {
    if (event.target.type !== "range") return;
    const axis = parts(event.target);
    if (!axis) return;
    const day = new Date(axis.first + event.target.valueAsNumber * DAY);
    axis.field.value = day.toISOString().slice(0, 10) + (axis.field.type === "date" ? "" : "T23:59:59");
    tell(axis, words.format(day));
    moved(event.target);
  });
  document.addEventListener("change", (event) => {
    const axis = event.target.name && parts(event.target);
    if (!axis || !event.target.value) return;
    const day = Date.parse(`${event.target.value.slice(0, 10)}T00:00:00Z`);
    axis.range.value = Math.round((day - axis.first) / DAY);
    tell(axis, words.format(day) + (event.target.type === "date" ? "" : `, ${event.target.value.slice(11, 16)}`));
    moved(event.target);
  });

  document.documentElement.classList.add("sliding");  // without a script a slider does nothing, and is not shown
})();
