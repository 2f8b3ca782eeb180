-- SPDX-License-Identifier: MIT
-- Charges the costs of libraries to the line of the user's program that called them.

local paths = require "asamp.sums.paths"

local M = {}

-- Names of chunks that are not files, in addition to [string "..."].
local NOFILE = {["-"] = true, ["[C]"] = true, ["[stripped]"] = true, ["[other chunks]"] = true,
                ["[unknown]"] = true}

--- Returns an absolute path without ".", "..", "//" and a slash at its end. A relative path is
-- below 'current', which is absolute.
function M.normal(path, current)
  local names = {}
  for name in (path:find "^/" and path or current .. "/" .. path):gmatch "[^/]+" do
    if name == ".." then
      names[#names] = nil
    elseif name ~= "." then
      names[#names + 1] = name
    end
  end
  return "/" .. table.concat(names, "/")
end

--- Returns a function that returns true for files in a list, or below its folders; false for other files and
-- for chunks that are not files.
--
-- list: paths of files and folders
-- current: folder to which relative paths refer
function M.below(list, current)
  local prefixes, here = {}, paths.written(current)
  for i, path in ipairs(list) do
    prefixes[i] = M.normal(paths.written(path), here):gsub("/*$", "/")
  end
  return function(file)
    if NOFILE[file] or file:find '^%[string "' then
      return false
    end
    local path = M.normal(paths.written(file), here) .. "/"
    for _, prefix in ipairs(prefixes) do
      if path:sub(1, #prefix) == prefix then
        return true
      end
    end
    return false
  end
end

-- Returns a map from each call tree node to the innermost frame (a node) of its stack whose file passes
-- 'test'. Nodes without such a frame are not in the map.
local function nearest(profile, test)
  local found, passed, nodes = {}, {}, profile.nodes
  for f, fn in ipairs(profile.functions) do
    passed[f] = not fn.native and test(fn.file)
  end
  for i, up in ipairs(nodes.parent) do
    found[i] = passed[nodes.fn[i]] and i or found[up]
  end
  return found
end

--- Charges every sample to the innermost line of its stack whose file passes test(file), if there is one.
-- Returns the changed profile, and the numbers of allocation and time samples that were charged to such a
-- line. The profile's lists of samples keep the original nodes as 'leaf'.
function M.of(profile, test)
  local found = nearest(profile, test)
  local function charged(columns)
    if not columns then
      return nil
    end
    local node = {}
    for i, at in ipairs(columns.node) do
      node[i] = found[at] or at
    end
    return setmetatable({node = node, leaf = columns.node}, {__index = columns})
  end
  local allocated, timed = 0, 0
  for i, at in ipairs(profile.sites.node) do
    local n = found[at] and profile.sites.samples[i] or 0
    if profile.kinds[profile.sites.kind[i]].time then
      timed = timed + n
    else
      allocated = allocated + n
    end
  end
  return setmetatable({sites = charged(profile.sites), bins = charged(profile.bins),
                       gone = charged(profile.gone), born = charged(profile.born),
                       alive = charged(profile.alive),
                       lifetimes = charged(profile.lifetimes), copies = charged(profile.copies),
                       holders = charged(profile.holders)}, {__index = profile}),
         allocated, timed
end

return M
