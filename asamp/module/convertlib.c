/* SPDX-License-Identifier: MIT */
/*
** profiler.convert: a Lua module in C that writes profiles in other formats (firefox.h, pprof.h,
** flame.h, transcode.h), and merges profiles (unite.h). An output file is written completely or not
** at all (output.h).
**
** A conversion returns a summary of the profile (pushsummary), to which it adds 'states' and
** 'groups' (numbers of Lua states and of their groups), 'left' (data dropped by limits) and
** 'written' (bytes before compression). On failure it returns nil, message. Options:
**
**   - packing: compression with gzip, "fast" or "small"; nil: none
**   - progress: function, called with the finished share, 0 to 1
**   - since, till: times in us; only samples with since <= time < till count
**   - without: string with a byte for each node of the call tree; the samples of nodes with a
**     nonzero byte do not count
**   - together: true: does not distinguish Lua states, threads and labels; "state": groups states
**     by script, and does not distinguish threads (tags.h)
**   - startup: true: keeps the C functions with which every stack starts (fold.h)
*/
#include "descriptor.h"
#include "filekind.h"
#include "firefoxfile.h"
#include "flame.h"
#include "luafields.h"
#include "pprof.h"
#include "reader.h"
#include "transcode.h"
#include "unite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TYPENAME	"profiler.convert.work"

/* Finished share of a conversion, 0 to 1, at the time when the whole profile was read. */
#define READING		0.7

/* The objects of a conversion or of a call of l_merge. A Work is a userdata, whose finalizer frees
   the objects after an error. It has the stack index 4. The progress function, or nil, has the
   index 5. */
typedef struct Work {
  lua_State *L;
  const char *path, *out;
  ReadProfile *profile;
  ReaderClient *client;
  Output *output;        /* the output file; NULL: not open */
  Firefox *firefox;
  /* number of items that the output for Firefox lacks because of each limit */
  uint64_t firefoxleft[LEFT_N];
  ReaderSum *sum;        /* totals of the profile, for the formats pprof and collapsed; else NULL */
  Tags *tags;
  Transcode *transcode;
  Flame *flame;
  Unite *unite;
  lua_Integer done, all; /* for l_merge: number of finished profiles, number of all profiles */
  Fold fold;
  int top;               /* height of the Lua stack before a call of the option 'source' */
  char err[1024];
} Work;

#define RELEASE(of,free_of) \
  do { if ((of) != NULL) free_of(of); free(of); (of) = NULL; } while (0)

/* Frees the objects of a conversion. Completes the output file if 'keep' is 1, else removes it.
   Returns the errno of the first failure of the output, or 0. Further calls do nothing. */
static int convertlib_release (Work *w, int keep) {
  int error = 0;
  RELEASE(w->firefox, firefox_free);
  RELEASE(w->tags, tags_free);
  RELEASE(w->transcode, transcode_free);
  RELEASE(w->sum, readersum_free);
  RELEASE(w->flame, flame_free);
  RELEASE(w->unite, unite_free);
  fold_free(&w->fold);
  if (w->profile != NULL)
    readprofile_free(w->profile);
  w->profile = NULL;
  if (w->output != NULL)
    error = output_close(w->output, keep);
  free(w->output);
  w->output = NULL;
  return error;
}

static int convertlib_gc (lua_State *L) {
  convertlib_release(luaL_checkudata(L, 1, TYPENAME), 0);
  return 0;
}

/* Pushes a new Work (index 4) and the option 'progress' (index 5). Returns the Work. */
static Work *newwork (lua_State *L, const char *path) {
  Work *w;
  lua_settop(L, 3);
  w = lua_newuserdatauv(L, sizeof(*w), 0);
  memset(w, 0, sizeof(*w));
  luaL_setmetatable(L, TYPENAME);
  w->L = L;
  w->path = path;
  w->out = lua_tostring(L, 2);
  lua_getfield(L, 3, "progress");  /* index 5 */
  return w;
}

