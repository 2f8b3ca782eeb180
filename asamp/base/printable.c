/* SPDX-License-Identifier: MIT */
/* Replaces characters that a terminal interprets (printable.h). */
#include "printable.h"
#include "bytes.h"

int printable_isobeyed (const unsigned char *s, size_t n) {
  unsigned long c = n == 1 ? s[0] : s[0] & (0x7Fu >> n);
  size_t i;
  for (i = 1; i < n; i++)
    c = c << 6 | (s[i] & 0x3F);
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x180E || c == 0x200B ||
         c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
         (c >= 0xE0000 && c <= 0xE007F);
}

void printable (char *text) {
  const unsigned char *from = (const unsigned char *)text;
  size_t left = strlen(text);
  char *to = text;
  while (left > 0) {
    size_t n = bytes_sequence(from, left);
    if (n == 0 || printable_isobeyed(from, n)) {
      n = n == 0 ? 1 : n;
      *to++ = '?';
    }
    else {
      memmove(to, from, n);
      to += n;
    }
    from += n;
    left -= n;
  }
  *to = '\0';
}
