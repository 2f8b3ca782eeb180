-- No leak: a queue whose length stays about the same.
local queue, first, last = {}, 1, 0
local done = 0
for i = 1, 100000 do
  last = last + 1
  queue[last] = {id = i, payload = {i, i, i}}
  if last - first > 1500 then
    done = done + queue[first].id % 2
    queue[first] = nil
    first = first + 1
  end
end
print(done)
