-- SPDX-License-Identifier: MIT
-- A profile and its totals in, the report as text out: at most 80 columns,
-- readable without knowing the file's format. Pure; colours on request.

local units = require "asamp.units"

local M = {}

local WIDTH = 80

-- Terminal sequences; without colours every style is plain.
local STYLES = {bold = "\27[1m", dim = "\27[2m", plain = "\27[0m"}

local function painter(color)
  return function(style, text)
    return color and STYLES[style] .. text .. "\27[0m" or text
  end
end

-- Text from a file as a terminal may show it: no control characters, no
-- broken characters.
local function clean(text)
  text = text:gsub("%c", "?"):gsub("^ +", ""):gsub(" +$", "")
  if not utf8.len(text) then
    text = text:gsub("[\128-\255]", "?")
  end
  return text
end

local function width(text)
  return utf8.len(text)
end

-- The first or the last n characters, with an ellipsis where some are gone.
local function cutend(text, n)
  if width(text) <= n then
    return text
  end
  return text:sub(1, utf8.offset(text, n) - 1) .. "…"
end

-- Of a path whole names are left, if there are any.
local function cutstart(text, n)
  if width(text) <= n then
    return text
  end
  local rest = text:sub(utf8.offset(text, -(n - 1)))
  return "…" .. (rest:match "/.*$" or rest)
end

