package stl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// reminded is how many advertisements were pushed out of the port, by their ICMPv6 type.
func reminded(t *testing.T, l simulatedServer, port int) (n int) {
	t.Helper()
	for _, c := range l.Calls("push_pkts") {
		var p struct {
			Packets []struct {
				Binary []byte `json:"binary"`
			} `json:"pkts"`
		}
		noError(t, json.Unmarshal(c.Params, &p))
		for _, packet := range p.Packets {
			if b := packet.Binary; c.Port() == port && len(b) == 86 && b[54] == 136 {
				n++
			}
		}
	}
	return n
}

func TestDevicesAreRemindedOfAnIPv6AddressThatTheServerDoesNotAnswerFor(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", ""))
		noError(t, err)
		if n := reminded(t, l, 0); n != 1 {
			t.Errorf("%d advertisements when the address was set", n)
		}
		sent := func() engine.PortCounters {
			r, err := l.Read(t.Context(), []int{0, 1})
			noError(t, err)
			return r.Ports[0]
		}
		earlier := sent()
		for range 31 {
			time.Sleep(time.Second)
			synctest.Wait()
			if later := sent(); later.Sent != earlier.Sent {
				t.Fatalf("reminders were counted as traffic: %+v, before %+v", later.Sent, earlier.Sent)
			}
		}
		if n := reminded(t, l, 0); n != 1+6 {
			t.Errorf("%d advertisements after 31 s, want one and then one each 5 s", n)
		}
		if n := reminded(t, l, 1); n != 0 {
			t.Errorf("%d advertisements on a port without an address", n)
		}
		noError(t, l.Release(t.Context()))
		time.Sleep(time.Minute)
		sent()
		if n := reminded(t, l, 0); n != 7 {
			t.Errorf("%d advertisements after the release", n)
		}
	})
}

func TestADeviceWithAKnownMACLearnsTheGeneratorsMAC(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", "02:00:00:00:00:20"))
		noError(t, err)
		pushes := l.Calls("push_pkts")
		if len(pushes) != 1 || strings.Count(string(pushes[0].Params), `"binary"`) != 2 {
			t.Errorf("pushed %s, want a solicitation and an advertisement", pushes)
		}
	})
}

func TestNoRemindersForAPortThatAnotherClientTook(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", ""))
		noError(t, err)
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
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.Script("conf_ipv6", func(trextest.Call) (any, error) { return map[string]any{}, nil })
		noError(t, l.Claim(t.Context(), []int{0}, false))
		_, err := l.Address(t.Context(), 0, addressing("2001:2::2/64", "2001:2::1", ""))
		noError(t, err)
		time.Sleep(10 * time.Second)
		_, err = l.Read(t.Context(), []int{0})
		noError(t, err)
		if n := reminded(t, l, 0); n != 0 {
			t.Errorf("%d advertisements", n)
		}
	})
}

// arpReplies are those that were pushed out of the port.
func arpReplies(t *testing.T, l simulatedServer, port int) (replies [][]byte) {
	t.Helper()
	for _, c := range l.Calls("push_pkts") {
		var p struct {
			Packets []struct {
				Binary []byte `json:"binary"`
			} `json:"pkts"`
		}
		noError(t, json.Unmarshal(c.Params, &p))
		for _, packet := range p.Packets {
			if b := packet.Binary; c.Port() == port && len(b) == 42 && b[21] == 2 {
				replies = append(replies, b)
			}
		}
	}
	return replies
}

// A TRex's card counts the server's own ARP answers among the frames of a load, so that one of 380 frames seemed to
// be lost. With reminders a device has no reason to ask.
func TestADeviceOfACardHasNoReasonToAskForTheAddressOfAPortThatSends(t *testing.T) {
	for name, tt := range map[string]struct {
		change func([]trextest.Port)
		want   int
	}{
		"a card": {driven("net_e1000_igb"), 1 + 6},
		"an interface of the kernel's, which counts such frames with their own length": {virtual, 0},
	} {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				noError(t, l.Claim(t.Context(), []int{0, 1}, false))
				for port := range 2 {
					_, err := l.Address(t.Context(), port, addressing(fmt.Sprintf("198.18.%d.2/24", port),
						fmt.Sprintf("198.18.%d.1", port), ""))
					noError(t, err)
					noError(t, l.Load(t.Context(), port, []stream.Stream{udp()}))
				}
				time.Sleep(time.Minute)
				earlier := l.read(t)
				noError(t, l.Start(t.Context(), bothPorts(kpps), 27*time.Second))
				for range 30 {
					l.read(t)
					time.Sleep(time.Second)
				}
				later := l.read(t)
				for port := range 2 {
					replies := arpReplies(t, l, port)
					if len(replies) != tt.want {
						t.Errorf("%d ARP replies on port %d, want %d", len(replies), port, tt.want)
					}
					for _, b := range replies {
						if hop := netip.AddrFrom4([4]byte(b[38:42])); hop.String() != fmt.Sprintf("198.18.%d.1",
							port) || !bytes.Equal(b[:6], b[32:38]) {
							t.Errorf("port %d sent % x", port, b)
						}
					}
					if sent, returned := later.Ports[port].Sent.Sub(earlier.Ports[port].Sent),
						later.Ports[1-port].Received.Sub(earlier.Ports[1-port].Received); sent != returned ||
						sent.Packets < 27_000 {
						t.Errorf("port %d sent %+v, and %+v came back", port, sent, returned)
					}
				}
			}, tt.change)
		})
	}
}
