/* SPDX-License-Identifier: MIT */
/*
** The results of reading a profile: the events that the reader passes to a client one by one
** (samples, deaths, collections, marks, ...), and the ReadProfile, which has the data of the whole
** file: call tree, functions, kinds, data of the head, counts. (A Profile is a file being written.)
**
** Times are us since the start unless noted otherwise. 'text' in comments is ReadProfile.text;
** offset 0 in it is the empty string.
*/
#ifndef asamp_readprofile_h
#define asamp_readprofile_h

#include "bounds.h"
#include "bytes.h"
#include "framename.h"
#include "readerleft.h"
#include "sample.h"
#include "strtab.h"
#include "tree.h"

/* Kind 0 of every profile: blocks of unknown type. Kind 1: time samples. The kinds of blocks
   follow. */
enum { READER_UNKNOWN, READER_TIMESAMPLE, READER_FIRSTKIND };

#define READER_NOSTATE	UINT32_MAX  /* number of a state that shares its stream with others, because
				       READER_MAXSTREAMS states are open (RS1 of readerstream.h) */

/* The survival outcome of an allocation sample: whether its block survived, or READER_UNDECIDED if
   no collection has decided this. */
enum { READER_DIED, READER_SURVIVED, READER_UNDECIDED };

/* A kind of sampled block: a type of block, and the class of the object. */
typedef struct ReadKind {
  uint64_t type;       /* number of the type in the file; in files written by asamp an enum
                          ProfileKind */
  uint32_t name;       /* name of the type, offset in 'text', set after the last event; 0: none */
  uint32_t class;      /* name of the class, offset in 'text'; 0: none */
} ReadKind;

/* A sample of allocation, time or copying. */
typedef struct ReadSample {
  uint64_t time;       /* time of the sample; at least that of the previous one of the file */
  uint64_t count;      /* number of sampling periods that the sample represents, at least 1. A total
                          number of samples is a sum of this field */
  /* Sampling period: of a time sample in ns, of any other sample in bytes. The bytes must be
     multiplied by ReadProfile.scale, which is set after the last event. */
  uint64_t period;
  uint64_t size;       /* bytes of the block; 0: unknown */
  /* Word for the thread in the sample's record. In files of many Lua states: id of the state. */
  uint64_t thread;
  /* Bytes that this sample and all samples decided before it represent, not multiplied by 'scale'.
     It is the sample's time, measured in allocated bytes. The field is set when the sample's
     survival is decided as READER_DIED or READER_SURVIVED. */
  uint64_t born;
  uint32_t node;       /* node of the call tree that represents the sample's stack; 0: an empty
                          stack */
  /* Index in ReadProfile.kinds. Before the sample's survival is decided, the kind has a type but no
     class. For a copy sample, a value as the comment of the callback 'copy' lists them. */
  uint32_t kind;
  int outside;         /* 1: the block was allocated outside the nursery */
  uint32_t labels;     /* number of the sample's label set, from 1 on; 0: none */
} ReadSample;

/* The death of a survivor. */
typedef struct ReadDeath {
  const ReadSample *sample;
  uint64_t time;       /* when it was found dead: at a collection, or when its state ended */
  /* The sample's life, measured in allocated bytes: the sum of the bytes that the samples of the
     same state represent that were decided after this sample and before its death. The sum is not
     multiplied by 'scale'. */
  uint64_t allocated;
  uint64_t tag;        /* value of ReaderClient.tag that the callback 'fate' set */
  /* Index of the sample among the followed samples of its state (survivors whose death the file
     records), oldest first. Samples that died at the same collection still count. For an orphan
     (see below): index among the live samples of native memory. */
  size_t place;
  /* 1: the sample is of native memory, which has outlived its Lua state (an orphan,
     readerorphans.h). The state has ended, except in merged files. */
  int orphan;
} ReadDeath;

/*
** Returns the bytes that a sample represents, not multiplied by 'scale'; of a time sample the ns.
** The result is at most 2^62.
*/
static inline uint64_t readsample_bytes (const ReadSample *s) {
  uint64_t most = (uint64_t)1 << 62;
  return s->period > 0 && s->count > most / s->period ? most
                                                      : s->count * s->period;
}

/* A collection. In files of other writers than asamp, fields for which they have no statistic are
   0. */
