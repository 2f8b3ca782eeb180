-- SPDX-License-Identifier: MIT
-- Renders a heap snapshot as text: classes, holders (the references that keep objects alive), paths, and the
-- changes between two snapshots. 'style': {paint, width, top, least (smallest share of a visible row)}.

local holders = require "asamp.sums.holders"
local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local proof = require "asamp.show.proof"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local function count(n, noun)
  return units.plural(n, noun)
end

-- Returns the number of objects of a row, or "-" for memory of the state itself.
local function objects(row)
  return row.count > 0 and units.count(row.count) or "-"
end

function M.summary(info)
  local lines = {("%s in %s, connected by %s."):format(
    units.bytes(info.bytes), count(info.objects, "object"),
    count(info.references, "reference"))}
  if info.command then
    lines[#lines + 1] = ("Taken from %s%s%s."):format(layout.clean(info.command),
      info.pid > 0 and (" (process %d)"):format(info.pid) or "",
      info.taken and ", " .. info.taken or "")
  end
  if info.inuse > info.bytes then
    lines[#lines + 1] = ("%s were in use, %s of them garbage that no collection had found yet."):format(
      units.bytes(info.inuse), units.bytes(info.inuse - info.bytes))
  end
  if info.textless > 0 then
    lines[#lines + 1] = ("The contents of %s are missing, because the process had too little memory."):format(
      count(info.textless, "string"))
  end
  if (info.unfollowed or 0) > 0 then
    lines[#lines + 1] = ("Too many samples survived: whether %s are alive is unknown. " ..
      "The lines do not include these samples."):format(count(info.unfollowed, "sample"))
  end
  return table.concat(lines, " ")
end

