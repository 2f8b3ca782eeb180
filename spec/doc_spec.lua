-- SPDX-License-Identifier: MIT
--
-- The documents must agree with the code. Every patch, option, function and field must be documented.
-- Everything that documents name must exist, such as files, links, targets of make and C names. The spec
-- runs only on the release build.

local profiler = require "profiler"
local sets = require "spec.support.sets"
local shell = require "spec.support.shell"

local DOCUMENTS = shell.lines(shell.output "ls *.md doc/*.md bench/README.md")

local function read(path)
  return assert(shell.read(path), path .. " is not there")
end

local set, sorted = sets.captured, sets.sorted

-- Returns the text of the section under a heading, up to the next heading of the same level.
local function section(text, heading)
  local from = select(2, text:find("\n" .. heading .. "\n", 1, true))
  assert(from, "no section " .. heading)
  local level = heading:match "^#+"
  return text:sub(from, (text:find("\n" .. level .. " ", from, true) or #text + 1) - 1)
end

-- Returns a list of all code in a document: spans in backticks, and lines of fenced blocks.
local function code(text)
  local list, fenced = {}, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:find "^```" then fenced = not fenced
    elseif fenced or line:find "^    %S" then list[#list + 1] = line
    else
      for span in line:gmatch "`([^`]+)`" do list[#list + 1] = span end
    end
  end
  return list
end

-- Returns the anchor of a heading, as GitHub and similar sites generate it.
local function anchor(heading)
  return (heading:lower():gsub("[^%w _%-]", ""):gsub(" ", "-"))
end

local function exists(path)
  return (shell.run(("ls -d %s"):format(path))) == 0
end

describe("the differences #plain", function()
  local text = read "doc/differences.md"

  it("list every patch, with its subject, and no other", function()
    local part, listed = section(text, "## The patches"), {}
    for number, subject in part:gmatch "\n(%d+) ([^\n]+)" do listed[number] = subject end
    for number in part:gmatch "\n%- (%d+)" do assert.is_truthy(listed[number], number) end
    local subjects = {}
    for _, path in ipairs(shell.lines(shell.output "ls lua/patches/*.patch")) do
      local head = read(path):match "^(.-)\ndiff "
      subjects[path:match "/(%d+)%-"] = head:match "\nSubject: %[PATCH%] ([^\n]+)"
      local specs = set(head:match "\nSpec: (.*)", "spec/[%w_/]+%.lua")
      assert.is_true(next(specs) ~= nil, path)
      for spec in pairs(specs) do assert.is_truthy(shell.read(spec), spec) end
    end
    assert.same(subjects, listed)
  end)

  it("name the module paths of the interpreter", function()
    local bin = "build/bin/lua"
    local triplet = shell.output("gcc -print-multiarch"):gsub("\n", ""):gsub("%p", "%%%0")
    local part = section(text, "## What a Lua programmer can notice")
    local expected = {}
    for _, name in ipairs{"path", "cpath"} do
      local folders = {}
      for item in shell.output("%s -e 'io.write(package.%s)'", bin, name):gmatch "[^;]+" do
        local folder = item:match "^(.*)/%?%.%a+$"
        if folder then folders[#folders + 1] = folder .. (folder == "." and "/" or "") end
      end
      local root = folders[1]:match "^(.*)/%a+/lua/5.4$"
      folders[1] = folders[1]:gsub("^.*(/%a+/lua/5.4)$", "ROOT%1")
      assert.is_truthy(root)
      expected[#expected + 1] = table.concat(folders, ", "):gsub(triplet, "MULTIARCH")
    end
    assert.is_truthy(part:find("\n" .. table.concat(expected, "\n") .. "\n", 1, true),
                     table.concat(expected, "\n"))
  end)
end)

describe("the manual #plain", function()
  local text = read "doc/manual.md" .. read "doc/reference.md" .. read "doc/memory.md"
    .. read "doc/embedding.md"

  it("has every option of the profiler and no other", function()
    local _, message = pcall(profiler.enable, {[""] = true})
    local known = set(message:match "known: ([^)]+)", "%l+")
    assert.is_true(known.alloc and known.out)
    assert.same(sorted(known), sorted(set(section(text, "## Options"), "\n| `(%l+)` |")))
  end)

  it("has the current defaults", function()
    local options = section(text, "## Options")
    local path = os.tmpname()
    assert(profiler.enable{out = path})
    local period = profiler.period()
    profiler.disable()
    local packed = read(path):sub(1, 2) == "\31\139"
    assert.is_truthy(options:find(("\n| `alloc` | `%dK` |"):format(period // 1024), 1, true))
    assert.is_truthy(options:find(("\n| `compress` | `%d` |"):format(packed and 1 or 0), 1, true))
  end)

  it("has every function of the module", function()
    local functions = {}
    for name, f in pairs(profiler) do
      if type(f) == "function" then functions[name] = true end
    end
    assert.is_true(functions.enable and functions.stats)
    assert.same(sorted(functions), sorted(set(section(text, "## The module"), "\n| `profiler%.([%l_]+)%(")))
  end)

  it("has every field of stats", function()
    local path = os.tmpname()
    assert(profiler.enable{out = path})
    local fields, part = {}, section(text, "## The module"):match "`stats%(%)` has these fields:(.*)"
    for name in pairs(profiler.stats{labels = true}) do fields[name] = true end
    -- this field exists only while the profile's file is full
    fields.error = true
    profiler.disable()
    local found = {}
    for cell in part:gmatch "\n| (`[^|]+) |" do
      for name in cell:gmatch "`(%l+)`" do found[name] = true end
    end
    assert.same(sorted(fields), sorted(found))
  end)

  it("has a section for every subcommand, in the order of the help, and no other", function()
    local help = shell.output "build/bin/asamp --help"
    local found, named, listed = {}, {}, {}
    for name in help:gmatch "\n  (%l+) " do found[#found + 1] = name end
    for name in text:gmatch "\n## asamp (%l+)\n" do named[#named + 1] = name end
    for name in text:gmatch "%[asamp (%l+)%]%(#asamp" do listed[#listed + 1] = name end
    assert.is_true(#found > 5)
    assert.same(require "asamp".COMMANDS, found)
    assert.same(found, named)
    assert.same(found, listed)
    local readme = read "README.md"
    for _, name in ipairs(found) do
      assert.is_truthy(readme:find("asamp " .. name .. "%f[^%l]"), "README.md lacks asamp " .. name)
    end
  end)

  for _, name in ipairs(require "asamp".COMMANDS) do
    it("has every option of asamp " .. name .. ", written as its help does", function()
      local usage = require("asamp.commands." .. name).usage()
      local part = section(text, "## asamp " .. name)
      local helped, found = set(usage, "\n  (%-[^\n]-)  "), {}
      for cell in part:gmatch "\n| (`%-[^|]+) |" do
        local option = cell:gsub("`", "")
        found[option] = true
        if not helped[option] then  -- the row is about several options
          found[option] = nil
          for one in cell:gmatch "`([^`]+)`" do found[one] = true end
        end
      end
      -- adds options that several commands share, which are in the section "Commands"
      for cell in section(text, "## Commands"):gmatch "\n| (`%-[^|]+) |" do
        local option = cell:gsub("`", "")
        if helped[option] then found[option] = true end
      end
      assert.is_true(helped["--help"])
      assert.same(sorted(helped), sorted(found))
      assert.is_truthy(part:find("\n" .. usage:match "^usage: ([^\n]+)" .. "\n", 1, true), usage)
    end)

    it("names no options of asamp " .. name .. " that it has not, wherever it is run", function()
      local options = set(require("asamp.commands." .. name).usage(), "%f[-](%-[%l-]+)")
      for _, path in ipairs(DOCUMENTS) do
        for _, line in ipairs(code(read(path))) do
          local arguments = line:match("asamp " .. name .. "%f[^%l](.*)")
          arguments = arguments and arguments:gsub("%s%-%- .*", ""):gsub("%s[#|;&].*", "")
          for option in (arguments or ""):gmatch "%f[^%s(](%-[%l-]+)" do
            assert.is_true(options[option], option .. " in: " .. line)
          end
        end
      end
    end)
  end

  it("has the keys of the report's JSON", function()
    local path, out = os.tmpname(), ""
    assert(profiler.alloc_start(64, {out = path}))
    for _ = 1, 100 do out = out .. "x" end
    profiler.disable()
    local _, json = pcall(shell.output, "build/bin/asamp report --json " .. path)
    local part, n = section(text, "## asamp report"), 0
    for key in json:gmatch '\n  "(%l+)": ' do
      n = n + 1
      assert.is_truthy(part:find("`" .. key .. "`", 1, true), key)
    end
    assert.is_true(n > 15)
  end)

  it("has the keys of the JSON of asamp diff and asamp heap", function()
    local folder, live = shell.folder(), {}
    for _, name in ipairs{"old", "new"} do
      assert(profiler.alloc_start(64, {out = ("%s/%s.vmprof"):format(folder, name)}))
      for i = 1, 1000 do live[#live + 1] = {i, tostring(i)} end
      assert(profiler.snapshot(("%s/%s.heap"):format(folder, name), {wait = true}))
      profiler.disable()
    end
    for _, command in ipairs{"diff --top 1 old.vmprof new.vmprof", "heap new.heap", "heap --paths new.heap",
        "heap --held-by table new.heap", "heap --diff old.heap new.heap", "heap --prove new.heap",
        "heap --prove=new.vmprof new.heap"} do
      local part = section(text, "## asamp " .. command:match "%l+")
      local out = shell.output("cd %s && %s/build/bin/asamp %s --json", folder,
                               shell.output "pwd":match "[^\n]+", command)
      local keys = set(out, '"([%l_]+)": ')
      assert.is_truthy(next(keys))
      for key in pairs(keys) do
        assert.is_truthy(part:find("`" .. key .. "`", 1, true), command .. ": " .. key)
      end
    end
    shell.remove(folder)
  end)
end)

-- {== messages ==============================================================

-- Converts a string of a source to the form in which the manual quotes it: "…" instead of each inserted
-- value.
local function shown(s)
  s = s:gsub("\\n", " "):gsub('\\"', '"'):gsub("\\\\", "\\")
  s = s:gsub("%%[%d.*]*[lz]*[a-zI]", "…"):gsub("%%%%", "%%")
  return (s:gsub("…[…]*", "…"):gsub("^%s+", ""):gsub("%s+$", ""))
end

-- Returns the strings of a source as a list of {text, before}. 'before' is the code to the left of the
-- string on its line. Adjacent strings are joined; 'join' is a pattern for the code between them. 'mark' is
-- the start of a comment, 'comment' a pattern for its end.
local function strings(source, join, mark, comment)
  local list, pos = {}, 1
  while true do
    local from = source:find("[\"']", pos)
    if not from then return list end
    local skipped = source:find(mark, pos, true)
    if skipped and skipped < from then
      pos = select(2, source:find(comment, skipped)) + 1
    else
      local quote, to = source:sub(from, from), from + 1
      while source:sub(to, to) ~= quote and to <= #source do
        to = to + (source:sub(to, to) == "\\" and 2 or 1)
      end
      local last, text = list[#list], source:sub(from + 1, to - 1)
      if last and source:sub(last.to + 1, from - 1):find(join) then
        last.text, last.to = last.text .. text, to
      else
        list[#list + 1] = {text = text, to = to, before = source:sub(math.max(1, from - 40), from - 1)}
      end
      pos = to + 1
    end
  end
end

local function length(s)
  return select(2, s:gsub("%S+", ""))
end

-- Patterns of strings of three words or more that are not messages to users.
local SILENT = {
  -- kinds of files and objects, and programs that read a file
  "^an? %u%w+ file$", "^a file of", "^a page of", "^a %w+ profile$", "^a profile for", "^a program or",
  "^a recording", "^a compressed", "^table ", "reads? it$", "^open it in a", "^unpack it first",
  "^`asamp run` profiles",
  -- parts of messages, and the closing lines of sessions and of asamp run
  "^by process …$", "^code that no", "^the program itself", "samples, one every",
  "^… sample… of ", "^… time sample",
  -- the last of these three patterns is the start of a line in the system log
  "Lua states; $", "^profiler: …profile: …$", "^<…>…",
  "shows more%.$",
  -- answers that a process sends to a client
  "^file … ok$", "^file … state … ok$", "^row … …$",
  -- the code of a Lua chunk
  "^local wish, home",
  -- comments that state limits, which doc/profile-format.md documents
  "# ",
  -- texts in files of other formats
  "^[%],]", "^bytes ", "^resident set", "^Alive at",
  -- errors of the debug build's checks, of the compiler, and of the modules' arguments
  "^unwind: ", "^stack: ", "^backtrace: ", "^an Answer", "^time samples: name", "^a Binding",
  "^the number of bins", "^format not", "does not end a process", "^reading a profile",
  "^the snapshot is closed",
  "^this snapshot was not compared",
  -- patterns that match texts in files of the operating system
  "^… … … … …$", "^Rss: ",
}

local function silent(text)
  for _, pattern in ipairs(SILENT) do
    if text:find(pattern) then return true end
  end
  return false
end

-- Words with which a message states its remedy. A message that contains one need not be repeated in a
-- document.
local REMEDIES = {"add", "build", "call", "enable", "give", "install", "leave", "link", "make", "merge",
                  "permit", "profile", "raise", "read", "remove", "repair", "run", "send", "set", "start",
                  "stop", "take", "try", "unblock", "use"}

-- Patterns of messages about arguments of commands. Such a message names the option, and ends with the
-- command that lists the valid options.
local ARGUMENTS = {
  "^%-%-", "^no … given$", "^no format given", "^… expected, got …$",
  "^a whole number of at least …$",
  "^a number from … to …$", "^a comma%-separated list of$", "^nothing to sample: %-%-alloc",
  "^no sample was taken …; the profile ends",
}

-- Patterns of messages that state the valid values, or a reason that has no remedy.
local VALID = {"%f[%a]must be %S", "%f[%a]must not be %S", "%f[%a]must have %S", "must start with a /$",
               "known: ", "expected[^;]*, got", "^option '…' …$", "is given twice$",
               -- why a leak cannot be proved
               "no Lua code can ", "only C code can ", "which cannot be removed$",
               -- words that LUA_GC accepts, and kinds of files
               "^is not known", "huge%-pages", "^generational, ", "^a pipe %("}

local function remedied(text)
  for _, pattern in ipairs(VALID) do
    if text:find(pattern) then return true end
  end
  if text:find ", give an? %l" or text:find ", set '" then return true end
  for _, pattern in ipairs(ARGUMENTS) do
    if text:find(pattern) then return true end
  end
  for _, verb in ipairs(REMEDIES) do
    if text:find("[;:] " .. verb .. "%f[^%l]") then return true end
  end
  return false
end

-- Patterns of the code that precedes a Lua string which users see. Messages about arguments are excluded;
-- they end with the command that lists the valid arguments.
local PRINTED = {"warn%.failed%(+$", "warn%.failed%s*%(*$", "error%(+$",
              "return nil, %(*$", "return %(+$", "return $", "world%.err%(+$", "fail%($"}

local function isprinted(before)
  for _, pattern in ipairs(PRINTED) do
    if before:find(pattern) then return true end
  end
  return false
end

-- Returns two values: a table from each message to the path of its source, and all strings of all sources,
-- joined to one text.
local function messages()
  local list, all = {}, {}
  local function add(files, is, ...)
    for _, path in ipairs(shell.lines(shell.output(files))) do
      for _, s in ipairs(strings(read(path), ...)) do
        local text = shown(s.text)
        if s.before:find "complain%($" then text = "profiler: " .. text end
        all[#all + 1] = text
        if length(text) > 2 and is(text, s.before, path) then list[text] = path end
      end
    end
  end
  add("find asamp lua/gc/pace/tuning.c lua/attach.c -name '*.c'", function(text, before, path)
    -- this string is the end of a message: it describes the damage in a file
    if before:find "damaged?%(%w+, $" or before:find "fault = $" then return false end
    return not silent(text) and not path:find "/words%.c$" and not path:find "/holders%.c$"
      -- the strings of these two files are names of steps of a path
      and not path:find "/heapformat%.c$"
      and not path:find "/devtools%.c$"  -- another format
  end, "^%s*$", "/*", "%*/")
  add("find lualib -name '*.lua'", function(text, before, path)
    return isprinted(before) and not silent(text) and not path:find "/show/" and not path:find "complaints"
  end, "^%s*%.%.%s*$", "--", "\n")
  return list, table.concat(all, "\n")
end

describe("the manual's messages #plain", function()
  local text = (read "doc/messages.md" .. read "doc/manual.md" .. read "doc/reference.md"
                .. read "doc/fleet.md" .. read "doc/memory.md" .. read "doc/embedding.md"):gsub("%s+", " ")

  it("are all that a session or a command can print, except those that say what to do", function()
    local list, n = messages(), 0
    for message, path in pairs(list) do
      n = n + 1
      -- the document must contain only the text in parentheses; the rest is Lua's own message about an
      -- argument
      message = message:match "^bad argument #%S+ to '[^']*' %((.*)%)$" or message
      if not remedied(message) then
        assert.is_truthy(text:find(message, 1, true), path .. ": " .. message)
      end
    end
    assert.is_true(n > 80, n)
  end)

  it("are those of the code, each with a remedy", function()
    local _, all = messages()
    local part = read("doc/messages.md"):match "^(.-)## The numbers look wrong"
    local n = 0
    for cell, remedy in part:gmatch "\n| (`[^\n]-) | ([^\n]*) |%f[\n]" do
      assert.is_truthy(#remedy > 5 or remedy == "of what", cell)
      for span in cell:gmatch "`([^`]+)`" do
        n = n + 1
        for piece in (span .. "…"):gmatch "%s*(.-)%s*…" do
          -- Lua itself prints the message about a missing module, so that the sources of the project do not
          -- contain it
          assert.is_truthy(#piece < 6 or piece:find "^module 'profiler' not"
                           or all:find(piece, 1, true), span)
        end
      end
    end
    assert.is_true(n > 50, n)
  end)
end)

-- ==}

describe("the profile's format #plain", function()
  local text = read "doc/profile-format.md"

  -- Returns the set of captures of the pattern at the starts of the document's list items.
  local function items(pattern) return set(text, "\n%- `" .. pattern) end

  local function sources(folder) return shell.output("cat asamp/%s/*.c", folder) end

  -- The letters of the lines with details in a profile. A former bug: the reader accepted a letter that the
  -- document did not describe.
  it("has the letters of details that are written and read, and no other", function()
    local encode, read_, split = read "asamp/encode/batch.c", sources "read", read "asamp/format/details.c"
    local written = set(encode, "'(%a)'[,)]")
    for letter in encode:gmatch "%? '(%a)' :" do written[letter] = true end
    for letter in encode:gmatch 'bytes_add%(&b%->events, "(%a) "' do written[letter] = true end
    -- this 'a' is the first type of column k, not the letter of a line
    written.a = nil
    local taken = set(read_, "letter == '(%a)'")
    for letter in read_:gmatch "case '(%a)':" do taken[letter] = true end
    for letter in read_:gmatch "startrun%(&%w+, '(%a)'" do taken[letter] = true end
    for letter in split:gmatch "[=!]= '(%a)'" do taken[letter] = true end
    local listed = items "(%a)%f[^%a]"
    listed.k = text:find "\n%- `k<letters>`: " and true
    listed.G = text:find "%. `G` for a major one" and true
    assert.is_true(written.n and written.g and written.r and taken.u and taken.A)
    assert.same(sorted(written), sorted(listed))
    assert.same(sorted(taken), sorted(listed))
  end)

  it("has the metas that are written and read, and no other", function()
    local written = set(read "asamp/encode/encoder.c", '"(asamp%.%l+)"')
    local taken = set(read "asamp/read/readermeta.c", '"(asamp%.%l+)"')
    local listed = items "(asamp%.%l+)"
    assert.is_true(written["asamp.format"] and taken["asamp.format"])
    assert.same(sorted(written), sorted(listed))
    assert.same(sorted(written), sorted(taken))
  end)

  it("has the limits that are counted, with their numbers, in the order of the code", function()
    local limits, listed, counted = section(text, "## Limits"), {}, {}
    local numbers = {}
    for what, number in limits:gmatch "\n%- `(%l+)`: at most ([%d,]+) " do
      listed[#listed + 1], numbers[what] = what, (number:gsub(",", ""))
    end
    local left = read "asamp/read/readerleft.c"
    for what, bound in left:gmatch '%[LEFT_%u+%] = {"(%l+)", ([%u_%d]+)' do
      counted[#counted + 1] = what
      local value = tonumber(bound) and bound
      if not value then
        local a, b = read "asamp/base/bounds.h":match("#define " .. bound .. "%s+BOUND%(([^,]+),")
        a = a or read "asamp/base/bounds.h":match("#define " .. bound .. "%s+%(%(uint64_t%)(1 << %d+)%)")
        value = assert(load("return " .. a:gsub("(%d)u", "%1")))() .. (b or "")
      end
      assert.equal(value, numbers[what], what)
    end
    assert.is_true(#counted > 30)
    table.sort(listed)
    table.sort(counted)
    assert.same(counted, listed)
    local writes = set(read "asamp/encode/encoder.c":match "static void metaleft.-};", '{"(%l+)"')
    assert.is_true(writes.chunks)
    assert.same(sorted(writes), sorted(set(section(limits, "### Limits of the writer"), "\n%- `(%l+)`: ")))
  end)

  it("has the words of rows of memory that are written", function()
    local resident, listed = read "asamp/session/resident.c", {}
    local written = set(resident, 'put%(r, "([%l.]+)"')
    for word in resident:gmatch 'putlines%(r, [%u_]+, "(%l+)"' do written[word] = true end
    for words in section(text, "## Where memory is"):gmatch "\n%- ([^:]+):" do
      for word in words:gmatch "`([%l.]+)`" do listed[word] = true end
    end
    assert.is_true(written.rss and listed.outside)
    assert.same(sorted(written), sorted(listed))
  end)
end)

describe("bench/README.md #plain", function()
  it("has every command of the folder", function()
    local part = section("\n" .. read "bench/README.md", "# Benchmarks")
    for _, path in ipairs(shell.lines(shell.output "find bench -maxdepth 1 -type f -perm -u+x")) do
      assert.is_truthy(part:find("\n| `" .. path .. "%f[^%w]"), path)
    end
  end)
end)

describe("the tour #plain", function()
  local text = read "doc/tour.md"

  it("has every folder, and spec/files a sentence for every source file", function()
    local words, n = set(text, "[%w_/]+"), 0
    for _, path in ipairs(shell.lines(shell.output "find asamp lua lualib view -mindepth 1 -type d")) do
      assert.is_true(words[path] or words[path .. "/"] or words[path:match "[^/]+$" .. "/"], path)
    end
    for _, line in ipairs(shell.lines(shell.output("find asamp lua lualib view -type f "
        .. "-regex '.*[.]\\([chs]\\|css\\|lua\\|js\\|mk\\)' -exec spec/files {} +"))) do
      local path, says = line:match "^(%S+) +(%u?%S.*)$"
      assert.is_truthy(says and (says:find "[.:?]$" or says:find "%.%)$"), line)
      local header = path:gsub("%.c$", ".h")
      local _, count = says:gsub("%S+", "")
      local isown = not path:find "%.c$" or not io.open(header)
      -- a source that has a header may have a shorter text, because the header states its purpose
      assert.is_true(count >= (isown and 3 or 1), line)
      n = n + 1
    end
    assert.is_true(n > 400, n)
  end)
end)

describe("the invariants #plain", function()
  -- stated[name] is the list of the files that state an invariant. The form in C is "**   H1  ...", in Lua
  -- "--   VD1  ...".
  local stated = {}
  for _, path in ipairs(shell.lines(shell.output "find asamp lua lualib -name '*.[ch]' -o -name '*.lua'")) do
    for name in ("\n" .. read(path)):gmatch "\n[*-][*-]   (%u%u?%d)  %S" do
      stated[name] = stated[name] or {}
      table.insert(stated[name], path)
    end
  end

  it("have a number each, in one file", function()
    assert.is_truthy(stated.H1 and stated.VD1 and stated.TK4)
    for name, paths in pairs(stated) do
      assert.equal(1, #paths, name .. ": " .. table.concat(paths, ", "))
    end
  end)

  it("that documents and patches name are stated somewhere", function()
    local paths = shell.lines(shell.output "ls doc/tour.md doc/debugging.md lua/patches/*.patch")
    for _, path in ipairs(paths) do
      local part = read(path)
      part = path:find "%.patch$" and part:match "\nRelies on: ([^\n]*)" or part
      for name in part:gmatch "%f[%w]%u%u?%d%f[^%w]" do
        -- ignores options such as -O1, and numbers of formats
        if not name:find "^[OX]%d$" or stated[name] then
          assert.is_truthy(stated[name], name .. " in " .. path)
        end
      end
    end
  end)
end)

describe("the questions about the collector #plain", function()
  it("are at least twenty, each with sections of the design chapter of gc.h", function()
    local chapter = read "lua/gc/gc.h":match "^(.-)\n%*/\n#pragma once"
    local sections, n = set(chapter, "\n%*%*\n%*%* (%d+) %u%l[^\n]*\n%*%*\n"), 0
    assert.is_true(sections["1"] and sections["14"])
    for question, numbers, answer in
        read("doc/exercises.md"):gsub("\n +", " "):gmatch "\n%d+%. %*%*([^\n]-)%*%* %(([%d, ]+)%) ([^\n]+)" do
      n = n + 1
      assert.is_truthy(question:find "%?$" and answer:find "%.$", question)
      for number in numbers:gmatch "%d+" do
        assert.is_true(sections[number], number .. " after: " .. question)
      end
    end
    assert.is_true(n >= 20, n)
  end)
end)

describe("the verifier #plain", function()
  it("names invariants that are stated, in every line that it can print", function()
    local stated, n = shell.output "cat lua/gc/*.h lua/gc/*/*.h", 0
    for word in (read "lua/gc/inspect/verify.c" .. read "lua/gc/sweep/outside.c"):gmatch '"(%u+%d)[^"\n]*"' do
      n = n + 1
      assert.is_truthy(stated:find("\n[*-][*-]   " .. word .. "  %S"), word)
    end
    assert.is_true(n > 50, n)
  end)
end)

describe("the gdb commands of the debugging guide #plain", function()
  it("have a buffer for all frames that luaN_frames writes", function()
    local depth = read "lua/seam.h":match "#define LUAN_DEPTH%s+(%d+)u"
    assert.equal(depth, read "spec/support/frames.gdb":match "malloc%((%d+) %* sizeof%(luaN_Frame%)%)")
  end)
end)

describe("every document #plain", function()
  for _, path in ipairs(DOCUMENTS) do
    local text, folder = read(path), path:match "^(.*/)" or ""

    it("links to existing targets: " .. path, function()
      for target in text:gmatch "%]%(([^)%s]+)%)" do
        if not target:find "^%a+://" then
          local file, heading = target:match "^([^#]*)#?(.*)$"
          assert.is_truthy(file == "" or exists(folder .. file), target)
          if heading ~= "" then
            local anchors = {}
            for h in ("\n" .. read(file == "" and path or folder .. file)):gmatch "\n#+ ([^\n]+)" do
              anchors[anchor(h)] = true
            end
            assert.is_true(anchors[heading], target)
          end
        end
      end
    end)

    it("names files and folders that exist: " .. path, function()
      for _, line in ipairs(code(text)) do
        for word in line:gmatch "[%w_%-./*]+" do
          if word:find "^lua/" or word:find "^asamp/" or word:find "^lualib/" or word:find "^spec/"
             or word:find "^bench/" or word:find "^doc/" then
            assert.is_true(exists(word), word .. " in: " .. line)
          end
        end
      end
    end)

    it("names targets that make has: " .. path, function()
      local targets = {}
      for rule in read "Makefile":gmatch "\n([%l ]+):" do
        for name in rule:gmatch "%l+" do targets[name] = true end
      end
      assert.is_true(targets.fork and targets.testes)
      for _, line in ipairs(code(text)) do
        -- ignores luarocks' own command 'make', and subjects of patches
        line = line:gsub("luarocks [^#&;|]*", ""):gsub("^%d%d%d%d .*", "")
        for arguments in line:gmatch "%f[%w]make( [^#&;|]*)" do
          if not arguments:find "^ %-f" then
            for word in arguments:gmatch "%S+" do
              if not word:find "=" and not word:find "^%-" then
                assert.is_true(targets[word], word .. " in: " .. line)
              end
            end
          end
        end
      end
    end)

    it("names functions and constants of the fork that exist: " .. path, function()
      local sources = shell.output "cat lua/*.[ch] lua/gc/*.[ch] lua/gc/*/*.[ch] lua/patches/*.patch"
      for name in text:gmatch "%f[%w]luaN_[%a_]+" do
        assert.is_truthy(sources:find("%f[%w_]" .. name .. "%f[^%w_]"), name)
      end
      for name in text:gmatch "%f[%w]LUAN_[%u]+" do
        assert.is_truthy(sources:find("%f[%w_]" .. name .. "%f[^%w_]"), name)
      end
    end)

    -- A former bug: lines of an example command had been joined, and the backslashes between them were left
    -- in it.
    it("continues lines of commands with a backslash at their end only: " .. path, function()
      for _, line in ipairs(code(read(path))) do
        assert.is_nil(line:match "[%w/] \\ .*", path)
      end
    end)

    it("calls no function of the profiler that is not there: " .. path, function()
      for name in text:gmatch "%f[%w]profiler%.([%l_]+)%(" do
        assert.equal("function", type(profiler[name]), name)
      end
    end)
  end

  it("is found from the README", function()
    local links = set(read "README.md", "%]%(([^)#%s]+)")
    for _, path in ipairs(DOCUMENTS) do
      if path ~= "README.md" then assert.is_true(links[path], path) end
    end
  end)
end)
