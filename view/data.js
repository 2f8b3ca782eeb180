// SPDX-License-Identifier: MIT
// Decodes the data of the page (written by lualib/asamp/show/page/data.lua) into arrays for the other
// modules. The data do not change after decode(). A row of the data has the sums of one call tree node, one
// kind of block and one time slice (bin).

function column(list, make = Int32Array) {
  return make.from(list);
}

// Returns a copy of a column of call tree nodes with one more element at its start: 'root', for node 0.
function withRoot(list, root) {
  const out = new Int32Array(list.length + 1);
  out[0] = root;
  out.set(list, 1);
  return out;
}

// Returns an array with the bytes of each row that were alive at the peak of Lua's heap. The data have these
// bytes only by node and kind (lualib/asamp/show/page/peak.lua), so they are estimated for the time slices:
// they are divided among the slices up to the peak in proportion to the survived bytes, or to the allocated
// bytes if nothing survived.
function atPeak({ peak, rows, kinds }, bytes, survived) {
  const out = new Float64Array(rows.node.length);
  if (!peak) return out;
  const key = (node, kind) => node * kinds.length + kind;
  const at = new Map(peak.node.map((node, i) => [key(node, peak.kind[i]), i]));
  const entry = i => rows.bin[i] <= peak.bin ? at.get(key(rows.node[i], rows.kind[i])) : undefined;
  const sums = [bytes, survived].map(of => {
    const sum = new Float64Array(peak.node.length);
    out.forEach((n, i) => { if (entry(i) !== undefined) sum[entry(i)] += of[i]; });
    return sum;
  });
  return out.map((n, i) => {
    const e = entry(i);
    if (e === undefined) return 0;
    const [of, sum] = sums[1][e] > 0 ? [survived, sums[1][e]] : [bytes, sums[0][e]];
    return sum > 0 ? peak.bytes[e] * of[i] / sum : 0;
  });
}

export function decode(text) {
  const raw = JSON.parse(text);
  const { head, functions: f, rows } = raw;
  const functions = f.name.map((name, i) => ({
    name, file: raw.files[f.file[i]], fileid: f.file[i], line: f.line[i],
    native: f.native[i] === 1, cut: i === raw.cut,
    collection: f.native[i] === 1 && /^\[(minor|major) collection\]$/.test(name),
  }));
  // The types of blocks. A kind is a type with a class; a type has all kinds of the same name. Types are
  // numbered after the kinds.
  const types = [], byname = new Map();
  raw.kinds.forEach((kind, i) => {
    if (kind.time) return;
    if (!byname.has(kind.name)) {
      byname.set(kind.name, types.length);
      types.push({ name: kind.name, kinds: [] });
    }
    types[byname.get(kind.name)].kinds.push(i);
  });
  // Functions that convert a list of rows to a map, so that the row of a line or of a function can be found.
  // They return undefined if the profile has no such rows.
  const byplace = rows => rows && new Map(rows.map(row => [`${row.file}\n${row.line}`, row]));
  const byfunction = rows => rows && new Map(rows.map(row => [`${row.file}\n${row.line}\n${row.name}`, row]));
  const scaled = (values, of) =>
    values ? Float64Array.from(values) : Float64Array.from(of, n => n * head.period);
  const bytes = scaled(rows.bytes, rows.samples), survived = scaled(rows.survivedbytes, rows.survived);
  const undecided = rows.undecidedbytes ? Float64Array.from(rows.undecidedbytes) : new Float64Array(rows.node.length);
  return {
    head, functions, kinds: raw.kinds, types, bins: raw.bins, notes: raw.notes, marks: raw.marks,
    nodes: {
      n: raw.nodes.parent.length + 1,
      parent: withRoot(raw.nodes.parent, -1),
      fn: withRoot(raw.nodes.fn, -1),
      line: withRoot(raw.nodes.line, 0),
    },
    rows: {
      n: rows.node.length,
      bin: column(rows.bin), node: column(rows.node), kind: column(rows.kind),
      samples: column(rows.samples, Float64Array),
      bytes, survived, undecided,
      alive: scaled(rows.alivebytes, rows.alive),
      young: bytes.map((n, i) => n - survived[i] - undecided[i]),
      peak: atPeak(raw, bytes, survived),
    },
    trends: byplace(raw.trends), functionTrends: byfunction(raw.functiontrends), copies: byplace(raw.copies),
    leaks: raw.leaks, apart: raw.apart, lifetimes: raw.lifetimes, holders: raw.holders,
    native: raw.native, memory: raw.memory, peak: raw.peak, compared: raw.compared,
    collections: raw.collections, step: raw.step,
    verdict: raw.verdict,
    untimed: raw.untimed,  // bin of the samples without a time; -1: there are none
    // Returns the text of a line, or undefined.
    source: (file, line) => (raw.sources[`F${file}`] || {})[`L${line}`],
    hasSource: file => raw.sources[`F${file}`] !== undefined,
    // Returns the reason why the page has no lines of a file. Returns undefined if it has lines of the file,
    // or needs none.
    whyNoSource: file => raw.reasons[raw.nosources[`F${file}`]],
  };
}

// Returns true if the profile with this head (data.head) also records deaths of objects that had survived a
// collection, so that the bytes alive at the end are known.
export function hasDeaths(head) {
  return head.fates && head.followed > 0;
}

// Returns the measures between which the page switches. Fields of a measure:
//   key           its name in sums (MEASURES of sums.js)
//   title, about  its name and explanation for the user
//   on            false: the profile does not have the measure
//   text(value)   returns a value as text
export function modesOf(data, format) {
  const { head } = data;
  const allocations = head.samples > 0;
  return [
    { key: "bytes", title: "Bytes", on: allocations && head.bytes > 0, text: format.bytes,
      about: "allocated, estimated: samples × period" },
    { key: "samples", title: "Samples", on: allocations, text: format.count,
      about: "allocation samples" },
    { key: "survived", title: "Survived", on: allocations && head.fates && head.bytes > 0,
      text: format.bytes,
      about: "allocated and still alive at the first collection" },
    { key: "alive", title: "Alive", on: allocations && hasDeaths(head) && head.bytes > 0,
      text: format.bytes, about: "allocated and still alive at the end" },
    { key: "peak", title: "At the peak", on: allocations && head.bytes > 0 && data.peak !== undefined,
      text: format.bytes,
      about: data.peak ? "alive when most of Lua's heap was in use after a collection " +
        `(${format.bytes(data.peak.inuse)} at ${format.seconds(data.peak.time)}), including objects whose ` +
        "death was found later; in a selected range, estimated from the survivors of the range" : "" },
    { key: "young", title: "Died young", on: allocations && head.fates && head.bytes > 0, text: format.bytes,
      about: "allocated and dead at the first collection: temporary objects" },
    { key: "time", title: "Time", on: head.timesamples > 0,
      text: head.timeperiod > 0 ? n => format.seconds(n * head.timeperiod) : format.count,
      about: head.timeperiod > 0 ? "spent, estimated: time samples × their period"
        : "time samples" },
  ];
}
