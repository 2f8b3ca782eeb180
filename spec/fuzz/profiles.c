/* SPDX-License-Identifier: MIT */
/*
** A fuzzer of the profile reader and the converters: damaged profiles must cause no crash, no
** hang and no wrong sum.
**
**   profiles SEED INPUTS [FOLDER]
**
** It creates profiles of random runs with the encoder, in both file versions, and logs as other
** programs write them. It damages each in several ways and compresses some. From each it computes
** the totals, which are checked, or it runs a converter with /dev/null as output. FOLDER
** (/dev/shm) is for the input file (input.h) and for temporary files.
*/
#define _GNU_SOURCE
#include "input.h"

#include "encoder.h"
#include "firefoxfile.h"
#include "flame.h"
#include "pprof.h"
#include "reader.h"
#include "readersum.h"
#include "transcode.h"
#include "unite.h"

#define SEEDS		32       /* number of well-formed profiles that are damaged */
#define STATES		3        /* number of states in a profile of many states */

/* ---------------------------------------------------------- the seeds -- */

typedef struct Seed {
  unsigned char *data;
  size_t n;
} Seed;

static Seed seeds[SEEDS];

static void gather (void *ud, Bytes *out) {
  bytes_add(ud, out->data, out->n);
  out->n = 0;
}

static void resolve (void *ud, uint64_t address, char *symbol, size_t size,
                     char *file, size_t filesize) {
  (void)ud;
  snprintf(symbol, size, "s%llu", (unsigned long long)address % 10);
  snprintf(file, filesize, "lib");
}

/*
** Size of a generated profile: the numbers of functions, classes, names and marks are
** proportional to it.
*/
static uint64_t many;

static void stack (Encoder *e) {
  ProfileFrame frames[8];
  size_t n = (size_t)upto(8), i;
  for (i = 0; i < n; i++) {
    frames[i].id = upto(3) == 0 ? 81 + 16 * upto(many) : 8 * (1 + upto(2 * many));
    frames[i].line = (uint32_t)upto(2 * many);
  }
  encoder_stack(e, (size_t)upto(4), frames, n);
}

static void collect (Encoder *e, uint64_t time, size_t open) {
  unsigned char survived[512];
  uint32_t classes[512];
  ProfileCollection c;
  size_t i;
  for (i = 0; i < open; i++) {
    survived[i] = (unsigned char)upto(3);
    classes[i] = (uint32_t)upto(many);
  }
  encoder_fates(e, survived, upto(2) ? classes : NULL, open);
  while (upto(2)) {
    uint32_t runs[4];
    for (i = 0; i < 4; i++)
      runs[i] = (uint32_t)upto(6);
    encoder_deaths(e, runs, 4);
  }
  memset(&c, 0, sizeof(c));
  c.time = time;
  c.inuse = upto(1 << 30);
  c.held = upto(1 << 30);
  c.rss = upto(1 << 30);
  c.major = upto(3) == 0;
  c.duration = upto(1000000);
  c.tenured = upto(99999);
  c.state = (int)upto(4);
  c.minors = upto(3);
  for (i = 0; i < LOOKED_COUNT; i++)
    c.looked[i] = upto(2) ? upto(1 << 20) : 0;
  c.slices = upto(3) == 0 ? upto(1 << 30) : 0;
  encoder_collection(e, &c);
}

static void mark (Encoder *e, uint64_t time) {
  char name[80], value[80];
  size_t n = (size_t)snprintf(name, sizeof(name), "mark%d", (int)upto(many));
  size_t m = (size_t)snprintf(value, sizeof(value), "%d%*s", (int)upto(99),
                              (int)upto(50), "");
  encoder_mark(e, time, name, n, value, m);
}

