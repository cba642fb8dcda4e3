//go:build full

package iperf3

import (
	"math"
	"testing"
	"time"
)

// Only the receiver's own sockets lose datagrams on one machine, where they have no room. A busy kernel loses some on
// its way to the socket, too.
func TestOnlySocketsLoseOnOneMachine(t *testing.T) {
	address, _ := serve(t, Server{})
	r, err := Client{Server: address}.Measure(t.Context(), Test{Protocol: UDP, Flow: Reverse, Duration: 2 * time.Second,
		BitsPerSecond: 50_000_000, MessageBytes: 1200, WindowBytes: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if g := *r.Directions[0].Datagrams; g.Lost != g.Dropped || g.Lost == 0 || g.Received == 0 {
		t.Errorf("%+v", g)
	}
}

// Our counters agree with iperf3's own of the same side, and of the other, within 1 %, intervals added up.
func TestIperf3ItselfAgrees(t *testing.T) {
	program(t)
	for name, shape := range map[string]Test{
		"one":          {},
		"-P 4":         {Parallel: 4},
		"-w":           {WindowBytes: 256 << 10},
		"-O 1":         {Omit: time.Second},
		"-P 4 -w -O 1": {Parallel: 4, WindowBytes: 128 << 10, Omit: time.Second},
	} {
		for _, protocol := range []Protocol{TCP, UDP} {
			for _, flow := range []Flow{Forward, Reverse, Bidirectional} {
				for role, make := range map[string]func(*testing.T, Test) (*Result, theirs){"its client": asTheirClient,
					"its server": asTheirServer} {
					t.Run(string(protocol)+" "+string(flow)+" "+name+" "+role, func(t *testing.T) {
						test := shape
						test.Protocol, test.Flow, test.Duration, test.BitsPerSecond = protocol, flow, 3*time.Second,
							40_000_000
						if protocol == UDP {
							test.MessageBytes = 1400
						}
						r, printed := make(t, test)
						theySent, theyReceived := printed.sums()
						for _, d := range directions(t, r, flow) {
							// in bytes that a busy machine's sockets had no room for
							lost := int64(0)
							if d.Datagrams != nil && !d.Datagrams.WholeTest {
								lost = d.Datagrams.Lost * int64(test.MessageBytes)
							}
							printedBytes, reportedBytes, ours := theyReceived, d.Received.Bytes, d.Sent.Bytes-lost
							if !d.Sent.CountedHere {
								printedBytes, reportedBytes, ours = theySent, d.Sent.Bytes, d.Received.Bytes+lost
							}
							for source, bytes := range map[string]int64{"it told": reportedBytes,
								"follow from ours": ours} {
								if deviation := float64(bytes)/float64(printedBytes) - 1; math.Abs(deviation) > 0.01 {
									t.Errorf("%s: it printed %d bytes, and %d %s: %+.2f %%", d.Flow, printedBytes,
										bytes, source, 100*deviation)
								}
							}
							t.Logf("%s: %d sent, %d received, %d lost; it printed %d", d.Flow, d.Sent.Bytes,
								d.Received.Bytes, lost, printedBytes)
						}
					})
				}
			}
		}
	}
}
