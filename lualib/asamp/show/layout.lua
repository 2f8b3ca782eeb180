-- SPDX-License-Identifier: MIT
-- Lays out text in columns of a terminal: cleaning, cutting, wrapping, colours.
--
-- A terminal interprets escape sequences and direction marks. So text from a file, a process or an argument
-- must pass through `printable` (a line), `clean` (a cell of a table) or `screen` (several lines) before it
-- is written to a terminal. asamp/base/printable.h has the same list of characters.

local characters = require "asamp.show.characters"

local M = {}

--- WIDTH: columns of the output if the terminal's width is unknown. NARROW: least columns of the output.
M.WIDTH, M.NARROW = 80, 40

--- Width of a table's text column below which M.grid drops columns of numbers that have the field 'spare'.
M.LEAST = 16

-- Width of a table's text column below which M.grid also drops columns without the field 'spare'.
M.FEWEST = 8

--- Characters that show bars of increasing height, 1/8 to 8/8 of a line.
M.BARS = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

-- Escape sequences of a terminal, by style.
local STYLES = {bold = "\27[1m", dim = "\27[2m", red = "\27[31m",
                green = "\27[32m", yellow = "\27[33m", cyan = "\27[36m"}

--- Returns a function paint(style, text) that returns the text, with colours if 'color' is true.
function M.painter(color)
  return function(style, text)
    local sequence = color and text ~= "" and STYLES[style]
    return sequence and sequence .. text .. "\27[0m" or text
  end
end

-- The characters outside ASCII that control a terminal or are invisible: U+0080 to U+009F, U+061C,
-- U+180E, U+200B, U+200E, U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF, U+FFF9 to U+FFFB,
-- U+E0000 to U+E007F.
local CONTROLS = {"\xC2[\x80-\x9F]", "\xD8\x9C", "\xE1\xA0\x8E", "\xE2\x80[\x8B\x8E\x8F\xA8-\xAE]",
                  "\xE2\x81[\xA0-\xAF]", "\xEF\xBB\xBF", "\xEF\xBF[\xB9-\xBB]",
                  "\xF3\xA0[\x80\x81][\x80-\xBF]"}

--- Replaces each character that matches CONTROLS in a text, which must be valid UTF-8. 'replacement': as for
-- string.gsub.
function M.replaced(text, replacement)
  if text:find "[\xC2-\xF3]" then
    for _, pattern in ipairs(CONTROLS) do
      text = text:gsub(pattern, replacement)
    end
  end
  return text
end

