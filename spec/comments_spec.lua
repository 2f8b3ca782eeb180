-- SPDX-License-Identifier: MIT
--
-- The invariants, files and functions that comments name must exist. A former bug: two comments named
-- invariants that nobody had ever written, or that had been removed.

local shell = require "spec.support.shell"

-- Words that look like the name of an invariant but are not (V8 is an engine of JavaScript).
local OTHERS = {V8 = true}
-- File names that comments use as examples.
local EXAMPLES = {["app.lua"] = true, ["x.lua"] = true}

local FILES = shell.lines(shell.output [[git ls-files lua asamp lualib view | grep -E '\.([ch]|lua|js)$']])
local DOCUMENTS = shell.lines(shell.output "ls doc/*.md lua/patches/*.patch")

local texts = {}
for _, path in ipairs(FILES) do texts[path] = assert(shell.read(path)) end

-- Returns the comments of a file as one text.
local function comments(path)
  local list = {}
  if path:find "%.lua$" then
    for line in texts[path]:gmatch "%-%-[^\n]*" do list[#list + 1] = line end
  else
    for block in texts[path]:gmatch "/%*.-%*/" do list[#list + 1] = block end
    if path:find "%.js$" then
      for line in texts[path]:gmatch "//[^\n]*" do list[#list + 1] = line end
    end
  end
  return table.concat(list, "\n")
end

-- Returns two values: a table from the name of each invariant (such as G1) to the file that defines it, and
-- the set of letters with which such names start.
local function invariants()
  local defined, letters = {}, {}
  for _, path in ipairs(FILES) do
    for name in texts[path]:gmatch "\n[*/-]*  +(%u%u?%u?%d%d?) +%S" do
      defined[name] = defined[name] or path
      letters[name:match "%u+"] = true
    end
    -- also finds an invariant that a header states within a sentence
    for name in comments(path):gmatch "[(\n][*/-]* ?(%u%u?%u?%d%d?): " do
      defined[name] = defined[name] or path
      letters[name:match "%u+"] = true
    end
  end
  return defined, letters
end

describe("comments #plain", function()
  it("name invariants that are there, and so do documents and patches", function()
    local defined, letters = invariants()
    local n, missing = 0, {}
    for _ in pairs(defined) do n = n + 1 end
    assert.is_true(n > 200, n)
    local function check(path, text)
      for name in text:gmatch "%f[%w_](%u%u?%u?%d%d?)%f[^%w_]" do
        if letters[name:match "%u+"] and not defined[name] and not OTHERS[name] then
          missing[#missing + 1] = path .. " " .. name
        end
      end
    end
    for _, path in ipairs(FILES) do check(path, comments(path)) end
    for _, path in ipairs(DOCUMENTS) do
      for relied in assert(shell.read(path)):gmatch "Relies on: ([^\n]+)" do check(path, relied) end
    end
    assert.same({}, missing)
  end)

  it("name files that are there, ours or upstream's", function()
    local known = {}
    for _, path in ipairs(shell.lines(shell.output "git ls-files; ls build/fork/src/src/*")) do
      known[path:match "[^/]+$"] = true
    end
    local missing = {}
    for _, path in ipairs(FILES) do
      for name in comments(path):gmatch "%f[%w_-]([%l%d_-]+%.%l+)%f[^%w_.]" do
        local ending = name:match "%.(%l+)$"
        if (ending == "c" or ending == "h" or ending == "lua" or ending == "js" or ending == "md")
           and not known[name] and not EXAMPLES[name] then
          missing[#missing + 1] = path .. " " .. name
        end
      end
    end
    assert.same({}, missing)
  end)

  it("name functions of the core that are there", function()
    local known, missing = {}, {}
    for _, path in ipairs(FILES) do
      for name in texts[path]:gsub("/%*.-%*/", ""):gmatch "luaN_%w+" do known[name] = true end
    end
    for _, path in ipairs(FILES) do
      for name in comments(path):gmatch "luaN_%w+" do
        if not known[name] then missing[#missing + 1] = path .. " " .. name end
      end
    end
    assert.same({}, missing)
  end)

  it("start with the licence, in each source file", function()
    local missing = {}
    local list = shell.output [[git ls-files | grep -E '\.([ch]|lua|js|css|sh)$' |
                                grep -v -E '^(spec/(innocent|planted|corpus)|doc/examples)/']]
    for _, path in ipairs(shell.lines(list)) do
      local head = assert(shell.read(path)):sub(1, 200)
      if not head:find("SPDX-License-Identifier: MIT", 1, true) then missing[#missing + 1] = path end
    end
    assert.same({}, missing)
  end)
end)
