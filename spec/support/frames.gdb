# SPDX-License-Identifier: MIT
# For gdb: luastack L prints the Lua stack of the thread L of a live process, across coroutines.
define luastack
  set $f = (luaN_Frame *)malloc(1536 * sizeof(luaN_Frame))
  set $n = (unsigned)luaN_frames($arg0, $f)
  set $i = 0
  while $i < $n
    if $f[$i].id
      set $p = (Proto *)$f[$i].function
      printf "%3u %s:%d\n", $i, $p->source ? $p->source->contents : "?", luaN_line($p, $f[$i].pc)
    else
      printf "%3u ", $i
      info symbol $f[$i].function
    end
    set $i = $i + 1
  end
  call (void)free($f)
end
