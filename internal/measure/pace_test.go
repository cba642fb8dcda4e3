package measure_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// pieces are a generator's real rates, in packets per second, one after the other.
type pieces []struct {
	lasts time.Duration
	rate  float64
}

// sent is how many frames have left by a moment.
func (p pieces) sent(at time.Duration) int64 {
	total := 0.0
	for _, piece := range p {
		took := min(at, piece.lasts)
		total += took.Seconds() * piece.rate
		if at -= took; at <= 0 {
			break
		}
	}
	return int64(total)
}

// follow reads a port that sends like this each 20 ms, as long as the pieces last, at the moments' exact time.
func follow(p pieces, asked units.PacketRate) []report.Burst {
	setup := onePort(0)
	pace := setup.Pace([]units.PacketRate{asked})
	end := time.Duration(0)
	for _, piece := range p {
		end += piece.lasts
	}
	for at := time.Duration(0); at <= end; at += 20 * time.Millisecond {
		pace.Add([]engine.Reading{readAt(at, 0, p.sent(at))})
	}
	return burstsOf(setup, pace)
}

// burstsOf is what a window tells of a pace.
func burstsOf(s measure.Setup, p *measure.Pace) []report.Burst {
	return judged(s, measure.Span{Pace: p}).Bursts
}

// onePort is a direction that one generator sends from its port 0.
func onePort(streams int) measure.Setup {
	return measure.Setup{Generators: []string{"generator-0"}, Directions: []measure.Direction{
		{From: "west", To: "east", Mix: units.Traffic{Packets: 1, Bytes: 64}, Pairs: []measure.Pair{{Receive: 1, Streams: streams}}}}}
}

// readAt is a reading of counters that start anywhere, on a clock that starts anywhere.
func readAt(at, unsure time.Duration, sent int64) engine.Reading {
	return engine.Reading{Instant: time.Hour + at, Uncertainty: unsure, CPUPercent: -1, Ports: map[int]engine.PortCounters{
		0: {Sent: units.Traffic{Packets: 1_000_000 + sent, Bytes: 64 * (1_000_000 + sent)}, LinkUp: true},
		1: {LinkUp: true},
	}}
}

const ms = time.Millisecond

func TestPace(t *testing.T) {
	tests := map[string]struct {
		asked  units.PacketRate
		sends  pieces
		count  int           // of bursts; 0 none
		paused time.Duration // before the worst
		least  int64         // frames more than due, in the worst
	}{
		"even":                                  {10 * kpps, pieces{{2 * time.Second, 10_000}}, 0, 0, 0},
		"even, and slow":                        {10 * kpps, pieces{{2 * time.Second, 4_000}}, 0, 0, 0},
		"a hundredth too fast":                  {10 * kpps, pieces{{2 * time.Second, 10_100}}, 0, 0, 0},
		"a tenth too fast for a second":         {10 * kpps, pieces{{time.Second, 10_000}, {time.Second, 11_000}}, 1, 0, 40},
		"stalls and never catches up":           {10 * kpps, pieces{{time.Second, 10_000}, {200 * ms, 0}, {time.Second, 10_000}}, 0, 0, 0},
		"stalls and catches up":                 {10 * kpps, pieces{{time.Second, 10_000}, {100 * ms, 0}, {20 * ms, 60_000}, {time.Second, 10_000}}, 1, 100 * ms, 900},
		"stalls and catches up a trifle faster": {10 * kpps, pieces{{time.Second, 10_000}, {25 * ms, 0}, {6 * time.Second, 10_040}}, 0, 0, 0},
		"twice":                                 {10 * kpps, pieces{{100 * ms, 0}, {20 * ms, 60_000}, {500 * ms, 10_000}, {100 * ms, 0}, {20 * ms, 60_000}, {time.Second, 10_000}}, 2, 100 * ms, 900},
		"within one pair of readings":           {10 * kpps, pieces{{time.Second, 10_000}, {10 * ms, 0}, {10 * ms, 20_000}, {time.Second, 10_000}}, 0, 0, 0},
		"a long stall at a low rate":            {500 * units.PacketPerSecond, pieces{{time.Second, 500}, {200 * ms, 0}, {ms, 100_000}, {time.Second, 500}}, 1, 200 * ms, 80},
		"a short stall at a high rate":          {1000 * kpps, pieces{{time.Second, 1e6}, {ms, 0}, {ms, 2e6}, {time.Second, 1e6}}, 0, 0, 0},
		"nothing is asked for":                  {0, pieces{{time.Second, 10_000}}, 0, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bursts := follow(test.sends, test.asked)
			if (len(bursts) > 0) != (test.count > 0) {
				t.Fatalf("bursts %+v, want %d", bursts, test.count)
			}
			for _, b := range bursts {
				if b.Count != test.count || b.Paused.Std() != test.paused || b.Sent-b.Due < test.least || b.Generator != "generator-0" || b.Link != "west" {
					t.Errorf("%+v (paused %s); want %d, after %s, of at least %d frames", b, b.Paused.Std(), test.count, test.paused, test.least)
				}
			}
		})
	}
}

