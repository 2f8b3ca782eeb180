-- SPDX-License-Identifier: MIT
-- Renders the facts of asamp.sums.verdict as sentences, each with the command to type next.

local layout = require "asamp.show.layout"
local proof = require "asamp.show.proof"
local units = require "asamp.show.units"

local M = {}

-- Ranks of sentences: if not all fit on the terminal, those of the highest rank are omitted first.
local GROWTH, ALLOCATION, TIME, HELD, ALSO = 1, 2, 3, 4, 5

-- The first SHOWN likely leaks have a sentence each. One more sentence names up to MORE further leaks.
local SHOWN, MORE = 2, 3
local PROMINENT = 1 / 4  -- a C function has a remedy if it took this share of all time
-- If there are fewer allocation samples, the verdict has no sentence about a line or a holder.
local FEW = 4
-- A holder has a sentence if it keeps 10% of the live bytes (HELD_SHARE), and at least 2 live samples
-- (HELD_LEAST).
local HELD_SHARE, HELD_LEAST = 1 / 10, 2
-- If a likely leak keeps at least this share of a line's bytes, the sentence about the line's allocation
-- states the share: a part of its objects leaks, although the others die young.
local PARTLY = 1 / 10
-- If fewer bytes are live, the verdict does not mention the cost of major collections.
local LARGE = 8 << 20
-- A container that only grew in the first 10% of the program's CPU time probably has data that the program
-- loads when it starts.
local LOADING = 1 / 10

local function place(row)
  if row.native and row.name == "pmain" then  -- the interpreter's main function, which compiles the script
    return "the compilation of the script"
  elseif row.native then
    return layout.clean(("C function %s (%s)"):format(row.name, row.file:match "[^/]*$"))
  end
  local where = row.line > 0 and ("%s:%d"):format(row.file, row.line) or row.file
  return layout.clean(row.name == "main chunk" and where or ("%s (%s)"):format(where, row.name))
end

-- Returns the option of `asamp report`, as text, that restricts the report to a line or a C function.
local function lineof(row)
  return row.native and "--function " .. layout.word(row.name) or
         ("--line %s"):format(layout.word(("%s:%d"):format(row.file, row.line)))
end

local function percent(share)
  return ("%.0f%%"):format(100 * share)
end

-- Maps the prefix of a C function's symbol to the library's name in Lua: luaB_print is print, str_format
-- is string.format.
local LIBRARIES = {luaB = "", str = "string.", os = "os.", io = "io.", g = "io.", math = "math.",
                   f = "file:", db = "debug.", ll = ""}

-- Names of C functions whose symbols have no library as prefix.
local NAMES = {tremove = "table.remove", tinsert = "table.insert", tconcat = "table.concat",
               tmove = "table.move", tpack = "table.pack", tunpack = "table.unpack", sort = "table.sort",
               gmatch = "string.gmatch", luaB_cocreate = "coroutine.create",
               luaB_coresume = "coroutine.resume", luaB_cowrap = "coroutine.wrap",
               luaB_auxwrap = "coroutine.wrap", luaB_close = "coroutine.close", utflen = "utf8.len",
               str_find_aux = "string.find or string.match", ipairsaux = "ipairs",
               io_readline = "io.lines or file:lines", iter_auxlax = "utf8.codes",
               iter_auxstrict = "utf8.codes", utfchar = "utf8.char", codepoint = "utf8.codepoint",
               byteoffset = "utf8.offset"}

-- Returns the name by which programs call a C function of Lua's libraries; for other functions, the symbol.
local function cname(name)
  local whole = layout.clean(name)
  local short = whole:gsub("_aux$", "")
  local lib, rest = short:match "^(%a+)_(%w+)$"
  return NAMES[whole] or NAMES[short] or LIBRARIES[lib] and LIBRARIES[lib] .. rest or short
end

