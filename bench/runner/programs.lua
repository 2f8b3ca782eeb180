-- SPDX-License-Identifier: MIT
-- The benchmark programs by group, and the selection of some of them. A workload of bench/load has its
-- sizes in its own file. The programs of are-we-fast-yet have them in this file, because their harness
-- verifies the results only of certain sizes. A program is a table:
--   name, group, groups   its name, its main group, the set of all of its groups
--   script, dir           the script to run, and the folder to run it in (nil: any)
--   args(mode)            returns the script's arguments. The mode is "size", "small", "tiny" or "long"
--   clean(output)         returns the output without timings, to be compared
--   long                  true if the program has the size "long"

local programs = {}

local OURS = {
  { "allocating", {
    "binary_trees", "gcbench", "closures", "vectors", "lru_cache", "coroutines", "live_heap" } },
  { "mixed", { "json", "strings", "linter", "hash_build", "template" } },
  { "compute", { "nbody", "mandelbrot", "fannkuch", "spectral_norm" } },
  { "traps", {
    "random_writes", "random_keys", "append", "suspended", "deep_stack", "deep_churn",
    "dictionary", "ephemerons", "weak_cache", "finalizers", "queue" } },
  { "hosts", {
    "dropped_heap", "old_finalizers", "weak_keys", "weak_pairs", "big_array", "permute",
    "rekeyed", "frames", "replaced", "batches", "columns", "ring", "sets", "edited",
    "messages", "text_queue", "packets", "by_hand" } },
  { "evaluation", { "loop", "interpreter" } },
}

-- The programs of are-we-fast-yet: name, number of inner iterations for the full size and for the small
-- size, and true if the program allocates much.
local AWFY = {
  { "Bounce", 1500, 100 }, { "CD", 100, 10, true }, { "DeltaBlue", 20000, 1000, true },
  { "Havlak", 1, 1, true }, { "Json", 100, 5, true }, { "List", 2000, 100 },
  { "Mandelbrot", 750, 500 }, { "NBody", 250000, 250000 }, { "Permute", 1200, 50 },
  { "Queens", 1800, 50 }, { "Richards", 30, 2 }, { "Sieve", 2000, 100 },
  { "Storage", 800, 50, true }, { "Towers", 1200, 50 },
}

programs.GROUPS = {
  "allocating", "mixed", "compute", "traps", "hosts", "evaluation", "awfy", "awfy-allocating" }

local LONG = { linter = true }

local function same(output) return output end

local function without_timings(output)
  return (output:gsub("%d+us", "us"))
end

local function our_program(name, group, bench)
  return {
    name = name, group = group, groups = { [group] = true },
    script = bench .. "/load.lua",
    args = function(mode) return { name, mode } end,
    clean = same, long = LONG[name] or false,
  }
end

local function awfy_program(entry, dir)
  local name, full, small, allocating = table.unpack(entry, 1, 4)
  return {
    name = "awfy/" .. name, group = "awfy",
    groups = { awfy = true, ["awfy-allocating"] = allocating },
    script = "harness.lua", dir = dir,
    args = function(mode) return { name, "1", tostring(mode == "size" and full or small) } end,
    clean = without_timings,
  }
end

-- Returns the list of all programs. 'bench' is the path of the folder bench. 'awfy' is the path of the
-- folder benchmarks/Lua of are-we-fast-yet; if it is nil, its programs are left out.
function programs.all(bench, awfy)
  local list = {}
  for _, group in ipairs(OURS) do
    for _, name in ipairs(group[2]) do
      list[#list + 1] = our_program(name, group[1], bench)
    end
  end
  if awfy then
    for _, entry in ipairs(AWFY) do list[#list + 1] = awfy_program(entry, awfy) end
  end
  return list
end

-- Returns those programs of 'list' whose name or group is in 'words', or all programs if 'words' is empty.
-- Returns nil and a message if a word is neither a name nor a group.
function programs.choose(list, words)
  if #words == 0 then return list end
  local chosen, known = {}, {}
  for _, program in ipairs(list) do
    for _, word in ipairs(words) do
      if program.name == word or program.groups[word] then
        chosen[program], known[word] = true, true
      end
    end
  end
  for _, word in ipairs(words) do
    if not known[word] then
      local hint = word:match("^awfy")
        and "set AWFY=dir to a checkout's benchmarks/Lua"
        or "--list shows the names and groups"
      return nil, ("no program or group named %q; %s"):format(word, hint)
    end
  end
  local out = {}
  for _, program in ipairs(list) do
    if chosen[program] then out[#out + 1] = program end
  end
  return out
end

return programs
