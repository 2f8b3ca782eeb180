// SPDX-License-Identifier: MIT
// Groups the call tree by function or by line, without the frames with which all stacks start. Also computes
// the rows of the table of lines. The functions have no side effects. sums.js computes the sums, which depend
// on the state.
// Invariant: a parent's number is lower than its child's; node 0 is the root.

// Returns the children of all nodes in the form {start, list}: the children of node i are list[start[i]] to
// list[start[i + 1] - 1]. 'parent': array with the parent of each node; 'order': list of all nodes that have
// a parent, in the order that siblings shall have.
function childrenOf(parent, order) {
  const start = new Int32Array(parent.length + 1);
  for (const i of order) start[parent[i] + 1]++;
  for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
  const fill = start.slice();
  const list = new Int32Array(order.length);
  for (const i of order) list[fill[parent[i]]++] = i;
  return { start, list };
}

// Returns an array with 1 for each node that is the outermost one of its table row: no caller of the node has
// the same row. Other nodes have 0. 'row': array with the number of each node's table row (-1: none); 'rows':
// number of table rows.
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

// Sets the field 'fn' of each row of the table of lines: the function after which the line is named. If a
// line is in several functions, this is the one with most bytes and samples. 'inner': array with the number
// of the function of the innermost Lua frame of each node's stack.
function nameLines({ rows: samples, functions }, rows, nearest, inner) {
  const sums = rows.map(() => new Map());
  for (let i = 0; i < samples.n; i++) {
    const node = samples.node[i], sum = sums[nearest[node]];
    if (sum) sum.set(inner[node], (sum.get(inner[node]) || 0) + samples.bytes[i] + samples.samples[i]);
  }
  rows.forEach((row, r) => {
    let most = 0;
    for (const [fn, n] of sums[r]) if (n > most) [most, row.fn] = [n, functions[fn]];
  });
}

// Returns the rows of the table of lines, and three arrays by node:
//   of       number of the node's row; -1: none
//   nearest  number of the row of the innermost Lua frame of its stack; -1: none
//   first    1 if no node on the path from the root has the same row
function linesOf(data) {
  const { nodes, functions, head } = data;
  const of = new Int32Array(nodes.n).fill(-1), nearest = of.slice(), inner = of.slice();
  const rows = [], at = new Map();
  for (let i = 1; i < nodes.n && head.lines; i++) {
    const fn = functions[nodes.fn[i]];
    if (fn.cut) continue;
    if (fn.native) {
      nearest[i] = nearest[nodes.parent[i]];
      inner[i] = inner[nodes.parent[i]];
      continue;
    }
    const key = fn.fileid * 2 ** 31 + nodes.line[i];
    if (!at.has(key)) {
      at.set(key, rows.length);
      rows.push({ fn, line: nodes.line[i] });
    }
    of[i] = nearest[i] = at.get(key);
    inner[i] = nodes.fn[i];
  }
  nameLines(data, rows, nearest, inner);
  return { rows, of, nearest, first: outermost(nodes.parent, of, rows.length) };
}

// Returns the set of C frames with which at least 90% of all stacks start, and in which no sample was taken.
// They only show how the interpreter called the program.
function startOf(data) {
  const { nodes, rows, functions } = data;
  const itself = new Float64Array(nodes.n);
  for (let i = 0; i < rows.n; i++) itself[rows.node[i]] += rows.samples[i];
  const total = itself.slice();
  for (let i = nodes.n - 1; i > 0; i--) total[nodes.parent[i]] += total[i];
  const start = new Set();
  for (let i = 1, last = 0; i < nodes.n; i++) {
    if (nodes.parent[i] !== last || total[i] < 0.9 * total[0]) continue;
    if (!functions[nodes.fn[i]].native || itself[i] > 0) break;
    start.add(i);
    last = i;
  }
  return start;
}

// Returns the call tree with merged nodes: siblings of the same function become one node; with 'byLine',
// siblings of the same function and line. Nodes of the set 'folded' are merged into the root. The field 'map'
// of the result maps each node of the data to its new node.
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

// Returns the data that do not depend on the state:
//   lines   the rows of the table of lines (linesOf)
//   start   the C functions with which all stacks start
//   folded  the trees without these functions: [tree by function, tree by line]
//   whole   the trees with these functions
export function prepare(data) {
  const start = startOf(data), none = new Set();
  const trees = folded => [group(data, false, folded), group(data, true, folded)];
  const folded = trees(start);
  return { lines: linesOf(data), start: Array.from(start, i => data.functions[data.nodes.fn[i]]),
           folded, whole: start.size > 0 ? trees(none) : folded };
}

// Returns the children of all nodes of a tree in the form of childrenOf, the child with the largest total
// first. Omits children whose total is 0. 'total': array by node.
export function sorted(tree, total) {
  const order = [];
  for (let i = 1; i < tree.n; i++) if (total[i] > 0) order.push(i);
  order.sort((a, b) => total[b] - total[a] || a - b);
  return childrenOf(tree.parent, order);
}
