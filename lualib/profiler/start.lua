-- SPDX-License-Identifier: MIT
-- Starts the profile of a run, for `lua -l profiler` and `asamp run`. Loads the profiler's modules from its
-- own folders only. Restores package.loaded afterwards, so that the script can require modules with the same
-- names that its own paths lead to. Returns the module profiler.
--
-- Arguments, after an unused one:
--
--   - share, lib: folders of the Lua and C modules, with a slash at the end
--   - run: true: `asamp run` calls this from -e; changes 'arg' to that of `lua SCRIPT`

local _, share, lib, run = ...

if run and type(arg) == "table" then  -- LUA_INIT may have removed 'arg'
  local at = arg[-1] == "--" and -2 or -1
  if arg[at - 1] == "-e" then
    arg[at], arg[at - 1], arg[at - 2] = arg[at - 2], nil, nil  -- luacheck: ignore 122
  end
end

local loaded = package.loaded

local function load(name, loader, path)
  local before = loaded[name]
  loaded[name] = loader(name, path, true)
  return before
end

-- Loads a file of this installation: the compiled one (.luac) if it exists, else the source. Returns its main
-- function and the path of the source.
local function read(name)
  local path = share .. name
  return loadfile(path .. "c") or assert(loadfile(path)), path
end

local options, profiler
local core = lib .. "profiler/core.so"
core = load("profiler.core", assert(package.loadlib(core, "luaopen_profiler_core")), core)
options = load("profiler.options", read "profiler/options.lua")
profiler = load("profiler", read "profiler.lua")
local module = loaded.profiler
loaded["profiler.core"], loaded["profiler.options"], loaded.profiler = core, options, profiler
return module
