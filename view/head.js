// SPDX-License-Identifier: MIT
// The head of the page: command, totals, meaning of samples, notes.

import { hasDeaths } from "./data.js";
import { byId, el } from "./dom.js";
import { bytes, count, noun, percent, plural, seconds } from "./format.js";

// Returns words for the clock of time samples, with a leading space, or "" if it is unknown.
function clock(head) {
  return head.wall ? " of wall time" : head.own ? " of CPU time" : "";
}

function meaning(head) {
  const text = [];
  if (head.samples > 0 && head.bytes > 0) {
    const size = bytes(head.period);
    text.push(`A sample is taken every ${size} of allocation${head.random ? " on average, at random," : ","} and ` +
              `represents ${size}${head.periods > 0 ? " at first; the period was changed during the run" : ""}.` +
              `${head.malloc && head.malloc !== head.period ? ` A sample of native memory represents ${bytes(head.malloc)}.` : ""}`);
  }
  if (head.timesamples > 0) {
    text.push(head.timeperiod > 0
      ? `One time sample represents ${seconds(head.time * head.timeperiod / Math.max(1, head.observations))}` +
        `${clock(head)} on average, in the code that ran when the sample was taken.`
      : "The file does not record how much time a sample represents.");
  }
  if (head.samples + head.timesamples > 0) {
    text.push("All numbers are estimates from samples: a row of 100 samples is accurate to about " +
              "±10%, a row of 10,000 samples to about ±1%.");
  }
  return text.join(" ");
}

// Returns the amounts from which the head computes the shares of survivors: {survived, alive, decided}.
// 'decided' is the amount whose survival is known. Amounts are bytes or, if the profile has no bytes, numbers
// of samples.
function fates({ head, rows }) {
  const sum = values => values.reduce((a, b) => a + b, 0);
  if (head.bytes > 0) {
    return { survived: sum(rows.survived), alive: sum(rows.alive), decided: head.bytes - sum(rows.undecided) };
  }
  return { survived: head.survived, alive: head.survived - head.later, decided: head.samples - head.undecided };
}

function facts(data) {
  const { head, collections } = data;
  const out = [];
  const add = (value, name) => out.push([value, name]);
  const outside = head.native && head.outside;  // external bytes, included in head.allocated
  if (head.allocated) {
    add(bytes(Math.max(0, head.allocated - (outside || 0))), head.native ? "allocated by Lua" : "allocated");
  }
  else if (head.samples > 0 && head.bytes > 0) add(bytes(head.bytes), "allocated, estimated from samples");
  if (outside) add(bytes(outside), "external memory of userdata, estimated from samples");
  if (head.native) add(bytes(head.native), "native memory, estimated from samples");
  if (head.duration > 0) add(seconds(head.duration), "from start to end");
  if (head.samples > 0) add(count(head.samples), `${noun(head.samples, "allocation sample")}`);
  if (head.timesamples > 0) {
    add(head.timeperiod > 0 ? seconds(head.time * head.timeperiod) : count(head.timesamples),
        head.timeperiod > 0 ? `${clock(head).trim() || "of time"}, in ${plural(head.observations, "sample")}`
          : `${noun(head.timesamples, "time sample")}`);
  }
  const { survived, alive, decided } = fates(data);
  if (head.fates && decided > 0) add(percent(survived, decided), "survived its first collection");
  if (hasDeaths(head) && decided > 0) add(percent(alive, decided), "alive at the end");
  if (head.minors + head.majors > 0) {
    add(count(head.minors + head.majors),
        `${noun(head.minors + head.majors, "collection")} (${count(head.minors)} minor, ${count(head.majors)} major)`);
  }
  const longest = Math.max(0, ...collections.minor, ...collections.major);
  if (longest > 0) add(seconds(longest / 1e6), "longest pause");
  const peak = Math.max(0, ...collections.inuse);
  if (peak > 0) add(bytes(peak), "most in use");
  return out;
}

// Arranges the facts in columns. Uses the largest number of columns with which all facts fit and the last row
// has more than one item. If there is no such number, uses 2 or 3 columns of equal width in which words wrap.
function arrange(list) {
  const count = list.children.length;
  list.classList.remove("even");
  for (let n = count; n > 2; n--) {
    list.style.setProperty("--columns", n);
    if (list.scrollWidth <= list.clientWidth && count % n !== 1) return;
  }
  list.classList.add("even");
  list.style.setProperty("--columns", list.clientWidth > 400 && count % 3 !== 1 ? 3 : 2);
}

// Returns the script's file name and arguments: the command line without the interpreter, the interpreter's
// options and the script's folder.
function scriptOf(command) {
  const words = command.split(" ");
  const lua = /(^|\/)lua[\d.]*$/.test(words[0]);
  const at = !lua ? 0 : words.findIndex((word, i) =>
    i > 0 && !word.startsWith("-") && words[i - 1] !== "-l" && words[i - 1] !== "-e");
  if (at < 0) return command;
  return [words[at].split("/").pop() || words[at], ...words.slice(at + 1)].join(" ");
}

function showVerdict(sentences) {
  const list = byId("verdict");
  list.hidden = sentences.length === 0;
  list.append(...sentences.map(({ text, command }) =>
    el("li", {}, text, command ? el("code", {}, command) : null)));
}

export function showHead(data) {
  const { head } = data;
  const file = head.path.split("/").pop();
  const title = head.command ? scriptOf(head.command) : file;
  byId("title").textContent = title;
  document.title = `${title.split(" ")[0]} – Asamp`;
  showVerdict(data.verdict);
  const parts = [data.compared ? `${head.path}, compared with ${data.compared.old}` : head.path];
  if (head.command && head.command !== title) parts.push(head.command);
  if (head.started) parts.push(new Date(head.started * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC");
  if (head.interpreter) parts.push(head.interpreter);
  byId("subtitle").textContent = parts.join(" · ");
  byId("facts").append(...facts(data).map(([value, name]) =>
    el("div", {}, el("dd", {}, value), el("dt", {}, name))));
  let width = 0;
  new ResizeObserver(() => {
    const list = byId("facts");
    if (list.clientWidth !== width) arrange(list);
    width = list.clientWidth;
  }).observe(byId("facts"));
  byId("meaning").textContent = meaning(head);
  const notes = byId("notes");
  notes.hidden = data.notes.length === 0;
  notes.append(...data.notes.map(text => el("li", {}, text)));
}
