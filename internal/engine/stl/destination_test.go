package stl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// flap takes a port's link down and up again.
func (l simulatedServer) flap(port int) {
	l.generator.SetLink(port, false)
	l.generator.SetLink(port, true)
}

// addressed claims and loads both ports, with these addresses.
func (l simulatedServer) addressed(t *testing.T, addressings ...engine.Addressing) {
	t.Helper()
	noError(t, l.Claim(t.Context(), []int{0, 1}, false))
	for port, a := range addressings {
		_, err := l.Address(t.Context(), port, a)
		noError(t, err)
		noError(t, l.Load(t.Context(), port, []stream.Stream{udp()}))
	}
}

func TestAPortStartsAfterALinkEventMadeTheServerForgetItsDestination(t *testing.T) {
	configured := [2]engine.Addressing{addressing("198.18.0.2/24", "198.18.0.1", ""), addressing("198.18.1.2/24",
		"198.18.1.1", "")}
	cases := map[string]func(*testing.T, simulatedServer) [2]engine.Addressing{
		"that was resolved": func(*testing.T, simulatedServer) [2]engine.Addressing { return configured },
		"whose MAC was given": func(*testing.T, simulatedServer) [2]engine.Addressing {
			return [2]engine.Addressing{addressing("198.18.0.2/24", "", "02:00:00:00:00:20"),
				addressing("", "", "02:00:00:00:00:21")}
		},
		"of IPv6": func(*testing.T, simulatedServer) [2]engine.Addressing {
			return [2]engine.Addressing{addressing("2001:2::2/64", "2001:2::1", ""), addressing("2001:2:0:1::2/64",
				"2001:2:0:1::1", "")}
		},
		"that the server had": func(t *testing.T, l simulatedServer) [2]engine.Addressing {
			l.addressed(t, configured[:]...)
			noError(t, l.Release(t.Context()))
			return [2]engine.Addressing{}
		},
		"that the server had and has forgotten": func(t *testing.T, l simulatedServer) [2]engine.Addressing {
			l.addressed(t, configured[:]...)
			noError(t, l.Release(t.Context()))
			l.flap(0)
			l.flap(1)
			return [2]engine.Addressing{}
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
				addressings := prepare(t, l)
				l.addressed(t, addressings[:]...)
				for range 2 {
					l.flap(0)
					l.flap(1)
					noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
					if sending := l.generator.Sending(); len(sending) != 2 {
						t.Errorf("ports %v send", sending)
					}
					noError(t, l.Stop(t.Context(), []int{0, 1}))
				}
			})
		})
	}
}

func TestALinkEventBetweenDestinationAndStartIsRepairedAndRemarked(t *testing.T) {
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		l.addressed(t, addressing("198.18.0.2/24", "198.18.0.1", ""), addressing("198.18.1.2/24", "198.18.1.1", ""))
		flaps := 1
		l.Script("ping", func(c trextest.Call) (any, error) { // the call between the two
			if flaps > 0 {
				l.flap(1)
				flaps--
			}
			return l.generator.Answer(c)
		})
		noError(t, l.Start(t.Context(), bothPorts(kpps), time.Minute))
		if sending, remarks := l.generator.Sending(), l.Remarks(); len(sending) != 2 || len(remarks) != 1 ||
			!strings.Contains(remarks[0], "the link of port 1 changed its state") {
			t.Errorf("ports %v send, remarks %q", sending, remarks)
		}
		noError(t, l.Stop(t.Context(), []int{0, 1}))
		flaps = 9
		wants(t, l.Start(t.Context(), bothPorts(kpps), time.Minute), engine.ErrRefused, "dest MAC is invalid",
			"link goes down or up", "check the cable")
		if sending := l.generator.Sending(); len(sending) != 0 {
			t.Errorf("ports %v send", sending)
		}
	})
}

func TestAServerWithoutADestinationIsNamedBeforeAnythingIsSent(t *testing.T) {
	unaddressed := func(ports []trextest.Port) { ports[0].Neighbor = "" }
	onSimulatedServer(t, func(t *testing.T, l simulatedServer) {
		noError(t, l.Claim(t.Context(), []int{0, 1}, false))
		if mac, err := l.Address(t.Context(), 0, engine.Addressing{}); err != nil || mac != "" {
			t.Errorf("got %q, %v", mac, err)
		}
	}, unaddressed)
}
