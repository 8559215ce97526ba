/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small engine that publishes to pnagent where its tokens are.
 *
 *   cc -std=c99 -O2 -o orders orders.c
 *   ./orders 127.0.0.1 4222 ../orders.pnml "$(sha256sum ../orders.pnml | cut -c1-32)" shop-c [SECONDS]
 *
 * Five orders came in SECONDS ago (0 unless given); two were shipped, three are
 * stuck. It uses nothing but a socket: NATS' text protocol and the JSON lane of
 * the wire (telemetry/README.md). Ctrl-C ends it with a bye.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL_MS = 1000, LINE = 4096 };
#define NET "orders" /* net and source stand for themselves in subjects: A-Z a-z 0-9 _ - */

static volatile sig_atomic_t over;

static void stop(int signal) { (void)signal; over = 1; }

static int64_t micros(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The engine: the injection times of its tokens, and what it counted. */
static int64_t inbox[3], shipped[2], firings = 2;

static int send_all(int fd, const char *text, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return -1;
        text += sent;
        n -= (size_t)sent;
    }
    return 0;
}

static int send_text(int fd, const char *form, ...) {
    char line[LINE];
    va_list args;
    va_start(args, form);
    int n = vsnprintf(line, sizeof line, form, args);
    va_end(args);
    return n < 0 || n >= LINE ? -1 : send_all(fd, line, (size_t)n);
}

/* Publishes every row. seq counts messages, epoch is when this process began. */
static int snapshot(int fd, const char *source, const char *digest, int64_t epoch, uint64_t seq, int bye) {
    static const char header[] = "NATS/1.0\r\nContent-Type: application/json\r\n\r\n";
    int64_t sum = inbox[0] + inbox[1] + inbox[2], sum2 = shipped[0] + shipped[1];
    char json[LINE];
    int n = snprintf(json, sizeof json,
        "{\"source\":\"%s\",\"epoch\":%" PRId64 ",\"seq\":%" PRIu64 ",\"sent_at\":%" PRId64 ",\"interval\":%d,"
        "\"net\":\"" NET "\",\"digest\":\"%s\",\"full\":true,\"bye\":%s,"
        "\"places\":{\"tokens\":[3,2],\"arrivals\":[5,2],\"departures\":[2,0],"
        "\"oldest\":[%" PRId64 ",%" PRId64 "],\"last_injection\":[%" PRId64 ",%" PRId64 "],"
        "\"injected_s\":[%" PRId64 ",%" PRId64 "],\"injected_us\":[%" PRId64 ",%" PRId64 "]},"
        "\"transitions\":{\"firings\":[%" PRId64 "],\"last_firing\":[%" PRId64 "]}}",
        source, epoch, seq, micros(), INTERVAL_MS * 1000, digest, bye ? "true" : "false",
        inbox[0], shipped[0], inbox[2], shipped[1],
        sum / 1000000, sum2 / 1000000, sum % 1000000, sum2 % 1000000, firings, shipped[1]);
    if (n < 0 || n >= LINE) return -1;
    if (send_text(fd, "HPUB petrinet.v1.%s." NET ".%s %zu %zu\r\n", bye ? "bye" : "snapshot", source,
                  sizeof header - 1, sizeof header - 1 + (size_t)n) < 0) return -1;
    if (send_all(fd, header, sizeof header - 1) < 0 || send_all(fd, json, (size_t)n) < 0) return -1;
    return send_all(fd, "\r\n", 2);
}

/* Reads one line without its end; *n is what is in buf. Returns its length, or
 * -1 when the time is over (*wait becomes 0) or the connection is. */
static int read_line(int fd, char *buf, size_t *n, char *line, int *wait) {
    for (;;) {
        char *end = *n ? memchr(buf, '\n', *n) : NULL;
        if (end) {
            size_t len = (size_t)(end - buf);
            memcpy(line, buf, len);
            line[len] = 0;
            if (len > 0 && line[len - 1] == '\r') line[--len] = 0;
            *n -= (size_t)(end - buf) + 1;
            memmove(buf, end + 1, *n);
            return (int)len;
        }
        if (*n == LINE) *n = 0; /* no line of ours is so long: an INFO may be */
        struct pollfd p = {fd, POLLIN, 0};
        int64_t began = micros();
        int ready = poll(&p, 1, *wait);
        *wait -= (int)((micros() - began) / 1000);
        if (ready < 0 && errno == EINTR && !over) continue;
        if (ready <= 0 || *wait < 0) { *wait = 0; return -1; }
        ssize_t got = recv(fd, buf + *n, LINE - *n, 0);
        if (got <= 0) { *wait = -1; return -1; }
        *n += (size_t)got;
    }
}

