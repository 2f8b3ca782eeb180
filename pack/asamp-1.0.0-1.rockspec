-- The profiler's modules for a fork that is installed, as a rock:
--   luarocks --lua-version=5.4 --lua-dir=/usr/lib/asamp make pack/asamp-1.0.0-1.rockspec
-- (--lua-dir: the prefix of `make install`). In the folder of the sources.
rockspec_format = "3.0"
package = "asamp"
version = "1.0.0-1"
source = {url = "."}
description = {
  summary = "Samples a Lua program's allocations and its time",
  detailed = "The modules of the profiler of Asamp, a fork of Lua 5.4. They run on no other Lua.",
  license = "MIT",
}
dependencies = {"lua >= 5.4, < 5.5"}
build = {
  type = "make",
  makefile = "pack/rock.mk",
  build_variables = {LUA_INCDIR = "$(LUA_INCDIR)"},
  install_variables = {LUA_INCDIR = "$(LUA_INCDIR)", LUADIR = "$(LUADIR)", LIBDIR = "$(LIBDIR)"},
}
