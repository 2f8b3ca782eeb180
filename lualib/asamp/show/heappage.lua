-- SPDX-License-Identifier: MIT
-- A snapshot of a heap as one HTML file: tables, and trees that open and close. No
-- script; all text is escaped. Pure.

local holders = require "asamp.sums.holders"
local show = require "asamp.show.heap"
local units = require "asamp.show.units"

local M = {}

local HEAD = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Asamp heap: %s</title>
<style>
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }
table { border-collapse: collapse; }
th, td { text-align: right; padding: .1em .8em; font-variant-numeric: tabular-nums; }
th:last-child, td:last-child { text-align: left; }
details { margin-left: 1.4em; }
summary, .leaf { white-space: pre-wrap; }
.leaf { margin-left: 2.6em; }
b { font-variant-numeric: tabular-nums; }
code { font: 13px ui-monospace, monospace; }
i { opacity: .75; }
</style></head><body>
<h1>%s</h1>
]]

local ESCAPES = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;"}

local function escape(s)
  if not utf8.len(s) then
    s = s:gsub("[\128-\255]", "?")
  end
  return (s:gsub('[&<>"]', ESCAPES):gsub("%c", " "))
end

local function rowtext(row, totals)
  return ("<b>%s</b> %s%s <code>%s</code>%s%s"):format(units.short(row.value),
    units.percent(row.value, totals.value),
    row.count > 0 and ", " .. units.plural(row.count, "object") or "",  -- the state itself: none
    escape(row.text ~= "" and row.text or "value"), (row.repeated and " (repeated)" or "") ..
      (row.together and " (and otherwise)" or ""),
    row.class and " <i>" .. escape(row.class) .. "</i>" or "")
end

-- Rows behind the one above each, as nested lists.
local function tree(out, rows, totals)
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
  out[#out + 1] = ("</details>\n"):rep(depth)
end

local function grid(out, titles, rows)
  out[#out + 1] = "<table><tr><th>" .. table.concat(titles, "</th><th>") .. "</th></tr>\n"
  for _, row in ipairs(rows) do
    out[#out + 1] = "<tr><td>" .. table.concat(row, "</td><td>") .. "</td></tr>\n"
  end
  out[#out + 1] = "</table>\n"
end

local function heading(out, text)
  out[#out + 1] = "<h2>" .. escape(text) .. "</h2>\n"
end

-- What a session had sampled, by the line that allocated it.
local function siteline(row)
  return row.name and ("<code>%s:%d</code> %s"):format(escape(row.source), row.line,
                                                      escape(row.name)) or "(not known)"
end

local function sites(out, list)
  local rows = {}
  for i, r in ipairs(list) do
    rows[i] = {units.short(r.bytes), units.count(r.samples), units.shorttime(r.age / 1000),
               siteline(r)}
  end
  grid(out, {"alive", "samples", "mean age", "line"}, rows)
end

local function heldby(out, held)
  heading(out, ("%s: %s, which retain %s"):format(held.name,
    units.plural(held.totals.count, "object"), units.bytes(held.totals.value)))
  local rows = {}
  for i, leaf in ipairs(held.leaves) do
    rows[i] = {units.short(leaf.value), units.percent(leaf.count, held.totals.count),
               "<code>" .. escape(leaf.text) .. "</code>"}
  end
  grid(out, {"retained", "of them", "held by"}, rows)
  if held.sites and #held.sites > 0 then
    heading(out, "Allocated at")
    sites(out, held.sites)
  end
  tree(out, held.rows, held.totals)
end

--- The page: 'p' as commands/heap.lua makes it.
function M.render(p, name)
  local out = {HEAD:format(escape(name), escape(name))}
  out[#out + 1] = ("<p>%s in %s.%s</p>\n"):format(units.bytes(p.info.bytes),
    units.plural(p.info.objects, "object"),
    p.info.command and " " .. escape(p.info.command) or "")
  if p.classes then
    heading(out, "By class")
    local rows = {}
    for i, r in ipairs(p.classes) do
      rows[i] = {units.short(r.self), units.short(r.retained),
                 r.count > 0 and units.count(r.count) or "-", escape(r.name)}
    end
    grid(out, {"self", "retained", "objects", "class"}, rows)
  end
  if p.sites and #p.sites > 0 then
    heading(out, "By line that allocated it, of what was sampled every " ..
                 units.short(p.info.period))
    sites(out, p.sites)
  end
  if p.tree then
    heading(out, "By holder: what would go if the row went")
    tree(out, p.tree, p.totals)
  end
  if p.heldby then
    heldby(out, p.heldby)
  end
  if p.paths then
    heading(out, "Objects that retain most, and the shortest path to each")
    local rows = {}
    for i, object in ipairs(p.paths) do
      rows[i] = {units.short(object.retained), units.short(object.self), escape(object.class),
                 object.site and siteline(object) or "-",
                 object.site and units.shorttime(object.age / 1000) or "-",
                 "<code>" .. escape(holders.text(object.path)) .. "</code>"}
    end
    grid(out, {"retained", "itself", "class", "allocated at", "age", "path"}, rows)
  end
  if p.diff then
    heading(out, "Since " .. p.diff.from)
    local misfit = show.misfit(p.diff, p.info)
    out[#out + 1] = misfit and "<p>" .. escape(misfit) .. "</p>\n"
    local rows = {}
    for i, r in ipairs(p.diff.classes) do
      rows[i] = {("%+d"):format(r.change), units.count(r.new), units.count(r.gone),
                 escape(r.name)}
    end
    grid(out, {"change, bytes", "new", "gone", "class"}, rows)
    rows = {}
    for i, r in ipairs(p.diff.sites) do
      rows[i] = {("%+d"):format(r.change), units.short(r.newbytes), units.short(r.gonebytes),
                 siteline(r)}
    end
    if #rows > 0 then
      heading(out, "By line that allocated it, of what was sampled")
      grid(out, {"change, bytes", "new", "gone", "line"}, rows)
    end
    heldby(out, p.diff.held)
  end
  out[#out + 1] = "</body></html>\n"
  return table.concat(out)
end

return M
