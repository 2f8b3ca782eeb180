-- SPDX-License-Identifier: MIT
-- Who holds what, as text: the steps of a path joined as a person would say them.
-- Pure.
--
-- A step is {text, function (what it leads to, when that is one)}; paths begin with
-- what the state itself holds.

local M = {}

M.ARROW = " → "

-- Roots that say more than the registry in which they are.
local WITHOUT = {["_G"] = true, ["package.loaded"] = true, ["main thread"] = true,
                 ["reference of luaL_ref"] = true}

-- Does step 'a' lead to a function by its own name, which 'b' tells too?
local function told(a, b)
  local name = a.text:match '^%["(.*)"%]$'
  local of = b and b.text:match '^upvalue .- of (.*)$'
  return name and of and a["function"] and
         (of == a["function"]) and of:sub(1, #name + 2) == name .. " ("
end

--- The texts of a path's steps, without those that others imply.
function M.steps(path)
  local list = {}
  for i, step in ipairs(path) do
    local following = path[i + 1]
    if following and following.text == "" then  -- an upvalue: what it holds comes next
      following = path[i + 2]
    end
    local thread = following and (following.text:find "^local " or
                                  following.text:find "^stack of ")
    if list[#list] == "package.loaded" and step.text:find '^%["' then
      list[#list] = "package.loaded" .. step.text
    elseif step.text ~= "" and not told(step, following)
           and not (step.text == "registry" and following and WITHOUT[following.text])
           and not (step.text == "main thread" and thread) then
      list[#list + 1] = step.text
    end
  end
  return list
end

--- The path in one line.
function M.text(path)
  return table.concat(M.steps(path), M.ARROW)
end

--- Paths and their shares, of the rows of a merged tree (profiler.heap): one for each
-- row below which nothing holds more than the row itself. A list of {text, count,
-- value}, largest first.
function M.leaves(rows)
  local below, list = {}, {}
  for i, row in ipairs(rows) do
    below[i] = 0
    if row.above then
      below[row.above] = below[row.above] + row.count
    end
  end
  for i, row in ipairs(rows) do
    if below[i] < row.count then
      local path, at = {}, i
      while at do
        table.insert(path, 1, rows[at])
        at = rows[at].above
      end
      list[#list + 1] = {text = M.text(path), count = row.count - below[i],
                         value = row.value, class = row.class, at = i}
    end
  end
  for _, leaf in ipairs(list) do  -- what rows below have is theirs
    for _, row in ipairs(rows) do
      if row.above == leaf.at then
        leaf.value = leaf.value - row.value
      end
    end
    leaf.at = nil
  end
  table.sort(list, function(a, b)
    if a.value ~= b.value then
      return a.value > b.value
    end
    return a.text < b.text
  end)
  return list
end

return M
