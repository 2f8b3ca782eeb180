/* SPDX-License-Identifier: MIT */
/* Types that describe a profile. The reader (reader.h) passes events, such as a ReadSample, to a
   client (ReaderClient) one by one, and returns a ReadProfile with the data of the whole file.
   Unless noted, times are microseconds (us) since the start of the profile. Offset 0 of
   ReadProfile.text is the empty string. */
#ifndef asamp_readprofile_h
#define asamp_readprofile_h

#include "bounds.h"
#include "bytes.h"
#include "framename.h"
#include "readerleft.h"
#include "sample.h"
#include "strtab.h"
#include "tree.h"

/* Indexes in ReadProfile.kinds. 0: blocks of unknown type; 1: time samples; from READER_FIRSTKIND
   on: kinds of blocks. */
enum { READER_UNKNOWN, READER_TIMESAMPLE, READER_FIRSTKIND };

#define READER_NOSTATE	UINT32_MAX  /* value instead of the id or index of a Lua state: there is no
                                       state, or there are several states */

/* Survival of a sampled block: it died in its first collection, it survived that collection, or the
   file does not record which (UNDECIDED). */
enum { READER_DIED, READER_SURVIVED, READER_UNDECIDED };

/* A kind of sampled block: its type, such as table, and the class of the object (metatable field
   __name). */
typedef struct ReadKind {
  uint64_t type;       /* number of the type; in asamp's files a value of enum ProfileKind */
  uint32_t name;       /* name of the type, offset in ReadProfile.text; set after the last event;
                          0: none */
  uint32_t class;      /* name of the class, offset in ReadProfile.text; 0: none */
} ReadKind;

/* An allocation, time or copy sample. */
typedef struct ReadSample {
  uint64_t time;       /* us since the start; not before the time of the previous sample */
  uint64_t count;      /* number of sampling periods that the sample represents, at least 1 */
  /* Sampling period. Time samples: ns. Other samples: bytes, to be multiplied by ReadProfile.scale
     (1 in asamp's files). */
  uint64_t period;
  uint64_t size;       /* bytes of the block; 0: unknown */
  /* Thread number in the sample's stack record. In files of many Lua states it is the id of the
     state. */
  uint64_t thread;
  /* Time of the allocation, measured in allocated bytes: the bytes that this sample and all samples
     whose survival was read before represent. Not set until the sample's survival is read. In files
     of other profilers, multiply 'born' by ReadProfile.scale, the sampling period. */
  uint64_t born;
  uint32_t node;       /* call tree node of the stack; 0: empty stack */
  /* Index in ReadProfile.kinds. Until the sample's survival is read, the index of a kind without a
     class. For a sample of copied bytes: the reason of the copy (ReaderClient.copy). */
  uint32_t kind;
  int outside;         /* 1: the block was allocated outside the nursery */
  uint32_t labels;     /* index in ReadProfile.labelsets + 1; 0: no labels */
} ReadSample;

/* The death of a sampled block that had survived its first collection. */
typedef struct ReadDeath {
  const ReadSample *sample;
  uint64_t time;       /* time at which the block was found dead, us since the start */
  /* Bytes that the Lua state allocated during the block's life, estimated from the state's samples.
     Not multiplied by ReadProfile.scale. */
  uint64_t allocated;
  uint64_t tag;        /* value of ReaderClient.tag after the callback 'fate' for this sample */
  /* Index of the sample (0: oldest) in the list of its Lua state's live survivors, before the
     samples that the same collection found dead were removed from the list. For an orphan ('orphan'
     is 1): the number of older samples of native memory that are still alive. */
  size_t place;
  /* 1: the sample is an "orphan": native memory that was alive when its Lua state ended. */
  int orphan;
} ReadDeath;

/* Returns the bytes (time samples: ns) that a sample represents, at most 2^62. The result is not
   multiplied by ReadProfile.scale. */
static inline uint64_t readsample_bytes (const ReadSample *s) {
  uint64_t most = (uint64_t)1 << 62;
  return s->period > 0 && s->count > most / s->period ? most
                                                      : s->count * s->period;
}