/*
** Writes holders of followed samples, and the paths of references that lead to them. Some are
** invalid.
*/
static void hold (Encoder *e, uint64_t time) {
  uint32_t runs[9], i;
  for (i = 1; i <= many; i++) {
    char step[40];
    snprintf(step, sizeof(step), "[\"field%d\"]", (int)upto(many));
    if (upto(3))
      encoder_path(e, upto(8) ? i : upto(many), (uint32_t)upto(upto(4) ? i : 2 * many), step);
  }
  for (i = 0; i < 9; i++)
    runs[i] = (uint32_t)upto(many + 2);
  runs[0] = (uint32_t)upto(2);
  encoder_holders(e, runs, 9);
  encoder_walk(e, time, upto(9999999));
}

/*
** Writes one measurement of resident memory: up to 12 rows, with names that the reader accepts
** and one that it does not.
*/
static void picture (Encoder *e, uint64_t time) {
  static const char *const words[] = {"rss", "lua.old", "lua.free", "free", "native", "file", "new"};
  size_t i, n = 1 + (size_t)upto(12);
  for (i = 0; i < n; i++) {
    const char *word = words[i > 0 ? upto(7) : 0];
    char text[80];
    size_t m = (size_t)snprintf(text, sizeof(text), "app.lua:%d%*s", (int)upto(many),
                                (int)upto(50), "");
    encoder_resident(e, time, word, strlen(word), (int64_t)upto(1 << 30) - (1 << 20), text,
                     upto(2) ? m : 0);
  }
}

static size_t labels (void *ud, uint32_t set, ProfileLabel *to) {
  static const char *const names[] = {"route", "user", ""};
  size_t i, n = (size_t)(set % 4);
  (void)ud;
  for (i = 0; i < n; i++) {
    to[i].name = names[i % 3];
    to[i].value = names[(set + i) % 3];
  }
  return n;
}

/* Writes the names of functions and classes. Some functions have equal names. */
static void names (Encoder *e) {
  char name[80];
  int i;
  for (i = 1; i <= (int)(2 * many); i++) {
    snprintf(name, sizeof(name), "py:f%llu:1:a.lua",
             (unsigned long long)upto(upto(2) ? many : 2));
    encoder_name(e, 8 * (uint64_t)i, name);
  }
  for (i = 1; i < (int)many; i++)
    encoder_class(e, (uint32_t)i, name,
                  (size_t)snprintf(name, sizeof(name), "Class%*d", (int)upto(60), i));
}

