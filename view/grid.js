// SPDX-License-Identifier: MIT
// A table with any number of rows. Only visible rows have elements in the document. The Tab key stops once
// for all rows, and at each sortable heading; arrow keys move between rows (aria-activedescendant names the
// active row).
//
// Rows with equal sort keys are sorted by their 'rank', the largest first. A row with the field 'under' stays
// below the row that the field names. The rows of a treegrid are not sorted.
//
// Fields of a column:
//   title, about  heading and its tooltip
//   width         CSS width in rem, "var(--number)", or "minmax(0,Nfr)" for a share of the remaining width
//   cell(row)     returns text or a node
//   hide()        returns true if the table has no such column now
//   wide          true: if there is little space, the column is shown below the table, for the active row
//                 only, with the heading 'full' (default: 'title')
//   value(row)    returns the sort key: numbers are sorted descending, texts ascending
//   number        true: aligned to the right
//
// Fields of a row: 'id' and, optionally, 'rank', 'under' (a row), 'marked' (true: highlighted) and 'aria'
// (ARIA attributes of the row's element).

import { el } from "./dom.js";

const HEIGHT = 28;  // height of a row, px
// Least width, in rem, of a column without a fixed width: NAME, or MORE if the column is marked 'wide'.
const NAME = 10, MORE = 6;
// GAP: px between two columns; PADDING: sum of the px before the first and after the last column.
const GAP = 14, PADDING = 24;
const narrow = matchMedia("(max-width: 640px)");
let grids = 0;

function compare(value, a, b) {
  const x = value(a), y = value(b);
  if (x === y) return (b.rank || 0) - (a.rank || 0);
  return typeof x === "string" ? (x < y ? -1 : 1) : y - x;
}

export class Grid {
  constructor(options) {
    Object.assign(this, { role: "grid", onActivate: () => {}, onMove: () => {}, onKey: () => false },
                  options);
    this.id = `grid${++grids}`;
    this.rows = [];
    this.active = 0;
    this.sortBy = this.columns.findIndex(c => c.value);
    this.spacer = el("div", { class: "spacer", role: "presentation" });
    this.body = el("div", { class: "rows", role: "rowgroup", tabindex: -1 }, this.spacer);
    this.header = el("div", { class: "row header", role: "row" });
    this.headgroup = el("div", { role: "rowgroup" }, this.header);
    this.table = el("div", { class: "grid", role: this.role, tabindex: 0, "aria-label": this.label },
                    this.headgroup, this.body);
    this.empty = el("p", { class: "muted empty" }, "Nothing to show.");
    this.rest = el("dl", { class: "rest", "aria-label": `${this.label}: more of the row` });
    this.element = el("div", {}, this.table, this.rest, this.empty);
    this.body.addEventListener("scroll", () => this.draw());
    this.table.addEventListener("keydown", event => this.key(event));
    narrow.addEventListener("change", () => this.render());
    new ResizeObserver(() => {
      if (this.shown && this.fitting().length !== this.shown.length) this.render();
      else this.draw();
    }).observe(this.body);
  }

  // Replaces the rows. The row with the active row's id stays active.
  setRows(rows) {
    const was = this.rows[this.active];
    this.rows = rows;
    this.order();
    const now = was === undefined ? 0 : this.rows.findIndex(row => row.id === was.id);
    this.active = Math.max(0, now);
    this.render();
  }

  order() {
    const column = this.columns[this.sortBy];
    if (!column || this.role === "treegrid") return;
    const { value } = column;
    this.rows.sort((a, b) => {
      const [up, other] = [a.under || a, b.under || b];
      if (up !== other) return compare(value, up, other);
      return a === up ? -1 : b === up ? 1 : compare(value, a, b);
    });
  }

  // Returns the columns that fit into the table. Drops columns that are marked 'wide' until the others fit.
  // Columns without a fixed width are dropped first; of several such columns, the last one is dropped first.
  fitting() {
    const there = this.columns.filter(c => !(c.hide && c.hide()));
    if (narrow.matches) return there.filter(c => !c.wide);
    const room = this.table.clientWidth - PADDING, style = getComputedStyle(this.table);
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const least = c => parseFloat(c.width.startsWith("var") ? style.getPropertyValue("--number") : c.width);
    const width = c => rem * (least(c) || (c.wide ? MORE : NAME));
    const needed = list => list.reduce((sum, c) => sum + width(c) + GAP, -GAP);
    while (room > 0 && needed(there) > room) {
      const shared = there.findLastIndex(c => c.wide && !least(c));
      const last = shared >= 0 ? shared : there.findLastIndex(c => c.wide);
      if (last < 0) break;
      there.splice(last, 1);
    }
    return there;
  }

