package datapath

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/trex/stream"
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
				for b.Loop() {
					const runs = 100_000
					_, took, err := r.program.Benchmark(c.frame, runs, func() {})
					must(b, err)
					b.ReportMetric(float64(took.Nanoseconds()), "ns/frame")
				}
			})
		}
	}
}

func withoutStamp(f []byte) []byte {
	f[len(f)-stampSize] = 0
	return f
}

// BenchmarkReceived is how many frames a second come over a cable from one sending thread that sends what it can, for one second each: the sender is most of it, so the lines are compared with one another. Stamped
// frames are a latency stream's.
func BenchmarkReceived(b *testing.B) {
	for _, receiver := range []struct {
		name string
		Options
	}{{"at traffic control", Options{}}, {"at traffic control, following", Options{Follow: true}}, {"at XDP", Options{Receive: ReceiveXDP}}, {"at XDP, following", Options{Receive: ReceiveXDP, Follow: true}}} {
		for _, rule := range []string{"stats", "latency"} {
			b.Run(rule+" "+receiver.name, func(b *testing.B) {
				from, to := cable(b, Options{}, receiver.Options)
				s := addressed(continuous(5e6, frame(60)))
				s.FlowStats = stream.Flow{Enabled: true, StreamID: 5, RuleType: rule}
				for b.Loop() {
					must(b, from.Start(Run{Streams: streams(s), Factor: 1, NextHop: macOf(to)}))
					eventually(b, "frames come", func() bool { return to.Flows()[5].Received.Packets > 10_000 })
					before := to.Flows()[5].Received.Packets
					start := Now()
					sleep(time.Second)
					b.ReportMetric(float64(to.Flows()[5].Received.Packets-before)/(Now()-start).Seconds()/1e3, "kpps")
					must(b, from.Stop())
				}
			})
		}
	}
}
