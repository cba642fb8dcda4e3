package datapath

import (
	"testing"

	"github.com/cilium/ebpf/asm"
)

// TestASlowDeviceDoesNotSlowTheSender: frames that a device at the end of a cable is too slow for find its
// queue full, and the sender doesn't keep them back. The largest frames take the most room.
func TestASlowDeviceDoesNotSlowTheSender(t *testing.T) {
	for name, o := range map[string]Options{"AF_XDP": {Path: PathXDP}, "AF_PACKET": {Plain: true}} {
		t.Run(name, func(t *testing.T) {
			a, b := cable(t, o, Options{Plain: true})
			noError(t, setGRO("east", true)) // gives the end a queue
			noError(t, ownThread("east"))
			workOnEach(t, "east")
			noError(t, a.Start(runTo(b, 1, continuous(1e6, frame(1514)))))
			eventually(t, "the far end's queue is full", func() bool { return a.Counters().PeerFull > 2000 })
			noError(t, a.Stop())
			if c := a.Counters(); c.QueueFull > 0 || c.SendErrors > 0 {
				t.Errorf("of %d frames %d found the device's queue full; the sender had to wait %d times, and %d "+
					"were not sent: want 0 and 0", c.Sent.Packets, c.PeerFull, c.QueueFull, c.SendErrors)
			}
		})
	}
}

// workOnEach makes an interface work for some 50 microseconds on each frame that it receives, and drop the frame.
func workOnEach(t *testing.T, name string) {
	t.Helper()
	const readings = 2000 // of the clock, each some 25 ns
	receiveBy(t, name, asm.Instructions{
		asm.Mov.Imm(asm.R6, readings),
		asm.FnKtimeGetNs.Call().WithSymbol("again"),
		asm.Sub.Imm(asm.R6, 1),
		asm.JNE.Imm(asm.R6, 0, "again"),
		asm.Mov.Imm(asm.R0, xdpDrop),
		asm.Return(),
	})
}