/* A collection. Unknown fields are 0. */
typedef struct ReadCollection {
  uint64_t time;       /* end of the collection, us since the start */
  uint64_t duration;   /* pause, us */
  uint64_t processor;  /* CPU time of the pause, us */
  /* CPU time, us, of slices of major collections in the pauses of minor collections since the
     previous recorded collection. It is part of 'processor' + 'left': a slice ran in this pause or
     in the pause of an unrecorded collection. */
  uint64_t slices;
  /* CPU time of the program outside of collections since the previous recorded collection, us; 0:
     unknown */
  uint64_t mutator;
  /* Bytes in use, reserved and resident after the collection; 0: unknown. 'inuse' and 'held'
     (reserved) are sums over all open Lua states that the client selects. */
  uint64_t inuse, held, rss;
  uint64_t stateinuse, stateheld;  /* 'inuse' and 'held' of the collected Lua state alone */
  uint64_t tenured;    /* bytes tenured since the previous recorded collection */
  /* 'planned': sum of the planned sizes of all nurseries since the previous recorded collection,
     bytes. 'charged': bytes that were allocated in these nurseries. */
  uint64_t planned, charged;
  uint64_t looked[LOOKED_COUNT];  /* numbers of stack slots, table entries etc. that the collector
                                     visited (enum ProfileLooked) */
  /* Number of sampling periods represented by the samples whose block was found dead or alive for
     the first time since the previous recorded collection of the same Lua state. */
  uint64_t decided;
  /* The part of 'decided' for the samples whose block was found alive, in sampling periods. */
  uint64_t survived;
  /* Numbers of minor and of major collections since the previous recorded collection that the file
     does not record. */
  uint64_t minors, majors;
  uint64_t left;       /* sum of the pauses of the collections counted in 'minors' and 'majors',
                          us */
  int major;           /* 1: a major collection or a slice of one; 0: a minor collection */
  int state;           /* phase of the major collection that is running after this pause: 1 marking,
                          2 sweeping, 3 finalizing; 0: no major collection is running */
  uint32_t labels;     /* label set of the running thread, index in ReadProfile.labelsets + 1;
                          0: no labels */
} ReadCollection;

/* A label: name and value, offsets in ReadProfile.text. */
typedef struct ReadLabel {
  uint32_t name, value;
} ReadLabel;

typedef struct ReadLabelSet {
  uint32_t first, n;   /* the labels of the set are ReadProfile.labels[first] to labels[first + n -
                          1] */
  int unwanted;        /* 1: the client does not select samples with this set */
} ReadLabelSet;

/* A row of a snapshot of resident memory: the bytes of one kind of memory. Rows with equal times
   are of one snapshot. Pointers are valid during the callback. */
typedef struct ReadResident {
  uint64_t time;
  int64_t bytes;       /* may be negative in files of older versions, which subtracted reserved
                          memory that was never touched */
  /* Two texts, not NUL-terminated. The first one is the kind of memory, such as "rss". The second
     one is the file or source line that uses this memory; it may be empty. */
  const char *what, *text;
  size_t whatlength, textlength;
} ReadResident;

/* A mark: a name and a value that the program recorded at a certain time. The texts are not
   NUL-terminated, and valid during the callback. */
typedef struct ReadMark {
  uint64_t time;
  const char *name, *value;
  size_t namelength, valuelength;
} ReadMark;

/* A heap walk that searched for the references that keep sampled blocks alive. */
typedef struct ReadWalk {
  uint64_t time;       /* start of the heap walk, us since the start of the profile */
  uint64_t duration;   /* pause of the program for the heap walk, us */
} ReadWalk;

/* A path of references from a root to a live object: a shorter path and a last reference. */
typedef struct ReadPath {
  uint32_t parent;     /* the path without its last reference, index in ReadProfile.paths + 1; 0:
                          the path has only one reference */
  uint32_t step;       /* text of the path's last reference, offset in ReadProfile.text */
  uint32_t depth;      /* number of references, at most READER_MAXSTEPS */
  uint64_t length;     /* sum of the lengths of the texts of the path's references, bytes */
} ReadPath;

