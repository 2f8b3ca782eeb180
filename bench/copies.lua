-- SPDX-License-Identifier: MIT
-- The programs of bench/copies. `lua bench/copies.lua NAME` runs one of them.

local P = {}

-- Appends to a string 5,000 times. Each time the whole string is copied.
function P.quadratic()
  local s = ""
  for i = 1, 5000 do
    s = s .. "piece " .. i
  end
  return #s
end

-- Calls gsub with results that are longer than the buffer on the C stack. The buffer is enlarged, and thus
-- copied, several times.
function P.doubling()
  local text, n = ("x"):rep(100000), 0
  for _ = 1, 150 do
    n = n + #text:gsub("x", "yz")
  end
  return n
end

function P.concat()
  local t, n = {}, 0
  for i = 1, 10000 do t[i] = "line " .. i end
  for _ = 1, 250 do
    n = n + #table.concat(t, "\n")
  end
  return n
end

-- Fills tables. Their hash parts and array parts grow, and are copied each time.
function P.rehash()
  local keys, n = {}, 0
  for i = 1, 1000 do keys[i] = "key " .. i end
  for _ = 1, 1000 do
    local t, a = {}, {}
    for i = 1, 1000 do t[keys[i]] = i end
    for i = 1, 1000 do a[i] = i end
    n = n + #a + t[keys[1]]
  end
  return n
end

-- Creates many strings by concatenation.
function P.words()
  local n = 0
  for i = 1, 100000 do
    local word = "word number " .. i .. " of a longer text that is no short string"
    n = n + #word:upper():sub(3, -3)
  end
  return n
end

print((P[arg[1]] or error("no program '" .. tostring(arg[1]) .. "'", 0))())
