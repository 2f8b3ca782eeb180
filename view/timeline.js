// SPDX-License-Identifier: MIT
// The timeline: the selected measure over time, heap and RSS after every collection, pauses and marks. A
// range can be selected with the mouse, the inputs or the keyboard; it starts and ends at time slices (bins).
// The library d3 draws it.

import { axisBottom, axisLeft } from "d3-axis";
import { brushSelection, brushX } from "d3-brush";
import { scaleLinear, scaleLog } from "d3-scale";
import { area, curveStepAfter, line } from "d3-shape";
import { select } from "d3-selection";
import { byId, el } from "./dom.js";
import { bytes, seconds } from "./format.js";

// Margins of the drawing, and heights of its parts with the gaps between them, px.
const RIGHT = 14, TOP = 16, MEMORY = 110, GAP = 14, AMOUNT = 44, PAUSES = 44, AXIS = 22;
// Least width of the drawing, px. In a narrower window, the whole drawing is scaled down.
const NARROWEST = 160;
// Units of the time axis: {length in us, name, factor}. A unit is used if the run has at least 'factor' times
// its length.
const UNITS = [[86400e6, "d", 4], [3600e6, "h", 4], [60e6, "min", 5], [1e6, "s", 1], [1e3, "ms", 0]];
const MEMORIES = [["held", "reserved from the system"], ["rss", "resident (RSS)"], ["inuse", "in use"]];
const PAUSE = [["minor", "minor pause"], ["major", "major pause"]];

function max(list) {
  return list.reduce((a, b) => Math.max(a, b), 0);
}

// Returns at most n tick values up to 'top', multiples of a power of 2.
function byteTicks(top, n) {
  let step = 1;
  while (top / step > n) step *= 2;
  const out = [];
  for (let v = step; v <= top; v += step) out.push(v);
  return out;
}

// Sets a label to as much of the text, up to 24 characters, as fits into 'room' pixels. Returns its width.
function fit(label, text, room) {
  const all = Array.from(text);
  for (let n = Math.min(all.length, 24); ; n--) {
    label.text(n < all.length ? `${all.slice(0, Math.max(0, n - 1)).join("")}…` : text);
    const width = label.node().getComputedTextLength();
    if (width <= room || n <= 1) return width;
  }
}