/* A Lua state. All sums include samples that the client does not select. */
typedef struct ReadState {
  uint32_t id;         /* id of the state in the file */
  uint32_t name;       /* name of the state (its script), offset in ReadProfile.text; 0: none */
  uint32_t thread;     /* system number of the last OS thread of the state; 0: unknown */
  int ended;           /* 1: the state was closed */
  /* Number of further Lua states that share this struct because of the limit READER_MAXSTATES. */
  int others;
  uint64_t opened, closed; /* start and end of the state, us; 0: unknown */
  uint64_t allocated;  /* exact number of bytes that the state allocated, not estimated from
                          samples; 0: unknown */
  /* numbers of sampling periods and of bytes that the state's allocation samples represent */
  uint64_t samples, bytes;
  /* number of sampling periods, and time in ns, that the state's time samples represent */
  uint64_t timesamples, ns;
  /* 'survivedbytes': bytes that the samples of survivors represent. 'laterbytes': the part of these
     bytes whose blocks died later. */
  uint64_t survivedbytes, laterbytes;
  uint64_t minors, majors;    /* numbers of the state's minor and major collections */
} ReadState;

/* An OS thread in a file of many states. */
typedef struct ReadThread {
  uint32_t id;         /* system number of the thread */
  /* 'samples': number of sampling periods that the thread's allocation samples represent; 'bytes':
     number of bytes that they represent. 'timesamples': number of sampling periods that the
     thread's time samples represent; 'ns': time that they represent, ns. */
  uint64_t samples, bytes, timesamples, ns;
} ReadThread;

/* The data of a whole file. */
typedef struct ReadProfile {
  int version;         /* version of the VMProf log, 0 to 7 */
  int own;             /* 1: asamp wrote the file */
  int packed;          /* 1: the file is compressed with gzip */
  int lines;           /* 1: frames have line numbers */
  int native;          /* 1: the header of the file declares native frames */
  int complete;        /* 1: the trailer was read and the checksum is right */
  int fates;           /* 1: the file records which samples survived */
  uint64_t followed;   /* largest number of live survivors whose death the writer can record; 0:
                          the file records no deaths */
  /* Number of sampling periods represented by the selected survivors whose death the file does not
     record. 0 if the file records no deaths at all. */
  uint64_t unfollowed;
  int random;          /* 1: the distances between sample points are random; 0: they are constant */
  int wall, cpu;       /* 1: the file has samples of wall time ('wall') or CPU time ('cpu') */
  /* 1: the file has the times of samples. 0: it has no times; the reader then sets the time of
     each sample to the time of the previous sample plus the period of time samples ('timeperiod';
     1 ms if that is unknown or below 1 us). */
  int timed;
  char interpreter[256];
  char message[256];   /* why the file is incomplete; "" if it is complete */
  uint64_t left[LEFT_N];  /* counts of data dropped because of limits (readerleft.h) */
  uint64_t offset;     /* bytes of the decompressed log that were read */
  /* Used to repair a log that has lost its end (asamp/convert/repair.h). */
  struct ReadEnd {
    uint64_t intact;   /* bytes of the log before the record that could not be read */
    uint64_t unpaired; /* number of allocation samples whose object record was not read; 0 in logs
                          of version 0 to 6 or of 32 bits */
    uint64_t statistics;  /* number of words with statistics at the end of each object record */
    double seconds;    /* time of the last stack or object record; 0 before version 7 */
    /* 1: the log has the meta record "period" ('period') or "asamp.undecided" ('undecided'). */
    int period, undecided;
  } end;
  uint64_t period;     /* initial sampling period in bytes; 0: unknown */
  uint64_t periods;    /* number of later changes of the sampling period */
  /* In the file of a flight recorder, which has only the last part of a run:
     - ring[0], ring[1]: number and bytes of the samples that are older than this part and were
       alive at its start
     - ring[2]: length of the part, us
     - ring[3]: requested length, us; 0: none */
  uint64_t ring[4];
  int isring;          /* 1: a flight recorder wrote the file */
  /* Exact bytes allocated by the selected states while sampling was on; 0: unknown. */
  uint64_t allocated;
  int labelled;        /* 1: the file has the exact number of bytes allocated with each label set */
  uint64_t mallocs;    /* sampling period of native memory, bytes; 0: not sampled */
  int copying;         /* 1: copied bytes were sampled (ReaderClient.copy) */
  /* Factor for sums of bytes that samples represent: 1 in asamp's files. In other files
     ReadSample.period is 1, and this factor is the sampling period (1: unknown). Set after the last
     event. */
  uint64_t scale;
  uint64_t timeperiod; /* first period of time samples, ns; 0: unknown */
  uint64_t timeperiods;  /* number of lines in the file that set the period of time samples */
  uint64_t clock;      /* time of the start on the monotonic clock, us; 0: unknown */
  uint64_t started, ended;   /* start and end of the run, us since the epoch; 0: unknown */
  uint64_t lost;       /* number of samples that the writer has lost */
  uint64_t pid;        /* id of the process; 0: unknown */
  uint64_t recorder;   /* number of the flight recorder that wrote the file, the same in all its
                          files; 0: none, or unknown */
  uint64_t recorded;   /* time at which the flight recorder wrote the file (monotonic clock, us) */
  int live;            /* 1: the file was still being written while it was read */
  /* Time from the start to the end of the run, or to the last event if that is later, us. */
  uint64_t duration;
  uint64_t merged;     /* number of merged profiles; 0: not merged */
  int many;            /* 1: the file has many Lua states, each with an id */
  ReadState *states;   /* the Lua states, in the order in which the file first refers to them */
  size_t nstates;
  ReadThread *threads;
  size_t nthreads;
  uint64_t begun;      /* number of all Lua states of the process, including those that are not in
                          the file; 0: unknown */
  ReadLabelSet *labelsets;  /* label set i (ReadSample.labels) is labelsets[i - 1] */
  size_t nlabelsets;
  ReadLabel *labels;
  size_t nlabels;
  ReadPath *paths;     /* paths of references to live samples; path i is paths[i - 1] */
  uint64_t pathtext;   /* sum of the lengths of all paths, bytes */
  size_t npaths;
  /* Number of heap walks that searched for references to live samples. */
  uint64_t walks;
  /* Total and longest time that the program waited for a heap walk, us. */
  uint64_t walked, longestwalk;
  /* Numbers of selected allocation samples and time samples. A sample that represents n sampling
     periods counts n times. */
  uint64_t samples;
  uint64_t timesamples;
  uint64_t undetailed; /* number of samples whose stack is in the file, but whose details (size,
                          time, type) are not */
  /* Numbers of the minor and major collections that the client selects, with or without a
     record. */
  uint64_t minors, majors;
  Tree tree;           /* the call tree of all samples */
  StrTab text;         /* all strings; addresses may change until the last event */
  IdMap names;         /* maps frame ids to their names, offsets in 'text' */
  uint32_t command;    /* command line, offset in 'text'; 0: unknown */
  uint32_t sources;    /* for a merged profile: text that identifies its recordings
                          (readprofile_source), offset in 'text'; 0: not merged, or unknown */
  uint32_t tuning;     /* value of the environment variable LUA_GC of the process, offset in 'text';
                          0: not set */
  ReadKind *kinds;     /* array of READER_MAXKINDS elements, of which 'nkinds' are in use */
  uint32_t nkinds;
  /* All functions in the call tree. Set after the last event. */
  FrameName *functions;
  uint32_t nfunctions;
  uint32_t *fn;        /* maps a call tree node to the index of its function in 'functions'; fn[0]
                          (the root) is unused */
} ReadProfile;

