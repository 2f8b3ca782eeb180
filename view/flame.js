// SPDX-License-Identifier: MIT
// The flame graph: callers above callees (inverted: callees above callers), siblings sorted by width. It is
// drawn on a canvas. Only visible frames that are at least half a pixel wide are drawn, so the cost depends
// on the number of pixels, not on the size of the tree. The narrower frames of a parent are drawn as one bar,
// after their siblings. Keys: arrows move, Enter zooms, Home goes to the root; main.js handles Esc.

import { colors, el } from "./dom.js";
import { describe } from "./views.js";

const ROW = 21, PAD = 5, LEAST = 0.5;
const COLORS = ["lua1", "lua2", "lua3", "lua4", "lua5", "native", "collector", "rest", "frame-text",
                "frame-dim", "match", "match-text", "focus", "panel"];

// Returns a small box in the colour with this name, for legends.
export const swatch = name => el("i", { style: `background: var(--${name})` });

// Draws the tree store.graph. 'store' is the page's Store, or another object with the members of Store that
// this class uses: graph, state.zoom, derived.marks, data.functions and set().
export class Flame {
  constructor(store, names = COLORS, id = "frame") {
    this.store = store;
    this.names = names;
    this.focus = 0;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.spacer = el("div", { class: "flame-height" });
    this.scroller = el("div", {
      class: "flame", tabindex: 0, role: "group", "aria-roledescription": "flame graph",
      "aria-label": "Flame graph. Arrow keys move from frame to frame, Enter zooms, Escape goes back.",
      "aria-describedby": id,
    }, this.canvas, this.spacer);
    this.name = el("b");
    this.where = el("i");
    this.numbers = el("span");
    this.details = el("p", { id, class: "frame", "aria-live": "polite" },
                      this.name, this.where, this.numbers);
    this.callers = el("button", { type: "button", class: "quiet", hidden: true,
      onclick: () => store.set({ fn: this.current(), tab: "callers" }) }, "Callers and callees");
    this.element = el("div", {}, el("div", { class: "details" }, this.details, this.callers), this.scroller,
                      this.legend());
    this.scroller.addEventListener("scroll", () => this.draw());
    this.scroller.addEventListener("keydown", event => this.key(event));
    this.scroller.addEventListener("focus", () => this.draw());
    this.scroller.addEventListener("blur", () => this.draw());
    this.canvas.addEventListener("mousemove", event => this.showDetails(this.at(event) ?? this.focus));
    this.canvas.addEventListener("mouseleave", () => this.showDetails(this.focus));
    this.canvas.addEventListener("click", event => {
      const node = this.at(event);
      if (node !== undefined) this.zoom(node);
    });
    new ResizeObserver(() => this.update([])).observe(this.scroller);
  }

  // Returns the legend of the colours.
  legend() {
    return el("p", { class: "swatches" },
      el("span", {}, ...[1, 2, 3, 4, 5].map(n => swatch(`lua${n}`)), "Lua, a colour for each file"),
      el("span", {}, swatch("native"), "C"), el("span", {}, swatch("collector"), "collections"),
      el("span", {}, swatch("rest"), "root (all), and frames too small to show"),
      el("span", {}, swatch("match"), "found"));
  }

  describe(node) {
    return describe(this.store, node);
  }

  update(changed) {
    if (changed.includes("theme") || !this.colors) this.colors = colors(this.names);
    const { tree, total } = this.store.graph;
    const { zoom } = this.store.state;
    if (tree !== this.tree) this.focus = zoom;
    this.tree = tree;
    if (!this.above(zoom, this.focus)) this.focus = zoom;
    let depth = tree.depth[zoom];
    for (let i = 1; i < tree.n; i++) if (total[i] > 0 && tree.depth[i] > depth) depth = tree.depth[i];
    this.spacer.style.height = `${(depth + 1) * ROW}px`;
    this.showDetails(this.focus);
    this.draw();
  }

  // Returns true if node 'a' is on the path from the root to 'b', or is 'b'.
  above(a, b) {
    const { parent, depth } = this.store.graph.tree;
    while (depth[b] > depth[a]) b = parent[b];
    return a === b;
  }

  // Returns the number of the focused frame's function; -1: the root is focused.
  current() {
    return this.focus > 0 ? this.store.graph.tree.fn[this.focus] : -1;
  }

  showDetails(node) {
    this.callers.hidden = node === 0;
    const { name, where, numbers } = this.describe(node);
    this.name.textContent = name;
    this.where.textContent = where;
    this.numbers.textContent = numbers;
  }

  draw() {
    const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
    if (width === 0) return;
    const ratio = devicePixelRatio || 1;
    const { canvas } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    g.textBaseline = "middle";
    this.boxes = [];
    this.frames(g, width, height);
  }

