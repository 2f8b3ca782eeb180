-- SPDX-License-Identifier: MIT
--
-- Counts words and forms that are hard to understand in comments, documents and string messages, per top
-- folder, and compares the counts with spec/language.limits. The command spec/language runs it.
--
-- Data: a block is one comment, string, paragraph or description, as its text and the number of its first
-- line in the file. spec/language.limits has lines "FOLDER PATTERN=COUNT ..."; a missing pattern has the
-- limit 0.

local LIMITS = "spec/language.limits"
local FOLDERS = {"lua", "asamp", "lualib", "view", "spec", "bench", "doc", "pack"}
-- Files in the top folder count as documents, like those of this folder.
local TOP = "doc"

-- If one of these words precedes "who", then "who" refers to a person.
local PERSONS = {}
for word in ([[person persons people user users reader readers author authors programmer programmers operator
               operators somebody someone anybody anyone everyone everybody nobody those one he she they
               engineers developers maintainer maintainers root and or]]):gmatch "%a+" do
  PERSONS[word] = true
end
-- Words that may follow "what". With them it is part of a plain noun phrase, or asks about a person's
-- action.
local PLAIN = {to = true, happened = true, happens = true, kind = true}

-- The patterns to be counted, a list of {name, advice, find}. 'advice' names words to use instead.
-- find(text) returns an iterator over the offsets at which the pattern matches in a text, which is in lower
-- case and has a space at both ends.
local PATTERNS = {}

