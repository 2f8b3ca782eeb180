/* SPDX-License-Identifier: MIT */
/*
** peers: a Lua module with further Lua states, OS threads and processes, for specs.
**
**   new{limit=bytes}    -> state s; its lua_Alloc provides at most 'limit' bytes
**     s:run(code, ...)  -> true, results | false, message; strings, numbers
**                          and booleans can be passed
**     s:elsewhere(code, ...)  the same on another OS thread; this thread uses CPU
**                       time until it is done
**     s:closeelsewhere()  lua_close on another OS thread; this one uses CPU time
**     s:back(f)         sets the global 'back' of s to a function that calls f, without arguments
**                       and results, in the state that runs s
**     s:limit(bytes)    sets the limit of its lua_Alloc; 0: no limit
**     s:used()          bytes allocated by its lua_Alloc and not freed
**     s:killin(n)       ends the process by SIGKILL in the n-th call of its lua_Alloc from now on
**     s:close()         lua_close
**   thread(code, ...)   -> thread t: runs in a separate state, which is closed at its end
**     t:join()          -> true, results | false, message
**   fork() -> pid, 0 in the child     wait(pid) -> exit status or 128 + signal
**   kill(pid, signal)   _exit(n)      sleep(seconds)
**   exec(words...)      execv: replaces this process
**   spawn(words...) -> pid, by posix_spawn
**   close(fd)           -> true if it was open
**   name(path) -> fd    opens the file with O_PATH, which needs no rights on it
**   chdir(path)         setsid()
**
** New states have the standard libraries and the package paths of the state that creates them.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "settledfork.h"

#define STATENAME	"peers.state"
#define THREADNAME	"peers.thread"

typedef struct State {
  lua_State *L;
  /* the state whose code called s:run */
  lua_State *outer;
  size_t used, limit;
  /* number of calls of its lua_Alloc after which the process kills itself; 0: it does not */
  long calls;
} State;

typedef struct Thread {
  State s;
  pthread_t thread;
  int status, joined;
} Thread;

/* {== states =========================================================== */

static void *allocate (void *ud, void *p, size_t osize, size_t nsize) {
  State *s = ud;
  void *q;
  if (s->calls > 0 && --s->calls == 0) kill(getpid(), SIGKILL);
  if (p == NULL) osize = 0;
  if (nsize == 0) {
    free(p);
    s->used -= osize;
    return NULL;
  }
  if (nsize > osize && s->limit > 0 && s->used + (nsize - osize) > s->limit)
    return NULL;
  q = realloc(p, nsize);
  if (q != NULL) s->used += nsize - osize;
  return q;
}

static void copypath (lua_State *from, lua_State *to, const char *key) {
  lua_getglobal(from, "package");
  lua_getfield(from, -1, key);
  lua_getglobal(to, "package");
  lua_pushstring(to, lua_tostring(from, -1));
  lua_setfield(to, -2, key);
  lua_pop(to, 1);
  lua_pop(from, 2);
}

static void copy (lua_State *from, lua_State *to, int i) {
  size_t n;
  const char *text;
  switch (lua_type(from, i)) {
    case LUA_TNUMBER:
      if (lua_isinteger(from, i)) lua_pushinteger(to, lua_tointeger(from, i));
      else lua_pushnumber(to, lua_tonumber(from, i));
      break;
    case LUA_TBOOLEAN: lua_pushboolean(to, lua_toboolean(from, i)); break;
    case LUA_TSTRING:
      text = lua_tolstring(from, i, &n);
      lua_pushlstring(to, text, n);
      break;
    default: lua_pushnil(to);
  }
}

/* Creates the Lua state of s. Returns 0 if there is not enough memory. */
static int newstate (lua_State *L, State *s) {
  s->L = lua_newstate(allocate, s);
  if (s->L == NULL) return 0;
  luaL_openlibs(s->L);
  copypath(L, s->L, "path");
  copypath(L, s->L, "cpath");
  return 1;
}

/* Loads the code at index i of L in the state s, and copies the arguments after it to s. */
static int load (lua_State *L, State *s, int i) {
  int n = lua_gettop(L);
  int status;
  luaL_checkstring(L, i);
  lua_settop(s->L, 0);
  status = luaL_loadstring(s->L, lua_tostring(L, i));
  if (status == LUA_OK) {
    for (i++; i <= n; i++) copy(L, s->L, i);
  }
  return status;
}