  render() {
    this.shown = this.fitting();
    this.left = this.columns.filter(c => c.wide && !(c.hide && c.hide()) && !this.shown.includes(c));
    // In CSS, min() of a percentage and a plain 0 is invalid, and the table would have no columns. So the
    // result is "0px".
    const least = c => narrow.matches ? "0px" : `${c.wide ? MORE : NAME}rem`;
    this.table.style.setProperty("--columns", this.shown.map(
      c => c.width.replace("minmax(0,", `minmax(min(40%,${least(c)}),`)).join(" "));
    this.header.replaceChildren(...this.shown.map(c => this.heading(c)));
    this.spacer.style.height = `${this.rows.length * HEIGHT}px`;
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    this.table.hidden = this.rows.length === 0;
    this.empty.hidden = this.rows.length > 0;
    this.draw();
  }

  heading(column) {
    const index = this.columns.indexOf(column);
    const sorts = column.value && this.role !== "treegrid";
    const by = sorts && index === this.sortBy;
    const content = sorts
      ? el("button", { type: "button", class: "quiet", onclick: () => this.sort(index) },
           column.title + (by ? " ▾" : ""))
      : column.title;
    return el("span", { role: "columnheader", class: column.number ? "number" : "",
                        title: column.about,
                        "aria-sort": by ? (column.number ? "descending" : "ascending") : null }, content);
  }

  sort(index) {
    this.sortBy = index;
    this.order();
    this.active = 0;
    this.body.scrollTop = 0;
    this.render();
    this.header.querySelectorAll("button")[
      this.shown.filter(c => c.value).indexOf(this.columns[index])].focus();
  }

  draw() {
    const top = this.body.scrollTop, height = this.body.clientHeight || 600;
    const from = Math.max(0, Math.floor(top / HEIGHT) - 4);
    const to = Math.min(this.rows.length, Math.ceil((top + height) / HEIGHT) + 4);
    const rows = [];
    for (let i = from; i < to; i++) rows.push(this.row(i));
    this.spacer.replaceChildren(...rows);
    this.table.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    const row = this.rows[this.active];
    this.rest.replaceChildren(...(row ? this.left : []).map(c =>
      el("div", {}, el("dt", { title: c.about }, c.full || c.title), el("dd", {}, c.cell(row)))));
    this.rest.hidden = this.rest.childElementCount === 0;
  }

  row(i) {
    const row = this.rows[i];
    const e = el("div", {
      class: `row${i === this.active ? " active" : ""}${row.marked ? " marked" : ""}`, role: "row",
      id: `${this.id}-${i}`, "aria-rowindex": i + 2, "aria-selected": i === this.active ? "true" : "false",
      ...(row.aria || {}), onclick: event => { this.move(i); this.onActivate(row, event); },
    }, ...this.shown.map(c => el("span", {
      role: "gridcell", class: c.number ? "number" : "text" }, c.cell(row))));
    e.style.top = `${i * HEIGHT}px`;
    return e;
  }

  move(i) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, i));
    const top = this.active * HEIGHT, { scrollTop, clientHeight } = this.body;
    if (top < scrollTop) this.body.scrollTop = top;
    else if (top + HEIGHT > scrollTop + clientHeight) this.body.scrollTop = top + HEIGHT - clientHeight;
    this.draw();
    if (this.rows.length > 0) this.onMove(this.rows[this.active]);
  }

  moveTo(id) {
    const i = this.rows.findIndex(row => row.id === id);
    if (i >= 0) this.move(i);
  }

  key(event) {
    if (event.target !== this.table || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = this.rows[this.active];
    const page = Math.max(1, Math.floor(this.body.clientHeight / HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
                    Home: -this.rows.length, End: this.rows.length };
    if (event.key in steps) this.move(this.active + steps[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && row) this.onActivate(row, event);
    else if (!row || !this.onKey(event.key, row)) return;
    event.preventDefault();
  }
}
