// SPDX-License-Identifier: MIT
// The call tree, grouped, and sums over it. Pure. Terms as in the report:
//   own    what the thing did itself (of a line: with the C functions it called)
//   total  with all it called, counted once however often it is on the stack
// Invariants: a parent's number is lower than its child's; totals are sums of
// own over subtrees, so that total[0] is everything that is selected.

// undecided: bytes that no collection has looked at, of which no fate is known.
export const MEASURES = ["bytes", "samples", "survived", "alive", "undecided", "time"];

function zeros(n) {
  return Object.fromEntries(MEASURES.map(key => [key, new Float64Array(n)]));
}

// Children of every node as start/list; 'order' lists the nodes, kept as the
// order among siblings.
function childrenOf(parent, order) {
  const start = new Int32Array(parent.length + 1);
  for (const i of order) start[parent[i] + 1]++;
  for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
  const fill = start.slice();
  const list = new Int32Array(order.length);
  for (const i of order) list[fill[parent[i]]++] = i;
  return { start, list };
}

// For every node: is it the first of its row on the way from the root?
function outermost(parent, row, rows) {
  const n = parent.length;
  const order = Int32Array.from({ length: n - 1 }, (_, i) => i + 1);
  const { start, list } = childrenOf(parent, order);
  const depth = new Int32Array(rows), next = start.slice(0, n), first = new Uint8Array(n);
  let node = 0;
  for (;;) {
    if (next[node] < start[node + 1]) {
      node = list[next[node]++];
      const r = row[node];
      if (r >= 0) first[node] = depth[r]++ === 0 ? 1 : 0;
    } else {
      if (node === 0) return first;
      if (row[node] >= 0) depth[row[node]]--;
      node = parent[node];
    }
  }
}

// The rows of the table of lines, and for every node its row and that of the
// innermost Lua frame of its stack (-1: none).
function linesOf(data) {
  const { nodes, functions, head } = data;
  const of = new Int32Array(nodes.n).fill(-1), nearest = of.slice();
  const rows = [], at = new Map();
  for (let i = 1; i < nodes.n && head.lines; i++) {
    const fn = functions[nodes.fn[i]];
    if (fn.cut) continue;
    if (fn.native) {
      nearest[i] = nearest[nodes.parent[i]];
      continue;
    }
    const key = fn.fileid * 2 ** 31 + nodes.line[i];
    if (!at.has(key)) {
      at.set(key, rows.length);
      rows.push({ fn, line: nodes.line[i] });
    }
    of[i] = nearest[i] = at.get(key);
  }
  return { rows, of, nearest, first: outermost(nodes.parent, of, rows.length) };
}

// How the interpreter came to the program, which is no news: the C frames from
// the root on that nearly all samples went through and none ended in. A set of
// nodes.
export function startOf(data) {
  const { nodes, rows, functions } = data;
  const own = new Float64Array(nodes.n);
  for (let i = 0; i < rows.n; i++) own[rows.node[i]] += rows.samples[i];
  const total = own.slice();
  for (let i = nodes.n - 1; i > 0; i--) total[nodes.parent[i]] += total[i];
  const start = new Set();
  for (let i = 1, last = 0; i < nodes.n; i++) {
    if (nodes.parent[i] !== last || total[i] < 0.9 * total[0]) continue;
    if (!functions[nodes.fn[i]].native || own[i] > 0) break;
    start.add(i);
    last = i;
  }
  return start;
}

// The tree with siblings of one function as one node ('byLine': of one
// function and line). The nodes of 'folded' become the root.
export function group(data, byLine, folded) {
  const { nodes, functions } = data;
  const map = new Int32Array(nodes.n);
  const parent = [-1], fn = [-1], line = [0], depth = [0];
  const pairs = new Map(), at = new Map();
  for (let i = 1; i < nodes.n; i++) {
    if (folded.has(i)) continue;
    const up = map[nodes.parent[i]], f = nodes.fn[i];
    const pair = f * 2 ** 31 + (byLine ? nodes.line[i] : 0);
    if (!pairs.has(pair)) pairs.set(pair, pairs.size);
    const key = up * nodes.n + pairs.get(pair);
    let to = at.get(key);
    if (to === undefined) {
      to = parent.length;
      at.set(key, to);
      parent.push(up);
      fn.push(f);
      line.push(byLine ? nodes.line[i] : functions[f].line);
      depth.push(depth[up] + 1);
    }
    map[i] = to;
  }
  const tree = { n: parent.length, map, parent: Int32Array.from(parent), fn: Int32Array.from(fn),
                 line: Int32Array.from(line), depth: Int32Array.from(depth) };
  tree.first = outermost(tree.parent, tree.fn, functions.length);
  return tree;
}

