/* SPDX-License-Identifier: MIT */
/*
** The hash function of tables whose keys come from programs or files (idmap.h, strtab.h). It is
** keyed with random numbers, drawn once in a process, so that collisions cannot be predicted.
** Nothing displayed or written may depend on the order of such a table, because the order differs
** in each process.
**
** A word is multiplied by a key to 128 bits, and the halves are combined by xor: every bit of the
** result depends on all bits of the word and the key.
*/
#ifndef asamp_hash_h
#define asamp_hash_h

#include <stddef.h>
#include <stdint.h>

/* Executed at each probe of an IdMap; a spec defines it to count the probes. */
#if !defined(HASH_STEP)
#define HASH_STEP()	((void)0)
#endif

/* The keys of the process, odd numbers; 0 before hash_prepare. */
extern uint64_t hash_key[2];

/* Draws the keys, once. Thread-safe, but not async-signal-safe. */
void hash_prepare (void);

/* Returns the xor of the two halves of the 128-bit product a * b. */
static inline uint64_t hash_fold (uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  Wide w = (Wide)a * b;
  return (uint64_t)w ^ (uint64_t)(w >> 64);
}

/* Hashes a word. hash_prepare must have been called. */
static inline uint64_t hash_word (uint64_t w) {
  return hash_fold(w ^ hash_key[1], hash_key[0]);
}

/* Hashes two words. hash_prepare must have been called. */
static inline uint64_t hash_words (uint64_t a, uint64_t b) {
  return hash_fold(hash_word(a) ^ b, hash_key[1]);
}

/* Hashes n bytes. Calls hash_prepare, so it is not async-signal-safe. */
uint64_t hash_bytes (const void *bytes, size_t n);

#endif