-- {== growth and leaks ======================================================

local KINDS = {
  list = "elements are added to a list and never removed",
  closures = "functions are added and never removed (listeners, callbacks, closures)",
  keys = "keys are added to a table and never removed (a cache or registry without bound)",
  nested = "its lists or tables grow, or new ones are added, and nothing is removed",
  coroutines = "coroutines are added and never removed",
  references = "C code keeps more and more values with luaL_ref, or one of these values grows",
  chain = "it holds a growing chain or list of objects",
}

-- Names of types in sentences.
local TYPES = {["Lua closure"] = "closures", ["table array part"] = "array parts of tables",
               ["table hash part"] = "hash parts of tables", table = "tables", string = "strings",
               coroutine = "coroutines", stack = "stacks of coroutines", upvalue = "upvalues of closures",
               proto = "compiled code", ["FILE*"] = "files (each open file counts as 32 KiB)",
               outside = "memory outside of Lua's heap"}

local function typename(name)
  return layout.clean(TYPES[name] or name)
end

-- Returns a sentence with the reason why no holder of a leak's objects is known. 'v': the verdict.
local function unheld(v)
  if v.searched == "end" then
    return "No holder is known: at the end, the profiler found no reference to these objects, so they may " ..
           "be garbage that no collection has found"
  end
  return ("The holder is unknown: after these objects were allocated, the profiler did not search for " ..
          "holders%s, because the process was still running, or a signal or C code ended it. " ..
          "While it runs, use asamp heap PID"):format(
    v.searched and (" (the last search was at %s)"):format(units.seconds(v.searched / 1e6)) or "")
end

-- Returns the first three different source lines of a likely leak, as text. If the objects of a line are in
-- several containers (tables that keep them alive), 'rows' has the line several times.
local function places(rows)
  local list, known = {}, {}
  for _, row in ipairs(rows) do
    local text = place(row)
    list[#list + 1] = not known[text] and #list < 3 and text or nil
    known[text] = true
  end
  return table.concat(list, ", ")
end

local function leak(v, group)
  local from = places(group.rows)
  if group.rows[1].type == "native" and not group.holder then
    return ("Likely leak: %s of native memory from %s, which nothing frees."):format(units.bytes(group.bytes),
                                                                                    from)
  elseif not group.holder then
    return ("Likely leak: %s of %s from %s, alive at the end. %s."):format(units.bytes(group.bytes),
      typename(group.rows[1].type), from, unheld(v))
  elseif group.held then
    return ("Likely leak: %s: %s. It keeps %s. Most of that was allocated by C code " ..
            "that no Lua code called; %s of it are %s from %s."):format(layout.clean(group.holder),
      KINDS[group.kind], units.bytes(group.held), units.bytes(group.bytes),
      typename(group.rows[1].type), from)
  end
  return ("Likely leak: %s: %s. It keeps %s, most of it %s from %s."):format(layout.clean(group.holder),
    KINDS[group.kind], units.bytes(group.bytes), typename(group.rows[1].type), from)
end

-- Returns a sentence that starts with 'words' and lists up to MORE elements of 'list', after the first n;
-- nil: there are no such elements. name(element): returns the text for an element.
local function naming(words, list, n, name)
  local names, left = {}, #list - n - MORE
  for i = n + 1, math.min(n + MORE, #list) do
    names[#names + 1] = name(list[i])
  end
  return #names > 0 and ("%s: %s%s."):format(words, table.concat(names, "; "),
                                             left > 0 and ("; and %d more"):format(left) or "") or nil
end

local function other(group)
  return ("%s (%s from %s)"):format(layout.clean(group.holder or "unknown holder"), units.bytes(group.bytes),
                                    place(group.rows[1]))
end

local function otherpossible(c)
  return (c.holder and layout.clean(c.holder) .. ", from " or "live objects of ") .. place(c)
end

local function quarters(v)
  return ("from %s to %s"):format(
    units.bytes(v.before), units.bytes(v.after))
end

-- Returns a sentence with a sampling period that would find the lines that make the heap grow, if the profile
-- has too few samples for that. Else returns "".
local function finer(v)
  return v.alloc and
         (" Too few samples show which lines make it grow; " ..
          "a run with --alloc %s takes enough samples."):format(
           units.period(v.alloc)) or ""
end

-- Returns sentences for a verdict v on a profile p that has too few samples or collections to decide whether
-- the heap grows, or which lines are the cause.
local function few(v, p)
  local more = ("A longer run%s takes more samples."):format(
    v.alloc and (", or --alloc %s,"):format(units.period(v.alloc)) or "")
  if v.few then
    return ("The heap grew %s. " ..
            "The cause is unknown: %s %s live objects from early and late in the run, but fewer than " ..
            "%d live samples. %s")
      :format(quarters(v), units.plural(v.few.lines, "line"),
      v.few.lines == 1 and "has" or "have", v.few.least, more)
  elseif v.collections then
    return ("Too few collections to say whether the heap grows: the run had %s (%s). " ..
      "At least one quarter of the run had none. " ..
      "Profile a longer run, in which the program does not stop the collector."):format(
      units.plural(p.minors + p.majors, "collection"), units.plural(v.samples, "sample"))
  end
  return ("Too few samples to say whether the heap grows: %s, %s. %s"):format(
    units.plural(v.samples, "sample"), units.plural(p.minors + p.majors, "collection"), more)
end

-- Returns the sentences about a container that may leak.
--
-- stopped: share of the CPU time, without collections, after which it did not grow; nil: it grew until the
-- end
-- grower: text: the container, and the line that adds to it
local function possibly(stopped, grower)
  if not stopped then
    return ("Seen growing: %s. It may be a leak, or a list, cache or output that fills up: " ..
            "profile a longer run, and check if it grows until the end."):format(grower)
  elseif stopped < LOADING then
    return ("Seen growing only in the first %s of the CPU time (collections not counted): %s. " ..
            "It is probably data that the program loads once."):format(
      percent(math.max(stopped, 0.01)), grower)
  end
  return ("Seen growing in the first %s of the CPU time (collections not counted): %s. " ..
          "After that, the program worked without adding to it. " ..
          "It may be data that the program loads once, or a leak in the first part of the run. " ..
          "Check if it grows again when the program repeats its work."):format(percent(stopped), grower)
end

local function growth(v, p, add)
  if v.lost then
    add(("Samples were lost: the samples in the file represent only %s of %s allocated. " ..
      "The bytes below are too low by the difference."):format(units.bytes(v.lost), units.bytes(p.allocated)))
  end
  if v.growth == "few" then
    add(few(v, p))
  elseif v.growth == "grows" then
    local text = v.before and (v.after > v.before and
      "The heap grew from %s in the second quarter of the run to %s in the last." or
      "The heap does not grow (from %s to %s), but a part of the live memory does.")
    add(text and text:format(units.bytes(v.before), units.bytes(v.after)) or "Native memory grows.")
    local n = math.min(SHOWN, #v.leaks)
    local others = naming("More likely leaks", v.leaks, n, other)
    for i = 1, n do
      local group = v.leaks[i]
      local proved = group.proof and " " .. proof.sentence(group.proof, proof.lines(group.rows)) or ""
      add(leak(v, group) .. proved,
          i == n and not others and "--show leaks" or nil)
    end
    if others then
      add(others, "--show leaks")
    end
    if v.leaks[1] and proof.holds(v.leaks[1]) then
      add(proof.LIMIT)
    end
  elseif v.growth == "maybe" then
    local first = v.maybe[1]
    local grower = first.holder and ("%s, from %s"):format(layout.clean(first.holder), place(first)) or
                   ("the live objects of %s, whose holder is unknown"):format(place(first))
    local others = naming(" Also seen growing", v.maybe, 1, otherpossible) or ""
    add(possibly(first.stopped, grower) .. others,
      first.holder and "--show holders" or lineof(first))
  elseif v.growth == "lines" then
    add(("The heap grew %s, but no line explains the growth: " ..
         "no sampled line is known to keep objects from all parts of the run.%s"):format(
      quarters(v), finer(v)), v.trends and "--show trends" or "--show collections")
  elseif v.growth and not v.before then
    add("The heap does not grow: no sampled object survived its first collection.")
  elseif v.growth == "small" then
    add(("The heap grew %s, too little to find the cause with one sample every %s%s."):format(quarters(v),
      units.bytes(v.period), v.alloc and "; use --alloc " .. units.period(v.alloc) or ""))
  elseif v.growth then
    add(("The heap does not grow (%s)."):format(quarters(v)))
  end
end

-- ==}

local REASONS = {
  closures = "a new closure each time. Make the function once, outside of the loop",
  resized = "tables that are resized again and again as they grow. " ..
            "Create them with all their fields, or reuse them",
  strings = "new strings each time, which are soon dropped. Keep them, or create fewer",
  tables = "a new table each time, which is soon dropped. Reuse one, or move it out of the loop",
  coroutines = "a new coroutine each time. Reuse coroutines",
  others = "new objects each time, which are soon dropped",
}

-- Advice for lines that make long strings. The key is the C function that allocates the strings; "" is
-- for the operator "..". Other functions, such as file:read, have no advice: their strings do not contain the
-- previous ones.
local LONG = {[""] = "Collect the parts in a table, and call table.concat once",
              str_format = "Collect the parts in a table, and call table.concat once",
              str_gsub = "Replace all patterns in one call",
              str_sub = "Keep a position in the text instead of copying the rest of it",
              tconcat = "Call table.concat once, after the last part"}
local IFLONG = ". Their mean size is %s: if each contains most of the previous one, the work is quadratic. %s"

-- Returns the share of a line's bytes that likely leaks keep alive, or nil if no likely leak has the line.
-- Only counts leaks that are named in sentences (SHOWN, MORE). 'v': the verdict.
local function leakshare(v, line)
  local bytes
  for i = 1, v.growth == "grows" and math.min(SHOWN + MORE, #v.leaks) or 0 do
    for _, row in ipairs(v.leaks[i].rows) do
      if row.file == line.file and row.line == line.line then
        bytes = (bytes or 0) + (row.keptbytes or 0)
      end
    end
  end
  return bytes and bytes / math.max(line.bytes, 1)
end

local function cause(line)
  if line.reason == "quadratic" then
    return (" Likely reason: quadratic concatenation: each byte of the strings is copied over %s times. " ..
            "Collect the parts in a table, and call table.concat once."):format(
      units.count(math.floor(line.times)))
  elseif line.reason == "kept" then
    return (" %s of these bytes survived their first garbage collection."):format(percent(line.survived))
  elseif line.few then
    return (" Too few samples to say why: %s."):format(units.plural(line.samples, "sample"))
  elseif REASONS[line.reason] then
    local words, remedy = REASONS[line.reason]:match "^([^.]*)(.*)$"
    local called = line.calls and cname(line.calls)
    local long = line.long and LONG[line.calls or ""]
    remedy = long and IFLONG:format(units.bytes(line.long // 1 | 0), long) or remedy
    return (" Likely reason: %s%s%s."):format(words, called and (" (allocated by %s)"):format(called) or "",
                                              remedy)
  end
  return ""
end

local function reason(v, line)
  local share = leakshare(v, line)
  if line.reason == "kept" and share then
    return " This line is part of the likely leak."
  elseif share and share >= PARTLY then
    return ("%s %s of these bytes are part of the likely leak."):format(cause(line), percent(share))
  end
  return cause(line)
end

local function allocation(v, add)
  for i, line in ipairs((v.samples or FEW) >= FEW and v.lines or {}) do
    add(("%s: %s allocates %s, %s of all%s.%s"):format(
      i == 1 and "Allocation" or "Also", place(line), units.bytes((line.about or line.bytes) // 1 | 0),
      percent(line.share), line.type and ", most of it " .. typename(line.type) or "", reason(v, line)),
      line.reason == "quadratic" and "--show copies" or lineof(line), i > 1 and ALSO or nil)
  end
end

local function held(v, p, add)
  local first, leaking = v.held and v.held[1], v.growth == "grows" and v.leaks[1]
  local inuse = p.course and p.course.last and p.course.last.inuse
  -- True if the sentence about the first likely leak names the same holder. Then no sentence about the holder
  -- is added.
  local known = leaking and first and leaking.holder == first.text
  if first and (first.share or 0) >= HELD_SHARE and first.samples >= HELD_LEAST and
     (v.samples or FEW) >= FEW and not known then
    add(first.gone and ("Not freed at the end: %s, %s of it garbage that %s held before."):format(
      units.bytes(v.held.bytes), percent(first.share), layout.clean(first.text)) or
      ("Alive at %s: %s%s, %s of it held by %s."):format(v.held.at and
      units.seconds(v.held.at / 1e6) .. ", the last search for holders" or "the end",
      units.bytes(v.held.bytes),
      v.held.at and inuse and (" (at the end %s were in use)"):format(units.bytes(inuse)) or "",
      percent(first.share), layout.clean(first.text)), "--show holders")
  end
end

-- Remedies for C functions (PROMINENT).
local REMEDIES = {
  tremove = " table.remove moves all elements after the removed one. Remove the last element, or keep the " ..
            "index of the first element.",
  tinsert = " table.insert moves all elements after the new one. Append elements, and read the list from " ..
            "its end.",
  luaB_load = " Compile each text once, and keep the resulting function.",
}

local function timing(v, p, add)
  local time, at = v.time, v.time and v.time.at
  if not time then
    return
  elseif not time.sort then
    return add(("Too few time samples to say where the time is spent: %s. " ..
      "A longer run, or --time 1000, takes more samples."):format(
      units.plural(math.floor(time.samples + 0.5), "sample")))
  end
  local inuse = p.course and p.course.last and p.course.last.inuse or 0
  if time.sort == "gc" and at and at.calls == "luaB_collectgarbage" then
    add(("Time: %s is spent in garbage collection, %s requested by collectgarbage at %s. " ..
      "Remove the call, or make it less often."):format(percent(time.gc), percent(at.share), place(at)),
      "--by time")
  elseif time.sort == "gc" then
    add(("Time: %s is spent in garbage collection%s.%s"):format(percent(time.gc),
      at and (", %s at %s"):format(percent(at.share), place(at)) or "", inuse >= LARGE and
      (" Each major collection visits all live objects, %s: keep fewer."):format(units.bytes(inuse)) or
      at and " Allocate less there." or " Allocate less."), "advise")
  elseif time.sort == "c" then
    add(("Time: %s is spent in C functions%s.%s"):format(percent(time.c),
      at and (", %s in %s, called at %s"):format(percent(at.share), at.own and "the profiler itself" or
                                                   cname(at.calls or "C"), place(at)) or "",
      at and at.share >= PROMINENT and REMEDIES[at.calls] or ""), "--by time")
  else
    add(("Time: %s is spent in Lua%s."):format(percent(time.lua),
      at and (", %s at %s"):format(percent(at.share), place(at)) or ""), "--by time")
  end
end

--- Returns the sentences of verdict v on profile p, as a list with the fields
--
--   - text: the sentence
--   - command: shell command to type next; nil: none
--   - rank: if space is short, sentences with the highest rank are omitted first
function M.sentences(v, p)
  local list, rank = {}, GROWTH
  local function add(text, command, own)
    if command then
      command = ("asamp %s %s"):format(command:find "^%-" and "report " .. command or command,
                                       layout.pathword(p.path or "FILE"))
    end
    list[#list + 1] = {text = text, command = command, rank = own or rank}
  end
  growth(v, p, add)
  rank = ALLOCATION
  allocation(v, add)
  rank = HELD
  held(v, p, add)
  rank = TIME
  timing(v, p, add)
  return list
end

-- Removes the blocks of text with the highest rank until the others fit into 'rows' rows of 'width' columns.
-- Keeps all blocks of the ranks GROWTH and ALLOCATION.
local function fit(blocks, rows, width)
  local used = 0
  for _, block in ipairs(blocks) do
    used = used + layout.rows(block.text, width)
  end
  while used > rows do
    local last
    for i, block in ipairs(blocks) do
      last = block.rank > ALLOCATION and (not last or block.rank >= blocks[last].rank) and i or last
    end
    if not last then
      return
    end
    used = used - layout.rows(table.remove(blocks, last).text, width)
  end
end

--- Returns the report's verdict as lines of text: whether the heap grows, and the lines to improve.
--
--   - style: settings of the report (tables.lua)
--   - v: result of asamp.sums.verdict
--   - rows: largest number of terminal rows; nil: no limit
function M.lines(style, v, rows)
  local blocks, lines = {}, {}
  for i, sentence in ipairs(M.sentences(v, style.profile)) do
    local text = layout.wrap(sentence.text, "  ", style.width)
    if sentence.command then
      text = text .. "\n" .. style.paint("dim", "    " .. layout.clean(sentence.command))
    end
    blocks[i] = {text = text, rank = sentence.rank}
  end
  if rows then
    fit(blocks, rows, style.width)
  end
  for i, block in ipairs(blocks) do
    lines[i] = block.text
  end
  return lines
end

return M
