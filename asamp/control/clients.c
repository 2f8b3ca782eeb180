/* SPDX-License-Identifier: MIT */
/* Accepts, answers and disconnects clients (clients.h). */
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

/* A client is disconnected after this time of silence, ns. */
#define PATIENCE	UINT64_C(5000000000)
/* Time from the request of a snapshot to the first check whether the snapshot is finished, ns. */
#define POLL_NS		UINT64_C(1000000)
/* An unfinished snapshot is checked again after 1 / POLL_PART of the time since its request. */
#define POLL_PART	8
/* Pause after a failed call of accept or poll, ns. */
#define REST_NS		UINT64_C(250000000)

typedef struct Client {
  Request request;
  size_t n;		/* number of received bytes in request.line that are not answered yet */
  /* Time (clock_now) when bytes were last received, or a part of an answer was last sent. */
  uint64_t heard;
} Client;

static struct pollfd fds[SERVER_CLIENTS + 1];	/* argument of poll: the server's socket, followed
                                                   by the clients' sockets */
static Client *clients[SERVER_CLIENTS];
static size_t nclients;
/* Time (clock_now) until which no clients are accepted, because server_accept has failed; 0: it has
   never failed. */
static uint64_t rest;

void clients_start (void) {
  nclients = 0;
}

/* Returns 1 if the client waits for a heap snapshot that it has requested. */
static int iswaiting (const Client *c) {
  return c->request.heap != NULL;
}

/* Returns 1 if a part of the client's answer is not sent yet. */
static int isbehind (const Client *c) {
  return c->request.answer.n > 0;
}

/* Returns the events of the client's socket for which poll waits. No request is read while a
   part of an answer is not sent yet, or while the client waits for a snapshot. */
static short heardof (const Client *c) {
  return isbehind(c) ? POLLOUT : iswaiting(c) ? 0 : POLLIN;
}

/* Disconnects client i. The client with the largest index receives index i. */
static void clients_leave (size_t i) {
  request_end(&clients[i]->request);
  server_close(clients[i]->request.fd);
  free(clients[i]);
  clients[i] = clients[--nclients];
  fds[i + 1] = fds[nclients + 1];
}

/* Makes space for a new client: if SERVER_CLIENTS clients are connected, disconnects the one that
   has been silent for longest. Disconnects a client that waits for a snapshot only if all clients
   do. */
static void makeplace (void) {
  size_t i, first = 0;
  if (nclients < SERVER_CLIENTS) return;
  for (i = 1; i < nclients; i++) {
    int waits = iswaiting(clients[i]), other = iswaiting(clients[first]);
    if (waits < other || (waits == other && clients[i]->heard < clients[first]->heard)) first = i;
  }
  clients_leave(first);
}

/* Answers the client's complete lines. Stops at an answer that must wait: for a snapshot, or for
   space in the socket. Returns 0 to disconnect the client. */
static int clients_answer (Client *c) {
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
  request_refuse(r, "the request exceeds 4,095 bytes, the limit; send a shorter one");
  request_send(r);
  return 0;
}

/* Receives bytes and answers the complete lines. 'isgone' 1: the client has disconnected. Returns 0
   to disconnect the client. */
static int hear (Client *c, int isgone) {
  Request *r = &c->request;
  ssize_t m;
  if (!server_has(r->fd)) return 0;
  r->isgone = isgone;
  m = recv(r->fd, r->line + c->n, sizeof(r->line) - 1 - c->n, MSG_DONTWAIT);
  if (m <= 0) return m < 0 && (errno == EAGAIN || errno == EINTR);
  c->heard = clock_now();
  c->n += (size_t)m;
  return clients_answer(c);
}

/* Sends as much as possible of the unsent answer. If all is sent, answers the next lines. Returns 0
   to disconnect the client. */
static int give (Client *c) {
  if (!request_send(&c->request)) return 0;
  c->heard = clock_now();
  return clients_answer(c);
}

/* Answers a client that waits for a snapshot, if the snapshot is finished. 'events' are the poll
   events of the client's socket. Returns 0 to disconnect the client. */
static int clients_await (Client *c, int events) {
  if (events & (POLLHUP | POLLERR)) return 0;
  if (!request_continue(&c->request)) return 0;
  return iswaiting(c) || give(c);
}

/* Handles a client's poll events. Returns 0 to disconnect the client. */
static int serve (Client *c, int events) {
  if (iswaiting(c)) return clients_await(c, events);
  if (events != 0 && !(isbehind(c) ? give(c) : hear(c, events & (POLLHUP | POLLERR)))) return 0;
  return iswaiting(c) || clock_since(c->heard) < PATIENCE;
}

/* Accepts a client. If that fails, no client is accepted for REST_NS. If the program has few free
   descriptors left (descriptor_spare), sends an error to the client and disconnects it. */
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
  request_start(&c->request, fd);
  fds[nclients + 1] = (struct pollfd){fd, 0, 0};
  clients[nclients++] = c;
  if (descriptor_spare(fd, 0)) return;
  descriptor_few(why, sizeof(why));
  request_refuse(&c->request, why);
  request_send(&c->request);
  clients_leave(nclients - 1);
}

/* Returns the timeout of poll in ms. It is the shortest of three times: 'ms' (negative: no limit),
   the time until a client has been silent for too long, and the time until the next check whether a
   snapshot is finished. */
static int patience (uint64_t now, int ms) {
  size_t i;
  for (i = 0; i < nclients; i++) {
    const Client *c = clients[i];
    uint64_t poll = now + POLL_NS + clock_between(c->heard, now) / POLL_PART;
    ms = clients_earlier(iswaiting(c) ? poll : c->heard + PATIENCE, now, ms);
  }
  return ms;
}

void clients_serve (int server, int ms) {
  size_t i;
  uint64_t now;
  for (i = nclients; i-- > 0; )
    if (!server_has(clients[i]->request.fd)) clients_leave(i);
  for (i = 0; i < nclients; i++) fds[i + 1].events = heardof(clients[i]);
  now = clock_now();
  if (now < rest) ms = clients_earlier(rest, now, ms);
  fds[0] = (struct pollfd){now < rest ? -1 : server, POLLIN, 0};
  if (poll(fds, nclients + 1, patience(now, ms)) < 0) {
    /* the call above has failed: to save CPU time, waits REST_NS or 'ms', whichever is shorter */
    if (errno != EINTR) poll(NULL, 0, clients_earlier(now + REST_NS, now, ms));
    return;
  }
  for (i = nclients; i-- > 0; )
    if (!serve(clients[i], fds[i + 1].revents)) clients_leave(i);
  if (fds[0].revents & POLLIN) welcome(server);
}
