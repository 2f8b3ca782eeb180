// SPDX-License-Identifier: MIT
// Loads a .heapsnapshot file with the loader of DevTools, for bench/devtools. The first line of the output
// has three numbers: nodes, sum of their own bytes, bytes retained by the root. Then there is a line "ID
// BYTES" with the retained bytes of each node whose id is in the second argument, a list separated by
// commas.
import * as fs from 'node:fs';
import {JSHeapSnapshot, SecondaryInitManager}
  from './package/front_end/entrypoints/heap_snapshot_worker/HeapSnapshot.js';
import {HeapSnapshotLoader}
  from './package/front_end/entrypoints/heap_snapshot_worker/HeapSnapshotLoader.js';

// older versions of node lack this function
(Promise as any).withResolvers ??= () => {
  const all: any = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, {resolve, reject}));
  return all;
};

const loader = new HeapSnapshotLoader({sendEvent: () => {}} as any);
const file = fs.createReadStream(process.argv[2], {encoding: 'utf8', highWaterMark: 1 << 24});
for await (const piece of file) loader.write(piece as string);
loader.close();
const channel = new MessageChannel();
new SecondaryInitManager(channel.port2 as any);
const heap: any = await loader.buildSnapshot(channel.port1 as any);

const wanted = new Set(process.argv[3].split(',').map(Number));
let self = 0;
const lines: string[] = [];
for (let i = 0; i < heap.nodeCount; i++) {
  const node = heap.createNode(i * heap.nodeFieldCount);
  self += node.selfSize();
  if (wanted.has(node.id())) lines.push(`${node.id()} ${node.retainedSize()}`);
}
console.log(`${heap.nodeCount} ${self} ${heap.rootNode().retainedSize()}`);
console.log(lines.join('\n'));
process.exit(0);
