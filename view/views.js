// SPDX-License-Identifier: MIT
// Common parts of the tables: columns of self, total and survival, names with places, and
// highlighted matches of a search.

import { hasDeaths } from "./data.js";
import { el } from "./dom.js";
import { percent, place } from "./format.js";

// Returns the text. If the search 'query' matches a part of it, returns an element with the text in which the
// first match is highlighted.
export function marked(text, query) {
  const words = query.trim().toLowerCase();
  const at = words === "" ? -1 : text.toLowerCase().indexOf(words);
  if (at < 0) return text;
  return el("span", {}, text.slice(0, at), el("mark", {}, text.slice(at, at + words.length)),
            text.slice(at + words.length));
}

// Returns an element that shows a text. If there is not enough space, the start of the text is cut instead of
// its end. name, attributes: as for el().
export function tail(name, attributes, text) {
  return el(name, { ...attributes, class: `tail ${attributes.class || ""}`.trim() }, el("bdi", {}, text));
}

// Returns an element with the name and the place of a function. 'query': the search, whose match is
// highlighted; 'after': element that follows, or undefined.
export function label(fn, line, query, after) {
  return el("span", { class: "label", title: `${fn.name}  ${place(fn, line)}` },
            el("b", {}, marked(fn.name, query)),
            tail("i", {}, marked(place(fn, line), query)), after);
}

const largestOf = new WeakMap();

// Returns the largest value of an array, or 1 if all are 0. Caches the results; this is correct because
// arrays of sums do not change.
function largest(values) {
  if (!largestOf.has(values)) largestOf.set(values, values.reduce((a, b) => Math.max(a, b), 0) || 1);
  return largestOf.get(values);
}

// Returns the columns that tables of costs have in common, for Grid. sums() returns {self, total}, each with
// an array for each measure. A row's 'id' is its index in these arrays.
export function columns(store, sums) {
  const value = part => row => sums()[part][store.state.mode][row.id];
  const text = part => row => value(part)(row) > 0 ? store.mode.text(value(part)(row)) : "–";
  const share = part => row => value(part)(row) > 0 ? percent(value(part)(row), store.derived.total[0]) : "–";
  return {
    self: { title: "self", about: "without callees", width: "var(--number)", number: true, value: value("self"),
           cell: row => el("span", { class: "meter",
             style: `--share:${100 * value("self")(row) / largest(sums().self[store.state.mode])}%` }, text("self")(row)) },
    selfShare: { title: "%", full: "self, %", width: "3.4rem", number: true, wide: true, cell: share("self") },
    total: { title: "total", about: "with all callees", width: "var(--number)", number: true,
             value: value("total"), cell: text("total") },
    totalShare: { title: "%", full: "total, %", width: "3.4rem", number: true, wide: true, cell: share("total") },
    lived: { title: "lived", about: "share of its own bytes that survived their first collection",
             width: "3.8rem", number: true, wide: true,
             hide: () => store.state.mode === "time" || !store.data.head.fates,
             cell: row => shareOf(sums().self, "survived", row.id) },
    alive: { title: "alive", about: "share of its own bytes that no collection has found dead",
             width: "3.8rem", number: true, wide: true,
             hide: () => store.state.mode === "time" || !hasDeaths(store.data.head),
             cell: row => shareOf(sums().self, "alive", row.id) },
  };
}

// Returns, as text, the share of the bytes of element i that survived or are alive. Bytes whose survival is
// unknown do not count. 'itself': arrays of values, one for each measure; 'what': "survived" or "alive".
export function shareOf(itself, what, i) {
  const of = itself.bytes[i] - itself.undecided[i];
  return of > 0 ? `${Math.round(100 * itself[what][i] / of)}%` : "–";
}

// Returns text about the C functions with which all stacks start, and which are merged into the root. Returns
// "" if there are none, or if the page shows them.
export function through(store) {
  const { prepared: { start }, state } = store;
  return state.start || start.length === 0 ? ""
    : `through ${start.map(fn => fn.name).join(", ")}`;
}

// Returns the texts about a frame, a node of the graph: {name, where, numbers}.
export function describe(store, node) {
  const { data, graph: { tree, self: itself, total, sums } } = store;
  const text = store.mode.text;
  const parts = [`total ${text(total[node])}`, percent(total[node], total[0])];
  if (node !== 0) parts.push(`self ${text(itself[node])}`);
  const bytes = sums.total.bytes[node] - sums.total.undecided[node];
  if (store.state.mode !== "time" && data.head.fates && bytes > 0) {
    parts.push(`${percent(sums.total.survived[node], bytes)} survived`);
    if (hasDeaths(data.head)) parts.push(`${percent(sums.total.alive[node], bytes)} alive`);
  }
  if (node === 0) return { name: "all", where: through(store), numbers: parts.join(" · ") };
  const fn = data.functions[tree.fn[node]];
  return { name: fn.name, where: place(fn, tree.line[node]), numbers: parts.join(" · ") };
}