/* Checks the arguments of a conversion: path, out, options. Returns its Work. */
static Work *work (lua_State *L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  return newwork(L, lua_tostring(L, 1));
}

/* Returns n zeroed bytes from malloc. Raises an error if out of memory. */
static void *allocate (Work *w, size_t n) {
  void *block = calloc(1, n);
  if (block == NULL)
    luaL_error(w->L, "not enough memory");
  return block;
}

/* Calls the progress function, if any, with the finished share. */
static void convertlib_progress (Work *w, double fraction) {
  if (lua_isnil(w->L, 5))
    return;
  lua_pushvalue(w->L, 5);
  lua_pushnumber(w->L, fraction);
  lua_call(w->L, 1, 0);
}

/* Callback of the reader: calls the progress function. An error of that function stops the
   reading. */
static void readprogress (void *ud, double fraction) {
  Work *w = ud;
  lua_pushvalue(w->L, 5);
  lua_pushnumber(w->L, fraction * READING);
  if (lua_pcall(w->L, 1, 0, 0) != LUA_OK)
    w->client->stop = lua_isstring(w->L, -1) ? lua_tostring(w->L, -1)
                                             : "progress failed";
}

/* Ends a conversion that has failed: frees its objects, removes the output, and pushes nil and a
   message with the reason. Returns 2. */
static int convertlib_failed (Work *w, const char *reason) {
  lua_State *L = w->L;
  convertlib_release(w, 0);
  lua_pushnil(L);
  lua_pushfstring(L, "cannot write '%s': %s", w->out, reason);
  return 2;
}

/* Restricts the samples that the client receives, by the options 'since', 'till' and 'without'. */
static void restrictclient (lua_State *L, ReaderClient *client) {
  if (!lua_istable(L, 3))
    return;
  lua_getfield(L, 3, "since");
  client->since = (uint64_t)luaL_optinteger(L, -1, 0);
  lua_getfield(L, 3, "till");
  client->till = (uint64_t)luaL_optinteger(L, -1, 0);
  lua_getfield(L, 3, "without");  /* the table keeps the string alive */
  client->without = (const unsigned char *)luaL_optlstring(L, -1, NULL, &client->nwithout);
  lua_pop(L, 3);
}

/* Reads the profile. On failure returns 0, after it has freed all objects and pushed nil,
   message. */
static int readprofile (Work *w, ReaderClient *client) {
  w->client = client;
  restrictclient(w->L, client);
  if (!lua_isnil(w->L, 5))
    client->progress = readprogress;
  client->progressud = w;
  w->profile = reader_read(w->path, client, w->err, sizeof(w->err));
  if (w->profile == NULL) {
    convertlib_release(w, 0);
    lua_pushnil(w->L);
    lua_pushstring(w->L, w->err);
    return 0;
  }
  return 1;
}

/* Returns the frames that the output omits: the C functions with which every stack starts. With the
   option 'startup', none. */
static const Fold *fold (Work *w) {
  int keep;
  lua_getfield(w->L, 3, "startup");
  keep = lua_toboolean(w->L, -1);
  lua_pop(w->L, 1);
  if (!fold_init(&w->fold, w->profile, keep))
    luaL_error(w->L, "not enough memory");
  return &w->fold;
}

/* Opens the output file, with the compression that the option 'packing' selects. Returns an errno
   or 0. */
static int create (Work *w) {
  static const char *const packings[] = {"", "small", "fast", NULL};
  int how;
  lua_getfield(w->L, 3, "packing");
  how = luaL_checkoption(w->L, -1, "", packings);  /* OUTPUT_PLAIN, ... */
  lua_pop(w->L, 1);
  w->output = allocate(w, sizeof(*w->output));
  return output_open(w->output, w->out, how);
}

/* Sets the field 'left' of the table on top of the stack (pushleft): the numbers of items that the
   output lacks because of limits. */
