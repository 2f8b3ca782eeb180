/* SPDX-License-Identifier: MIT */
/*
** The one hash of all tables here. Names and ids come from programs and files,
** so it has keys that are drawn anew in every process: nobody can know which of
** them fall together. Hence nothing that is shown or written may depend on the
** order of a table. Knows nothing but the system's random numbers.
**
** A word is multiplied with a key to 128 bits, whose halves are folded: every
** bit of the result depends on all bits of the word and of the key.
*/
#ifndef asamp_hash_h
#define asamp_hash_h

#include <stddef.h>
#include <stdint.h>

/* A table looks at an entry: a spec counts them. */
#if !defined(HASH_STEP)
#define HASH_STEP()	((void)0)
#endif

/* The process's keys, odd; from hash_prepare on. */
extern uint64_t hash_key[2];

/* Draws the keys, unless they are there. Any thread may; never in a handler. */
void hash_prepare (void);

static inline uint64_t hash_fold (uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  Wide w = (Wide)a * b;
  return (uint64_t)w ^ (uint64_t)(w >> 64);
}

/* Of a word; the table's owner has called hash_prepare. */
static inline uint64_t hash_word (uint64_t w) {
  return hash_fold(w ^ hash_key[1], hash_key[0]);
}

static inline uint64_t hash_words (uint64_t a, uint64_t b) {
  return hash_fold(hash_word(a) ^ b, hash_key[1]);
}

/* Of n bytes. Prepares the keys. */
uint64_t hash_bytes (const void *bytes, size_t n);

#endif
