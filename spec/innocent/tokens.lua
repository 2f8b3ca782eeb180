-- No leak: creates many strings, of which only few are different.
local seen, n = {}, 0
for i = 1, 120000 do
  local word = ("w%03d-%s"):format(i % 500, "suffix that makes it long enough for a long string")
  if not seen[word] then
    seen[word] = {word, 0}
    n = n + 1
  end
  seen[word][2] = seen[word][2] + 1
end
print(n)
