-- SPDX-License-Identifier: MIT
--
-- Ways in which a program can hold a large string that it edits repeatedly, for specs of large leaf objects
-- that stay young. The chunk runs inside a tested state. edit(text, i) returns the text with one character
-- changed. Each member of 'holders' is a function(edit, text). It returns a function go(n), which edits the
-- held text n times and returns it.

local texts = {}

function texts.edit(text, i)
  local at = i * 7919 % (#text - 1)
  return text:sub(1, at) .. i % 10 .. text:sub(at + 2)
end

texts.holders = {
  ["a local variable"] = function(edit, text)
    return function(n)
      for i = 1, n do text = edit(text, i) end
      return text
    end
  end,
  ["a local variable of a caller"] = function(edit, text)
    local function inner(t, i) return edit(t, i) end
    return function(n)
      local here = text
      for i = 1, n do here = inner(here, i) end
      text = here
      return here
    end
  end,
  ["a field"] = function(edit, text)
    local buffer = {text = text}
    return function(n)
      for i = 1, n do buffer.text = edit(buffer.text, i) end
      return buffer.text
    end
  end,
  ["a field of a new object each time"] = function(edit, text)
    local buffer = {text = text}
    return function(n)
      for i = 1, n do buffer = {before = {}, text = edit(buffer.text, i)} end
      return buffer.text
    end
  end,
  ["a global variable"] = function(edit, text)
    _ENV.text = text
    return function(n)
      for i = 1, n do _ENV.text = edit(_ENV.text, i) end
      return _ENV.text
    end
  end,
  ["a coroutine"] = function(edit, text)
    local step = coroutine.wrap(function()
      local here, i = text, 0
      while true do
        i = i + 1
        here = edit(here, i)
        coroutine.yield(here)
      end
    end)
    return function(n)
      local last
      for _ = 1, n do last = step() end
      return last
    end
  end,
  ["the frame below deep calls"] = function(edit, text)
    local function deep(k) return k == 0 and #{{}} or deep(k - 1) + 1 end
    return function(n)
      for i = 1, n do
        text = edit(text, i)
        if i % 50 == 0 then deep(2000) end
      end
      return text
    end
  end,
  ["its metatable's table, weak"] = function(edit, text)
    local cache = setmetatable({}, {__mode = "v"})
    return function(n)
      for i = 1, n do
        text = edit(text, i)
        cache[i % 10] = text
        cache[text] = i
      end
      return text
    end
  end,
}

return texts
