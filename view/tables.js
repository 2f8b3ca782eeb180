// SPDX-License-Identifier: MIT
// The tables of functions, lines (with their source) and types.

import { hasDeaths } from "./data.js";
import { el } from "./dom.js";
import { bytes, count, percent, place } from "./format.js";
import { Grid } from "./grid.js";
import { columns, label, marked, shareOf, tail } from "./views.js";

const AROUND = 4;  // number of source lines shown before and after the active one

// Returns the column of a table that shows live bytes over time. trends: map of trends (data.js); undefined:
// the table does not show the column. of(row): returns the row's trend, or undefined.
function overTime(store, trends, of) {
  return {
    title: "over time", about: "bytes alive in each slice of the run, as found by major collections",
    width: "9.5rem", wide: true, hide: () => !trends || store.state.mode === "time",
    value: row => of(row)?.alive || 0,
    cell: row => {
      const trend = of(row);
      return trend ? el("span", { class: "bars", role: "img", title: `growth: ${trend.growth}`,
        "aria-label": `${bytes(trend.alive)} alive at the end; growth: ${trend.growth}` }, trend.bars) : "";
    } };
}

// Returns the rows of a table with n items: those whose total in the measure 'mode' is above 0, and for which
// keep(i) is true. 'sums': {total}, with an array for each measure.
function rowsOf(n, sums, mode, keep) {
  const rows = [];
  for (let i = 0; i < n; i++) {
    if (sums.total[mode][i] > 0 && keep(i)) rows.push({ id: i, rank: sums.total[mode][i] });
  }
  return rows;
}

export class Functions {
  constructor(store) {
    this.store = store;
    const c = columns(store, () => store.derived.functions);
    this.grid = new Grid({
      label: "Functions",
      columns: [c.self, c.selfShare, c.total, c.totalShare, c.lived, c.alive,
                overTime(store, store.data.functionTrends, row => this.trend(row.id)),
                { title: "function", width: "minmax(0,1fr)", value: row => store.data.functions[row.id].name,
                  cell: row => {
                    const fn = store.data.functions[row.id];
                    return label(fn, fn.line, store.state.query);
                  } }],
      onActivate: row => store.set({ fn: row.id, tab: "callers" }),
    });
    this.element = this.grid.element;
  }

  trend(i) {
    const { data } = this.store, { file, line, name } = data.functions[i];
    return data.functionTrends?.get(`${file}\n${line}\n${name}`);
  }

  current() {
    return this.grid.rows[this.grid.active]?.id ?? -1;
  }

  update() {
    const { data, derived: d, state } = this.store;
    this.grid.setRows(rowsOf(data.functions.length, d.functions, state.mode,
                             i => !d.marks || d.marks[i]));
  }
}

export class Lines {
  constructor(store) {
    this.store = store;
    const c = columns(store, () => store.derived.lines);
    this.lines = store.prepared.lines.rows;
    this.grid = new Grid({
      label: "Lines",
      columns: [c.self, c.selfShare, c.total, c.totalShare, c.lived, c.alive, ...this.timeColumns(),
                { title: "line", width: "minmax(0,2fr)", value: row => this.where(row.id),
                  cell: row => tail("span", { class: "path", title: this.where(row.id) },
                                    marked(this.where(row.id), store.state.query)) },
                { title: "source", width: "minmax(0,3fr)", wide: true,
                  cell: row => el("code", {}, marked(this.source(row.id).trim(), store.state.query)) },
                ...this.runColumns()],
      onActivate: row => this.show(row.id),
      onMove: row => this.show(row.id),
    });
    this.panel = el("section", { class: "source", "aria-label": "Source", "aria-live": "polite" });
    this.element = el("div", { class: "beside" }, this.grid.element, this.panel);
  }

  // Returns the columns of a line's time in Lua, C and collections, as shares of all time.
  timeColumns() {
    const column = (title, about, of) => ({
      title, about, width: "3.4rem", number: true, wide: true, hide: () => this.store.state.mode !== "time",
      cell: row => percent(of(this.store.derived.lines.self, row.id), this.store.derived.total[0]) });
    return [
      column("Lua", "share of all time spent in the line's own Lua code",
             (itself, i) => itself.time[i] - itself.native[i] - itself.collections[i]),
      column("C", "share of all time spent in C functions that the line called", (itself, i) => itself.native[i]),
      column("GC", "share of all time spent in collections while the line ran", (itself, i) => itself.collections[i]),
    ];
  }

  // Returns the columns with data of the whole run: live bytes over time, and copied bytes.
  runColumns() {
    const { data } = this.store;
    return [
      overTime(this.store, data.trends, row => this.of(data.trends, row.id)),
      { title: "copied", about: "bytes copied into new strings, and by buffers and tables that grew",
        width: "var(--number)", number: true, wide: true, hide: () => !data.copies,
        value: row => this.of(data.copies, row.id)?.bytes || 0,
        cell: row => {
          const copies = this.of(data.copies, row.id);
          return copies ? bytes(copies.bytes) : "–";
        } },
    ];
  }

  // Returns the data about line i in 'map', such as data.trends, or undefined. The keys of such a map are places
  // (file and line); its data are of the whole run (data.js).
  of(map, i) {
    return map && map.get(`${this.lines[i].fn.file}\n${this.lines[i].line}`);
  }

