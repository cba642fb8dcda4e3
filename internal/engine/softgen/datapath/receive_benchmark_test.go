package datapath

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// BenchmarkProgram is the counting program's time for a frame, by the kernel's own measure and without the
// frame's way to it. Compare the lines with one another.
func BenchmarkProgram(b *testing.B) {
	s := stamp{generation: 1, id: 5, sent: Now()}
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
				r.reading.Go(r.read)
				var total time.Duration
				for b.Loop() {
					_, took, err := r.program.Benchmark(c.frame, 100_000, func() {})
					noError(b, err)
					total += took
				}
				b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/frame")
			})
		}
	}
}

func withoutStamp(f []byte) []byte {
	f[len(f)-stampSize] = 0
	return f
}

// BenchmarkReceived is how many frames a second a receiver takes of a kernel that sends at its highest rate
// (live frames over a cable, from one thread). Compare the lines with one another.
func BenchmarkReceived(b *testing.B) {
	const frames = 1_000_000
	for _, receiver := range []struct {
		name string
		Options
	}{{"at traffic control", Options{}}, {"at traffic control, following", Options{Follow: true}},
		{"at XDP", Options{Receive: ReceiveXDP}}, {"at XDP, following", Options{Receive: ReceiveXDP, Follow: true}}} {
		for name, mark := range map[string]uint16{"marked": markBase + 5, "stamped": markLatency} {
			b.Run(name+" "+receiver.name, func(b *testing.B) {
				sender, receiver := cable(b, Options{Plain: true}, receiver.Options)
				noError(b, netif.SetOffload("east", netif.GenericReceive, true)) // without GRO it takes no live frames
				noError(b, receiver.SetPromiscuous(true))
				flood := redirects(b, sender.(*port).index)
				f := stamped(stamp{generation: 1, id: 5, sent: Now()}, mark)
				var took time.Duration
				initial := receiver.Counters().Received.Packets
				for b.Loop() {
					start := Now()
					_, err := flood.Run(&ebpf.RunOptions{Data: f, Repeat: frames,
						Flags: unix.BPF_F_TEST_XDP_LIVE_FRAMES})
					noError(b, err)
					took += Now() - start
				}
				sleep(10 * time.Millisecond) // for the frames that are on their way
				came := receiver.Counters().Received.Packets - initial
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
	b.Cleanup(func() { noError(b, p.Close()) })
	return p
}