export class Timeline {
  constructor(store) {
    this.store = store;
    const { data } = store;
    this.end = Math.max(data.bins.start + data.bins.n * data.bins.width,
                        max(data.collections.time), (data.head.duration || 0) * 1e6, 1);
    this.element = byId("timeline");
    this.hasHeap = max(data.collections.held) > 0;
    this.hasPauses = data.collections.time.length > 0;
    if (data.bins.n < 2 && !this.hasPauses) {
      this.element.hidden = true;
      return;
    }
    this.reading = el("output", { class: "reading muted" },
                      data.bins.n > 1 ? "Drag to select a range of time." : "");
    this.svg = select(this.element).append("svg").attr("tabindex", 0).attr("role", "group")
      .attr("aria-label", "Timeline of memory and collections. Left and right move the selected " +
                          "range, with Shift its end; Escape selects the whole run.");
    this.svg.node().addEventListener("keydown", event => this.key(event));
    this.svg.node().addEventListener("mousemove", event => this.read(event));
    this.from = this.input("from");
    this.to = this.input("to");
    this.element.prepend(el("div", { class: "legend" }, ...this.legend(),
      data.bins.n > 1 ? el("span", { class: "range" }, el("label", {}, "from ", this.from),
                           el("label", {}, "to ", this.to), "s") : null));
    this.element.append(this.reading);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  legend() {
    const { marks } = this.store.data;
    const out = [];
    const item = (key, text) => out.push(el("span", { class: `key ${key}` }, text));
    if (this.hasHeap) MEMORIES.slice().reverse().forEach(([key, text]) => item(key, text));
    if (this.store.data.bins.n > 1) {
      this.amount = el("span", { class: "key amount" });
      out.push(this.amount);
    }
    if (this.hasPauses) PAUSE.forEach(([key, text]) => item(key, text));
    if (marks.length > 0) item("mark", "mark");
    return out;
  }

  input(name) {
    return el("input", { type: "number", step: "any", min: 0, "aria-label": `Range ${name}, seconds`,
                         onchange: () => this.typed() });
  }

  typed() {
    const { bins } = this.store.data;
    const bin = (value, round) => round((value * 1e6 - bins.start) / bins.width);
    const from = this.from.value === "" ? 0 : bin(Number(this.from.value), Math.floor);
    const to = this.to.value === "" ? bins.n : bin(Number(this.to.value), Math.ceil);
    this.choose(from, to);
  }

  // Selects the time slices (bins) from..to-1. If these are all slices, clears the selection.
  choose(from, to) {
    const { bins } = this.store.data;
    from = Math.max(0, Math.min(bins.n - 1, from));
    to = Math.max(from + 1, Math.min(bins.n, to));
    const now = this.store.state.range;
    if (from === 0 && to === bins.n) this.store.set({ range: null });
    else if (!now || now[0] !== from || now[1] !== to) this.store.set({ range: [from, to] });
    else this.place();
  }

  key(event) {
    const { bins } = this.store.data;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || bins.n < 2 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const tenth = Math.max(1, Math.round(bins.n / 10));
    const [from, to] = this.store.state.range || [0, step > 0 ? tenth : bins.n - tenth];
    if (!this.store.state.range) this.choose(step > 0 ? 0 : bins.n - tenth, step > 0 ? tenth : bins.n);
    else if (event.shiftKey) this.choose(from, to + step);
    else if (from + step >= 0 && to + step <= bins.n) this.choose(from + step, to + step);
  }

  update(changed) {
    if (this.element.hidden || !this.x) return;
    if (changed.includes("mode") || changed.includes("kind")) this.draw();
    else this.place();
  }

  time(bin) {
    const { bins } = this.store.data;
    return bins.start + bin * bins.width;
  }

  // Returns the values of the selected measure and kinds, one for each time slice (bin).
  amounts() {
    const { data: { rows, bins, kinds }, state, derived: { selected: { counts } } } = this.store;
    const out = new Float64Array(bins.n);
    for (let i = 0; i < rows.n; i++) {
      const time = kinds[rows.kind[i]].time;
      if (time !== (state.mode === "time") || !counts[rows.kind[i]]) continue;
      out[rows.bin[i]] += time ? rows.samples[i] : rows[state.mode][i];
    }
    return out;
  }

  draw() {
    if (this.reading.clientWidth === 0) return;
    const width = Math.max(NARROWEST, this.reading.clientWidth);
    const left = width < 560 ? 52 : 68;
    const { data } = this.store;
    this.svg.selectAll("*").remove();
    let y = TOP;
    this.x = scaleLinear([0, this.end], [left, width - RIGHT]);
    if (this.hasHeap) y = this.memory(y, left, width);
    if (data.bins.n > 1) y = this.bars(y, left, width);
    if (this.hasPauses) y = this.pauses(y, left);
    this.bottom = y - GAP + 4;
    this.svg.attr("viewBox", `0 0 ${width} ${this.bottom + AXIS}`).attr("width", width)
      .attr("height", this.bottom + AXIS);
    const [unit, name] = UNITS.find(([us, , least]) => this.end >= us * least);
    this.svg.append("g").attr("class", "axis").attr("transform", `translate(0,${this.bottom})`)
      .call(axisBottom(this.x.copy().domain([0, this.end / unit])).ticks(Math.max(3, width / 110))
        .tickFormat(v => `${v.toLocaleString("en-US")} ${name}`).tickSizeOuter(0));
    this.flags(width);
    this.svg.append("line").attr("class", "cursor").attr("y1", TOP).attr("y2", this.bottom);
    if (data.bins.n > 1) this.brushing(left, width);
    this.place();
  }

  axis(y, height, left, scale, ticks, text) {
    this.svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`)
      .call(axisLeft(scale).tickValues(ticks).tickFormat(text).tickSize(4).tickSizeOuter(0));
    this.svg.append("g").attr("class", "lines").selectAll("line").data(ticks).enter().append("line")
      .attr("x1", left).attr("x2", this.x.range()[1]).attr("y1", d => scale(d)).attr("y2", d => scale(d));
    return y + height + GAP;
  }

  memory(y, left) {
    const c = this.store.data.collections;
    const top = Math.max(max(c.held), max(c.rss), max(c.inuse));
    const scale = scaleLinear([0, top * 1.04], [y + MEMORY, y]);
    const next = this.axis(y, MEMORY, left, scale, byteTicks(top, 4), bytes);
    const points = c.time.map((time, i) => i);
    const at = i => this.x(c.time[i]);
    for (const [key] of MEMORIES) {
      if (max(c[key]) === 0) continue;
      const values = points.filter(i => c[key][i] > 0);
      if (key === "inuse") {
        this.svg.append("path").attr("class", "area inuse").attr("d",
          area().curve(curveStepAfter).x(at).y0(scale(0)).y1(i => scale(c.inuse[i]))(values));
      }
      this.svg.append("path").attr("class", `line ${key}`).attr("d",
        line().curve(curveStepAfter).x(at).y(i => scale(c[key][i]))(values));
    }
    return next;
  }

  bars(y, left) {
    const { data: { bins }, mode } = this.store;
    this.amount.textContent = `${mode.title.toLowerCase()} per ${seconds(bins.width / 1e6)}`;
    const amounts = this.amounts(), { untimed } = this.store.data;
    const top = max(amounts.filter((v, i) => i !== untimed)) || max(amounts);
    const scale = scaleLinear([0, top || 1], [y + AMOUNT, y]);
    const next = this.axis(y, AMOUNT, left, scale, top > 0 ? [top] : [], mode.text);
    const w = Math.max(0.6, this.x(bins.width) - this.x(0) - 0.4);
    const bar = (v, i) => v > 0
      ? `M${this.x(this.time(i))},${y + AMOUNT}V${scale(Math.min(v, top))}h${w}V${y + AMOUNT}z` : "";
    this.svg.append("path").attr("class", "amount")
      .attr("d", Array.from(amounts, (v, i) => i === untimed ? "" : bar(v, i)).join(""));
    if (untimed >= 0) {
      this.svg.append("path").attr("class", "amount untimed").attr("d", bar(amounts[untimed], untimed))
        .append("title").text("These samples have no times: the file is cut.");
    }
    return next;
  }

  pauses(y, left) {
    const c = this.store.data.collections;
    const longest = Math.max(max(c.minor), max(c.major));
    const top = Math.max(longest, 10);
    const scale = scaleLog([1, top], [y + PAUSES, y]).clamp(true);
    const ticks = longest > 0 ? [top, 10 ** Math.floor(Math.log10(top) / 2)] : [];
    const next = this.axis(y, PAUSES, left, scale, ticks, t => seconds(t / 1e6));
    for (const [key] of PAUSE) {
      let path = "";
      c[key].forEach((us, i) => {
        if (us >= 0) path += `M${this.x(c.time[i]).toFixed(2)},${y + PAUSES}V${scale(Math.max(us, 1.2)).toFixed(2)}`;
      });
      this.svg.append("path").attr("class", `pause ${key}`).attr("d", path);
    }
    return next;
  }

  // Draws a line for each mark, and its name and value if there is space.
  flags(width) {
    let free = 0;
    for (const mark of this.store.data.marks) {
      const x = this.x(mark.time);
      const g = this.svg.append("g").attr("class", "flag");
      g.append("line").attr("x1", x).attr("x2", x).attr("y1", TOP - 4).attr("y2", this.bottom);
      const text = mark.value === "" ? mark.name : `${mark.name}: ${mark.value}`;
      g.append("title").text(`${text} (${seconds(mark.time / 1e6)})`);
      if (x < free || x > width - 30) continue;
      const label = g.append("text").attr("x", x + 3).attr("y", TOP - 6);
      free = x + 10 + fit(label, text, width - x - 3);
    }
  }

  brushing(left, width) {
    this.brush = brushX().extent([[left, TOP], [width - RIGHT, this.bottom]]).on("end", () => {
      if (this.placing) return;
      const at = brushSelection(this.layer.node());
      const { bins } = this.store.data;
      const bin = x => (this.x.invert(x) - bins.start) / bins.width;
      if (at) this.choose(Math.floor(bin(at[0]) + 0.05), Math.ceil(bin(at[1]) - 0.05));
      else this.store.set({ range: null });
    });
    this.layer = this.svg.append("g").attr("class", "brush").call(this.brush);
  }

  // Moves the brush to the selected range, and writes its ends to the inputs.
  place() {
    const { state: { range }, data: { bins } } = this.store;
    if (!this.layer) return;
    const last = this.x.range()[1];
    this.placing = true;
    this.layer.call(this.brush.move, range
      ? [this.x(this.time(range[0])), Math.min(last, this.x(this.time(range[1])))] : null);
    this.placing = false;
    // Number of decimals of a time in seconds with which the ends of neighbouring slices differ.
    const slice = Math.ceil(-Math.log10(bins.width / 1e6));
    const digits = Math.max(this.end < 1e4 ? 6 : this.end < 1e7 ? 4 : 2, Math.min(slice, 6));
    const text = us => (us / 1e6).toFixed(digits);
    this.from.value = range ? text(this.time(range[0])) : "";
    this.to.value = range ? text(this.time(range[1])) : "";
    this.from.placeholder = "0";
    this.to.placeholder = text(this.end);
  }

  // Shows the time under the pointer (of a mouse event), and the values of the last collection before this
  // time.
  read(event) {
    const { left, width } = this.svg.node().getBoundingClientRect();
    const us = this.x.invert((event.clientX - left) * this.svg.attr("width") / width);
    const c = this.store.data.collections;
    if (us < 0 || us > this.end) return;
    this.svg.select(".cursor").style("visibility", "visible").attr("x1", this.x(us)).attr("x2", this.x(us));
    let low = 0, high = c.time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (c.time[middle] <= us) low = middle + 1;
      else high = middle;
    }
    const i = low - 1;
    const parts = [seconds(us / 1e6)];
    if (i >= 0) {
      for (const [key, name] of [["inuse", "in use"], ["held", "reserved"], ["rss", "RSS"]]) {
        if (c[key][i] > 0) parts.push(`${name} ${bytes(c[key][i])}`);
      }
      for (const [key, name] of PAUSE) if (c[key][i] > 0) parts.push(`${name} ${seconds(c[key][i] / 1e6)}`);
    }
    this.reading.textContent = parts.join(" · ");
  }
}
