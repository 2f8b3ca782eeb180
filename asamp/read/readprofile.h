/* SPDX-License-Identifier: MIT */
/*
** What a log comes to: its samples, collections and marks, one by one, as the
** reader hands them to a client; and what is known of all, a ReadProfile: the call
** tree, functions, kinds, the head and the counts. (A Profile is one that is written.)
*/
#ifndef asamp_readprofile_h
#define asamp_readprofile_h

#include "bounds.h"
#include "framename.h"
#include "readerleft.h"
#include "sample.h"
#include "strtab.h"
#include "tree.h"

/* Kinds 0 and 1 of every profile; real ones follow. */
enum { READER_UNKNOWN, READER_TIMESAMPLE, READER_FIRSTKIND };

#define READER_NOSTATE	UINT32_MAX

enum { READER_DIED, READER_SURVIVED, READER_UNDECIDED };

/* What was sampled: a type and a class. */
typedef struct ReadKind {
  uint64_t type;       /* as the file numbers it */
  uint32_t name;       /* of the type, number in 'text'; known at the end */
  uint32_t class;      /* its name, number in 'text'; 0: none */
} ReadKind;

/* Times are us since the start. They never decrease from sample to sample. */
typedef struct ReadSample {
  uint64_t time;
  uint64_t count;      /* periods that it stands for, at least 1 */
  uint64_t period;     /* bytes, to be multiplied by the ReadProfile's 'scale' at
                          the end; of time samples ns */
  uint64_t size;       /* bytes of the block; 0: unknown */
  uint64_t thread;
  uint32_t node;       /* of the tree */
  uint32_t kind;       /* with its class only when the fate is told */
  int outside;         /* 1: allocated outside the nursery */
  uint32_t labels;     /* number of its set of labels, from 1 on; 0: none */
} ReadSample;

/* A sample that survived has died. */
typedef struct ReadDeath {
  const ReadSample *sample;
  uint64_t time;       /* of the collection that has found it dead */
  uint64_t allocated;  /* bytes from its birth to there, before 'scale' */
  uint64_t tag;        /* what the client has left with its fate */
  size_t place;        /* among those that are followed, oldest first, as they
                          were before this collection's deaths; ... */
  int orphan;          /* 1: ... among the orphans of its state, as they were when this one
                          died: it is native memory, and the state has ended */
} ReadDeath;

/* Bytes that the sample stands for (before 'scale'), at most 2^62. */
static inline uint64_t readsample_bytes (const ReadSample *s) {
  uint64_t most = (uint64_t)1 << 62;
  return s->period > 0 && s->count > most / s->period ? most
                                                      : s->count * s->period;
}

typedef struct ReadCollection {
  uint64_t time;       /* its end */
  uint64_t duration;   /* us */
  uint64_t processor;  /* of that, CPU time */
  uint64_t slices;     /* of that and of 'left', CPU time of slices of a major collection in the
                          pauses of minor ones */
  uint64_t inuse, held, rss;  /* bytes; 0 when the file does not tell */
  uint64_t stateinuse, stateheld;  /* of files of many states: of the state alone */
  uint64_t tenured;    /* bytes, since the collection before */
  uint64_t planned;    /* bytes of nurseries since then, as they were to be, ... */
  uint64_t charged;    /* ... and what they were filled with */
  uint64_t looked[LOOKED_COUNT];  /* by enum ProfileLooked of sample.h */
  uint64_t decided;    /* samples whose fate it told */
  uint64_t survived;   /* of these */
  uint64_t minors, majors;  /* before it, without an event of their own, ... */
  uint64_t left;       /* ... and their pauses, us */
  int major;
  int state;           /* of the major collection: 0 none, 1 marking,
                          2 sweeping, 3 finalizing */
  uint32_t labels;     /* of who ran when it came; as in ReadSample */
} ReadCollection;

/* A label; numbers in 'text'. */
typedef struct ReadLabel {
  uint32_t name, value;
} ReadLabel;

/* A set of labels, which samples and collections have. */
typedef struct ReadLabelSet {
  uint32_t first, n;   /* of ReadProfile.labels */
  int unwanted;        /* the client does not want what has it */
} ReadLabelSet;

/* Of where resident memory was, a row; those of one time are a picture. */
typedef struct ReadResident {
  uint64_t time;       /* us since the start */
  int64_t bytes;
  const char *what, *text;  /* not terminated */
  size_t whatlength, textlength;
} ReadResident;

