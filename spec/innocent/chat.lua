-- No leak: a chat whose rooms have a history of limited length, and which users join and leave.
math.randomseed(13)
local Room = {}
Room.__index = Room
function Room.new(name) return setmetatable({name = name, users = {}, n = 0, history = {}}, Room) end
function Room:join(u)
  if not self.users[u] then self.users[u] = {name = "u" .. u, inbox = {}}; self.n = self.n + 1 end
end
function Room:leave(u) if self.users[u] then self.users[u] = nil; self.n = self.n - 1 end end
function Room:say(text)
  local h = self.history
  h[#h + 1] = {text = text, seq = #h}
  if #h > 200 then table.remove(h, 1) end
end
local rooms = {}
for i = 1, 12 do rooms[i] = Room.new("room" .. i) end
for tick = 1, 20000 do
  local room = rooms[math.random(12)]
  room:join(math.random(400))
  room:say("message " .. tick)
  if tick % 2 == 0 then rooms[math.random(12)]:leave(math.random(400)) end
end
print(rooms[1].n > 0)
