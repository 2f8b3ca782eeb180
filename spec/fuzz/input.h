/* SPDX-License-Identifier: MIT */
/*
** Functions for the fuzzers of files: a random generator, the input and its file, and
** compression. If an input fails, the program prints its number, leaves it in its file, and ends
** with status 1. The same seed gives the same inputs.
*/
#ifndef fuzz_input_h
#define fuzz_input_h

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* largest number of bytes of an input */
#define MOST	(1u << 16)

static uint64_t state;
static const char *folder = "/dev/shm";
static char path[4096];
static unsigned long long input;

static uint64_t next (void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1du;
}

static uint64_t upto (uint64_t n) {
  return (next() >> 20) % n;
}

static void fail (const char *what) {
  printf("input %llu: %s; see %s\n", input, what, path);
  exit(1);
}

static void unusable (void) {
  perror(path);
  exit(2);
}

/*
** Parses the arguments of main, SEED INPUTS [FOLDER]. Stores the number of inputs in '*inputs'.
** Returns the descriptor of the new input file FOLDER/asamp-NAME.SEED.PROCESS. PROCESS is the
** process id, because several processes may use the same seed at the same time.
*/
static int start (const char *program, const char *name, int argc, char **argv,
                  unsigned long long *inputs) {
  unsigned long long seed;
  int fd;
  if (argc < 3) {
    fprintf(stderr, "usage: %s SEED INPUTS [FOLDER]\n", program);
    exit(2);
  }
  seed = strtoull(argv[1], NULL, 10);
  *inputs = strtoull(argv[2], NULL, 10);
  if (argc > 3) folder = argv[3];
  snprintf(path, sizeof(path), "%s/asamp-%s.%llu.%ld", folder, name, seed, (long)getpid());
  state = seed * 0x9e3779b97f4a7c15u + 1;
  fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) unusable();
  return fd;
}

static void put (int fd, const unsigned char *data, size_t n) {
  if (pwrite(fd, data, n, 0) != (ssize_t)n || ftruncate(fd, (off_t)n) != 0) unusable();
}

static int end (int fd, unsigned long long inputs) {
  close(fd);
  unlink(path);
  printf("%llu inputs\n", inputs);
  return 0;
}

/* Compresses n bytes of an input with gzip. Returns the compressed size, at most MOST. */
static size_t gzip (unsigned char *data, size_t n) {
  static unsigned char packed[2 * MOST];
  z_stream z;
  memset(&z, 0, sizeof(z));
  if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return n;
  z.next_in = data;
  z.avail_in = (uInt)n;
  z.next_out = packed;
  z.avail_out = sizeof(packed);
  deflate(&z, Z_FINISH);
  n = z.total_out < MOST ? z.total_out : MOST;
  deflateEnd(&z);
  memcpy(data, packed, n);
  return n;
}

#endif
