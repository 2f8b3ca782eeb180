/* SPDX-License-Identifier: MIT */
/* Hashes of strings and addresses, and the conversion of integers to decimal. The hashes differ
   from upstream's; the only effect on programs is another order of traversals (next). */
#pragma once

#include <stdint.h>
#include <string.h>

/* {== the hash ========================================================= */

/* Returns the xor of the two halves of the 128-bit product of a and b. */
static inline uint64_t luaN_fold (uint64_t a, uint64_t b) {
  unsigned __int128 m = (unsigned __int128)a * b;
  return (uint64_t)m ^ (uint64_t)(m >> 64);
}


static inline uint64_t luaN_load8 (const char *s) {
  uint64_t v;
  memcpy(&v, s, sizeof(v));
  return v;
}


static inline uint64_t luaN_load4 (const char *s) {
  uint32_t v;
  memcpy(&v, s, sizeof(v));
  return v;
}


/*
** Returns the hash of the l bytes at s. Each multiplication mixes eight bytes into the hash, the
** last one at most eight.
**
** Both operands of a multiplication depend on the seed: the factor, and the hash so far, which
** contains the seed in both of its 32-bit halves. If an operand did not depend on the seed, a half
** of the product might not depend on it either, and an attacker could compute strings that share a
** bucket for most seeds.
*/
static inline unsigned int luaN_hash (const char *s, size_t l, unsigned int seed) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);  /* 2^64 / golden ratio */
  uint64_t wide = ((uint64_t)seed << 32) | seed;
  uint64_t factor = odd ^ (wide << 1);  /* is odd, too */
  uint64_t h = wide ^ ((uint64_t)l * odd);
  uint64_t tail;
  for (; l > 8; l -= 8, s += 8)
    h = luaN_fold(h ^ luaN_load8(s), factor);
  if (l == 8) tail = luaN_load8(s);
  else if (l >= 4) tail = luaN_load4(s) | (luaN_load4(s + l - 4) << 32);
  else if (l > 0)
    tail = (uint64_t)(unsigned char)s[0] |
           ((uint64_t)(unsigned char)s[l / 2] << 8) |
           ((uint64_t)(unsigned char)s[l - 1] << 16);
  else tail = 0;
  h = luaN_fold(h ^ tail, factor);
  return (unsigned int)(h ^ (h >> 32));
}


/* log2 of the number of nodes of the smallest hash part for which luaN_spread uses the remainder by
   a prime; for smaller parts it uses a multiplication */
#define LUAN_SMALLHASH	11

/*
** Returns the main position, 0 to 2^n - 1, of address u as a key in a hash part of 2^n nodes.
** Objects that are made one after the other have addresses at equal distances; their positions
** should differ.
**
** A large part uses the remainder of u / 8 by a prime p = 2^n - d (Knuth, The Art of Computer
** Programming 3, 6.4). So the positions of such objects advance in equal steps of s = distance / 8.
** Two objects may be 2^n * 8 bytes apart, for example at the same offset in two blocks of the heap.
** Their positions differ by d, because 2^n mod p = d. If s divided d, the second object would have
** the position of the object that is d / s steps after the first one, and most objects of the two
** blocks would collide in this way. So each d is 1 or has no factor below 17: no step from 2 to 16
** (distances up to 128 bytes) divides it.
**
** A small part multiplies by the golden ratio (Knuth, same section). The remainder by a prime would
** leave up to 73 of 512 nodes unused there.
**
** In parts of both sizes, the low three bits of u shift the position by eighths of 2^n. They are 0
** except in light userdata.
*/
static inline size_t luaN_spread (uint64_t u, int n) {
  static const unsigned char below[] = {  /* d of the prime 2^n - d, for n = 11, 12, … */
    19, 17, 1, 23, 19, 17, 1, 17, 1, 17, 19, 17, 37, 17, 61, 101, 79, 89, 43, 41
  };
  if (n < LUAN_SMALLHASH) {
    uint64_t a = (u >> 3) | (u << 61);
    return (size_t)(a * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LUAN_SMALLHASH)
                      >> (LUAN_SMALLHASH - n));
  }
  return ((uint32_t)(u >> 3) + ((uint32_t)(u & 7) << (n - 3))) %
         (((uint32_t)1 << n) - below[n - LUAN_SMALLHASH]);
}

/* }===================================================================== */


/* {== integers ========================================================= */

/* bytes of the longest decimal integer, -9223372036854775808 */
#define LUAN_DIGITS	20

/* Writes n in decimal to 'to', up to LUAN_DIGITS bytes without a NUL, and returns their number. */
static inline int luaN_decimal (char *to, lua_Integer n) {
  char digits[LUAN_DIGITS];
  lua_Unsigned u = (n < 0) ? 0u - (lua_Unsigned)n : (lua_Unsigned)n;
  int i = LUAN_DIGITS, size;
  do {
    digits[--i] = (char)('0' + u % 10);
    u /= 10;
  } while (u != 0);
  if (n < 0) digits[--i] = '-';
  size = LUAN_DIGITS - i;
  memcpy(to, digits + i, (size_t)size);
  return size;
}

/* }===================================================================== */