-- Replaces by "?" each byte that is not UTF-8, each ASCII character that matches the pattern 'controls', and
-- each character of CONTROLS. Returns the result.
local function without(text, controls)
  if not text:find("[^ -~]") then
    return text
  end
  local parts, from = {}, 1
  while true do
    local ok, bad = utf8.len(text, from)
    parts[#parts + 1] = text:sub(from, (bad or 0) - 1)
    if ok then
      break
    end
    parts[#parts + 1], from = "?", bad + 1
  end
  return M.replaced((table.concat(parts):gsub(controls, "?")), "?")
end

--- Returns a text as one line that is safe to print: "?" replaces control characters and invalid UTF-8.
function M.printable(text)
  return without(text, "%c")
end

--- Returns a text as one word of a shell's command, quoted if necessary. A text that a terminal cannot show
-- as it is becomes $'...' with octal escapes, which bash, ksh, zsh and busybox sh read.
function M.word(text)
  if M.printable(text) ~= text then
    return "$'" .. text:gsub("[^ -&(-%[%]-~]", function(c) return ("\\%03o"):format(c:byte()) end) .. "'"
  elseif text == "" or text:find "[^%w_./+:,@%%-]" then
    return "'" .. text:gsub("'", "'\\''") .. "'"
  end
  return text
end

--- Returns a file's path as a word (M.word) that no command takes for an option: a path that starts with "-"
-- gets the prefix "./". The path "-", which means standard input, is not changed.
function M.pathword(path)
  return M.word((path:gsub("^%-.", "./%0")))
end

--- Returns a text as a cell of a table: safe to print (M.printable), without spaces at its ends.
function M.clean(text)
  return (M.printable(text):gsub("^ +", ""):gsub(" +$", ""))
end

local OWN = {["\27[0m"] = true}
for _, sequence in pairs(STYLES) do
  OWN[sequence] = true
end

--- Returns a text of several lines that is safe to print. Keeps newlines and, if 'color' is true, the colours
-- of M.painter. Replaces other control characters and invalid UTF-8 by "?".
function M.screen(text, color)
  local parts, from, at = {}, 1, 1
  while color do
    local first, last = text:find("\27%[%d+m", at)
    if not first then
      break
    elseif OWN[text:sub(first, last)] then
      parts[#parts + 1] = without(text:sub(from, first - 1), "[^%C\n]")
      parts[#parts + 1], from = text:sub(first, last), last + 1
    end
    at = last + 1
  end
  parts[#parts + 1] = without(text:sub(from), "[^%C\n]")
  return table.concat(parts)
end

--- Returns the number of terminal columns that a text needs.
function M.width(text)
  if not text:find "[\xCC-\xFF]" then  -- characters below U+0300 have one column
    return utf8.len(text)
  end
  local n = 0
  for _, code in utf8.codes(text) do
    n = n + characters.width(code)
  end
  return n
end

--- Returns the number of rows that the lines of a text need on a terminal of this width, which breaks longer
-- lines.
function M.rows(text, width)
  local n = 0
  for line in (text:gsub("\27%[%d+m", "") .. "\n"):gmatch "(.-)\n" do
    n = n + math.max(1, -(-M.width(line) // width))
  end
  return n
end

--- Returns the start of a text in at most n columns, with an ellipsis if it was cut.
function M.cutend(text, n)
  if M.width(text) <= n then
    return text
  end
  local room, upto = n - 1, #text
  for at, code in utf8.codes(text) do
    room = room - characters.width(code)
    if room < 0 then
      upto = at - 1
      break
    end
  end
  return text:sub(1, upto) .. "…"
end

-- Returns the first byte position from which the rest of a text fits into n columns.
local function tail(text, n)
  local width, from = M.width(text), #text + 1
  for at, code in utf8.codes(text) do
    local own = characters.width(code)
    if width <= n and own > 0 then  -- own == 0: a combining character, which must not be first
      from = at
      break
    end
    width = width - own
  end
  return from
end

--- Returns a name in at most n columns, with an ellipsis in the middle if it was cut: names often differ at
-- the end.
function M.cutmiddle(text, n)
  if n < 8 or M.width(text) <= n then
    return M.cutend(text, n)
  end
  local last = (n - 1) // 2
  return M.cutend(text, n - last) .. text:sub(tail(text, last))
end

--- Returns the end of a text in at most n columns. If the text was cut, it starts with an ellipsis. A path is
-- cut at a slash if possible.
function M.cutstart(text, n)
  if M.width(text) <= n then
    return text
  end
  local rest = text:sub(tail(text, n - 1))
  return "…" .. (rest:match "/.*$" or rest)
end

--- Breaks text into lines of at most 'width' columns, each after 'indent'. A word that is too long
-- for a line, for example a path, loses its start.
function M.wrap(text, indent, width)
  width = width or M.WIDTH
  local lines, line, used = {}, indent, #indent
  for word in text:gmatch "%S+" do
    word = M.cutstart(word, math.max(width - #indent, M.LEAST))
    local columns = M.width(word)
    if #line > #indent and used + 1 + columns > width then
      lines[#lines + 1] = line
      line, used = indent, #indent
    end
    if #line > #indent then
      line, used = line .. " ", used + 1
    end
    line, used = line .. word, used + columns
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- Drops columns of numbers until a table's text column has the width 'least'. Returns the columns of numbers
-- that remain, each with its width 'w', and their total width.
local function fitting(columns, rows, width, least)
  local kept, left = {}, 0
  for i, column in ipairs(columns) do
    local w = math.max(M.width(column.title), column.least or 0)
    for k = 1, rows do
      w = math.max(w, M.width(column.cells[k]))
    end
    kept[i] = setmetatable({w = w, gap = column.gap or 2}, {__index = column})
    left = left + kept[i].gap + w
  end
  while width - left - 2 < least do
    local out
    for i, column in ipairs(kept) do
      if column.spare and (not out or column.spare > kept[out].spare) then
        out = i
      end
    end
    if not out and (#kept < 2 or width - left - 2 >= M.FEWEST) then
      break
    end
    out = out or #kept
    left = left - kept[out].gap - kept[out].w
    table.remove(kept, out)
  end
  return kept, left
end

--- Lays out a table: columns of numbers, then a column of text. Drops columns until the column of text is at
-- least 'least' wide. Returns three values:
--
--   1. the lines of the table
--   2. the position at which the text starts
--   3. the remaining columns
--
-- Parameters:
--
--   - rows: number of rows
--   - title: heading of the column of text
--   - label(i, n): returns the text of row i in at most n columns of the terminal
--   - least: minimum width of the column of text; nil: LEAST
--   - columns: list of the columns of numbers. Fields of a column:
--     - title: heading of the column
--     - cells: texts by row
--     - gap: spaces before the column; nil: 2
--     - least: minimum width; nil: 0
--     - style(i): returns the style of the cell in row i (M.painter), or nil
--     - spare: the column with the largest 'spare' is dropped first; nil: dropped only if the text would have
--       fewer than FEWEST columns
function M.grid(columns, rows, title, label, width, paint, least)
  local kept, left = fitting(columns, rows, width, least or M.LEAST)
  local function cell(column, text)
    return (" "):rep(column.gap + column.w - M.width(text)) .. text
  end
  local titles = {}
  for i, column in ipairs(kept) do
    titles[i] = cell(column, column.title)
  end
  titles[#titles + 1] = title ~= "" and
    "  " .. M.cutend(title, math.max(width - left - 2, M.FEWEST)) or ""
  local lines = {paint("dim", (table.concat(titles):gsub(" +$", "")))}
  for k = 1, rows do
    local cells = {}
    for i, column in ipairs(kept) do
      local text = cell(column, column.cells[k])
      cells[i] = column.style and paint(column.style(k) or "", text) or text
    end
    lines[#lines + 1] = table.concat(cells) .. "  " ..
                        label(k, math.max(width - left - 2, M.FEWEST))
  end
  return lines, left + 2, kept
end

return M