static void ownprofile (Bytes *to, int format) {
  EncoderConfig config;
  Encoder *e;
  uint64_t time = 1000000000;
  int i, events = 20 + (int)upto(200);
  uint32_t state = STATES;
  /* for each state, the number of samples whose survival is not known yet */
  size_t open[STATES + 1] = {0};
  memset(&config, 0, sizeof(config));
  config.format = format;
  config.period = 1024;
  config.timeperiod = upto(2) ? 1000000 : 0;
  config.followed = upto(2) ? 1000 : 0;
  config.command = "lua x.lua";
  config.resolve = resolve;
  config.copies = upto(2) == 0;
  config.states = format == PROFILE_STOCK && upto(3) == 0;
  config.mallocs = upto(2) ? 4096 : 0;
  config.labels = upto(2) ? labels : NULL;
  e = encoder_new(&config, time, 1700000000000000u, gather, to);
  many = upto(3) == 0 ? 40 : 4;
  for (i = config.states ? 1 : 0; i <= (config.states ? STATES : 0); i++) {
    if (config.states) {
      encoder_of(e, (uint32_t)i, 0);
      encoder_start(e, time);
      encoder_called(e, "script", upto(7));
    }
    names(e);
  }
  for (i = 0; i < events; i++) {
    time += upto(3000000);
    if (config.states && upto(4) == 0)
      encoder_of(e, state = 1 + (uint32_t)upto(STATES), (uint32_t)upto(3));
    if (upto(12) == 0) {
      collect(e, time, open[state]);
      open[state] = 0;
    }
    else if (upto(20) == 0)
      mark(e, time);
    else if (upto(20) == 0)
      hold(e, time);
    else if (upto(10) == 0)
      picture(e, time);
    else if (upto(30) == 0)
      encoder_period(e, 64 << upto(8));
    else if (upto(40) == 0)
      encoder_timeperiod(e, upto(3) * 1000, (int)upto(2));
    else if (upto(25) == 0)
      encoder_batch(e);
    else if (config.states && upto(20) == 0) {
      const uint32_t runs[4] = {(uint32_t)upto(3), (uint32_t)upto(3), (uint32_t)upto(3),
                                (uint32_t)upto(3)};
      encoder_orphans(e, time, (uint32_t)upto(STATES + 2), runs, 2 * upto(3));
    }
    else if (config.states && upto(30) == 0) {
      encoder_of(e, state, 0);
      encoder_end(e, time, upto(1 << 20), upto(3));
      open[state] = 0;
      encoder_of(e, state, 0);
      encoder_start(e, time);
      names(e);
    }
    else if (upto(4) == 0) {
      ProfileTime s = {.time = time, .count = 1 + upto(3), .thread = upto(2),
                       .label = (uint32_t)(config.labels ? upto(5) : 0)};
      stack(e);
      encoder_time(e, &s);
    }
    else {
      ProfileSample s = {.time = time, .size = 16 + upto(999), .count = 1 + upto(4),
                         .kind = (int)upto(KIND_COUNT), .outside = (int)upto(2),
                         .label = (uint32_t)(config.labels ? upto(5) : 0)};
      if (config.copies && upto(4) == 0)
        s.kind = COPY_NEW + (int)upto(COPY_END - COPY_NEW);
      stack(e);
      encoder_sample(e, &s);
      /* copy samples have no survival outcome */
      open[state] += !profile_iscopy(s.kind);
    }
  }
  for (i = 1; config.states && i <= STATES; i++) {
    encoder_of(e, (uint32_t)i, 0);
    if (upto(3) == 0)
      encoder_end(e, time, upto(1 << 20), upto(3));
    else if (upto(2))
      encoder_leave(e);
  }
  if (upto(4) == 0)
    encoder_ring(e, upto(99), upto(1 << 20), upto(1 << 30), upto(2) ? 0 : 600000000000u);
  encoder_finish(e, time);
  encoder_free(e);
}

static void word (Bytes *b, uint64_t w) {
  vmprof_word(b, w);
}

static void foreignprofile (Bytes *to) {
  int version = (int)upto(8), i, k, n = 5 + (int)upto(40);
  int mode = version >= 4 ? (int)(upto(2) * VMPROF_LINES + upto(2)
                                  + upto(3) / 2 * VMPROF_PAIRS) : 0;
  vmprof_start(to, 1000, version, mode, upto(4) ? "cpython" : "pypy");
  /* files below version 4 have no byte for the mode, which is at offset 43 */
  if (version < 4) {
    memmove(to->data + 43, to->data + 44, to->n - 44);
    to->n--;
  }
  vmprof_meta(to, "sample_allocated_bytes", "4096", 4);
  vmprof_meta(to, "gc_stats__0", "VmRSS", 5);
  for (i = 0; i < n; i++) {
    int depth = 2 * (int)upto(6);
    int marker = version == 7 && upto(2) ? VMPROF_GCSTACK : VMPROF_STACK;
    if (version == 7)
      vmprof_timed(to, marker, 1.5 + i, (uint64_t)depth);
    else
      vmprof_record(to, marker, VMPROF_ONCE, (uint64_t)depth, 0);
    for (k = 0; k < depth; k++)
      word(to, 1 + upto(7) * 8);
    if (version >= 1)
      word(to, 0);
    if (version == 3 || (mode & VMPROF_MEMORY))
      word(to, 12345);
    if (version == 7 && upto(5) == 0) {
      vmprof_timed(to, VMPROF_OBJECTS, 1.6 + i, 3);
      word(to, 5 << 2 | upto(4));
      word(to, 7 << 2 | upto(4));
      word(to, 1000000);
    }
  }
  vmprof_name(to, VMPROF_NAME, 9, "py:g:2:b.py");
  vmprof_time(to, VMPROF_TRAILER, 1700000000000000u);
}

