-- SPDX-License-Identifier: MIT
-- The script of the page of `asamp heap --page`: search, sorting of tables by their headings, and buttons
-- that open and close all trees. Without the script, the page shows the same data. The page's content policy
-- allows only this script, by its hash. After a change of the script, copy the hash that the failing spec
-- prints.

local M = {}

M.HASH = "sha256-gbJMp3TtfalDCXXRGTymxKLs2OkH6qMHMSqWFNylvyw="

M.TEXT = [==[

"use strict";
(() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const bar = document.getElementById("bar");
  const input = bar.querySelector("input"), found = bar.querySelector("output");
  const NODES = ".tree details, .tree .leaf";
  const textOf = e => (e.tagName === "DETAILS" ? e.firstElementChild : e).textContent.toLowerCase();

  function search() {
    const words = input.value.trim().toLowerCase();
    let n = 0;
    for (const row of all("tbody tr")) {
      row.hidden = !row.textContent.toLowerCase().includes(words);
      n += row.hidden ? 0 : 1;
    }
    const nodes = all(NODES), hits = new Set(nodes.filter(e => textOf(e).includes(words)));
    const inside = new Set(), around = new Set();
    for (const e of nodes) if (hits.has(e.parentElement) || inside.has(e.parentElement)) inside.add(e);
    for (const e of [...nodes].reverse()) if (hits.has(e) || around.has(e)) around.add(e.parentElement);
    for (const e of nodes) {
      e.hidden = !hits.has(e) && !inside.has(e) && !around.has(e);
      if (words !== "" && around.has(e) && e.tagName === "DETAILS") e.open = true;
    }
    found.textContent = words === "" ? "" : `${n + hits.size} ${n + hits.size === 1 ? "row" : "rows"}`;
  }

  function sort(table, at, button) {
    const head = button.parentElement, body = table.tBodies[0];
    const value = row => row.cells[at].dataset.v === undefined ? -Infinity : Number(row.cells[at].dataset.v);
    const text = head.classList.contains("text");
    const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : !text;
    const compare = (a, b) => text ? a.cells[at].textContent.localeCompare(b.cells[at].textContent)
      : value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0;
    body.append(...[...body.rows].sort((a, b) => down ? compare(b, a) : compare(a, b)));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  for (const table of all("table")) {
    [...table.tHead.rows[0].cells].forEach((cell, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      button.setAttribute("aria-label", `Sort by ${cell.textContent}`);
      button.addEventListener("click", () => sort(table, at, button));
      cell.replaceChildren(button);
    });
  }
  input.addEventListener("input", search);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" && input.value !== "") {
      input.value = "";
      search();
    } else if (event.key === "/" && document.activeElement !== input) {
      input.select();
      event.preventDefault();
    }
  });
  for (const [id, open] of [["open", true], ["close", false]]) {
    document.getElementById(id).addEventListener("click", () => {
      for (const e of all("details")) e.open = open;
    });
  }
  bar.hidden = false;
})();
]==]

return M
