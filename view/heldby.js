// SPDX-License-Identifier: MIT
// The view "Held by": a tree of the paths of references that keep objects alive at the end. The paths start
// at the program's roots (globals, modules, stacks). Below the tree is a table of the lines that allocated
// the objects held by the active row. Covers the whole run.

import { CallTree } from "./calltree.js";
import { el } from "./dom.js";
import { bytes, count, percent, plural } from "./format.js";
import { Grid } from "./grid.js";
import { sorted } from "./tree.js";
import { marked, tail } from "./views.js";

// Converts the paths of references to a tree in the form of store.graph. Node i is path i; node 0 is the sum
// of all objects with a known holder. own[i] has the indexes of the rows of path i. If 'inBytes' is true,
// totals are bytes, else numbers of samples.
function pathTree({ paths, rows }, inBytes) {
  const n = paths.parent.length + 1;
  const tree = { n, parent: Int32Array.from([-1, ...paths.parent]), depth: new Int32Array(n) };
  const sums = { bytes: new Float64Array(n), samples: new Float64Array(n) };
  const own = Array.from({ length: n }, () => []);
  rows.path.forEach((path, i) => {
    own[path].push(i);
    if (path === 0) return;
    sums.bytes[path] += rows.bytes[i];
    sums.samples[path] += rows.samples[i];
  });
  for (let i = 1; i < n; i++) tree.depth[i] = tree.depth[tree.parent[i]] + 1;
  for (let i = n - 1; i > 0; i--) {
    for (const key of ["bytes", "samples"]) sums[key][tree.parent[i]] += sums[key][i];
  }
  const total = inBytes ? sums.bytes : sums.samples;
  return { tree, sums: {}, total, samples: sums.samples, children: sorted(tree, total), own };
}

// Returns the reason why the page shows no paths of references, as a sentence. 'head': head of the data
// (data.js).
function whyNot(head) {
  if (head.samples === 0) return "There are no allocation samples, so no references to live objects were recorded.";
  if (!(head.followed > 0)) return "The profile does not record the references that keep objects alive.";
  if (head.survived === head.later && head.undecided === 0) return "No sample was alive at the end.";
  return "The profile does not record the references that keep objects alive: its program was killed, or ran " +
    "with holders=0.";
}

export class HeldBy {
  constructor(store) {
    this.store = store;
    const { holders, head } = store.data;
    this.holders = holders;
    this.element = el("div", { class: "lives" });
    if (!holders) {
      this.element.append(el("h3", {}, "Held by"), el("p", { class: "muted empty" }, whyNot(head)));
      return;
    }
    const inBytes = head.bytes > 0;
    this.model = pathTree(holders, inBytes);
    this.amount = n => inBytes ? bytes(n) : count(n);
    this.build(inBytes);
  }

  build(inBytes) {
    const { holders, model, store: { state } } = this, { total, samples } = model;
    const unit = inBytes ? "bytes" : "samples";
    this.tree = new CallTree(this.store, {
      label: "Held by", title: "holder", model: () => model,
      root: () => el("span", { class: "label" }, el("b", {}, "all live objects")),
      name: node => el("span", { class: "label", title: this.path(node) },
                       el("b", {}, marked(holders.paths.step[node - 1], state.query))),
      marks: node => state.query !== "" &&
        holders.paths.step[node - 1].toLowerCase().includes(state.query.toLowerCase()),
      onMove: row => this.store.set({ held: row.id }),
      shown: [
        { title: unit, about: "alive at the end, and kept alive through this reference", width: "var(--number)", number: true,
          cell: row => this.amount(total[row.id]) },
        { title: "%", width: "3.4rem", number: true, cell: row => percent(total[row.id], total[0]) },
        { title: "samples", width: "4.6rem", number: true, wide: true, cell: row => count(samples[row.id]) }],
    });
    this.chosen = el("h3", {});
    this.lines = new Grid({
      label: "Allocated at",
      columns: [
        { title: unit, width: "var(--number)", number: true, value: row => row.value,
          cell: row => this.amount(row.value) },
        { title: "%", width: "3.4rem", number: true, cell: row => percent(row.value, this.model.total[this.at]) },
        { title: "line", width: "minmax(0,1fr)", cell: row => this.place(row.of) }],
      onActivate: ({ of }) => of && of.file !== "-" &&
        this.store.set({ query: `${of.file}:${of.line}`, tab: "lines" }),
    });
    this.element.append(
      el("h3", {}, "Held by"), el("p", { class: "muted" }, this.explanation(inBytes)),
      this.tree.element, this.chosen, this.lines.element);
    const paths = n => `${plural(n, "smaller path")} ${n === 1 ? "is" : "are"}`, { left, omitted } = holders;
    if (left > 0) {
      this.lines.element.before(el("p", { class: "muted" }, `${paths(left)} included in the shorter paths.`));
    }
    if (omitted.paths > 0) {
      this.lines.element.before(el("p", { class: "muted" },
        `${paths(omitted.paths)} left out, with ${this.amount(omitted[unit])}${inBytes ? "" : " samples"}.`));
    }
  }

  // Returns the explanation of the tree, whose numbers are bytes (inBytes) or samples.
  explanation(inBytes) {
    const { rows } = this.holders, { total } = this.model;
    let unknown = 0;
    rows.path.forEach((path, i) => { if (path === 0) unknown += (inBytes ? rows.bytes : rows.samples)[i]; });
    const what = inBytes ? "bytes" : "samples";
    return `The shortest paths from the program's roots to the samples that are alive at the end, in ${what}; ` +
      "references from one table by different indexes or keys share one row." +
      (unknown > 0 ? ` ${this.amount(unknown)} more have no known holder: these objects had no reference at the last ` +
        "search for holders, were allocated later, or are memory of C code." : total[0] > 0 ? "" : " Nothing is alive.");
  }

  place(of) {
    if (!of) return el("span", { class: "muted" }, "unknown line, or a line with few bytes");
    const where = of.file === "-" ? "?" : `${of.file}:${of.line}`;
    return el("span", { class: "label", title: `${where}  ${of.name}` },
              tail("i", {}, marked(where, this.store.state.query)), el("b", {}, of.name));
  }

  path(node) {
    const steps = [];
    for (; node > 0; node = this.model.tree.parent[node]) steps.unshift(this.holders.paths.step[node - 1]);
    return steps.join(" → ");
  }

  // Shows the allocating lines of the objects held by a node or by paths that extend it.
  choose(node) {
    if (node === this.at) return;
    this.at = node;
    const { holders: { rows, places }, model: { tree, children, own } } = this;
    const byplace = new Map(), column = this.store.data.head.bytes > 0 ? rows.bytes : rows.samples;
    for (const todo = [node]; todo.length > 0;) {
      const at = todo.pop();
      for (const i of at > 0 ? own[at] : []) {
        byplace.set(rows.place[i], (byplace.get(rows.place[i]) || 0) + column[i]);
      }
      for (let k = children.start[at]; k < children.start[at + 1]; k++) todo.push(children.list[k]);
    }
    this.chosen.replaceChildren("Allocated at", el("i", {}, node > 0 ? ` · held by ${this.path(node)}` : ""));
    this.lines.setRows(Array.from(byplace, ([place, value]) =>
      ({ id: place, value, of: places[place - 1], rank: -place })));
  }

  update() {
    if (!this.holders) return;
    const { held } = this.store.state;
    if (held !== this.at) {
      this.choose(held);
      this.tree.reach(held);
    } else this.tree.update();
    this.lines.draw();
  }
}
