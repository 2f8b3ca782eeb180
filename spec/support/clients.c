/* SPDX-License-Identifier: MIT */
/*
** clients: a Lua module with many misbehaving clients of a process that listens at a socket for
** requests (asamp/control/control.h). 'path' is the path of the socket.
**
**   silent(path, n) -> a list of the descriptors of n connected clients that send nothing, and the
**     number of connections
**   deaf(path, n) -> the same for clients that have sent 2,000 requests and read no answer
**   leave(list): closes the connections
**   there(list) -> the number of connections that the server has not closed
**   send(path, text, half) -> the descriptor of a client that has sent the text and, if 'half' is
**     true, has shut down its sending side
**   answer(descriptor, ms) -> the text that was received until its last line is "ok" or "error ...",
**     or until the time limit; "": nothing was received; nil: the server has closed the connection
**   fuzz(path, n, seed) -> the numbers of answers that were "ok" and that were errors. n times, one
**     of a hundred clients connects, sends a request, a part of a request or random bytes, reads an
**     answer, or closes its connection
*/
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

enum { CLIENTS = 100, TRIES = 2000 };

static uint64_t state;

static unsigned any (unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)((state >> 33) % n);
}

/* Connects to the server. Returns the descriptor, or -1 if repeated attempts have failed. */
static int connected (const char *path) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  int i, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  strncpy(a.sun_path, path, sizeof(a.sun_path) - 1);
  for (i = 0; i < TRIES; i++) {
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
      return fd;
    if (errno != EAGAIN && errno != EINTR)
      break;
    poll(NULL, 0, 5);
  }
  close(fd);
  return -1;
}

/*
** Writes random requests, parts of requests and bytes to 'to', but no request that writes a file.
** Returns their number of bytes.
*/
static size_t make (char *to, size_t size) {
  static const char *const words[] = {
    "stats", "mark", "record", "stop", "heap 99999", "heap - /nowhere/x\n", "-", "0", "999999999999999999999", "%s%n",
    "\xff", " ", "/", "/nowhere/x", "4096", "1", "a=b", "\n", "\n", "stats\n", "mark a b\n", "stop\n"
  };
  size_t n = 0;
  unsigned i, k = any(8);
  /* a line of x, which may be longer than the longest valid request */
  if (any(20) == 0) {
    n = any((unsigned)size);
    memset(to, 'x', n);
    return n;
  }
  for (i = 0; i < k; i++) {
    const char *word = words[any(sizeof(words) / sizeof(*words))];
    size_t m = strlen(word);
    if (n + m + 1 > size)
      break;
    memcpy(to + n, word, m);
    n += m;
    if (any(5) > 0)
      to[n++] = ' ';
    else if (any(10) == 0)
      to[n++] = '\0';
  }
  return n;
}

/* Returns the number of lines of the text that start with 'with'. */
static lua_Integer count (const char *text, size_t n, const char *with) {
  size_t m = strlen(with);
  lua_Integer found = 0;
  const char *end = text + n, *at;
  for (at = text; at != NULL && at + m <= end; ) {
    found += memcmp(at, with, m) == 0;
    at = memchr(at, '\n', (size_t)(end - at));
    at = (at != NULL) ? at + 1 : NULL;
  }
  return found;
}

static int l_fuzz (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  lua_Integer i, n = luaL_checkinteger(L, 2), ok = 0, refused = 0;
  int fds[CLIENTS];
  unsigned k;
  static char text[8192];
  state = (uint64_t)luaL_checkinteger(L, 3);
  for (k = 0; k < CLIENTS; k++)
    fds[k] = -1;
  for (i = 0; i < n; i++) {
    int *fd = &fds[any(CLIENTS)];
    unsigned what = any(10);
    ssize_t m;
    if (*fd < 0 && (*fd = connected(path)) < 0)
      return luaL_error(L, "it listens no more, after %d steps", (int)i);
    if (what < 6)
      (void)!send(*fd, text, make(text, sizeof(text)), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (what >= 3) {
      m = recv(*fd, text, sizeof(text), MSG_DONTWAIT);
      if (m > 0) {
        ok += count(text, (size_t)m, "ok\n");
        refused += count(text, (size_t)m, "error ");
      }
      if (m == 0 || what == 9) {
        close(*fd);
        *fd = -1;
      }
    }
  }
  for (k = 0; k < CLIENTS; k++)
    if (fds[k] >= 0)
      close(fds[k]);
  lua_pushinteger(L, ok);
  lua_pushinteger(L, refused);
  return 2;
}

/* Opens n clients, each of which sends 'size' bytes. 'bytes' may be NULL if 'size' is 0. */
static int many (lua_State *L, const char *bytes, size_t size) {
  lua_Integer i, n = luaL_checkinteger(L, 2), there = 0;
  lua_newtable(L);
  for (i = 1; i <= n; i++) {
    int fd = connected(luaL_checkstring(L, 1));
    if (fd < 0)
      break;
    (void)!send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    lua_pushinteger(L, fd);
    lua_rawseti(L, -2, ++there);
  }
  lua_pushinteger(L, there);
  return 2;
}

static int l_silent (lua_State *L) {
  return many(L, NULL, 0);
}

static int l_deaf (lua_State *L) {
  static char text[2000 * 6];
  size_t i;
  for (i = 0; i < sizeof(text); i += 6)
    memcpy(text + i, "stats\n", 6);
  return many(L, text, sizeof(text));
}

static int l_there (lua_State *L) {
  lua_Integer i, n = luaL_len(L, 1), there = 0;
  for (i = 1; i <= n; i++) {
    struct pollfd p = {.fd = -1};
    lua_rawgeti(L, 1, i);
    p.fd = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
    there += poll(&p, 1, 0) == 0;
  }
  lua_pushinteger(L, there);
  return 1;
}

static int l_leave (lua_State *L) {
  lua_Integer i, n = luaL_len(L, 1);
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, 1, i);
    close((int)lua_tointeger(L, -1));
    lua_pop(L, 1);
  }
  return 0;
}

static int l_send (lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 2, &n);
  int fd = connected(luaL_checkstring(L, 1));
  if (fd < 0 || send(fd, text, n, MSG_NOSIGNAL) != (ssize_t)n)
    return luaL_error(L, "it does not listen");
  if (lua_toboolean(L, 3))
    shutdown(fd, SHUT_WR);
  lua_pushinteger(L, fd);
  return 1;
}

static int l_answer (lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1), left = (int)luaL_checkinteger(L, 2);
  char text[8192];
  size_t n = 0;
  for (; left > 0; left -= 10) {
    ssize_t m = recv(fd, text + n, sizeof(text) - n, MSG_DONTWAIT);
    if (m == 0) {
      luaL_pushfail(L);
      return 1;
    }
    n += (m > 0) ? (size_t)m : 0;
    if (n > 0 && text[n - 1] == '\n' && count(text, n, "ok\n") + count(text, n, "error ") > 0)
      break;
    if (m < 0)
      poll(NULL, 0, 10);
  }
  lua_pushlstring(L, text, n);
  return 1;
}

int luaopen_clients (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"silent", l_silent}, {"deaf", l_deaf}, {"leave", l_leave}, {"there", l_there},
    {"fuzz", l_fuzz}, {"send", l_send}, {"answer", l_answer}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
