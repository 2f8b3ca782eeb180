-- SPDX-License-Identifier: MIT
-- The parser of command lines (asamp.cli.options): forms that it accepts and rejects, its messages, and
-- that the help lists every option.

local commands = require "spec.support.commands"
local options = require "asamp.cli.options"

local DESCRIPTION = {
  command = "try", arguments = "FILE…", most = 3, about = "Tries things.",
  {"top", "N", "rows", options.whole(1)},
  {"name", "TEXT", "a name"},
  {"share", "N", "a share", options.number(0, 100)},
  {"by", "WHAT", "an order", options.oneof{"a", "b", "c"}},
  {"show", "LIST", "parts", options.listof{"x", "y"}},
  {"all", nil, "everything"},
}

-- Parses arguments. Returns the options, exit code, stdout and stderr.
local function parse(args, description)
  local out, err = {}, {}
  local o, code = options.parse(description or DESCRIPTION, args, {
    out = function(s) out[#out + 1] = s end,
    err = function(s) err[#err + 1] = s end})
  return o, code, table.concat(out), table.concat(err)
end

describe("options", function()
  it("come anywhere, with = or a blank", function()
    local o = parse{"a", "--top", "4", "--all", "--name=x=y", "b",
                    "--share", ".5", "--show", "y,x", "--by=c"}
    assert.same({files = {"a", "b"}, top = 4, all = true, name = "x=y",
                 share = 0.5, show = {"y", "x"}, by = "c"}, o)
  end)

  it("may have a short name, which the help shows", function()
    local description = {command = "make", arguments = "FILE", about = "Makes.",
                         {"out", "PATH", "the result", short = "o"},
                         {"all", nil, "everything", short = "a"}}
    assert.same({files = {"x"}, out = "y", all = true}, parse({"-o", "y", "-a", "x"}, description))
    local _, code, _, err = parse({"x", "-o"}, description)
    assert.equal(2, code)
    assert.truthy(err:find("--out needs a value, got nothing", 1, true))
    assert.truthy(options.usage(description):find(
      "  -o, --out PATH  the result\n  -a, --all       everything\n", 1, true))
  end)

  it("end at --, and - is a file", function()
    assert.same({files = {"-", "--all", "--", "-x"}},
                parse({"-", "--", "--all", "--", "-x"},
                      setmetatable({most = 9}, {__index = DESCRIPTION})))
  end)

  -- A word that starts with "-" and a digit is a negative number, not an option. A former bug: `asamp mark
  -- PID temperature -5` reported an unknown option '-5'.
  it("do not start with a digit: that is a number below zero", function()
    assert.same({files = {"-5", "-.5", "-0x1F"}, all = true}, parse({"-5", "-.5", "--all", "-0x1F"},
      setmetatable({most = 9}, {__index = DESCRIPTION})))
  end)

  -- Options for numbers of rows are limited to 2^31 - 1. Former bugs: `asamp report --top
  -- 9223372036854775807` ended with a stack trace. `asamp heap --paths` printed no row for
  -- 4611686018427387904, because four times this number overflows to 0.
  it("are, of rows, no more than can be counted with", function()
    for text, n in pairs{["2147483647"] = 2147483647, ["2147483648"] = 2147483647,
                         ["4611686018427387904"] = 2147483647, ["9223372036854775807"] = 2147483647} do
      assert.equal(n, parse{"f", "--top", text}.top)
    end
  end)

  -- A former bug: 5124095576030432h, which is 2^64 + 3,584 seconds, was accepted as 3,584 seconds.
  it("are no times that are too long for a number of seconds", function()
    assert.equal(366 * 86400, options.duration "8784h")
    for _, text in ipairs{"8785h", "5124095576030432h", "307445734561825861m", "99999999999999999999"} do
      assert.is_nil((options.duration(text)), text)
    end
  end)

  -- Options of asamp itself may also follow FILE, if no script follows. A former bug: `asamp advise FILE
  -- --top 3` printed the message "'--top' is to be run: say --verify".
  it("may follow the file, too, where a script may follow it", function()
    local description = {command = "advise", arguments = "FILE [SCRIPT [arguments]]", rest = 2,
                         most = math.huge, about = "", {"all", nil, ""}, {"top", "N", "", options.whole(1)}}
    assert.same({files = {"f"}, all = true, top = 3}, parse({"f", "--top", "3", "--all"}, description))
    assert.same({files = {"f", "s.lua", "--all", "--", "x"}, top = 3},
                parse({"f", "--top", "3", "s.lua", "--all", "--", "x"}, description))
    assert.same({files = {"f", "s.lua", "--all"}}, parse({"f", "--", "s.lua", "--all"}, description))
  end)

  it("end at the first argument where a script's own follow", function()
    local description = {command = "run", arguments = "SCRIPT", rest = 1,
                         most = math.huge, what = "script", about = "",
                         {"all", nil, ""}}
    assert.same({files = {"s.lua", "--all", "--", "x"}, all = true},
                parse({"--all", "s.lua", "--all", "--", "x"}, description))
    assert.same({files = {"--s.lua", "-x"}},
                parse({"--", "--s.lua", "-x"}, description))
    local _, code, _, err = parse({"--all"}, description)
    assert.equal(2, code)
    assert.equal("asamp run: no script given; see asamp run --help\n", err)
  end)

  it("that are wrong are reported on one line, exit code 2", function()
    for what, args in pairs{
      ["no file given"] = {},
      ["at most 3 files, got 4"] = {"1", "2", "3", "4"},
      ["unknown option '--nonsense'"] = {"--nonsense"},
      ["unknown option '-x'"] = {"-x"},
      ["unknown option '--al', did you mean --all?"] = {"--al"},
      ["unknown option '--hlep', did you mean --help?"] = {"--hlep"},
      ["unknown option '--shwo=3', did you mean --show?"] = {"--shwo=3"},
      ["unknown option '--'"] = nil,
      ["--all takes no value, got ''"] = {"--all="},
      ["--name needs a value, got nothing"] = {"f", "--name"},
      ["--name needs a value, got ''"] = {"f", "--name="},
      ["--top needs a whole number of at least 1, got nothing"] = {"f", "--top"},
      ["--top is given twice"] = {"--top", "3", "f", "--top=4"},
      ["--all is given twice"] = {"--all", "f", "--all"},
      ["--top needs a whole number of at least 1, got '0'"] = {"--top", "0"},
      ["--top needs a whole number of at least 1, got '--all'"] = {"--top", "--all"},
      ["--top needs a whole number of at least 1, got '99999999999999999999'"] =
        {"--top=99999999999999999999"},
      ["--share needs a number from 0 to 100, got '1e1'"] = {"--share=1e1"},
      ["--share needs a number from 0 to 100, got '.'"] = {"--share=."},
      ["--by needs a, b or c, got 'd'"] = {"--by", "d"},
      ["--show needs a comma-separated list of x or y, got ','"] = {"--show=,"},
    } do
      local o, code, out, err = parse(args)
      assert.is_nil(o)
      assert.equal(2, code)
      assert.equal("", out)
      assert.equal("asamp try: " .. what .. "; see asamp try --help\n", err)
    end
  end)

  it("of a command with two files are counted in the message", function()
    local description = {command = "two", arguments = "A B", least = 2,
                         most = 2, about = ""}
    local _, _, _, err = parse({"x"}, description)
    assert.equal("asamp two: 2 files expected, got 1; see asamp two --help\n", err)
    _, _, _, err = parse({"x", "y", "z"}, description)
    assert.equal("asamp two: 2 files expected, got 3; see asamp two --help\n", err)
    assert.same({"x", "y"}, parse({"x", "y"}, description).files)
  end)

  it("have a help text with each of them in 80 columns", function()
    for _, args in ipairs{{"--help"}, {"x", "-h", "--nonsense"}} do
      local o, code, out, err = parse(args)
      assert.is_nil(o)
      assert.same({0, ""}, {code, err})
      assert.equal(options.usage(DESCRIPTION), out)
    end
    local usage = options.usage(DESCRIPTION)
    assert.truthy(usage:find("^usage: asamp try %[options%] FILE…\n\nTries"))
    for _, option in ipairs(DESCRIPTION) do
      assert.truthy(usage:find("\n  --" .. option[1], 1, true))
    end
    commands.fits(usage, 80)
  end)

  -- A former bug: the help of `asamp mark`, which only queries a process, described exit code 1 as an error
  -- of a file.
  it("document exit code 1, of commands that only query a process", function()
    local calls = 0
    for _, name in ipairs(require("asamp").COMMANDS) do
      local usage = require("asamp.commands." .. name).usage()
      if usage:find "^usage: asamp %l+ %[options%] PID|SOCKET" then
        calls = calls + 1
        assert.truthy(usage:find("1 the given process does not answer", 1, true), name)
        assert.falsy(usage:find("a file has no usable data", 1, true), name)
      end
    end
    assert.equal(5, calls)
  end)
end)

describe("the nearest word", function()
  local words = {"report", "run", "repair", "diff", "convert"}
  it("is the option that was probably meant", function()
    for text, word in pairs{reprot = "report", rn = "run", dif = "diff",
                            repiar = "repair", convrt = "convert"} do
      assert.equal(word, options.nearest(text, words))
    end
  end)
  it("is none where nothing is near", function()
    for _, text in ipairs{"x", "", "rapport!", ("r"):rep(100000), "ffid"} do
      assert.is_nil(options.nearest(text, words))
    end
  end)
end)
