/* SPDX-License-Identifier: MIT */
/*
** profiler.convert: writes profiles in other formats. A plain C module for Lua 5.4; the formats
** are implemented in firefox.h, pprof.h, flame.h, transcode.h and unite.h.
**
**   firefox(path, out, options) -> summary | nil, message
**   pprof(path, out, options)
**   collapsed(path, out, options)
**   speedscope(path, out, options)
**   vmprof(path, out, options)
**   merge(paths, out, options)    merges several profiles into one (unite.h)
**   version(path) -> version of the VMProf log, process id or 0, start in seconds since the epoch
**                   and in us of the monotonic clock (0: unknown), and the identities of its
**                   recordings (readprofile_source; "": unknown) | nil, message
**   kind(path) -> kind of the file (filekind_name); nil: unknown, or the file cannot be opened
**   write(out, text) -> true | nil, message: writes the text to the file 'out'
**
** The functions before 'version' read profiles and write 'out'. They and 'write' write 'out'
** completely or not at all, by the rules of output.h.
**
** Options. If the description of an option starts with the name of a function, only that function
** has the option. Other options are of all functions before merge. merge has only 'packing' and
** 'progress'.
**
**   packing   gzip: "fast" or "small"; nil: not compressed
**   progress  function that is called with the finished share, 0 to 1
**   head      firefox: function of the summary that returns the JSON text of "meta" and "libs"
**   source    firefox: function of a script's file name that returns the script's text, or nil
**   weight    collapsed: "bytes", "samples", "survived", "alive", "time" or "held"; default: bytes,
**             or time if the profile has samples of time only
**   since, till  us since the start; only samples with since <= time < till count
**   without   a string with one byte for each node of the call tree, from node 0 on. Samples of
**             nodes whose byte is not 0 do not count
**   first     pprof: the sample type that tools show first: "alloc_space", "inuse_space" or "time"
**   together  all but vmprof: if true, Lua states, OS threads and labels are not distinguished. If
**             "state", states are grouped by their scripts, and OS threads are not distinguished
**             (tags.h). collapsed and speedscope never distinguish OS threads
**   name      speedscope: name of the profile; default: 'path'
**   format    vmprof: 6 or 7
**   startup   all but vmprof: if true, keeps the C functions with which every stack starts (fold.h)
**
** The functions before merge return a summary, or nil and a message. A summary has: complete,
** message, version, own, random, period, timeperiod (ns), wall, started (us since the epoch),
** duration (us), samples, timesamples, undetailed, fates, minors, majors, command, interpreter,
** held (true: a firefox file with a thread of holders), states (number of the profile's states)
** and groups (number of groups of states in the file; both nil for vmprof and merge), left (data
** that limits dropped, as in profiler.reader), written (bytes before compression; not for 'head').
**
** merge returns a table: files (a list: for each path its summary and 'path', or {path, error}),
** states (number), written, left (data that readers drop from the result, but not from the single
** profiles). If no profile could be merged, merge returns nil, a message, and the list 'files'. If
** 'out' could not be written, it returns nil and a message.
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

/* Share of a conversion's time, from 0 to 1, that the reading of the profile takes; for the
   progress function. */
#define READING		0.7

/*
** The objects that a call owns. They are in a userdata, so that its finalizer frees them after an
** error. Index 4 of the call's stack is the Work, index 5 the progress function or nil.
*/
typedef struct Work {
  lua_State *L;
  const char *path, *out;
  ReadProfile *profile;
  ReaderClient *client;
  Output *output;        /* The output file of the conversion; NULL: not open. */
  Firefox *firefox;
  /* firefox: counts of the data that the reader or the converter has dropped because of a limit
     (LEFT_N counts, readerleft.h). */
  uint64_t firefoxleft[LEFT_N];
  ReaderSum *sum;        /* Totals of the profile, for pprof and collapsed; else NULL. */
  Tags *tags;
  Transcode *transcode;
  Flame *flame;
  Unite *unite;
  lua_Integer done, all; /* merge: number of profiles before the current one; number of all. */
  Fold fold;
  int top;               /* Stack height to restore after each call of the 'source' option. */
  char err[1024];
} Work;

#define RELEASE(of,free_of) \
  do { if ((of) != NULL) free_of(of); free(of); (of) = NULL; } while (0)

