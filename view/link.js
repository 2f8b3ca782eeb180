// SPDX-License-Identifier: MIT
// Stores the state in the fragment of the page's address (the part after "#"), so that a link or a reload
// shows the same view. The fragment may be from another page or from an untrusted link, so invalid parts are
// ignored.

const FLAGS = { lines: "byLine", startup: "start", inverted: "inverted" };
const LONGEST = 200;  // limit of the characters of a search that are stored in the fragment

// Returns the fragment that stores the fields of a state that differ from the initial state, or "" if none
// differs.
export function fragment(state, initial) {
  const out = new URLSearchParams();
  const put = (name, key, value = state[key]) => {
    if (state[key] !== initial[key]) out.set(name, value);
  };
  put("view", "tab");
  put("by", "mode");
  if (state.range) out.set("range", state.range.join("-"));
  put("type", "kind");
  put("search", "query", state.query.slice(0, LONGEST));
  for (const [name, key] of Object.entries(FLAGS)) put(name, key, "1");
  put("function", "fn");
  put("zoom", "zoom");
  put("holder", "held");
  put("compare", "compare");
  put("widths", "widths");
  const text = out.toString();
  return text === "" ? "" : `#${text}`;
}

// Returns the state for the fragment 'hash'. A field has its initial value if it is missing or invalid in the
// fragment. The second parameter is the Store; 'tabs' has the keys of the views.
export function stateOf(hash, { data, modes, initial }, tabs) {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...initial };
  const number = (name, below) => {
    const text = from.get(name) || "";
    return /^\d{1,9}$/.test(text) && Number(text) < below ? Number(text) : undefined;
  };
  const [view, by] = [from.get("view"), from.get("by")];
  if (tabs.includes(view)) state.tab = view;
  if (modes.some(mode => mode.key === by && mode.on)) state.mode = by;
  const [, first, last] = /^(\d{1,9})-(\d{1,9})$/.exec(from.get("range") || "") || [];
  if (Number(first) < Number(last) && Number(last) <= data.bins.n) state.range = [Number(first), Number(last)];
  const kind = number("type", data.kinds.length + data.types.length);
  if (kind !== undefined && !data.kinds[kind]?.time) state.kind = kind;
  state.query = (from.get("search") || "").trim().slice(0, LONGEST);
  for (const [name, key] of Object.entries(FLAGS)) state[key] = from.get(name) === "1";
  state.fn = number("function", data.functions.length) ?? initial.fn;
  state.held = number("holder", (data.holders?.paths.parent.length ?? 0) + 1) ?? 0;
  if (data.compared?.measures.some(m => m.key === from.get("compare"))) state.compare = from.get("compare");
  if (from.get("widths") === "old") state.widths = "old";
  state.zoom = number("zoom", Infinity) ?? 0;
  return state;
}
