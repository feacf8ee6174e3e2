// What happens in the memory, as the server tells it (`doxaFollow`, for scripts of pages), and on pages that do not
// show it (data-news-from) a note that something did.
"use strict";
(() => {
  if (!window.EventSource) return;
  const RETRY_MS = 10_000;
  const kinds = ["turn", "change", "task", "waiting", "skipped", "reload", "over"];

  // A stream that is let go while nobody sees the page, since a browser opens few at once, and goes on where it was.
  const follow = (address, told) => {
    let source = null, last = "", timer = 0, ended = false;
    const close = () => { clearTimeout(timer); source?.close(); source = null; };
    const open = () => {
      if (source || ended || document.hidden) return;
      const url = new URL(address, location.href);
      if (last) url.searchParams.set("after", last);
      source = new EventSource(url);
      for (const kind of kinds) source.addEventListener(kind, (event) => {
        if (event.lastEventId) last = event.lastEventId;
        if (kind === "over") { ended = true; close(); }
        told(kind, event.data);
      });
      source.onopen = () => told("open", "");
      source.onerror = () => {
        told("lost", "");
        if (source?.readyState === EventSource.CLOSED) { close(); timer = setTimeout(open, RETRY_MS); }
      };
    };
    const seen = () => (document.hidden ? close() : open());
    document.addEventListener("visibilitychange", seen);
    addEventListener("pagehide", close);
    addEventListener("pageshow", open);
    open();
    return () => {
      ended = true;
      close();
      document.removeEventListener("visibilitychange", seen);
      removeEventListener("pagehide", close);
      removeEventListener("pageshow", open);
    };
  };
  window.doxaFollow = follow;

  // How much has changed since a page was loaded.
  let leave = null;
  const notice = () => {
    leave?.();
    leave = null;
    const main = document.getElementById("main"), news = document.getElementById("news");
    news?.replaceChildren();
    if (!news || !main?.dataset.newsFrom) return;
    let count = 0;
    const again = main.dataset.newsAgain;
    leave = follow(main.dataset.newsFrom, (kind, data) => {
      if (kind === "change" || kind === "task") count += 1;
      else if (kind === "skipped") count += Number(data);
      else if (kind !== "reload") return;
      const link = document.createElement("a");
      link.href = again;
      link.textContent = "load again";
      news.replaceChildren(kind === "reload" ? "Much has changed since you loaded this: " : `${count.toLocaleString("en")} ${count === 1 ? "change" : "changes"} since you loaded this: `, link);
    });
  };
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "main" || event.detail.elt?.id === "main") notice();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", notice); else notice();
})();
