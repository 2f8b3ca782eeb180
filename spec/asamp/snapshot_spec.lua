-- SPDX-License-Identifier: MIT
--
-- Heap snapshots. A snapshot must contain exactly the objects that a full collection keeps, with their
-- exact bytes, and its references must equal those of a model. Taking a snapshot must change nothing in the
-- state.

local core = require "profiler.core"
local fewer = require "spec.support.fewer"
local graphs = require "spec.support.graphs"
local heap = require "profiler.heap"
local holders = require "asamp.sums.holders"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

local GRAPHS = tonumber(os.getenv "ASAMP_GRAPHS") or 300
local REPLACE_ALL = 2

local function take(options)
  local path = os.tmpname()
  local t = {path = path, replace = REPLACE_ALL, wait = true, inprocess = false, command = "spec"}
  for k, v in pairs(options or {}) do t[k] = v end
  collectgarbage()
  collectgarbage()
  return assert(core.snapshot(t))
end

local function read(options)
  local s = take(options)
  local h = assert(heap.open(s.path))
  os.remove(s.path)
  return h, s
end

-- Runs code in a separate process. Returns its output.
local function run(code)
  local status, out, err = process.run{code = [[
    local core, heap = require "profiler.core", require "profiler.heap"
    local holders = require "asamp.sums.holders"
    local path = os.tmpname()
    local wish = {path = path, replace = 2, wait = true, inprocess = false, command = "x"}
    local function take()
      collectgarbage() collectgarbage()
      assert(core.snapshot(wish))
    end
    local function open()
      local h = assert(heap.open(path))
      os.remove(path)
      return h
    end
  ]] .. code}
  assert.same({0, ""}, {status, err})
  return out
end