/* Neither name nor value ends in NUL; they hold during the call. */
typedef struct ReadMark {
  uint64_t time;
  const char *name, *value;
  size_t namelength, valuelength;
} ReadMark;

/* Who holds what is followed was found out. */
typedef struct ReadWalk {
  uint64_t time;       /* when it began */
  uint64_t duration;   /* us that the program waited */
} ReadWalk;

/* A step of a path by which something is held. */
typedef struct ReadPath {
  uint32_t parent;     /* number of the path that it goes on from, from 1 on; 0: none */
  uint32_t step;       /* number in 'text' */
  uint32_t depth;      /* steps of the path, at most READER_MAXSTEPS */
} ReadPath;

/* A Lua state of a file of many. Times are us since the start. */
typedef struct ReadState {
  uint32_t id;         /* as the file numbers it */
  uint32_t name;       /* number in 'text'; 0: it has none */
  uint32_t thread;     /* OS thread that ran it last; 0: not told */
  int ended;           /* it was closed, or 'others' */
  int others;          /* it stands for all that find no room: so many */
  uint64_t begin, end;
  uint64_t allocated;  /* bytes while it was sampled, exactly; 0: not told */
  uint64_t samples, bytes;    /* of allocations: periods, and what they stand for */
  uint64_t timesamples, ns;   /* likewise of time */
  uint64_t survivedbytes, laterbytes;
  uint64_t minors, majors;    /* collections */
} ReadState;

typedef struct ReadThread {
  uint32_t id;         /* of the system */
  uint64_t samples, bytes, timesamples, ns;  /* as those of a ReadState */
} ReadThread;

typedef struct ReadProfile {
  int version;
  int own;             /* 1: written by us, details are there */
  int packed;
  int lines;           /* 1: frames have lines */
  int native;          /* 1: the file says that it has native frames */
  int complete;        /* 1: the trailer was reached, the checksum is right */
  int fates;           /* 1: the file tells fates */
  uint64_t followed;   /* the file tells deaths, of so many samples at a time;
                          0: it tells none */
  uint64_t unfollowed; /* samples that survived, of whose deaths it does not
                          tell; counts added up */
  int random;          /* 1: random intervals (own files) */
  int wall, cpu;       /* 1: time samples of the wall clock; of the CPU's (own
                          files; both when the clock was changed) */
  int timed;           /* 1: the file tells times; else samples of other
                          writers are one period of time apart */
  char interpreter[256];
  char message[256];   /* why it is not complete */
  uint64_t left[LEFT_N];  /* by limits (readerleft.h) */
  uint64_t offset;     /* bytes of the log that were read */
  uint64_t period;     /* bytes a sample stands for, at first; 0: unknown */
  uint64_t periods;    /* how often it was set again behind a sample */
  uint64_t ring[4];    /* of a flight recorder: samples that were alive before, bytes that
                          they stand for; us that it goes back, and those wished, 0: none */
  int isring;
  uint64_t allocated;  /* bytes while sampling was on, exactly; 0: not told */
  uint64_t mallocs;    /* ... one of native memory; 0: none are taken */
  int copying;         /* 1: own: copies were sampled */
  uint64_t copies;     /* samples of these, counts added up */
  uint64_t scale;      /* own files 1, others' the period (1: unknown) */
  uint64_t timeperiod; /* ns, the first; 0: unknown */
  uint64_t timeperiods;  /* how often it was set */
  uint64_t clock;      /* monotonic us at the start; 0: unknown */
  uint64_t started, ended;   /* epoch, us; 0: unknown */
  uint64_t lost;       /* samples that the writer has lost, as far as is told */
  uint64_t pid;        /* of the process; 0: unknown */
  uint64_t recorder;   /* the number of a flight recorder; 0: it is none, or unknown */
  uint64_t recorded;   /* ... when it was written, by the clock of 'clock', us */
  int live;            /* it was being written while it was read */
  uint64_t duration;   /* us; to the last event when there is no end */
  uint64_t merged;     /* profiles that this is of, one after the other; 0: of one */
  int many;            /* 1: a file of many states: 'states' and 'threads' tell */
  ReadState *states;   /* in the order in which they were met */
  size_t nstates;
  ReadThread *threads;
  size_t nthreads;
  uint64_t begun;      /* states that there were, those that told nothing too; 0: not told */
  ReadLabelSet *labelsets;  /* number 1 first */
  size_t nlabelsets;
  ReadLabel *labels;
  size_t nlabels;
  ReadPath *paths;     /* who holds what is alive */
  size_t npaths;
  uint64_t walks;      /* how often that was found out, ... */
  uint64_t walked, longestwalk;  /* us that the program waited: together, the longest */
  uint64_t samples;    /* of allocations, counts added up */
  uint64_t timesamples;  /* likewise */
  uint64_t undetailed; /* own: samples whose details were cut off */
  uint64_t minors, majors;  /* all there were */
  Tree tree;
  StrTab text;
  IdMap names;         /* frame id -> number in 'text' */
  uint32_t command;    /* number in 'text' */
  uint32_t tuning;     /* likewise: LUA_GC of the process; 0: it had none */
  ReadKind *kinds;
  uint32_t nkinds;
  /* at the end: the functions, and which of them a node is in */
  FrameName *functions;
  uint32_t nfunctions;
  uint32_t *fn;        /* by node; not of the root */
} ReadProfile;

