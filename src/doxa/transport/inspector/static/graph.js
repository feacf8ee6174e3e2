// Graphs: every `.graph[data-graph]` is drawn from the JSON behind its address, laid out by elk from left to right.
// What a drawing shows stands on the page in words, too; arrow keys move in it, Enter opens, + shows more.
//   {"nodes": [{"id", "label", "kind", "state"?, "note"?, "href"?, "expand"?}],
//    "edges": [{"id", "source", "target", "label"?, "kind", "note"?, "href"?, "told"?}], "root"?: id}
// `href` leads on, `expand` is the address of more around a node, `told` that of the steps behind an edge ({"lines"}).
// `data-merge="JSON-URL" data-into="ID"` on an element that comes later adds to the graph of that id.
"use strict";
(() => {
  const FONT = 13, LINE = 17, WIDEST = 210, LINES = 3, LEAST_ZOOM = 0.55, MOST_BESIDE = 16, MOST_ZOOM = 2.5;
  const SIZES = [["low", 208], ["middle", 320]];  // classes of graph.css, and their heights
  const KINDS = {  // of nodes: shape and colour
    entity: ["round-rectangle", "link"], value: ["rectangle", "quiet"], fact: ["round-rectangle", "firm"],
    turn: ["bottom-round-rectangle", "quiet"], rule: ["cut-rectangle", "unsure"], task: ["round-rectangle", "link"],
    source: ["barrel", "quiet"], answer: ["round-rectangle", "firm"], more: ["ellipse", "quiet"],
    loop: ["round-octagon", "link"], slot: ["rectangle", "quiet"], item: ["ellipse", "quiet"], condition: ["diamond", "unsure"],
  };
  const LINKS = {  // of edges: line and colour
    firm: ["solid", "quiet"], tentative: ["dotted", "unsure"], past: ["solid", "line"], inferred: ["dashed", "link"],
    conflict: ["dashed", "wrong"], replaced: ["solid", "unsure"], because: ["solid", "firm"], said: ["dotted", "quiet"],
    part: ["solid", "line"], before: ["solid", "unsure"], derived: ["dashed", "link"], condition: ["dotted", "unsure"], fact: ["solid", "firm"],
  };
  const STATES = { tentative: "unsure", conflict: "wrong", disputed: "unsure", past: "quiet", added: "firm", gone: "wrong", done: "firm", blocked: "unsure", removed: "line" };
  const WORDS = {
    firm: "believed", tentative: "not sure", past: "no longer so", inferred: "follows, nobody said it", conflict: "cannot both be so",
    replaced: "took the place of", because: "leads to", said: "says",
    part: "holds", before: "has to be there before", derived: "its value is followed by", condition: "is the condition of", fact: "carries",
  };
  const COLOURS = ["ink", "quiet", "line", "link", "firm", "unsure", "wrong", "chosen", "card", "ground"];
  const drawings = new Map();  // from the box of a graph to what is drawn in it
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const dark = matchMedia("(prefers-color-scheme: dark)");

  // A variable may hold light-dark(...): only the colour of an element says which of them it is.
  const colours = (box) => {
    const probe = box.appendChild(document.createElement("i")), found = {};
    for (const name of COLOURS) {
      probe.style.color = `var(--${name})`;
      found[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    return found;
  };

  const pen = document.createElement("canvas").getContext("2d");
  const family = () => getComputedStyle(document.body).fontFamily;
  const wide = (text) => { pen.font = `${FONT}px ${family()}`; return pen.measureText(text).width; };
  const cut = (text, width) => {
    if (wide(text) <= width) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (wide(text.slice(0, middle) + "…") <= width) low = middle; else high = middle - 1;
    }
    return text.slice(0, low) + "…";
  };
  // What cannot be seen or turns others around is left out of a drawing; the list beside it shows it.
  const plain = (text) => String(text ?? "").slice(0, 400).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u2028\u2029]+/gu, " ").trim();
  const fold = (text) => {
    const lines = [];
    let line = "";
    for (const word of plain(text).split(/\s+/)) {
      const longer = line ? `${line} ${word}` : word;
      if (!line || wide(longer) <= WIDEST) line = longer;
      else { lines.push(line); line = word; }
    }
    if (line) lines.push(line);
    const shown = lines.slice(0, LINES).map((one) => cut(one, WIDEST));
    if (lines.length > LINES) shown[LINES - 1] = cut(`${lines[LINES - 1]} ${lines[LINES]}`, WIDEST - 12).replace(/…?$/, "…");
    return shown;
  };

  const nodeOf = (one) => {
    const lines = fold(one.label || one.id);
    const extra = one.note && one.kind === "entity" ? [cut(plain(one.note), WIDEST)] : [];
    const all = [...lines, ...extra];
    return { group: "nodes", data: {
      ...one, text: all.join("\n"), width: Math.max(34, ...all.map(wide)) + 22, height: all.length * LINE + 12,
    } };
  };
  const edgeOf = (one) => ({ group: "edges", data: { ...one, text: cut(plain(one.label), WIDEST) } });

  const styles = (box) => {
    const paint = colours(box);
    const line = (edge) => LINKS[edge.data("kind")] ?? LINKS.firm;
    const border = (node) => paint[STATES[node.data("state")] ?? (KINDS[node.data("kind")] ?? KINDS.value)[1]];
    return [
      { selector: "node", style: {
        label: "data(text)", width: "data(width)", height: "data(height)", "text-wrap": "wrap", "text-valign": "center", "text-max-width": WIDEST + 40,
        "font-family": family(), "font-size": FONT, "line-height": 1.25, color: paint.ink, "background-color": paint.ground,
        shape: (node) => (KINDS[node.data("kind")] ?? KINDS.value)[0], "border-width": 1.5, "border-color": border,
        "border-style": (node) => (node.data("state") === "tentative" ? "dotted" : node.data("state") === "inferred" ? "dashed" : "solid"),
        opacity: (node) => (node.data("state") === "past" ? 0.6 : 1),
      } },
      { selector: "node[kind = 'value']", style: { "border-width": 1 } },
      { selector: "node[expand]", style: { "border-width": 3, "border-style": "double" } },
      { selector: "node.root", style: { "background-color": paint.chosen, "font-weight": 700 } },
      { selector: "edge", style: {
        width: 1.5, "line-color": (edge) => paint[line(edge)[1]], "line-style": (edge) => line(edge)[0], "target-arrow-color": (edge) => paint[line(edge)[1]],
        "target-arrow-shape": "triangle", "arrow-scale": 0.9, "curve-style": "bezier", "font-family": family(), "font-size": 11, color: paint.quiet,
        "text-background-color": paint.card, "text-background-opacity": 1, "text-background-padding": 2,
        opacity: (edge) => (edge.data("kind") === "past" ? 0.7 : 1),
      } },
      { selector: "edge.middle", style: { label: "data(text)" } },
      { selector: "edge.atTarget", style: { "target-label": "data(text)", "target-text-offset": "data(offset)" } },
      { selector: "edge.atSource", style: { "source-label": "data(text)", "source-text-offset": "data(offset)" } },
      { selector: "edge.tree", style: { "curve-style": "round-taxi", "taxi-direction": "horizontal", "taxi-turn": "data(turn)", "taxi-turn-min-distance": 6 } },
      { selector: ".chosen", style: { "underlay-color": paint.link, "underlay-opacity": 0.35, "underlay-padding": 6, "z-index": 9 } },
    ];
  };

  // Of what has very many leaves the later half stands on its other side.
  const balanced = (edges) => {
    const fans = new Map(), back = new Set();
    edges.forEach((edge) => { if (edge.target().degree() === 1) fans.set(edge.source().id(), [...(fans.get(edge.source().id()) ?? []), edge.id()]); });
    for (const leaves of fans.values()) if (leaves.length > MOST_BESIDE) leaves.slice(Math.ceil(leaves.length / 2)).forEach((id) => back.add(id));
    return back;
  };

  // The places that elk finds for some nodes; rows and columns where it finds none.
  const places = async (nodes, edges) => {
    const inside = edges.filter((edge) => edge.source().anySame(nodes) && edge.target().anySame(nodes));
    const back = balanced(inside);
    const room = Math.max(40, ...inside.map((edge) => wide(edge.data("text")))) + 46;
    try {
      const found = await new ELK().layout({
        id: "all",
        layoutOptions: {
          "elk.algorithm": "layered", "elk.direction": "RIGHT", "elk.layered.spacing.nodeNodeBetweenLayers": String(room), "elk.spacing.nodeNode": "14",
          "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF", "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED", "elk.separateConnectedComponents": "true",
          "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
        },
        children: nodes.map((node) => ({ id: node.id(), width: node.data("width"), height: node.data("height") })),
        edges: inside.map((edge) => {
          const ends = [[edge.source().id()], [edge.target().id()]], [sources, targets] = back.has(edge.id()) ? ends.reverse() : ends;
          return { id: edge.id(), sources, targets };
        }),
      });
      return new Map(found.children.map((one) => [one.id, { x: one.x + one.width / 2, y: one.y + one.height / 2 }]));
    } catch (problem) {
      console.info("elk found no layout", problem);
      const across = Math.ceil(Math.sqrt(nodes.length));
      return new Map(nodes.map((node, at) => [node.id(), { x: (at % across) * (WIDEST + 60), y: Math.floor(at / across) * 90 }]));
    }
  };

  // Labels stand beside the end that has fewest others: those of a fan do not meet there.
  const label = (cy) => cy.batch(() => cy.edges().forEach((edge) => {
    const [source, target] = [edge.source(), edge.target()], forth = source.position("x") < target.position("x");
    const [from, to] = [source.degree(), target.degree()], single = edge.parallelEdges().length === 1 && source !== target;
    const across = Math.abs(source.position("x") - target.position("x")) > (source.data("width") + target.data("width")) / 2 + 40;
    const tree = single && across;
    edge.data({ offset: wide(edge.data("text")) / 2 + 12, turn: from > to ? 22 : -22 });
    edge.toggleClass("tree", tree).toggleClass("atTarget", tree && from > to).toggleClass("atSource", tree && from < to);
    edge.toggleClass("middle", !tree || from === to).toggleClass("back", !forth);
  }));

  class Drawing {
    constructor(box) {
      this.box = box;
      this.tools = document.createElement("div");
      this.canvas = document.createElement("div");
      this.about = document.createElement("div");
      this.legend = document.createElement("ul");
      this.canvas.className = "graph-canvas";
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute("role", "application");
      this.canvas.setAttribute("aria-label", `${plain(box.dataset.name) || "Graph"}. Arrow keys move, Enter opens, plus shows more. The list on this page says the same.`);
      this.tools.className = "graph-tools";
      this.about.className = "graph-about";
      this.about.setAttribute("aria-live", "polite");
      this.legend.className = "graph-legend";
      box.replaceChildren(this.canvas, this.tools);
      box.after(this.legend, this.about);
      this.tool("Fit", "f", () => this.fit());
      this.tool("+", "]", () => this.zoom(1.3), "Zoom in");
      this.tool("−", "[", () => this.zoom(1 / 1.3), "Zoom out");
      this.tool("Save PNG", "", () => this.save());
      this.cy = cytoscape({
        container: this.canvas, elements: [], style: styles(box), minZoom: 0.1, maxZoom: MOST_ZOOM, boxSelectionEnabled: false, autounselectify: true,
        userZoomingEnabled: false,  // a page that is scrolled does not stop at a graph: only one that is chosen zooms
      });
      this.cy.on("tap", "node", (event) => { this.choose(event.target); this.expand(event.target); });
      this.cy.on("dbltap", "node", (event) => this.open(event.target));
      this.cy.on("tap", "edge", (event) => this.choose(event.target));
      this.cy.on("tap", (event) => event.target === this.cy && this.choose(null));
      this.canvas.addEventListener("focusin", () => { this.cy.userZoomingEnabled(true); if (!this.chosen) this.choose(this.first()); });
      this.canvas.addEventListener("focusout", () => this.cy.userZoomingEnabled(false));
      this.canvas.addEventListener("pointerdown", () => this.canvas.focus({ preventScroll: true }));
      this.canvas.addEventListener("keydown", (event) => this.press(event));
    }

    tool(words, key, act, title = "") {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = words;
      if (title) { button.title = title; button.setAttribute("aria-label", title); }
      if (key) button.dataset.key = key;
      button.addEventListener("click", act);
      this.tools.append(button);
    }

    first() { const root = this.cy.nodes(".root"); return (root.nonempty() ? root : this.cy.nodes())[0] ?? null; }

    async draw() {
      const told = await this.fetch(this.box.dataset.graph);
      if (!told) return;
      this.add(told);
      if (told.root) this.cy.getElementById(told.root).addClass("root");
      const found = await places(this.cy.nodes(), this.cy.edges());
      this.cy.batch(() => this.cy.nodes().forEach((node) => node.position(found.get(node.id()) ?? { x: 0, y: 0 })));
      label(this.cy);
      this.shrink();
      this.fit();
      this.box.dataset.drawn = String(this.cy.nodes().length);
    }

    async fetch(address) {
      try {
        const answer = await fetch(address, { headers: { Accept: "application/json" }, credentials: "same-origin" });
        if (answer.ok) return await answer.json();
        this.say(`This part of the graph did not come (${answer.status}). Load the page again.`);
      } catch {
        this.say("The server does not answer. Load the page again when it does.");
      }
      return null;
    }

    // Takes nodes and edges in, and gives back the nodes that are new.
    add(told) {
      const cy = this.cy, news = told.nodes.filter((one) => cy.getElementById(one.id).empty());
      cy.add(news.map(nodeOf));
      for (const one of told.nodes) {
        const note = cy.getElementById(one.id).data("note");
        if (one.note && note !== one.note && (!note || one.id === told.root)) this.renote(one);
      }
      const known = (id) => cy.getElementById(id).nonempty();
      cy.add(told.edges.filter((one) => !known(one.id) && known(one.source) && known(one.target)).map(edgeOf));
      this.explain();
      return cy.collection(news.map((one) => cy.getElementById(one.id)).flatMap((one) => one.toArray()));
    }

    renote(one) {
      const node = this.cy.getElementById(one.id);
      node.data(nodeOf({ ...node.data(), note: one.note }).data);
    }

    // More of the graph: what is there stays where it is, and what is new finds a place beside what it came from.
    merge(told, from) {
      const around = from ?? this.cy.getElementById(told.root ?? "");
      const news = this.add(told);
      return this.place(news, around);
    }

    async place(news, around) {
      if (news.nonempty()) {
        const anchor = around.nonempty() ? around : this.first() ?? news;
        const here = { ...anchor.position() }, old = this.cy.nodes().difference(news);
        const found = await places(news.union(anchor), this.cy.edges());
        const at = found.get(anchor.id());
        const boxes = (shift) => news.map((node) => ({ node, x: found.get(node.id()).x - at.x + here.x, y: found.get(node.id()).y - at.y + here.y + shift }));
        const meets = (spots) => spots.some((spot) => old.some((node) =>
          Math.abs(node.position("x") - spot.x) < (node.data("width") + spot.node.data("width")) / 2 + 10 &&
          Math.abs(node.position("y") - spot.y) < (node.data("height") + spot.node.data("height")) / 2 + 8));
        let spots = boxes(0);
        for (let step = 1; step < 400 && meets(spots); step++) spots = boxes((step % 2 ? 1 : -1) * Math.ceil(step / 2) * 24);
        this.cy.batch(() => spots.forEach(({ node, x, y }) => node.position({ x, y })));
      }
      label(this.cy);
      this.box.dataset.drawn = String(this.cy.nodes().length);
      if (news.nonempty()) { this.box.classList.remove(...SIZES.map(([size]) => size)); this.cy.resize(); }
      const seen = this.cy.extent(), all = news.boundingBox();
      if (news.nonempty() && (all.x1 < seen.x1 || all.x2 > seen.x2 || all.y1 < seen.y1 || all.y2 > seen.y2)) this.fit(news.union(around));
    }

    async expand(node) {
      const address = node.data("expand");
      if (!address) return;
      node.removeData("expand");
      const told = await this.fetch(address);
      if (!told) { node.data("expand", address); return; }
      const more = node.data("kind") === "more", from = more ? node.neighborhood("node") : node;
      if (more) { node.remove(); this.choose(from[0] ?? null); }
      await this.merge(told, from.first());
      if (this.chosen) this.tell(this.chosen);
    }

    // A drawing of little takes little room. By a class: htmx copies what an element with an id has to the one in its
    // place, and a style that is copied counts as an inline one.
    shrink() {
      const { w, h } = this.cy.elements().boundingBox(), zoom = Math.min(1.25, (this.canvas.clientWidth - 48) / Math.max(1, w));
      const size = SIZES.find(([, height]) => h * zoom + 90 <= height)?.[0];
      if (size) this.box.classList.add(size);
    }

    fit(some = this.cy.elements()) {
      if (some.empty()) return;
      this.cy.resize();
      this.cy.stop();
      const there = this.cy.getFitViewport(some, 24);
      if (!there) return;
      if (still.matches || !this.shown) this.cy.viewport(there); else this.cy.animate(there, { duration: 180, complete: () => this.near() });
      this.shown = true;
      this.near();
    }

    // Of a graph that would be too small to read, a part is shown.
    near() {
      const cy = this.cy, zoom = Math.max(LEAST_ZOOM, Math.min(cy.zoom(), 1.25));
      if (Math.abs(zoom - cy.zoom()) < 0.001 || cy.animated()) return;
      cy.zoom(zoom);
      cy.center(zoom > LEAST_ZOOM ? undefined : this.chosen ?? this.first());
    }

    zoom(by) {
      const cy = this.cy;
      cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
    }

    save() {
      const picture = this.cy.png({ output: "blob", full: true, scale: 2, maxWidth: 8000, maxHeight: 8000, bg: colours(this.box).card });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(picture);
      link.download = `${this.box.dataset.file || "graph"}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    choose(one) {
      this.cy.elements(".chosen").removeClass("chosen");
      this.chosen = one && one.nonempty?.() ? one : null;
      this.chosen?.addClass("chosen");
      this.tell(this.chosen);
    }

    open(one) { const address = one?.data("href"); if (address) location.assign(address); }

    say(words) { this.about.textContent = words; }

    // What is chosen, in words, with what can be done with it.
    tell(one) {
      this.about.replaceChildren();
      if (!one) return;
      const part = (tag, text, name = "") => { const made = document.createElement(tag); made.textContent = text; if (name) made.className = name; return made; };
      const called = (node) => plain(node.data("label") || node.id());
      const title = one.isNode() ? called(one) : `${called(one.source())} ${plain(one.data("label"))} ${called(one.target())}`;
      const line = part("p", "");
      line.append(part("strong", title));
      const kind = one.isNode() ? one.degree() === 1 ? "1 link" : `${one.degree()} links` : WORDS[one.data("kind")] ?? "";
      if (kind) line.append(" ", part("span", kind, "quiet small"));
      this.about.append(line);
      for (const words of [one.data("note")].flat()) if (words) this.about.append(part("p", plain(words), "small"));
      if (one.data("told")) this.read(one);
      const acts = part("div", "", "acts");
      if (one.data("href")) { const link = part("a", "Open", "button"); link.href = one.data("href"); acts.append(link); }
      if (one.isNode() && one.data("expand")) {
        const button = part("button", "Show more around it");
        button.type = "button";
        button.addEventListener("click", () => this.expand(one));
        acts.append(button);
      }
      if (acts.childElementCount) this.about.append(acts);
    }

    // The steps by which something follows, which are fetched when they are looked at.
    async read(one) {
      const told = await this.fetch(one.data("told"));
      if (!told || this.chosen !== one) return;
      const steps = document.createElement("ol");
      for (const line of told.lines) steps.append(Object.assign(document.createElement("li"), { textContent: plain(line) }));
      this.about.append(steps);
    }

    explain() {
      const kinds = [...new Set(this.cy.edges().map((edge) => edge.data("kind")))].filter((kind) => WORDS[kind]);
      this.legend.replaceChildren(...(kinds.length > 1 ? kinds : []).map((kind) => {
        const row = document.createElement("li"), mark = document.createElement("span");
        mark.className = `mark-${kind}`;
        row.append(mark, WORDS[kind]);
        return row;
      }));
    }

    // The neighbour that lies in a direction; where there is none, the nearest node there.
    toward(x, y) {
      const from = this.chosen?.isNode() ? this.chosen : this.chosen?.source() ?? this.first();
      if (!from) return null;
      const here = from.position(), cost = (node) => {
        const dx = node.position("x") - here.x, dy = node.position("y") - here.y, along = dx * x + dy * y, aside = Math.abs(dx * y - dy * x);
        return along <= 1 ? Infinity : along + 2.5 * aside;
      };
      const best = (nodes) => nodes.map((node) => [cost(node), node]).filter(([much]) => much < Infinity).sort((one, other) => one[0] - other[0])[0]?.[1];
      const beside = x ? best(from.neighborhood("node")) : undefined;
      return beside ?? best(this.cy.nodes().difference(from));
    }

    press(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (step) {
        const next = this.toward(...step);
        if (next) { this.choose(next); this.follow(next); }
      } else if (event.key === "Enter") this.open(this.chosen);
      else if (event.key === "+" || event.key === "=") { if (this.chosen?.isNode()) this.expand(this.chosen); }
      else if (event.key === "Escape") this.choose(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    follow(node) {
      const seen = this.cy.extent(), { x, y } = node.position();
      if (x < seen.x1 || x > seen.x2 || y < seen.y1 || y > seen.y2) this.cy.center(node);
    }

    repaint() { this.cy.style(styles(this.box)); }
  }

  const start = () => {
    for (const [box, drawing] of drawings) if (!box.isConnected) { drawing.cy.destroy(); drawings.delete(box); }
    for (const box of document.querySelectorAll(".graph[data-graph]")) {
      if (drawings.has(box)) continue;
      const drawing = new Drawing(box);
      drawings.set(box, drawing);
      drawing.ready = drawing.draw();
    }
    for (const more of document.querySelectorAll("[data-merge][data-into]")) {
      const drawing = drawings.get(document.getElementById(more.dataset.into)), address = more.dataset.merge;
      if (!drawing) continue;
      more.removeAttribute("data-merge");
      drawing.ready.then(() => drawing.fetch(address)).then((told) => told && drawing.merge(told));
    }
  };
  dark.addEventListener("change", () => drawings.forEach((drawing) => drawing.repaint()));
  document.addEventListener("htmx:afterSettle", start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
