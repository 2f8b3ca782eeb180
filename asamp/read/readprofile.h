/* SPDX-License-Identifier: MIT */
/*
** Results of reading a log: the samples, collections and marks that the reader passes to a
** client one by one, and the data of the whole, a ReadProfile: call tree, functions, kinds,
** head and counts. (A Profile is one being written.)
*/
#ifndef asamp_readprofile_h
#define asamp_readprofile_h

#include "bounds.h"
#include "framename.h"
#include "readerleft.h"
#include "sample.h"
#include "strtab.h"
#include "tree.h"

/* Kinds 0 and 1 of every profile; the kinds of objects follow. */
enum { READER_UNKNOWN, READER_TIMESAMPLE, READER_FIRSTKIND };

#define READER_NOSTATE	UINT32_MAX

enum { READER_DIED, READER_SURVIVED, READER_UNDECIDED };

/* A kind of sampled object: a type and a class. */
typedef struct ReadKind {
  uint64_t type;       /* number in the file */
  uint32_t name;       /* of the type, offset in 'text'; set at the end */
  uint32_t class;      /* name of the class, offset in 'text'; 0: none */
} ReadKind;

/* A sample. Times are us since the start and never decrease from sample to sample. */
typedef struct ReadSample {
  uint64_t time;
  uint64_t count;      /* periods that it represents, at least 1 */
  uint64_t period;     /* bytes, to be multiplied by the ReadProfile's 'scale' at the end; for
		          time samples ns */
  uint64_t size;       /* bytes of the block; 0: unknown */
  uint64_t thread;
  uint64_t born;       /* bytes of all samples decided up to this one, not multiplied by 'scale':
		          a time measured in allocation. Only in the callback 'fate' and later */
  uint32_t node;       /* node of the call tree */
  uint32_t kind;       /* includes the class only in the callback 'fate' and later */
  int outside;         /* 1: allocated outside the nursery */
  uint32_t labels;     /* number of its label set, from 1 on; 0: none */
} ReadSample;

/* The death of a survivor. */
typedef struct ReadDeath {
  const ReadSample *sample;
  uint64_t time;       /* time of the collection that found it dead */
  uint64_t allocated;  /* bytes allocated during its life, not multiplied by 'scale' */
  uint64_t tag;        /* tag that the client set in 'fate' */
  size_t place;        /* index among the followed samples, oldest first, before this
		          collection's deaths */
  int orphan;          /* 1: 'place' is the index among the orphans of its state, before its
		          death: it is native memory, and the state has ended */
} ReadDeath;

/* Returns the bytes that the sample represents, not multiplied by 'scale'; at most 2^62. */
static inline uint64_t readsample_bytes (const ReadSample *s) {
  uint64_t most = (uint64_t)1 << 62;
  return s->period > 0 && s->count > most / s->period ? most
                                                      : s->count * s->period;
}

typedef struct ReadCollection {
  uint64_t time;       /* its end */
  uint64_t duration;   /* us */
  uint64_t processor;  /* CPU time in us, part of 'duration' */
  uint64_t slices;     /* us of CPU time, part of 'processor' and 'left': slices of a major
		          collection within minor pauses */
  uint64_t inuse, held, rss;  /* bytes; 0: not in the file */
  uint64_t stateinuse, stateheld;  /* in files of many states: of the state alone */
  uint64_t tenured;    /* bytes since the previous collection */
  uint64_t planned;    /* planned size of the nurseries since then, bytes */
  uint64_t charged;    /* bytes with which they were filled */
  uint64_t looked[LOOKED_COUNT];  /* by enum ProfileLooked of sample.h */
  uint64_t decided;    /* number of samples it decided */
  uint64_t survived;   /* of these */
  uint64_t minors, majors;  /* collections before it without an event of their own */
  uint64_t left;       /* their pauses, us */
  int major;
  int state;           /* phase of the major collection: 0 none, 1 marking, 2 sweeping, 3
		          finalizing */
  uint32_t labels;     /* label set of the running thread, as in ReadSample */
} ReadCollection;

/* A label; offsets in 'text'. */
typedef struct ReadLabel {
  uint32_t name, value;
} ReadLabel;

/* A label set of samples and collections. */
typedef struct ReadLabelSet {
  uint32_t first, n;   /* range in ReadProfile.labels */
  int unwanted;        /* 1: the client does not want samples with it */
} ReadLabelSet;

/* A row of resident memory; rows of one time form a picture. */
typedef struct ReadResident {
  uint64_t time;       /* us since the start */
  int64_t bytes;
  const char *what, *text;  /* not NUL-terminated */
  size_t whatlength, textlength;
} ReadResident;

