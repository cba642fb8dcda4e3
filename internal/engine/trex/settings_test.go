package trex_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// claimed replays the recorded settings to a client that has the ports already.
func claimed(t *testing.T) *trex.Client {
	t.Helper()
	c, s := replay(t, "settings.jsonl")
	s.Script("acquire", func(trextest.Call) (any, error) { return "recorded", nil })
	for port := range 2 {
		noError(t, c.Acquire(t.Context(), port, false))
	}
	return c
}

func TestTheLegacyStackRefusesIPv6(t *testing.T) {
	err := claimed(t).SetIPv6(t.Context(), 0, netip.MustParseAddr("2001:2::2"))
	refusal := errorOf[*trex.RPCError](t, err)
	l := newSimulatedServer(t)
	l.claim(t, 0)
	scripted := errorOf[*trex.RPCError](t, l.client.SetIPv6(t.Context(), 0, netip.MustParseAddr("2001:2::2")))
	if *scripted != *refusal || !strings.Contains(refusal.Specific, "IPv6 is not supported") {
		t.Errorf("recorded %+v, scripted %+v", refusal, scripted)
	}
}

func TestRecordedTagsAreReadBack(t *testing.T) {
	c := claimed(t)
	_, err := c.PortStatus(t.Context(), 0) // of before
	noError(t, err)
	for _, tags := range [][]uint16{{100}, {100, 200}} {
		noError(t, c.SetVLAN(t.Context(), 0, tags...))
		status, err := c.PortStatus(t.Context(), 0)
		noError(t, err)
		if !slices.Equal(status.Attributes.VLAN.Tags, tags) {
			t.Errorf("tags %v, want %v", status.Attributes.VLAN.Tags, tags)
		}
	}
}

// TestRecordedCapturesOfOthersAreEnded knows that a real server lists a capture's ports as bits. The trace refuses
// what was not recorded, so each of the two captures is stopped and removed by its own id.
func TestRecordedCapturesOfOthersAreEnded(t *testing.T) {
	c, s := replay(t, "settings.jsonl")
	for range 2 { // nothing was left at first
		noError(t, c.RemoveCaptures(t.Context(), 0))
	}
	s.ForgetCalls()
	noError(t, c.RemoveCaptures(t.Context(), 0))
	var commands []string
	for _, call := range s.Calls("capture") {
		var p struct {
			Command string
			ID      int `json:"capture_id"`
		}
		noError(t, call.Decode(&p))
		commands = append(commands, p.Command)
	}
	if want := []string{"status", "stop", "remove", "stop", "remove"}; !slices.Equal(commands, want) {
		t.Errorf("commands %v, want %v", commands, want)
	}
}

// TestEventsOfLinks compares the scripted server with a real one, which reports all attributes of the port with event
// 8.
func TestEventsOfLinks(t *testing.T) {
	var linkStates []bool
	checkEach(t, "get_async_events", func(l struct{ Data []trex.Event }) {
		for _, e := range l.Data {
			if e.Type == trex.AttributeChanged && e.LinkUp != nil && e.Port == 0 {
				linkStates = append(linkStates, *e.LinkUp)
			}
		}
	})
	if !slices.Equal(linkStates, []bool{false, true}) {
		t.Errorf("links went %v", linkStates)
	}
	l := newSimulatedServer(t)
	_, err := l.client.Events(t.Context())
	noError(t, err)
	l.generator.SetLink(1, false)
	events, err := l.client.Events(t.Context())
	if err != nil || len(events) != 1 || events[0].Port != 1 || events[0].LinkUp == nil || *events[0].LinkUp {
		t.Errorf("scripted events %+v, %v", events, err)
	}
}
