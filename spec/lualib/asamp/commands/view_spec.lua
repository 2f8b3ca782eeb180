-- SPDX-License-Identifier: MIT
-- The command `asamp view` up to the file that it writes: arguments, exit codes, and the data in the page.
-- show/page/browser_spec.lua tests the page in a browser.

local cjson = require "cjson"
local copies = require "asamp.sums.copies"
local data = require "asamp.show.page.data"
local files = require "asamp.cli.sources"
local page = require "asamp.show.page.page"
local pages = require "spec.support.pages"
local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local sources = require "asamp.show.page.sources"

-- Returns the data that a page contains as JSON, decoded, and the JSON text.
local function embedded(html)
  local json = html:match '<script type="application/json" id="data">(.-)</script>'
  return cjson.decode(json), json
end

-- Returns the sums of all rows of allocation samples, {samples=, bytes=, survived=, survivedbytes=}. Its
-- field [true] has the sums of time samples.
local function sums(columns, period)
  local out = {}
  for _, time in ipairs{false, true} do
    out[time] = {samples = 0, survived = 0}
  end
  for i = 1, #columns.rows.node do
    local to = out[columns.kinds[columns.rows.kind[i] + 1].time]
    to.samples = to.samples + columns.rows.samples[i]
    to.survived = to.survived + columns.rows.survived[i]
  end
  -- the page has no column of bytes, because bytes are samples × period
  assert.is_true(columns.rows.bytes == nil)
  out.bytes = out[false].samples * period
  return out
end