  // Returns sentences about line i over the whole run: its trend and its copies.
  sentences(i) {
    const { data } = this.store;
    const trend = this.of(data.trends, i), copies = this.of(data.copies, i);
    const list = [];
    if (trend) list.push(`${bytes(trend.alive)} alive at the end; growth: ${trend.growth}.`);
    if (copies) {
      list.push(`${bytes(copies.bytes)} copied, ${percent(copies.share, 1)} of it more than once`
        + `${copies.advice ? `; ${copies.advice}` : ""}.`);
    }
    return list;
  }

  // Returns the place of a line; "?" for code without a known file, as in the report.
  where(i) {
    return place(this.lines[i].fn, this.lines[i].line) || "?";
  }

  source(i) {
    return this.store.data.source(this.lines[i].fn.fileid, this.lines[i].line) || "";
  }

  update() {
    const { derived: d, state } = this.store;
    const words = state.query.trim().toLowerCase();
    this.grid.setRows(rowsOf(this.lines.length, d.lines, state.mode, i => words === ""
      || `${this.lines[i].fn.name} ${this.where(i)} ${this.source(i)}`.toLowerCase().includes(words)));
    const row = this.grid.rows[this.grid.active];
    if (row) this.show(row.id);
    else this.panel.replaceChildren();
    this.panel.hidden = !row;
  }

  // Shows in the panel the source of a line and its neighbours, each with its self value, and the
  // sentences about the line.
  show(i) {
    const { data, derived, mode } = this.store;
    const { fn, line } = this.lines[i];
    const itself = new Map();
    this.lines.forEach((other, k) => {
      if (other.fn.fileid === fn.fileid) itself.set(other.line, derived.lines.self[mode.key][k]);
    });
    const rows = [];
    for (let at = Math.max(1, line - AROUND); at <= line + AROUND; at++) {
      const text = data.source(fn.fileid, at);
      if (text === undefined) continue;
      rows.push(el("div", { class: at === line ? "line here" : "line" },
                   el("span", { class: "number" }, itself.get(at) > 0 ? mode.text(itself.get(at)) : ""),
                   el("span", { class: "number muted" }, String(at)), el("code", {}, text || " ")));
    }
    this.panel.replaceChildren(
      el("h3", {}, this.where(i), el("span", { class: "muted" }, `  in ${fn.name}`)),
      rows.length > 0 ? el("div", { class: "lines" }, ...rows)
        : el("p", { class: "muted" }, "No source lines: the file "
             + `${data.whyNoSource(fn.fileid) || "has no such line"}.`),
      ...this.sentences(i).map(text => el("p", { class: "overall" }, text)));
  }
}

// Returns the name of a kind (a block type with a class), or of a block type. 'i': index in 'kinds'; a type t
// has the index kinds.length + t.
export function kindName({ kinds, types }, i) {
  if (i >= kinds.length) return types[i - kinds.length].name;
  return `${kinds[i].name} ${kinds[i].class}`.trim();
}

// The table of types, each with its classes below it, as in the report.
export class Types {
  constructor(store) {
    this.store = store;
    const of = key => row => store.derived.selected.bykind[key][row.id];
    const mode = row => of(store.state.mode)(row);
    const whole = () => store.data.types.reduce((sum, _, t) =>
      sum + mode({ id: store.data.kinds.length + t }), 0);
    this.grid = new Grid({
      label: "Types and classes",
      columns: [
        { title: "self", width: "var(--number)", number: true, value: mode, cell: row => store.mode.text(mode(row)) },
        { title: "%", width: "3.4rem", number: true, cell: row => percent(mode(row), whole()) },
        { title: "lived", width: "3.8rem", number: true, hide: () => !store.data.head.fates,
          about: "share of the bytes that survived their first collection",
          cell: row => shareOf(store.derived.selected.bykind, "survived", row.id) },
        { title: "alive", width: "3.8rem", number: true, hide: () => !hasDeaths(store.data.head),
          about: "share of the bytes that no collection has found dead",
          cell: row => shareOf(store.derived.selected.bykind, "alive", row.id) },
        { title: "blocks, about", width: "7.5rem", number: true, wide: true,
          about: "of the whole run, estimated",
          cell: row => this.objects(row.id) > 0 ? count(this.objects(row.id)) : "–" },
        { title: "type", width: "minmax(0,1fr)", value: row => kindName(store.data, row.id),
          cell: row => this.name(row) }],
      onActivate: row => store.set({ kind: store.state.kind === row.id ? -1 : row.id }),
    });
    this.element = this.grid.element;
  }

  name(row) {
    const { data, state } = this.store;
    const text = row.under ? data.kinds[row.id].class : kindName(data, row.id);
    return el("span", { class: row.under ? "label below" : "label", title: kindName(data, row.id) },
              row.under ? el("i", {}, text) : el("b", {}, text),
              state.kind === row.id ? el("em", {}, "only this type is counted") : null);
  }

  objects(i) {
    const { kinds, types } = this.store.data;
    const of = i < kinds.length ? [i] : types[i - kinds.length].kinds;
    return of.reduce((sum, k) => sum + kinds[k].objects, 0);
  }

  update() {
    const { data: { kinds, types }, derived, state } = this.store;
    const rows = [];
    const add = (id, under) => {
      const row = { id, under, marked: state.kind === id };
      if (derived.selected.bykind[state.mode][id] > 0) rows.push(row);
      return row;
    };
    types.map((type, t) => ({ type, id: kinds.length + t })).sort((a, b) => (a.type.name < b.type.name ? -1 : 1))
      .forEach(({ type, id }) => {
        const up = add(id);
        type.kinds.filter(k => kinds[k].class !== "").sort((a, b) => (kinds[a].class < kinds[b].class ? -1 : 1))
          .forEach(k => add(k, up));
      });
    this.grid.setRows(rows);
  }
}
