-- SPDX-License-Identifier: MIT
-- The configurations that bench/run measures, and the comparisons between them. Pure functions: they read
-- no files, and all paths are arguments.
-- A configuration is { name, kind, lua, options, env }: 'lua' is the path of an interpreter, 'options' the
-- list of its arguments before the script, and 'env' a list of NAME=VALUE.
-- A comparison is { title, over, under, good }. It divides the values of the configuration 'over' by those
-- of 'under'. 'good' is "high" if a ratio above 1 is the better result, and "low" if a ratio below 1 is.

local configs = {}

-- A sampling period so long that no sample is taken. The allocator still checks for the sample point.
local NEVER = "4194304G"

local function profiled(name, kind, options, period)
  return {
    name = name, kind = kind, lua = options.fork, options = { "-l", "profiler" },
    env = { ("LUA_PROFILER=alloc=%s,out=%s,quiet"):format(period, options.profile) },
  }
end

local function preloaded(name, options, library)
  return {
    name = name, kind = "preload", lua = options.plain, options = {},
    env = { "LD_PRELOAD=" .. library },
  }
end

local MAKERS = {
  plain = function(name, options)
    return { name = name, kind = "plain", lua = options.plain, options = {}, env = {} }
  end,
  fork = function(name, options)
    return { name = name, kind = "fork", lua = options.fork, options = {}, env = {} }
  end,
  lua55 = function(name, options)
    return { name = name, kind = "lua55", lua = options.lua55, options = {}, env = {} }
  end,
  idle = function(name, options) return profiled(name, "idle", options, NEVER) end,
  sample = function(name, options, period)
    return profiled(name, "sample", options, period or options.period)
  end,
  mimalloc = function(name, options)
    if not options.mimalloc then
      return nil, "configuration mimalloc needs libmimalloc, which is not installed; "
        .. "apt-get install libmimalloc2.0, or use --preload LIB"
    end
    return preloaded(name, options, options.mimalloc)
  end,
  preload = function(name, options)
    if not options.preload then
      return nil, "configuration preload needs a library; add --preload LIB"
    end
    return preloaded(name, options, options.preload)
  end,
}

-- Returns the list of configurations with the given names, such as "plain", "fork", "lua55", "idle",
-- "sample", "sample=32K", "mimalloc" and "preload"; or nil and a message if a name is wrong or a library is
-- missing. The fields of 'options' are paths, except 'period': plain, fork, lua55 (interpreters), profile
-- (the profile that sampling writes), mimalloc, preload (libraries).
function configs.make(names, options)
  local list, seen = {}, {}
  for _, name in ipairs(names) do
    local word, period = name:match("^(%w+)=?(%w*)$")
    local maker = word and MAKERS[word]
    if not maker or (period ~= "" and word ~= "sample") then
      return nil, ("no configuration named %q; use plain, fork, lua55, idle, sample, "
        .. "sample=PERIOD, mimalloc, preload"):format(name)
    end
    if seen[name] then return nil, ("configuration %q is given twice; give it once"):format(name) end
    seen[name] = true
    local config, message = maker(name, options, period ~= "" and period or nil)
    if not config then return nil, message end
    list[#list + 1] = config
  end
  return list
end

local function comparison(over, under, good)
  return { title = over.name .. "/" .. under.name, over = over, under = under, good = good }
end

-- Returns the comparisons between the configurations in 'list', if it has both:
--   plain/x    x is the fork, or plain with another allocator; above 1: x is faster
--   x/fork     x is idle or sample; above 1: sampling makes the fork slower
--   x/fork     x is plain with another allocator or Lua 5.5; above 1: the fork is faster
function configs.comparisons(list)
  local by_kind, out, allocators = {}, {}, {}
  for _, config in ipairs(list) do by_kind[config.kind] = config end
  local plain, fork = by_kind.plain, by_kind.fork
  for _, config in ipairs(list) do
    local kind = config.kind
    if (kind == "fork" or kind == "preload") and plain then
      out[#out + 1] = comparison(plain, config, "high")
    elseif (kind == "idle" or kind == "sample") and fork then
      out[#out + 1] = comparison(config, fork, "low")
    end
    if (kind == "preload" or kind == "lua55") and fork then
      allocators[#allocators + 1] = comparison(config, fork, "high")
    end
  end
  return table.move(allocators, 1, #allocators, #out + 1, out)
end

-- Returns the comparisons base/x of the configuration named 'base' with every other configuration x. Above
-- 1: x is faster. Returns nil and a message if there is no configuration of that name.
function configs.against(list, base)
  local over
  for _, config in ipairs(list) do
    if config.name == base then over = config end
  end
  if not over then
    return nil, ("--base %q is not among the configurations; add it to --configs"):format(base)
  end
  local out = {}
  for _, config in ipairs(list) do
    if config ~= over then out[#out + 1] = comparison(over, config, "high") end
  end
  return out
end

return configs