/* Receives the events of a file. Callbacks may be NULL. The fields 'only' to 'nwithout' select
   events. To stop the reader, a client sets 'stop'; it may still receive the rest of the current
   record. */
typedef struct ReaderClient {
  void *ud;            /* first argument of all callbacks except 'progress' */
  const char *stop;    /* reason to stop; NULL: none */
  /* Ids of the selected Lua states, in ascending order; NULL: all states are selected. */
  const uint32_t *only;
  size_t nonly;
  /* Select the samples and collections with the label of this name and value. 'labelvalue' NULL:
     select the samples and collections without a label of this name. 'labelname' NULL: select
     all. */
  const char *labelname, *labelvalue;
  /* Select events with since <= time < till, us. 'till' 0: no end. */
  uint64_t since, till;
  /* If not NULL, excludes all collections, and the samples of each call tree node i with without[i]
     != 0. 'nwithout': number of elements. */
  const unsigned char *without;
  size_t nwithout;
  /* Called before all other callbacks, with the data from the start of the file. */
  void (*head) (void *ud, const ReadProfile *r);
  /* An allocation sample, or a time sample (READER_TIMESAMPLE). */
  void (*sample) (void *ud, const ReadSample *s);
  /* A sample of copied bytes. Its 'kind' is the reason of the copy: 0 for COPY_NEW, 1 for
     COPY_AGAIN, 2 for COPY_GROWN (sample.h). It never dies or survives. */
  void (*copy) (void *ud, const ReadSample *s);
  /* The survival of an allocation sample, decided at 'time'. 'fate': READER_DIED, READER_SURVIVED
     or READER_UNDECIDED. If 'followed' is 1, the sample survived and its death may be delivered
     later. The callback may then set 'tag', which becomes ReadDeath.tag. */
  void (*fate) (void *ud, const ReadSample *s, int fate, uint64_t time);
  int followed;
  uint64_t tag;
  /* The death of a survivor for which 'followed' was 1. */
  void (*death) (void *ud, const ReadDeath *d);
  /* Set before each call of the callback 'held'.
     place      index of the sample in the list of its Lua state's live survivors, oldest first
     unreached  1: the last heap walk did not reach the sample */
  size_t place;
  int unreached;
  /* A survivor that is alive at the end of the file. 'path': references by which the last heap walk
     reached the block, as index in ReadProfile.paths + 1; 0: unknown. */
  void (*held) (void *ud, const ReadSample *s, uint32_t path);
  void (*walk) (void *ud, const ReadWalk *w);
  void (*collection) (void *ud, const ReadCollection *c);
  void (*mark) (void *ud, const ReadMark *m);
  /* A row of a snapshot of resident memory. Called for all rows, also for those outside of 'since'
     and 'till'. */
  void (*resident) (void *ud, const ReadResident *r);
  /* A Lua state, selected or not, has a new sampling period in bytes. */
  void (*period) (void *ud, uint64_t bytes);
  /* A Lua state, selected or not, has a new period of time samples in ns; 0: off. 'wall' 1: samples
     of wall time; 0: of CPU time. */
  void (*timeperiod) (void *ud, uint64_t ns, int wall);
  /* Set before each event except 'resident': id of the event's Lua state (0 in files of one state),
     and system number of the state's OS thread (0: unknown). */
  uint32_t state, thread;
  uint32_t row;        /* index of the event's Lua state in ReadProfile.states */
  /* A Lua state starts. This callback and the next ones, up to 'ends', are not called for files of
     one state. */
  void (*starts) (void *ud, uint64_t time);
  /* The name of the Lua state, NUL-terminated. */
  void (*called) (void *ud, const char *name);
  /* The exact number of bytes that the Lua state has allocated. Called before 'ends'. */
  void (*allocated) (void *ud, uint64_t bytes);
  /* The exact number of bytes that the Lua state has allocated with one label set. Called before
     'allocated', whose number includes these bytes. */
  void (*labelled) (void *ud, uint32_t set, uint64_t bytes);
  /* The Lua state ends. 'orphans': number of the state's samples of native memory that are still
     live. The deaths of the other live samples of the state are delivered when the next state
     starts. */
  void (*ends) (void *ud, uint64_t time, uint64_t orphans);
  /* Called every few MiB of the log. 'fraction': the part of the file that was read, from 0 to
     1. */
  void (*progress) (void *progressud, double fraction);
  void *progressud;
} ReaderClient;

void readprofile_free (ReadProfile *r);

#define READER_MAXSOURCES	4000000  /* largest text that readprofile_source builds, bytes */

/* Appends to *to a text that identifies the recording from which a profile comes, if *to then has
   at most READER_MAXSOURCES bytes. Appends nothing if the recording is unknown.
   - usually "p<pid>:<start, s since the epoch>:<monotonic start, us>"
   - for a file of a flight recorder "r<recorder>:<monotonic start, us>:<monotonic time of writing,
     us>"
   - for a merged profile the texts of its known recordings, separated by spaces */
void readprofile_source (const ReadProfile *r, Bytes *to);

/* Returns the name of the type (table, string, ...) of an element of ReadProfile.kinds, to be shown
   to users. The text is a constant or is stored in ReadProfile.text or 'buffer'. 'kind': index of
   the element. */
const char *readprofile_kindname (const ReadProfile *r, uint32_t kind, char buffer[40]);

/* largest text that readprofile_kindlabel writes, bytes */
#define READER_LABEL	(2 * READER_MAXNAME + 8)

/* Writes the type and class of a kind: "[table]" or "[table Point]". Returns the length. */
size_t readprofile_kindlabel (const ReadProfile *r, uint32_t kind, char label[READER_LABEL]);

#endif
