// SPDX-License-Identifier: MIT
// Sums the selected rows over the call tree (tree.js) and for the tables. The functions have no side effects.
// Terms as in the report:
//   self   costs of the item itself (of a line: including the C functions that it called)
//   total  costs of the item and of everything that it called; a stack counts once, even if it has the item
//          twice
// Invariant: totals are sums of self over subtrees, so that total[0] is the sum of all selected rows.

// The measures that are summed. The measure 'undecided' is the bytes whose survival is unknown, because no
// collection followed.
export const MEASURES = ["bytes", "samples", "survived", "alive", "peak", "young", "undecided", "time"];

function zeros(n) {
  return Object.fromEntries(MEASURES.map(key => [key, new Float64Array(n)]));
}

// Returns an array with true for each selected kind. 'kind' is the number of a kind, the number of a type
// (selects all kinds of the type), or -1 (selects all kinds). Types have the numbers after those of the kinds.
function counted({ kinds, types }, kind) {
  const of = kind >= kinds.length ? types[kind - kinds.length].kinds : [kind];
  return kinds.map((_, k) => kind < 0 || of.includes(k));
}

// Sums the rows of a range of time slices. Returns an object:
//   self    sums of the rows that 'kind' selects: for each measure, an array by node
//   bykind  sums of all rows: for each measure, an array by kind and type
//   counts  for each kind, true if 'kind' selects it
// Parameters:
//   range   [from, to): numbers of time slices; null: all
//   kind    number of a kind or type; -1: all
export function select(data, range, kind) {
  const { rows, kinds, types, nodes } = data;
  const itself = zeros(nodes.n), bykind = zeros(kinds.length + types.length);
  const counts = counted(data, kind);
  for (let i = 0; i < rows.n; i++) {
    if (range && (rows.bin[i] < range[0] || rows.bin[i] >= range[1])) continue;
    const k = rows.kind[i], node = rows.node[i];
    if (kinds[k].time) {
      bykind.time[k] += rows.samples[i];
      if (counts[k]) itself.time[node] += rows.samples[i];
    } else {
      bykind.samples[k] += rows.samples[i];
      bykind.bytes[k] += rows.bytes[i];
      bykind.survived[k] += rows.survived[i];
      bykind.alive[k] += rows.alive[i];
      bykind.peak[k] += rows.peak[i];
      bykind.young[k] += rows.young[i];
      bykind.undecided[k] += rows.undecided[i];
      if (counts[k]) {
        itself.samples[node] += rows.samples[i];
        itself.bytes[node] += rows.bytes[i];
        itself.survived[node] += rows.survived[i];
        itself.alive[node] += rows.alive[i];
        itself.peak[node] += rows.peak[i];
        itself.young[node] += rows.young[i];
        itself.undecided[node] += rows.undecided[i];
      }
    }
  }
  types.forEach((type, t) => {
    for (const key of MEASURES) for (const k of type.kinds) bykind[key][kinds.length + t] += bykind[key][k];
  });
  return { self: itself, bykind, counts };
}

// Sums values over a tree in which nodes were grouped (tree.js). Returns {self, total} of its nodes, each
// with an array for each measure. 'itself': self values of the nodes before the grouping, an array for each
// measure.
export function sumTree(tree, itself) {
  const sums = { self: zeros(tree.n), total: null };
  for (const key of MEASURES) {
    for (let i = 0; i < tree.map.length; i++) sums.self[key][tree.map[i]] += itself[key][i];
  }
  sums.total = totals(tree.parent, sums.self);
  return sums;
}

// Returns an array for each measure, with the values of 'itself' summed over the subtree of each node.
function totals(parent, itself) {
  const out = {};
  for (const key of MEASURES) {
    const total = out[key] = itself[key].slice();
    for (let i = parent.length - 1; i > 0; i--) total[parent[i]] += total[i];
  }
  return out;
}

// Sums values by function. Returns {self, total}, each with an array by function for each measure. 'sums':
// {self, total} of the nodes of 'tree'.
export function sumFunctions(data, tree, sums) {
  const n = data.functions.length;
  const itself = zeros(n), total = zeros(n);
  for (const key of MEASURES) {
    for (let i = 1; i < tree.n; i++) {
      itself[key][tree.fn[i]] += sums.self[key][i];
      if (tree.first[i]) total[key][tree.fn[i]] += sums.total[key][i];
    }
  }
  return { self: itself, total };
}

// Sums values by line. Returns {self, total}, each with an array by line for each measure. Two more arrays
// are parts of self.time: self.native is the time in C functions, self.collections that in collections.
export function sumLines(data, lines, itself) {
  const n = lines.rows.length;
  const sums = { self: zeros(n), total: zeros(n) };
  const all = totals(data.nodes.parent, itself);
  for (const key of MEASURES) {
    for (let i = 1; i < data.nodes.n; i++) {
      if (lines.nearest[i] >= 0) sums.self[key][lines.nearest[i]] += itself[key][i];
      if (lines.of[i] >= 0 && lines.first[i]) sums.total[key][lines.of[i]] += all[key][i];
    }
  }
  sums.self.native = new Float64Array(n);
  sums.self.collections = new Float64Array(n);
  for (let i = 1; i < data.nodes.n; i++) {
    const fn = data.functions[data.nodes.fn[i]];
    if (lines.nearest[i] < 0 || !fn.native) continue;
    sums.self[fn.collection ? "collections" : "native"][lines.nearest[i]] += itself.time[i];
  }
  return sums;
}

// Returns the sum of the totals of the nodes whose function is marked. A node below another marked one does
// not count, because the total of the latter includes it. 'total': array by node; 'marks': array by function,
// with 1 for each marked one.
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
