// SPDX-License-Identifier: MIT
// Trees that do not start at the root of the call tree: the callers of the innermost functions, the callers
// of a function, and its callees. The functions have no side effects. The results have the form of the call
// tree and its sums (tree.js, sums.js): a parent's number is lower than its child's, and node 0 is the whole.
//
// An inverted tree may have as many nodes as all stacks have frames. Two limits bound it: callers are only
// added to nodes with at least 1/LEAST of the whole, and only until WORK frames have been visited, level by
// level. 'left' is the number of nodes whose callers were omitted.

import { MEASURES } from "./sums.js";
import { sorted } from "./tree.js";

const LEAST = 20000, WORK = 4e6;

function builder() {
  const columns = { parent: [], fn: [], line: [], depth: [] };
  const total = Object.fromEntries(MEASURES.map(key => [key, []]));
  return {
    add(parent, fn, line) {
      columns.parent.push(parent);
      columns.fn.push(fn);
      columns.line.push(line);
      columns.depth.push(parent < 0 ? 0 : columns.depth[parent] + 1);
      for (const key of MEASURES) total[key].push(0);
      return columns.parent.length - 1;
    },
    count(node, sums, i) {
      for (const key of MEASURES) total[key][node] += sums[key][i];
    },
    of: (node, mode) => total[mode][node],
    // Returns the finished tree with its sums, in the form of store.graph.
    //   mode                  the measure by which siblings are sorted
    //   itself(tree, totals)  returns the array of the self values of all nodes; 'totals': array of their
    //                         totals
    //   left                  number of nodes whose callers were omitted
    done(mode, itself, left) {
      const tree = { n: columns.parent.length };
      for (const key of Object.keys(columns)) tree[key] = Int32Array.from(columns[key]);
      const sums = { self: {}, total: {} };
      for (const key of MEASURES) {
        sums.total[key] = Float64Array.from(total[key]);
        sums.self[key] = itself(tree, sums.total[key]);
      }
      return { tree, sums, total: sums.total[mode], self: sums.self[mode],
               children: sorted(tree, sums.total[mode]), left };
    },
  };
}

// Builds the tree of the callers of some frames. Returns {out, left}: the builder with the tree, and the
// number of nodes whose callers were omitted.
//   tree, from  the call tree, and the list of the frames (its nodes)
//   weights     values of each frame: an array for each measure
//   mode        the measure by which small nodes are found
//   whole       total of the profile in this measure
//   together    true: node 0 represents all frames; false: the frames are below it, grouped by function and
//               line
function callers(tree, from, weights, mode, whole, together) {
  const out = builder();
  out.add(-1, from.length > 0 && together ? tree.fn[from[0]] : -1, 0);
  let work = 0, left = 0;
  // Adds nodes below 'node': one for each function and line of the callers at the present level. at[i] is the
  // caller of frames[i] at this level. Returns a list of the new nodes, each with the frames that it
  // represents.
  const spread = (node, frames, at) => {
    const byfn = new Map(), list = [];
    frames.forEach((frame, i) => {
      if (at[i] <= 0) return;
      const key = tree.fn[at[i]] * 2 ** 31 + tree.line[at[i]];
      let below = byfn.get(key);
      if (!below) {
        below = { node: out.add(node, tree.fn[at[i]], tree.line[at[i]]), frames: [], at: [] };
        byfn.set(key, below);
        list.push(below);
      }
      below.frames.push(frame);
      below.at.push(at[i]);
      out.count(below.node, weights, frame);
    });
    work += frames.length;
    return list;
  };
  let level = together ? [{ node: 0, frames: from, at: from }] : spread(0, from, from);
  if (together) for (const frame of from) out.count(0, weights, frame);
  while (level.length > 0) {
    const next = [];
    for (const { node, frames, at } of level) {
      const up = at.map(i => tree.parent[i]);
      if (up.every(i => i <= 0)) continue;
      if (out.of(node, mode) * LEAST < whole || work > WORK) left++;
      else for (const below of spread(node, frames, up)) next.push(below);
    }
    level = next;
  }
  return { out, left };
}

// Returns the inverted form of a call tree, with its sums: the innermost functions are below the root, and
// the callers are below the function that they called. 'mode': the measure by which small nodes are found.
export function inverted(tree, sums, mode) {
  const itself = sums.self, from = [];
  for (let i = 1; i < tree.n; i++) if ((mode === "time" ? itself.time : itself.samples)[i] > 0) from.push(i);
  const { out, left } = callers(tree, from, itself, mode, sums.total[mode][0], false);
  out.count(0, sums.total, 0);
  return out.done(mode, (to, total) => total.map((n, i) => to.depth[i] === 1 ? n : 0), left);
}

// Returns the list of the nodes that are outermost frames of a function (a number).
function framesOf(tree, fn) {
  const from = [];
  for (let i = 1; i < tree.n; i++) if (tree.first[i] && tree.fn[i] === fn) from.push(i);
  return from;
}

// Returns {callers, callees}: the trees of the callers and of the callees of a function, in the form of
// store.graph. Node 0 of each tree is the function.
//   tree, sums, children  the call tree (tree.js), its sums, and the children of its nodes
//   fn                    number of the function
//   mode                  key of the measure
export function around(tree, sums, children, fn, mode) {
  const from = framesOf(tree, fn);
  const above = callers(tree, from, sums.total, mode, sums.total[mode][0], true);
  const below = builder();
  below.add(-1, fn, 0);
  for (const frame of from) below.count(0, sums.total, frame);
  for (let level = [{ node: 0, frames: from }]; level.length > 0;) {
    const next = [];
    for (const { node, frames } of level) {
      const byfn = new Map();
      for (const frame of frames) {
        for (let k = children.start[frame]; k < children.start[frame + 1]; k++) {
          const i = children.list[k], key = tree.fn[i] * 2 ** 31 + tree.line[i];
          if (!byfn.has(key)) byfn.set(key, { node: below.add(node, tree.fn[i], tree.line[i]), frames: [] });
          byfn.get(key).frames.push(i);
          below.count(byfn.get(key).node, sums.total, i);
        }
      }
      next.push(...byfn.values());
    }
    level = next;
  }
  const nothing = (to, total) => total.map(() => 0);
  return { callers: above.out.done(mode, nothing, above.left), callees: below.done(mode, nothing, 0) };
}
