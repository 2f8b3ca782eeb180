-- SPDX-License-Identifier: MIT
-- Text to columns of a terminal: cleaning, cutting, wrapping, colours. Pure;
-- knows nothing of profiles. Widths are counted in code points.
--
-- Whatever a file holds passes `clean` before a terminal sees it.

local M = {}

--- Columns where nothing tells how wide the terminal is, and at least.
M.WIDTH, M.NARROW = 80, 40

-- Terminal sequences; without colours every style is plain.
local STYLES = {bold = "\27[1m", dim = "\27[2m", red = "\27[31m",
                green = "\27[32m", yellow = "\27[33m", cyan = "\27[36m"}

--- A function (style, text) -> text that paints when 'color' is true.
function M.painter(color)
  return function(style, text)
    local sequence = color and text ~= "" and STYLES[style]
    return sequence and sequence .. text .. "\27[0m" or text
  end
end

--- Text from a file as a terminal may show it: no control characters (C1
-- ones too), no broken characters.
function M.clean(text)
  if not utf8.len(text) then
    text = text:gsub("[\128-\255]", "?")
  end
  return (text:gsub("%c", "?"):gsub("\u{80}", "?"):gsub("\xC2[\x80-\x9F]", "?")
              :gsub("^ +", ""):gsub(" +$", ""))
end

function M.width(text)
  return utf8.len(text)
end

--- The first n characters, with an ellipsis where some are gone.
function M.cutend(text, n)
  if utf8.len(text) <= n then
    return text
  end
  return text:sub(1, utf8.offset(text, n) - 1) .. "…"
end

--- The last n characters; of a path whole names are left, if there are any.
function M.cutstart(text, n)
  if utf8.len(text) <= n then
    return text
  end
  local rest = text:sub(utf8.offset(text, -(n - 1)))
  return "…" .. (rest:match "/.*$" or rest)
end

--- Words to lines of at most 'width' columns, each after 'indent'.
function M.wrap(text, indent, width)
  local lines, line = {}, indent
  for word in text:gmatch "%S+" do
    if #line > #indent and
       utf8.len(line) + 1 + utf8.len(word) > (width or M.WIDTH) then
      lines[#lines + 1] = line
      line = indent
    end
    line = line .. (#line > #indent and " " or "") .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

--- Columns that the text of a table gets, as long as there are others to spare.
M.LEAST = 16

-- The columns that fit into the width beside 'least' of text, each with its own
-- ('w'), and what they take together.
local function fitting(columns, rows, width, least)
  local kept, left = {}, 0
  for i, column in ipairs(columns) do
    local w = math.max(utf8.len(column.title), column.least or 0)
    for k = 1, rows do
      w = math.max(w, utf8.len(column.cells[k]))
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
    if not out then
      break
    end
    left = left - kept[out].gap - kept[out].w
    table.remove(kept, out)
  end
  return kept, left
end

--- A table: columns of numbers on the left, a text that fills the rest of
-- the width on the right. 'columns': list of {title, cells (texts, as many as
-- rows), gap (spaces before it, default 2), spare (nil: never; the larger, the
-- sooner it is left out where there is no room)}. 'label(i, n)': the text of row i
-- in at most n columns, colours not counted. 'least' (LEAST): columns that it
-- gets at the cost of numbers. Returns lines, where the text begins, and the columns that
-- have found room.
function M.grid(columns, rows, title, label, width, paint, least)
  local kept, left = fitting(columns, rows, width, least or M.LEAST)
  local function cell(column, text)
    return (" "):rep(column.gap + column.w - utf8.len(text)) .. text
  end
  local titles = {}
  for i, column in ipairs(kept) do
    titles[i] = cell(column, column.title)
  end
  titles[#titles + 1] = title ~= "" and "  " .. M.cutend(title, math.max(width - left - 2, 8)) or ""
  local lines = {paint("dim", (table.concat(titles):gsub(" +$", "")))}
  for k = 1, rows do
    local cells = {}
    for i, column in ipairs(kept) do
      local text = cell(column, column.cells[k])
      cells[i] = column.style and paint(column.style(k) or "", text) or text
    end
    lines[#lines + 1] = table.concat(cells) .. "  " ..
                        label(k, math.max(width - left - 2, 8))
  end
  return lines, left + 2, kept
end

return M
