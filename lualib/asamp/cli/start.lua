-- SPDX-License-Identifier: MIT
-- What `asamp run` has its interpreter do before the script:
--   lua -e 'loadfile(THIS)(core, options, profiler)' [--] SCRIPT [arguments]
-- with the paths of the profiler's modules. The same as `lua -l profiler`, but
-- these are found where the command has its own, whatever LUA_PATH, LUA_CPATH
-- or a searcher of LUA_INIT says: those are the script's, which finds all of
-- them as if nobody had been here. So no path is touched, and nothing searched.

local core, options, profiler = ...

-- arg becomes what it would be with -l profiler: the profiler begins a session only if it
-- finds that there, and the profile has it as the command line.
if type(arg) == "table" then  -- LUA_INIT may have taken it away
  local at = arg[-1] == "--" and -2 or -1
  arg[at - 1], arg[at] = "-l", "profiler"  -- luacheck: ignore 122
end

local function put(name, loader, path)
  package.loaded[name] = loader(name, path)
end

put("profiler.core", assert(package.loadlib(core, "luaopen_profiler_core")), core)
put("profiler.options", assert(loadfile(options)), options)
put("profiler", assert(loadfile(profiler)), profiler)
_G.profiler = package.loaded.profiler