/* A mark. Name and value are not NUL-terminated, and valid during the call only. */
typedef struct ReadMark {
  uint64_t time;
  const char *name, *value;
  size_t namelength, valuelength;
} ReadMark;

/* A walk for holders. */
typedef struct ReadWalk {
  uint64_t time;       /* its start */
  uint64_t duration;   /* us that the program waited */
} ReadWalk;

/* A path of references to a live object, given by its last step. */
typedef struct ReadPath {
  uint32_t parent;     /* number of the path that it extends, from 1 on; 0: none */
  uint32_t step;       /* offset in 'text' */
  uint32_t depth;      /* steps of the path, at most READER_MAXSTEPS */
} ReadPath;

/* A Lua state in a file of many. Times are us since the start. */
typedef struct ReadState {
  uint32_t id;         /* number in the file */
  uint32_t name;       /* offset in 'text'; 0: none */
  uint32_t thread;     /* OS thread that ran it last; 0: unknown */
  int ended;           /* 1: it was closed, or 'others' */
  int others;          /* number of further states merged in this row; 0: a single state */
  uint64_t begin, end;
  uint64_t allocated;  /* exact bytes allocated while it was sampled; 0: unknown */
  uint64_t samples, bytes;    /* allocation samples in periods, and the bytes they represent */
  uint64_t timesamples, ns;   /* time samples in periods, and the ns they represent */
  uint64_t survivedbytes, laterbytes;
  uint64_t minors, majors;    /* collections */
} ReadState;

typedef struct ReadThread {
  uint32_t id;         /* of the system */
  uint64_t samples, bytes, timesamples, ns;  /* as in ReadState */
} ReadThread;

typedef struct ReadProfile {
  int version;
  int own;             /* 1: written by us, with details */
  int packed;
  int lines;           /* 1: frames have lines */
  int native;          /* 1: the file declares native frames */
  int complete;        /* 1: the trailer was read and the checksum is correct */
  int fates;           /* 1: the file has outcomes */
  uint64_t followed;   /* largest number of followed samples at a time; 0: the file has no deaths */
  uint64_t unfollowed; /* survivors that are not followed, in periods */
  int random;          /* 1: random intervals (own files) */
  int wall, cpu;       /* 1: time samples of wall time, and of CPU time (own files; both if it
		          was changed) */
  int timed;           /* 1: the file has times; else samples of other writers are one time
		          period apart */
  char interpreter[256];
  char message[256];   /* why it is not complete */
  uint64_t left[LEFT_N];  /* counts of dropped data (readerleft.h) */
  uint64_t offset;     /* bytes of the log that were read */
  uint64_t period;     /* initial sampling period in bytes; 0: unknown */
  uint64_t periods;    /* how often it was changed after a sample */
  uint64_t ring[4];    /* of a flight recorder: samples that were alive before the kept part,
		          bytes they represent; us of the kept part, and requested us, 0: none */
  int isring;
  uint64_t allocated;  /* exact bytes allocated while sampling was on; 0: unknown */
  int labelled;        /* 1: the file has the allocated bytes by label set (callback 'labelled') */
  uint64_t mallocs;    /* sampling period of native memory in bytes; 0: not sampled */
  int copying;         /* 1: own file with sampled copies */
  uint64_t copies;     /* samples of copies, in periods */
  uint64_t scale;      /* own files 1; others the period (1: unknown) */
  uint64_t timeperiod; /* ns, first period; 0: unknown */
  uint64_t timeperiods;  /* how often it was set */
  uint64_t clock;      /* us of the monotonic clock at the start; 0: unknown */
  uint64_t started, ended;   /* us since the epoch; 0: unknown */
  uint64_t lost;       /* samples lost by the writer, as far as the file records them */
  uint64_t pid;        /* of the process; 0: unknown */
  uint64_t recorder;   /* number of a flight recorder; 0: not one, or unknown */
  uint64_t recorded;   /* of a flight recorder: time of writing, us by the clock of 'clock' */
  int live;            /* 1: it was still being written while it was read */
  uint64_t duration;   /* us; to the last event if the end is missing */
  uint64_t merged;     /* number of merged profiles; 0: not merged */
  int many;            /* 1: a file of many states, with 'states' and 'threads' */
  ReadState *states;   /* in the order of their first occurrence */
  size_t nstates;
  ReadThread *threads;
  size_t nthreads;
  uint64_t begun;      /* number of states, including those without data; 0: unknown */
  ReadLabelSet *labelsets;  /* set 1 is first */
  size_t nlabelsets;
  ReadLabel *labels;
  size_t nlabels;
  ReadPath *paths;     /* holders of live samples */
  size_t npaths;
  uint64_t walks;      /* number of walks for holders */
  uint64_t walked, longestwalk;  /* us that the program waited: total, longest */
  uint64_t samples;    /* allocation samples, in periods */
  uint64_t timesamples;  /* time samples, in periods */
  uint64_t undetailed; /* own files: samples whose details are missing */
  uint64_t minors, majors;  /* all collections */
  Tree tree;
  StrTab text;
  IdMap names;         /* maps frame ids to offsets in 'text' */
  uint32_t command;    /* offset in 'text' */
  uint32_t tuning;     /* LUA_GC of the process, offset in 'text'; 0: not set */
  ReadKind *kinds;
  uint32_t nkinds;
  /* set at the end: the functions, and the function of each node */
  FrameName *functions;
  uint32_t nfunctions;
  uint32_t *fn;        /* by node; not of the root */
} ReadProfile;