static void left (Work *w) {
  uint64_t counts[LEFT_N];
  memcpy(counts, w->sum != NULL ? w->sum->left : w->profile->left,
         sizeof(counts));
  if (w->firefox != NULL)
    memcpy(counts, w->firefoxleft, sizeof(counts));
  if (w->flame != NULL)
    memcpy(counts, w->flame->sum.left, sizeof(counts));
  /* This output never contains collections, marks and lifetimes, so it does not lack them because
     of limits. */
  if (w->sum != NULL || w->flame != NULL)
    counts[LEFT_COLLECTIONS] = counts[LEFT_MARKS] = counts[LEFT_LIVES] = 0;
  pushleft(w->L, counts);
}

/* Sets two fields of the table on top of the stack: 'states', the number of Lua states in the
   profile, and 'groups', the number of groups into which the output divides them. Sets neither
   field if the output does not distinguish states. */
static void groups (Work *w) {
  const Tags *t = w->firefox != NULL ? &w->firefox->tags : w->flame != NULL ? &w->flame->tags
                  : w->tags;
  uint32_t i;
  lua_Integer n = 0;
  if (t == NULL)
    return;
  for (i = 0; i < t->ngroups; i++)
    n += w->firefox == NULL || firefox_has(w->firefox, i);
  setinteger(w->L, "states", w->profile->nstates);
  setinteger(w->L, "groups", (uint64_t)n);
}

static void pushsummary (Work *w) {
  lua_State *L = w->L;
  const ReadProfile *r = w->profile;
  lua_createtable(L, 0, 20);
  setboolean(L, "complete", r->complete);
  if (r->message[0] != '\0')
    setstring(L, "message", r->message);
  if (r->command != 0)
    setstring(L, "command", r->text.text + r->command);
  setstring(L, "interpreter", r->interpreter);
  setinteger(L, "version", (uint64_t)r->version);
  setboolean(L, "own", r->own);
  setboolean(L, "fates", r->fates);
  setboolean(L, "wall", r->wall);
  setboolean(L, "random", r->random);
  setinteger(L, "period", r->period);
  setinteger(L, "timeperiod", r->timeperiod);
  setinteger(L, "started", r->started);
  setinteger(L, "duration", r->duration);
  setinteger(L, "samples", r->samples);
  setinteger(L, "timesamples", r->timesamples);
  setinteger(L, "undetailed", r->undetailed);
  setinteger(L, "minors", r->minors);
  setinteger(L, "majors", r->majors);
  groups(w);
  setboolean(L, "held", w->firefox != NULL && w->firefox->held.nsites > 0);
  left(w);
}

/* Completes the output and frees all objects. Pushes the summary, or nil and a message. Returns the
   number of pushed values. */
static int convertlib_finish (Work *w) {
  int error;
  convertlib_progress(w, 1);
  pushsummary(w);
  setinteger(w->L, "written", w->output->written);
  error = convertlib_release(w, 1);
  return error != 0 ? convertlib_failed(w, temporary_reason(error)) : 1;
}

/* Returns the folder for temporary files: that of the output file, or /tmp if the output is a
   device or "-". May push a string. */
static const char *folder (Work *w) {
  const char *slash = strrchr(w->out, '/');
  if (strcmp(w->out, "-") == 0)
    return "/tmp";
  if (slash == NULL)
    return ".";
  if (output_isdevice(w->out))
    return "/tmp";
  return lua_pushlstring(w->L, w->out, (size_t)(slash - w->out) + 1);
}

/* ------------------------------------------------------------- formats -- */

/* Returns the text of the script 'file', which the function in the option 'source' supplies. The
   text is valid until the next call of 'source'. NULL: the text is not available. */
static const char *source (void *ud, const char *file, size_t *n) {
  Work *w = ud;
  lua_State *L = w->L;
  lua_settop(L, w->top);
  lua_getfield(L, 3, "source");
  lua_pushstring(L, file);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK || lua_type(L, -1) != LUA_TSTRING)
    return NULL;
  return lua_tolstring(L, -1, n);
}

