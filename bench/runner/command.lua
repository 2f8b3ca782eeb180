-- SPDX-License-Identifier: MIT
-- Runs a program under a configuration, and returns its use of time and memory and its standard output. Its
-- error output is used only if the program fails. If a run fails, the functions return nil and a message;
-- they raise no error.

local command = {}
command.__index = command

local function quote(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

local function join(list)
  local out = {}
  for i, word in ipairs(list) do out[i] = quote(word) end
  return table.concat(out, " ")
end

local function read_all(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read("a")
  file:close()
  return text
end

-- Parses the line that the program runstat writes. Returns a table, or nil if the line has another form:
-- wall and cpu are in seconds, rss (peak) is in bytes, status is the exit status.
function command.parse_usage(line)
  local wall, user, sys, rss, status = line:match("^(%S+) (%S+) (%S+) (%d+) (%d+)\n?$")
  if not wall then return nil end
  return {
    wall = tonumber(wall), cpu = tonumber(user) + tonumber(sys),
    rss = tonumber(rss) * 1024, status = tonumber(status),
  }
end

-- Returns the number of instructions from a log of callgrind, which prints it as "Collected : N"; or nil.
function command.parse_instructions(log)
  local count = log:match("Collected : (%d+)")
  return count and math.tointeger(tonumber(count))
end

-- Returns the number of instructions of one thread, from the text of the file that callgrind writes for
-- this thread; or nil.
function command.parse_thread(text)
  local count = text:match("\ntotals: (%d+)") or text:match("\nsummary: (%d+)")
  return count and math.tointeger(tonumber(count))
end

-- Returns an object that runs commands. 'helpers' is the folder of runstat and fixedseed.so; 'work' is a
-- folder for the files of the runs.
function command.new(helpers, work)
  return setmetatable({ helpers = helpers, work = work }, command)
end

-- Returns the text that the last run has written to standard error, without white space at its end.
function command:errors()
  return (read_all(self.work .. "/stderr"):gsub("%s+$", ""))
end

-- Returns the last line that the last run has written to standard error.
function command:complaint() return self:errors():match("[^\n]*$") end

-- Runs the command 'words' in the folder 'dir' (nil: the current one) 'count' times (nil: once), with the
-- settings NAME=VALUE of the list 'env'. Returns the usage as parse_usage does and the standard output; or
-- nil and a message.
function command:run(words, env, dir, count)
  -- removes an old profile, because the profiler would not overwrite it
  for _, setting in ipairs(env) do
    local profile = setting:match "^LUA_PROFILER=.*out=([^,]*)"
    if profile then os.remove(profile) end
  end
  local result = self.work .. "/usage"
  os.remove(result)
  local line = { self.helpers .. "/runstat", "-n", count or 1 }
  for _, each in ipairs(env) do
    line[#line + 1] = "-e"
    line[#line + 1] = each
  end
  line[#line + 1] = result
  os.execute(("cd %s && %s %s >%s 2>%s"):format(quote(dir or "."), join(line), join(words),
    quote(self.work .. "/stdout"), quote(self.work .. "/stderr")))
  local usage = command.parse_usage(read_all(result))
  if not usage then return nil, "did not start: " .. self:complaint() end
  if usage.status ~= 0 then
    return nil, ("exit status %d: %s"):format(usage.status, self:complaint())
  end
  return usage, read_all(self.work .. "/stdout")
end

-- Runs the command 'words' under callgrind; its arguments and results are those of run. The usage has two
-- more fields: 'instructions' is the number of instructions of all threads, and 'own' is that of the first
-- thread. If the program is profiled, only 'own' is repeatable, because the writer thread works once per
-- second.
function command:count(words, env, dir)
  local log, out = self.work .. "/callgrind", self.work .. "/callgrind.out"
  -- the file that callgrind writes for the first thread
  local first = out .. "-01"
  os.remove(first)
  local line = { "valgrind", "--tool=callgrind", "--separate-threads=yes",
    "--callgrind-out-file=" .. out, "--log-file=" .. log }
  table.move(words, 1, #words, #line + 1, line)
  local preload = self.helpers .. "/fixedseed.so"
  local settings = {}
  for _, each in ipairs(env) do
    local library = each:match("^LD_PRELOAD=(.*)$")
    if library then preload = preload .. ":" .. library else settings[#settings + 1] = each end
  end
  settings[#settings + 1] = "LD_PRELOAD=" .. preload
  local usage, output = self:run(line, settings, dir)
  if not usage then return nil, output end
  usage.instructions = command.parse_instructions(read_all(log))
  if not usage.instructions then return nil, "callgrind's log has no count" end
  usage.own = command.parse_thread(read_all(first))
  if not usage.own then return nil, "callgrind wrote no count of the first thread" end
  return usage, output
end

-- Returns the words of the command that runs 'program' under 'config', with the size 'mode'.
function command.words(config, program, mode)
  local words = { config.lua }
  table.move(config.options, 1, #config.options, #words + 1, words)
  words[#words + 1] = program.script
  local args = program.args(mode)
  table.move(args, 1, #args, #words + 1, words)
  return words
end

return command
