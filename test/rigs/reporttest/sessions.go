package reporttest

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// heldByEnd is the time of a second in which receivers held their senders back, where an end is the limit and
// not the path.
const heldByEnd = 900 * time.Millisecond

// Sessions is a run of TCP sessions, both ways between west and east, with this goodput in each direction, which the
// path limited.
func Sessions(goodputBitsPerSecond int64) *report.Report {
	return sessionsHeld(goodputBitsPerSecond, 0)
}

// SessionsBound is the same, but the receivers were the limit, and the device carries as much, or more.
func SessionsBound(goodputBitsPerSecond int64) *report.Report {
	return sessionsHeld(goodputBitsPerSecond, heldByEnd)
}

func sessionsHeld(goodput int64, receiverLimited time.Duration) *report.Report {
	const duration = 10 * time.Second
	started := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	r := &report.Report{Version: report.Version, Producer: "linerate v0.1.0", Plan: planOfSessions(), Started: started,
		Finished: started.Add(13 * time.Second), Ending: report.Completed}
	generator := report.Generator{Name: "generator-0", Product: "linerate sessions v0.1.0", Hostname: "node-7",
		CPUModel: "Intel(R) Xeon(R) D-2123IT CPU @ 2.20GHz", Processors: 8, Kernel: "6.1.0-18-amd64",
		Hypervisor: "none"}
	w := report.Window{Number: 1, Phase: report.Hold, Load: units.One, Start: plan.Duration(2 * time.Second),
		Duration: plan.Duration(duration), Quality: report.Good, Reason: "connections sent all the time",
		GeneratorCPUPercent: -1}
	sum := &report.Sum{Window: 1, Sessions: sessionsOf(2*goodput, 2, duration, receiverLimited)}
	for i, d := range r.Plan.Directions {
		generator.Ports = append(generator.Ports, report.GeneratorPort{Link: d.From, Index: i, Name: d.From,
			Driver: "veth", Path: "TCP sockets", CongestionControl: "cubic", MAC: fmt.Sprintf("02:00:00:00:00:%02x", i+
				1)})
		r.Path = append(r.Path, report.PathCheck{From: d.From, To: d.To, Proven: true, Sent: 4, Received: 4,
			Message: "4 of 4 connections; TTL 63, which was 64"})
		w.Directions = append(w.Directions, report.Direction{From: d.From, To: d.To, Quality: report.Good,
			Reason: w.Reason, Sessions: sessionsOf(goodput, 1, duration, receiverLimited)})
	}
	r.Samples = sessionSamples(r.Plan.Directions, goodput)
	r.Generators, r.Windows = []report.Generator{generator}, []report.Window{w}
	r.Answer = report.Answer{Measured: true, Reason: report.PathLimited, Message: "the path held the connections back", Window: 1, Directions: w.Directions, Total: sum, Claim: report.Claim{Confirmed: true}}
	if receiverLimited > 0 {
		r.Answer.Reason, r.Answer.Message = report.GeneratorLimited, "the receivers held the connections back"
	}
	return r
}

// sessionSamples are those of a run of 12 s whose slow start takes half a second. Each answer counts received bytes
// up to a while after the runner's moment, which changes no rate.
func sessionSamples(directions []plan.Direction, goodput int64) (samples []report.Sample) {
	for second := range 13 {
		s := report.Sample{Time: plan.Duration(second) * plan.Duration(time.Second), Phase: report.Hold,
			Load: units.One, CPUPercent: -1}
		if second <= 2 {
			s.Phase = report.WarmUp
		}
		elapsed := s.Time.Std() + time.Duration(second%3)*10*time.Millisecond
		bytes := max(0, int64(float64(goodput)/8*(elapsed-500*time.Millisecond).Seconds()))
		for range directions {
			s.Directions = append(s.Directions,
				report.SampleDirection{Sessions: &report.SessionsSoFar{ReceivedBytes: bytes,
					ReceivedIn: plan.Duration(elapsed), RetransmittedSegments: int64(second * (second % 4))}})
		}
		samples = append(samples, s)
	}
	for i := range samples[1:] { // a counter never goes back
		for d := range directions {
			later, earlier := samples[i+1].Directions[d].Sessions, samples[i].Directions[d].Sessions
			later.RetransmittedSegments = max(later.RetransmittedSegments, earlier.RetransmittedSegments)
		}
	}
	return samples
}

func planOfSessions() *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Engine: plan.EngineSoftware, DUT: plan.DUT{Type: "Reference",
		Forwarding: plan.L3}, Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}},
		Test:     plan.Test{Name: "linux-tcp", Namespace: "lab", Attempt: 1, Product: "Linux", Loadtest: "tcp"},
		Sessions: &plan.Sessions{Protocol: "TCP", Parallel: 4, WindowBytes: 1 << 20, MessageBytes: 128 << 10},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
			WarmupDuration: plan.Duration(2 * time.Second), Duration: plan.Duration(10 * time.Second),
			Window: plan.Duration(10 * time.Second)}}}
	generator := plan.Generator{Name: "generator-0"}
	for i, name := range []string{"west", "east"} {
		prefix := netip.MustParsePrefix(fmt.Sprintf("198.18.%d.2/24", i))
		p.Links = append(p.Links, plan.Link{Name: name,
			DUT: plan.DUTEnd{Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("198.18.%d.1/24", i))}}})
		generator.Ports = append(generator.Ports, plan.GeneratorPort{Link: name, Addresses: []netip.Prefix{prefix},
			Share: 1, ShareOf: 1})
	}
	p.Generators = []plan.Generator{generator}
	return p
}

