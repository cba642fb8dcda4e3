package softgen

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
)

// readPort counts its readings.
type readPort struct {
	datapath.Port
	reads *atomic.Int64
}

func (p readPort) Counters() datapath.Counters {
	p.reads.Add(1)
	return p.Port.Counters()
}

func TestPortsAreReadAtOneMoment(t *testing.T) {
	for name, c := range map[string]struct {
		batch []string
		reads int64
	}{
		"in a batch":                     {[]string{"ping 0", "get_port_stats 0", "get_port_stats 1", "ping 0"}, 1},
		"again when asked again":         {[]string{"get_port_stats 0", "get_port_stats 1", "get_port_stats 0"}, 2},
		"again after any other command":  {[]string{"get_port_stats 0", "get_owner 0", "get_port_stats 1"}, 2},
		"again for the sums of counters": {[]string{"get_port_stats 0", "get_port_stats 1", "get_global_stats 0"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			reads := &atomic.Int64{}
			r.server.ports[1].path = readPort{r.east, reads}
			var calls []string
			for i, call := range c.batch {
				method, port, _ := strings.Cut(call, " ")
				const format = `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"port_id":%s,"api_h":%q}}`
				calls = append(calls, fmt.Sprintf(format, i, method, port, r.server.apiH))
			}
			answer := string(r.server.Handle([]byte("[" + strings.Join(calls, ",") + "]")))
			if strings.Contains(answer, `"error":`) || reads.Load() != c.reads {
				t.Errorf("port 1 was read %d times, want %d, for %s", reads.Load(), c.reads, answer)
			}
		})
	}
}
