-- SPDX-License-Identifier: MIT
--
-- The profiler's C modules must call the functions of the Lua whose state requires them, whether that Lua
-- is in the program or in a shared library. A former bug: in the Lua of a plugin (loaded by dlopen with
-- RTLD_LOCAL), require reported "undefined symbol: luaN_registry", as if this Lua were not Asamp.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
local sanitized = prefix:find "asan" and " -fsanitize=address,undefined" or ""

-- The C function run, which runs a script in a new state. It is compiled with a program or with a library.
local RUN = [[
#include <stdio.h>
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

int run (const char *script);

int run (const char *script) {
  lua_State *L = luaL_newstate();
  int failed;
  luaL_openlibs(L);
  failed = luaL_dofile(L, script);
  if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return failed;
}
]]

local PROGRAM = RUN .. [[
int main (int argc, char **argv) {
  return argc == 2 ? run(argv[1]) : 2;
}
]]

-- A program that contains no Lua. Its arguments are a library and scripts: it opens the library with
-- RTLD_LOCAL and runs each script twice with the Lua in the library.
local LOADER = [[
#include <dlfcn.h>
#include <stdio.h>

typedef struct State State;

static int runin (void *library, const char *script) {
  State *(*newstate) (void) = (State *(*) (void))dlsym(library, "luaL_newstate");
  void (*openlibs) (State *) = (void (*) (State *))dlsym(library, "luaL_openlibs");
  int (*load) (State *, const char *, const char *) =
    (int (*) (State *, const char *, const char *))dlsym(library, "luaL_loadfilex");
  int (*call) (State *, int, int, int, long, void *) =
    (int (*) (State *, int, int, int, long, void *))dlsym(library, "lua_pcallk");
  const char *(*text) (State *, int, size_t *) =
    (const char *(*) (State *, int, size_t *))dlsym(library, "lua_tolstring");
  void (*end) (State *) = (void (*) (State *))dlsym(library, "lua_close");
  State *L = newstate();
  int failed;
  openlibs(L);
  failed = load(L, script, NULL) || call(L, 0, 0, 0, 0, NULL);
  if (failed) fprintf(stderr, "%s\n", text(L, -1, NULL));
  end(L);
  return failed;
}

int main (int argc, char **argv) {
  int i;
  for (i = 1; i + 1 < argc; i += 2) {
    void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    int (*run) (const char *);
    int n;
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
    run = (int (*) (const char *))dlsym(library, "run");
    for (n = 0; n < 2; n++)
      if (run ? run(argv[i + 1]) : runin(library, argv[i + 1])) return 1;
  }
  return 0;
}
]]

-- A script that uses all four C modules: allocation and time samples with C stacks, the reader, and a
-- converter.
local WORK = [[
local profiler, out = require "profiler", os.tmpname()
assert(profiler.enable{alloc = 256, time = 1000, out = out, overwrite = true})
local function work(n)
  local t = {}
  for i = 1, n do t[i] = {("x"):rep(i)} end
  return t
end
for _ = 1, 50 do work(200) end
while profiler.stats().timesamples < 3 do work(200) end
assert(profiler.disable())
local profile = assert(require "profiler.reader".read(out))
local found
for _, f in ipairs(profile.functions) do found = found or f.name == "work" end
assert(profile.complete and profile.samples > 100 and profile.timesamples >= 3 and found)
local summary = assert(require "profiler.convert".collapsed(out, out .. ".txt", {}))
assert(summary.samples == profile.samples)
assert(require "asamp.host".isfile(out .. ".txt"))
os.remove(out .. ".txt")
os.remove(out)
print "works"
]]

local TRY = [[
print((select(2, pcall(require, "profiler"))))
print(type(select(2, pcall(require, "profiler.reader"))))
]]

local dir, made = nil, {}

-- Compiles the text of a C file into a file with this name, unless an earlier call did. Returns the path of
-- the file.
local function build(name, text, flags)
  local path = dir .. "/" .. name
  if not made[name] then
    made[name] = true
    shell.write(path .. ".c", text)
    assert.equal("", shell.output("gcc -std=gnu99 -Wall -Wextra -Werror%s -I%s/include/lua5.4 "
      .. "-o %s %s.c %s 2>&1", sanitized, prefix, path, path, flags))
  end
  return path
end

local function script(text)
  local path = dir .. "/script.lua"
  shell.write(path, text)
  return path
end

local SHARED = ("-L%s/lib -llua5.4 -Wl,-rpath,%s/lib"):format(prefix, prefix)
local STATIC = ("-Wl,--whole-archive %s/lib/liblua.a -Wl,--no-whole-archive -lm -ldl")
  :format(prefix)
