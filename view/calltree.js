// SPDX-License-Identifier: MIT
// A tree as a table with rows that can be unfolded: the call tree, callers, callees or holders.
// Keys act on the active row: Right unfolds it or goes to its first child, Left folds it or goes to its
// parent, Enter folds or unfolds it, * unfolds the heaviest path below it.

import { el } from "./dom.js";
import { Grid } from "./grid.js";
import { columns, label, through } from "./views.js";

export class CallTree {
  // Options:
  //   label     name of the tree for screen readers
  //   model()   returns {tree, sums, children, total}, as in store.graph
  //   root()    returns the contents of the first row, which represents the whole tree
  //   shown     the columns: names of columns in views.js, or columns for Grid
  // Options for trees that are not of functions:
  //   title         heading of the column of names
  //   name(node)    returns the element that shows a node's name
  //   marks(node)   returns true if the node matches the search
  //   onMove(row)   called when another row becomes active
  constructor(store, { label: called = "Call tree", model = () => store.graph, root = null, title = "function",
                       shown = ["total", "totalShare", "self", "selfShare", "lived", "alive"],
                       name = null, marks = null, onMove = () => {} } = {}) {
    this.store = store;
    this.model = model;
    this.root = root || (() => el("span", { class: "label" }, el("b", {}, "all"), el("i", {}, through(store))));
    this.name = name || (node => {
      const { tree } = model();
      return label(store.data.functions[tree.fn[node]], tree.line[node], store.state.query);
    });
    this.marks = marks || (node => store.derived.marks && store.derived.marks[model().tree.fn[node]]);
    this.open = new Set();
    const c = columns(store, () => model().sums);
    this.grid = new Grid({
      label: called, role: "treegrid", onMove,
      columns: [{ title, width: "minmax(0,1fr)", cell: row => this.cell(row) },
                ...shown.map(column => c[column] || column)],
      onActivate: row => this.toggle(row.id),
      onKey: (key, row) => this.key(key, row.id),
    });
    this.element = this.grid.element;
  }

  // If the model's tree is not the one of the last call, unfolds only the heaviest path of the new tree.
  follow() {
    const { tree } = this.model();
    if (tree === this.tree) return;
    this.tree = tree;
    this.open = new Set();
    this.openPath(0);
  }

  update() {
    this.follow();
    const { tree, children, total } = this.model();
    const rows = [], todo = [0];
    while (todo.length > 0) {
      const node = todo.pop();
      const from = children.start[node], to = children.start[node + 1];
      const open = this.open.has(node);
      rows.push({ id: node, has: to > from, open, marked: node > 0 && this.marks(node),
                  aria: { "aria-level": tree.depth[node] + 1,
                          "aria-expanded": to > from ? String(open) : null } });
      if (open) for (let k = to - 1; k >= from; k--) todo.push(children.list[k]);
    }
    this.element.style.setProperty("--deepest", rows.reduce((d, row) => Math.max(d, tree.depth[row.id]), 1));
    this.grid.setRows(total[0] > 0 ? rows : []);
  }

  cell(row) {
    const { tree } = this.model();
    const e = el("span", { class: "branch" },
                 el("span", { class: "twist", "aria-hidden": "true" }, row.has ? (row.open ? "▾" : "▸") : ""),
                 row.id === 0 ? this.root() : this.name(row.id));
    e.style.setProperty("--depth", tree.depth[row.id]);
    return e;
  }

  toggle(node) {
    if (this.open.has(node)) this.open.delete(node);
    else this.open.add(node);
    this.update();
  }

  // Unfolds a node and a path below it: the heaviest child of each unfolded node, as long as this child has
  // at least half of its parent's total.
  openPath(node) {
    const { children, total } = this.model();
    for (;;) {
      this.open.add(node);
      const first = children.start[node];
      if (first >= children.start[node + 1]) return;
      const child = children.list[first];
      if (total[child] < total[node] / 2) return;
      node = child;
    }
  }

  key(key, node) {
    const { tree, children } = this.model();
    const has = children.start[node] < children.start[node + 1];
    if (key === "ArrowRight") {
      if (has && !this.open.has(node)) this.toggle(node);
      else if (has) this.grid.moveTo(children.list[children.start[node]]);
    } else if (key === "ArrowLeft") {
      if (has && this.open.has(node)) this.toggle(node);
      else if (node > 0) this.grid.moveTo(tree.parent[node]);
    } else if (key === "*") {
      this.openPath(node);
      this.update();
    } else return false;
    return true;
  }

  // Returns the number of the active row's function; -1: there is no active row, or it is the root.
  current() {
    const row = this.grid.rows[this.grid.active];
    return row && row.id > 0 ? this.model().tree.fn[row.id] : -1;
  }

  // Unfolds the path to a node and makes it the active row.
  reach(node) {
    this.follow();
    const { tree } = this.model();
    for (let i = tree.parent[node]; i >= 0; i = tree.parent[i]) this.open.add(i);
    this.update();
    this.grid.moveTo(node);
  }

  // Unfolds the path to the heaviest node that matches the search.
  reveal() {
    const { tree, total } = this.model(), { marks } = this.store.derived;
    if (!marks) return;
    let best = -1;
    for (let i = 1; i < tree.n; i++) {
      if (marks[tree.fn[i]] && total[i] > 0 && (best < 0 || total[i] > total[best])) best = i;
    }
    if (best >= 0) this.reach(best);
  }
}