/* Returns the properties by which the output distinguishes samples, as flags TAGS_BY.... The option
   'together' selects them. nil or false: label sets, Lua states and threads; a string: label sets
   and scripts; true: none. */
static int tagsby (Work *w) {
  int by = TAGS_BYLABELS | TAGS_BYSTATE | TAGS_BYTHREAD;
  if (lua_getfield(w->L, 3, "together") == LUA_TSTRING)
    by = TAGS_BYLABELS | TAGS_BYSCRIPT;
  else if (lua_toboolean(w->L, -1))
    by = 0;
  lua_settop(w->L, lua_gettop(w->L) - 1);
  return by;
}

/* firefox(path, out, options) -> summary. Further options:
   - head: function(summary) that returns the JSON text of "meta" and "libs"
   - source: function(name) that returns the text of the script 'name'; nil: not available */
static int l_firefox (lua_State *L) {
  Work *w = work(L);
  const char *reason, *head;
  int error;
  w->firefox = allocate(w, sizeof(*w->firefox));
  reason = firefox_start(w->firefox, folder(w), tagsby(w));
  if (reason != NULL)
    return convertlib_failed(w, reason);
  if (!readprofile(w, &w->firefox->client))
    return 2;
  memcpy(w->firefoxleft, w->profile->left, sizeof(w->firefoxleft));
  firefox_group(w->firefox, w->profile, w->firefoxleft);
  lua_getfield(L, 3, "head");
  pushsummary(w);
  lua_call(L, 1, 1);
  luaL_checkstring(L, -1);
  error = create(w);
  if (error != 0)
    return convertlib_failed(w, temporary_reason(error));
  head = lua_tostring(L, -1);
  w->top = lua_gettop(L);
  if (lua_getfield(L, 3, "source") == LUA_TFUNCTION) {
    w->firefox->source = source;
    w->firefox->sourceud = w;
  }
  lua_settop(L, w->top);
  reason = firefoxfile_write(w->firefox, w->profile, fold(w), head, w->output);
  lua_settop(L, w->top);
  return reason != NULL ? convertlib_failed(w, reason) : convertlib_finish(w);
}

/* Reads the profile and computes its totals. Distinguishes samples by the properties that the
   options select (tagsby), but not by the properties in 'butby', a sum of flags TAGS_BY.... On
   failure returns 0 with nil and a message on the stack. */
static int readtotals (Work *w, int butby) {
  w->sum = allocate(w, sizeof(*w->sum));
  if (!readersum_start(w->sum, 0, READERSUM_EVER))
    luaL_error(w->L, "not enough memory");
  w->tags = allocate(w, sizeof(*w->tags));
  if (!tags_init(w->tags, tagsby(w) & ~butby))
    luaL_error(w->L, "not enough memory");
  w->sum->tags = w->tags;
  lua_getfield(w->L, 3, "since");
  w->sum->since = (uint64_t)luaL_optinteger(w->L, -1, 0);
  lua_getfield(w->L, 3, "till");
  if (!lua_isnil(w->L, -1))
    w->sum->till = (uint64_t)luaL_checkinteger(w->L, -1);
  lua_settop(w->L, lua_gettop(w->L) - 2);
  if (!readprofile(w, &w->sum->client))
    return 0;
  readersum_finish(w->sum, w->profile);
  return 1;
}

/* pprof(path, out, options) -> summary. Further option 'first': the sample type that tools show
   first, "alloc_space", "inuse_space" or "time". */
static int l_pprof (lua_State *L) {
  Work *w = work(L);
  int error;
  if (!readtotals(w, 0))
    return 2;
  error = create(w);
  if (error != 0)
    return convertlib_failed(w, temporary_reason(error));
  lua_getfield(L, 3, "first");
  return pprof_write(w->profile, fold(w), w->sum, lua_tostring(L, -1), w->output)
         ? convertlib_finish(w) : convertlib_failed(w, "not enough memory");
}