/*
** Moves the results of s to the stack of L: pushes true and the results, or false and the error
** message.
*/
static int results (lua_State *L, State *s, int status) {
  int n = lua_gettop(s->L), i;
  lua_pushboolean(L, status == LUA_OK);
  for (i = 1; i <= n; i++) copy(s->L, L, i);
  return n + 1;
}

static int s_new (lua_State *L) {
  State *s;
  lua_Integer limit = 0;
  if (lua_istable(L, 1)) {
    lua_getfield(L, 1, "limit");
    limit = lua_tointeger(L, -1);
  }
  s = lua_newuserdatauv(L, sizeof(*s), 0);
  memset(s, 0, sizeof(*s));
  luaL_setmetatable(L, STATENAME);
  if (!newstate(L, s)) return luaL_error(L, "no memory for a state");
  s->limit = (size_t)limit;
  return 1;
}

static State *state (lua_State *L) {
  State *s = luaL_checkudata(L, 1, STATENAME);
  luaL_argcheck(L, s->L != NULL, 1, "state is closed");
  return s;
}

static int s_run (lua_State *L) {
  State *s = state(L);
  lua_State *outer = s->outer;
  int status = load(L, s, 2);
  s->outer = L;
  if (status == LUA_OK)
    status = lua_pcall(s->L, lua_gettop(s->L) - 1, LUA_MULTRET, 0);
  s->outer = outer;
  return results(L, s, status);
}

typedef struct Elsewhere {
  lua_State *L;
  /* n: number of arguments, or -1 if the thread closes the state instead of running code */
  int n, status;
  volatile int done;
} Elsewhere;

static void *elsewhere (void *ud) {
  Elsewhere *e = ud;
  if (e->n < 0) lua_close(e->L);
  else e->status = lua_pcall(e->L, e->n, LUA_MULTRET, 0);
  __atomic_store_n(&e->done, 1, __ATOMIC_RELEASE);
  return NULL;
}

static int doelsewhere (lua_State *L, lua_State *other, int n) {
  Elsewhere e = {other, n, LUA_OK, 0};
  pthread_t thread;
  if (pthread_create(&thread, NULL, elsewhere, &e) != 0)
    return luaL_error(L, "no thread");
  while (!__atomic_load_n(&e.done, __ATOMIC_ACQUIRE)) { }
  pthread_join(thread, NULL);
  return e.status;
}

static int s_elsewhere (lua_State *L) {
  State *s = state(L);
  int status = load(L, s, 2);
  if (status == LUA_OK) status = doelsewhere(L, s->L, lua_gettop(s->L) - 1);
  return results(L, s, status);
}

static int s_closeelsewhere (lua_State *L) {
  State *s = state(L);
  doelsewhere(L, s->L, -1);
  s->L = NULL;
  return 0;
}

static int peers_back (lua_State *L) {
  State *s = lua_touserdata(L, lua_upvalueindex(1));
  lua_rawgetp(s->outer, LUA_REGISTRYINDEX, s);
  if (lua_pcall(s->outer, 0, 0, 0) != LUA_OK) {
    lua_pushstring(L, lua_tostring(s->outer, -1));
    lua_pop(s->outer, 1);
    return lua_error(L);
  }
  return 0;
}

static int s_back (lua_State *L) {
  State *s = state(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, s);
  lua_pushlightuserdata(s->L, s);
  lua_pushcclosure(s->L, peers_back, 1);
  lua_setglobal(s->L, "back");
  return 0;
}

static int s_limit (lua_State *L) {
  state(L)->limit = (size_t)luaL_checkinteger(L, 2);
  return 0;
}

static int s_killin (lua_State *L) {
  state(L)->calls = (long)luaL_checkinteger(L, 2);
  return 0;
}

static int s_used (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)state(L)->used);
  return 1;
}

static int s_close (lua_State *L) {
  State *s = luaL_checkudata(L, 1, STATENAME);
  if (s->L != NULL) lua_close(s->L);
  s->L = NULL;
  return 0;
}

/* }===================================================================== */


/* {== threads ========================================================== */

static void *body (void *ud) {
  Thread *t = ud;
  t->status = lua_pcall(t->s.L, lua_gettop(t->s.L) - 1, LUA_MULTRET, 0);
  return NULL;
}

static int s_thread (lua_State *L) {
  Thread *t;
  luaL_checkstring(L, 1);
  t = lua_newuserdatauv(L, sizeof(*t), 0);
  memset(t, 0, sizeof(*t));
  t->joined = 1;
  lua_insert(L, 1);
  if (!newstate(L, &t->s)) return luaL_error(L, "no memory for a state");
  if (load(L, &t->s, 2) != LUA_OK)
    return luaL_error(L, "%s", lua_tostring(t->s.L, -1));
  if (pthread_create(&t->thread, NULL, body, t) != 0)
    return luaL_error(L, "no thread");
  t->joined = 0;
  lua_settop(L, 1);
  luaL_setmetatable(L, THREADNAME);
  return 1;
}

