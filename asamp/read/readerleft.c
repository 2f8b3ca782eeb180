/* SPDX-License-Identifier: MIT */
/* Messages on dropped data (readerleft.h). */
#include "readerleft.h"
#include "bounds.h"
#include "details.h"

#include <stdio.h>
#include <string.h>

/* Keys, values and messages of the limits. In a message, '#' is replaced by the count and '%' by
   the value of the limit. */
static const struct {
  const char *key;
  uint64_t limit;
  const char *text;
} all[LEFT_N] = {
  [LEFT_CHUNKS] = {"chunks", FUNCTIONS_CHUNKS,
    "the limit of % functions compiled from strings was reached, so at least # more share the "
    "rows of [other chunks]; pass load a chunk name such as @app.lua"},
  [LEFT_FUNCTIONS] = {"functions", FUNCTIONS_MOST,
    "the limit of % functions was reached, so at least # more share the row (other functions); "
    "profile a part of the program"},
  [LEFT_CLASSES] = {"classes", CLASSES_MAX,
    "the limit of % classes was reached, so # objects count as (other classes); use fewer values "
    "of __name"},
  [LEFT_TEXTS] = {"texts", 255,
    "names of classes and marks longer than % bytes, or values of marks longer than 4,095 bytes: # "
    "were cut; use shorter names and values"},
  [LEFT_NATIVES] = {"natives", ENCODER_MAXNATIVES,
    "the limit of % addresses of native code was reached, so # more have no name; the option "
    "native=0 leaves native code out"},
  [LEFT_BEFORE] = {"before", PAST_STACKS,
    "a flight recorder reached the limit of % bytes for stacks and names of its older samples, so "
    "# of these samples have no stack or names; use a larger alloc="},
  [LEFT_NODES] = {"nodes", TREE_MAXNODES,
    "the limit of % functions in the call tree was reached, so # samples count for the caller of "
    "their function; profile a shorter run"},
  [LEFT_IDS] = {"ids", READER_MAXIDS,
    "the limit of % names was reached, so # more are shown as [unknown]; profile a shorter run"},
  [LEFT_NAMES] = {"names", READER_MAXNAMES,
    "the limit of % bytes of names was reached, so # names are left out; profile a shorter run"},
  [LEFT_NAMELESS] = {"nameless", READER_MAXNAMELESS,
    "the limit of % functions without a name was reached, so # frames of other such "
    "functions share the row [unknown]; profile a shorter run"},
  [LEFT_LONGNAMES] = {"longnames", READER_MAXNAME,
    "names longer than % bytes: # were cut; use shorter names of files and chunks"},
  [LEFT_ALIASES] = {"aliases", READER_MAXALIASES,
    "the limit of % functions that share a row because of equal names was reached, so # more "
    "have rows of their own; profile a shorter run"},
  [LEFT_TYPES] = {"types", READER_MAXKINDS,
    "the limit of % types of objects was reached, so # samples of other types count as [unknown]; "
    "profile a shorter run"},
  [LEFT_KINDS] = {"kinds", READER_MAXKINDS,
    "the limit of % combinations of type and class was reached, so # samples of other classes "
    "count for their type alone; use fewer values of __name"},
  [LEFT_OPEN] = {"open", FIFO_MOST,
    "the limit of % samples between two collections was reached, so the survival of # more is "
    "unknown; use a larger --alloc"},
  [LEFT_FOLLOWED] = {"followed", READERFOLLOW_MOST,
    "the limit of % surviving samples at the same time was reached, so the death of # more is "
    "unknown; use a larger --alloc"},
  [LEFT_UNFOLLOWED] = {"unfollowed", FOLLOWED_MOST,
    "a Lua state reached the limit of % live samples, so the death of # more was not recorded, "
    "and they count as alive, without a holder; use a larger --alloc"},
  [LEFT_RUNS] = {"runs", READER_MAXRUNS,
    "the file lists more than % stacks, the limit, before their details, so the size, survival and "
    "time of # samples are unknown; use a larger --alloc"},
  [LEFT_METAS] = {"metas", READER_MAXMETA,
    "texts in the profile that are longer than % bytes: # were cut"},
  [LEFT_COUNTS] = {"counts", READER_MAXCOUNT,
    "# samples of more than % periods each count as %; the file is damaged, make a new profile"},
  [LEFT_PATHS] = {"paths", READER_MAXPATHS,
    "the limit of % paths of references to live objects, or of 64 MiB of their texts, was "
    "reached, so # more were shortened or left out; use a larger --alloc"},
  [LEFT_STEPS] = {"steps", READER_MAXSTEPS,
    "paths of references with more than % steps, or 65,536 with repeated steps: # were "
    "shortened to their first steps"},
  [LEFT_LABELNAMES] = {"labelnames", LABELS_NAMES,
    "the limit of % names of labels, or of 32 labels of a coroutine, was reached, so a label was "
    "left out # times; use fewer names"},
  [LEFT_LABELVALUES] = {"labelvalues", LABELS_VALUES,
    "the limit of % values of a label was reached, so another value was recorded as (others) # "
    "times; use fewer values"},
  [LEFT_LABELSETS] = {"labelsets", LABELS_SETS,
    "the limit of % sets of labels was reached, so the values of another set were recorded as "
    "(others) # times; use fewer values"},
  [LEFT_STATES] = {"states", READER_MAXSTATES,
    "the limit of % Lua states was reached, so # more share one row; start new files with rotate="},
  [LEFT_STREAMS] = {"streams", READER_MAXSTREAMS,
    "the limit of % Lua states at the same time was reached, so the survival of # samples of "
    "other states is unknown; use fewer states at a time"},
  [LEFT_THREADS] = {"threads", READER_MAXTHREADS,
    "the limit of % OS threads was reached, so other threads, on which Lua states ran # "
    "times, have no row; start new files with rotate="},
  [LEFT_SETS] = {"sets", READER_MAXLABELSETS,
    "the limit of % sets of labels in a file was reached, so # more are left out, and their "
    "samples count as (none); merge fewer profiles"},
  [LEFT_LABELS] = {"labels", READER_MAXLABELS,
    "the limit of % labels in the sets of a file was reached, so # more are left out, and "
    "their value is shown as (none); merge fewer profiles"},
  [LEFT_SITES] = {"sites", SITETABLE_MAXSITES,
    "the limit of % combinations of stack and type was reached, so # samples are in the totals, "
    "but in no function and no line; profile a shorter run"},
  [LEFT_LIVES] = {"lives", SITETABLE_MAXSITES,
    "the limit of % combinations of stack and lifetime was reached, so # samples are in the "
    "totals of lifetimes, but in no line; profile a shorter run"},
  [LEFT_HELD] = {"held", SITETABLE_MAXSITES,
    "the limit of % combinations of stack and holder was reached, so # samples count for their "
    "holder, but not for the line that allocated them; profile a shorter run"},
  [LEFT_ROWS] = {"rows", BINS_MAXROWS,
    "the limit of % stacks in the timeline was reached, so # samples are in its totals, but in "
    "no function and no type; profile a shorter run"},
  [LEFT_COLLECTIONS] = {"collections", COURSE_MOST,
    "the limit of % collections in the timeline was reached, so # are combined there with the next "
    "ones; counts, pauses and sums include all collections"},
  [LEFT_MARKS] = {"marks", MARKS_MOST,
    "the limit of % marks in the timeline was reached, so # are missing there; the table "
    "of marks counts all"},
  [LEFT_MARKNAMES] = {"marknames", MARKS_NAMES,
    "the limit of % mark names was reached, so # marks count as (other marks); use fewer names"},
  [LEFT_PICTURES] = {"pictures", PICTURES_MOST,
    "the limit of % snapshots of resident memory was reached, so # more are left out, but the "
    "largest is kept"},
  [LEFT_PICTUREROWS] = {"picturerows", PICTURES_ROWS,
    "the limit of % rows in a snapshot of resident memory was reached, so # more are left out, "
    "or have no name"},
  [LEFT_TOGETHER] = {"together", TAGS_STATES,
    "the limit of % Lua states was reached, so # share a row with other states of the same "
    "script; asamp report --by state lists all states"},
  [LEFT_SCRIPTS] = {"scripts", TAGS_STATES,
    "the limit of % scripts of Lua states was reached, so # states of other scripts share one "
    "row; asamp report --by state lists all states"},
  [LEFT_TAGS] = {"tags", TAGS_MOST,
    "the limit of % combinations of Lua state, OS thread and labels was reached, so # samples of "
    "other combinations are shown without these data; use --together, which omits them for all"},
};

