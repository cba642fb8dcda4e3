package datapath

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// BenchmarkProgram is what the counting program takes of a frame, by the kernel's own measure and without the frame's way to it: compare the lines with one another.
func BenchmarkProgram(b *testing.B) {
	s := stamp{generation: 1, id: 5, at: Now()}
	for _, c := range []struct {
		name   string
		follow bool
		frame  []byte
	}{
		{"unmarked", false, frame(60)},
		{"marked", false, stamped(s, markBase+5)},
		{"marked, looked at for a stamp", true, withoutStamp(stamped(s, markBase+5))},
		{"stamped, followed", true, stamped(s, markLatency)},
	} {
		for name, h := range hooks {
			b.Run(c.name+" at "+name, func(b *testing.B) {
				r := loaded(b, h, c.follow)
				r.done.Go(r.read)
				var all time.Duration
				for b.Loop() {
					_, took, err := r.program.Benchmark(c.frame, 100_000, func() {})
					must(b, err)
					all += took
				}
				b.ReportMetric(float64(all.Nanoseconds())/float64(b.N), "ns/frame")
			})
		}
	}
}

func withoutStamp(f []byte) []byte {
	f[len(f)-stampSize] = 0
	return f
}

// BenchmarkReceived is how many frames a second a receiver takes of a kernel that sends what it can (live frames over a cable, from one thread): compare the lines with one another.
func BenchmarkReceived(b *testing.B) {
	const frames = 1_000_000
	for _, receiver := range []struct {
		name string
		Options
	}{{"at traffic control", Options{}}, {"at traffic control, following", Options{Follow: true}}, {"at XDP", Options{Receive: ReceiveXDP}}, {"at XDP, following", Options{Receive: ReceiveXDP, Follow: true}}} {
		for name, mark := range map[string]uint16{"marked": markBase + 5, "stamped": markLatency} {
			b.Run(name+" "+receiver.name, func(b *testing.B) {
				from, to := cable(b, Options{Plain: true}, receiver.Options)
				must(b, netif.SetOffload("east", netif.GenericReceive, true)) // so that it takes live frames at all
				must(b, to.SetPromiscuous(true))
				flood := redirects(b, from.(*port).index)
				f := stamped(stamp{generation: 1, id: 5, at: Now()}, mark)
				var took time.Duration
				before := to.Counters().Received.Packets
				for b.Loop() {
					start := Now()
					_, err := flood.Run(&ebpf.RunOptions{Data: f, Repeat: frames, Flags: unix.BPF_F_TEST_XDP_LIVE_FRAMES})
					must(b, err)
					took += Now() - start
				}
				sleep(10 * time.Millisecond) // what is on its way
				came := to.Counters().Received.Packets - before
				b.ReportMetric(float64(came)/took.Seconds()/1e3, "kpps")
				b.ReportMetric(100*float64(came)/float64(int64(b.N)*frames), "%")
			})
		}
	}
}

// redirects is a program that sends each frame out of an interface.
func redirects(b *testing.B, index int) *ebpf.Program {
	b.Helper()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, int32(index)),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirect.Call(),
		asm.Return(),
	}})
	needKernel(b, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
	b.Cleanup(func() { must(b, p.Close()) })
	return p
}
