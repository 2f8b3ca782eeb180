-- SPDX-License-Identifier: MIT
-- Command lines of the subcommands. A description, a table, defines the options, error messages and help text
-- of a command. Its list elements are the options. Its fields:
--
--   - command: name of the subcommand
--   - arguments: arguments in the usage line, after the options
--   - least, most: number of arguments (default 1 and 1)
--   - what: word for one argument in messages (default "file")
--   - wants: text for all arguments in messages, such as "a process and a name" (nil: their number and that
--     word)
--   - rest: a number n: words after the n-th argument are arguments even if they start with "-"
--   - about, after: help text above and below the options
--   - exits: text about the exit codes
--   - foreign(word): returns a message for an unknown option, or nil
--
-- An option is a table {name, value, text, check, short, bare}; the last two are named fields:
--
--   - name: the option without the dashes
--   - value: placeholder of the value in the help; nil: the option is a switch without a value
--   - text: help text
--   - check(text): returns the checked value, or nil and a description of valid values; nil: any text is
--     valid
--   - short: "o" makes -o another form of the option
--   - bare: value of the option if the user gives none. Such an option takes its value only after "="
--
-- A word that starts with "-" and a digit is an argument (a number), not an option.

local complaints = require "asamp.cli.complaints"
local host = require "asamp.host"
local layout = require "asamp.show.layout"

local M = {}

local EXITS = "Exit codes: 0 done, 1 %s or the result cannot be written, 2 wrong arguments."