static void makeseeds (void) {
  int i;
  for (i = 0; i < SEEDS; i++) {
    Bytes b = {0};
    if (i % 4 == 3)
      foreignprofile(&b);
    else
      ownprofile(&b, i % 2 == 0 ? PROFILE_STOCK : PROFILE_EXTENDED);
    seeds[i].data = b.data;
    seeds[i].n = b.n < MOST / 2 ? b.n : MOST / 2;
  }
}

/* --------------------------------------------------------- the damage -- */

static const struct { const char *text; size_t n; } pieces[] = {
  {"\0", 1}, {"\377", 1}, {"\1", 1}, {"\11", 1}, {"\12", 1}, {"\7", 1},
  {"\200", 1}, {"0", 1}, {"9", 1}, {"99999999999999999999", 20}, {" ", 1},
  {"\n", 1}, {"-", 1}, {"\0\0\1\0\0\0\0\0", 8}, {"\1\0\1\0\0\0\0\0", 8},
  {"\377\377\377\377\377\377\377\377", 8}, {"\377\377\377\377\377\377\377\177", 8},
  {"\nf 1 1 1", 8}, {"\nl 1 1 2 2", 10}, {"\nC 2 x:y;z", 10},
  {"\nm -5 3 abcdef", 14}, {"\nq 1 7 w", 8}, {"\np 1 0", 6},
  {"\nH 1 0 _G", 9}, {"\nH 2 1 x", 8}, {"\nh 1 3 2 99999999999 1", 22}, {"\nw -9 9", 7},
  {"\nG 1 2 3 4 5 6 7", 16}, {"\nc 1 9999999999 1", 17}, {"asamp.1", 7},
  {"asamp.format", 12}, {"\7\7\0\0\0\0\0\0\0asamp.7", 16}, {"18446744073709551615", 20},
};

/* Damages n bytes of data. Returns the resulting number of bytes. */
static size_t damage (unsigned char *data, size_t n) {
  int times = 1 + (int)upto(5);
  while (times-- > 0 && n > 0) {
    size_t at = (size_t)upto(n), k = (size_t)upto(n - at < 64 ? n - at + 1 : 64);
    size_t i = (size_t)upto(sizeof(pieces) / sizeof(pieces[0]));
    switch (upto(6)) {
      case 0:  /* a bit */
        data[at] ^= (unsigned char)(1 << upto(8));
        break;
      case 1:  /* a byte */
        data[at] = (unsigned char)next();
        break;
      case 2:  /* over it */
        if (at + pieces[i].n <= n)
          memcpy(data + at, pieces[i].text, pieces[i].n);
        break;
      case 3:  /* between it */
        if (n + pieces[i].n <= MOST) {
          memmove(data + at + pieces[i].n, data + at, n - at);
          memcpy(data + at, pieces[i].text, pieces[i].n);
          n += pieces[i].n;
        }
        break;
      /* inserts a copy of some bytes of the data */
      case 4:
        if (n + k <= MOST) {
          memmove(data + at + k, data + at, n - at);
          n += k;
        }
        break;
      /* removes some bytes of the data, or cuts off its end */
      default:
        if (upto(8) == 0)
          n = at;
        else {
          memmove(data + at, data + at + k, n - at - k);
          n -= k;
        }
        break;
    }
  }
  return n;
}

static size_t make (unsigned char *data) {
  const Seed *s = &seeds[upto(SEEDS)];
  size_t n = s->n, i;
  if (upto(50) == 0) {
    n = (size_t)upto(400);
    for (i = 0; i < n; i++)
      data[i] = (unsigned char)next();
    /* keeps the header and replaces all data after it by random bytes */
    if (upto(2))
      memcpy(data, s->data, n < 60 ? n : 60);
    return n;
  }
  memcpy(data, s->data, n);
  return damage(data, n);
}