/*
** The receiver of events; callbacks may be NULL. A client that cannot continue sets 'stop' to a
** phrase, and receives no more events.
*/
typedef struct ReaderClient {
  void *ud;
  const char *stop;
  /* Ids of the wanted states, ascending; NULL: all. The counts of the ReadProfile are of
     these, except 'states' and 'threads'. */
  const uint32_t *only;
  size_t nonly;
  /* Not NULL: only samples with this label are wanted; with value NULL, those without a
     label of that name. Applies to counts like 'only'. */
  const char *labelname, *labelvalue;
  /* Only samples with since <= time < till are wanted (us; till 0: no end), and collections, marks
     and walks of that time. If 'without' is not NULL, samples of nodes i with a nonzero without[i]
     (i below 'nwithout') and collections are not wanted. Applies to counts like 'only'. */
  uint64_t since, till;
  const unsigned char *without;
  size_t nwithout;
  /* Called before the first event, with the data of the head. */
  void (*head) (void *ud, const ReadProfile *r);
  /* An allocation or time sample (kind READER_TIMESAMPLE). */
  void (*sample) (void *ud, const ReadSample *s);
  /* A copy sample. Its 'kind' is 0, 1 or 2, for COPY_NEW and the next values in sample.h. Copies
     are not passed to 'sample' and have no outcome. */
  void (*copy) (void *ud, const ReadSample *s);
  /* The outcome (READER_DIED ...) of an allocation sample, decided at 'time'. If 'followed'
     is set, a death may follow; 'fate' may then set 'tag' for it. */
  void (*fate) (void *ud, const ReadSample *s, int fate, uint64_t time);
  int followed;
  uint64_t tag;
  void (*death) (void *ud, const ReadDeath *d);
  /* At the end, if the file has holders: a live sample and the path that held it at the last walk
     that reached it (0: unknown). 'place' is its index among the followed samples; 'unreached' is 1
     if a later walk did not reach it. */
  size_t place;
  int unreached;
  void (*held) (void *ud, const ReadSample *s, uint32_t path);
  void (*walk) (void *ud, const ReadWalk *w);
  void (*collection) (void *ud, const ReadCollection *c);
  void (*mark) (void *ud, const ReadMark *m);
  void (*resident) (void *ud, const ReadResident *r);
  void (*period) (void *ud, uint64_t bytes);
  /* A new period of time samples in ns; 0: off. */
  void (*timeperiod) (void *ud, uint64_t ns, int wall);
  /* State of the current event: its id, 0 in files of one state, READER_NOSTATE beyond the
     limit; and its OS thread, 0: unknown. */
  uint32_t state, thread;
  uint32_t row;        /* index of the state in ReadProfile.states */
  /* In files of many states: the state starts; has a name (NUL-terminated); has allocated
     bytes; ends at 'time'. Its live samples die when the next state starts, except a number
     of orphans. */
  void (*starts) (void *ud, uint64_t time);
  void (*called) (void *ud, const char *name);
  void (*allocated) (void *ud, uint64_t bytes);
  /* In files of one state, too: the exact bytes that the state has allocated with a label set.
     Called before 'allocated', whose bytes include them. */
  void (*labelled) (void *ud, uint32_t set, uint64_t bytes);
  void (*ends) (void *ud, uint64_t time, uint64_t orphans);
  /* Called repeatedly with 'progressud' and the share of the file, 0 to 1. */
  void (*progress) (void *progressud, double fraction);
  void *progressud;
} ReaderClient;

void readprofile_free (ReadProfile *r);

/* Returns the name of a kind's type for display; may use 'buffer'. */
const char *readprofile_kindname (const ReadProfile *r, uint32_t kind,
                                  char buffer[40]);

#define READER_LABEL	(2 * READER_MAXNAME + 8)

/* Writes "[table]" or "[table Point]" to 'label' and returns its length. */
size_t readprofile_kindlabel (const ReadProfile *r, uint32_t kind,
                              char label[READER_LABEL]);

#endif
