package stl_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/trex/trextest"
)

// reminded is how many advertisements were pushed out of the port, by their ICMPv6 type.
func reminded(t *testing.T, l lab, port int) (n int) {
	t.Helper()
	for _, c := range l.Calls("push_pkts") {
		var p struct {
			Packets []struct {
				Binary []byte `json:"binary"`
			} `json:"pkts"`
		}
		must(t, json.Unmarshal(c.Params, &p))
		for _, packet := range p.Packets {
			if b := packet.Binary; c.Port() == port && len(b) == 86 && b[54] == 136 {
				n++
			}
		}
	}
	return n
}

func TestDevicesAreRemindedOfAnIPv6AddressThatTheServerDoesNotAnswerFor(t *testing.T) {
	inLab(t, func(t *testing.T, l lab) {
		must(t, l.Claim(t.Context(), []int{0, 1}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", ""))
		must(t, err)
		if n := reminded(t, l, 0); n != 1 {
			t.Errorf("%d advertisements when the address was set", n)
		}
		sent := func() engine.PortCounters {
			r, err := l.Read(t.Context(), []int{0, 1})
			must(t, err)
			return r.Ports[0]
		}
		before := sent()
		for range 31 {
			time.Sleep(time.Second)
			synctest.Wait()
			if now := sent(); now.Sent != before.Sent {
				t.Fatalf("reminders were counted as traffic: %+v, before %+v", now.Sent, before.Sent)
			}
		}
		if n := reminded(t, l, 0); n != 1+6 {
			t.Errorf("%d advertisements after 31 s, want one and then one each 5 s", n)
		}
		if n := reminded(t, l, 1); n != 0 {
			t.Errorf("%d advertisements on a port without an address", n)
		}
		must(t, l.Release(t.Context()))
		time.Sleep(time.Minute)
		sent()
		if n := reminded(t, l, 0); n != 7 {
			t.Errorf("%d advertisements after the release", n)
		}
	})
}

func TestADeviceWithAKnownMACLearnsTheGeneratorsMAC(t *testing.T) {
	inLab(t, func(t *testing.T, l lab) {
		must(t, l.Claim(t.Context(), []int{0}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", "02:00:00:00:00:20"))
		must(t, err)
		pushes := l.Calls("push_pkts")
		if len(pushes) != 1 || strings.Count(string(pushes[0].Params), `"binary"`) != 2 {
			t.Errorf("pushed %s, want a solicitation and an advertisement", pushes)
		}
	})
}

func TestNoRemindersForAPortThatAnotherClientTook(t *testing.T) {
	inLab(t, func(t *testing.T, l lab) {
		must(t, l.Claim(t.Context(), []int{0}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", ""))
		must(t, err)
		l.generator.Steal(0, "alice")
		time.Sleep(10 * time.Second)
		if _, err := l.Read(t.Context(), []int{0}); err == nil {
			t.Error("the theft went unnoticed")
		}
		if n := reminded(t, l, 0); n != 1 {
			t.Errorf("%d advertisements, the last out of somebody else's port", n)
		}
	})
}

func TestAServerThatAnswersForIPv6NeedsNoReminders(t *testing.T) {
	inLab(t, func(t *testing.T, l lab) {
		l.On("conf_ipv6", func(trextest.Call) (any, error) { return map[string]any{}, nil })
		must(t, l.Claim(t.Context(), []int{0}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", ""))
		must(t, err)
		time.Sleep(10 * time.Second)
		_, err = l.Read(t.Context(), []int{0})
		must(t, err)
		if n := reminded(t, l, 0); n != 0 {
			t.Errorf("%d advertisements", n)
		}
	})
}
