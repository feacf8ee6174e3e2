// The dialogue: Enter sends, the steps of an answer are shown as they end, and what changes is put in as it is told.
// Without this script the form does the same, and the page shows how it stands.
"use strict";
(() => {
  const MOST = 200;  // rows that stay
  const start = () => {
    const page = document.querySelector(".chat");
    const form = document.getElementById("say"), field = document.getElementById("text");
    const dialogue = document.getElementById("dialogue"), said = document.getElementById("said");
    const changes = document.getElementById("changes"), steps = document.getElementById("steps");
    const wrong = document.getElementById("wrong"), button = form.querySelector("button"), state = document.getElementById("live-state");
    const live = !new URLSearchParams(location.search).get("before");  // an earlier page is not added to

    const parsed = (html) => {
      const made = document.createElement("template");
      made.innerHTML = html;  // written by the server, where all that was said is escaped
      return made.content;
    };
    const empty = (list) => list.querySelector(":scope > .empty")?.remove();
    const put = (turn) => {
      const known = [...dialogue.children].find((one) => one.dataset.turn === turn.dataset.turn);
      if (known) { known.replaceWith(turn); return; }
      empty(dialogue);
      dialogue.append(turn);
      said.scrollTop = 0;  // its bottom: the latest is where the list begins to be shown
    };
    const add = (row) => {
      empty(changes);
      changes.prepend(row);
      while (changes.children.length > MOST) changes.lastElementChild.remove();
    };
    const say = (words) => { state.textContent = words; state.hidden = !words; };

    window.doxaFollow?.(page.dataset.live, (kind, data) => {
      if (kind === "waiting") document.getElementById("waiting").replaceChildren(parsed(data));
      else if (kind === "turn") {
        for (const turn of [...parsed(data).querySelectorAll("[data-turn]")]) {
          if (turn.dataset.session !== page.dataset.session) add(turn);
          else if (live) put(turn);
        }
      } else if (kind === "change" || kind === "task") for (const row of [...parsed(data).querySelectorAll("[data-news]")]) { row.classList.add("fresh"); add(row); }
      else if (kind === "skipped") say(`${Number(data).toLocaleString("en")} earlier changes are not shown.`);
      else if (kind === "reload") say("Much has changed. Load the page again to see it as it stands.");
      else if (kind === "over") say("This key no longer counts.");
      else if (kind === "lost") say("The connection was lost; trying again.");
      else if (kind === "open" && state.textContent.startsWith("The connection")) say("");
    });

    const working = () => {
      const row = document.createElement("li");
      row.className = "quiet working";
      row.textContent = "at work…";
      steps.replaceChildren(row);
      steps.hidden = false;
    };
    const step = (one) => {
      const row = document.createElement("li"), time = document.createElement("span");
      row.textContent = `${one.name} `;
      time.textContent = `${one.ms.toFixed(one.ms < 10 ? 1 : 0)} ms`;
      time.className = "quiet";
      row.append(time);
      if (one.degraded) { const why = document.createElement("span"); why.className = "unsure"; why.textContent = ` ${one.degraded}`; row.append(why); }
      steps.insertBefore(row, steps.querySelector(".working"));
    };
    const told = (block) => {
      const lines = block.split("\n"), of = (name) => lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length)).join("\n");
      const kind = of("event: ");
      if (!kind) return;
      const data = JSON.parse(of("data: "));
      if (kind === "step") step(data);
      else if (kind === "reply") for (const turn of [...parsed(data.html).querySelectorAll("[data-turn]")]) put(turn);
      else if (kind === "error") throw new Error(data.detail);
    };
    const read = async (response) => {
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        blocks.forEach(told);
      }
    };
    const refused = async (response) => {
      const door = response.headers.get("HX-Redirect");
      if (door) { location.assign(door); return; }
      throw new Error(parsed(await response.text()).textContent.trim() || `The server answered ${response.status}.`);
    };
    const send = async () => {
      const words = new FormData(form), text = field.value;
      button.disabled = true;
      wrong.hidden = true;
      working();
      field.value = "";
      try {
        const response = await fetch(form.action, {
          method: "POST",
          body: new URLSearchParams(words),
          headers: { "Accept": "text/event-stream", "X-Doxa-Form": words.get("token"), "HX-Request": "true" },
        });
        await (response.ok ? read(response) : refused(response));
      } catch (error) {
        if (!field.value) field.value = text;
        wrong.textContent = error.message || "The connection was lost. What you said may have been stored.";
        wrong.hidden = false;
      } finally {
        button.disabled = false;
        steps.querySelector(".working")?.remove();
        if (!wrong.hidden) steps.hidden = true;
        field.focus();
      }
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!button.disabled && field.value.trim()) send();
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