-- Words to lines of at most WIDTH columns, each after 'indent'.
local function wrap(text, indent)
  local lines, line = {}, indent
  for word in text:gmatch "%S+" do
    if #line > #indent and width(line) + 1 + width(word) > WIDTH then
      lines[#lines + 1] = line
      line = indent
    end
    line = line .. (#line > #indent and " " or "") .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- ---------------------------------------------------------------- head --

local function amount(p, t)
  local time = p.duration > 0 and " in " .. units.seconds(p.duration) or ""
  if t.unit == "bytes" then
    local rate = p.duration > 0 and
      (" (%s/s)"):format(units.bytes(t.whole.bytes // p.duration | 0)) or ""
    return ("%s allocated%s%s, estimated from %s."):format(
      units.bytes(t.whole.bytes), time, rate,
      units.plural(t.whole.samples, "sample"))
  elseif t.whole.samples > 0 and p.samples == 0 then
    return units.plural(t.whole.samples, "sample") .. " of time" .. time .. "."
  end
  return units.plural(t.whole.samples, "sample") .. time .. "."
end

-- What a sample, and so every number of the report, means.
local function meaning(p, t)
  if t.unit ~= "bytes" then
    return "The file does not tell how many bytes a sample stands for: the " ..
           "report counts samples."
  end
  local size = units.bytes(p.period)
  local text = ("One sample stands for %s: it shows who allocated when %s " ..
                "had been allocated since the one before%s. "):format(
    size, size, p.random and " (on average, at random)" or "")
  if p.periods > 0 then
    text = ("The first samples stand for %s each, later ones for other " ..
            "sizes, as the period was set %s during the run; a sample shows " ..
            "who allocated when that much had been allocated. "):format(
      size, units.plural(p.periods, "time"))
  end
  return text .. "A row of n samples is right to about 1 part in √n (100 " ..
         "samples: 10%)."
end

local function survival(p, t)
  local decided = t.whole.samples - t.whole.undecided
  if not p.fates or decided == 0 then
    return nil
  end
  local text = ("Of what was sampled %s survived its first collection.")
    :format(units.percent(t.whole.survived, decided))
  if t.whole.undecided > 0 then
    text = text .. (" %s had no collection before the end."):format(
      units.plural(t.whole.undecided, "sample"))
  end
  return text
end

local function collections(p)
  local n = p.minors + p.majors
  if n == 0 then
    return nil
  end
  local last = p.collections[#p.collections]
  local text = ("%s (%s minor, %s major)"):format(
    units.plural(n, "collection"), units.count(p.minors),
    units.count(p.majors))
  if last and last.inuse > 0 then
    text = text .. ("; after the last one %s in use, %s held"):format(
      units.bytes(last.inuse), units.bytes(last.held))
  end
  return text .. "."
end

local function head(p, t, paint)
  local lines = {paint("bold", cutend(clean(p.path), WIDTH))}
  if p.command then
    lines[#lines + 1] = paint("dim", cutend(clean(p.command), WIDTH))
  end
  lines[#lines + 1] = ""
  local sentences = {amount(p, t), meaning(p, t)}
  sentences[#sentences + 1] = survival(p, t)
  sentences[#sentences + 1] = collections(p)
  if p.samples > 0 and p.timesamples > 0 then
    sentences[#sentences + 1] = ("%s of time are in the file but not in " ..
      "this report."):format(units.plural(p.timesamples, "sample"))
  end
  if p.undetailed > 0 then
    sentences[#sentences + 1] = ("%s came without size and fate: the file " ..
      "is cut."):format(units.plural(p.undetailed, "sample"))
  end
  for i, sentence in ipairs(sentences) do
    lines[#lines + 1] = paint(i == 1 and "bold" or "plain",
                              wrap(sentence, "  "))
  end
  return lines
end

-- -------------------------------------------------------------- tables --

local function value(t, sum)
  return t.unit == "bytes" and units.short(sum.bytes)
         or units.count(sum.samples)
end

local function share(t, sum)
  return units.percent(sum[t.unit], t.whole[t.unit])
end

local function survived(p, sum)
  local decided = sum.samples - sum.undecided
  return p.fates and decided > 0
         and ("%.0f%%"):format(100 * sum.survived / decided) or "-"
end

-- "file:line" of a Lua function or line, "[C] library" of a native one.
local function whereof(row)
  if row.native then
    local library = row.file:match "([^/]+)$"
    return (library == "-" or not library) and "[C]" or "[C] " .. library
  elseif row.file == "-" then
    return "?"
  end
  return row.line > 0 and row.file .. ":" .. row.line or row.file
end

-- A function and its place in n columns: of both as much as fits, of the
-- name the start, of the place the end.
local function functionlabel(row, n, paint)
  local name, where = clean(row.name), clean(whereof(row))
  name = cutend(name, n - 2 - math.min(width(where), n // 2))
  return name .. "  " .. paint("dim", cutstart(where, n - 2 - width(name)))
end

local function linelabel(row, n, paint)
  local name, where = clean(row.name), clean(whereof(row))
  where = cutstart(where, n - 2 - math.min(width(name), n // 2))
  return where .. "  " .. paint("dim", cutend(name, n - 2 - width(where)))
end

local function more(left, n, paint)
  return paint("dim", (" "):rep(left) .. "and " .. units.count(n) .. " more")
end

local ROW = "  %8s %6s  %8s %6s  %5s  "
local ROWLEFT = #ROW:format("", "", "", "", "")

-- A table of functions or lines; 'label' gives the last column.
local function rows(p, t, list, top, title, what, label, paint)
  local lines = {
    "",
    paint("bold", title),
    paint("dim", ROW:format("own", "", "total", "", "lived") .. what),
  }
  for i = 1, math.min(top, #list) do
    local row = list[i]
    lines[#lines + 1] =
      ROW:format(value(t, row.own), share(t, row.own), value(t, row.total),
                 share(t, row.total), survived(p, row.own)) ..
      label(row, WIDTH - ROWLEFT, paint)
  end
  if #list > top then
    lines[#lines + 1] = more(ROWLEFT, #list - top, paint)
  end
  return lines
end

local TYPE = "  %8s %6s  %13s  %5s  "
local TYPELEFT = #TYPE:format("", "", "", "")

local function types(p, t, top, paint)
  local lines = {
    "",
    paint("bold", "By type"),
    paint("dim", TYPE:format("own", "", "blocks, about", "lived") .. "type"),
  }
  for i = 1, math.min(top, #t.types) do
    local row = t.types[i]
    local objects = row.objects > 0
      and units.count(math.floor(row.objects + 0.5)) or "-"
    lines[#lines + 1] =
      TYPE:format(value(t, row.own), share(t, row.own), objects,
                  survived(p, row.own)) ..
      cutend(clean(row.name), WIDTH - TYPELEFT)
  end
  if #t.types > top then
    lines[#lines + 1] = more(TYPELEFT, #t.types - top, paint)
  end
  return lines
end

--- The report. 'options': top (rows of each table), color.
function M.render(profile, totals, options)
  local paint = painter(options.color)
  local lines = head(profile, totals, paint)
  local function append(list)
    table.move(list, 1, #list, #lines + 1, lines)
  end
  if totals.whole.samples > 0 then
    append(rows(profile, totals, totals.functions, options.top,
                "By function", "function", functionlabel, paint))
    if #totals.lines > 0 then
      append(rows(profile, totals, totals.lines, options.top, "By line",
                  "line", linelabel, paint))
    end
    append(types(profile, totals, options.top, paint))
    lines[#lines + 1] = ""
    lines[#lines + 1] = paint("dim", wrap(
      "own: of functions, by the function itself; of lines, by the line and " ..
      "the C functions it called. total: own and all that was called from " ..
      "there. lived: share of own that survived its first collection." ..
      (totals.unit == "bytes" and " K, M, G: powers of 1024." or ""), "  "))
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
