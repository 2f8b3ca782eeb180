-- SPDX-License-Identifier: MIT
-- Renders a heap snapshot as one HTML file: trees that can be unfolded, and tables. Its only script is
-- heapscript.lua; all text is escaped.

local holders = require "asamp.sums.holders"
local layout = require "asamp.show.layout"
local script = require "asamp.show.heapscript"
local show = require "asamp.show.heap"
local units = require "asamp.show.units"

local M = {}

-- Limit of the rows of a table. The option `asamp heap --least` limits the rows of the trees.
local ROWS = 500

local HEAD = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src '@HASH'">
<title>Asamp heap: @NAME</title>
<style>
:root {
  color-scheme: light dark;
  --bg: light-dark(#f6f7f8, #14171a); --panel: light-dark(#ffffff, #1b1f23);
  --text: light-dark(#1c2126, #e2e6ea); --muted: light-dark(#5a646e, #a0aab4);
  --line: light-dark(#dfe3e7, #30363c); --soft: light-dark(#eef1f4, #252a30);
  --focus: light-dark(#0b57d0, #8ec5ff);
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2em clamp(10px, 2vw, 32px) 2em; max-width: 1600px;
  background: var(--bg); color: var(--text); font: 14px/1.45 system-ui, "Segoe UI", sans-serif; }
h1 { font-size: 17px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 14px; margin: 1.8em 0 .3em; overflow-wrap: anywhere; }
p { margin: .3em 0; max-width: 110ch; overflow-wrap: anywhere; }
.muted, th, .columns { color: var(--muted); font-size: 12.5px; font-weight: normal; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 8px;
  overflow-x: auto; padding: 4px 0; margin-top: .5em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; vertical-align: top; padding: 1px 10px; white-space: nowrap;
  font-variant-numeric: tabular-nums; width: 1%; }
th.text, td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; width: auto;
  min-width: 12em; }
tr:hover td, summary:hover, .leaf:hover { background: var(--soft); }
summary, .leaf, .columns { display: grid; grid-template-columns: 74px 58px 80px minmax(0, 1fr);
  gap: 10px; padding: 1px 10px; text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
[hidden] { display: none !important; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
button, input { font: inherit; color: inherit; background: none; border: 1px solid var(--line);
  border-radius: 6px; padding: 3px 10px; }
#bar { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 8px; align-items: center;
  padding: 8px 0; background: var(--bg); }
#bar input { width: min(20rem, 78vw); background: var(--panel); }
button { cursor: pointer; }
button:hover { background: var(--soft); }
th button { border: 0; padding: 0; }
th[aria-sort] { color: var(--text); }
th[aria-sort=descending] button::after { content: " ▾"; }
th[aria-sort=ascending] button::after { content: " ▴"; }
td summary { display: list-item; list-style: disclosure-closed inside; text-align: left; padding: 0; }
td details[open] > summary { list-style-type: disclosure-open; }
td ol { margin: 2px 0 6px; padding-left: 2.6em; }
.source { display: block; color: var(--muted); white-space: pre-wrap; }
.holder { text-align: left; overflow-wrap: anywhere; padding-left: min(var(--depth, 0) * 1.2em, 50%); }
.holder::before { content: ""; display: inline-block; width: 1.1em; }
summary > .holder::before { content: "▸"; color: var(--muted); }
details[open] > summary > .holder::before { content: "▾"; }
code { font: 12.5px ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
i { color: var(--muted); }
@media (max-width: 700px) {
  .spare { display: none; }
  th, td { padding: 1px 6px; }
  th.text, td.text { min-width: 6em; }
  summary, .leaf, .columns { grid-template-columns: 64px 48px minmax(0, 1fr); gap: 6px; padding: 1px 6px; }
}
</style></head><body>
<h1>@NAME</h1>
@INFO<div id="bar" role="toolbar" aria-label="Search and trees" hidden>
<input type="search" placeholder="Search  ( / )" aria-label="Search objects, holders, classes and lines"
  autocomplete="off" spellcheck="false">
<button type="button" id="open">Open all</button> <button type="button" id="close">Close all</button>
<output class="muted" aria-live="polite"></output></div>
]]

local ESCAPES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

local function escape(s)
  return (layout.printable((s:gsub("%c", " "))):gsub('[&<>"]', ESCAPES))
end

local function heading(out, text)
  out[#out + 1] = "<h2>" .. escape(text) .. "</h2>\n"
end

local function legend(out, text)
  out[#out + 1] = '<p class="muted">' .. escape(text) .. "</p>\n"
end

local function retained(of)
  return ("retained: bytes that would be freed if %s were removed, with all objects that nothing else holds.")
    :format(of)
end

-- {== tables ================================================================

-- Returns a cell of a table: the text, and the number by which the script sorts (nil: none).
local function cell(text, value)
  return {text = text, value = value}
end

-- Appends the HTML of a table to 'out'.
--
--   - columns: list of {title}, with text = true if the cells are not numbers, and spare = true if a narrow
--     window hides the column
--   - rows: lists of cells, which are HTML text or results of 'cell'
--   - what: noun for a row, in the note about omitted rows
local function grid(out, columns, rows, what)
  local function line(tag, cells)
    local parts = {}
    for i, column in ipairs(columns) do
      local class = column.text and "text" or column.spare and "spare"
      local value = type(cells[i]) == "table" and cells[i].value
      parts[i] = ("<%s%s%s>%s</%s>"):format(tag, class and ' class="' .. class .. '"' or "",
        value and (' data-v="%s"'):format(value) or "", cells[i].text or cells[i], tag)
    end
    return "<tr>" .. table.concat(parts) .. "</tr>\n"
  end
  local titles = {}
  for i, column in ipairs(columns) do
    titles[i] = column[1]
  end
  out[#out + 1] = '<div class="panel"><table><thead>' .. line("th", titles) .. "</thead><tbody>\n"
  for i = 1, math.min(#rows, ROWS) do
    out[#out + 1] = line("td", rows[i])
  end
  out[#out + 1] = "</tbody></table></div>\n"
  if #rows > ROWS then
    legend(out, ("and %s; asamp heap --json lists all rows"):format(
      units.plural(#rows - ROWS, "more " .. what)))
  end
end

local function bytes(n)
  return cell(units.short(n), n)
end

local function share(n, whole)
  return cell(units.percent(n, whole), n)
end

local function count(n)
  return cell(units.count(n), n)
end

local function change(n)
  return cell(show.signed(n), n)
end

local function classes(out, list, info)
  heading(out, "By class")
  legend(out, "self: the objects' own bytes. " .. retained "these objects" ..
              " %: share of all " .. units.bytes(info.bytes) .. ".")
  local rows = {}
  for i, r in ipairs(list) do
    rows[i] = {bytes(r.self), share(r.self, info.bytes), bytes(r.retained), share(r.retained, info.bytes),
               r.count > 0 and count(r.count) or "-", r.count > 0 and bytes(r.self // r.count) or "-",
               escape(r.name)}
  end
  grid(out, {{"self"}, {"%", spare = true}, {"retained"}, {"%"}, {"objects"}, {"mean", spare = true},
             {"class", text = true}}, rows, "class")
end

-- Returns the allocating line of a sample as HTML, with its source text if lineof finds it.
local function siteline(row, lineof)
  local text = row.name and lineof and lineof(row.source, row.line)
  return row.name and ("<code>%s:%d</code> %s%s"):format(escape(row.source), row.line, escape(row.name),
    text and '<code class="source">' .. escape(text) .. "</code>" or "") or "(not known)"
end

local function sites(out, list)
  local rows, all = {}, 0
  for _, r in ipairs(list) do
    all = all + r.bytes
  end
  for i, r in ipairs(list) do
    rows[i] = {bytes(r.bytes), share(r.bytes, all), count(r.samples),
               cell(units.shorttime(r.age / 1000), r.age), siteline(r, out.lineof)}
  end
  legend(out, "alive: the bytes that these samples represent. %: share of all listed rows. " ..
    "mean age: mean time since the allocation.")
  grid(out, {{"alive"}, {"%"}, {"samples", spare = true}, {"mean age"}, {"line", text = true}}, rows, "line")
end

-- ==}

-- {== trees =================================================================

local function rowtext(row, totals)
  return ('<span>%s</span><span>%s</span><span class="spare">%s</span>' ..
          '<span class="holder" style="--depth:%d"><code>%s</code>%s%s</span>'):format(
    units.short(row.value), units.percent(row.value, totals.value),
    row.count > 0 and units.count(row.count) or "-",  -- "-": the row of the Lua state's own memory
    row.depth, escape(row.text ~= "" and row.text or "value"),
    (row.repeated and " (repeated)" or "") .. (row.together and " (also held elsewhere)" or ""),
    row.class and " <i>" .. escape(row.class) .. "</i>" or "")
end

-- Appends the HTML of a tree whose levels can be opened to 'out'. 'rows': the rows, each after its parent;
-- row.depth is the number of its ancestors. 'least': share below which rows were omitted.
local function tree(out, rows, totals, least)
  legend(out, "If a row's object were removed, the objects of the rows indented below it would be freed. " ..
              "%: share of " .. units.bytes(totals.value) .. ". " ..
              "(repeated): a chain of similar objects, such as a linked list. " ..
              "(also held elsewhere): several objects hold the row's object; the tree lists it below " ..
              "the one that is nearest to a root.")
  out[#out + 1] = '<div class="panel tree"><div class="columns"><span>retained</span><span>%</span>' ..
                  '<span class="spare">objects</span><span class="holder">holder</span></div>\n'
  local depth = 0
  for i, row in ipairs(rows) do
    local following = rows[i + 1]
    for _ = row.depth + 1, depth do
      out[#out + 1] = "</details>\n"
    end
    depth = row.depth
    if following and following.depth > row.depth then
      out[#out + 1] = ("<details%s><summary>%s</summary>\n"):format(
        row.depth < 3 and " open" or "", rowtext(row, totals))
      depth = row.depth + 1
    else
      out[#out + 1] = ('<div class="leaf">%s</div>\n'):format(rowtext(row, totals))
    end
  end
  out[#out + 1] = ("</details>\n"):rep(depth) .. "</div>\n"
  local more = show.leftout(totals, least, 0)
  if more then
    legend(out, more)
  end
end

-- ==}

local function heldby(out, held, least)
  heading(out, ("%s: %s of %s, which retain %s"):format(held.name,
    units.plural(held.totals.count, "object"), units.bytes(held.totals.self),
    units.bytes(held.totals.value)))
  legend(out, "The shortest path from a root to each object. " .. retained "the objects of the row" ..
              " share: share of all objects of this class or line. " ..
              "0B: objects of other rows retain the objects of the row.")
  local rows = {}
  for i, leaf in ipairs(held.leaves) do
    rows[i] = {bytes(leaf.value), share(leaf.value, held.totals.value),
               share(leaf.count, held.totals.count), "<code>" .. escape(leaf.text) .. "</code>"}
  end
  grid(out, {{"retained"}, {"%", spare = true}, {"share"}, {"held by", text = true}}, rows, "path")
  if held.sites and #held.sites > 0 then
    heading(out, "Allocated at")
    sites(out, held.sites)
  end
  heading(out, "The tree of these paths")
  tree(out, held.rows, held.totals, least)
end

local function paths(out, list, info)
  heading(out, "Objects that retain most memory, and the shortest path to each")
  legend(out, retained "the object" .. " %: share of all " .. units.bytes(info.bytes) ..
    ". age: time since the allocation, if the object was sampled.")
  local rows = {}
  for i, object in ipairs(list) do
    local steps = {}
    for k, step in ipairs(holders.steps(object.path)) do
      steps[k] = "<li><code>" .. escape(step) .. "</code></li>"
    end
    rows[i] = {bytes(object.retained), share(object.retained, info.bytes), bytes(object.self),
               object.site and cell(units.shorttime(object.age / 1000), object.age) or "-",
               ("<details><summary><code>%s</code> <i>%s at 0x%x</i></summary>" ..
                "<ol>%s</ol>%s</details>"):format(
                 escape(holders.text(object.path)), escape(object.class), object.address,
                 table.concat(steps), object.site and "allocated at " .. siteline(object, out.lineof) or "")}
  end
  grid(out, {{"retained"}, {"%"}, {"itself", spare = true}, {"age", spare = true}, {"object", text = true}},
       rows, "object")
end

local function diff(out, found, info, least)
  heading(out, ("Since %s: %s"):format(found.from, show.signed(found.change)))
  local misfit = show.misfit(found, info)
  out[#out + 1] = misfit and "<p>" .. escape(misfit) .. "</p>\n"
  legend(out, "new: objects in the later snapshot only. gone: objects in the earlier snapshot only. " ..
    "grown: growth in bytes of objects in both snapshots. %: share of all " .. units.bytes(info.bytes) .. ".")
  local rows = {}
  for i, r in ipairs(found.classes) do
    rows[i] = {change(r.change), share(r.change, info.bytes), count(r.new), bytes(r.newbytes),
               count(r.gone), bytes(r.gonebytes), r.grown == 0 and "-" or change(r.grown), escape(r.name)}
  end
  grid(out, {{"change"}, {"%", spare = true}, {"new"}, {"bytes", spare = true}, {"gone"},
             {"bytes", spare = true}, {"grown", spare = true}, {"class", text = true}}, rows, "class")
  rows = {}
  for i, r in ipairs(found.sites) do
    rows[i] = {change(r.change), bytes(r.newbytes), bytes(r.gonebytes), siteline(r, out.lineof)}
  end
  if #rows > 0 then
    heading(out, "Sampled objects by allocating line")
    grid(out, {{"change"}, {"new"}, {"gone"}, {"line", text = true}}, rows, "line")
  end
  if found.held.totals.count > 0 then
    heldby(out, found.held, least)
  end
end

--- Returns the HTML page of a heap snapshot.
--
--   - p: the results that commands/heap.lua has collected
--   - name: title of the page
--   - least: smallest share of a row in the trees
function M.render(p, name, least)
  local parts = {HASH = script.HASH, NAME = escape(name),
                 INFO = "<p>" .. escape(show.summary(p.info)) .. "</p>\n"}
  local out = {(HEAD:gsub("@(%u+)", parts))}
  out.lineof = p.lineof
  if p.tree then
    heading(out, "By holder: bytes that would be freed with the row's object")
    tree(out, p.tree, p.totals, least)
  end
  if p.classes then
    classes(out, p.classes, p.info)
  end
  if p.sites and #p.sites > 0 then
    heading(out, "Sampled objects by allocating line, one sample every " ..
                 units.short(p.info.period))
    sites(out, p.sites)
  end
  if p.heldby then
    heldby(out, p.heldby, least)
  end
  if p.paths then
    paths(out, p.paths, p.info)
  end
  if p.diff then
    diff(out, p.diff, p.info, least)
  end
  legend(out, "K, M, G: powers of 1024.")
  out[#out + 1] = "<script>" .. script.TEXT .. "</script></body></html>\n"
  return table.concat(out)
end

return M
