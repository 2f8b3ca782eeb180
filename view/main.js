// SPDX-License-Identifier: MIT
// Main module: reads the data, creates the views, and passes keys and changes of the state to them.
// A change of the state updates the timeline and the visible view only.

import { Apart } from "./apart.js";
import { Callers } from "./callers.js";
import { CallTree } from "./calltree.js";
import { Compared } from "./compared.js";
import { decode, modesOf } from "./data.js";
import { byId, el } from "./dom.js";
import { Flame } from "./flame.js";
import * as format from "./format.js";
import { showHead } from "./head.js";
import { HeldBy } from "./heldby.js";
import { Lives } from "./lives.js";
import { fragment, stateOf } from "./link.js";
import { Memory } from "./memory.js";
import { Store } from "./store.js";
import { Functions, kindName, Lines, Types } from "./tables.js";
import { Timeline } from "./timeline.js";

const data = decode(byId("data").textContent);
const store = new Store(data, modesOf(data, format));
const timeline = new Timeline(store);
const views = [
  { key: "flame", title: "Flame graph", view: new Flame(store) },
  { key: "tree", title: "Call tree", view: new CallTree(store) },
  { key: "functions", title: "Functions", view: new Functions(store) },
  { key: "lines", title: "Lines", view: new Lines(store) },
  { key: "types", title: "Types", view: new Types(store) },
  { key: "callers", title: "Callers", view: new Callers(store) },
  { key: "leaks", title: "Leaks", view: new Lives(store) },
  { key: "holders", title: "Held by", view: new HeldBy(store) },
  { key: "apart", title: "Labels and states", view: new Apart(store) },
  { key: "memory", title: "Memory", view: new Memory(store) },
];
if (data.compared) views.unshift({ key: "compared", title: "Compared", view: new Compared(store) });
const viewOf = key => views.find(v => v.key === key).view;
const shown = () => views.find(v => v.key === store.state.tab);

function makeModes() {
  for (const mode of store.modes) {
    const input = el("input", { type: "radio", name: "mode", value: mode.key, disabled: !mode.on,
                                onchange: () => store.set({ mode: mode.key }) });
    byId("modes").append(el("label", { title: mode.on ? mode.about : "not in this profile" },
                            input, el("span", {}, mode.title)));
  }
}

function makeTabs() {
  for (const { key, title, view } of views) {
    byId("tabs").append(el("button", {
      type: "button", role: "tab", id: `tab-${key}`, "aria-controls": `panel-${key}`,
      onclick: () => store.set({ tab: key }),
      onkeydown: event => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const at = views.findIndex(v => v.key === key);
        const next = views[(at + step + views.length) % views.length].key;
        store.set({ tab: next });
        byId(`tab-${next}`).focus();
      },
    }, title));
    byId("panels").append(el("div", { role: "tabpanel", id: `panel-${key}`,
                                      "aria-labelledby": `tab-${key}` }, view.element));
  }
  const box = (id, text, title, change) => el("label", { id: `${id}-label`, title },
    el("input", { type: "checkbox", id, onchange: e => store.set(change(e.target.checked)) }), text);
  byId("tabs").append(el("span", { class: "group" },
    box("start", "start-up", "shows the C functions at the root of all stacks", on => ({ start: on })),
    box("inverted", "inverted", "shows the innermost functions first, callers below them",
        on => ({ inverted: on })),
    box("byline", "lines apart", "shows the lines of one function as separate frames", on => ({ byLine: on }))));
}

function showControls() {
  for (const input of document.querySelectorAll("[name=mode]")) {
    input.checked = input.value === store.state.mode;
  }
  for (const { key } of views) {
    const on = key === store.state.tab, tab = byId(`tab-${key}`);
    tab.setAttribute("aria-selected", on ? "true" : "false");
    tab.tabIndex = on ? 0 : -1;
    byId(`panel-${key}`).hidden = !on;
  }
  const trees = ["flame", "tree"].includes(store.state.tab);
  byId("byline-label").hidden = !trees;
  byId("inverted-label").hidden = !trees;
  for (const [id, key] of [["byline", "byLine"], ["start", "start"], ["inverted", "inverted"]]) {
    byId(id).checked = store.state[key];
  }
  byId("start-label").hidden = store.prepared.start.length === 0 || !trees && !["functions", "callers"].includes(store.state.tab);
  byId("modes").hidden = byId("found").hidden = byId("selection").hidden = store.state.tab === "compared";
  const search = byId("search");
  if (search.value.trim() !== store.state.query) search.value = store.state.query;
  const { marks, matched, total } = store.derived;
  byId("found").textContent = !marks ? "" :
    `${format.plural(marks.reduce((a, b) => a + b, 0), "function")}: ` +
    `${store.mode.text(matched)}, ${format.percent(matched, total[0])}`;
  showSelection();
}

