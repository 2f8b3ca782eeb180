// SPDX-License-Identifier: MIT
// Two profiles compared: a flame graph and a table of the functions that changed most. The widths in the
// flame graph are the values in the new profile or in the old one. The colours are the differences of the
// shares (B. Gregg's differential flame graphs). The view covers the whole runs and ignores the selected
// range.

import { el } from "./dom.js";
import { Flame, swatch } from "./flame.js";
import { bytes, count, percent, place, plural, seconds } from "./format.js";
import { Grid } from "./grid.js";
import { sorted } from "./tree.js";
import { label } from "./views.js";

const STEPS = 4;  // number of shades for shares that became smaller, and for shares that became larger
const LESS = [4, 3, 2, 1].map(n => `less${n}`), MORE = [1, 2, 3, 4].map(n => `more${n}`);
const NAMES = [...LESS, ...MORE, "rest", "frame-text", "frame-dim", "match", "match-text", "focus", "panel"];
const TITLES = { bytes: "Bytes", samples: "Samples", blocks: "Blocks", alive: "Alive at the end", time: "Time" };

const points = share => `${share < 0 ? "−" : "+"}${(100 * Math.abs(share)).toFixed(1)}`;

// Returns a function that formats an amount of a measure (show/page/compared.lua) as text. 'which': 0 for
// amounts of the old profile, 1 for amounts of the new one.
function textOf({ worth, bytes: inBytes }, which) {
  if (worth) return n => seconds(n * worth[which]);
  return inBytes ? bytes : count;
}

function treeOf({ parent, fn }, functions) {
  const n = parent.length + 1;
  const tree = { n, parent: Int32Array.from([-1, ...parent]), fn: Int32Array.from([-1, ...fn]),
                 depth: new Int32Array(n), line: new Int32Array(n) };
  for (let i = 1; i < n; i++) {
    tree.depth[i] = tree.depth[tree.parent[i]] + 1;
    tree.line[i] = functions[tree.fn[i]].line;
  }
  return tree;
}

class Differences extends Flame {
  legend() {
    return el("p", { class: "swatches" },
      el("span", {}, ...LESS.map(swatch), "smaller share in the new profile"),
      el("span", {}, swatch("rest"),
         "no clear change: less than 3 standard errors, or possibly chance, because there are many frames"),
      el("span", {}, ...MORE.map(swatch), "larger share in the new profile"), el("span", {}, swatch("match"), "found"));
  }

  color(node) {
    const change = node > 0 ? this.store.changes[node] : 0;
    if (change === 0) return this.colors.rest;
    const step = Math.ceil(STEPS * Math.sqrt(Math.abs(change) / this.store.largest));
    return this.colors[`${change < 0 ? "less" : "more"}${Math.max(1, Math.min(STEPS, step))}`];
  }

  describe(node) {
    return this.store.describe(node);
  }

  showDetails(node) {
    super.showDetails(node);
    this.callers.hidden = true;
    this.canvas.title = `${this.name.textContent} ${this.where.textContent}\n${this.numbers.textContent}`;
  }
}

export class Compared {
  constructor(store) {
    this.page = store;
    const { functions: f, nodes } = this.data = store.data.compared;
    this.functions = f.name.map((name, i) =>
      ({ name, file: f.file[i], line: f.line[i], native: f.native[i] === 1 }));
    this.tree = treeOf(nodes, this.functions);
    const self = this;
    // The members of Store that class Flame uses, for the tree of the compared frames.
    this.model = {
      state: { zoom: 0 }, derived: { marks: null }, data: { functions: this.functions },
      get graph() { return self.graph; },
      get changes() { return self.changes; },
      get largest() { return self.largest; },
      describe: node => this.describe(node),
      set: ({ zoom }) => this.zoom(zoom),
    };
    this.flame = new Differences(this.model, NAMES, "frame-compared");
    this.zoomed = el("button", { type: "button", class: "quiet", onclick: () => this.zoom(0) }, "Show the whole graph");
    this.grid = new Grid({ label: "Largest changes", columns: this.columns() });
    this.about = el("p", { class: "muted", "aria-live": "polite" });
    this.element = el("div", { class: "lives" },
      el("h3", {}, "Compared with ", el("i", {}, this.data.old)),
      el("div", { class: "choices" },
        this.choice("compare", "Compare by", this.data.measures.map(m => [m.key, TITLES[m.key]]),
                    key => store.set({ compare: key })),
        this.choice("widths", "Widths of the frames", [["new", "Widths: new"], ["old", "Widths: old"]],
                    key => store.set({ widths: key })),
        this.zoomed),
      this.about, this.flame.element, el("h3", {}, "Largest changes of functions"),
      el("p", { class: "muted" }, "Changes of the functions' own shares of the profile, in percentage points. Grey: the change may be chance."),
      this.grid.element);
  }

  choice(name, text, options, change) {
    return el("fieldset", { class: "switch" }, el("legend", { class: "hidden" }, text),
      ...options.map(([value, title]) => el("label", {},
        el("input", { type: "radio", name, value, onchange: () => change(value) }), el("span", {}, title))));
  }