/*
** Frees all objects of the conversion. Completes the output file if 'keep' is set, else removes it.
** Returns the errno of the first failure of the output, or 0. May be called again.
*/
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

/* Pushes a Work (index 4) and the progress function (5). Arguments 1 to 3 are checked. */
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

/* Checks the arguments of a conversion, and returns its Work. */
static Work *work (lua_State *L) {
  luaL_checkstring(L, 1);
  luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  return newwork(L, lua_tostring(L, 1));
}

/* Returns n zeroed bytes from malloc, or raises an error. */
static void *allocate (Work *w, size_t n) {
  void *block = calloc(1, n);
  if (block == NULL)
    luaL_error(w->L, "not enough memory");
  return block;
}

/* Calls the progress function, if there is one. Raises its errors. */
static void convertlib_progress (Work *w, double fraction) {
  if (lua_isnil(w->L, 5))
    return;
  lua_pushvalue(w->L, 5);
  lua_pushnumber(w->L, fraction);
  lua_call(w->L, 1, 0);
}

/*
** Progress callback of the reader. An error of the progress function stops the reading
** (client->stop), and the reader returns the error's message.
*/
static void readprogress (void *ud, double fraction) {
  Work *w = ud;
  lua_pushvalue(w->L, 5);
  lua_pushnumber(w->L, fraction * READING);
  if (lua_pcall(w->L, 1, 0, 0) != LUA_OK)
    w->client->stop = lua_isstring(w->L, -1) ? lua_tostring(w->L, -1)
                                             : "progress failed";
}

/* Frees all objects, removes the output, and pushes nil and a message with the reason. Returns the
   number of results. */
static int convertlib_failed (Work *w, const char *reason) {
  lua_State *L = w->L;
  convertlib_release(w, 0);
  lua_pushnil(L);
  lua_pushfstring(L, "cannot write '%s': %s", w->out, reason);
  return 2;
}

/*
** Restricts the reading to the samples that the options 'since', 'till' and 'without' select.
*/
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

/* Reads the profile into w->profile. Returns 0 on failure: it has then freed all objects, removed
   the output, and pushed nil and a message. */
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

/* Chooses the start-up frames of w->profile to leave out (fold.h), by the option 'startup', and
   returns them. */
static const Fold *fold (Work *w) {
  int keep;
  lua_getfield(w->L, 3, "startup");
  keep = lua_toboolean(w->L, -1);
  lua_pop(w->L, 1);
  if (!fold_init(&w->fold, w->profile, keep))
    luaL_error(w->L, "not enough memory");
  return &w->fold;
}

/* Opens the output file with the compression of the option 'packing'. Returns an errno or 0. */
static int create (Work *w) {
  static const char *const packings[] = {"", "small", "fast", NULL};
  int how;
  lua_getfield(w->L, 3, "packing");
  how = luaL_checkoption(w->L, -1, "", packings);  /* index = OUTPUT_PLAIN, ... */
  lua_pop(w->L, 1);
  w->output = allocate(w, sizeof(*w->output));
  return output_open(w->output, w->out, how);
}

/*
** Sets the field 'left' of the table on top: counts of the data that this output lacks because of
** limits of the reader, of the totals, and of the number of Lua states or groups of states that
** files distinguish.
*/
static void left (Work *w) {
  uint64_t counts[LEFT_N];
  memcpy(counts, w->sum != NULL ? w->sum->left : w->profile->left,
         sizeof(counts));
  if (w->firefox != NULL)
    memcpy(counts, w->firefoxleft, sizeof(counts));
  if (w->flame != NULL)
    memcpy(counts, w->flame->sum.left, sizeof(counts));
  /* The formats for which totals or a Flame are computed have no collections, marks and
     lifetimes. */
  if (w->sum != NULL || w->flame != NULL)
    counts[LEFT_COLLECTIONS] = counts[LEFT_MARKS] = counts[LEFT_LIVES] = 0;
  pushleft(w->L, counts);
}

/*
** Sets 'states' and 'groups' of the table on top: the number of the profile's Lua states, and the
** number of groups of states that the output distinguishes (tags.h). Sets neither if the format
** does not distinguish states.
*/
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

/* Pushes the summary of w->profile. */
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

/* Completes the output and frees all objects. Pushes the summary, or nil and a message, and returns
   their number. */