/* -------------------------------------------------------- the readers -- */

static void checksums (const ReadProfile *r, const ReaderSum *sum) {
  uint64_t samples = 0, held = 0, bins = 0, collections = 0, marks = 0;
  size_t i;
  uint32_t k;
  int what;
  for (i = 0; i < sum->table.nsites; i++) {
    const Site *s = &sum->table.sites[i];
    if (s->node >= r->tree.n || s->kind >= r->nkinds)
      fail("a site without a node or a kind");
    if (s->survived + s->undecided > s->samples)
      fail("more fates than samples");
    if (sum->tags != NULL && (s->tag >= sum->tags->n || tags_group(sum->tags, s->tag) >=
                              sum->tags->ngroups))
      fail("a site without a tag or its group");
    samples += s->samples;
  }
  for (i = 0; i < r->npaths; i++) {
    const ReadPath *p = &r->paths[i];
    if (p->parent > i || p->depth > READER_MAXSTEPS ||
        p->depth != 1 + (p->parent > 0 ? r->paths[p->parent - 1].depth : 0))
      fail("a path without the one above");
  }
  for (i = 0; i < sum->held.nsites; i++) {
    if (sum->held.sites[i].kind > r->npaths || sum->held.sites[i].node >= r->tree.n)
      fail("a holder without a path");
    held += sum->held.sites[i].samples;
  }
  for (i = 0; i < sum->table.nsites; i++)
    held -= sum->table.sites[i].survived - sum->table.sites[i].later;
  if ((int64_t)held > 0)
    fail("more is held than is alive");
  if (r->longestwalk > r->walked || (r->walks == 0 && r->walked > 0))
    fail("walks do not add up");
  for (i = 0; i < sum->bins.n; i++)
    bins += sum->bins.rows[i].samples;
  if (samples != r->samples + r->timesamples)
    fail("sites do not add up");
  if (bins != samples)
    fail("bins do not add up");
  for (k = 1; k < r->tree.n; k++) {
    if (r->tree.nodes[k].parent >= k || r->fn[k] >= r->nfunctions)
      fail("a node without parent or function");
  }
  if (!r->complete && r->message[0] == '\0')
    fail("cut without a word");
  for (i = 0; i < sum->course.n; i++)
    collections += sum->course.spans[i].minors + sum->course.spans[i].majors;
  if (collections != sum->course.collections)
    fail("collections do not add up");
  for (i = 0; i < sum->marks.nnames; i++)
    marks += sum->marks.names[i].count;
  if (marks != sum->marks.count)
    fail("marks do not add up");
  if (sum->pictures.n > PICTURES_MOST || sum->pictures.n > sum->pictures.count)
    fail("too many pictures");
  for (what = 0; what < LEFT_N; what++) {
    char text[READERLEFT_TEXT];
    if (sum->left[what] > 0)
      readerleft_text((ReadLeft)what, sum->left[what], text);
  }
}

static ReadProfile *readinput (ReaderClient *client) {
  char err[1024] = "";
  ReadProfile *r = reader_read(path, client, err, sizeof(err));
  if (r == NULL && err[0] == '\0')
    fail("refused without a word");
  if (r == NULL && strstr(err, "memory") != NULL)
    fail("memory ran out");
  return r;
}

static Fold fold;

/*
** Computes the folded stacks of a profile. Checks that each parent precedes its children, and
** that no function of a script is left out.
*/
static const Fold *folded (const ReadProfile *r) {
  uint32_t i;
  if (!fold_init(&fold, r, upto(4) == 0))
    fail("no memory");
  for (i = 1; i < r->tree.n; i++) {
    if (fold_parent(&fold, r, i) >= i)
      fail("a parent after its child");
    if (fold.folded[i] && !r->functions[r->fn[i]].native)
      fail("a function of a script is left out");
  }
  return &fold;
}

