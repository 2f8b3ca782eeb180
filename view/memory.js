// SPDX-License-Identifier: MIT
// The view "Memory": a breakdown of resident memory by use and over time, and native memory by
// library. Covers the whole run. Enter on a library shows
// the source line that allocated most of the library's native memory, in the table of lines.

import { el } from "./dom.js";
import { bytes, count, percent, seconds } from "./format.js";
import { Grid } from "./grid.js";
import { labelOf, where } from "./lives.js";
import { tail } from "./views.js";

// Formats bytes. A negative number means reserved memory that was never written.
function size(n) {
  return n < 0 ? `-${bytes(-n)}` : bytes(n);
}

export class Memory {
  constructor(store) {
    this.store = store;
    this.grids = [];
    const { memory, native } = store.data;
    this.element = el("div", { class: "lives" },
      ...memory ? this.resident(memory)
        : [el("h3", {}, "Where resident memory is"), el("p", { class: "muted" },
           "The profile has no data about resident memory: they are recorded at some collections, and at the end of a run.")],
      ...native ? [el("h3", {}, "Native memory by library"), el("p", { class: "muted" }, `${native.summary}:`),
                   this.libraries(native)]
        : [el("h3", {}, "Native memory"), el("p", { class: "muted" },
           "Native memory was not sampled, or none was allocated: asamp run --malloc samples native memory.")]);
  }

  grid(label, columns, rows, onActivate = () => {}) {
    const grid = new Grid({ label, columns, onActivate });
    grid.setRows(rows.map((of, id) => ({ id, of })));
    grid.empty.remove();
    this.grids.push(grid);
    grid.element.classList.add("tall");
    return grid.element;
  }

  resident({ summary, last, peak, course, left }) {
    const out = [el("h3", {}, "Where resident memory is"), el("p", { class: "muted" }, `${summary}:`),
                 this.picture("Where resident memory is", last)];
    if (peak) {
      out.push(el("h3", {}, "At the peak of resident memory"),
               el("p", { class: "muted" }, `${bytes(peak.rss)}, after ${seconds(peak.time)}:`),
               this.picture("At the peak of resident memory", peak));
    }
    for (const text of [last.outside, last.note]) if (text) out.push(el("p", { class: "muted" }, `${text.replace(/\.$/, "")}.`));
    if (course.length > 1) {
      // Without /proc, the process could not measure its resident memory: only these columns are known.
      const ofLua = new Set(["lua", "free"]);
      const column = (title, key, wide) => ({ title, width: "var(--number)", number: true, wide,
                                              cell: ({ of }) => of.rss > 0 || ofLua.has(key) ? size(of[key]) : "unknown" });
      out.push(el("h3", {}, "Resident memory over time"),
        this.grid("Resident memory over time", [
          column("resident", "rss"), column("Lua", "lua"), column("free in Lua", "free", true),
          column("native", "native"), column("rest", "rest", true),
          { title: "at", width: "minmax(0,1fr)", cell: ({ of }) => seconds(of.time) }], course));
      if (left > 0) out.push(el("p", { class: "muted" }, `and ${count(left)} earlier snapshots, which asamp memory --json lists`));
    }
    return out;
  }

  picture(label, { rss, rows }) {
    const amount = part => ({ of }) => of.bytes === undefined || Boolean(of.part) !== part ? "" : size(of.bytes);
    return this.grid(label, [
      { title: "bytes", width: "var(--number)", number: true, cell: amount(false) },
      { title: "%", width: "3.4rem", number: true, wide: true,
        cell: ({ of }) => of.part ? "" : percent(of.bytes, rss) },
      { title: "of it", about: "bytes of this row, by source line or file", width: "var(--number)", number: true, cell: amount(true) },
      { title: "what", width: "minmax(0,1fr)",
        cell: ({ of }) => of.more ? el("span", { class: "label below" }, `and ${count(of.more)} more`)
          : of.part ? el("span", { class: "label below", title: of.label }, tail("i", {}, of.label))
          : el("span", { class: "path", title: of.label }, of.label) }], rows);
  }

  // Returns the table of the libraries that called malloc.
  libraries(native) {
    return this.grid("Native memory by library", [
      { title: "allocated", about: "estimated bytes", width: "var(--number)", number: true,
        cell: ({ of }) => bytes(of.bytes) },
      { title: "%", width: "3.4rem", number: true, wide: true, cell: ({ of }) => percent(of.bytes, native.whole) },
      { title: "alive", about: "not freed at the end", width: "var(--number)", number: true,
        cell: ({ of }) => of.alive === undefined ? "–" : bytes(of.alive) },
      { title: "samples", width: "5rem", number: true, wide: true, cell: ({ of }) => count(of.samples) },
      { title: "library", width: "minmax(0,1fr)",
        cell: ({ of }) => el("span", { class: "path", title: of.path }, of.library) },
      { title: "mostly for line", width: "minmax(0,1.6fr)",
        cell: ({ of }) => of.file === undefined ? "" : labelOf(of, false) }], native.rows, ({ of }) => {
      if (of.file) this.store.set({ query: where(of), tab: "lines" });
    });
  }

  update() {
    this.grids.forEach(grid => grid.draw());
  }
}
