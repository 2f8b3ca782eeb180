// SPDX-License-Identifier: MIT
// The view "Leaks": likely leaks and lifetimes, as in the report. Covers the whole run. Enter on
// a line shows it in the table of lines.

import { el } from "./dom.js";
import { bytes, count, percent } from "./format.js";
import { Grid } from "./grid.js";
import { tail } from "./views.js";

export function where({ file, line, native }) {
  if (native) return `[C] ${file.split("/").pop()}`;
  return file === undefined || file === "-" ? "?" : `${file}:${line}`;
}

export function labelOf(row, below) {
  return el("span", { class: below ? "label below" : "label", title: `${where(row)}  ${row.name || ""}` },
            tail("i", {}, where(row)), el("b", {}, row.name || ""));
}

export class Lives {
  constructor(store) {
    this.store = store;
    const { leaks, lifetimes, head } = store.data;
    const amount = (n, samples) => head.bytes > 0 ? bytes(n) : count(samples);
    const place = (title, below = () => false) =>
      ({ title, width: "minmax(0,1fr)", cell: row => labelOf(row.of, below(row.of)) });
    const show = row => {
      if (row.of.file && !row.of.native) store.set({ query: where(row.of), tab: "lines" });
    };
    const rows = list => Array.from(list, (of, id) => ({ id, of }));
    this.leaks = new Grid({
      label: "Likely leaks", onActivate: show, onMove: ({ of }) => this.choose(of),
      columns: [
        { title: leaks.proved ? "still alive" : "survived", width: "var(--number)", number: true,
          cell: ({ of }) => amount(of.keptbytes, of.kept) },
        { title: "of line", about: "share of the bytes that the line allocated", width: "4rem", number: true,
          cell: ({ of }) => `${Math.round(100 * of.share)}%` },
        { title: "seen in", about: "slices of the run from which objects are still alive", width: "5rem", number: true,
          wide: true, cell: ({ of }) => `${of.parts} of ${of.of}` },
        { title: "mostly", width: "8.5rem", wide: true, cell: ({ of }) => of.type },
        place("line", row => row.below),
        { title: "held by", about: "the shortest path from the globals, modules and stacks to most of these objects",
          width: "minmax(0,1.6fr)", wide: true, hide: () => !leaks.rows.some(row => row.holders),
          cell: ({ of }) => of.holders ? el("span", { class: "path", title: of.holders[0].text },
            this.holder(of.holders[0])) : "" }],
    });
    this.lifetimes = new Grid({
      label: "By lifetime", onActivate: show,
      columns: [
        { title: "lived for", about: "bytes that the program allocated until a collection found the object dead", width: "5.4rem",
          number: true, cell: ({ of }) => of.kind === "young" ? "died young" : of.kind === "alive" ? "alive"
            : `< ${bytes(of.below)}` },
        { title: head.bytes > 0 ? "bytes" : "samples", width: "var(--number)", number: true,
          cell: ({ of }) => amount(of.bytes, of.samples) },
        { title: "%", width: "3.4rem", number: true, wide: true,
          cell: ({ of }) => head.bytes > 0 ? percent(of.bytes, head.bytes) : percent(of.samples, head.samples) },
        { title: "of it", about: "share of these bytes that come from the line in the last column", width: "3rem", number: true,
          cell: ({ of }) => of.share === undefined ? "–" : `${Math.round(100 * of.share)}%` },
        place("comes from line")],
    });
    this.paths = el("ol", { class: "paths", "aria-live": "polite", "aria-label": "Paths of the chosen line" });
    this.leaks.setRows(rows(leaks.rows));
    this.choose(leaks.rows[0] || {});
    this.lifetimes.setRows(rows(lifetimes));
    this.leaks.empty.remove();
    this.element = el("div", { class: "lives" },
      el("h3", {}, "Likely leaks"),
      el("p", { class: "muted" }, `${leaks.summary}${leaks.rows.length > 0 ? ":" : "."}`),
      this.leaks.element, this.paths,
      ...this.proofs(leaks.proofs),
      leaks.left > 0 ? el("p", { class: "muted" }, `and ${count(leaks.left)} more, which asamp report shows`) : null,
      leaks.rows.some(row => row.below) ? el("p", { class: "muted" },
        "An indented line has the same holder, function or caller as the line above.") : null,
      el("h3", {}, "By lifetime"),
      el("p", { class: "muted" }, lifetimes.length > 0
        ? "A lifetime is the number of bytes that the program allocated between the allocation of an object and " +
          "the major collection that found it dead. Objects that were alive at the end of the run have no lifetime."
        : head.samples === 0 ? "There are no allocation samples."
          : "The file does not record when surviving objects died."),
      this.lifetimes.element);
    this.lifetimes.empty.remove();
  }

  // Returns the elements that show the proofs of likely leaks. Returns [] if the page has no proofs, because
  // there was no heap snapshot of the run.
  proofs(proofs) {
    return proofs ? [el("p", { class: "muted" }, `${proofs.intro}:`),
                     el("ul", { class: "proofs" }, ...proofs.rows.map(text => el("li", {}, text))),
                     el("p", { class: "muted" }, proofs.limit)] : [];
  }

  holder({ share, text }) {
    return `${Math.round(100 * share)}% ${text}`;
  }

  // Shows the complete paths of references to the live samples of a likely leak (a row).
  choose({ holders }) {
    this.paths.hidden = !holders;
    this.paths.replaceChildren(...(holders || []).map(one => el("li", {}, this.holder(one))));
  }

  update() {
    this.leaks.draw();
    this.lifetimes.draw();
  }
}