-- {== values ===============================================================

-- Larger numbers in options are replaced by this one, so that small multiples of them do not overflow in Lua
-- or C.
local PLENTY = (1 << 31) - 1

--- Returns the function check(text) of an option whose values are whole numbers of at least 'least'. It
-- returns the number, or nil and a text that describes valid values.
function M.whole(least)
  return function(text)
    local n = text:find "^%d+$" and math.tointeger(tonumber(text))
    if n and n >= least then
      return math.min(n, PLENTY)
    end
    return nil, ("a whole number of at least %d"):format(least)
  end
end

--- Checks the value of an option: a time from one second to 366 days, such as "90s" or "2h". Returns seconds,
-- or nil and a text that describes valid values.
function M.duration(text)
  local n, unit = text:match "^(%d+)([smh]?)$"
  n = n and tonumber(n) * ({s = 1.0, m = 60.0, h = 3600.0})[unit == "" and "s" or unit]
  if n and n >= 1 and n <= 366 * 86400 then
    return math.tointeger(n)
  end
  return nil, "a time from 1s to 8784h, such as 30s, 5m or 1h"
end

--- Returns the function check(text) of an option whose values are numbers from 'least' to 'most'.
function M.number(least, most)
  return function(text)
    local n = text:find "^%d*%.?%d*$" and tonumber(text)
    if n and n >= least and n <= most then
      return n
    end
    return nil, ("a number from %g to %g"):format(least, most)
  end
end

--- Returns the function check(text) of an option whose value is one of the list 'words'.
function M.oneof(words)
  return function(text)
    for _, word in ipairs(words) do
      if text == word then
        return word
      end
    end
    return nil, table.concat(words, ", ", 1, #words - 1) .. " or " ..
                words[#words]
  end
end

--- Returns the function check(text) of an option whose value is a comma-separated list of words from the list
-- 'words'. It returns a list.
function M.listof(words)
  local one = M.oneof(words)
  return function(text)
    local list = {}
    for item in text:gmatch "[^,]+" do
      local value, wants = one(item)
      if not value then
        return nil, "a comma-separated list of " .. wants
      end
      list[#list + 1] = value
    end
    if #list == 0 then
      return nil, "a comma-separated list of " .. select(2, one "")
    end
    return list
  end
end

-- ==}

-- {== options of several commands ===========================================

--- Names of the measures that reports can be sorted by.
M.MEASURES = {"bytes", "samples", "survived", "alive", "time"}

--- Returns the option --by, whose values are the words in M.MEASURES and in the list 'more'. 'text': its help
-- text.
function M.by(text, more)
  local words = table.move(M.MEASURES, 1, #M.MEASURES, 1, {})
  return {"by", "WHAT", text, M.oneof(table.move(more or {}, 1, #(more or {}), #words + 1, words))}
end

M.TOP = {"top", "N", "shows at most N rows of each table (default 15)", M.whole(1)}
M.WIDTH = {"width", "N", "width of the output in columns (default: the terminal's, else 80)", M.whole(40)}
M.COLOR = {"color", "WHEN", "when to use colours: always, never or auto (default). " ..
  "auto: on terminals, unless NO_COLOR is set", M.oneof{"always", "never", "auto"}}
M.JSON = {"json", nil, "prints the output as JSON, with all rows unless --top is given"}

--- Returns the option --out, the path of the result. 'text': its help text.
function M.out(text)
  return {"out", "OUT", text, short = "o"}
end

-- Checks a colon-separated list of paths. Returns a list, or nil and a text that describes valid values. A
-- path may contain colons: if several paths are possible, takes the longest one that exists.
local function paths(text)
  local list, pos = {}, 1
  while pos <= #text do
    local last = (text:find(":", pos, true) or #text + 1) - 1
    local longest = last
    while last < #text do
      last = (text:find(":", last + 2, true) or #text + 1) - 1
      local path = text:sub(pos, last)
      longest = host.samefile(path, path) and last or longest
    end
    if longest >= pos then
      list[#list + 1] = text:sub(pos, longest)
    end
    pos = longest + 2
  end
  return #list > 0 and list or nil, "a value"
end

--- Returns the option --source, a list of folders. 'text': its help text.
function M.sources(text)
  return {"source", "DIRS", text, paths}
end

M.OWN = {"own", "PATHS", "PATHS: the files and folders of your own code, separated by colons. " ..
  "Bytes and time of other code count for the line of your code that called it",
  paths}

--- Returns true if output to stdout may have colours, according to the option --color in 'o'.
function M.color(o, world)
  if o.color and o.color ~= "auto" then
    return o.color == "always"
  end
  return world.color
end

--- Returns the settings of renderers ('style' in asamp.show.tables) according to the options --color, --width
-- and --top in 'o'. 'top': number of rows if --top is not given.
function M.style(o, world, top)
  return {paint = layout.painter(M.color(o, world)), top = o.top or top,
          width = o.width or world.columns or layout.WIDTH}
end

--- Prints a result as JSON if --json is given, else as text. 'top' is the default of --top. The text is
-- render(found, style).
function M.print(found, o, world, top, render)
  if o.json then
    require "asamp.show.json".write(found, world.out)
  else
    world.out(layout.screen(render(found, M.style(o, world, top)), M.color(o, world)))
  end
end

-- ==}

-- {== suggestions ===========================================================

-- Returns the edit distance of two texts: the smallest number of changes that turn one into the other. A
-- change adds, removes or replaces a character, or swaps two neighbouring characters.
local function distance(a, b)
  local rows = {[0] = {}}
  for j = 0, #b do
    rows[0][j] = j
  end
  for i = 1, #a do
    local row = {[0] = i}
    rows[i] = row
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(rows[i - 1][j] + 1, row[j - 1] + 1,
                        rows[i - 1][j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and
         a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], rows[i - 2][j - 2] + 1)
      end
    end
  end
  return rows[#a][#b]
end

--- Returns the word of the list 'words' that is most similar to 'text', or nil if none is similar enough. Up
-- to a third of a word's characters, or at least one, may differ.
function M.nearest(text, words)
  local best, least
  for _, word in ipairs(words) do
    local d = distance(text:sub(1, 40), word)
    if d <= math.max(1, #word // 3) and (not least or d < least) then
      best, least = word, d
    end
  end
  return best
end

-- ==}

-- {== parsing ===============================================================

local function find(description, name, short)
  local names = {"help"}
  for _, option in ipairs(description) do
    if option[1] == name or short and option.short == short then
      return option
    end
    names[#names + 1] = option[1]
  end
  return nil, names
end

local function unknown(word, name, names)
  local near = M.nearest(name, names)
  return ("unknown option '%s'%s"):format(
    word, near and (", did you mean --%s?"):format(near) or "")
end

--- Returns an error message if one of the files that a command reads twice is a pipe; else nil. Standard
-- input may be a pipe, because it is copied to a file first.
function M.readonce(files)
  for _, path in ipairs(files) do
    if path ~= "-" and host.ispipe(path) then
      return ("'%s' is a pipe and can be read only once, but is needed twice; " ..
              "give - instead, with the pipe as standard input"):format(path)
    end
  end
end

--- Returns an error message if standard input is in the list of files twice, because it can be read only
-- once; else nil.
function M.twice(files)
  local n = 0
  for _, path in ipairs(files) do
    n = n + (path == "-" and 1 or 0)
  end
  return n > 1 and "standard input ('-') is given twice, but can be read only once; give a file" or nil
end

local function counted(description, files)
  local what, n = description.what or "file", #files
  local least, most = description.least or 1, description.most or 1
  if least > 1 and (n < least or n > most) then
    return ("%s expected, got %d%s"):format(description.wants or ("%d %ss"):format(least, what), n,
      description.wants and (n == 1 and " argument" or " arguments") or "")
  elseif n < least then
    return ("no %s given"):format(what)
  elseif n > most then
    return most == 1 and ("one %s at a time, got '%s' and '%s'"):format(
             what, files[1], files[2])
           or ("at most %d %ss, got %d"):format(most, what, n)
  end
end

local function scan(description, args)
  local options, files = {}, {}
  local i = 1
  options.files = files
  while i <= #args do
    local a = args[i]
    if a == "--" then
      table.move(args, i + 1, #args, #files + 1, files)
      break
    elseif a:sub(1, 1) ~= "-" or a == "-" or a:find "^%-%.?%d" then
      files[#files + 1] = a
      if #files == description.rest then
        table.move(args, i + 1, #args, #files + 1, files)
        break
      end
    elseif a == "--help" or a == "-h" then
      return {help = true}
    else
      local name, value = a:match "^%-%-([^=]*)=(.*)$"
      name = name or a:match "^%-%-(.*)$"
      local option, names = find(description, name, not name and a:sub(2))
      if not option then
        return nil, description.foreign and description.foreign(a) or unknown(a, name or a:sub(2), names)
      end
      name = option[1]
      if options[name] ~= nil then
        return nil, ("--%s is given twice"):format(name)
      elseif not option[2] then
        if value then
          return nil, ("--%s takes no value, got '%s'"):format(name, value)
        end
        options[name] = true
      elseif option.bare and not value then
        options[name] = option.bare
      else
        if not value then
          i = i + 1
          value = args[i]
        end
        local checked, wants = value, "a value"
        if option[4] then
          checked, wants = option[4](value or "")
        elseif value == "" then
          checked = nil
        end
        if checked == nil then
          return nil, ("--%s needs %s, got %s"):format(
            name, wants, value and "'" .. value .. "'" or "nothing")
        end
        options[name] = checked
      end
    end
    i = i + 1
  end
  local wrong = counted(description, files)
  if wrong then
    return nil, wrong
  end
  return options
end

--- Parses the list 'args' according to the description of a command. Returns a map from names of options to
-- values (true for a switch); its field 'files' is the list of the arguments. If the user requested help or
-- made an error, prints the help or an error message, and returns nil and the exit code.
function M.parse(description, args, world)
  local options, wrong = scan(description, args)
  if not options then
    return nil, complaints.of(description.command, world).wrong("%s", wrong)
  elseif options.help then
    world.out(M.usage(description))
    return nil, 0
  end
  return options
end

-- ==}

function M.usage(description)
  local lines = {
    ("usage: asamp %s [options] %s"):format(description.command,
                                            description.arguments),
    "", layout.wrap(description.about, ""), "",
  }
  local all = table.move(description, 1, #description, 1, {})
  all[#all + 1] = {"help", nil, "this text"}
  local column = 0
  local function left(option)
    return (option.short and "  -" .. option.short .. ", --" or "  --") ..
           option[1] .. (option.bare and "[=" .. option[2] .. "]" or
                          option[2] and " " .. option[2] or "")
  end
  for _, option in ipairs(all) do
    column = math.max(column, layout.width(left(option)) + 2)
  end
  for _, option in ipairs(all) do
    local head = left(option)
    local text = layout.wrap(option[3], (" "):rep(column))
    lines[#lines + 1] = head .. text:sub(layout.width(head) + 1)
  end
  lines[#lines + 1] = ""
  if description.after then
    lines[#lines + 1] = layout.wrap(description.after, "")
    lines[#lines + 1] = ""
  end
  lines[#lines + 1] = layout.wrap(description.exits or EXITS:format(
    (description.what or "file"):find "^process" and "the given process does not answer"
    or "a file has no usable data"), "")
  return table.concat(lines, "\n") .. "\n"
end

--- Returns the function run(args, world) of a command with this description. It parses the arguments and, if
-- they are valid, calls main(o, world, warn); it returns the exit code.
--
--   - world: input and output (asamp.lua)
--   - o: options (M.parse)
--   - warn: functions of asamp.cli.complaints
function M.command(description, main)
  return function(args, world)
    local o, code = M.parse(description, args, world)
    if not o then
      return code
    end
    return main(o, world, complaints.of(description.command, world))
  end
end

return M