/*
** Whom the events go to; members may be NULL. A client that cannot go on
** sets 'stop' to a phrase, and is given no more.
*/
typedef struct ReaderClient {
  void *ud;
  const char *stop;
  /* ids of the states that are wanted, rising; NULL: all. The counts of the ReadProfile are
     of these, but for its 'states' and 'threads' */
  const uint32_t *only;
  size_t nonly;
  /* not NULL: only what has this label is wanted, or, value NULL, what has none of that
     name; as 'only' */
  const char *labelname, *labelvalue;
  /* before the first event, with what is known from the head */
  void (*begin) (void *ud, const ReadProfile *r);
  /* of an allocation, or of time (kind READER_TIMESAMPLE) */
  void (*sample) (void *ud, const ReadSample *s);
  /* of copies, with the sort that COPY_NEW ... of sample.h number as 0, 1, 2 as its
     kind; these are no samples of 'sample', and have no fate */
  void (*copy) (void *ud, const ReadSample *s);
  /*
  ** Of an allocation sample, decided at 'time'; enum READER_DIED ... With
  ** 'followed' a death may come; 'fate' may leave a tag for it.
  */
  void (*fate) (void *ud, const ReadSample *s, int fate, uint64_t time);
  int followed;
  uint64_t tag;
  void (*death) (void *ud, const ReadDeath *d);
  /* at the end, where the file tells it: what is alive, and the path that holds it, or
     did when it was asked last (0: none is known); 'place' is that of the sample among
     those that are followed */
  size_t place;
  void (*held) (void *ud, const ReadSample *s, uint32_t path);
  void (*walk) (void *ud, const ReadWalk *w);
  void (*collection) (void *ud, const ReadCollection *c);
  void (*mark) (void *ud, const ReadMark *m);
  void (*resident) (void *ud, const ReadResident *r);
  void (*period) (void *ud, uint64_t bytes);
  /* ns; 0: time sampling is off from here */
  void (*timeperiod) (void *ud, uint64_t ns, int wall);
  /*
  ** Whose the event is that is told: the state's id, 0 in files of one, READER_NOSTATE of
  ** those that find no room; and the OS thread that it runs on, 0: not told.
  */
  uint32_t state, thread;
  uint32_t row;        /* of the state in ReadProfile.states */
  /* files of many: the state begins; is called so (NUL-terminated); has allocated so many
     bytes; has ended, at 'time'. What it has alive then dies when another one begins, but
     for so many orphans */
  void (*begins) (void *ud, uint64_t time);
  void (*called) (void *ud, const char *name);
  void (*allocated) (void *ud, uint64_t bytes);
  void (*ends) (void *ud, uint64_t time, uint64_t orphans);
  /* now and then, with 'progressud'; 0 to 1 */
  void (*progress) (void *progressud, double fraction);
  void *progressud;
} ReaderClient;

void readprofile_free (ReadProfile *r);

/* The name of a kind's type, for people: 'buffer' may be used. */
const char *readprofile_kindname (const ReadProfile *r, uint32_t kind,
                                  char buffer[40]);

#define READER_LABEL	(2 * READER_MAXNAME + 8)

/* "[table]" or "[table Point]" to 'label'; its length. */
size_t readprofile_kindlabel (const ReadProfile *r, uint32_t kind,
                              char label[READER_LABEL]);

#endif