/* collapsed(path, out, options) -> summary. Further option 'weight': "bytes", "samples",
   "survived", "alive", "time" or "held"; default: "bytes", or "time" if the profile has only time
   samples. */
static int l_collapsed (lua_State *L) {
  static const char *const weights[] = {"bytes", "samples", "survived",
                                        "alive", "time", "held", NULL};
  Work *w = work(L);
  const char *missing;
  int error, weight;
  lua_getfield(L, 3, "weight");
  weight = lua_isnil(L, -1) ? -1 : luaL_checkoption(L, -1, NULL, weights);
  if (!readtotals(w, TAGS_BYTHREAD))
    return 2;
  if (weight < 0)
    weight = w->profile->samples == 0 && w->profile->timesamples > 0
             ? FLAME_TIME : FLAME_BYTES;
  missing = flame_missing(w->profile, (enum FlameWeight)weight);
  if (missing != NULL) {
    convertlib_release(w, 0);
    lua_pushnil(L);
    lua_pushfstring(L, "'%s' %s", w->path, missing);
    return 2;
  }
  error = create(w);
  if (error != 0)
    return convertlib_failed(w, temporary_reason(error));
  return flame_collapsed(w->profile, fold(w), w->sum, (enum FlameWeight)weight,
                         w->output)
         ? convertlib_finish(w) : convertlib_failed(w, "not enough memory");
}

/* speedscope(path, out, options) -> summary. Further option 'name': name of the profile; default:
   'path'. */
static int l_speedscope (lua_State *L) {
  Work *w = work(L);
  const char *name, *reason;
  int error;
  lua_getfield(L, 3, "name");
  name = luaL_optstring(L, -1, w->path);
  w->flame = allocate(w, sizeof(*w->flame));
  reason = flame_start(w->flame, folder(w), tagsby(w) & ~TAGS_BYTHREAD);
  if (reason != NULL)
    return convertlib_failed(w, reason);
  if (!readprofile(w, &w->flame->client))
    return 2;
  error = create(w);
  if (error != 0)
    return convertlib_failed(w, temporary_reason(error));
  reason = flame_speedscope(w->flame, w->profile, fold(w), name, w->output);
  return reason != NULL ? convertlib_failed(w, reason) : convertlib_finish(w);
}

/* vmprof(path, out, options) -> summary. Further option 'format': version of the VMProf log, 6 or
   7. The options 'together' and 'startup' have no effect. */
static int l_vmprof (lua_State *L) {
  Work *w = work(L);
  const char *reason;
  int error, format;
  lua_getfield(L, 3, "format");
  format = (int)luaL_checkinteger(L, -1);
  luaL_argcheck(L, format == PROFILE_STOCK || format == PROFILE_EXTENDED, 3,
                "format not 6 or 7");
  error = create(w);
  if (error != 0)
    return convertlib_failed(w, temporary_reason(error));
  w->transcode = allocate(w, sizeof(*w->transcode));
  if (!transcode_start(w->transcode, format, w->output))
    return convertlib_failed(w, "not enough memory");
  if (!readprofile(w, &w->transcode->client))
    return 2;
  reason = transcode_finish(w->transcode, w->profile);
  return reason != NULL ? convertlib_failed(w, reason) : convertlib_finish(w);
}

/* Calls the progress function of l_merge, if any, and ignores its errors. 'fraction' is the
   finished share of the current profile. */
static void manyprogress (void *ud, double fraction) {
  Work *w = ud;
  if (lua_isnil(w->L, 5))
    return;
  lua_pushvalue(w->L, 5);
  lua_pushnumber(w->L, ((double)w->done + fraction) / (double)w->all);
  if (lua_pcall(w->L, 1, 0, 0) != LUA_OK)
    lua_settop(w->L, lua_gettop(w->L) - 1);
}