describe("asamp view", function()
  local folder, path
  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/app.lua", pages.SOURCE)
    path = folder .. "/app.vmprof"
    pages.profile(path, folder .. "/app.lua")
  end)

  it("writes FILE.html and says how large it is", function()
    local code, out, err = pages.run(path, "--source", folder)
    assert.equal(0, code)
    assert.truthy(err:find("^asamp view: no source lines of [^\n]*%.lua, which was not found: " ..
                           "name its folder with %-%-source DIRS\n$"), err)
    assert.truthy(out:find(path .. ".html: ", 1, true))
    assert.truthy(process.read(path .. ".html"):find "^<!doctype html>")
  end)

  it("writes where -o says, also to standard output", function()
    local code, out = pages.run("-o", folder .. "/other.html", path)
    assert.equal(0, code)
    assert.truthy(out:find("other.html", 1, true))
    local text = process.read(folder .. "/other.html")
    code, out = pages.run(path, "--out=-")
    assert.equal(0, code)
    assert.equal(text, out)
  end)

  it("helps", function()
    for _, flag in ipairs{"--help", "-h"} do
      local code, out, err = pages.run(flag)
      assert.equal(0, code)
      assert.truthy(out:find "^usage: asamp view")
      assert.equal("", err)
    end
  end)

  it("refuses wrong arguments in one line that names them", function()
    for _, case in ipairs{
      {"no file given"},
      {"unknown option '--nodse', did you mean --nodes?", "--nodse", "x"},
      {"unknown option '-x'", "-x", "x"},
      {"at most 2 files, got 3", "a", "b", "c"},
      {"--out needs a value, got nothing", "x", "-o"},
      {"--nodes needs a whole number of at least 1, got '0'", "--nodes", "0", "x"},
      {"--nodes needs a whole number of at least 1, got 'many'", "--nodes=many", "x"},
    } do
      local code, out, err = pages.run(table.unpack(case, 2))
      assert.equal(2, code)
      assert.equal("", out)
      assert.equal("asamp view: " .. case[1] .. "; see asamp view --help\n", err)
    end
  end)

  it("does not replace the profile by its page, whatever name it is given", function()
    local before, name = process.read(path), path:match "[^/]*$"
    for _, out in ipairs{path, folder .. "/./" .. name} do
      local code, _, err = pages.run(path, "-o", out)
      assert.equal(2, code)
      assert.equal(("asamp view: --out '%s' is the input '%s' itself; give another name; " ..
                    "see asamp view --help\n"):format(out, path), err)
      assert.equal(before, process.read(path))
    end
  end)

  it("says in one line why there is no page", function()
    local code, _, err = pages.run(folder .. "/nothing")
    assert.equal(1, code)
    assert.truthy(err:find("^asamp view: [^\n]*/nothing[^\n]*No such file[^\n]*\n$"))
    code, _, err = pages.run(path, "-o", "/nowhere/x.html")
    assert.equal(1, code)
    assert.equal("asamp view: cannot write '/nowhere/x.html': No such file or directory\n", err)
    code, _, err = pages.run(path, "-o", "/dev/full")
    assert.equal(1, code)
    assert.equal("asamp view: cannot write '/dev/full': No space left on device\n", err)
  end)

  it("says how to build the page where it was built without one", function()
    local before = package.path
    package.path = folder .. "/?.lua"
    local code, _, err = pages.run(path)
    package.path = before
    assert.equal(1, code)
    assert.equal("asamp view: this installation lacks the page (asamp/page.html); " ..
                 "run make view in the source folder\n", err)
  end)

  it("shows the data of a cut file, and that it is cut", function()
    local whole = process.read(path)
    local cut = process.file(whole:sub(1, #whole - 100))
    local code, _, err = pages.run(cut, "-o", folder .. "/cut.html")
    assert.equal(0, code)
    assert.truthy(err:find("^asamp view: [^\n]*; the page shows only the readable part\n"))
    local columns = embedded(process.read(folder .. "/cut.html"))
    assert.truthy(columns.notes[1]:find "^The page shows the readable part of the file: ")
  end)

  it("embeds every sample, and nothing that could end its element", function()
    local profile = assert(reader.read(path, {bins = 256}))
    local columns, json = embedded(process.read(path .. ".html"))
    local s = sums(columns, profile.period)
    assert.equal(profile.samples, s[false].samples)
    assert.equal(profile.bytes, s.bytes)
    assert.equal(profile.survived, s[false].survived)
    assert.equal(profile.timesamples, s[true].samples)
    assert.is_nil(json:find("<", 1, true))
    local names = {}
    for _, name in ipairs(columns.functions.name) do names[name] = true end
    assert.is_true(names[pages.HOSTILE])
    assert.truthy(columns.head.command:find(pages.HOSTILE, 1, true))
    assert.equal(pages.HOSTILE, columns.marks[2].value)
  end)

  it("takes the source lines from where the files are", function()
    local columns = embedded(process.read(path .. ".html"))
    local at
    for i, file in ipairs(columns.files) do
      if file == folder .. "/app.lua" then at = "F" .. i - 1 end
    end
    local third = pages.SOURCE:match "[^\n]*\n[^\n]*\n([^\n]*)"
    assert.equal(third, columns.sources[at].L3)
    assert.equal("app.work()", columns.sources[at].L11)
  end)

  -- Returns the source lines that a page has for a file of this name with a frame in line 2, or nil and the
  -- reason why it has none.
  local function lookup(file, folders)
    local texts, missing = sources.of({
      files = {file, "-"}, functions = {file = {0, 1}, native = {0, 0}},
      nodes = {fn = {0, 1}, line = {2, 3}}}, files.finder(folders or {}))
    return texts.F0, missing.F0
  end

  -- Checks that the page contains no line of the file, and that it states this reason.
  local function refused(reason, file, folders)
    local texts, why = lookup(file, folders)
    assert.is_nil(texts, file)
    assert.equal(reason, why, file)
  end

  it("looks for relative names below --source, and opens no device, pipe or binary", function()
    refused("absent", "app.lua")
    refused("absent", "app\0.lua", {folder})
    assert.equal("function app.load(n)", lookup("app.lua", {"/nowhere", folder}).L2)
    refused("unread", path, {folder})
    refused("unread", "", {folder})
    assert(os.execute("mkfifo " .. folder .. "/pipe"))
    -- the command must not open the pipe, because it would wait for a writer
    refused("unread", "pipe", {folder})
    local code = pages.run(path, "--source", "/nowhere:" .. folder, "-o", folder .. "/x.html")
    assert.equal(0, code)
  end)

  it("shows no file from outside, whatever name leads there", function()
    -- A profile may come from anybody, and a page may be given to anybody. A former bug: a source name such
    -- as @//proc/self/status put the contents of that file into the page.
    local secret = process.file "first\nsecret\nthird\n"
    local name = secret:match "[^/]*$"
    local inner = folder .. "/inner"
    assert(os.execute(("mkdir %s %s/.hidden && ln -s %s %s/link.lua && ln -s %s %s/up"):format(
      inner, inner, secret, inner, folder, inner)))
    assert(os.execute(("ln -s %s/app.lua %s/here.lua && cp %s %s/.hidden/x.lua"):format(
      inner, inner, secret, inner)))
    assert(os.execute(("cp %s/app.lua %s/app.lua"):format(folder, inner)))
    for _, file in ipairs{
      "//proc/self/status", "/proc/self/status", "/./proc/self/status", "//sys/kernel/notes",
      "/proc/self/root/proc/self/status", secret, "/" .. secret, "/.." .. secret,
      "/proc/self/root" .. secret, "/dev/zero", inner .. "/../app.lua",
      inner .. "/link.lua", inner .. "/up/app.lua", inner .. "/up",
    } do
      refused("outside", file, {inner})
    end
    for _, file in ipairs{"../app.lua", "inner/../../app.lua", "link.lua", "up/app.lua"} do
      refused(file:find "^inner" and "absent" or "outside", file, {inner})
    end
    refused("outside", "../../" .. folder:match "[^/]*$" .. "/app.lua", {inner .. "/."})
    refused("outside", "/proc/self/status", {"/"})
    -- a folder whose name starts with the name of an allowed folder is not allowed
    assert(os.execute(("mkdir %s-other && cp %s %s-other/x.lua"):format(inner, secret, inner)))
    refused("outside", inner .. "-other/x.lua", {inner})
    -- hidden files are read only if the user names their folder
    refused("hidden", ".hidden/x.lua", {inner})
    refused("hidden", inner .. "/.hidden/x.lua", {inner})
    assert.equal("secret", lookup("x.lua", {inner .. "/.hidden"}).L2)
    -- links and dots are allowed if they lead to a file in the folder
    for _, file in ipairs{"app.lua", "here.lua", "./../inner/app.lua", inner .. "//app.lua",
                          "/proc/self/root" .. inner .. "/app.lua"} do
      assert.equal("function app.load(n)", lookup(file, {inner}).L2)
    end
    assert.equal("secret", lookup(name, {secret:match "^(.*)/"}).L2)
  end)

  it("says of which files it has no lines, and why", function()
    local profile = folder .. "/names.vmprof"
    local p = assert(require "profilegen".open{path = profile, period = 1 << 20})
    local up = folder:gsub("/[^/]+", "../")
    local names = {"//proc/self/status", up .. "etc/passwd", "/etc/hostname", "absent.lua", "app.lua"}
    for i, name in ipairs(names) do
      p:name(8 * i, "f" .. i, 2, "@" .. name)
      p:sample{8 * i, 2, kind = 3, size = 64}
    end
    assert(p:close())
    local code, _, err = pages.run(profile, "--source", folder)
    assert.equal(0, code)
    local message = "o source lines of 4 files: 3, such as //proc/self/status, lie outside the current " ..
      "folder: name their folders with --source DIRS; absent.lua was not found: name its folder with " ..
      "--source DIRS"
    assert.equal("asamp view: n" .. message .. "\n", err)
    local columns, json = embedded(process.read(profile .. ".html"))
    assert.same({"N" .. message .. "."}, columns.notes)
    local texts = 0
    for _ in pairs(columns.sources) do texts = texts + 1 end
    assert.equal(1, texts)
    assert.is_nil(json:find("Pid:", 1, true))
    assert.is_nil(json:find("root:x:0", 1, true))
  end)

  it("takes whole files up to the limit, and lists those that did not fit", function()
    -- A former bug: if the sources did not fit into the page, the last lines of a file were missing, without
    -- a message.
    local columns = {files = {}, functions = {file = {}, native = {}}, nodes = {fn = {}, line = {}}}
    for i = 1, 3 do
      shell.write(("%s/long%d.lua"):format(folder, i), (("x"):rep(500) .. "\n"):rep(i == 3 and 20000 or 6000))
      columns.files[i] = ("long%d.lua"):format(i)
      columns.functions.file[i], columns.functions.native[i] = i - 1, 0
      for line = 1, i == 3 and 1 or 6000 do
        table.insert(columns.nodes.fn, i - 1)
        table.insert(columns.nodes.line, i == 3 and 19999 or line)
      end
    end
    local texts, missing = sources.of(columns, files.finder{folder})
    assert.equal(("x"):rep(400) .. "…", texts.F0.L6000)
    assert.is_nil(texts.F1)
    assert.same({F1 = "full", F2 = "long"}, missing)
    assert.equal("no source lines of 2 files: long3.lua is longer than the limit, 8 MiB; " ..
                 "long2.lua does not fit into the page, which has space for 4 MiB of lines",
                 sources.summary(columns, missing))
  end)

  -- A former bug: the message counted such chunks as missing files, and named --source as the remedy.
  it("does not count chunks from strings as missing files", function()
    local columns = {files = {'[string "return 1"]', "stage two", "lib/gone", "gone.lua"},
                     functions = {file = {0, 1, 2, 3}, native = {0, 0, 0, 0}},
                     nodes = {fn = {0, 1, 2, 3}, line = {1, 1, 1, 1}}}
    local _, missing = sources.of(columns, files.finder{folder})
    assert.same({F0 = "chunk", F1 = "chunk", F2 = "absent", F3 = "absent"}, missing)
    assert.equal("no source lines of 2 files, such as lib/gone, which were not found: name their " ..
                 "folders with --source DIRS", sources.summary(columns, missing))
    assert.is_nil(sources.summary(columns, {F0 = "chunk", F1 = "chunk"}))
  end)

  it("writes large numbers of files in one way", function()
    local columns, missing = {files = {}}, {}
    for i = 1, 1234 do
      columns.files[i], missing["F" .. i - 1] = "f" .. i .. ".lua", "absent"
    end
    assert.equal("no source lines of 1,234 files, such as f1.lua, which were not found: name their " ..
                 "folders with --source DIRS", sources.summary(columns, missing))
  end)

  -- Returns a list of the number of own samples of each function.
  local function own(columns)
    local out = {}
    for i = 1, #columns.functions.name do out[i] = 0 end
    for i, node in ipairs(columns.rows.node) do
      local fn = node > 0 and columns.nodes.fn[node] + 1
      if fn then out[fn] = out[fn] + columns.rows.samples[i] end
    end
    return out
  end

  it("keeps the largest nodes and every total when the tree is too large", function()
    local profile = assert(reader.read(path, {bins = 256}))
    local whole = data.of(profile, {nodes = 1000})
    assert.equal(-1, whole.cut)
    for limit = 1, #profile.nodes.parent - 1 do
      local columns = data.of(profile, {nodes = limit})
      local nodes = columns.nodes
      local kept, cuts = 0, {}
      for i, fn in ipairs(nodes.fn) do
        assert.is_true(nodes.parent[i] < i)
        if fn == columns.cut then
          -- a node has at most one child that represents the nodes cut off
          assert.is_nil(cuts[nodes.parent[i]])
          cuts[nodes.parent[i]] = true
        else
          kept = kept + 1
        end
      end
      assert.equal(limit, kept)
      assert.same(sums(whole, profile.period), sums(columns, profile.period))
      local before, now = own(whole), own(columns)
      for fn, n in ipairs(before) do
        -- a function must not receive samples of another function
        assert.is_true(now[fn] <= n)
      end
      assert.truthy(columns.notes[1]:find("^The call tree contains its " .. limit .. " largest nodes"))
    end
  end)

  it("divides time more coarsely until the rows fit", function()
    local profile = assert(reader.read(path, {bins = 256}))
    local whole = data.of(profile, {nodes = 1000})
    local columns = data.of(profile, {nodes = 1000, rows = 40})
    assert.is_true(#columns.rows.node <= 40)
    assert.is_true(columns.bins.n < whole.bins.n)
    assert.is_true(columns.bins.n * columns.bins.width >= whole.bins.n * whole.bins.width)
    assert.same(sums(whole, profile.period), sums(columns, profile.period))
  end)

  it("thins collections to their largest values", function()
    local profile = assert(reader.read(path))
    local first, last = table.unpack(profile.collections)
    for i = 1, 7000 do
      profile.collections[i] = i == 4321 and last or first
    end
    local points = data.of(profile, {nodes = 1000}).collections
    -- the timeline has one point for every three collections
    assert.equal(2334, #points.time)
    assert.equal(last.inuse, math.max(table.unpack(points.inuse)))
    local majors = 0
    for i, us in ipairs(points.major) do
      majors = majors + (us >= 0 and 1 or 0)
      assert.is_true(us == -1 or us == last.duration and points.minor[i] == first.duration)
    end
    assert.equal(1, majors)
  end)

  it("reports missing times, but not a repeated period, which is counted", function()
    local profile = assert(reader.read(path))
    assert.same({}, data.of(profile, {nodes = 1000}).notes)
    profile.timeperiods = 3
    profile.timed = false
    local notes = data.of(profile, {nodes = 1000}).notes
    assert.equal(1, #notes)
    assert.truthy(notes[1]:find("^The file has no times"))
  end)

  it("says how many rows of a table it omits", function()
    local profile = assert(reader.read(path))
    local of = copies.of
    copies.of = function()
      local lines = {}
      for i = 1, 1501 do lines[i] = {file = "x.lua", line = i, bytes = 1, share = 0} end
      return {lines = lines}
    end
    local columns = data.of(profile, {nodes = 1000})
    copies.of = of
    assert.equal(500, #columns.copies)
    assert.same({"The page has only the 500 largest of 1,501 lines that copy."}, columns.notes)
  end)

  it("fills the template once, whatever the data look like", function()
    local html = page.fill("a@DATA@b", {text = "@DATA@ % %1 </script>", list = {"<!--", "x"}, none = {}})
    assert.equal('a{"list":["\\u003c!--","x"],"none":[],"text":"@DATA@ % %1 \\u003c/script>"}b', html)
  end)
end)
