// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// DatagramsLost returns how many datagrams the system dropped because its
// buffer was full, from Linux's /proc/net/udp and udp6; 0 if that is unknown.
func DatagramsLost(conn *net.UDPConn) uint64 {
	at, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return 0
	}
	file := "/proc/net/udp6"
	if at.IP.To4() != nil {
		file = "/proc/net/udp"
	}
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	var lost uint64
	port := fmt.Sprintf(":%04X", at.Port)
	for s := bufio.NewScanner(f); s.Scan(); {
		columns := strings.Fields(s.Text())
		if len(columns) < 13 || !strings.HasSuffix(columns[1], port) {
			continue
		}
		if n, err := strconv.ParseUint(columns[12], 10, 64); err == nil {
			lost += n
		}
	}
	return lost
}