/* Sets element i of the list on top of the stack to the summary of the profile at 'path' or, if
   'isread' is 0, to {error}. Adds the field 'path'. */
static void pushone (Work *w, lua_Integer i, const char *path, int isread) {
  if (isread)
    pushsummary(w);
  else {
    lua_createtable(w->L, 0, 2);
    setstring(w->L, "error", w->err);
  }
  setstring(w->L, "path", path);
  lua_rawseti(w->L, -2, i);
}

/* Returns the path of the i-th profile to merge. The list at index 1 keeps the string alive. */
static const char *convertlib_pathof (lua_State *L, lua_Integer i) {
  const char *path;
  lua_rawgeti(L, 1, i);
  path = lua_tostring(L, -1);
  lua_settop(L, lua_gettop(L) - 1);
  return path;
}

/* Merges the profiles that can be merged. Leaves 'files', the list for the result, on the stack.
   Returns NULL, or the reason why there is no output. */
static const char *mergeall (Work *w) {
  lua_State *L = w->L;
  lua_Integer i, good = 0;
  char *isgood = lua_newuserdatauv(L, (size_t)w->all + 1, 0);
  lua_createtable(L, (int)w->all, 0);
  for (i = 1; i <= w->all; i++) {
    const char *path = convertlib_pathof(L, i);
    isgood[i] = (char)unite_check(w->unite, path, w->err, sizeof(w->err));
    good += isgood[i];
    if (!isgood[i])
      pushone(w, i, path, 0);
  }
  for (i = 1; i <= w->all && good > 0; i++) {
    const char *path = convertlib_pathof(L, i);
    int fatal = 0;
    if (!isgood[i])
      continue;
    w->done = i - 1;
    w->profile = unite_add(w->unite, path, manyprogress, w, &fatal, w->err, sizeof(w->err));
    pushone(w, i, path, w->profile != NULL);
    if (w->profile == NULL && fatal)
      return w->err;
    good -= w->profile == NULL;
    if (w->profile != NULL)
      readprofile_free(w->profile);
    w->profile = NULL;
  }
  return good > 0 ? NULL : w->err;
}

/* merge(paths, out, options) -> {files, states, written, left}; on failure nil, message [, files].
   Options: 'packing' and 'progress'. 'files' has an element for each path: a table with the data of
   the profile (pushsummary) and 'path', or {path, error} if it was not merged. */
static int l_merge (lua_State *L) {
  Work *w;
  const char *reason;
  lua_Integer i;
  int error, list;
  uint64_t counts[LEFT_N];
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  for (i = 1; i <= (lua_Integer)lua_rawlen(L, 1); i++) {
    lua_rawgeti(L, 1, i);
    luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, 1, "paths wanted");
    lua_settop(L, 3);
  }
  luaL_argcheck(L, i > 1, 1, "paths wanted");
  w = newwork(L, NULL);
  w->all = i - 1;
  error = create(w);
  if (error != 0)
    return convertlib_failed(w, temporary_reason(error));
  w->unite = allocate(w, sizeof(*w->unite));
  if (!unite_start(w->unite, w->output))
    return convertlib_failed(w, "not enough memory");
  reason = mergeall(w);
  list = lua_gettop(L);
  if (reason != NULL) {
    convertlib_release(w, 0);
    lua_pushnil(L);
    lua_pushstring(L, w->err);
    lua_pushvalue(L, list);
    return 3;
  }
  reason = unite_finish(w->unite);
  if (reason != NULL)
    return convertlib_failed(w, reason);
  manyprogress(w, 1);
  lua_createtable(L, 0, 4);
  lua_pushvalue(L, list);
  lua_setfield(L, -2, "files");
  unite_left(w->unite, counts);
  pushleft(L, counts);
  setinteger(L, "states", w->unite->nstates);
  setinteger(L, "written", w->output->written);
  error = convertlib_release(w, 1);
  return error != 0 ? convertlib_failed(w, temporary_reason(error)) : 1;
}

