-- SPDX-License-Identifier: MIT
-- The program of bench/lifetimes: lua lifetimes.lua [base|act] [ROWS]. Loads a table of numbers from text,
-- like the class DataFrame in the paper on FiLiP. Parsers, streams and fractions are short-lived; rows and
-- cells stay alive. With 'act', all short-lived objects are also kept to the end.

local act = arg[1] == "act"
local kept = {}

local function class(name)
  local meta = {__name = name}
  meta.__index = meta
  return function(t)
    if act and name ~= "Row" and name ~= "Cell" then kept[#kept + 1] = t end
    return setmetatable(t, meta)
  end
end

local NumberParser, Fraction, ReadStream = class "NumberParser", class "Fraction", class "ReadStream"
local Row, Cell = class "Row", class "Cell"

local function parse(text, at)
  local stream = ReadStream{text = text, at = at}
  local parser = NumberParser{stream = stream, sign = 1, digits = 0, base = 10}
  local whole, rest = text:match("^(%d+)%.(%d+)", stream.at)
  local f = Fraction{above = tonumber(whole .. rest), below = 10 ^ #rest}
  parser.digits = #rest
  return f.above / f.below
end

local rows = {}
for i = 1, tonumber(arg[2] or 40000) do
  local row = Row{}
  for k = 1, 6 do
    row[k] = parse(("%d.%03d;"):format(i, k * i % 1000), 1)
  end
  row.cell = Cell{text = "row " .. i}
  rows[i] = row
end
print(#rows, os.clock())