/* Answers what comes until the next snapshot is due. Returns -1 if the
 * connection is gone. Bodies of messages to us are empty, or of no interest. */
static int serve(int fd, char *buf, size_t *n, const char *pnml, size_t pnml_len) {
    char line[LINE + 1], subject[256], reply[256];
    int wait = INTERVAL_MS, size;
    while (!over && read_line(fd, buf, n, line, &wait) >= 0) {
        if (strcmp(line, "PING") == 0 && send_text(fd, "PONG\r\n") < 0) return -1;
        if (strncmp(line, "-ERR", 4) == 0) { fprintf(stderr, "orders: %s\n", line); return -1; }
        if (sscanf(line, "%*[H]MSG %255s", subject) != 1 && sscanf(line, "MSG %255s", subject) != 1) continue;
        if (strncmp(subject, "petrinet.v1.net.", 16) != 0) return 0; /* hello, full: a snapshot at once */
        if (sscanf(line, "MSG %*s %*s %255s %d", reply, &size) != 2) continue; /* no process waits for an answer */
        if (send_text(fd, "PUB %s %zu\r\n", reply, pnml_len) < 0 || send_all(fd, pnml, pnml_len) < 0 ||
            send_all(fd, "\r\n", 2) < 0) return -1;
    }
    return wait < 0 ? -1 : 0;
}

static int dial(const char *host, const char *port) {
    struct sockaddr_in at = {0};
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)atoi(port));
    if (inet_pton(AF_INET, host, &at.sin_addr) != 1) return -1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) != 0) { close(fd); fd = -1; }
    return fd;
}

/* One connection, until it breaks or we are over. */
static void talk(int fd, char **argv, const char *pnml, size_t pnml_len, int64_t epoch, uint64_t *seq) {
    char buf[LINE], line[LINE + 1];
    size_t n = 0;
    int wait = 5000, up;
    const char *digest = argv[4], *source = argv[5];
    if (read_line(fd, buf, &n, line, &wait) < 0) return; /* INFO {…} */
    up = send_text(fd, "CONNECT {\"verbose\":false,\"headers\":true,\"name\":\"orders.c\",\"lang\":\"c\",\"version\":\"1\"}\r\n"
        "SUB petrinet.v1.hello 1\r\nSUB petrinet.v1.full." NET ".%s 2\r\nSUB petrinet.v1.net." NET ".%s 3\r\n", source, digest);
    while (up == 0 && !over)
        if ((up = snapshot(fd, source, digest, epoch, ++*seq, 0)) == 0) up = serve(fd, buf, &n, pnml, pnml_len);
    if (up == 0 && snapshot(fd, source, digest, epoch, ++*seq, 1) == 0 && send_text(fd, "PING\r\n") == 0)
        for (wait = 2000; read_line(fd, buf, &n, line, &wait) >= 0 && strcmp(line, "PONG") != 0;) {} /* the server has it */
}

int main(int argc, char **argv) {
    static char pnml[1 << 19];
    if (argc < 6) { fprintf(stderr, "usage: orders HOST PORT NET.PNML DIGEST SOURCE [SECONDS]\n"); return 2; }
    FILE *file = fopen(argv[3], "rb");
    size_t pnml_len = file ? fread(pnml, 1, sizeof pnml, file) : 0;
    if (pnml_len == 0) { fprintf(stderr, "orders: cannot read %s\n", argv[3]); return 1; }
    fclose(file);
    struct sigaction act = {0};
    act.sa_handler = stop;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    int64_t epoch = micros();
    uint64_t seq = 0;
    for (int i = 0; i < 3; i++) inbox[i] = epoch - (argc > 6 ? atoll(argv[6]) : 0) * 1000000;
    for (int i = 0; i < 2; i++) shipped[i] = epoch;
    while (!over) {
        int fd = dial(argv[1], argv[2]);
        if (fd >= 0) { talk(fd, argv, pnml, pnml_len, epoch, &seq); close(fd); }
        if (!over) sleep(1);
    }
    return 0;
}
