/* SPDX-License-Identifier: MIT */
/* Manages the label sets of the process (labels.h). */
#include "labels.h"
#include "bounds.h"
#include "bytes.h"
#include "hash.h"
#include "idmap.h"
#include "list.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A label name with its values. */
typedef struct Name {
  char *text;
  IdMap byhash;			/* maps the hash of a value to the value's index in 'values' */
  char **values;		/* values[0] is LABELS_OTHERS */
  size_t n, size;
} Name;

/* A label: the index of its name in 'names', and the index of its value in the 'values' of that
   name. */
typedef struct Pair {
  uint16_t name, value;
} Pair;

/* A label set. */
typedef struct Set {
  size_t n;
  Pair pairs[PROFILE_LABELS];	/* sorted by the index of the name */
  ProfileLabel *labels;		/* the same labels as in 'pairs', as strings */
} Set;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Name names[LABELS_NAMES];
static unsigned nnames;
static IdMap nameids;		/* Maps hashes of names to indexes in 'names'. */
/* The sets by number; sets[0] is NULL. Read without the lock, because a set never changes. */
static const Set *sets[LABELS_MOST];
static unsigned nsets = 1;
static IdMap setids;		/* Maps hashes of 'pairs' to numbers of sets. */
static ProfileLeft left;	/* how often a limit left out a name, a value or a set */
static uint64_t cut;	/* number of names and values truncated to LABELS_TEXT bytes */

/* {== forks ============================================================ */

static void dolock (void) {
  pthread_mutex_lock(&lock);
}

static void unlock (void) {
  pthread_mutex_unlock(&lock);
}

/* Makes fork() wait for the lock, so that the child never sees an incomplete change. */
static void labels_once (void) {
  pthread_atfork(dolock, unlock, unlock);
}

/* }===================================================================== */

/* Returns a copy of a text in which each NUL byte is replaced by ';'. Truncates the copy to
   LABELS_TEXT bytes, after a complete UTF-8 character. Returns NULL if out of memory. */
static char *labels_copy (const char *text, size_t n) {
  char *to = malloc((n < LABELS_TEXT ? n : LABELS_TEXT) + 1), *at;
  if (to == NULL) return NULL;
  if (n > LABELS_TEXT) {
    n = bytes_whole(text, LABELS_TEXT);
    cut++;
  }
  memcpy(to, text, n);
  to[n] = '\0';
  while ((at = memchr(to, '\0', n)) != NULL) *at = ';';
  return to;
}

static uint64_t labels_keyof (const void *bytes, size_t n) {
  return hash_bytes(bytes, n) | 1;
}

/* Returns the index in 'names' of the label name c->name; adds the name if it is new. Returns
   LABELS_NAMES if 'names' is full, -1 if out of memory. */
static int labels_nameof (const LabelChange *c) {
  uint64_t key = labels_keyof(c->name, c->namelength);
  uint32_t id = idmap_get(&nameids, key);
  Name *name = &names[nnames];
  if (id != IDMAP_NONE) return (int)id;
  if (nnames == LABELS_NAMES) {
    left.labelnames++;
    return LABELS_NAMES;
  }
  /* Adds value 0, LABELS_OTHERS, which replaces values beyond the limit. If an earlier call added
     value 0 and then ran out of memory, names[nnames] is unused but already has value 0 (name->n,
     the number of values, is 1). */
  if (name->n == 0 && (!list_grow(&name->values, 0, &name->size, sizeof(char *)) ||
                       (name->values[0] = labels_copy(LABELS_OTHERS,
                                                       strlen(LABELS_OTHERS))) == NULL))
    return -1;
  name->n = 1;
  if ((name->text = labels_copy(c->name, c->namelength)) == NULL) return -1;
  if (!idmap_set(&nameids, key, nnames)) {
    free(name->text);
    return -1;
  }
  return (int)nnames++;
}

/* Returns the index in name->values of the value c->value; adds the value if it is new. Returns 0
   (LABELS_OTHERS) if the name has LABELS_VALUES values already, -1 if out of memory. */
static int labels_valueof (Name *name, const LabelChange *c) {
  uint64_t key = labels_keyof(c->value, c->valuelength);
  uint32_t id = idmap_get(&name->byhash, key);
  if (id != IDMAP_NONE) return (int)id;
  if (name->n >= LABELS_VALUES) {
    left.labelvalues++;
    return 0;
  }
  if (!list_grow(&name->values, name->n, &name->size, sizeof(char *)) ||
      (name->values[name->n] = labels_copy(c->value, c->valuelength)) == NULL)
    return -1;
  if (!idmap_set(&name->byhash, key, (uint32_t)name->n)) {
    free(name->values[name->n]);
    return -1;
  }
  return (int)name->n++;
}

