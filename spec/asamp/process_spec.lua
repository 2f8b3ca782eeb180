-- SPDX-License-Identifier: MIT
--
-- Profiles of all states of a process, requested by the environment variable ASAMP, in processes that
-- behave as daemons do: fork, exec, chroot, change of the user, closed descriptors, a private copy of the
-- library.

local client = require "asamp.cli.client"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"

local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"
local asan = prefix:find "asan"
local sanitized = asan and " -fsanitize=address,undefined" or ""

local isroot = shell.output "id -u" == "0\n"

-- Returns the set of names of the Lua functions in a profile.
local function functions(profile)
  local set = {}
  for _, f in ipairs(profile.functions) do
    if not f.native then set[f.name] = true end
  end
  return set
end

describe("a process that the environment profiles", function()
  local folder
  setup(function()
    folder = shell.folder()
    shell.output("chmod 755 %s && mkdir -m 777 %s/out", folder, folder)
    shell.output("gcc -g%s -I%s/include/lua5.4 spec/support/hosts/daemon.c -o %s/daemon -L%s/lib "
        .. "-l:liblua5.4.so.0 -Wl,-rpath,%s/lib", sanitized, prefix, folder, prefix, prefix)
    shell.write(folder .. "/s.lua", "local keep = {}\nlocal function build() ",
                "for i = 1, 2000 do keep[i % 50] = {i} end end\nbuild()")
  end)
  before_each(function() shell.output("rm -f %s/out/*", folder) end)

  -- Returns the environment of the host process. 'options' are the first options of the variable ASAMP.
  local function environment(options)
    -- no leak detection: the child of a fork does not free the memory of its parent's writer thread
    return {ASAN_OPTIONS = "detect_leaks=0", ASAMP = (options or "alloc=2K") .. ",quiet,out=out/%p.vmprof",
            LUA_PATH = "", LUA_CPATH = ""}
  end

  local function run(...)
    return process.run{program = folder .. "/daemon", directory = folder, env = environment(), ...}
  end

  -- Returns the profiles in the folder, the largest file first.
  local function profiles()
    local list = {}
    for _, path in ipairs(shell.lines(shell.output("ls -S %s/out/*.vmprof || true", folder))) do
      list[#list + 1] = assert(reader.read(path))
    end
    return list
  end

  -- A former bug: the name of the working folder contained '%', which was interpreted as a conversion of
  -- the pattern out=. The profile had a wrong path, and there was no socket.
  it("works in folders whose names have a %", function()
    local inside = folder .. "/100%p"
    shell.output("mkdir '%s'", inside)
    local function messages(out)
      local status, _, err = process.run{"../s.lua", directory = inside, env = {
        ASAMP = "alloc=2K,listen," .. out, XDG_RUNTIME_DIR = inside, LUA_PATH = "", LUA_CPATH = ""}}
      assert.equal(0, status)
      return err
    end
    assert.matches("profile: " .. inside:gsub("%p", "%%%0") .. "/x%.vmprof\n$", messages "out=x.vmprof")
    assert.matches("^profiler: %d+ samples[^\n]+100%%p/%d+\n$", messages "out=../100%p/%p")
    assert.equal("asamp\nx.vmprof\n", shell.output("cd '%s'; ls | grep -v '^[0-9]*$'", inside))
  end)

  it("forks: the child goes on in a file of its own, one that becomes another program has none",
     function()
    assert.same({0, "", ""}, {run("fork", "s.lua")})
    local list = profiles()
    assert.equal(2, #list)
    for _, p in ipairs(list) do
      assert.is_true(p.complete)
      assert.is_true(functions(p).build)
      assert.equal(0, p.undecided)
    end
    local child, parent = list[1], list[2]
    if child.begun < parent.begun then child, parent = parent, child end
    assert.same({1, 2}, {parent.begun, child.begun})
    assert.is_true(child.allocated > 1.5 * 2000 * 56 and child.allocated < 3 * parent.allocated)
  end)

  -- A former bug: the child's counter of allocated bytes started at its first sample, after the sampled
  -- block.
  it("forks: the bytes of the child are counted from the fork on", function()
    shell.write(folder .. "/big.lua", "local s = ('x'):rep(16 << 20)")
    local status, out, err = process.run{program = folder .. "/daemon", directory = folder,
      env = environment "alloc=64K", "fork", "big.lua"}
    assert.same({0, "", ""}, {status, out, err})
    local list = profiles()
    assert.equal(2, #list)
    for i, p in ipairs(list) do list[i] = p.allocated >> 20 end
    table.sort(list)
    assert.is_true(list[1] >= 16 and list[2] >= 32, table.concat(list, " "))
  end)

  -- A former bug: before its first sample, the child reported the name of its parent's file. The parent
  -- read its own name without the lock.
  it("forks: the child has no file before its first sample", function()
    local env = {ASAMP = "alloc=1M,quiet,out=" .. folder .. "/out/%p.vmprof"}
    local status, out, err = process.run{env = env, code = [[
      local peers, profiler = require "peers", require "profiler"
      assert(profiler.stats().file)
      local pid = peers.fork()
      if pid == 0 then
        local before, s = profiler.stats().file, ("x"):rep(9 << 20)
        peers._exit(before == nil and #s > 0 and profiler.stats().file and 0 or 1)
      end
      print(peers.wait(pid))]]}
    assert.same({0, "0\n", ""}, {status, out, err})
  end)

  -- Former bugs: in the child, the histogram of pauses included the closed states of the parent, but the
  -- sum of pauses did not. Bytes that closed states had tenured were not counted.
  it("forks: the child counts collections, tenured bytes and pauses from the fork on", function()
    shell.output("mkdir -m 700 %s/private", folder)
    local env = {ASAMP = ("alloc=0,listen=%s/private/%%p.sock"):format(folder),
                 ASAN_OPTIONS = "detect_leaks=0"}
    local status, out, err = process.run{env = env, code = ([[
      local host, peers, states = require "asamp.host", require "peers", require "states"
      local function print_stats()
        local id = io.open "/proc/self/stat":read "n"
        collectgarbage()
        io.write((host.query(("%s/private/%%d.sock"):format(id), "stats\n"):gsub("\n", ";")), "\n")
        io.flush()
      end
      local keep = {}
      for i = 1, 20000 do keep[i] = {i} end
      for _ = 1, 50 do
        local s = states.open{libs = true}
        s:run "local t = {} for i = 1, 20000 do t[i] = {i} end collectgarbage()"
        s:close()
      end
      print_stats()
      local pid = peers.fork()
      if pid == 0 then
        print_stats()
        peers._exit(0)
      end
      peers.wait(pid)]]):format(folder)}
    assert.same({0, ""}, {status, err})
    local found = {}
    for line in out:gmatch "[^\n]+" do
      local s, bound, least, pauses = {}, 0, 0, 0
      for name, n in line:gmatch "(%l+) (%d+);" do s[name] = tonumber(n) end
      for n in line:match "pausebins([^;]+)":gmatch "%d+" do
        bound, least, pauses = bound + n * least, math.max(16e3, 2 * least), pauses + n
      end
      assert.is_true(pauses > 0 and pauses <= s.minors + s.majors, line)
      assert.is_true(bound <= s.pauses and s.longest > 0 and s.longest <= s.pauses, line)
      found[#found + 1] = s
    end
    local parent, child = found[1], found[2]
    assert.is_true(parent.tenured > 50 * 20000 * 16, parent.tenured)
    assert.is_true(child.tenured < 20000 * 16 and child.majors < 10, child.tenured)
    assert.is_true(child.inuse > 20000 * 16, child.inuse)
  end)

  -- A former bug: the message had always the same reason, whichever reason applied.
  it("refuses sessions of single states, with the reason", function()
    local code = "print((select(2, require 'profiler'.enable{out = 'mine.vmprof'})))"
    local _, out = process.run{env = {ASAMP = "alloc=1M,quiet,out=" .. folder .. "/out/p.vmprof"},
                               code = code}
    assert.equal("cannot write profile 'mine.vmprof': ASAMP already profiles all Lua states of this " ..
                 "process, in '" .. folder .. "/out/p.vmprof'; read that profile, or start the process " ..
                 "without ASAMP\n", out)
    _, out = process.run{env = {ASAMP = "alloc=0,listen=" .. folder .. "/p.sock"}, code = code}
    assert.truthy(out:find("(ASAMP=listen)", 1, true), out)
  end)

  -- A former bug: if the control thread could not be started, its socket stayed, and clients waited for an
  -- answer for ever.
  it("leaves no socket if it cannot start the thread that answers #plain", function()
    if not isroot or asan then return end
    shell.output("mkdir -m 700 %s/own && chown 65534:65534 %s/own", folder, folder)
    local script = process.file("print((io.open('/proc/net/unix'):read 'a':find('" .. folder ..
                                "/own/x.sock', 1, true)))")
    local status, out, err = process.run{"--reuid=65534", "--regid=65534", "--clear-groups",
      "prlimit", "--nproc=0:0", process.interpreter(), script, program = "setpriv",
      env = {ASAMP = "alloc=0,listen=" .. folder .. "/own/x.sock"}}
    assert.same({0, "nil\n"}, {status, out}, err)
    local message = "profiler: cannot listen or rotate files: cannot start a thread; raise the limit of " ..
                    "processes (ulimit -u)\n"
    assert.equal(message, err)
    assert.equal("", shell.output("ls %s/own", folder))
    -- A former bug: without a socket, the message had an empty path. The limit leaves a thread for the
    -- writer of the profile.
    shell.output("cp %s/s.lua %s/own && chown 64321 %s/own", folder, folder, folder)
    status, out, err = process.run{"--reuid=64321", "--regid=64321", "--clear-groups", "prlimit",
      "--nproc=2:2", process.interpreter(), "s.lua", program = "setpriv", directory = folder .. "/own",
      env = {ASAMP = "alloc=2K,quiet,rotate=1h"}}
    assert.same({0, "", message}, {status, out, err})
  end)

  it("forks: the child may forbid itself threads and become another user #plain", function()
    if not isroot or asan then return end
    shell.write(folder .. "/c.lua", "for i = 1, 2000 do local s = ('x'):rep(3000 + i) end")
    for _, options in ipairs{"alloc=2K", "alloc=2K,rotate=1h,listen"} do
      shell.output("rm -f %s/out/*", folder)
      local status, out, err = process.run{program = folder .. "/daemon", directory = folder,
        env = environment(options), "dropped", "c.lua"}
      assert.same({0, "", ""}, {status, out, err})
      local list = profiles()
      assert.equal(2, #list)
      -- checks also that the profile has the names of C functions
      for _, p in ipairs(list) do
        local names, unknown = {}, 0
        for _, f in ipairs(p.functions) do
          names[f.name] = true
          unknown = unknown + (f.name:find "unknown code" and 1 or 0)
        end
        assert.is_true(p.complete and p.samples > 100)
        assert.same({true, 0}, {names.str_rep or names["string.rep"], unknown})
      end
    end
  end)

  it("forks: a state of before the fork has the child rotate and listen, too", function()
    local pid = process.start{program = folder .. "/daemon", directory = folder,
      env = environment "alloc=2K,rotate=1s,max=64K,keep=9,listen=%p.sock", "served", "s.lua"}
    local child, stats
    process.await(function()
      local found = shell.output("ls %s/out/ | sed -n 's/[.]2[.]vmprof$//p'", folder)
      child = found:gsub(pid .. "\n", ""):match "%d+"
      stats = child and client.send(("%s/%s.sock"):format(folder, child), "stats")
      return stats or process.ended(pid)
    end)
    shell.write(folder .. "/stop", "")
    process.await(function() return process.ended(pid) end)
    assert.equal(tonumber(child), stats and stats.pid)
    shell.output("rm %s/stop", folder)
  end)

  it("has a flight recorder's file where a daemon has closed unknown descriptors", function()
    for _, what in ipairs{"close", "reused"} do
      shell.output("rm -f %s/out/*", folder)
      local status, out, err = process.run{program = folder .. "/daemon", directory = folder,
        env = environment "alloc=2K,ring=1M", what, "s.lua"}
      assert.same({0, "", ""}, {status, out, err})
      local list = profiles()
      assert.equal(1, #list)
      assert.is_true(list[1].complete, list[1].message)
      assert.is_true(list[1].samples > 50, list[1].samples)
    end
  end)

  it("goes into a chroot and becomes another user #plain", function()
    if not isroot or asan then return end  -- only root can call chroot
    shell.output("mkdir -p %s/jail && cp %s/s.lua %s/jail", folder, folder, folder)
    assert.same({0, "", ""}, {run("chroot", "s.lua", folder .. "/jail")})
    assert.is_true(functions(profiles()[1]).build)
    shell.output("chmod 755 %s/out && rm -f %s/out/*", folder, folder)
    local code, _, err = run("chroot", "s.lua", folder .. "/jail")
    shell.output("chmod 777 %s/out", folder)
    assert.equal(0, code)
    assert.is_truthy(err:find("runs as user 65534, which may not write there; the process started as user " ..
                              "0 and changed to user 65534: set out= to a path", 1, true), err)
  end)

  it("has no standard streams: none of their numbers is taken", function()
    assert.equal(0, (run("closed", "s.lua")))
    assert.is_true(functions(profiles()[1]).build)
  end)

  -- A former bug: a forked child took time samples, and listened for commands, only after it had allocated
  -- enough for an allocation sample.
  it("forks: the child is sampled and listens where it only computes", function()
    shell.write(folder .. "/f.lua", "function f() local e = os.clock() + 1 while os.clock() < e do end end")
    local pid = process.start{program = folder .. "/daemon", directory = folder,
      env = environment "alloc=64M,time=1000,native=0,listen=%p.sock", "called", "f.lua"}
    local sockets = 0
    process.await(function()
      sockets = math.max(sockets, #shell.lines(shell.output("ls %s | grep sock || true", folder)))
      return process.ended(pid)
    end)
    assert.equal(2, sockets)
    local list, most = profiles(), 0
    assert.equal(2, #list)
    for _, p in ipairs(list) do most = math.max(most, p.timesamples) end
    assert.is_true(most > 500, most)
  end)

  it("is cloned without fork handlers: the child has no profile, and reports that", function()
    if asan then return end
    local status, out, err = run("clone", "s.lua")
    assert.same({0, ""}, {status, out})
    assert.matches("^profiler: no profile of process %d+: the process was forked by _Fork or clone, " ..
                   "[^\n]*\n$", err)
    assert.equal(1, #profiles())
  end)

  -- A former bug: when the program closed the descriptor of its profile, all samples since the last
  -- flush were lost.
  it("closes unknown descriptors, and may reuse their numbers: the profile goes on", function()
    for _, what in ipairs{"close", "reused"} do
      shell.output("rm -f %s/out/*", folder)
      assert.same({0, "", ""}, {run(what, "s.lua")})
      local p = profiles()[1]
      assert.is_true(p.complete, p.message)
      assert.is_true(p.samples > 50, p.samples)
    end
  end)

  it("closes unknown descriptors where its file is elsewhere: the profile ends there", function()
    shell.write(folder .. "/moved.lua", [[
      local f = io.open "ran"
      if f then os.rename("out", "gone") else io.open("ran", "w"):close() end
      for i = 1, 2000 do local _ = {i} end]])
    local code, _, err = run("close", "moved.lua")
    shell.output("cd %s; rm ran; mv gone out", folder)
    assert.equal(0, code)
    assert.is_truthy(err:find "the program has closed the file descriptor of the profile")
  end)

  -- A former bug: when the program closed the perf event's descriptor, all further ticks came from
  -- a POSIX timer, whose ticks are more frequent in code that runs long after a wake-up.
  it("closes unknown descriptors: the event of its time samples is opened again", function()
    shell.write(folder .. "/perf.lua", [[
      local e = os.clock() + 0.2
      while os.clock() < e do end
      local p = io.popen "ls -l /proc/$PPID/fd"
      print((select(2, p:read "a":gsub("perf_event", ""))))]])
    local status, out, err = process.run{program = folder .. "/daemon", directory = folder,
      env = environment "alloc=0,time=1000,native=0", "close", "perf.lua"}
    assert.same({0, ""}, {status, err})
    local before, after = out:match "^(%d)\n(%d)\n$"
    assert.equal(before, after, out)
  end)

  -- A former bug: names of C functions were looked up after a state had been closed and its modules
  -- unloaded.
  it("has the C functions of states that are closed soon #plain", function()
    if asan then return end
    local here = shell.lines(shell.output "pwd")[1]
    shell.write(folder .. "/modules.lua",
                ("package.cpath = %q\n"):format(here .. "/build/spec/?.so;" .. package.cpath), [[
      local natives, lfs = require "natives", require "lfs"
      for i = 1, 100 do natives.userdata(100) lfs.currentdir() end]])
    assert.same({0, "", ""}, {process.run{program = folder .. "/daemon", directory = folder,
      env = environment "alloc=64", "modules", "modules.lua"}})
    local names = {}
    for _, f in ipairs(profiles()[1].functions) do names[f.name] = true end
    assert.is_nil(names["[unknown code]"])
    assert.is_truthy(names.native_userdata)
  end)

  it("has the names of C functions where there is no /proc #plain", function()
    if not isroot or asan or not os.execute "unshare -m true 2>/dev/null" then return end
    shell.write(folder .. "/c.lua", "for i = 1, 2000 do local s = ('x'):rep(3000 + i) end")
    local status, out, err = process.run{program = "unshare", directory = folder, env = environment(),
      "-m", "sh", "-c", "mount -t tmpfs none /proc && exec ./daemon close c.lua"}
    assert.same({0, "", ""}, {status, out, err})
    local names = {}
    for _, f in ipairs(profiles()[1].functions) do names[f.name] = true end
    assert.is_truthy(names.str_rep or names["string.rep"])
  end)

  it("is nothing but a line where the module is not there #plain", function()
    shell.output("mkdir -p %s/lib && cp %s/lib/liblua5.4.so.0 %s/lib", folder, prefix, folder)
    shell.output("gcc -I%s/include/lua5.4 spec/support/hosts/daemon.c -o %s/lonely -L%s/lib "
        .. "-l:liblua5.4.so.0 -Wl,-rpath,%s/lib", prefix, folder, folder, folder)
    -- changes the folder in which the library searches the profiler's module last; the new one does not exist
    shell.output("sed -i 's|%s|%s|g' %s/lib/liblua5.4.so.0", prefix, ("x"):rep(#prefix), folder)
    local code, _, err = process.run{program = folder .. "/lonely", directory = folder,
      env = {ASAMP = "1"}, "close", "s.lua"}
    assert.equal(0, code)
    assert.is_truthy(err:find("^profiler: ASAMP is set, but the profiler's module cannot be loaded " ..
                              "%(.-%); nothing is profiled\n$"), err)
  end)

  -- A former bug: "1=0" was accepted without a message, as "1".
  it("is not profiled if ASAMP is malformed, and names the reason", function()
    for wish, reason in pairs{["1=0"] = 'unknown option "1" ', ["=="] = 'unknown option "==" ',
        ["1,1"] = "option '1' is given twice", ["time 100"] = 'unknown option "time 100" ',
        ["alloc=2K=3"] = "option 'alloc' must be a period", ["0"] = 'unknown option "0" ',
        ["rotate"] = "option 'rotate' needs a value; give one, such as rotate=1h"} do
      local code, out, err = process.run{"s.lua", directory = folder, env = {ASAMP = wish}}
      assert.same({0, ""}, {code, out})
      assert.equal("profiler: ASAMP: " .. reason, err:sub(1, #reason + 17), err)
      assert.matches("; nothing is profiled\n$", err)
    end
  end)

  it("is profiled where its Lua came with dlopen and RTLD_LOCAL #plain", function()
    shell.write(folder .. "/local.c", [[
      #include <dlfcn.h>
      typedef struct State State;
      int main (int argc, char **argv) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        State *(*new) (void) = (State *(*) (void))dlsym(library, "luaL_newstate");
        int (*load) (State *, const char *, const char *) =
          (int (*) (State *, const char *, const char *))dlsym(library, "luaL_loadfilex");
        int (*call) (State *, int, int, int, long, void *) =
          (int (*) (State *, int, int, int, long, void *))dlsym(library, "lua_pcallk");
        State *L = new();
        return load(L, argv[2], (void *)0) || call(L, 0, 0, 0, 0, (void *)0);
      }]])
    shell.output("gcc -o %s/local %s/local.c -ldl", folder, folder)
    assert.same({0, "", ""}, {process.run{program = folder .. "/local", directory = folder,
      env = {ASAMP = "alloc=2K,quiet,out=out/l.vmprof"}, prefix .. "/lib/liblua5.4.so.0", "s.lua"}})
    assert.is_true(functions(profiles()[1]).build)
  end)

  describe("goes on", function()
    setup(function()
      for _, name in ipairs{"endings", "rotating"} do
        shell.output("gcc -g%s -I%s/include/lua5.4 spec/support/hosts/%s.c -o %s/%s -L%s/lib "
          .. "-l:liblua5.4.so.0 -Wl,-rpath,%s/lib -lpthread", sanitized, prefix, name, folder, name,
          prefix, prefix)
      end
    end)

    local function host(name, options, ...)
      return process.run{program = folder .. "/" .. name, directory = folder, limit = 300, env = {
        ASAN_OPTIONS = "detect_leaks=0", ASAMP = "quiet,out=out/%p.vmprof," .. options,
        LUA_PATH = "", LUA_CPATH = ""}, ...}
    end
    local function endings(what, options, ...) return host("endings", options, what, ...) end
    local function rotating(what, options) return host("rotating", "listen=x.sock," .. options, what) end

    -- A former bug: a sampling clock continued after the end of the thread that had created the state. The
    -- memory that a time sample needs was freed by then, and the process ended by SIGSEGV.
    it("when the thread that made a state ends, and works meanwhile", function()
      for _ = 1, 3 do
        local status, out, err = endings("thread", "alloc=0,time=500")
        assert.same({0, "fine\n"}, {status, out}, err)
      end
    end)

    -- A former bug: a thread could be cancelled while it waited or read a file inside the profiler. It was
    -- then in the middle of an allocation and held a lock, for which all other threads waited for ever.
    it("when threads are cancelled, which end in their own code and not in the profiler's", function()
      for _, options in ipairs{"alloc=64,time=500", "alloc=1K,ring=1m"} do
        local status, out, err = process.run{program = folder .. "/endings", "cancel",
          directory = folder, limit = 300, env = {ASAN_OPTIONS = "detect_leaks=0:use_sigaltstack=0",
          ASAMP = "quiet,out=out/%p.vmprof," .. options, LUA_PATH = ";;", LUA_CPATH = ";;"}}
        assert.same({0, "fine\n", ""}, {status, out, err})
        local p = profiles()[1]
        assert.same({true, 9, 7}, {p.complete, p.begun, p.marks and #p.marks})
        shell.output("rm %s/out/*", folder)
      end
    end)

    -- A rotation to a new file may become due while the process exits. Then nothing must happen. A former
    -- bug: a flight recorder printed that the profile has ended, and other processes created a file that
    -- was never completed.
    it("with nothing, where a rotation falls due when its profile has ended with the process", function()
      for _, options in ipairs{"rotate=1s", "ring=1m,rotate=1s", "max=1M,rotate=1s"} do
        local status, out, err = endings("exit", "alloc=4K,native=0," .. options)
        assert.same({0, "fine\n", ""}, {status, out, err})
        for _, p in ipairs(profiles()) do assert.is_true(p.complete, p.message) end
        shell.output("rm %s/out/*", folder)
      end
    end)

    -- A former bug: with the option keep, a forked child had its parent's list of files and removed files
    -- that the parent had to keep, even the one that was being written.
    it("with the files that it keeps, in the parent of a fork", function()
      local status, out, err = endings("fork", "alloc=64K,native=0,rotate=1s,keep=2")
      assert.same({0, "fine\n", ""}, {status, out, err})
      local of, pids = {}, {}
      for _, name in ipairs(shell.lines(shell.output("ls %s/out", folder))) do
        local pid = name:match "^%d+"
        pids[#pids + 1] = not of[pid] and tonumber(pid) or nil
        of[pid] = (of[pid] or 0) + 1
      end
      -- the parent's process id is the smaller one
      table.sort(pids)
      assert.equal(2, #pids)
      assert.is_true(of[tostring(pids[1])] >= 2, of[tostring(pids[1])])
    end)

    -- A clock measures one OS thread. A former bug: if other threads ran the states than those that had
    -- created them, the states had no time samples, and there was no message.
    it("with the time of states, whichever threads run them #plain", function()
      for _, options in ipairs{"alloc=0,time=200", "alloc=64K,time=200"} do
        local status, out, err = endings("pool", options)
        assert.same({0, "fine\n"}, {status, out}, err)
        local p = profiles()[1]
        local seconds = p.timesamples / 200
        assert.is_true(seconds > 1.9 and seconds < 2.1, seconds)
        shell.output("rm %s/out/*", folder)
      end
    end)

    -- A former bug: after a chroot, the profiler removed old files by their paths outside of the new root,
    -- so that all of them stayed.
    it("with the files that it keeps, where its root is another folder", function()
      if not isroot then return end
      shell.output("mkdir -p %s/jail", folder)
      local status, out, err =
        endings("chroot", "alloc=64K,native=0,rotate=1s,keep=2", folder .. "/jail")
      assert.same({0, "fine\n", ""}, {status, out, err})
      local n = tonumber(shell.output("ls %s/out | wc -l", folder))
      -- the process may have created a third file just before it ended
      assert.is_true(n == 2 or n == 3, n)
    end)

    -- A former bug: a process that changed its user tried to listen in the socket folder of its initial
    -- user, which it may not write.
    it("and listens as the user that it becomes, where root finds it", function()
      if not isroot then return end
      local err = folder .. "/err"
      local pid = process.start{program = "/bin/sh", "-c", 'exec "$0" dropped 2>"$1"',
        folder .. "/rotating", err, env = {ASAN_OPTIONS = "detect_leaks=0", ASAMP = "alloc=0,listen",
                                         XDG_RUNTIME_DIR = "", LUA_PATH = "", LUA_CPATH = ""}}
      local fields, message
      process.await(function()
        fields, message = client.send(tostring(pid), "stats")
        return fields
      end)
      assert.equal(tonumber(pid), fields and fields.pid, message)
      assert.equal("", process.read(err))
      os.execute("kill -9 " .. pid)
      os.remove(("/tmp/asamp-65534/%d.sock"):format(pid))
    end)

    -- A former bug: if idle states had written nothing to the last eight files, each rotation leaked 8 MiB.
    it("in as much memory with idle states as with busy ones, however often files rotate", function()
      if asan then return end  -- ASan delays the reuse of freed memory
      local status, out, err = rotating("tenants", "alloc=64K,native=0")
      assert.same({0, ""}, {status, err})
      local grown = tonumber(out:match "^(%-?%d+)\nfine\n$")
      assert.is_true(grown ~= nil and grown < 32 << 10, out)
    end)

    -- A former bug: a state had read the pointer to the current profile, another thread freed the profile
    -- at a rotation, and the state reported to the freed memory.
    it("while states come and go on many threads, and files rotate", function()
      assert.same({0, "fine\n", ""}, {rotating("churn", "alloc=4K,native=0,time=100")})
    end)

    -- A former bug: after a rotation, the bytes that a state allocated until its next sample or collection
    -- were in no file if it was closed before that.
    it("with all of a state that is closed before a sample or collection, when its file has ended", function()
      local status, out, err = rotating("last", "alloc=16M,native=0")
      assert.same({0, ""}, {status, err})
      local list = profiles()
      assert.equal(2, #list)
      local all = 0
      for _, p in ipairs(list) do
        assert.is_true(p.complete)
        for _, s in ipairs(p.states) do all = all + (s.allocated or 0) end
      end
      assert.is_true(all >= tonumber(out:match "^%d+"), all .. " " .. out)
    end)

    -- A former bug: a state that was closed while its file ended was reported twice, and its bytes since
    -- the last sample, its marks and a collection were in no file.
    it("with all that states do in the one file or the next, where files rotate", function()
      -- the other builds check the same faster
      if asan then return end
      local function sums(alone)
        shell.output("rm -f %s/out/*", folder)
        local status, out, err = process.run{program = folder .. "/rotating", "sums", directory = folder,
          limit = 300, env = {LUA_PATH = ";;", LUA_CPATH = ";;", ALONE = alone,
            ASAMP = "quiet,out=out/%p.vmprof,listen=x.sock,alloc=4K,native=0,fixed"}}
        assert.same({0, ""}, {status, err})
        local all = {files = 0, allocated = 0, bytes = 0, minors = 0, marks = 0, begun = {}}
        for _, p in ipairs(profiles()) do
          assert.is_true(p.complete)
          all.files = all.files + 1
          all.minors = all.minors + p.minors
          for _, s in ipairs(p.states) do
            all.allocated = all.allocated + (s.allocated or 0)
            all.bytes = all.bytes + s.bytes
          end
          for _, m in ipairs(p.marknames) do all.marks = all.marks + m.count end
        end
        assert.equal(tonumber(out:match "^%d+"), all.marks)
        return all
      end
      local whole, parts = sums "1", sums()
      assert.equal(1, whole.files)
      assert.is_true(parts.files > 20, parts.files)
      for name, one in pairs{allocated = 0.001, minors = 0.02, bytes = 0.002} do
        local ratio = parts[name] / whole[name]
        assert.is_true(ratio > 1 - one and ratio < 1 + one, ("%s %.5f"):format(name, ratio))
      end
    end)

    -- A former bug: the program had closed the control thread's descriptors and reused their numbers for
    -- its own files. The control thread still used these numbers and closed the program's files.
    it("when a daemon has closed unknown descriptors, and listens again", function()
      local status, out, err = rotating("closed", "alloc=64K")
      assert.same({0, "0\n0\nfine\n"}, {status, out}, err)
    end)
  end)
end)

describe("asamp run of a program #plain", function()
  it("says when its Lua cannot be ours, and runs it", function()
    local folder = shell.folder()
    shell.write(folder .. "/s.c", 'int puts(const char *s); int main (void) { puts("ran"); return 5; }')
    shell.output("cd %s && gcc -static -o fixed s.c && gcc -o none s.c && printf 'int x;' >l.c && "
        .. "gcc -shared -Wl,-soname,liblua5.3.so.0 -o liblua5.3.so.0 l.c && "
        .. "gcc -o other s.c -Wl,--no-as-needed -L. -l:liblua5.3.so.0 -Wl,-rpath,'$ORIGIN'", folder)
    for name, says in pairs{
        fixed = "the Lua states of './fixed' cannot be profiled: the program is linked statically; link "
          .. "it to Asamp's liblua5.4.so.0",
        other = "the Lua states of './other' cannot be profiled: the program is linked to "
          .. "liblua5.3.so.0; link it to Asamp's liblua5.4.so.0",
        none = "no profile: './none' and its child processes created no Lua state with Asamp's "
          .. "liblua5.4.so.0. Check with ldd which Lua they use, and that the children inherit the "
          .. "environment. A process that cannot be profiled writes the reason to its log"} do
      -- a former bug: the option --quiet suppressed this message
      for _, option in ipairs{"--alloc=1M", "--quiet"} do
        local code, out, err = process.run{program = prefix .. "/bin/asamp", directory = folder,
                                           "run", option, "--", "./" .. name}
        assert.same({5, "ran\n", "asamp run: " .. says .. "\n"}, {code, out, err}, option)
      end
    end
    -- by path of the profile: true if a file exists there after the run; no message is expected
    for path, isthere in pairs{["p.vmprof"] = true, ["/dev/null"] = false} do
      local words = {program = prefix .. "/bin/asamp", directory = folder,
                     "run", "--quiet", "-o", path, "--", prefix .. "/bin/lua", "-e", ""}
      assert.same({0, "", ""}, {process.run(words)}, path)
      assert.equal(isthere, process.read(folder .. "/" .. path) ~= nil)
    end
    shell.remove(folder)
  end)

  -- A former bug: the message was "no state of liblua5.4.so.0", which does not help the user.
  it("reports that an interpreter has a Lua of its own, and how to run a script", function()
    local folder = shell.folder()
    shell.write(folder .. "/l.c", [[
      #include "lauxlib.h"
      int main (void) { lua_close(luaL_newstate()); return 0; }]])
    shell.output("cd %s && gcc -I'%s/plain/include/lua5.4' -o own l.c '%s/plain/lib/liblua.a' -lm -ldl",
      folder, prefix, prefix)
    assert.same({1, "", "asamp run: no profile: './own' contains its own Lua, which Asamp's library "
      .. "cannot replace; link the program to Asamp's library, or run a script with asamp run SCRIPT\n"},
      {process.run{program = prefix .. "/bin/asamp", directory = folder, "run", "--", "./own"}})
    shell.remove(folder)
  end)

  -- A former bug: the command listed a profile of a run two seconds earlier, and a copy of it, as profiles of
  -- this run. It listed one of them also as "older than the run".
  it("names the profiles of this run, each once", function()
    local folder = shell.folder()
    shell.write(folder .. "/s.lua", "for i = 1, 1e5 * (tonumber(arg[1]) or 1) do local _ = {i} end")
    local function run(...)
      return select(3, process.run{program = prefix .. "/bin/asamp", directory = folder,
        "run", "--alloc", "16K", "-o", "k.%p.vmprof", "--", ...})
    end
    local lua = prefix .. "/bin/lua"
    assert.matches("\nasamp report k%.%d+%.vmprof shows more%.\n$", run(lua, "s.lua"))
    shell.output("cd %s && cp k.*.vmprof k.1.vmprof", folder)
    assert.matches("^asamp run: no profile: '/bin/true' and its child processes [^\n]+\n$", run "/bin/true")
    local err = run("/bin/sh", "-c", ('"%s" s.lua; "%s" s.lua 9; true'):format(lua, lua))
    local first, second =
      err:match("\nasamp report (%S+) shows more%.\n" ..
                "asamp run: a child process has also written a profile, '(%S+)'\n$")
    assert.is_true(first ~= nil and first ~= second and shell.size(folder .. "/" .. first) >
                   shell.size(folder .. "/" .. second), err)
    shell.remove(folder)
  end)

  -- The utility timeout(1) sends its signal first to 'asamp run', which passes it on to the program, and then
  -- to the whole process group. A former bug: 'asamp run' started find(1) to list the profiles. If the
  -- program had ended quickly, the second signal ended find, and 'asamp run' reported "no profile" (2% of the
  -- runs of a server). In this spec, a shell outside of the group sends signals to the group until no process
  -- of the group is left.
  it("finds its profiles under signals to its whole group", function()
    local folder = shell.folder()
    shell.write(folder .. "/s.lua", "for _ = 1, 1e5 do local _ = {} end")
    for n = 1, 10 do
      local signal = n % 2 == 0 and "TERM" or "HUP"
      local status, out, err = process.run{program = "/bin/bash", directory = folder, "-c", [[
        rm -f ready
        setsid "$0" run --quiet --alloc 16K -o k.%p.vmprof -- /bin/sh -c \
          'trap "exit 7" '$2'; "$0" s.lua; : >ready; sleep 20 & wait' "$1" &
        until test -e ready; do sleep .05; done
        while kill -$2 -- -$! 2>/dev/null; do :; done
        wait $!]], prefix .. "/bin/asamp", prefix .. "/bin/lua", signal}
      assert.same({7, "", ""}, {status, out, err}, signal)
    end
    shell.remove(folder)
  end)

  -- A former bug: a profile was not found if its file system's clock was slow, so that the file
  -- seemed older than the run.
  it("finds its profiles where the file system's clock is slow", function()
    local folder = shell.folder()
    shell.write(folder .. "/s.lua", "for _ = 1, 1e5 do local _ = {} end")
    -- the second run replaces the profile of the first
    for _ = 1, 2 do
      local status, _, err = process.run{program = prefix .. "/bin/asamp", directory = folder, "run",
        "--alloc", "16K", "--out", "k.vmprof", "--", "/bin/sh", "-c",
        ('"%s/bin/lua" s.lua; touch -d "1 hour ago" k.vmprof'):format(prefix)}
      assert.equal(0, status)
      assert.matches("\nasamp report k%.vmprof shows more%.\n$", err)
    end
    assert.equal("k.vmprof\n", shell.output("cd %s && ls *.vmprof", folder))
    shell.remove(folder)
  end)
end)

-- A former bug: the messages gave a limit of descriptors, memory or processes as the reason.
describe("a process for which a filter refuses a system call", function()
  local folder
  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/s.lua", "for i = 1, 10000 do local _ = {i} end")
  end)
  teardown(function() shell.remove(folder) end)

  -- Runs s.lua with the options of ASAMP, where 'call' returns EPERM. Returns its messages, or nil if the
  -- system has no filters.
  local function messages(call, options)
    local status, out, err = process.run{code = [[
      if not require "filtered".filter("errno", ...) then os.exit(77) end
      os.execute(select(2, ...))]], call, ("cd %s && LUA_PATH= LUA_CPATH= ASAMP=%s %s s.lua"):format(folder,
        options, process.interpreter())}
    if status == 77 then return nil end
    assert.same({0, ""}, {status, out}, err)
    return err
  end

  it("names the refused socket, and what to do", function()
    local start = "profiler: cannot listen at 'x.sock': "
    local err = messages("socket", "alloc=0,listen=x.sock")
    if not err then return end
    assert.equal(start .. "the system refuses Unix sockets to this process: Operation not permitted; " ..
      "permit them in its filter (seccomp, RestrictAddressFamilies), or leave the option 'listen' out\n", err)
    err = messages("bind", "alloc=0,listen=x.sock")
    assert.equal(start .. "Operation not permitted; give another path, or leave the option 'listen' out\n",
                 err)
  end)

  -- Former bugs: the messages were "cannot write profile 'a.vmprof': Operation not permitted" and
  -- "timer_create: Invalid argument".
  it("names the refused getcwd or gettid, and what to do", function()
    local err = messages("getcwd", "alloc=1K,out=a.vmprof")
    if not err then return end
    assert.equal("profiler: cannot write profile 'a.vmprof': Operation not permitted; permit the system " ..
      "call getcwd, or set out= to a path that starts with /; nothing is profiled\n", err)
    assert.matches("^profiler: %d+ samples, [^\n]+\n$",
                   messages("getcwd", ("alloc=1K,out=%s/g.%%p.vmprof"):format(folder)))
    for _, exact in ipairs{"", ",exact"} do
      err = messages("gettid", "alloc=1K,time=100,out=t.%p.vmprof" .. exact)
      assert.matches("^profiler: cannot sample time: gettid: Operation not permitted; permit this system " ..
        "call, or set 'time' to 0\nprofiler: %d+ samples, [^\n]+\n",
        err)  -- without "$": LeakSanitizer adds lines if gettid is refused
    end
  end)

  it("is profiled without fcntl", function()
    local err = messages("fcntl", "alloc=1K,out=a.%p.vmprof")
    if err then assert.matches("^profiler: %d+ samples, [^\n]+\n$", err) end
  end)

  it("names the refused thread", function()
    local status, out = process.run{code = [[
      local profiler = require "profiler"
      if not require "filtered".filter("errno", "clone3") then os.exit(77) end
      print((select(2, profiler.enable{out = ...})))]], folder .. "/b.vmprof"}
    if status == 77 then return end
    assert.matches("b.vmprof': cannot start the thread that writes the profile: Operation not permitted; " ..
                   "a filter of system calls %(seccomp%) forbids clone3: permit clone3\n$", out)
  end)
end)