local function pattern(name, advice, find)
  PATTERNS[#PATTERNS + 1] = {name = name, advice = advice, find = find}
end

-- Returns a function find(text, found) that calls 'found' with the offset of each word that matches
-- one of the Lua patterns in 'list'.
local function words(list)
  return function(text, found)
    for _, word in ipairs(list) do
      for offset in text:gmatch("()%f[%w_]" .. word .. "%f[^%w_]") do found(offset) end
    end
  end
end

pattern("what", "name the thing", function(text, found)
  for offset, after, sep in text:gmatch "()%f[%w_]what%f[^%w_]%s*(%a*)(%p?)" do
    local word = text:match("^%a+", offset + 5)
    local question = text:find("^[^.;:]*%?", offset)
    if not question and not PLAIN[word or after] and sep ~= "()" then found(offset) end
  end
end)
pattern("tell", "reports, emits, notifies", words{"tell", "tells", "told", "telling"})
pattern("ask", "queries, requests, calls", words{"ask", "asks", "asked", "asking"})
pattern("look", "scans, visits, reads", words{"look at", "looks at", "looked at", "looking at"})
pattern("behind", "after, at higher addresses", words{"behind"})
pattern("begin", "start", words{"begin", "begins", "began", "begun", "beginning", "beginnings"})
pattern("beside", "next to, in addition to", words{"beside"})
pattern("somany", "up to N, as many as", words{"so many", "so much"})
pattern("butfor", "except", words{"but for"})
pattern("who", "name the function or object", function(text, found)
  for before, offset in text:gmatch "(%a*)%p?%s*()%f[%w_]who%f[^%w_]" do
    if not PERSONS[before] then found(offset) end
  end
  for offset in text:gmatch "()%f[%w_]whoever%f[^%w_]" do found(offset) end
end)
pattern("dots", "write a complete comment", function(text, found)
  if text:find "^%s*%.%.%.%s+%a" or text:find "^%s*…%s*%a" then found(1) end
end)
pattern("question", "write a condition", function(text, found, kind)
  if kind == "comment" and text:find "%?%s*$" and not text:find "[%.;]%s+[^?]*%?%s*$" then found(1) end
end)

-- Returns the number of line feeds in text[from, to].
local function lines(text, from, to)
  local n = 0
  for _ in text:sub(from, to):gmatch "\n" do n = n + 1 end
  return n
end

-- Returns true if a string in code counts as a sentence: it has at least three words and contains no code.
local function sentence(text)
  local n = 0
  for _ in text:gmatch "%f[%a]%a+%f[%A]" do n = n + 1 end
  return n >= 3 and text:find "%a %a" and not text:find "%.%*" and not text:find "%(%)"
end

-- Splits a source file into its comments and strings, and calls add(line, text, kind) for each. 'syntax'
-- describes how comments start and end.
local function source(text, add, syntax)
  local pos, line, seen = 1, 1, 1
  -- the last line comment; if the next line has a comment, too, it continues this one
  local last
  local function at(offset)
    line = line + lines(text, seen, offset - 1)
    seen = offset
    return line
  end
  while true do
    local s = text:find(syntax.starts, pos)
    if not s then return end
    local e, body, kind, level
    local two = text:sub(s, s + 1)
    if syntax.block and two == "/*" then
      body, e = text:match("^/%*(.-)%*/()", s)
      kind = "comment"
    elseif two == syntax.line or (syntax.line == "#" and two:sub(1, 1) == "#") then
      level, e = text:match("^%-%-%[(=*)%[()", s)
      if level and syntax.line == "--" then
        body, e = text:match("^(.-)%]" .. level .. "%]()", e)
      else
        body, e = text:match("^([^\n]*)()", s + #syntax.line)
      end
      kind = "comment"
      if syntax.line == "#" and s > 1 and not text:sub(s - 1, s - 1):find "%s" then kind = nil end
    elseif text:find("^[\"'`]", s) then
      local quote = text:sub(s, s)
      local i = s + 1
      while true do
        i = text:find("[\\\n" .. quote .. "]", i)
        if not i then break end
        local c = text:sub(i, i)
        if c == "\\" then i = i + 2
        elseif c == "\n" and quote ~= "`" then break
        elseif c == quote then break
        else i = i + 1 end
      end
      i = i or #text
      body, e, kind = text:sub(s + 1, i - 1), i + 1, "string"
    elseif syntax.line == "--" and text:find("^%[=*%[", s) then
      level, e = text:match("^%[(=*)%[()", s)
      body, e = text:match("^(.-)%]" .. level .. "%]()", e)
      kind = "string"
    end
    if not e then
      pos = s + 1
    else
      if kind == "comment" then
        local first = at(s)
        body = body:gsub("\n[ \t]*%*+ ?", "\n"):gsub("^%*+", ""):gsub("^%-+", ""):gsub("^/+", "")
        local alone = text:sub(1, s - 1):find("\n[ \t]*$", math.max(1, s - 200)) ~= nil
        if last and last.ends == first - 1 and last.alone and alone and two ~= "/*" then
          last.block.text = last.block.text .. "\n" .. body
          last.ends = first
        else
          local block = add(first, body, "comment")
          last = two ~= "/*" and {block = block, ends = first, alone = alone} or nil
        end
      elseif kind == "string" and sentence(body) then
        add(at(s), body, "string")
      end
      pos = e
    end
  end
end

local C = {starts = "[/\"']", block = true, line = "//"}
local JS = {starts = "[/\"'`]", block = true, line = "//"}
local LUA = {starts = "[-\"'%[]", line = "--"}
local SHELL = {starts = "#", line = "#"}

-- Splits a Markdown file into paragraphs, without blocks of code, inline code and addresses. Calls 'add'
-- for each.
local function markdown(text, add)
  local n, first, paragraph, code = 0, 1, {}, false
  local function flush()
    if paragraph[1] then add(first, table.concat(paragraph, "\n"), "document") end
    paragraph = {}
  end
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    n = n + 1
    if line:find "^%s*```" then
      code = not code
      flush()
    elseif code or line:find "^    %s*%S" and not paragraph[1] or line == "" then
      flush()
    else
      if not paragraph[1] then first = n end
      paragraph[#paragraph + 1] = line:gsub("`[^`]*`", "X"):gsub("%]%([^)]*%)", "]")
    end
  end
  flush()
end

-- Splits a patch into its description and the comments of the lines that it adds. Calls 'add' for each.
local function patch(text, add)
  local start = text:find("\n---", 1, true) or #text
  local from = select(2, text:find("\n\n", 1, true)) or 1
  if from < start then add(1, text:sub(from, start), "document") end
  local added = text:sub(start):gsub("\n([^+][^\n]*)", "\n"):gsub("\n%+", "\n")
  source(added, function(line, body, kind) return add(line + lines(text, 1, start - 1), body, kind) end, C)
end

local function splitter(path, text)
  local ending = path:match "%.(%w+)$"
  if ending == "c" or ending == "h" then return source, C end
  if ending == "js" or ending == "ts" or ending == "css" then return source, JS end
  if ending == "lua" then return source, LUA end
  if ending == "md" then return markdown end
  if ending == "patch" then return patch end
  if ending == nil or ending == "mk" or ending == "sh" or path:find "^spec/[%w/]*run$" then
    if text:find "^#![^\n]*lua" then return source, LUA end
    return source, SHELL
  end
end

local function read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- Searches all files of the repository. For each match calls 'found' with the folder, the pattern, the
-- file, the line and the text. Returns the number of words by folder.
local function scan(found)
  local total = {}
  local list <close> = assert(io.popen "git ls-files")
  for path in list:lines() do
    local folder = path:match "^(%w+)/" or TOP
    local file = io.open(path, "rb")
    local text = file and file:read "a"
    if file then file:close() end
    -- Some files are excluded: files that contain the forms as data, the license, and host programs.
    local named = path == "spec/support/language.lua" or path == "spec/language_spec.lua"
                  or path:find "^LICENSE" or path:find "^spec/support/hosts"
    local split, syntax
    if text and not named then split, syntax = splitter(path, text) end
    if split then
      local blocks = {}
      split(text, function(line, body, kind)
        local block = {line = line, text = body, kind = kind}
        blocks[#blocks + 1] = block
        return block
      end, syntax)
      for _, block in ipairs(blocks) do
        local lower = (" " .. block.text:lower() .. " ")
        for _ in lower:gmatch "%f[%a]%a+" do total[folder] = (total[folder] or 0) + 1 end
        local joined = lower:gsub("\n", " ")
        for _, p in ipairs(PATTERNS) do
          p.find(joined, function(offset)
            local line = block.line + lines(lower, 1, offset - 1)
            local excerpt = joined:sub(math.max(1, offset - 30), offset + 40)
            found(folder, p, path, line, excerpt)
          end, block.kind)
        end
      end
    end
  end
  return total
end

local function readlimits()
  local limits = {}
  for line in read(LIMITS):gmatch "[^\n]+" do
    local folder = line:match "^%w+"
    if folder and not line:find "^#" then
      limits[folder] = {}
      for name, count in line:gmatch "(%w+)=(%d+)" do limits[folder][name] = tonumber(count) end
    end
  end
  return limits
end

local HEAD = [[
# SPDX-License-Identifier: MIT
# Upper bounds of the forms that spec/language counts, one line per folder.
# Lower them with: spec/language --update
]]

local USAGE = [==[
usage: spec/language [--update | --list FOLDER [PATTERN]]
  without options: compares the counts with spec/language.limits; exit status 1 if one is above its limit
  --update         lowers the limits of spec/language.limits to the counts
  --list           prints each finding of a folder as path:line: pattern: text
]==]

local function main(option, folder, name)
  if option and option ~= "--update" and option ~= "--list" then
    io.stderr:write(USAGE)
    return 2
  end
  local counts, findings = {}, {}
  for _, f in ipairs(FOLDERS) do counts[f], findings[f] = {}, {} end
  local total = scan(function(f, p, path, line, excerpt)
    if not counts[f] then return end
    counts[f][p.name] = (counts[f][p.name] or 0) + 1
    findings[f][#findings[f] + 1] = {p, path, line, excerpt}
  end)
  if option == "--list" then
    for _, f in ipairs(findings[folder] or {}) do
      if not name or f[1].name == name then
        print(("%s:%d: %s: %s"):format(f[2], f[3], f[1].name, f[4]))
      end
    end
    for _, p in ipairs(PATTERNS) do
      local n = counts[folder] and counts[folder][p.name] or 0
      print(("%-9s %5d  %5.2f per 1,000 words"):format(p.name, n, n * 1000 / (total[folder] or 1)))
    end
    return 0
  end
  local known, limits = pcall(readlimits)
  local absent = not known
  if absent then limits = {} end
  local status, lower, out = 0, {}, {HEAD}
  for _, f in ipairs(FOLDERS) do
    local line = {f}
    for _, p in ipairs(PATTERNS) do
      local n, limit = counts[f][p.name] or 0, (limits[f] or {})[p.name] or 0
      if n > limit and not absent then
        status = 1
        io.stderr:write(("spec/language: %s has the form '%s' %d times, its limit is %d; use instead: %s\n")
          :format(f, p.name, n, limit, p.advice))
        local shown = 0
        for _, found in ipairs(findings[f]) do
          if found[1] == p and shown < 20 then
            shown = shown + 1
            io.stderr:write(("  %s:%d: %s\n"):format(found[2], found[3], found[4]))
          end
        end
        if n > shown then
          io.stderr:write(("  %d more: spec/language --list %s %s\n"):format(n - shown, f, p.name))
        end
      elseif n < limit then
        lower[#lower + 1] = ("%s %s %d < %d"):format(f, p.name, n, limit)
      end
      line[#line + 1] = ("%s=%d"):format(p.name, absent and n or math.min(n, limit))
    end
    out[#out + 1] = table.concat(line, " ") .. "\n"
  end
  if option == "--update" then
    local file = assert(io.open(LIMITS, "wb"))
    assert(file:write(table.concat(out)))
    assert(file:close())
  elseif lower[1] then
    print(("spec/language: %d counts are below their limits; lower the limits: spec/language --update")
      :format(#lower))
  end
  return status
end

os.exit(main(...))
