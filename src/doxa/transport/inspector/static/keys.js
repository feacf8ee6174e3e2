// Keys: digits lead to pages, j and k choose a row, Enter opens it, letters press the button that has them (data-key).
// Everything that a key does can be done with a link or a button that is seen.
"use strict";
(() => {
  const typing = (one) => one.matches?.("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  const seen = (one) => one && !one.disabled && one.checkVisibility();
  const rows = (within = document) => [...(within?.querySelectorAll("[data-row]") ?? [])].filter(seen);
  const chosen = () => document.querySelector("[data-chosen]");

  // Where the chosen row stands: the list that it is in, and there the first row of what it belongs to, so that the
  // next one is chosen when it is settled, and it is again when that is undone.
  let list = "", place = 0;
  const note = (row) => {
    const within = row.parentElement.closest("[id]"), all = rows(within), first = rows(row.closest("[data-scope]"))[0];
    list = within?.id ?? "";
    place = Math.max(0, all.indexOf(first ?? row));
  };
  const there = () => {
    const within = rows(document.getElementById(list)), all = within.length ? within : rows();
    return all[Math.min(place, all.length - 1)];
  };
  const choose = (row, focus = true) => {
    chosen()?.removeAttribute("data-chosen");
    if (!row) return;
    row.setAttribute("data-chosen", "");
    note(row);
    if (!focus) return;
    row.scrollIntoView({ block: "nearest" });
    (row.matches("a, button, [tabindex]") ? row : row.querySelector("a, button, [tabindex]"))?.focus({ preventScroll: true });
  };
  const move = (step) => {
    const all = rows(), at = all.indexOf(chosen()), to = at + step;
    const over = to < 0 ? "[data-before]" : to >= all.length ? "[data-more]" : "";
    const page = at >= 0 && over ? document.querySelector(over) : null;
    if (seen(page)) page.click();
    else choose(at < 0 ? there() : all[Math.max(0, Math.min(to, all.length - 1))]);
  };
  const press = (key) => {
    const named = `[data-key="${CSS.escape(key)}"]`;
    const open = document.querySelector("dialog[open]");
    const row = chosen(), scope = row?.closest("[data-scope]");
    for (const where of open ? [open] : [row, scope, document]) {
      // What belongs to another row is not meant, where the chosen row has keys of its own.
      const others = where === document && scope;
      const found = [...(where?.querySelectorAll(named) ?? [])].find((one) => seen(one) && !(others && one.closest("[data-scope]")));
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
      if (event.key === "ArrowDown" && event.target.matches("[type=search]")) { choose(rows()[0]); event.preventDefault(); }
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
    choose(row, false);
  });

  document.addEventListener("click", (event) => {
    const dialog = event.target.closest("[data-close]")?.closest("dialog");
    if (dialog) { dialog.close(); event.preventDefault(); return; }
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
      const field = document.querySelector("#main [autofocus]");
      choose(there(), !field);
      begin(field);
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
    if (key?.form.matches("[data-typed]") && location.hash.length > 1) {  // `doxa inspect` opens the page with its key behind the #, which no server sees
      key.value = decodeURIComponent(location.hash.slice(1));
      history.replaceState(null, "", location.pathname + location.search);
      key.form.submit();
    }
    document.querySelector(".top nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
    const end = location.hash === "#end", all = rows();
    const first = document.querySelector("[data-begin] [data-row]") ?? all.find((row) => row.matches("[aria-current]")) ?? all[0];
    if (document.querySelector("[data-rows], [data-begin]")) choose(end ? all.at(-1) : first, end);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