  frames(g, width, height) {
    const { tree, total, children } = this.store.graph;
    const { zoom } = this.store.state;
    const top = this.scroller.scrollTop, scale = total[zoom] > 0 ? width / total[zoom] : 0;
    for (let i = zoom; i > 0; i = tree.parent[i]) this.box(g, tree.parent[i], 0, width, top, height, true);
    if (scale === 0) return;
    const todo = [[zoom, 0]];
    while (todo.length > 0) {
      const [node, x] = todo.pop();
      this.box(g, node, x, total[node] * scale, top, height, false);
      if ((tree.depth[node] + 1) * ROW - top > height) continue;
      let at = x;
      for (let k = children.start[node]; k < children.start[node + 1]; k++) {
        const child = children.list[k], w = total[child] * scale;
        if (w < LEAST) {
          let rest = 0;
          for (let j = k; j < children.start[node + 1]; j++) rest += total[children.list[j]];
          this.bar(g, at, (tree.depth[node] + 1) * ROW - top, rest * scale, this.colors.rest);
          break;
        }
        todo.push([child, at]);
        at += w;
      }
    }
    this.ring(g, top);
  }

  bar(g, x, y, w, color) {
    g.fillStyle = color;
    g.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0.2), 0.4), ROW - 1);
  }

  color(node) {
    const { functions } = this.store.data;
    if (node === 0) return this.colors.rest;
    const fn = functions[this.store.graph.tree.fn[node]];
    if (fn.native) return fn.collection ? this.colors.collector : this.colors.native;
    return fn.cut ? this.colors.rest : this.colors[`lua${1 + fn.fileid % 5}`];
  }

  box(g, node, x, w, top, height, dim) {
    const y = this.store.graph.tree.depth[node] * ROW - top;
    this.boxes.push({ node, x, w, y });
    if (y + ROW < 0 || y > height) return;
    const { marks } = this.store.derived, { tree } = this.store.graph;
    const hit = marks && node > 0 && marks[tree.fn[node]];
    g.globalAlpha = dim ? 0.55 : marks && !hit ? 0.45 : 1;
    this.bar(g, x, y, w, hit ? this.colors.match : this.color(node));
    g.globalAlpha = g.globalAlpha < 1 ? 0.75 : 1;
    if (w > 30) {
      g.fillStyle = hit ? this.colors["match-text"] : this.colors["frame-text"];
      this.text(g, node, x + PAD, y + ROW / 2, w - 2 * PAD, hit);
    }
    g.globalAlpha = 1;
  }

  // Draws the name of a node's function at (x, y), cut to 'room' pixels. If there is space, also draws the
  // function's place after it. g: drawing context; hit: true if the function matches the search.
  text(g, node, x, y, room, hit) {
    const { name, where } = this.describe(node);
    const full = g.measureText(name).width;
    if (full > room) {
      const n = Math.floor(name.length * room / full) - 1;
      if (n > 0) g.fillText(`${name.slice(0, n)}…`, x, y);
      return;
    }
    g.fillText(name, x, y);
    const short = where.split("/").pop();
    if (full + 10 + g.measureText(short).width < room) {
      if (!hit) g.fillStyle = this.colors["frame-dim"];
      g.fillText(short, x + full + 10, y);
    }
  }

  ring(g, top) {
    if (document.activeElement !== this.scroller) return;
    const box = this.boxes.find(b => b.node === this.focus);
    if (!box) return;
    g.strokeStyle = this.colors.focus;
    g.lineWidth = 2;
    g.strokeRect(box.x + 1, box.y + 1, Math.max(box.w - 3, 2), ROW - 3);
  }

  at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const x = event.clientX - left, y = event.clientY - top;
    const box = this.boxes.find(b => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + ROW);
    return box && box.node;
  }

  zoom(node) {
    this.focus = node;
    if (this.store.state.zoom === node) this.update([]);
    this.store.set({ zoom: node });
  }

  walk(node) {
    this.focus = node;
    const { tree } = this.store.graph;
    if (!this.above(this.store.state.zoom, node)) this.store.set({ zoom: node });
    const y = tree.depth[node] * ROW, { scrollTop, clientHeight } = this.scroller;
    if (y < scrollTop) this.scroller.scrollTop = y;
    else if (y + ROW > scrollTop + clientHeight) this.scroller.scrollTop = y + ROW - clientHeight;
    this.showDetails(node);
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { tree, children } = this.store.graph;
    const node = this.focus, up = tree.parent[node];
    const siblings = node > 0 ? children.list.subarray(children.start[up], children.start[up + 1]) : [];
    const at = siblings.indexOf(node);
    const first = children.start[node] < children.start[node + 1] ? children.list[children.start[node]] : node;
    const to = { ArrowDown: first, ArrowUp: Math.max(up, 0), ArrowLeft: siblings[at - 1] ?? node,
                 ArrowRight: siblings[at + 1] ?? node, Home: 0 };
    if (event.key in to) this.walk(to[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.zoom(node);
    else return;
    event.preventDefault();
  }
}
