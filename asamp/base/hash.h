/* SPDX-License-Identifier: MIT */
/*
** The hash function of all tables. Names and ids come from programs and files, so it is keyed
** with random numbers drawn in every process: collisions cannot be predicted. So nothing that
** is displayed or written may depend on the order of a table. Depends only on the system's
** random numbers.
**
** A word is multiplied with a key to 128 bits, and the halves are combined by xor: every bit of
** the result depends on all bits of the word and the key.
*/
#ifndef asamp_hash_h
#define asamp_hash_h

#include <stddef.h>
#include <stdint.h>

/* Called at each probe of a table; a spec defines it to count them. */
#if !defined(HASH_STEP)
#define HASH_STEP()	((void)0)
#endif

/* The keys of the process, odd; set by hash_prepare. */
extern uint64_t hash_key[2];

/* Draws the keys, once. Thread-safe, but not async-signal-safe. */
void hash_prepare (void);

static inline uint64_t hash_fold (uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  Wide w = (Wide)a * b;
  return (uint64_t)w ^ (uint64_t)(w >> 64);
}

/* Hashes a word. The owner of the table has called hash_prepare. */
static inline uint64_t hash_word (uint64_t w) {
  return hash_fold(w ^ hash_key[1], hash_key[0]);
}

static inline uint64_t hash_words (uint64_t a, uint64_t b) {
  return hash_fold(hash_word(a) ^ b, hash_key[1]);
}

/* Hashes n bytes. Calls hash_prepare. */
uint64_t hash_bytes (const void *bytes, size_t n);

#endif