typedef struct ReadCollection {
  uint64_t time;       /* end of the collection */
  uint64_t duration;   /* us of its pause */
  uint64_t processor;  /* us of CPU time in its pause */
  /* us of CPU time that slices of a major collection took within minor pauses. This time is
     included in 'processor' + 'left'. */
  uint64_t slices;
  /* us of CPU time of the OS thread from the previous recorded collection to this one; 0:
     unknown */
  uint64_t mutator;
  uint64_t inuse, held, rss;  /* bytes in use, reserved and resident after the collection; 0: not in
                                 the file. In files of many states 'inuse' and 'held' are sums over
                                 the open states that the client selects */
  uint64_t stateinuse, stateheld;  /* 'inuse' and 'held' of the collection's state alone */
  uint64_t tenured;    /* bytes tenured since the previous recorded collection */
  /* Sums over the nurseries since the previous recorded collection, in bytes. 'planned': planned
     sizes. 'charged': bytes allocated. */
  uint64_t planned, charged;
  uint64_t looked[LOOKED_COUNT];  /* numbers of visited entries, by enum ProfileLooked (sample.h) */
  uint64_t decided;    /* sum of ReadSample.count over the samples whose survival was decided since
                          the previous recorded collection of the state, including samples that the
                          client does not select */
  /* sum of ReadSample.count over the survivors among the samples of 'decided' */
  uint64_t survived;
  /* Numbers of minor and major collections since the previous recorded one that the file does not
     record one by one. */
  uint64_t minors, majors;
  uint64_t left;       /* sum of the pauses of the collections in 'minors' and 'majors', us */
  int major;           /* 1: a major collection, or a slice of one */
  int state;           /* phase of the major collection: 0 none, 1 marking, 2 sweeping, 3
		          finalizing */
  uint32_t labels;     /* label set of the thread that ran, as in ReadSample */
} ReadCollection;

/* A label that the program has set: name and value, as offsets in ReadProfile.text. */
typedef struct ReadLabel {
  uint32_t name, value;
} ReadLabel;

/* A set of labels that samples and collections refer to. */
typedef struct ReadLabelSet {
  uint32_t first, n;   /* its labels are ReadProfile.labels[first] to [first + n - 1] */
  int unwanted;        /* 1: the client does not select events with this set */
} ReadLabelSet;

/*
** A row of a snapshot of resident memory: bytes and their use. Consecutive rows of one time form a
** snapshot. The pointers are valid during the call only.
*/
typedef struct ReadResident {
  uint64_t time;
  int64_t bytes;       /* bytes of this use; may be negative */
  /* First the use of the memory; then a file or a source line, or an empty text. Neither text is
     NUL-terminated. */
  const char *what, *text;
  size_t whatlength, textlength;
} ReadResident;

/* A mark: a name and a value that the program has recorded. Name and value are not NUL-terminated;
   the pointers are valid during the call only. */
typedef struct ReadMark {
  uint64_t time;
  const char *name, *value;
  size_t namelength, valuelength;
} ReadMark;

/* A walk over the heap that searched for the references by which live samples are reachable. */
typedef struct ReadWalk {
  uint64_t time;       /* start of the walk, us since the start of the run */
  uint64_t duration;   /* us that the program waited for the walk */
} ReadWalk;

/* A path of references from a root to a live object. It is another path, which is one step shorter,
   and a last step. */
typedef struct ReadPath {
  uint32_t parent;     /* the path without the last step, as its index + 1 in ReadProfile.paths; 0:
                          there is only one step */
  uint32_t step;       /* text of the last step, offset in 'text' */
  uint32_t depth;      /* number of steps, at most READER_MAXSTEPS */
} ReadPath;

/* A Lua state in a file of many states. All sums include the samples that the client does not
   select. */
