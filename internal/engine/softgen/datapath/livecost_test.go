package datapath

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// BenchmarkLiveFrame is how long a sending thread takes to make a frame and send it to a program that drops it, when another is always due: compare the lines with one another.
func BenchmarkLiveFrame(b *testing.B) {
	for name, interfaces := range map[string][]string{"of the only port on a thread": {"west"}, "of two ports on a thread": {"west", "east"}} {
		b.Run(name, func(b *testing.B) {
			cable(b, Options{Plain: true}, Options{Plain: true})
			drain(b, "west")
			drain(b, "east")
			var ports []Port
			for _, each := range interfaces {
				p := open(b, Options{Interface: each, Path: PathLive})
				p.(*port).cpus = 2
				must(b, p.Start(Run{Streams: streams(addressed(continuous(50e6, frame(60)))), Factor: 1}))
				ports = append(ports, p)
			}
			sent := func() (n int64) {
				for _, p := range ports {
					n += p.Counters().Sent.Packets
				}
				return n
			}
			before, since := sent(), Now()
			for b.Loop() {
				sleep(100 * time.Millisecond)
			}
			b.ReportMetric(float64(Now()-since)/float64(sent()-before), "ns/frame")
			for _, p := range ports {
				must(b, p.Stop())
			}
		})
	}
}

// drain has an interface drop what it receives before the kernel looks at it.
func drain(b *testing.B, name string) {
	b.Helper()
	receiveBy(b, name, asm.Instructions{asm.Mov.Imm(asm.R0, xdpDrop), asm.Return()})
}

// receiveBy has a program say what becomes of each frame that an interface receives.
func receiveBy(t testing.TB, name string, program asm.Instructions) {
	t.Helper()
	loaded, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0", Instructions: program})
	needKernel(t, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
	t.Cleanup(func() { must(t, loaded.Close()) })
	on, err := facts(name)
	must(t, err)
	attached, err := link.AttachXDP(link.XDPOptions{Program: loaded, Interface: on.Attrs().Index})
	must(t, err)
	t.Cleanup(func() { must(t, attached.Close()) })
}
