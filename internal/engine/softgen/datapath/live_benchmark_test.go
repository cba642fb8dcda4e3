package datapath

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// BenchmarkLiveFrame is how long a sending thread takes to make a frame and send it to a program that drops it,
// while another frame is always due. Compare the lines with one another.
func BenchmarkLiveFrame(b *testing.B) {
	for name, interfaces := range map[string][]string{"of the only port on a thread": {"west"},
		"of two ports on a thread": {"west", "east"}} {
		b.Run(name, func(b *testing.B) {
			cable(b, Options{Plain: true}, Options{Plain: true})
			drain(b, "west")
			drain(b, "east")
			var ports []Port
			for _, name := range interfaces {
				p := open(b, Options{Interface: name, Path: PathLive})
				p.(*port).cpus = 2
				noError(b, p.Start(Run{Streams: streams(addressed(continuous(50e6, frame(60)))), Factor: 1}))
				ports = append(ports, p)
			}
			sent := func() (n int64) {
				for _, p := range ports {
					n += p.Counters().Sent.Packets
				}
				return n
			}
			initial, begin := sent(), Now()
			for b.Loop() {
				sleep(100 * time.Millisecond)
			}
			b.ReportMetric(float64(Now()-begin)/float64(sent()-initial), "ns/frame")
			for _, p := range ports {
				noError(b, p.Stop())
			}
		})
	}
}

// drain has an interface drop its received frames before the kernel looks at them.
func drain(b *testing.B, name string) {
	b.Helper()
	receiveBy(b, name, asm.Instructions{asm.Mov.Imm(asm.R0, xdpDrop), asm.Return()})
}

// receiveBy has a program decide about each frame that an interface receives.
func receiveBy(t testing.TB, name string, program asm.Instructions) {
	t.Helper()
	loaded, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0", Instructions: program})
	needKernel(t, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
	t.Cleanup(func() { noError(t, loaded.Close()) })
	device, err := facts(name)
	noError(t, err)
	attached, err := link.AttachXDP(link.XDPOptions{Program: loaded, Interface: device.Attrs().Index})
	noError(t, err)
	t.Cleanup(func() { noError(t, attached.Close()) })
}
