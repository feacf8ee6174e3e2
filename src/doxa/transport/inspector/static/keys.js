// Keys: digits lead to pages, j and k choose a row, Enter opens it, letters press the button that has them (data-key).
// Everything that a key does can be done with a link or a button that is seen.
"use strict";
(() => {
  const typing = (one) => one.matches?.("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  const seen = (one) => one && !one.disabled && one.checkVisibility();
  const rows = () => [...document.querySelectorAll("[data-row]")].filter(seen);
  let place = 0;  // of the row that is chosen, so that the next one is when it is settled

  const chosen = () => document.querySelector("[data-chosen]");
  const choose = (at, focus = true) => {
    const all = rows();
    chosen()?.removeAttribute("data-chosen");
    if (!all.length) return;
    place = Math.max(0, Math.min(at, all.length - 1));
    const row = all[place];
    row.setAttribute("data-chosen", "");
    if (!focus) return;
    row.scrollIntoView({ block: "nearest" });
    (row.matches("a, button, [tabindex]") ? row : row.querySelector("a, button, [tabindex]"))?.focus({ preventScroll: true });
  };
  const move = (step) => {
    const all = rows(), at = all.indexOf(chosen());
    const last = at + step >= all.length && document.querySelector("[data-more]");
    if (last && seen(last)) last.click();
    choose(at < 0 ? place : at + step);
  };
  const press = (key) => {
    const named = `[data-key="${CSS.escape(key)}"]`;
    const open = document.querySelector("dialog[open]");
    const where = open ? [open] : [chosen()?.closest("[data-scope]"), chosen(), document];
    for (const place of where) {
      const found = [...(place?.querySelectorAll(named) ?? [])].find(seen);
      if (!found) continue;
      if (found.matches("input:not([type=submit], [type=checkbox]), textarea, select")) { found.focus(); found.select?.(); }
      else found.click();
      return true;
    }
    return false;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target)) {
      if (event.key === "Escape" && !event.target.closest("dialog")) { event.target.blur(); event.preventDefault(); }
      if (event.key === "ArrowDown" && event.target.matches("[type=search]")) { choose(0); event.preventDefault(); }
      return;
    }
    if (!document.querySelector("dialog[open]")) {
      if (event.key === "j" || (event.key === "ArrowDown" && event.target.matches("[data-row], [data-row] *"))) { move(1); event.preventDefault(); return; }
      if (event.key === "k" || (event.key === "ArrowUp" && event.target.matches("[data-row], [data-row] *"))) { move(-1); event.preventDefault(); return; }
      if (event.key === "Enter" && !event.target.matches("a, button, summary")) {
        const row = chosen();
        const link = row && (row.matches("a") ? row : row.querySelector("a"));
        if (link) { link.click(); event.preventDefault(); }
        return;
      }
    }
    if (event.key.length === 1 && press(event.key)) event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-row]");
    if (!row || row === chosen()) return;
    chosen()?.removeAttribute("data-chosen");
    row.setAttribute("data-chosen", "");
    place = rows().indexOf(row);
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) { event.target.closest("dialog")?.close(); event.preventDefault(); return; }
    if (!event.target.closest("[data-help]")) return;
    const told = document.getElementById("keys");
    told.replaceChildren();
    const all = new Map([["j k", "next and previous row"], ["Enter", "open the row"], ["Esc", "leave a field or a dialog"]]);
    for (const one of document.querySelectorAll("[data-key]")) {
      if (!seen(one) || all.has(one.dataset.key)) continue;
      all.set(one.dataset.key, one.title || one.getAttribute("aria-label") || [...one.childNodes].filter((node) => node.nodeName !== "KBD").map((node) => node.textContent).join("").trim());
    }
    for (const [key, words] of all) {
      const name = document.createElement("dt"), about = document.createElement("dd"), cap = document.createElement("kbd");
      cap.textContent = key; name.append(cap); about.textContent = words; told.append(name, about);
    }
    document.getElementById("help").showModal();
  });

  // A field that holds a sentence opens with the part of it chosen that is likely to be written anew.
  const begin = (field) => {
    field?.focus();
    const part = field?.dataset.select, at = part ? field.value.lastIndexOf(part) : -1;
    if (at >= 0) field.setSelectionRange(at, at + part.length);
  };

  // What changes something is shown in a dialog before it is done.
  document.addEventListener("htmx:afterSwap", (event) => {
    const dialog = document.getElementById("dialog");
    if (event.detail.target === dialog) { if (!dialog.open) dialog.showModal(); begin(dialog.querySelector("[autofocus]")); }
    else if (event.detail.target?.id === "main" || event.detail.elt?.id === "main") {
      if (dialog?.open) dialog.close();
      choose(place);
      const done = document.querySelector(".done p"), status = document.getElementById("status");
      if (done && status) status.textContent = done.textContent;
    }
  });
  // An answer that says what went wrong is shown like any other.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status < 400) return;
    event.detail.shouldSwap = true;
    const dialog = document.getElementById("dialog");
    event.detail.target = dialog;
    event.detail.selectOverride = "unset";
    event.detail.swapOverride = "innerHTML";
  });

  const start = () => {
    const key = document.getElementById("key");
    if (key && location.hash.length > 1) {  // `doxa inspect` opens the page with its key behind the #, which no server sees
      key.value = decodeURIComponent(location.hash.slice(1));
      history.replaceState(null, "", location.pathname + location.search);
      key.form.submit();
    }
    if (document.querySelector("[data-rows]")) choose(0, false);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
