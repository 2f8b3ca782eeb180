-- SPDX-License-Identifier: MIT
-- Text processing. Lines are split into words. The words are counted, changed by gsub and joined again. A
-- log is built by appending formatted pieces. 'size' is the number of lines.

local WORDS = {
  "nursery", "minor", "major", "line", "block", "table", "string", "closure",
  "thread", "period", "sample", "stack", "frame", "type", "survivor", "root",
}

local function make_line(i)
  local words = {}
  for k = 1, 12 do words[k] = WORDS[math.random(#WORDS)] .. (i * k) % 200 end
  return table.concat(words, " ")
end

local function split(text, separator)
  local parts, from = {}, 1
  while true do
    local first, last = text:find(separator, from, true)
    if not first then
      parts[#parts + 1] = text:sub(from)
      return parts
    end
    parts[#parts + 1] = text:sub(from, first - 1)
    from = last + 1
  end
end

local function checksum(text)
  local sum = 0
  for at = 1, #text, 97 do sum = (sum * 31 + text:byte(at)) % 1000000007 end
  return sum
end

local function run(lines)
  local counts, distinct, kept, sum = {}, 0, {}, 0
  local log = ""
  for i = 1, lines do
    local line = make_line(i)
    local words = split(line, " ")
    for _, word in ipairs(words) do
      if not counts[word] then distinct = distinct + 1 end
      counts[word] = (counts[word] or 0) + 1
    end
    local joined = table.concat(words, ","):gsub("%d+", function(n) return "<" .. n .. ">" end)
    kept[i % 1000 + 1] = joined:upper():reverse()
    log = log .. ("%06d:%s;"):format(i, words[1])
    if #log > 4000 then
      sum = (sum + checksum(log)) % 1000000007
      log = ""
    end
  end
  return ("%d distinct, %d, %d"):format(distinct, sum, checksum(table.concat(kept, "", 2, #kept)))
end

return {
  about = "splitting, joining, replacing, formatting strings",
  size = 90000, small = 4000, tiny = 20,
  run = run,
}