// A stall that is longer than readings are apart is seen wherever readings fall, if it is caught up.
func TestPropertyALongStallIsAlwaysSeen(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rate := 2000 + 60_000*rnd.Float64()
		stall := 40*ms + time.Duration(rnd.IntN(200))*ms
		fast := 3 + 5*rnd.Float64()
		catch := time.Duration(float64(stall) / (fast - 1))
		before := 300*ms + time.Duration(rnd.IntN(20_000))*time.Microsecond
		sends := pieces{{before, rate}, {stall, 0}, {catch, rate * fast}, {500 * ms, rate}}
		if len(follow(sends, units.PacketRate(rate)*units.PacketPerSecond)) == 0 {
			t.Fatalf("%.0f pps, %s of silence after %s, then %.1f times as much: not seen", rate, stall, before, fast)
		}
	}
}

// An even generator is never called bursty, however its clock jitters, as long as the readings say honestly how
// uncertain they are: batches, streams that all begin at once, reading early, late, seldom.
func TestPropertyJitteredReadingsAreNoBursts(t *testing.T) {
	for seed := range uint64(tier.Times(300, 1000)) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		rate := 10 + rnd.Float64()*rnd.Float64()*2e6
		streams := 1 + rnd.IntN(40)
		setup := onePort(streams)
		pace := setup.Pace([]units.PacketRate{units.PacketRate(rate * float64(units.PacketPerSecond))})
		fast := 1 + rnd.Float64()/256
		worst := time.Duration(1 + rnd.IntN(int(20*ms)))
		var at, really time.Duration
		last := int64(0)
		for range 150 {
			unsure := time.Duration(rnd.Int64N(int64(worst)))
			at = max(at+time.Duration(rnd.IntN(int(60*ms))), really) // the server answers one request after the other
			really = max(really, at+time.Duration((2*rnd.Float64()-1)*float64(unsure)))
			batch := min(rate*0.001, 192) * rnd.Float64() // not handed over yet
			sent := int64(max(0, rate*fast*really.Seconds()-batch)) + int64(rnd.IntN(streams+1))
			last = max(last, sent)
			pace.Add([]engine.Reading{readAt(at, unsure, last)})
		}
		if bursts := burstsOf(setup, pace); len(bursts) > 0 {
			t.Fatalf("seed %d, %.0f pps, %d streams, ± %s: %+v", seed, rate, streams, worst, bursts)
		}
	}
}

func TestEachReplicasPaceIsItsOwn(t *testing.T) {
	setup, _ := twoReplicas(15000, 15000)
	setup.Directions[0].Pairs[1].Share, setup.Directions[0].Pairs[0].Share = 1, 3
	pace := setup.Pace([]units.PacketRate{20 * kpps})
	for at := time.Duration(0); at <= time.Second; at += 20 * ms {
		even, fast := int64(15_000*at.Seconds()), int64(6_000*at.Seconds()) // of 5 kpps
		pace.Add([]engine.Reading{readAt(at, 0, even), readAt(at, 0, fast)})
	}
	if bursts := burstsOf(setup, pace); len(bursts) != 1 || bursts[0].Generator != "generator-1" {
		t.Errorf("%+v, want one of the second generator", bursts)
	}
}

func TestAPortThatIsMissingOrSentBesidesIsNoBurst(t *testing.T) {
	setup := onePort(1)
	setup.Directions[0].Pairs[0].Extra = 5 * kpps
	pace := setup.Pace([]units.PacketRate{kpps})
	for at := time.Duration(0); at <= time.Second; at += 20 * ms {
		pace.Add([]engine.Reading{readAt(at, 0, int64(6_000*at.Seconds()))})
	}
	pace.Add([]engine.Reading{{Instant: 2 * time.Hour}})
	if bursts := burstsOf(setup, pace); len(bursts) != 0 {
		t.Errorf("%+v, want none", bursts)
	}
}