/* Adds, replaces or removes a label of a set. If a limit is exceeded, leaves the label out. Returns
   0 if out of memory. */
static int change (Set *s, const LabelChange *c) {
  int name = labels_nameof(c), value;
  size_t at = 0;
  if (name < 0) return 0;
  if (name == LABELS_NAMES) return 1;
  while (at < s->n && s->pairs[at].name < name) at++;
  if (c->value == NULL) {
    if (at == s->n || s->pairs[at].name != name) return 1;
    s->n--;
    memmove(&s->pairs[at], &s->pairs[at + 1], (s->n - at) * sizeof(Pair));
    return 1;
  }
  if ((value = labels_valueof(&names[name], c)) < 0) return 0;
  if (at == s->n || s->pairs[at].name != name) {
    if (s->n == PROFILE_LABELS) {
      left.labelnames++;
      return 1;
    }
    memmove(&s->pairs[at + 1], &s->pairs[at], (s->n - at) * sizeof(Pair));
    s->n++;
  }
  s->pairs[at].name = (uint16_t)name;
  s->pairs[at].value = (uint16_t)value;
  return 1;
}

/* Allocates a copy of label set *s, and fills the field 'labels' of the copy from 'pairs'. Returns
   the copy; NULL if out of memory. */
static const Set *labels_keep (const Set *s) {
  Set *to = malloc(sizeof(*to));
  size_t i;
  if (to == NULL) return NULL;
  *to = *s;
  to->labels = malloc(s->n * sizeof(*to->labels));
  if (to->labels == NULL) {
    free(to);
    return NULL;
  }
  for (i = 0; i < s->n; i++) {
    to->labels[i].name = names[s->pairs[i].name].text;
    to->labels[i].value = names[s->pairs[i].name].values[s->pairs[i].value];
  }
  return to;
}

/* Returns the number of label set *s, and adds the set if it is new; 0 if *s is empty. Instead of
   adding a set when LABELS_SETS sets exist, returns the number of a set with the same names and
   the values LABELS_OTHERS, or 0 if LABELS_MOST sets exist. Returns LABELS_NOMEMORY if out of
   memory. */
static uint32_t numberof (Set *s) {
  uint64_t key = labels_keyof(s->pairs, s->n * sizeof(Pair));
  uint32_t id = (s->n > 0) ? idmap_get(&setids, key) : 0;
  const Set *kept;
  size_t i;
  int others = 1;
  if (id != IDMAP_NONE) return id;
  for (i = 0; i < s->n; i++) others &= (s->pairs[i].value == 0);
  if (nsets >= LABELS_SETS && !others) {
    left.labelsets++;
    for (i = 0; i < s->n; i++) s->pairs[i].value = 0;
    return numberof(s);
  }
  if (nsets >= LABELS_MOST) return 0;
  if ((kept = labels_keep(s)) == NULL) return LABELS_NOMEMORY;
  if (!idmap_set(&setids, key, nsets)) {
    free(kept->labels);
    free((void *)kept);
    return LABELS_NOMEMORY;
  }
  __atomic_store_n(&sets[nsets], kept, __ATOMIC_RELEASE);
  return nsets++;
}

uint32_t labels_change (uint32_t set, const LabelChange *changes, size_t n) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Set s;
  size_t i;
  int ok = 1;
  uint32_t id = LABELS_NOMEMORY;
  pthread_once(&control, labels_once);
  dolock();
  memset(&s, 0, sizeof(s));
  if (set > 0 && set < nsets) s = *sets[set];
  for (i = 0; i < n && ok; i++) ok = change(&s, &changes[i]);
  if (ok) id = numberof(&s);
  unlock();
  return id;
}

size_t labels_of (void *ud, uint32_t set, ProfileLabel *to) {
  const Set *s = (set < LABELS_MOST) ? __atomic_load_n(&sets[set], __ATOMIC_ACQUIRE) : NULL;
  (void)ud;
  if (s == NULL) return 0;
  memcpy(to, s->labels, s->n * sizeof(*to));
  return s->n;
}

void labels_left (ProfileLeft *to, uint64_t *texts) {
  to->labelnames += __atomic_load_n(&left.labelnames, __ATOMIC_RELAXED);
  to->labelvalues += __atomic_load_n(&left.labelvalues, __ATOMIC_RELAXED);
  to->labelsets += __atomic_load_n(&left.labelsets, __ATOMIC_RELAXED);
  *texts += __atomic_load_n(&cut, __ATOMIC_RELAXED);
}