// Shows the total of the selected data. Also shows the restrictions of the selection, such as a range of
// time, as buttons that remove them.
function showSelection() {
  const { state, derived } = store;
  const parts = [el("b", { id: "whole" }, store.mode.text(derived.total[0])), ` ${store.mode.about}`];
  const chip = (text, title, patch) =>
    parts.push(el("button", { type: "button", class: "chip", title, onclick: () => store.set(patch) },
                  `${text} ✕`));
  if (state.range) {
    chip(`${format.seconds(timeline.time(state.range[0]) / 1e6)} to ` +
         format.seconds(timeline.time(state.range[1]) / 1e6), "Select the whole run", { range: null });
  }
  if (state.kind >= 0) {
    chip(`only ${kindName(data, state.kind)}`, "Count all types", { kind: -1 });
  }
  if (state.zoom > 0 && (state.tab === "flame")) {
    chip(`zoomed: ${data.functions[store.graph.tree.fn[state.zoom]].name}`, "Show the whole graph", { zoom: 0 });
  }
  if (["flame", "tree"].includes(state.tab) && store.graph.left > 0) {
    parts.push(` · callers of ${format.plural(store.graph.left, "small frame")} are not shown`);
  }
  byId("selection").replaceChildren(...parts);
}

// Handles the key Esc: removes one restriction of the view. If several are set, their order is: a level of the
// zoom (if a graph is visible), the search, the type, the range.
function back() {
  const { state, graph } = store;
  if (state.tab === "compared" && viewOf("compared").back()) return;
  if (state.tab === "flame" && state.zoom > 0) store.set({ zoom: graph.tree.parent[state.zoom] });
  else if (state.query !== "") store.set({ query: "" });
  else if (state.kind >= 0) store.set({ kind: -1 });
  else if (state.range) store.set({ range: null });
}

function keys(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const typing = event.target instanceof HTMLInputElement && /search|number/.test(event.target.type);
  if (event.key === "Escape") {
    if (event.target === byId("search")) focusView();
    back();
  } else if (typing) return;
  else if (event.key === "/") byId("search").select();
  else if (event.key === "c") {
    const fn = shown().view.current?.() ?? -1;
    if (fn < 0) return;
    store.set({ fn, tab: "callers" });
    focusView();
  }
  else if (views[(event.key === "0" ? 10 : event.key) - 1]) {
    store.set({ tab: views[(event.key === "0" ? 10 : event.key) - 1].key });
    focusView();
  } else return;
  event.preventDefault();
}

function focusView() {
  byId(`panel-${store.state.tab}`).querySelector("[tabindex='0']")?.focus();
}

function theme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    byId("theme").textContent = dark() ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", dark() ? "Change to light colours" : "Change to dark colours");
    viewOf("flame").update(["theme"]);
    if (data.compared) viewOf("compared").update(["theme"]);
  };
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}

showHead(data);
makeModes();
makeTabs();
store.onChange(changed => {
  showControls();
  timeline.update(changed);
  const { key, view } = shown();
  if (key !== "flame" && changed.every(c => c === "zoom")) return;
  view.update(changed);
});
let writing, waiting;
const tabs = views.map(view => view.key);
// Writes the state to the page's address. Must not be called for each of several fast changes, because
// browsers limit the rate of address changes. Some browsers refuse every change.
function writeLink() {
  try {
    history.replaceState(null, "", location.href.split("#")[0] + fragment(store.state, store.initial));
  } catch { /* refused: the address has no state */ }
}
store.onChange(() => {
  clearTimeout(writing);
  writing = setTimeout(writeLink, 150);
});
addEventListener("hashchange", () => store.set(stateOf(location.hash, store, tabs)));
byId("search").addEventListener("input", event => {
  clearTimeout(waiting);
  waiting = setTimeout(() => store.set({ query: event.target.value.trim() }), 60);
});
byId("search").addEventListener("keydown", event => {
  if (event.key !== "Enter") return;
  clearTimeout(waiting);
  store.set({ query: event.target.value.trim() });
  if (store.state.tab === "tree") viewOf("tree").reveal();
  focusView();
});
document.addEventListener("keydown", keys);
showControls();
theme();
store.set(stateOf(location.hash, store, tabs));
