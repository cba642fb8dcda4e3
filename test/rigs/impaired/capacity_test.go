//go:build full

package impaired

import (
	"testing"
	"time"
)

// TestHowManyFramesAnImpairedDeviceForwards prints how many frames a second the device carries on this machine. Each
// sent frame is forwarded, or counted as missed.
func TestHowManyFramesAnImpairedDeviceForwards(t *testing.T) {
	for _, inKernel := range []bool{false, true} {
		for _, perSecond := range []float64{100_000, 200_000, 300_000, 400_000, 500_000, 600_000} {
			r := newRigOf(t, Spec{InKernel: inKernel})
			begin := time.Now()
			sent := r.send(t, 0, perSecond, 2*time.Second)
			took := time.Since(begin).Seconds()
			c := r.counts(t)[0]
			t.Logf("in the kernel %v, asked for %.0f packets/s: sent %.0f, carried %.0f, missed %d", inKernel,
				perSecond, float64(sent)/took, float64(c.Departed)/took, c.Missed)
			if c.Came != sent || c.Departed+c.Missed != sent {
				t.Errorf("of %d frames: %+v", sent, c)
			}
		}
	}
}