typedef struct ReadState {
  uint32_t id;         /* number of the state in the file */
  uint32_t name;       /* file of the state's script, offset in 'text'; 0: none */
  uint32_t thread;     /* system number of the OS thread that last ran the state; 0: unknown */
  int ended;           /* 1: the state was closed */
  /* Number of further states that share this row, because there are READER_MAXSTATES rows (RS2);
     the sums of the row are over all of these states. 0: the row is of one state. */
  int others;
  uint64_t opened, closed; /* times of the state's start and close; 0: not in the file */
  uint64_t allocated;  /* exact bytes allocated while the state was sampled; 0: unknown */
  uint64_t samples, bytes;    /* allocation samples (sum of ReadSample.count), and the bytes that
                                 they represent */
  uint64_t timesamples, ns;   /* time samples (sum of ReadSample.count), and the ns that they
                                 represent */
  uint64_t survivedbytes, laterbytes;  /* bytes that survivors represent; bytes that survivors which
                                          died later represent */
  uint64_t minors, majors;    /* numbers of minor and major collections of the state */
} ReadState;

/* An OS thread in a file of many states. */
typedef struct ReadThread {
  uint32_t id;         /* system number of the OS thread */
  uint64_t samples, bytes, timesamples, ns;  /* sums over the thread's samples, as in ReadState */
} ReadThread;

/*
** The data of a whole file. The client selects samples, collections and heap walks by the fields of
** ReaderClient. 'Written by asamp' means: the file has the details of samples (readerbatch.h).
*/
typedef struct ReadProfile {
  int version;         /* version of the VMProf log, 0 to 7 */
  int own;             /* 1: asamp wrote the file, with the sizes and outcomes of samples (the
                          details, readerbatch.h) */
  int packed;          /* 1: the file is compressed */
  int lines;           /* 1: frames have lines */
  int native;          /* 1: the file declares native frames */
  int complete;        /* 1: the trailer was read, and no checksum error came after it */
  int fates;           /* 1: the file has survival outcomes of samples */
  uint64_t followed;   /* largest number of survivors whose death the writer waited for at a time;
                          0: the file has no deaths */
  uint64_t unfollowed; /* sum of ReadSample.count over the survivors that the client selects and
                          whose death the file does not record; 0 if the file has no deaths */
  int random;          /* 1: the distances between sample points are random; known only in files
                          written by asamp */
  int wall, cpu;       /* 1 if the file has samples of wall time, or of CPU time; known only in
                          files written by asamp */
  /* 1: the file has times. 0: a file of another writer without times. Its samples are assumed to be
     one period of time samples apart. */
  int timed;
  char interpreter[256];
  char message[256];   /* why the file is not complete; "" if it is */
  uint64_t left[LEFT_N];  /* counts of data dropped because of limits (readerleft.h) */
  uint64_t offset;     /* bytes of the log that were read, decompressed */
  uint64_t period;     /* initial sampling period in bytes; 0: unknown */
  uint64_t periods;    /* number of times that the sampling period in bytes was set again, after the
                          first allocation sample that the client selects */
  uint64_t ring[4];    /* of a flight recorder, which keeps the last part of a run. [0]: number of
		          samples from before the kept part whose blocks were alive at its start;
		          [1]: the bytes that they represent; [2]: length of the kept part, us;
		          [3]: requested length, us, or 0 if none was requested */
  int isring;          /* 1: a file of a flight recorder: 'ring' is set */
  /* Exact bytes allocated while sampling was on; 0: unknown. If the client wants only some states
     (ReaderClient.only), the field is set after the last event, to the bytes of these states. */
  uint64_t allocated;
  int labelled;        /* 1: the file has exact bytes by label set (callback 'labelled') */
  uint64_t mallocs;    /* sampling period of native memory in bytes; 0: not sampled */
  int copying;         /* 1: asamp wrote the file, and sampled the copying of bytes */
  /* Factor by which the bytes of all samples must be multiplied; set after the last event. It is 1
     in files written by asamp. In other files it is the sampling period, or 1 if the period is
     unknown. */
  uint64_t scale;
  uint64_t timeperiod; /* period of time samples at their start (later ones: callback 'timeperiod'),
                          ns; 0: unknown */
  uint64_t timeperiods;  /* number of times that a period of time samples was set; known only in
                            files written by asamp */
  uint64_t clock;      /* start of the run by the monotonic clock, us; 0: unknown */
  uint64_t started, ended;   /* start and end of the run, us since the epoch; 0: unknown */
  uint64_t lost;       /* samples lost by the writer, as far as the file records them */
  uint64_t pid;        /* id of the process; 0: unknown */
  uint64_t recorder;   /* number of the flight recorder; 0: there is none, or unknown */
  uint64_t recorded;   /* of a flight recorder: time of writing, us by the monotonic clock */
  int live;            /* 1: the file was still being written while it was read */
  /* us from the start to the end of the run. If the end is missing, or if an event has a later
     time: us from the start to the last event. */
  uint64_t duration;
  uint64_t merged;     /* number of profiles merged in this one; 0: it is not merged */
  int many;            /* 1: a file of many states, with 'states' and 'threads' */
  ReadState *states;   /* the states, in the order of their first occurrence */
  size_t nstates;
  ReadThread *threads;
  size_t nthreads;
  uint64_t begun;      /* number of states of the process, including those without data in the
		          file; 0: unknown */
  ReadLabelSet *labelsets;  /* label sets of samples; set number i is labelsets[i - 1] */
  size_t nlabelsets;
  ReadLabel *labels;
  size_t nlabels;
  ReadPath *paths;     /* paths of references to live samples; path number i is paths[i - 1] */
  size_t npaths;
  /* Number of heap walks, of those that the client selects, that searched for the references to
     live samples. */
  uint64_t walks;
  /* us that the program waited for the heap walks that the client selects. 'walked': in total.
     'longestwalk': for the longest one. */
  uint64_t walked, longestwalk;
  uint64_t samples;    /* sum of ReadSample.count over the allocation samples that the client
                          selects */
  uint64_t timesamples;  /* sum of ReadSample.count over the time samples that the client selects */
  uint64_t undetailed; /* number of stacks in a file written by asamp for which the size, type and
                          outcome of the sample were not found */
  /* Numbers of minor and major collections that the client selects, including those that the file
     only counts. */
  uint64_t minors, majors;
  Tree tree;           /* call tree */
  StrTab text;         /* all strings; their addresses may change until the last event */
  IdMap names;         /* maps frame ids to offsets in 'text' */
  uint32_t command;    /* command line, offset in 'text'; 0: unknown */
  uint32_t sources;    /* of a merged profile: the identities of its recordings
		          (readprofile_source), offset in 'text'; 0: unknown */
  uint32_t tuning;     /* LUA_GC of the process, offset in 'text'; 0: not set */
  ReadKind *kinds;     /* READER_MAXKINDS elements, 'nkinds' of them in use */
  uint32_t nkinds;
  /* Set after the last event: the functions, and the index of each node's function. */
  FrameName *functions;
  uint32_t nfunctions;
  uint32_t *fn;        /* function of each node, an index; fn[0], of the root, is unused */
} ReadProfile;