static int t_join (lua_State *L) {
  Thread *t = luaL_checkudata(L, 1, THREADNAME);
  int n;
  luaL_argcheck(L, !t->joined, 1, "thread is joined");
  pthread_join(t->thread, NULL);
  t->joined = 1;
  n = results(L, &t->s, t->status);
  lua_close(t->s.L);
  return n;
}

/* }===================================================================== */


/* {== processes ======================================================== */

static int s_fork (lua_State *L) {
  pid_t pid = settledfork(200);
  if (pid < 0) return luaL_error(L, "fork: %s", strerror(errno));
  lua_pushinteger(L, pid);
  return 1;
}

static int s_wait (lua_State *L) {
  int status = 0;
  if (waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0) < 0)
    return luaL_error(L, "waitpid: %s", strerror(errno));
  lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : WEXITSTATUS(status));
  return 1;
}

/* Returns the arguments as a NULL-terminated vector, which the Lua state owns. */
static char **words (lua_State *L) {
  int n = lua_gettop(L), i;
  char **list = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof(char *), 0);
  for (i = 0; i < n; i++) list[i] = (char *)luaL_checkstring(L, i + 1);
  list[n] = NULL;
  return list;
}

static int s_exec (lua_State *L) {
  char **list = words(L);
  execv(list[0], list);
  return luaL_error(L, "exec: %s", strerror(errno));
}

static int s_spawn (lua_State *L) {
  char **list = words(L);
  pid_t pid;
  int e = posix_spawn(&pid, list[0], NULL, NULL, list, environ);
  if (e != 0) return luaL_error(L, "posix_spawn: %s", strerror(e));
  lua_pushinteger(L, pid);
  return 1;
}

static int s_kill (lua_State *L) {
  return luaL_fileresult(L, kill((pid_t)luaL_checkinteger(L, 1),
                                 (int)luaL_checkinteger(L, 2)) == 0, NULL);
}

static int s_closefd (lua_State *L) {
  lua_pushboolean(L, close((int)luaL_checkinteger(L, 1)) == 0);
  return 1;
}

static int s_name (lua_State *L) {
  return luaL_fileresult(L, open(luaL_checkstring(L, 1), O_PATH) >= 0, NULL);
}

static int s_chdir (lua_State *L) {
  return luaL_fileresult(L, chdir(luaL_checkstring(L, 1)) == 0, NULL);
}

static int s_setsid (lua_State *L) {
  return luaL_fileresult(L, setsid() >= 0, NULL);
}

static int s_exit (lua_State *L) {
  _exit((int)luaL_checkinteger(L, 1));
}

static int s_sleep (lua_State *L) {
  lua_Number s = luaL_checknumber(L, 1);
  struct timespec t;
  t.tv_sec = (time_t)s;
  t.tv_nsec = (long)((s - (lua_Number)t.tv_sec) * 1e9);
  nanosleep(&t, NULL);
  return 0;
}

/* }===================================================================== */

static void newclass (lua_State *L, const char *name, const luaL_Reg *methods) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

int luaopen_peers (lua_State *L);

int luaopen_peers (lua_State *L) {
  static const luaL_Reg states[] = {
    {"run", s_run}, {"elsewhere", s_elsewhere},
    {"closeelsewhere", s_closeelsewhere}, {"back", s_back}, {"limit", s_limit}, {"used", s_used}, {"killin", s_killin}, {"close", s_close},
    {"__gc", s_close}, {NULL, NULL}
  };
  static const luaL_Reg threads[] = {{"join", t_join}, {NULL, NULL}};
  static const luaL_Reg functions[] = {
    {"new", s_new}, {"thread", s_thread}, {"fork", s_fork}, {"wait", s_wait},
    {"exec", s_exec}, {"spawn", s_spawn}, {"kill", s_kill}, {"close", s_closefd},
    {"name", s_name},
    {"_exit", s_exit}, {"chdir", s_chdir}, {"setsid", s_setsid}, {"sleep", s_sleep},
    {NULL, NULL}
  };
  newclass(L, STATENAME, states);
  newclass(L, THREADNAME, threads);
  luaL_newlib(L, functions);
  return 1;
}