/* Data of the head of a file, and a client of the reader that reads only the head. */
typedef struct Peek {
  ReaderClient client;
  int version;
  uint64_t pid, started, clock;
  Bytes sources;
} Peek;

/* Callback of the reader: copies the data of the head of the file to the Peek *ud, then stops the
   reader. */
static void convertlib_head (void *ud, const ReadProfile *r) {
  Peek *l = ud;
  l->version = r->version;
  l->pid = r->pid;
  l->started = r->started;
  l->clock = r->clock;
  readprofile_source(r, &l->sources);
  l->client.stop = "looked at";
}

/* version(path) -> version (of the VMProf format), pid, started (s since the epoch), clock (start
   in us of the monotonic clock), recordings (a text that identifies the recording): data from the
   head of a profile. Unknown numbers are 0. On failure nil, message */
static int l_version (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char err[1024];
  Peek l;
  ReadProfile *r;
  memset(&l, 0, sizeof(l));
  l.client.ud = &l;
  l.client.head = convertlib_head;
  l.version = -1;
  r = reader_read(path, &l.client, err, sizeof(err));
  if (r != NULL)
    readprofile_free(r);
  if (l.version < 0) {
    bytes_free(&l.sources);
    return pushfailure(L, err);
  }
  lua_pushinteger(L, l.version);
  lua_pushinteger(L, (lua_Integer)l.pid);
  lua_pushinteger(L, (lua_Integer)(l.started / 1000000));
  lua_pushinteger(L, (lua_Integer)l.clock);
  lua_pushlstring(L, (const char *)l.sources.data, l.sources.n);
  bytes_free(&l.sources);
  return 5;
}

/* kind(path) -> kind of the file, such as "a profile" (filekind_name), or nil */
static int l_kind (lua_State *L) {
  int fd = descriptor_open(luaL_checkstring(L, 1), O_RDONLY | O_NONBLOCK, 0);
  lua_pushstring(L, fd < 0 ? NULL : filekind_name(filekind_offile(fd)));
  if (fd >= 0)
    close(fd);
  return 1;
}

/* Creates an empty file with the rights that the umask allows, so that the output that replaces
   this file gets the same rights. Returns 1 if the file did not exist. */
static int created (const char *path) {
  int fd = descriptor_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

/* write(out, text [, shared]) -> true: writes a text to a file; on failure nil, message. A new file
   has mode 0600 or, if 'shared' is true, the rights that the umask allows. */
static int l_write (lua_State *L) {
  const char *out = luaL_checkstring(L, 1);
  size_t n;
  const char *text = luaL_checklstring(L, 2, &n);
  int isnew = lua_toboolean(L, 3) && created(out);
  Output *o = calloc(1, sizeof(*o));
  int error = o == NULL ? ENOMEM : output_open(o, out, OUTPUT_PLAIN);
  if (o != NULL) {
    int late;
    output_bytes(o, text, error == 0 ? n : 0);
    late = output_close(o, error == 0);
    error = error != 0 ? error : late;
    free(o);
  }
  if (error != 0 && isnew)
    unlink(out);
  if (error != 0) {
    lua_pushnil(L);
    lua_pushfstring(L, "cannot write '%s': %s", out, temporary_reason(error));
    return 2;
  }
  lua_pushboolean(L, 1);
  return 1;
}

int luaopen_profiler_convert (lua_State *L);

int luaopen_profiler_convert (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"firefox", l_firefox}, {"pprof", l_pprof}, {"collapsed", l_collapsed},
    {"speedscope", l_speedscope}, {"vmprof", l_vmprof}, {"merge", l_merge}, {"version", l_version},
    {"write", l_write}, {"kind", l_kind}, {NULL, NULL}
  };
  if (!binding_open(L, "profiler.convert", 0)) return 0;
  luaL_newmetatable(L, TYPENAME);
  lua_pushcfunction(L, convertlib_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
