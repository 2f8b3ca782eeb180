/* SPDX-License-Identifier: MIT */
/* The hash function of tables whose keys come from programs or files. Each process draws random
   numbers for it, so that nobody can cause collisions. So the order of the entries of such a table
   is random, and no output may depend on it. The function multiplies a word by a random number. The
   hash is the xor of the two halves of the product, which has 128 bits. */
#ifndef asamp_hash_h
#define asamp_hash_h

#include <stddef.h>
#include <stdint.h>

/* Hook that is executed at each probe of a hash table (IdMap). It does nothing here; a test defines
   it to count the probes. */
#if !defined(HASH_STEP)
#define HASH_STEP()	((void)0)
#endif

/* The random odd numbers of the hash function; 0 before hash_prepare. */
extern uint64_t hash_key[2];

/* Sets hash_key to random odd numbers at the first call; later calls do nothing. Thread-safe, but
   not async-signal-safe. */
void hash_prepare (void);

/* Returns the xor of the halves of the product a * b. */
static inline uint64_t hash_fold (uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  Wide w = (Wide)a * b;
  return (uint64_t)w ^ (uint64_t)(w >> 64);
}

/* Hashes a word. Call hash_prepare first. */
static inline uint64_t hash_word (uint64_t w) {
  return hash_fold(w ^ hash_key[1], hash_key[0]);
}

/* Hashes two words. Call hash_prepare first. */
static inline uint64_t hash_words (uint64_t a, uint64_t b) {
  return hash_fold(hash_word(a) ^ b, hash_key[1]);
}

/* Hashes n bytes. Not async-signal-safe. */
uint64_t hash_bytes (const void *bytes, size_t n);

#endif
