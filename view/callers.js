// SPDX-License-Identifier: MIT
// The view "Callers": the callers and the callees of one function. Until the user chooses a function, it is
// the one with the largest self value. In this view and in others, the key c chooses the function of the
// active row. Enter chooses it in the table of functions.

import { CallTree } from "./calltree.js";
import { el } from "./dom.js";
import { percent, place, plural } from "./format.js";
import { label } from "./views.js";

const ON = ["range", "kind", "byLine", "start", "mode", "fn"];

export class Callers {
  constructor(store) {
    this.store = store;
    this.seen = null;
    this.empty = el("p", { class: "muted empty" }, "Nothing to show.");
    this.title = el("h3", { "aria-live": "polite" });
    this.left = el("p", { class: "muted" });
    const tree = (name, key) => new CallTree(store, {
      label: name, model: () => this.model[key], shown: ["total", "totalShare"],
      root: () => label(this.fn, this.fn.line, store.state.query),
    });
    this.callers = tree("Callers", "callers");
    this.callees = tree("Callees", "callees");
    this.shown = el("div", {}, this.title, el("h3", {}, "Called from"), this.callers.element,
                      this.left, el("h3", {}, "Calls"), this.callees.element);
    this.element = el("div", { class: "lives" }, this.shown, this.empty);
  }

  get fn() {
    return this.store.data.functions[this.model.fn];
  }

  // Shows the trees. A hidden view is not notified of changes of the state. So this method compares the state
  // with the one for which the trees were computed. If they differ, it computes the trees again.
  update() {
    const { store } = this, seen = JSON.stringify(ON.map(key => store.state[key]));
    if (seen !== this.seen) this.model = store.around();
    this.seen = seen;
    this.shown.hidden = this.fn === undefined;
    this.empty.hidden = this.fn !== undefined;
    if (this.fn === undefined) return;
    const { callers: { total, left } } = this.model;
    this.title.replaceChildren(this.fn.name, " ", el("i", {}, place(this.fn, this.fn.line)), el("i", {},
      ` total ${store.mode.text(total[0])} · ${percent(total[0], store.derived.total[0])}`));
    this.left.hidden = left === 0;
    this.left.textContent = `The callers of ${plural(left, "small frame")} are not shown.`;
    this.callers.update();
    this.callees.update();
  }

  current() {
    const at = [this.callers, this.callees].find(tree => tree.element.contains(document.activeElement));
    return at ? at.current() : -1;
  }
}
