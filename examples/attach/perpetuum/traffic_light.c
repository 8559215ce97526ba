/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A traffic light that reports what it does, to try perpetuum_pnagent.h without
 * Perpetuum: instead of <perpetuum/model.h> there is as much of it as the
 * header uses, with the same names.
 *
 *   cc -std=c99 -D_POSIX_C_SOURCE=200809L -o traffic_light traffic_light.c
 *   ./traffic_light FIRINGS [UDP-PORT]        without a port: to standard output
 */
#include <stdlib.h>

typedef unsigned placeref_t, transref_t;
typedef struct { const char *name; } node_topo_t;
typedef struct { const char *name; const node_topo_t *place_ary, *trans_ary; } petrinet_topo_t;
typedef struct { const char *colour; const petrinet_topo_t *topology; } petrinet_t;
#define PARM_USE(pnc) (pnc)
#define TOPO(pnc) (PARM_USE(pnc)->topology)
#define PLACE_NAME(pnc, pr) (TOPO(pnc)->place_ary[pr].name)
#define TRANS_NAME(pnc, tr) (TOPO(pnc)->trans_ary[tr].name)

#include "perpetuum_pnagent.h"

static const node_topo_t places[] = {{""}, {"green"}, {"yellow"}, {"red"}};
static const node_topo_t transitions[] = {{""}, {"caution"}, {"stop"}, {"go"}};
static const petrinet_topo_t topology = {"traffic_light", places, transitions};

int main(int argc, char **argv) {
    static const transref_t order[] = {3, 1, 2}; /* red, so: go, caution, stop */
    petrinet_t crossing = {"crossing \"5\"", &topology}, unnamed = {NULL, &topology};
    pnagent_t agent;
    long firings = argc > 1 ? atol(argv[1]) : 3, i;
    int failed = argc > 2 ? pnagent_udp(&agent, (uint16_t)atoi(argv[2])) : pnagent_fd(&agent, STDOUT_FILENO);
    if (failed) {
        perror("traffic_light");
        return 1;
    }
    PNAGENT_INJECTED(&agent, &unnamed, 3, 2); /* two more tokens on red */
    for (i = 0; i < firings; i++) PNAGENT_FIRED(&agent, &crossing, order[i % 3]);
    pnagent_close(&agent);
    return 0;
}
