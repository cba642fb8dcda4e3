package softgen

import (
	"maps"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/test/rigs/fakeport"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// TestRecordedSessionsReplay sends every request of recorded sessions with a real TRex to the software engine,
// over a real socket and compressed as TRex's client does, and compares the answers. judge lists the accepted
// differences, with their reasons.
func TestRecordedSessionsReplay(t *testing.T) {
	trextest.CompareSessions(t, "../trex/testdata", judge(nil),
		func(t *testing.T, play func(*testing.T, trextest.Subject)) { play(t, subject(t)) })
}

// subject is a server with two ports on a manual clock.
func subject(t *testing.T) trextest.Subject {
	t.Helper()
	clock := fakeport.NewManual(700 * time.Second)
	west, east := fakeport.NewPair(clock,
		fakeport.Options{Name: "west", MAC: [6]byte{2, 0, 0, 0, 0, 0x10}},
		fakeport.Options{Name: "east", MAC: [6]byte{2, 0, 0, 0, 0, 0x11}},
		fakeport.Cable{Latency: 47 * time.Microsecond})
	server, err := New(Config{
		Ports: []PortConfig{
			{Port: west, NextHop: [6]byte{2, 0, 0, 0, 0, 0x20}},
			{Port: east, NextHop: [6]byte{2, 0, 0, 0, 0, 0x21}},
		},
		Now: clock.Now, Version: "v0.0.0-test", Hostname: "lab", Machine: machine.Machine{CPUModel: "AMD EPYC"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return trextest.Subject{
		Client: dial(t, server), Wait: clock.Advance,
		Receive: func(port int, frame []byte) { []*fakeport.Port{west, east}[port].Deliver(frame) },
	}
}

// dial serves on loopback until the test ends and connects to it.
func dial(t *testing.T, server *Server) *zmtp.Client {
	t.Helper()
	client, err := zmtp.Dial(t.Context(), serve(t, server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// judge accepts the software engine's differences from a real TRex, those of every session and the given ones.
func judge(accepted trextest.Reasons) *trextest.Judge {
	const (
		ours         = "ours: tells the software engine from TRex"
		machine      = "another machine, another build"
		readings     = "ours: what a measurement wants to know of a reading"
		surroundings = "ours: what another run must have had, too, for its figures to be compared with these"
		absent       = "the software engine has no such thing"
		dynamic      = "as many as the delays that were seen"
	)
	different := trextest.Reasons{
		"get_version/result/engine":                       ours,
		"get_version/result/engine_version":               ours,
		"get_version/result/product":                      ours,
		"get_version/result/b*":                           machine,
		"api_sync_v2/result/api_h":                        "random",
		"acquire/result":                                  "random",
		"get_system_info/result/uptime":                   machine,
		"get_system_info/result/ports/*/driver":           machine,
		"get_system_info/result/ports/*/path":             ours,
		"get_system_info/result/ports/*/nic":              surroundings,
		"get_system_info/result/ports/*/firmware":         surroundings,
		"get_system_info/result/ports/*/receive_drops":    surroundings,
		"get_system_info/result/ports/*/pause_frames":     surroundings,
		"get_system_info/result/ports/*/stamps":           surroundings,
		"get_system_info/result/ports/*/trains":           surroundings,
		"get_system_info/result/ports/*/ring":             surroundings,
		"get_system_info/result/ports/*/receive_queues":   surroundings,
		"get_system_info/result/ports/*/cautions":         surroundings,
		"get_system_info/result/processors":               surroundings,
		"get_system_info/result/kernel":                   surroundings,
		"get_system_info/result/hypervisor":               surroundings,
		"get_system_info/result/tuning":                   surroundings,
		"get_system_info/result/allowed":                  surroundings,
		"get_system_info/result/ports/*/description":      "TRex knows no interface name here",
		"get_system_info/result/ports/*/hw_mac":           "TRex lists the ports in no order",
		"get_supported_cmds/result/*":                     "another order, and fewer",
		"get_port_status/result/attr/link/flaps":          readings,
		"get_port_stats/result/ts":                        readings,
		"get_port_stats/result/ts_width":                  readings,
		"get_port_stats/result/behind":                    readings,
		"get_port_stats/result/damaged":                   readings,
		"get_port_stats/result/send_drops":                readings,
		"get_port_stats/result/stray_packets":             readings,
		"get_port_stats/result/stray_bytes":               readings,
		"get_port_stats/result/kernel":                    readings,
		"get_port_stats/result/queue_full":                readings,
		"get_port_stats/result/peer_full":                 readings,
		"get_port_stats/result/sending":                   readings,
		"get_port_stats/result/waited":                    readings,
		"get_port_stats/result/waiting":                   readings,
		"get_port_stats/result/link_flaps":                readings,
		"get_global_stats/result/stolen":                  readings,
		"get_global_stats/result/stolen_ts":               readings,
		"get_port_xstats_names/result/xstats_names/*":     "another driver's names",
		"get_port_xstats_values/result/xstats_values/*":   "another driver's names",
		"get_utilization/result/cpu/*":                    "a port has its own threads, and no history is kept",
		"get_pgid_stats/result/latency/*/lat/histogram/*": dynamic,
		"get_port_status/error/specific_err":              "TRex's text has control characters, or its buffer's place",
	}
	missing := trextest.Reasons{
		"get_utilization/result/cpu/*/history/*":          "no history is kept",
		"get_pgid_stats/result/latency/*/lat/histogram/*": dynamic,
		"get_system_info/result/ports/*/rx/caps/3":        "no tagged packet groups",
		"get_supported_cmds/result/*":                     "another order, and fewer",
		"get_port_xstats_names/result/xstats_names/*":     "another driver's names",
		"get_port_xstats_values/result/xstats_values/*":   "another driver's names",
		"get_utilization/result/mbuf_stats/cpu-socket-0":  absent,
	}
	maps.Copy(different, accepted)
	return trextest.NewJudge(different, missing)
}