// sessionsOf are those of all directions together.
func sessionsOf(goodput, directions int64, took, receiverLimited time.Duration) *report.Sessions {
	bytes := goodput / 8 * int64(took/time.Second)
	segments := bytes / 1448
	retransmitted := segments / 1000
	senders := time.Duration(directions) * 4 * took
	return &report.Sessions{Connections: int(4 * directions), WrittenBytes: bytes, AcknowledgedBytes: bytes,
		ReceivedBytes: bytes, ReceivedIn: plan.Duration(took), GoodputBitsPerSecond: goodput,
		Segments: segments, RetransmittedSegments: retransmitted, SentBytes: bytes,
		RetransmittedBytes: retransmitted * 1448, RetransmitRatio: units.RatioOf(retransmitted, segments),
		RoundTrip: &report.RoundTrip{MinMicroseconds: 800, MeanMicroseconds: 41_000, MaxMicroseconds: 52_000},
		Senders: report.SenderTime{Observed: plan.Duration(senders), Busy: plan.Duration(senders),
			ReceiverLimited: plan.Duration(senders.Seconds() * float64(receiverLimited)),
			Samples:         2000 * directions, HeldByPath: 1900 * directions}}
}

// Datagrams is a run of UDP, both ways between west and east, with this requested payload in each direction. The path
// lost 1 in 100 datagrams of 1000 bytes west→east and none east→west.
func Datagrams(askedBitsPerSecond int64) *report.Report {
	r := Sessions(askedBitsPerSecond)
	r.Plan.Test.Name, r.Plan.Test.Loadtest = "linux-udp", "udp"
	r.Plan.Sessions = &plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf3, Parallel: 4,
		MessageBytes: 1000}
	r.Plan.Procedure.ConstantLoad.Unlimited, r.Plan.Procedure.ConstantLoad.Rate = false,
		units.Rate{Kind: units.Layer2Bits, Micros: askedBitsPerSecond * 1_000_000}
	sum := &report.Sessions{Datagrams: &report.Datagrams{}}
	for i := range r.Answer.Directions {
		d := &r.Answer.Directions[i]
		d.Sessions = datagramsOf(askedBitsPerSecond, int64(1-i), d.Sessions.ReceivedIn)
		addDatagrams(sum, d.Sessions)
		r.Generators[0].Ports[i].Path, r.Generators[0].Ports[i].CongestionControl = "UDP sockets", ""
		for s := range r.Samples {
			counters := r.Samples[s].Directions[i].Sessions
			counters.RetransmittedSegments, counters.LostDatagrams = 0, int64(1-i)*counters.ReceivedBytes/100_000
		}
	}
	r.Windows[0].Directions, r.Answer.Total.Sessions = r.Answer.Directions, sum
	r.Answer.Message = "the path lost some"
	return r
}

// datagramsOf are those of one direction, of which lost of a hundred are lost.
func datagramsOf(asked, lost int64, took plan.Duration) *report.Sessions {
	const bytes = 1000
	sent := asked / 8 / bytes * int64(took.Std()/time.Second)
	missing := sent * lost / 100
	return &report.Sessions{Connections: 4, AskedBitsPerSecond: asked, WrittenBytes: sent * bytes,
		SentBytes: sent * bytes, SentIn: took, ReceivedBytes: (sent - missing) * bytes, ReceivedIn: took,
		GoodputBitsPerSecond: asked * (100 - lost) / 100,
		Datagrams: &report.Datagrams{Sent: sent, Received: sent - missing, Lost: missing,
			LossRatio: units.RatioOf(missing, sent), OutOfOrder: 3 * lost, JitterMicroseconds: 25}}
}

// addDatagrams adds a direction to all together.
func addDatagrams(sum, d *report.Sessions) {
	sum.Connections, sum.AskedBitsPerSecond, sum.GoodputBitsPerSecond = sum.Connections+d.Connections,
		sum.AskedBitsPerSecond+d.AskedBitsPerSecond, sum.GoodputBitsPerSecond+d.GoodputBitsPerSecond
	sum.WrittenBytes, sum.SentBytes, sum.ReceivedBytes = sum.WrittenBytes+d.WrittenBytes, sum.SentBytes+d.SentBytes,
		sum.ReceivedBytes+d.ReceivedBytes
	sum.SentIn, sum.ReceivedIn = d.SentIn, d.ReceivedIn
	a, b := sum.Datagrams, d.Datagrams
	a.Sent, a.Received, a.Lost, a.OutOfOrder, a.JitterMicroseconds = a.Sent+b.Sent, a.Received+b.Received, a.Lost+
		b.Lost, a.OutOfOrder+b.OutOfOrder, b.JitterMicroseconds
	a.LossRatio = units.RatioOf(a.Lost, a.Received+a.Lost)
}