static int convertlib_finish (Work *w) {
  int error;
  convertlib_progress(w, 1);
  pushsummary(w);
  setinteger(w->L, "written", w->output->written);
  error = convertlib_release(w, 1);
  return error != 0 ? convertlib_failed(w, temporary_reason(error)) : 1;
}

/*
** Returns the folder for temporary files: the folder of the output file, or /tmp if the output is
** "-" or a name in /dev or /proc. May push a string, which is the result.
*/
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

/*
** Calls the option 'source' with a file name. Returns the result if it is a string; the string is
** valid until the next call. Otherwise, or if the function raises an error, returns NULL.
*/
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

/*
** Returns the sum of the properties by which samples are distinguished (TAGS_BY* of tags.h: state,
** thread, labels), from the option 'together'.
*/
static int tagsby (Work *w) {
  int by = TAGS_BYLABELS | TAGS_BYSTATE | TAGS_BYTHREAD;
  if (lua_getfield(w->L, 3, "together") == LUA_TSTRING)
    by = TAGS_BYLABELS | TAGS_BYSCRIPT;
  else if (lua_toboolean(w->L, -1))
    by = 0;
  lua_settop(w->L, lua_gettop(w->L) - 1);
  return by;
}

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

/*
** Reads the profile into w->profile and its totals into w->sum. Samples that differ in a property
** of tagsby (state, thread, labels) count at different sites; but the properties in 'butby'
** (TAGS_BY*) are not distinguished. Returns 0 on failure, as readprofile.
*/
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

/* Progress callback for one of the profiles of merge. Ignores errors of the progress function. */
static void manyprogress (void *ud, double fraction) {
  Work *w = ud;
  if (lua_isnil(w->L, 5))
    return;
  lua_pushvalue(w->L, 5);
  lua_pushnumber(w->L, ((double)w->done + fraction) / (double)w->all);
  if (lua_pcall(w->L, 1, 0, 0) != LUA_OK)
    lua_settop(w->L, lua_gettop(w->L) - 1);
}

/*
** Sets entry i of the list on top of the stack: the summary of w->profile and 'path' if 'isread' is
** set, else {path, error} with the message w->err.
*/
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

/* Returns the i-th path of merge. The list at index 1 keeps the string alive. */
static const char *convertlib_pathof (lua_State *L, lua_Integer i) {
  const char *path;
  lua_rawgeti(L, 1, i);
  path = lua_tostring(L, -1);
  lua_settop(L, lua_gettop(L) - 1);
  return path;
}

/*
** Merges the profiles that unite_check accepts. Leaves a list with an entry for each path on top of
** the stack. The list lacks the profiles that were not read because the output has become unusable.
** Returns NULL, or the reason for which there is no result.
*/
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
    if (w->profile == NULL && fatal)
      return w->err;
    pushone(w, i, path, w->profile != NULL);
    good -= w->profile == NULL;
    if (w->profile != NULL)
      readprofile_free(w->profile);
    w->profile = NULL;
  }
  return good > 0 ? NULL : w->err;
}

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

/* Client that reads only the head of a file: it stops the reader before the first event. */
typedef struct Peek {
  ReaderClient client;
  int version;
  uint64_t pid, started, clock;
  Bytes sources;
} Peek;

/* Copies the data of the head, and stops the reader. */
static void convertlib_head (void *ud, const ReadProfile *r) {
  Peek *l = ud;
  l->version = r->version;
  l->pid = r->pid;
  l->started = r->started;
  l->clock = r->clock;
  readprofile_source(r, &l->sources);
  l->client.stop = "looked at";
}

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

static int l_kind (lua_State *L) {
  int fd = descriptor_open(luaL_checkstring(L, 1), O_RDONLY | O_NONBLOCK, 0);
  lua_pushstring(L, fd < 0 ? NULL : filekind_name(filekind_offile(fd)));
  if (fd >= 0)
    close(fd);
  return 1;
}

static int l_write (lua_State *L) {
  const char *out = luaL_checkstring(L, 1);
  size_t n;
  const char *text = luaL_checklstring(L, 2, &n);
  Output *o = calloc(1, sizeof(*o));
  int error = o == NULL ? ENOMEM : output_open(o, out, OUTPUT_PLAIN);
  if (o != NULL) {
    int late;
    output_bytes(o, text, error == 0 ? n : 0);
    late = output_close(o, error == 0);
    error = error != 0 ? error : late;
    free(o);
  }
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