export function prepare(data) {
  const start = startOf(data), none = new Set();
  const trees = folded => [group(data, false, folded), group(data, true, folded)];
  const folded = trees(start);
  return { lines: linesOf(data), start: Array.from(start, i => data.functions[data.nodes.fn[i]]),
           folded, whole: start.size > 0 ? trees(none) : folded };
}

// The kinds that are counted: those of a type (a number behind the kinds'), one
// kind, or all (-1).
function counted({ kinds, types }, kind) {
  const of = kind >= kinds.length ? types[kind - kinds.length].kinds : [kind];
  return kinds.map((_, k) => kind < 0 || of.includes(k));
}

// Own sums per node of the rows in bins from..to-1 (null: all) and of the kind
// or type (-1: all), and sums per kind and type of the rows in these bins.
export function select(data, range, kind) {
  const { rows, kinds, types, nodes } = data;
  const own = zeros(nodes.n), bykind = zeros(kinds.length + types.length);
  const counts = counted(data, kind);
  for (let i = 0; i < rows.n; i++) {
    if (range && (rows.bin[i] < range[0] || rows.bin[i] >= range[1])) continue;
    const k = rows.kind[i], node = rows.node[i];
    if (kinds[k].time) {
      bykind.time[k] += rows.samples[i];
      if (counts[k]) own.time[node] += rows.samples[i];
    } else {
      bykind.samples[k] += rows.samples[i];
      bykind.bytes[k] += rows.bytes[i];
      bykind.survived[k] += rows.survived[i];
      bykind.alive[k] += rows.alive[i];
      bykind.undecided[k] += rows.undecided[i];
      if (counts[k]) {
        own.samples[node] += rows.samples[i];
        own.bytes[node] += rows.bytes[i];
        own.survived[node] += rows.survived[i];
        own.alive[node] += rows.alive[i];
        own.undecided[node] += rows.undecided[i];
      }
    }
  }
  types.forEach((type, t) => {
    for (const key of MEASURES) for (const k of type.kinds) bykind[key][kinds.length + t] += bykind[key][k];
  });
  return { own, bykind, counts };
}

// Own and total of every node of a grouped tree.
export function sumTree(tree, own) {
  const sums = { own: zeros(tree.n), total: null };
  for (const key of MEASURES) {
    for (let i = 0; i < tree.map.length; i++) sums.own[key][tree.map[i]] += own[key][i];
  }
  sums.total = totals(tree.parent, sums.own);
  return sums;
}

function totals(parent, own) {
  const out = {};
  for (const key of MEASURES) {
    const total = out[key] = own[key].slice();
    for (let i = parent.length - 1; i > 0; i--) total[parent[i]] += total[i];
  }
  return out;
}

// Rows of a table: {own, total} with an entry a measure.
export function sumFunctions(data, tree, sums) {
  const n = data.functions.length;
  const own = zeros(n), total = zeros(n);
  for (const key of MEASURES) {
    for (let i = 1; i < tree.n; i++) {
      own[key][tree.fn[i]] += sums.own[key][i];
      if (tree.first[i]) total[key][tree.fn[i]] += sums.total[key][i];
    }
  }
  return { own, total };
}

// Likewise; of the time of lines also what passed in C functions and collections.
export function sumLines(data, lines, own) {
  const n = lines.rows.length;
  const sums = { own: zeros(n), total: zeros(n) };
  const all = totals(data.nodes.parent, own);
  for (const key of MEASURES) {
    for (let i = 1; i < data.nodes.n; i++) {
      if (lines.nearest[i] >= 0) sums.own[key][lines.nearest[i]] += own[key][i];
      if (lines.of[i] >= 0 && lines.first[i]) sums.total[key][lines.of[i]] += all[key][i];
    }
  }
  sums.own.native = new Float64Array(n);
  sums.own.collections = new Float64Array(n);
  for (let i = 1; i < data.nodes.n; i++) {
    const fn = data.functions[data.nodes.fn[i]];
    if (lines.nearest[i] < 0 || !fn.native) continue;
    sums.own[fn.collection ? "collections" : "native"][lines.nearest[i]] += own.time[i];
  }
  return sums;
}

// Children by total, the largest first; those of nothing are left out.
export function sorted(tree, total) {
  const order = [];
  for (let i = 1; i < tree.n; i++) if (total[i] > 0) order.push(i);
  order.sort((a, b) => total[b] - total[a] || a - b);
  return childrenOf(tree.parent, order);
}

// Sum over the outermost of the nodes whose function is marked.
export function matched(tree, total, marks) {
  const inside = new Uint8Array(tree.n);
  let sum = 0;
  for (let i = 1; i < tree.n; i++) {
    inside[i] = inside[tree.parent[i]];
    if (!inside[i] && marks[tree.fn[i]]) {
      inside[i] = 1;
      sum += total[i];
    }
  }
  return sum;
}
