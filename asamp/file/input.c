/* SPDX-License-Identifier: MIT */
/* Opens files for reading (input.h). */
#include "input.h"
#include "complain.h"
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

int input_open (const char *path) {
  struct stat s;
  int fifo = stat(path, &s) == 0 && S_ISFIFO(s.st_mode);
  struct pollfd p = {descriptor_open(path, fifo ? O_RDONLY | O_NONBLOCK : O_RDONLY, 0), POLLIN, 0};
  if (fifo && p.fd >= 0) {
    if (poll(&p, 1, 1000) == 0)
      complain("waiting for a program that writes to the pipe '%s'", path);
    while (poll(&p, 1, -1) < 0 && errno == EINTR) { }
    fcntl(p.fd, F_SETFL, O_RDONLY);
  }
  return p.fd;
}