  columns() {
    const share = (of, whole) => row => percent(row[of], this.measure[whole]);
    const column = (title, about, cell, more) => ({ title, about, width: "4.6rem", number: true, cell, ...more });
    return [
      column("change", "change of the function's own share, in points",
             row => el("span", { class: `delta ${row.noise ? "" : row.change < 0 ? "less" : "more"}` }, points(row.change)),
             { value: row => Math.abs(row.change) - (row.noise ? 1 : 0) }),
      column("±", "standard error of the change, in points", row => (row.error / 1e4).toFixed(1), { wide: true }),
      column("old", "share in the old profile", share("a", "ofa"), { value: row => row.a / this.measure.ofa }),
      column("new", "share in the new profile", share("b", "ofb"), { value: row => row.b / this.measure.ofb }),
      column("total", "change of the share of the function with its callees, in points",
             row => points(row.totalb / this.measure.ofb - row.totala / this.measure.ofa), { wide: true }),
      { title: "old amount", width: "var(--number)", number: true, wide: true, cell: row => textOf(this.measure, 0)(row.a) },
      { title: "new amount", width: "var(--number)", number: true, wide: true, cell: row => textOf(this.measure, 1)(row.b) },
      { title: "function", width: "minmax(0,1fr)", value: row => this.functions[row.fn].name,
        cell: row => label(this.functions[row.fn], this.functions[row.fn].line, this.page.state.query) },
    ];
  }

  zoom(node) {
    this.model.state.zoom = node;
    this.zoomed.hidden = node === 0;
    this.flame.update([]);
  }

  // Zooms out by one level, as Esc does; returns false if nothing is zoomed.
  back() {
    const { zoom } = this.model.state;
    if (zoom > 0) this.zoom(this.tree.parent[zoom]);
    return zoom > 0;
  }

  // Returns the texts about a frame, a node of the compared tree: {name, where, numbers}.
  describe(node) {
    const { measure: m, amounts: { a, b }, tree } = this;
    const change = b[node] / m.ofb - a[node] / m.ofa;
    const parts = [`new ${textOf(m, 1)(b[node])}, ${percent(b[node], m.ofb)}`,
                   `old ${textOf(m, 0)(a[node])}, ${percent(a[node], m.ofa)}`];
    if (node > 0) {
      parts.push(`${points(change)} points ± ${(m.error[node - 1] / 1e4).toFixed(1)}` +
                 `${m.noise[node - 1] ? ", may be chance" : ""}`);
      if (a[node] === 0) parts.push("only in the new profile");
      if (b[node] === 0) parts.push("only in the old profile");
    }
    if (node === 0) return { name: "all", where: "", numbers: parts.join(" · ") };
    const fn = this.functions[tree.fn[node]];
    return { name: fn.name, where: place(fn, fn.line), numbers: parts.join(" · ") };
  }

  // Computes the widths and the colours of the frames for the selected measure. The widths are the values in
  // the profile that the state's field 'widths' selects ("old" or "new").
  derive() {
    const { compare, widths } = this.page.state, { tree } = this;
    const m = this.measure = this.data.measures.find(one => one.key === compare);
    const column = (list, whole) => Float64Array.from([whole, ...list]);
    this.amounts = { a: column(m.a, m.wholea), b: column(m.b, m.wholeb) };
    const total = widths === "old" ? this.amounts.a : this.amounts.b;
    this.changes = total.map((n, i) => i === 0 || m.noise[i - 1] ? 0
      : this.amounts.b[i] / m.ofb - this.amounts.a[i] / m.ofa);
    this.largest = this.changes.reduce((most, change) => Math.max(most, Math.abs(change)), 0) || 1;
    this.graph = { tree, total, children: sorted(tree, total) };
    const { zoom } = this.model.state;
    if (!(total[zoom] > 0)) this.model.state.zoom = 0;
    this.shown = `${compare} ${widths}`;
  }

  update(changed) {
    const { state } = this.page;
    if (this.shown !== `${state.compare} ${state.widths}`) this.derive();
    const { measure: m, element } = this;
    for (const [name, key] of [["compare", "compare"], ["widths", "widths"]]) {
      for (const input of element.querySelectorAll(`[name=${name}]`)) input.checked = input.value === state[key];
    }
    const words = state.query.trim().toLowerCase();
    const hit = fn => `${fn.name} ${fn.file}:${fn.line}`.toLowerCase().includes(words);
    this.model.derived.marks = words === "" ? null : Uint8Array.from(this.functions, fn => hit(fn) ? 1 : 0);
    const gone = this.changes.filter((change, i) => change !== 0 && this.amounts.b[i] === 0).length;
    const left = this.data.left;
    this.about.textContent = `Totals: old ${textOf(m, 0)(m.wholea)}, new ${textOf(m, 1)(m.wholeb)}; colours compare ` +
      (m.key === "alive" ? "amounts, as shares of the larger total." : "the shares of each profile's total.") +
      (gone > 0 && state.widths === "new"
        ? ` ${plural(gone, "frame")} only in the old profile: "Widths: old" shows ${gone === 1 ? "it" : "them"}.`
        : "") +
      (left > 0 ? ` ${plural(left, "small frame")} ${left === 1 ? "is" : "are"} left out.` : "");
    const { rows } = m;
    this.grid.setRows(rows.fn.map((fn, i) => ({
      id: fn, fn, a: rows.a[i], b: rows.b[i], totala: rows.totala[i], totalb: rows.totalb[i],
      error: rows.error[i], noise: rows.noise[i] === 1, rank: -i,
      change: rows.b[i] / m.ofb - rows.a[i] / m.ofa }))
      .filter(row => words === "" || hit(this.functions[row.fn])));
    this.zoomed.hidden = this.model.state.zoom === 0;
    this.flame.update(changed);
  }
}