/*
** The receiver of events. Callbacks may be NULL. The fields from 'only' to 'nwithout' select
** events; other events are not delivered. A client that cannot continue sets 'stop' to a phrase.
** The reading then ends with the current record, whose remaining events may still be delivered.
*/
typedef struct ReaderClient {
  void *ud;            /* first argument of all callbacks except 'progress' */
  const char *stop;    /* reason to stop; NULL: none */
  /* Ids of the Lua states whose events are delivered, ascending; NULL: all. */
  const uint32_t *only;
  size_t nonly;
  /* If both strings are set (not NULL), only samples and collections with this label are delivered.
     If only 'labelname' is set, only samples and collections without a label of this name are. */
  const char *labelname, *labelvalue;
  /* Only samples, collections, marks and heap walks with since <= time < till are delivered; times
     in us. If 'till' is 0, there is no end. */
  uint64_t since, till;
  /* If 'without' is not NULL, no collections are delivered, and no samples of a node i < nwithout
     for which without[i] is not 0. */
  const unsigned char *without;
  size_t nwithout;
  /* Called before all other callbacks except 'progress', with the data from the start of the
     file. */
  void (*head) (void *ud, const ReadProfile *r);
  /* An allocation sample, or a time sample (kind READER_TIMESAMPLE). */
  void (*sample) (void *ud, const ReadSample *s);
  /* A sample of copied bytes. Its 'kind' is 0 for COPY_NEW, 1 for COPY_AGAIN, 2 for COPY_GROWN
     (sample.h). Copies are not passed to 'sample' and have no outcome. */
  void (*copy) (void *ud, const ReadSample *s);
  /* The survival outcome (READER_DIED ...) of an allocation sample, decided at 'time'. For
     READER_SURVIVED, 'followed' is 1 if the file may record the sample's death, else 0. If it is 1,
     the callback may store a value in 'tag', which the callback 'death' receives. */
  void (*fate) (void *ud, const ReadSample *s, int fate, uint64_t time);
  int followed;
  uint64_t tag;
  /* The death of a survivor for which 'fate' was called with 'followed' 1. */
  void (*death) (void *ud, const ReadDeath *d);
  /* The reader sets these two before each call of 'held'. 'place': index of the sample among the
     followed samples of its state (survivors whose death the file records). 'unreached': 1 if the
     last heap walk did not reach the sample. */
  size_t place;
  int unreached;
  /* A survivor that is alive at the end, and whose death the file would record. Called after all
     events, if the file has paths. 'path': number of the path of references that held the sample at
     the last heap walk that reached it; 0: this path is unknown. */
  void (*held) (void *ud, const ReadSample *s, uint32_t path);
  /* A walk over the heap that searched for the references to live samples. */
  void (*walk) (void *ud, const ReadWalk *w);
  void (*collection) (void *ud, const ReadCollection *c);
  void (*mark) (void *ud, const ReadMark *m);
  /* One use of resident memory, with its size: a row of a snapshot. The fields 'since' and 'till'
     do not apply to rows. */
  void (*resident) (void *ud, const ReadResident *r);
  /* A new sampling period in bytes. Periods of states that the client does not select are
     delivered, too. */
  void (*period) (void *ud, uint64_t bytes);
  /* A new period of time samples in ns; 0: off. 'wall': 1 wall time, 0 CPU time. Periods of states
     that the client does not select are delivered, too. */
  void (*timeperiod) (void *ud, uint64_t ns, int wall);
  /* The reader sets these fields before each event except 'resident'. 'state': id of the event's
     state; 0 in files of one state; READER_NOSTATE if READER_MAXSTREAMS other states are open.
     'thread': system number of the state's OS thread; 0: unknown. */
  uint32_t state, thread;
  uint32_t row;        /* index of the event's state in ReadProfile.states */
  /* A state starts. The callbacks 'starts', 'called', 'allocated' and 'ends' are called in files of
     many states only. */
  void (*starts) (void *ud, uint64_t time);
  /* The state has this name, which is NUL-terminated. */
  void (*called) (void *ud, const char *name);
  /* The state has allocated this many bytes while it was sampled; called before 'ends', or at the
     end of the file. */
  void (*allocated) (void *ud, uint64_t bytes);
  /* The exact bytes that the state has allocated with a label set. In files of many states it is
     called before 'allocated', whose bytes include these. */
  void (*labelled) (void *ud, uint32_t set, uint64_t bytes);
  /* The state ends. 'orphans': number of its live samples of native memory, which outlives the
     state. The deaths of the other live samples are delivered when the next state starts. */
  void (*ends) (void *ud, uint64_t time, uint64_t orphans);
  /* Called every few MiB of the log. 'fraction' is the part of the file that was read, 0 to 1. */
  void (*progress) (void *progressud, double fraction);
  void *progressud;
} ReaderClient;

void readprofile_free (ReadProfile *r);

#define READER_MAXSOURCES	4000000  /* limit of the length of the identities, bytes */

/*
** Appends the identity of a profile's recording, or the identities of all recordings of a merged
** profile. The head of the profile must have been read. Identities are separated by spaces. The
** usual form is "p<pid>:<start, s of the epoch>:<start, us of the monotonic clock>". A dump of a
** flight recorder has "r<recorder>:<start>:<time of the dump>", both in us of the monotonic clock.
** Leaves out unknown identities, and identities that do not fit into READER_MAXSOURCES bytes.
*/
void readprofile_source (const ReadProfile *r, Bytes *to);

/* Returns the name of a kind's type for display. It is stored in ReadProfile.text or 'buffer'. */
const char *readprofile_kindname (const ReadProfile *r, uint32_t kind,
                                  char buffer[40]);

/* bytes of the text of a kind with its NUL (readprofile_kindlabel) */
#define READER_LABEL	(2 * READER_MAXNAME + 8)

/* Writes a kind as "[table]" or "[table Point]" to 'label' and returns its length. */
size_t readprofile_kindlabel (const ReadProfile *r, uint32_t kind,
                              char label[READER_LABEL]);

#endif