describe("a snapshot of the heap", function()
  -- A former bug: if the process that writes a snapshot was killed, an incomplete file remained.
  it("leaves no file if its process is killed, and says so", function()
    if process.interpreter():find "/asan/" then return end
    local path = os.tmpname()
    local library = package.searchpath("refusing", package.cpath)
    local status, out, err = process.run{path, env = {LD_PRELOAD = library}, code = [[
      require "refusing".mortal()
      print(require "profiler.core".snapshot{path = ..., replace = 2, wait = true, inprocess = false})]]}
    assert.same({0, ""}, {status, err})
    assert.matches("^nil\tcannot write the snapshot '" .. path ..
                   "': the process that writes the snapshot failed: ", out)
    assert.is_nil(process.read(path))
  end)

  -- Former bugs: if the process that writes a snapshot was killed, the previous file at its path was
  -- destroyed, an incomplete file remained, and there was no message.
  it("keeps the file at its path until it is complete, and reports a killed process later", function()
    if process.interpreter():find "/asan/" then return end
    local folder = os.tmpname()
    os.remove(folder)
    shell.output("mkdir -m 700 '%s' && ln -s old.heap '%s/link.heap'", folder, folder)
    local library = package.searchpath("refusing", package.cpath)
    local function try(code)
      local status, out, err = process.run{folder, env = {LD_PRELOAD = library}, code = [[
        local profiler, refusing, host = require "profiler", require "refusing", require "asamp.host"
        local folder = ...
        local function take(path, overwrite)
          return assert(profiler.snapshot(folder .. path, {overwrite = overwrite})).path
        end
        -- Waits until all children are gone.
        local function await()
          repeat
            host.pause(10)
            local f = io.popen(("for f in %s/*; do flock -n $f true || echo locked; done"):format(folder))
            local text = f:read "a"
            f:close()
          until not text:find "locked"
          io.stderr:write("then\n")
        end
      ]] .. code}
      assert.same({0, ""}, {status, out}, err)
      return (err:gsub(folder, ""))
    end
    local whole = folder .. "/old.heap"
    assert.equal("", try[[assert(profiler.snapshot(folder .. "/old.heap", {wait = true}))]])
    shell.output("chmod 640 '%s'", whole)
    local bytes = process.read(whole)
    local KILLED = "profiler: cannot write the snapshot '%s': " ..
                   "the process that writes the snapshot failed: Killed\n"
    -- the message about the killed process is printed at the next snapshot, and at the end of the process
    assert.equal("then\n" .. KILLED:format "/link.heap" .. "then\n" .. KILLED:format "/new.heap", try[[
      refusing.mortal()
      take("/link.heap", true)
      await()
      take "/new.heap"
      await()]])
    -- the message about the killed process is printed at the end of the session
    assert.equal("then\n" .. KILLED:format "/old.heap" .. "then\n", try[[
      assert(profiler.enable{alloc = 1000, out = "/dev/null"})
      refusing.mortal()
      take("/old.heap", true)
      await()
      profiler.disable()
      io.stderr:write("then\n")]])
    assert.equal(bytes, process.read(whole))
    -- a complete snapshot replaces the file to which a link refers, and keeps the mode of that file
    assert.equal("", try[[
      assert(profiler.snapshot(folder .. "/link.heap", {wait = true, overwrite = true, fork = false}))]])
    assert.not_equal(bytes, process.read(whole))
    assert.equal("640 regular file\nold.heap\nlink.heap\nold.heap\n", shell.output(
      "cd '%s' && stat -c '%%a %%F' old.heap && readlink link.heap && ls", folder))
    assert(heap.open(whole)):close()
    shell.output("rm -r '%s'", folder)
  end)

  -- A former bug: if the file size limit was reached, the message was "writing failed", without a reason.
  it("reports a limit of file sizes, and removes its files", function()
    local folder = shell.folder()
    shell.write(folder .. "/a.lua", [[
      local keep = {}
      for i = 1, 100000 do keep[i] = {} end
      assert(require "profiler".snapshot("a.heap"))]])
    process.start{program = "/bin/sh", directory = folder,
      "-c", ("ulimit -f 1; exec %s a.lua 2>err"):format(process.interpreter())}
    process.await(function() return (process.read(folder .. "/err") or ""):find "\n" end)
    assert.equal("profiler: cannot write the snapshot 'a.heap': the file would exceed the limit of file " ..
                 "sizes (ulimit -f)\n", process.read(folder .. "/err"))
    assert.equal("a.lua\nerr\n", shell.output("ls %s", folder))
    shell.remove(folder)
  end)

  -- A former bug: SIGXFSZ and SIGPIPE ended the program.
  it("whose writes fail in the program's own process returns the reason", function()
    local folder = shell.folder()
    for _, case in ipairs{{"/a.heap", "File too large", ""},
                          {"/pipe", "Broken pipe", "mkfifo pipe; head -c 10 pipe >/dev/null &"}} do
      local status, out, err = process.run{program = "/bin/sh", directory = folder, "-c",
        ("%s ulimit -f 1; exec %s \"$0\" .%s"):format(case[3], process.interpreter(), case[1]),
        process.file[[
          local keep = {}
          for i = 1, 200000 do keep[i] = {tostring(i)} end
          print((select(2, require "profiler".snapshot(..., {fork = false}))))]]}
      local expected = ("cannot write the snapshot '.%s': %s\n"):format(case[1], case[2])
      assert.same({0, expected, ""}, {status, out, err})
    end
    shell.remove(folder)
  end)

  -- A former bug: the stack of a suspended coroutine had two edges to each open upvalue.
  it("has one reference from a stack to each open upvalue", function()
    -- Returns a list of a suspended coroutine with n open upvalues and a closure that refers to these
    -- upvalues.
    local function opened(n)
      local names, values = {}, {}
      for i = 1, n do names[i], values[i] = "opened" .. i, i end
      local list = table.concat(names, ",")
      local co = coroutine.wrap(load(("local %s = %s; coroutine.yield(function() return %s end)"):format(
        list, table.concat(values, ","), list), "=c"))
      return {co, co()}
    end
    local function references(n)
      local kept = opened(n)
      return read():info().references, kept
    end
    references(10)
    -- four references for each additional upvalue: its name as a local variable and as an upvalue, and the
    -- references of the stack and of the closure to it
    assert.equal(4 * 10, references(20) - references(10))
  end)

  local KINDS = [[
    local kept = {("x"):rep(20000), ("y"):rep(50), 1.5, {}, {{}, {a = 1}}, print,
      io.stdout, function() return wish end, coroutine.create(function(...) return ... end)}
    for i = 1, 300 do kept[#kept + 1] = setmetatable({i, n = tostring(i)}, {__gc = print and nil}) end
    local big = {} for i = 1, 20000 do big[i] = i end
    local co = coroutine.wrap(function(...) local a = {...} coroutine.yield() return a end)
    co(1, 2, 3)
    local weak = setmetatable({}, {__mode = "k"})
    local last = kept
    for i = 1, 50 do local k = {} weak[k] = {last} last = k end
    local values = setmetatable({{}, "a string that is " .. #kept .. " long", {}}, {__mode = "v"})
    local both = setmetatable({[{}] = {}, ["k" .. #kept] = "v" .. #kept}, {__mode = "kv"})
    load("local a = ... return function() return a end")(1)
  ]]

  it("has objects that add up to the bytes in use, to the byte", function()
    local out = run(KINDS .. ([[
      local graphs, all = require "spec.support.graphs", {}
      math.randomseed(22)
      for i = 1, %d do all[i] = graphs.make(2 + math.random(12), math.random) end
    ]]):format(GRAPHS) .. [[
      take()
      take()
      local i = open():info()
      print(i.inuse - i.bytes, all, kept, big, co, weak, last, values, both)
    ]])
    assert.equal("0", out:match "^%-?%d+")
  end)

  it("says the same when the program writes it itself", function()
    local out = run(KINDS .. [[
      take()
      local other = os.tmpname()
      local here = {path = other, replace = 2, wait = true, inprocess = true, command = "x"}
      take()
      assert(core.snapshot(here))
      local a, b = open():info(), heap.open(other):info()
      os.remove(other)
      print(a.bytes == b.bytes, a.objects == b.objects, kept, big, co, weak, last, values, both)
    ]])
    assert.equal("true\ttrue", out:match "^%a+\t%a+")
  end)

  it("changes nothing: no count, no weak table, no finalizer, no invariant", function()
    for _, inprocess in ipairs{false, true} do
      local out = run(([[
        wish.inprocess = %s
        local weak = setmetatable({}, {__mode = "kv"})
        local order = {}
        for i = 1, 5 do
          setmetatable({}, {__gc = function() order[#order + 1] = i end})
        end
        core.snapshot(wish)  -- creates the strings that each snapshot needs
        collectgarbage "stop"
        weak[1] = {}
        weak[{}] = 1
        local a, m, n = core.allocated(), core.stats().minor, core.stats().major
        core.snapshot(wish)
        local b = core.allocated()
        local count = 0
        for _ in pairs(weak) do count = count + 1 end
        print(count, #order, core.stats().minor - m, core.stats().major - n, core.check())
        print(b - a < 2000)
        collectgarbage "restart"
        collectgarbage()
        print(table.concat(order, " "))
        os.remove(path)
      ]]):format(tostring(inprocess)))
      local count, dead, rest = out:match "^(%d+)\t(%d+)\t(.*)$"
      assert.equal("2", count)
      assert.equal("0", dead)
      assert.equal("0\t0\ttrue\ntrue\n5 4 3 2 1\n", rest)
    end
  end)

  it("is written by the program itself where no process can be made, which is reported", function()
    local path = os.tmpname()
    os.remove(path)
    local script = process.file(([[
      local core, heap = require "profiler.core", require "profiler.heap"
      local kept = {}
      for i = 1, 1000 do kept[i] = {i} end
      collectgarbage()
      local s = assert(core.snapshot{path = %q, replace = 2, wait = true})
      print(s.forked, s.refused ~= nil, s.refused)
      print(heap.open(s.path):info().objects > 1000, kept)
    ]]):format(path))
    os.execute(("chmod 644 '%s'"):format(script))
    -- root can exceed a limit on processes, so that root runs this as another user
    local root = os.execute "test $(id -u) = 0"
    local words = {"prlimit", "--nproc=1", process.interpreter(), script}
    -- the user may read all files, because the source tree may be in root's own folder
    local user = {"setpriv", "--reuid", "65533", "--clear-groups", "--inh-caps", "+dac_read_search",
                  "--ambient-caps", "+dac_read_search"}
    words = root and table.move(words, 1, #words, #user + 1, user) or words
    words.program = table.remove(words, 1)
    -- leak detection would need another process
    words.env = {ASAN_OPTIONS = "detect_leaks=0"}
    local status, out, err = process.run(words)
    assert.same({0, ""}, {status, err})
    assert.is_truthy(out:find "^false\ttrue\t[^\n]+\ntrue\t", out)
  end)

  it("agrees with a model for random graphs: the bytes that each object retains, and real paths",
     function()
    local made, nodes = {}, 0
    local random = math.random
    math.randomseed(20)
    for i = 1, GRAPHS do
      made[i] = graphs.make(2 + random(12), random)
      nodes = nodes + #made[i]
    end
    local roots = {}
    for i, graph in ipairs(made) do
      roots[i] = graph[1].object
      for _, node in ipairs(graph) do node.object, node.kept = nil, nil end
    end
    _G.asamp_spec_roots = roots  -- luacheck: ignore 112
    local h = read()
    local sizes = {}
    for _, graph in ipairs(made) do
      for _, node in ipairs(graph) do
        local o = h:path(node.address)
        sizes[node] = o.retained
        node.found = o
      end
    end
    -- The bytes that a node of the model retains are its own bytes (vectors, upvalue, code, stack) and
    -- those of the nodes that it retains. The difference must be near the snapshot's own size of the node.
    local own = {}
    for _, graph in ipairs(made) do
      local order = {}
      for i, node in ipairs(graph) do
        order[i] = {node = node, set = graphs.retained(graph, node)}
      end
      table.sort(order, function(a, b) return #a.set < #b.set end)
      for _, x in ipairs(order) do
        local others = 0
        for _, node in ipairs(x.set) do
          if node ~= x.node then others = others + own[node] end
        end
        own[x.node] = sizes[x.node] - others
        local rest = own[x.node] - x.node.found.self
        -- upper limit of the difference: a closure's upvalue; the table that a coroutine keeps, with its
        -- slots, and its function; the metatable with its field; names of fields
        assert.is_true(rest >= 0 and rest < 2000, ("%s %d"):format(x.node.kind, rest))
        if x.node.kind == "function" then assert.equal(32, rest) end
      end
    end
    _G.asamp_spec_roots = nil  -- luacheck: ignore 112
    assert.is_true(nodes > GRAPHS)
  end)

  it("reports paths that the debug library can walk", function()
    local random = math.random
    math.randomseed(21)
    local roots, objects = {}, {}
    for i = 1, 60 do
      local graph = graphs.make(2 + random(12), random)
      roots[i] = graph[1].object
      for _, node in ipairs(graph) do
        objects[#objects + 1] = {address = node.address, kind = node.kind}
      end
    end
    _G.asamp_spec_roots = roots  -- luacheck: ignore 112
    local h = read()
    local address = {}
    for _, o in ipairs(objects) do address[o.address] = o end
    local seen = {}
    -- finds all objects and their addresses, starting at the roots
    local function find(o)
      local t = type(o)
      if seen[o] or (t ~= "table" and t ~= "function" and t ~= "thread") then return end
      seen[o] = true
      local a = math.tointeger(tonumber((("%p"):format(o))))
      if address[a] then address[a].object = o end
      if t == "table" then
        for k, v in next, o do find(k) find(v) end
      elseif t == "function" then
        for i = 1, 50 do
          local name, value = debug.getupvalue(o, i)
          if not name then break end
          if value ~= nil then find(value) end
        end
      else
        local _, kept = debug.getlocal(o, 1, 1)
        if kept then find(kept) end
      end
    end
    find(roots)
    local walked = 0
    for _, o in ipairs(objects) do
      if o.object then
        local found = h:path(o.address)
        assert.is_true(graphs.leads(found.path, o.object), holders.text(found.path))
        walked = walked + 1
      end
    end
    assert.is_true(walked > #objects / 2)
    _G.asamp_spec_roots = nil  -- luacheck: ignore 112
  end)

  it("names the holders that a person would name", function()
    local out = run [[
      local listeners = {}
      function on(name, f) listeners[name] = f end
      do
        local s = setmetatable({}, {__name = "A"})
        on("close", function() return s end)
      end
      package.loaded["app"] = {sessions = {setmetatable({}, {__name = "B"})}}
      local co = coroutine.wrap(function()
        local queue = {setmetatable({}, {__name = "C"})}
        coroutine.yield()
        return queue
      end)
      co()
      debug.getregistry()[17] = {setmetatable({}, {__name = "D"})}
      cache = {}
      for i = 1, 3 do
        local k = setmetatable({}, {__name = "E"})
        cache[k] = {owner = k}
      end
      string.hidden = setmetatable({}, {__name = "F"})
      debug.setuservalue(io.stdout, setmetatable({}, {__name = "G"}), 1)
      local here = setmetatable({}, {__name = "H"})
      take()
      local h = open()
      for c in ("ABCDEFH"):gmatch "." do
        print(c, holders.text(h:objects{class = c, n = 1}[1].path))
      end
      return here, co
    ]]
    local function is(class, pattern)
      local text = out:match(class .. "\t([^\n]*)\n")
      assert.is_truthy(text:find(pattern), text)
    end
    is("A", '^_G → upvalue "listeners" of on %(.-:%d+%) → %["close"%] → upvalue "s" of [^ ]*:%d+$')
    is("B", '^package%.loaded%["app"%] → %["sessions"%] → %[1%]$')
    is("C", 'local "co" of main chunk %b() → .* → local "queue" of [^ ]*:%d+, coroutine → %[1%]$')
    is("D", '^reference of luaL_ref → %[1%]$')
    is("E", '^_G → %["cache"%] → key$')
    is("F", '%["hidden"%]$')
    is("H", '^local "here" of main chunk %b()$')
  end)

  -- A former bug: the heap walk made repeated passes over all entries of weak tables whose keys were not
  -- reached yet. Slots are not in the order of the chain, so that each pass found only a few new keys. The
  -- walk took minutes, also at the end of each session. A collection took a fraction of a second.
  it("follows a list whose links are in weak tables from key to key", function()
    local status, out, err = process.run{limit = 300, code = "local n = " .. fewer(400000, 100000) .. [=[

      local profiler, heap = require "profiler", require "profiler.heap"
      local path = os.tmpname()
      links = setmetatable({}, {__mode = "k"})
      local keys = {}
      for i = 0, n do keys[i] = {} end
      for i = 1, n do  -- sometimes the next one is in a weak table that is reached at that time
        links[keys[i - 1]] = i % 1000 > 0 and keys[i] or setmetatable({keys[i]}, {__mode = "k"})
      end
      first = keys[0]
      links[{}] = {}  -- a key that no other object refers to
      -- One allocation, which is sampled for certain. string.rep left its buffer, which has a
      -- finalizer, and the names of that: once in some 300 runs one of those was sampled, too.
      local half = ("x"):rep(1 << 19)
      assert(profiler.alloc_start(64, {out = "/dev/null"}))
      links[keys[n]] = half .. half
      keys = nil
      collectgarbage()
      print(profiler.holders())
      profiler.disable()
      assert(profiler.snapshot(path, {fork = false, overwrite = true}))
      local h = assert(heap.open(path))
      os.remove(path)
      local info = h:info()
      print(info.objects > n, info.inuse - info.bytes < 4096)
      local last = h:objects{class = "string", n = 1}[1]
      print(last.self > 1 << 20, last.path[#last.path].text)
    ]=]}
    assert.same({0, ""}, {status, err})
    assert.matches("^1\ntrue\ttrue\ntrue\t%[table 0x%x+%] %(weak key%)\n$", out)
  end)

  it("takes the next name where a snapshot is, and leaves other files alone", function()
    local path = os.tmpname()
    os.remove(path)
    path = path .. ".heap"
    local a = assert(core.snapshot{path = path, wait = true})
    local b = assert(core.snapshot{path = path, wait = true})
    assert.equal(path, a.path)
    assert.equal((path:gsub("%.heap$", ".2.heap")), b.path)
    os.remove(a.path)
    os.remove(b.path)
    local other = process.file "print(1)"
    local ok, message = core.snapshot{path = other, wait = true}
    assert.is_nil(ok)
    assert.is_truthy(message:find(other, 1, true))
    ok, message = core.snapshot{path = "/nowhere/x.heap"}
    assert.is_nil(ok)
    assert.equal("cannot write the snapshot '/nowhere/x.heap': No such file or directory", message)
  end)

  it("is no child that the program waits for", function()
    local path = os.tmpname()
    local s = assert(core.snapshot{path = path, replace = REPLACE_ALL})
    assert.is_true(s.forked)
    local file = io.popen("exit 3")
    assert.equal(3, select(3, file:close()))
  end)

  it("can be read whatever the period of the session", function()
    for _, period in ipairs{64, (1 << 53) - 1, 1 << 53, 1 << 62} do
      local out = run(([[
        local profiler, file = require "profiler", os.tmpname()
        assert(profiler.enable{alloc = %d, out = file, overwrite = true})
        take()
        profiler.disable()
        os.remove(file)
        print(open():info().period)
      ]]):format(period))
      assert.equal(period .. "\n", out)
    end
  end)

  -- A former bug: for each Lua value on a coroutine's stack, the search of holders visited all references
  -- of the coroutine.
  it("has a tree of holders whose time is linear in the values on a stack", function()
    local function time(n)
      local out = run(([[
        local t = {}
        for i = 1, %d do t[i] = {i} end
        local co = coroutine.wrap(function(...)
          local list = {...}
          coroutine.yield()
          return list, ...
        end)
        co(table.unpack(t))
        t = nil
        take()
        local h = open()
        local start = os.clock()
        local rows = h:tree{least = 1000}
        print(os.clock() - start)
        for _, row in ipairs(rows) do
          if row.count == %d and not row.together then print(row.text) end
        end
      ]]):format(n, n))
      assert.matches("\nstack of ", out)
      return tonumber(out:match "^%S+")
    end
    -- there are 32 times as many values; quadratic time would be 1,024 times as long
    local few, many = time(2500), time(80000)
    assert.is_true(many < 150 * math.max(few, 0.0005), few .. " " .. many)
  end)

  -- A former bug: the reader refused a sample of 2^56 bytes, and the sum of 128 smaller ones was negative.
  it("has samples of up to 2^62 bytes, all together", function()
    local path = os.tmpname()
    local function number(n)
      local bytes = ""
      repeat
        local rest = n >> 7
        bytes, n = bytes .. string.char(n & 127 | (rest > 0 and 128 or 0)), rest
      until n == 0
      return bytes
    end
    -- writes a snapshot of one table, to which the state refers, with samples of these sizes of the table
    local function try(...)
      local text = "ASAMPHEAP 3\n\2\0\x40" .. number(1024) .. "\0\x10" .. number(1024) .. number(56) ..
                   "\4\1f\1x\0\0"
      for i, bytes in ipairs{...} do
        text = text .. "\5" .. number(i == 1 and 1024 or 0) .. "\1\0" .. number(bytes)
      end
      shell.write(path, text .. "\3\1\1" .. number(56))
      return heap.open(path)
    end
    assert.equal(1 << 62, assert(try(1 << 62)):sites{}[1].bytes)
    assert.equal(1 << 62, assert(try(1 << 61, 1 << 61)):sites{}[1].bytes)
    for _, list in ipairs{{1 << 62, 1}, {1 << 61, 1 << 61, 1}, {-1}, {1 << 63}} do
      local h, message = try(table.unpack(list))
      assert.is_nil(h)
      assert.matches("the samples represent more than 2^62 bytes", message, 1, true)
    end
    os.remove(path)
  end)

  it("that is hostile or cut gives an error, never a crash", function()
    local s = take()
    local whole = shell.output("gzip -dc '%s'", s.path)
    os.remove(s.path)
    local path = os.tmpname()
    local function try(bytes)
      shell.write(path, bytes)
      return heap.open(path)
    end
    assert(try(whole)):close()
    math.randomseed(7)
    for i = 1, 60 do  -- cuts the file at a random byte
      local h, message = try(whole:sub(1, math.random(#whole - 1)))
      assert.is_nil(h)
      assert.is_truthy(message:find("cannot read the snapshot", 1, true), message)
      assert.is_true(i > 0)
    end
    for _ = 1, 60 do  -- damages some bytes of the file
      local bytes = whole
      for _ = 1, math.random(3) do
        local at = math.random(13, #bytes)
        bytes = bytes:sub(1, at - 1) .. string.char(math.random(0, 255)) .. bytes:sub(at + 1)
      end
      local h, message = try(bytes)
      if h then
        h:classes()
        h:tree{}
        h:close()
      else
        assert.is_truthy(message:find("cannot read the snapshot", 1, true), message)
      end
    end
    local h, message = try("hello")
    assert.is_nil(h)
    assert.is_truthy(message:find("the file is not a heap snapshot", 1, true), message)
    h, message = try("")
    assert.is_nil(h)
    assert.is_truthy(message:find("the file is not a heap snapshot but empty: its writer may have been " ..
                                  "killed",
                                  1, true), message)
  end)
end)
