// SPDX-License-Identifier: MIT
// The view "Labels and states": tables of costs for each label (by its values), by Lua state and by OS
// thread. Covers the whole run.

import { hasDeaths } from "./data.js";
import { el } from "./dom.js";
import { bytes, count, percent, seconds } from "./format.js";
import { Grid } from "./grid.js";

export class Apart {
  constructor(store) {
    const { apart: { labels, states }, head } = store.data;
    this.grids = [];
    this.element = el("div", { class: "lives" },
      ...labels.length > 0 ? labels.flatMap(t => this.table(t, head))
        : [el("h3", {}, "By label"), el("p", { class: "muted" },
           "The program has set no labels: profiler.label{route = \"/checkout\"} sets a label of the running coroutine.")],
      ...states.length > 0 ? states.flatMap(t => this.table(t, head))
        : [el("h3", {}, "By Lua state"), el("p", { class: "muted" },
           "The profile has one Lua state, or does not distinguish its states.")]);
  }

  table({ title, what, rows, left }, head) {
    const sum = key => rows.reduce((a, row) => a + (row[key] || 0), 0);
    const whole = { bytes: sum("bytes"), time: sum("time") };
    const amount = (key, name, show) => whole[key] === 0 ? [] : [
      { title: name, width: "var(--number)", number: true, value: ({ of }) => of[key], cell: ({ of }) => show(of[key]) },
      { title: "%", width: "3.4rem", number: true, wide: true, cell: ({ of }) => percent(of[key], whole[key]) }];
    const counted = (key, name, about, show) => sum(key) === 0 ? [] : [
      { title: name, about, width: "var(--number)", number: true, wide: true, value: ({ of }) => of[key],
        cell: ({ of }) => show(of[key]) }];
    const grid = new Grid({
      label: title,
      columns: [...amount("bytes", "bytes", bytes), ...amount("time", "time", seconds),
                ...hasDeaths(head) ? counted("alive", "alive", "bytes alive at the end", bytes) : [],
                ...counted("collections", "GCs", "collections that ran in the code of this row", count),
                ...counted("count", "states", "Lua states", count),
                { title: what, width: "minmax(0,1fr)", value: ({ of }) => of.name,
                  cell: ({ of }) => el("span", { class: "path", title: of.name }, of.name) }],
    });
    grid.setRows(rows.map((of, id) => ({ id, of, rank: of.bytes })));
    grid.empty.remove();
    this.grids.push(grid);
    return [el("h3", {}, title), grid.element,
            left > 0 ? el("p", { class: "muted" }, `and ${count(left)} more, which asamp report shows`) : null];
  }

  update() {
    this.grids.forEach(grid => grid.draw());
  }
}
