/* SPDX-License-Identifier: MIT */
/*
** Who is heard, answered and left (clients.h).
*/
#define _GNU_SOURCE
#include "clients.h"
#include "requests.h"
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "descriptor.h"

#define PATIENCE	UINT64_C(5000000000)	/* ns for who says nothing, or reads nothing (CN3) */
#define LOOK_NS		UINT64_C(1000000)	/* before the first look at a snapshot that is waited for */
#define LOOK_PART	8	/* of the time that it has waited, before another one */
#define REST_NS		UINT64_C(250000000)	/* before somebody is taken again (CN8) */

typedef struct Client {
  Request request;
  size_t n;		/* bytes of its lines that are there */
  uint64_t heard;	/* when it said something, took some of its answer, or came */
} Client;

static struct pollfd *fds;	/* the server's, and behind it the clients' */
static Client **clients;
static size_t nclients;
static uint64_t rest;		/* until then nobody is taken; CN8 */


int clients_begin (void) {
  fds = malloc((SERVER_CLIENTS + 1) * sizeof(*fds));
  clients = malloc(SERVER_CLIENTS * sizeof(*clients));
  nclients = 0;
  return fds != NULL && clients != NULL;
}


static int iswaiting (const Client *c) {
  return c->request.heap != NULL;
}


/* Is there something that it has not taken yet? */
static int isbehind (const Client *c) {
  return c->request.answer.n > 0;
}


/* What is heard of it: of who waits for a snapshot its end only, of who is behind that it takes
   more. What it has sent besides is read when that is over. */
static short heardof (const Client *c) {
  return isbehind(c) ? POLLOUT : iswaiting(c) ? 0 : POLLIN;
}


static void leave (size_t i) {
  request_end(&clients[i]->request);
  server_close(clients[i]->request.fd);
  free(clients[i]);
  clients[i] = clients[--nclients];
  fds[i + 1] = fds[nclients + 1];
}


/* CN3: who is silent makes room, before those who wait for their answer. */
static void makeplace (void) {
  size_t i, first = 0;
  if (nclients < SERVER_CLIENTS) return;
  for (i = 1; i < nclients; i++) {
    int waits = iswaiting(clients[i]), other = iswaiting(clients[first]);
    if (waits < other || (waits == other && clients[i]->heard < clients[first]->heard)) first = i;
  }
  leave(first);
}


/* The lines that are there, up to one whose answer takes time, or is not taken yet. 0: the
   client is to be left. */
static int answer (Client *c) {
  Request *r = &c->request;
  char *end;
  while (!iswaiting(c) && !isbehind(c) && (end = memchr(r->line, '\n', c->n)) != NULL) {
    size_t used = (size_t)(end - r->line) + 1;
    *end = '\0';
    if (!request_answer(r, used - 1) || !request_send(r)) return 0;
    c->n -= used;
    memmove(r->line, r->line + used, c->n);
  }
  if (iswaiting(c) || isbehind(c) || c->n < sizeof(r->line) - 1) return 1;
  request_refuse(r, "a line is too long");
  request_send(r);
  return 0;
}


/* What a client has sent. 0: it is to be left. */
static int hear (Client *c) {
  Request *r = &c->request;
  ssize_t m;
  if (!server_has(r->fd)) return 0;
  m = recv(r->fd, r->line + c->n, sizeof(r->line) - 1 - c->n, MSG_DONTWAIT);
  if (m <= 0) return m < 0 && (errno == EAGAIN || errno == EINTR);
  c->heard = clock_now();
  c->n += (size_t)m;
  return answer(c);
}


/* It takes more of its answer. 0: it is to be left. */
static int give (Client *c) {
  if (!request_send(&c->request)) return 0;
  c->heard = clock_now();
  return answer(c);
}


/* CN6. 0: the client is to be left. */
static int await (Client *c, int events) {
  if (events & (POLLHUP | POLLERR)) return 0;
  if (!request_continue(&c->request)) return 0;
  return iswaiting(c) || give(c);
}


/* 0: it is to be left. */
static int serve (Client *c, int events) {
  if (iswaiting(c)) return await(c, events);
  if (events != 0 && !(isbehind(c) ? give(c) : hear(c))) return 0;
  return iswaiting(c) || clock_since(c->heard) < PATIENCE;
}


static void welcome (int server) {
  char why[128];
  Client *c;
  int fd;
  makeplace();
  fd = server_accept(server);
  if (fd < 0) {
    rest = clock_now() + REST_NS;
    return;
  }
  c = malloc(sizeof(*c));
  if (c == NULL) {
    server_close(fd);
    return;
  }
  c->n = 0;
  c->heard = clock_now();
  request_begin(&c->request, fd);
  fds[nclients + 1] = (struct pollfd){fd, 0, 0};
  clients[nclients++] = c;
  if (descriptor_spare(fd, 0)) return;
  descriptor_few(why, sizeof(why));
  request_refuse(&c->request, why);
  request_send(&c->request);
  leave(nclients - 1);
}


/* ms until something is to be done for a client; as poll takes it. Who waits for an idle
   state's snapshot may do so for hours: the answer comes late by a part of its wait, a second at
   most. */
static int patience (uint64_t now, int ms) {
  size_t i;
  for (i = 0; i < nclients; i++) {
    const Client *c = clients[i];
    uint64_t look = now + LOOK_NS + clock_between(c->heard, now) / LOOK_PART;
    ms = clients_earlier(iswaiting(c) ? look : c->heard + PATIENCE, now, ms);
  }
  return ms;
}


void clients_serve (int server, int ms) {
  size_t i;
  uint64_t now;
  for (i = nclients; i-- > 0; )
    if (!server_has(clients[i]->request.fd)) leave(i);
  for (i = 0; i < nclients; i++) fds[i + 1].events = heardof(clients[i]);
  now = clock_now();
  if (now < rest) ms = clients_earlier(rest, now, ms);
  fds[0] = (struct pollfd){now < rest ? -1 : server, POLLIN, 0};
  if (poll(fds, nclients + 1, patience(now, ms)) < 0) {
    if (errno != EINTR) poll(NULL, 0, clients_earlier(now + REST_NS, now, ms));  /* CN8 */
    return;
  }
  for (i = nclients; i-- > 0; )
    if (!serve(clients[i], fds[i + 1].revents)) leave(i);
  if (fds[0].revents & POLLIN) welcome(server);
}
