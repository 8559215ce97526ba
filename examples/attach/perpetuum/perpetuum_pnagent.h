/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to pnagent what a Perpetuum-generated engine does: one line of JSON for each
 * event, for "pnagent attach lines". Include it after <perpetuum/model.h>, and
 * compile with -D_POSIX_C_SOURCE=200809L if you compile with -std=c99.
 *
 *   static pnagent_t agent;
 *   pnagent_udp(&agent, 9799);                    once; or pnagent_fd(&agent, fd) for a pipe or a file
 *   PNAGENT_FIRED(&agent, pnc, tr);               in an action, before it returns TRANS_SUCCESS
 *   PNAGENT_INJECTED(&agent, pnc, pr, n);         beside inject_tokens(pnc, pr, n)
 *   pnagent_close(&agent);                        says on stderr what was dropped
 *
 * Nothing here waits. What cannot be written at once (a full pipe, no process
 * that listens) is dropped and counted: in agent.dropped, in the lines that follow,
 * and at the end. A line costs a clock read and a system call. One thread at a
 * time uses a pnagent_t.
 */
#ifndef PERPETUUM_PNAGENT_H
#define PERPETUUM_PNAGENT_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int fd, socket;
    unsigned long long written, dropped; /* events */
} pnagent_t;

/* Events go to a UDP port of this machine. Returns 0, or -1 and errno. */
static inline int pnagent_udp(pnagent_t *a, uint16_t port) {
    struct sockaddr_in at;
    memset(a, 0, sizeof *a);
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a->socket = 1;
    a->fd = socket(AF_INET, SOCK_DGRAM, 0);
    return a->fd < 0 ? -1 : connect(a->fd, (struct sockaddr *)&at, sizeof at);
}

/* Events go to a pipe or a file that is open (of a FILE: fileno), which becomes
 * non-blocking. Ignore SIGPIPE if the reader may end before you. */
static inline int pnagent_fd(pnagent_t *a, int fd) {
    int flags = fcntl(fd, F_GETFL);
    memset(a, 0, sizeof *a);
    a->fd = fd;
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Appends a JSON string at line[n], or returns the end if there is no room. */
static inline size_t pnagent_text(char *line, size_t n, size_t end, const char *key, const char *text) {
    n += (size_t)snprintf(line + n, end - n, "\"%s\":\"", key);
    for (; *text && n + 8 < end; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') line[n++] = '\\';
        if (c < 0x20) n += (size_t)snprintf(line + n, end - n, "\\u%04x", (unsigned)c);
        else line[n++] = (char)c;
    }
    if (*text) return end;
    line[n++] = '"';
    line[n++] = ',';
    return n;
}

/* Writes one event: kind is "transition" or "place"; tokens are of a place. */
static inline void pnagent_event(pnagent_t *a, const char *net, const char *instance, const char *kind, const char *name, long tokens) {
    enum { END = 1500, ROOM = 160 }; /* less than PIPE_BUF, so that lines of several writers do not mix */
    char line[END + ROOM];
    struct timespec t;
    size_t n = 1;
    ssize_t put = -1;
    clock_gettime(CLOCK_REALTIME, &t);
    line[0] = '{';
    n = pnagent_text(line, n, END, "net", net);
    if (n < END / 2) n = pnagent_text(line, n, END, "instance", instance);
    if (n < END / 4 * 3) n = pnagent_text(line, n, END, kind, name);
    else n = END;
    if (n < END) {
        if (kind[0] == 'p') n += (size_t)snprintf(line + n, ROOM, "\"tokens\":%ld,", tokens);
        if (a->dropped) n += (size_t)snprintf(line + n, ROOM, "\"dropped\":%llu,", a->dropped);
        n += (size_t)snprintf(line + n, sizeof line - n, "\"time\":%lld%06ld}\n", (long long)t.tv_sec, (long)(t.tv_nsec / 1000));
        do put = a->socket ? send(a->fd, line, n, MSG_DONTWAIT) : write(a->fd, line, n);
        while (put < 0 && errno == EINTR);
    }
    if (put == (ssize_t)n) a->written++;
    else a->dropped++; /* a UDP error is about the event before: the counts agree over time */
}

/* Says what was dropped. The pipe or file stays open. */
static inline void pnagent_close(pnagent_t *a) {
    if (a->dropped) fprintf(stderr, "pnagent: %llu of %llu events were dropped\n", a->dropped, a->dropped + a->written);
    if (a->socket) close(a->fd);
}

/* An instance is the colour of a petrinet_t. */
#define PNAGENT_INSTANCE(pnc) (PARM_USE(pnc)->colour ? PARM_USE(pnc)->colour : "main")
#define PNAGENT_FIRED(agent, pnc, tr) \
    pnagent_event((agent), TOPO(pnc)->name, PNAGENT_INSTANCE(pnc), "transition", TRANS_NAME(pnc, tr), 0)
#define PNAGENT_INJECTED(agent, pnc, pr, n) \
    pnagent_event((agent), TOPO(pnc)->name, PNAGENT_INSTANCE(pnc), "place", PLACE_NAME(pnc, pr), (n))

#endif