local function classes(list, info, style)
  local columns = {
    {"self", function(r) return units.short(r.self) end},
    {"", gap = 1, spare = 3, function(r) return units.percent(r.self, info.bytes) end},
    {"retained", function(r) return units.short(r.retained) .. (r.least and "+" or "") end},
    {"", gap = 1, spare = 1, function(r) return units.percent(r.retained, info.bytes) end},
    {"objects", objects},
    {"mean", spare = 2, function(r)
      return r.count > 0 and units.short(r.self // r.count) or "-"
    end},
  }
  local lines = tables.titled(style, "By class", list, columns, "class", function(i, n)
    return layout.cutmiddle(layout.clean(list[i].name), n)
  end)
  for _, row in ipairs(list) do
    if row.least then
      lines[#lines + 1] = tables.remark(style, 2, "+: a lower bound, because the heap is large: " ..
        "bytes that no single object of the class retains, but several of them together, are missing")
      break
    end
  end
  return lines
end

-- Returns the line and function of an allocation site in n columns, such as "app.lua:5  handle". 'row':
-- {name, source, line}; 'paint': adds colours (layout.painter).
local function sitetext(row, n, paint)
  if not row.name then
    return layout.cutend("(not known)", n)
  end
  return labels.ofline({name = row.name, file = row.source, line = row.line}, n, paint)
end

local function age(ms)
  return units.shorttime(ms / 1000)
end

-- Returns the table of sampled objects by the line that allocated them, as lines of text.
local function sites(list, info, style, title)
  local columns = {
    {"alive", function(r) return units.short(r.bytes) end},
    {"samples", function(r) return units.count(r.samples) end},
    {"mean age", spare = 1, function(r) return age(r.age) end},
  }
  local lines = tables.titled(style, title, list, columns, "line", function(i, n)
    return sitetext(list[i], n, style.paint)
  end)
  if info.dead > 0 then
    lines[#lines + 1] = tables.remark(style, 2,
      ("not listed: %s of garbage that no collection had found yet"):format(count(info.dead, "sample")))
  end
  return lines
end

local function branch(row, n)
  local text = ("  "):rep(row.depth) .. (row.text ~= "" and row.text or "value") ..
               (row.repeated and " (repeated)" or "") ..
               (row.together and " (also held elsewhere)" or "") ..
               (row.class and "  " .. layout.clean(row.class) or "")
  return layout.cutend(text, n)
end

--- Returns a text about the rows that a tree omits, or nil if it omits none.
--
--   - totals: totals of the tree. totals.left: number of omitted rows; totals.cut: those of them beyond the
--     tree's limits
--   - least: share of all bytes below which rows are omitted
--   - hidden: number of further rows that --top omits
function M.leftout(totals, least, hidden)
  local parts, small = {}, totals.left - totals.cut
  parts[1] = small > 0 and ("%s of less than %s"):format(count(small, "row"), units.percent(least, 1)) or nil
  parts[#parts + 1] = totals.cut > 0 and count(totals.cut, "row") .. " beyond the tree's limits" or nil
  parts[#parts + 1] = hidden > 0 and count(hidden, "row") .. " (--top)" or nil
  return #parts > 0 and "and " .. table.concat(parts, ", and ") or nil
end

local function tree(title, rows, totals, style, value)
  local list = table.move(rows, 1, math.min(#rows, style.top * 4), 1, {})
  local columns = tables.columns(list, {
    {value, function(r) return units.short(r.value) end},
    {"", gap = 1, function(r) return units.percent(r.value, totals.value) end},
    {"objects", objects},
  })
  local lines, left = layout.grid(columns, #list, "holder", function(i, n)
    return branch(list[i], n)
  end, style.width, style.paint, 40)
  table.insert(lines, 1, tables.title(style, title))
  table.insert(lines, 1, "")
  local more = M.leftout(totals, style.least, #rows - #list)
  lines[#lines + 1] = more and tables.remark(style, left, more)
  return lines
end

local function append(to, lines)
  return table.move(lines, 1, #lines, #to + 1, to)
end

--- Returns the whole report about a heap snapshot as text. 'parts': the results that the options request,
-- such as classes or a tree, by name (commands/heap.lua).
function M.render(parts, style)
  local lines = {layout.wrap(M.summary(parts.info), "  ", style.width)}
  if parts.classes then
    append(lines, classes(parts.classes, parts.info, style))
  end
  if parts.sites and #parts.sites > 0 then
    append(lines, sites(parts.sites, parts.info, style,
      "Sampled objects by allocating line, one sample every " .. units.short(parts.info.period)))
  end
  if parts.tree then
    append(lines, tree("By holder: bytes that would be freed with the row's object", parts.tree,
                       parts.totals, style, "retained"))
  end
  if parts.heldby then
    append(lines, M.heldby(parts.heldby, style))
  end
  if parts.proofs then
    append(lines, M.proofs(parts.proofs, parts.leaks, style))
  end
  if parts.paths then
    append(lines, M.paths(parts.paths, parts.info, style))
  end
  if parts.diff then
    append(lines, M.diff(parts.diff, parts.info, style))
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Returns the section of proofs as lines of text. 'leaks': true if the groups are likely leaks, false if
-- they are the largest holders. Fields of a group:
--
--   - holder: the reference that keeps the objects alive, as text; nil: unknown
--   - rows: the lines that allocated the objects
--   - proof: result of asamp.sums.proof
function M.proofs(groups, leaks, style)
  local lines = {"", tables.title(style, leaks and "Likely leaks" or "Largest holders of sampled objects")}
  for _, group in ipairs(groups) do
    local row = group.rows[1]
    lines[#lines + 1] = layout.wrap(layout.clean(group.holder or ("%s:%d"):format(row.file, row.line)),
                                    "  ", style.width)
    lines[#lines + 1] = layout.wrap(proof.sentence(group.proof, leaks and proof.lines(group.rows) or
      "all lines'", not leaks), "    ", style.width)
  end
  if leaks and #groups > 0 then
    lines[#lines + 1] = layout.wrap(proof.LIMIT, "  ", style.width)
  end
  if #groups == 0 then
    lines[#lines + 1] = leaks and "  None: the profile has no likely leak." or "  None: there are no samples."
  end
  return lines
end

--- Returns the text above a path of references to objects. It states the bytes that these objects retain, and
-- their share of all objects.
--
--   - leaf: the path: {count (number of the objects), value (bytes that they retain)}. The value is 0 if
--     other listed objects retain these bytes; the text then says so
--   - totals: {count}: number of all objects
function M.leafhead(leaf, totals)
  local share = ("%s of %s"):format(units.percent(leaf.count, totals.count), count(totals.count, "object"))
  return leaf.value > 0 and ("%s, %s, held by:"):format(units.short(leaf.value), share) or
         share .. ", whose bytes other listed objects retain, held by:"
end

function M.heldby(held, style)
  local lines = {"", tables.title(style, ("%s: %s of %s, which retain %s"):format(
    layout.clean(held.name), count(held.totals.count, "object"),
    units.bytes(held.totals.self), units.bytes(held.totals.value)))}
  local shown = 0
  for i, leaf in ipairs(held.leaves) do
    if i > style.top then
      break
    end
    shown = shown + leaf.count
    lines[#lines + 1] = layout.wrap(M.leafhead(leaf, held.totals), "  ", style.width)
    lines[#lines + 1] = layout.wrap(layout.clean(leaf.text), "    ", style.width)
  end
  if shown < held.totals.count then
    lines[#lines + 1] = style.paint("dim", ("    and %s held by other paths"):format(
      count(held.totals.count - shown, "object")))
  end
  if held.sites and #held.sites > 0 then
    append(lines, sites(held.sites, {dead = 0}, style, "Allocated at"))
  end
  return append(lines, tree("The tree of these paths", held.rows, held.totals, style,
                            "retained"))
end

function M.paths(list, info, style)
  local lines = {"", tables.title(style, "Objects that retain most memory, and the shortest path to each")}
  for _, object in ipairs(list) do
    lines[#lines + 1] = layout.wrap(("%s %s (%s), %s at 0x%x"):format(
      units.short(object.retained), units.percent(object.retained, info.bytes),
      "itself " .. units.short(object.self), layout.clean(object.class), object.address),
      "  ", style.width)
    if object.site then
      lines[#lines + 1] = ("    allocated at %s, %s before the snapshot"):format(
        sitetext(object, style.width - 43, style.paint), age(object.age))
    end
    lines[#lines + 1] = layout.wrap(layout.clean(holders.text(object.path)), "    ",
                                    style.width)
  end
  return lines
end

--- Formats a change of n bytes with its sign, such as "+1.2K".
function M.signed(n)
  return (n < 0 and "-" or "+") .. units.short(math.abs(n))
end

local ADDRESSES = ". Objects are matched by address, so all matches are accidental: " ..
  "compare snapshots of one process."

--- Returns a warning if the comparison of two heap snapshots may be meaningless, else nil. 'diff': the
-- comparison (its field 'misfit' is the reason); 'info': heap:info of the new snapshot.
function M.misfit(diff, info)
  if diff.misfit == "processes" then
    return ("These are snapshots of different processes, %d and %d"):format(diff.pid, info.pid) ..
           ADDRESSES
  elseif diff.misfit == "states" then
    return "These are snapshots of different processes or Lua states: the later snapshot has fewer " ..
           "allocated bytes" .. ADDRESSES
  elseif diff.misfit == "before" then
    return ("This snapshot was taken before '%s': exchange the two files. " ..
            "Here, objects listed as new were freed later, and objects listed as gone were allocated later.")
      :format(layout.clean(diff.from))
  end
end

function M.diff(diff, info, style)
  local lines, misfit = {}, M.misfit(diff, info)
  if misfit then
    lines = {"", layout.wrap(misfit, "  ", style.width)}
  end
  return append(lines, M.changes(diff, style))
end

function M.changes(diff, style)
  local list = diff.classes
  local columns = {
    {"change", function(r) return M.signed(r.change) end},
    {"new", function(r) return units.count(r.new) end},
    {"bytes", gap = 1, spare = 1, function(r) return units.short(r.newbytes) end},
    {"gone", function(r) return units.count(r.gone) end},
    {"bytes", gap = 1, spare = 1, function(r) return units.short(r.gonebytes) end},
    {"grown", spare = 2, function(r) return r.grown == 0 and "-" or M.signed(r.grown) end},
  }
  if #list == 0 then
    return {"", layout.wrap(("No object is new, gone or grown since '%s'."):format(
      layout.clean(diff.from)), "", style.width)}
  end
  local lines = tables.titled(style, ("From '%s': %s"):format(layout.clean(diff.from),
    M.signed(diff.change)), list, columns, "class", function(i, n)
      return layout.cutmiddle(layout.clean(list[i].name), n)
    end)
  if #diff.sites > 0 then
    local rows = diff.sites
    append(lines, tables.titled(style, "Sampled objects by allocating line", rows, {
      {"change", function(r) return M.signed(r.change) end},
      {"new", function(r) return units.short(r.newbytes) end},
      {"gone", function(r) return units.short(r.gonebytes) end},
    }, "line", function(i, n) return sitetext(rows[i], n, style.paint) end))
  end
  if diff.held and diff.held.totals.count > 0 then
    append(lines, M.heldby(diff.held, style))
  end
  return lines
end

return M