local LIBRARY = prefix .. "/lib/liblua5.4.so.0"

local function loader() return build("loader", LOADER, "-ldl") end
local function plugin() return build("plugin.so", RUN, "-shared -fPIC " .. SHARED) end

-- Copies a library that contains a Lua. The dynamic loader treats the copy as another library.
local function copy(of, name)
  assert(os.execute(("cp %s %s/%s"):format(of, dir, name)))
  return dir .. "/" .. name
end

setup(function() dir = shell.folder() end)

describe("the modules work", function()
  it("in the interpreter", function()
    assert.same({0, "works\n", ""}, {process.run{script(WORK)}})
  end)

  it("in a program that is linked to the library", function()
    local program = build("shared", PROGRAM, SHARED)
    assert.same({0, "works\n", ""}, {process.run{program = program, script(WORK)}})
  end)

  it("in a program that has Lua linked in and exports it", function()
    local program = build("static", PROGRAM, "-Wl,-E " .. STATIC)
    assert.same({0, "works\n", ""}, {process.run{program = program, script(WORK)}})
  end)

  it("in a library that is loaded for one caller alone", function()
    assert.same({0, "works\nworks\n", ""}, {process.run{program = loader(), LIBRARY, script(WORK)}})
  end)

  it("in a plugin that is linked to the library and loaded for one caller alone", function()
    assert.same({0, "works\nworks\n", ""}, {process.run{program = loader(), plugin(), script(WORK)}})
  end)

  it("in several plugins with one Lua", function()
    local path = script(WORK)
    assert.same({0, ("works\n"):rep(6), ""}, {process.run{program = loader(), plugin(), path,
      copy(plugin(), "other.so"), path, LIBRARY, path}})
  end)
end)

describe("the modules refuse", function()
  it("a program that does not export its Lua, with what to do", function()
    local program = build("hidden", PROGRAM, STATIC)
    local status, out, err = process.run{program = program, script(TRY)}
    assert.equal(0, status)
    assert.equal("profiler: this program does not export the functions of its Lua, so no "
      .. "module can call them: link it with -Wl,-E -Wl,--whole-archive liblua.a "
      .. "-Wl,--no-whole-archive, or to liblua5.4.so.0\nboolean\n", out)
    local line = "profiler.%s: no module can call this Lua: the program itself does not export "
      .. "its functions (lua_*, luaL_*, luaN_*); link a program with -Wl,-E -Wl,--whole-archive "
      .. "liblua.a -Wl,--no-whole-archive, or to liblua5.4.so.0\n"
    assert.equal(line:format "core" .. line:format "reader", err)
  end)

  if sanitized == "" then
    it("such a program with another Lua in view, whose functions are not for its states", function()
      local program = build("hidden", PROGRAM, STATIC)
      local status, out, err = process.run{program = program, script(TRY), env = {LD_PRELOAD = LIBRARY}}
      assert.equal(0, status)
      assert.truthy(out:find "^profiler: this program does not export", out)
      assert.truthy(err:find "^profiler.core: no module can call this Lua: the program itself ", err)
    end)
  end

  it("the second Lua of a process, and name both", function()
    local path, second = script(WORK), copy(LIBRARY, "second.so")
    local status, out, err = process.run{program = loader(), LIBRARY, path, second, path}
    assert.equal(1, status)
    assert.equal("works\nworks\n", out)
    assert.equal(("profiler: profiler.core: this process has two copies of Lua. The module works only " ..
                  "with the first one that loaded it, in %s, not with the one in %s; link all programs " ..
                  "and libraries that use Lua to one liblua5.4.so.0\n"):format(LIBRARY, second), err)
  end)

  it("another Lua, alone or next to ours, by the functions that it lacks #plain", function()
    local plain = copy("build/plain/lib/liblua5.4.so.0", "plain.so")
    local what = "profiler: this Lua is not Asamp's, or its module profiler/core.so is not "
      .. "in package.cpath; use asamp run, or add ;; to LUA_CPATH (profiler.core: undefined symbol: "
      .. "luaN_allocated (in " .. plain .. "))\n"
    local try = dir .. "/try.lua"
    assert(os.rename(script(TRY), try))
    assert.same({0, (what .. "table\n"):rep(2), ""}, {process.run{program = loader(), plain, try}})
    -- the reader needs no function that only the fork has, so that it works also with the plain Lua
    assert.same({0, "works\nworks\n" .. (what .. "string\n"):rep(2), ""},
                {process.run{program = loader(), LIBRARY, script(WORK), plain, try}})
  end)
end)