/* Merges the input with itself. Returns the merged profile; NULL if the input was rejected. */
static ReadProfile *merged (Output *o) {
  static Unite u;
  ReadProfile *r = NULL;
  char err[1024] = "";
  int fatal = 0, i;
  if (!unite_start(&u, o))
    fail("no memory");
  if (unite_check(&u, path, err, sizeof(err))) {
    for (i = 0; i < 2 && !fatal; i++) {
      if (r != NULL)
        readprofile_free(r);
      r = unite_add(&u, path, NULL, NULL, &fatal, err, sizeof(err));
    }
    if (!fatal && unite_finish(&u) != NULL)
      fail("no merged profile");
  }
  if (r == NULL && err[0] == '\0')
    fail("refused without a word");
  unite_free(&u);
  return r;
}

static void run (Output *o) {
  uint64_t what = upto(16);
  ReadProfile *r;
  if (what == 0) {
    static Firefox f;
    if (firefox_start(&f, folder, (int)upto(16)) != NULL)
      fail("no room to spill");
    r = readinput(&f.client);
    if (r != NULL) {
      uint64_t left[LEFT_N] = {0}, rows = 0;
      uint32_t i;
      firefox_group(&f, r, left);
      for (i = 0; i < f.tags.ngroups; i++)
        rows += f.of[i].rows;
      if (rows != f.rows)
        fail("threads do not add up");
    }
    if (r != NULL && firefoxfile_write(&f, r, folded(r), "\"meta\":{},\"libs\":[]", o) != NULL)
      fail("no Firefox profile");
    firefox_free(&f);
  }
  else if (what == 1) {
    static Flame f;
    if (flame_start(&f, folder, (int)upto(16)) != NULL)
      fail("no room to spill");
    r = readinput(&f.client);
    if (r != NULL && flame_speedscope(&f, r, folded(r), "x", o) != NULL)
      fail("no speedscope profile");
    flame_free(&f);
  }
  else if (what < 4) {
    static Transcode t;
    if (!transcode_start(&t, what == 2 ? PROFILE_STOCK : PROFILE_EXTENDED, o))
      fail("no memory");
    r = readinput(&t.client);
    if (r != NULL)
      transcode_finish(&t, r);
    transcode_free(&t);
  }
  else if (what == 6)
    r = merged(o);
  else {
    static ReaderSum sum;
    static Tags tags;
    if (!readersum_start(&sum, 50, READERSUM_EVER) || !tags_init(&tags, (int)upto(16)))
      fail("no memory");
    if (what < 8)
      sum.tags = &tags;
    r = readinput(&sum.client);
    if (r != NULL) {
      readersum_finish(&sum, r);
      checksums(r, &sum);
      if (what == 4 && !pprof_write(r, folded(r), &sum, NULL, o))
        fail("no pprof profile");
      if (what == 5 && !flame_collapsed(r, folded(r), &sum, (enum FlameWeight)upto(6), o))
        fail("no collapsed stacks");
    }
    readersum_free(&sum);
    tags_free(&tags);
  }
  fold_free(&fold);
  if (r != NULL)
    readprofile_free(r);
}

int main (int argc, char **argv) {
  static unsigned char data[MOST];
  static Output o;
  unsigned long long inputs;
  int fd = start("profiles", "fuzz", argc, argv, &inputs);
  makeseeds();
  if (output_open(&o, "/dev/null", 0) != 0)
    fail("no output");
  for (input = 1; input <= inputs; input++) {
    size_t n = make(data);
    if (upto(16) == 0) {
      n = gzip(data, n);
      if (upto(2))
        n = damage(data, n);
    }
    put(fd, data, n);
    run(&o);
    if (input % 2000 == 0) {  /* creates other well-formed profiles */
      int i;
      for (i = 0; i < SEEDS; i++)
        free(seeds[i].data);
      makeseeds();
    }
  }
  output_close(&o, 1);
  return end(fd, inputs);
}
