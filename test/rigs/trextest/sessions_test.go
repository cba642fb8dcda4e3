package trextest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// A real TRex got all requests that its own client sends, and requests that TRex refuses. The scripted server gives
// the same answers. Answers that may differ stand in differences and leftOut with their reasons. linerate reads
// nothing that leftOut has.
func TestTheScriptedServerAnswersAsARealOne(t *testing.T) {
	judge := trextest.NewJudge(differences(), leftOut())
	trextest.CompareSessions(t, "../../../internal/engine/trex/testdata", judge,
		func(t *testing.T, play func(*testing.T, trextest.Subject)) {
			synctest.Test(t, func(t *testing.T) {
				g := likeRecorded()
				conn, err := trextest.ServeInMemory(t, g).Dial(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				client, err := zmtp.NewClient(t.Context(), conn)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				play(t, trextest.Subject{Client: client, Wait: time.Sleep, Receive: g.Receive})
			})
		})
	leavesOutUnread(t, judge.Absent())
}

// differences are the places where the scripted server gives other values than a real one.
func differences() trextest.Reasons {
	const (
		random  = "random"
		machine = "another machine, another build"
		unasked = "linerate never asks for it"
		dynamic = "as many as the delays that were seen"
	)
	return trextest.Reasons{
		"api_sync_v2/result/api_h":                        random,
		"acquire/result":                                  random,
		"get_version/result/build_*":                      machine,
		"get_version/result/built_by":                     machine,
		"get_system_info/result/uptime":                   machine,
		"get_system_info/result/core_type":                machine,
		"publish_now/error":                               unasked,
		"get_tpg_status/error":                            unasked,
		"set_rx_feature/error":                            unasked,
		"get_pgid_stats/result/latency/*/lat/histogram/*": dynamic,
		"get_port_status/error/specific_err":              "a text has the place in TRex's own buffer",
	}
}

// leftOut are the members that the scripted server leaves out.
func leftOut() trextest.Reasons {
	const (
		unasked = "linerate never asks for it"
		unread  = "linerate doesn't read it"
		dynamic = "as many as the delays that were seen"
	)
	return trextest.Reasons{
		"publish_now/result":                              unasked,
		"get_tpg_status/result":                           unasked,
		"set_rx_feature/result":                           unasked,
		"get_supported_cmds/result/*":                     unasked,
		"get_pgid_stats/result/latency/*/lat/histogram/*": dynamic,
		"get_global_stats/result/m_*":                     unread,
		"get_port_stats/result/m_total_*":                 unread,
		"get_port_status/result/rx_info":                  unread,
		"get_port_status/result/profile_count":            unread,
		"get_port_status/result/max_stream_id":            unread,
		"get_port_status/result/service_filtered":         unread,
		"get_system_info/result/is_multiqueue_mode":       unread,
		"get_system_info/result/dp_core_count_per_port":   unread,
		"get_system_info/result/ports/*/is_*_supported":   unread,
		"get_system_info/result/ports/*/cores":            unread,
		"get_utilization/result/mbuf_stats/*":             unread,
		"get_pgid_stats/result/flow_stats/*/[tr][pb]s":    unread,
		"validate/result/graph/events":                    unread,
		"validate/result/graph/events_count":              unread,
		"validate/result/rate/*_line_util":                unread,
	}
}