const char *readerleft_key (ReadLeft what) {
  return all[what].key;
}

uint64_t readerleft_limit (ReadLeft what) {
  return all[what].limit;
}

/* Writes a number with commas between thousands, without a NUL. Returns the length. */
static size_t putcount (char *to, uint64_t n) {
  char digits[24];
  size_t length = (size_t)sprintf(digits, "%llu", (unsigned long long)n), i;
  char *at = to;
  for (i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0)
      *at++ = ',';
    *at++ = digits[i];
  }
  return (size_t)(at - to);
}

void readerleft_text (ReadLeft what, uint64_t count, char text[READERLEFT_TEXT]) {
  const char *from = all[what].text;
  for (; *from != '\0'; from++) {
    if (*from == '#')
      text += putcount(text, count);
    else if (*from == '%')
      text += putcount(text, all[what].limit);
    else
      *text++ = *from;
  }
  *text = '\0';
}

void readerleft_parse (uint64_t *counts, const char *meta) {
  Fields rest = {meta, meta + strlen(meta)};
  uint64_t n;
  int what;
  for (;;) {  /* does not use sscanf, which would scan the rest of the text at each call */
    const char *key = rest.p + strspn(rest.p, " ");
    size_t length = strcspn(key, " ");
    rest.p = key + length;
    if (length == 0 || !details_number(&rest, &n)) return;
    for (what = 0; what < LEFT_NODES; what++) {
      if (strlen(all[what].key) == length && memcmp(key, all[what].key, length) == 0)
        counts[what] += n;
    }
  }
}
