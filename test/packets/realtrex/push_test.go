//go:build trex

package realtrex

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// TestFramesArePushedDuringTraffic: pushed frames leave a port that sends, and are counted as sent.
func TestFramesArePushedDuringTraffic(t *testing.T) {
	c := claim(t)
	point(t, c)
	frame := make([]byte, 86)
	copy(frame, []byte{2, 0, 0, 0, 0, 99, 2, 0, 0, 0, 0, 98, 0x88, 0xb5}) // to an unused MAC, with an unused type
	before := settle(t, c)
	for range 20 {
		must(t, c.PushFrames(t.Context(), 0, [][]byte{frame}))
	}
	idle := settle(t, c)
	if sent, bytes := idle[0].SentPackets-before[0].SentPackets, idle[0].SentBytes-before[0].SentBytes; sent != 20 || bytes != 20*90 {
		t.Errorf("an idle port counted %d frames, %d bytes", sent, bytes)
	}
	must(t, c.AddStreams(t.Context(), 0, udp(t, 0)))
	_, err := c.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(500), Duration: 3 * time.Second})
	must(t, err)
	for range 20 {
		must(t, c.PushFrames(t.Context(), 0, [][]byte{frame}))
	}
	time.Sleep(time.Second)
	must(t, c.StopTraffic(t.Context(), 0))
	after := settle(t, c)
	if missing := after[0].SentPackets - idle[0].SentPackets - (after[1].ReceivedPackets - idle[1].ReceivedPackets); missing != 20 {
		t.Errorf("%d of the frames sent did not come back, want the 20 that were pushed", missing)
	}
}
