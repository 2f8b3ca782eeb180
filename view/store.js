// SPDX-License-Identifier: MIT
// The page's state and the data derived from it. Views read `store.state` and `store.derived`,
// change the state only with set(), and redraw when notified.
//
// Fields of the state:
//   mode      key of the measure
//   range     [from, to) in time slices (bins), or null
//   kind      the selected kind or type; -1: all
//   query     text of the search
//   byLine    true: the tree has a node for each line, not only for each function
//   start     true: shows the C frames at the start of all stacks
//   inverted  true: the tree starts with the innermost functions
//   fn        function of the view "Callers"; -1: none chosen
//   tab       key of the visible view
//   zoom      node of the graph; 0: all
//   held      node of the tree of holders; 0: all
//   compare   key of the measure by which two profiles are compared
//   widths    "new" or "old": the profile whose frame widths a comparison shows
//
// Fields of the derived data:
//   selected          result of sums.select
//   lines, functions  {self, total} for each
//   tree, sums        the call tree, and {self, total} of its nodes
//   total, self, children  of the tree in the present mode
//   marks             by function, 1 if it matches the query; null without a query
//   matched           total of the matches
//   graph             the tree of the flame graph and the call tree, perhaps inverted: {tree, sums, total,
//                     self, children, left (number of nodes whose callers are omitted)}

import { around, inverted } from "./invert.js";
import * as sums from "./sums.js";
import { prepare, sorted } from "./tree.js";

// Returns the initial value of state.widths: "old" if a comparison starts with live bytes and the old profile
// has more of them, else "new".
function widest(compared) {
  const start = compared?.measures.find(m => m.key === compared.first);
  return start?.key === "alive" && start.wholea > start.wholeb ? "old" : "new";
}

export class Store {
  constructor(data, modes) {
    this.data = data;
    this.modes = modes;
    this.prepared = prepare(data);
    this.listeners = [];
    const mode = modes.find(m => m.on) || modes[1];
    this.state = { mode: mode.key, range: null, kind: -1, query: "", byLine: false,
                   start: false, inverted: false, fn: -1, tab: data.compared ? "compared" : "flame",
                   zoom: 0, held: 0, compare: data.compared?.first, widths: widest(data.compared) };
    this.initial = { ...this.state };
    this.derive(["range"]);
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  set(patch) {
    const changed = Object.keys(patch).filter(key => this.state[key] !== patch[key]);
    if (changed.length === 0) return;
    Object.assign(this.state, patch);
    if (this.changesTree(changed) && !("zoom" in patch)) this.state.zoom = 0;
    this.derive(changed);
    if (!(this.graph.total[this.state.zoom] > 0)) this.state.zoom = 0;
    for (const listener of this.listeners) listener(changed);
  }

  // Returns true if a change of the state's keys 'changed' gives other numbers to the nodes of the graph.
  changesTree(changed) {
    return changed.some(key => ["byLine", "start", "inverted"].includes(key)
      || this.state.inverted && ["mode", "range", "kind"].includes(key));
  }

  get graph() {
    return this.derived.graph;
  }

  // Returns {fn, callers, callees} for the chosen function. If none is chosen, takes the function with the
  // largest self value. fn: number of the function; callers, callees: trees (invert.js).
  around() {
    const { tree, sums: all, children, functions } = this.derived, { mode } = this.state;
    const itself = functions.self[mode];
    const fn = this.state.fn >= 0 ? this.state.fn : itself.reduce((best, n, i) => n > itself[best] ? i : best, 0);
    return { fn, ...around(tree, all, children, fn, mode) };
  }

  get mode() {
    return this.modes.find(m => m.key === this.state.mode);
  }

  // Computes again the derived data that depend on the changed keys of the state.
  derive(changed) {
    const { data, state, prepared } = this;
    const has = (...keys) => keys.some(key => changed.includes(key));
    const d = this.derived = this.derived || {};
    if (has("range", "kind")) {
      d.selected = sums.select(data, state.range, state.kind);
      d.lines = sums.sumLines(data, prepared.lines, d.selected.self);
    }
    if (has("range", "kind", "byLine", "start")) {
      d.tree = (state.start ? prepared.whole : prepared.folded)[state.byLine ? 1 : 0];
      d.sums = sums.sumTree(d.tree, d.selected.self);
      d.functions = sums.sumFunctions(data, d.tree, d.sums);
    }
    if (has("range", "kind", "byLine", "start", "mode")) {
      d.total = d.sums.total[state.mode];
      d.self = d.sums.self[state.mode];
      d.children = sorted(d.tree, d.total);
    }
    if (has("range", "kind", "byLine", "start", "mode", "inverted")) {
      d.graph = state.inverted ? inverted(d.tree, d.sums, state.mode)
        : { tree: d.tree, sums: d.sums, total: d.total, self: d.self, children: d.children, left: 0 };
    }
    if (has("query")) d.marks = this.search(state.query);
    if (has("range", "kind", "byLine", "start", "mode", "query")) {
      d.matched = d.marks ? sums.matched(d.tree, d.total, d.marks) : 0;
    }
  }

  // Returns an array with 1 for each function that matches the query, or null without a query.
  search(query) {
    const words = query.trim().toLowerCase();
    if (words === "") return null;
    return Uint8Array.from(this.data.functions, fn =>
      `${fn.name} ${fn.file}:${fn.line}`.toLowerCase().includes(words) ? 1 : 0);
  }
}
