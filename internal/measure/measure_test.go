package measure_test

import (
	"cmp"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// counted is what one direction's ports counted within a window of 1.5 s at 10 kpps, 64-byte frames: port 0 sends,
// port 1 receives.
type counted struct {
	sent, returned int64
	drops          int64 // at the receiving port
	took           time.Duration
	uncertainty    time.Duration // of each edge
	intended       units.PacketRate
	background     units.PacketRate
	strays         units.PacketRate
	limit          units.Ratio                     // 0: a thousandth
	change         func(readings []engine.Reading) // what else happened
	planned        time.Duration
}

const (
	kpps     = 1000 * units.PacketPerSecond
	perMille = units.One / 1000
)

func (c counted) window() report.Window {
	setup, span := c.prepare()
	return measure.Judge(setup.Window(span), measure.Goal{MaxLossRatio: cmp.Or(c.limit, perMille)})
}

// judged is what a span is worth where one frame of a thousand may be lost.
func judged(s measure.Setup, span measure.Span) report.Window {
	return measure.Judge(s.Window(span), measure.Goal{MaxLossRatio: perMille})
}

func (c counted) prepare() (measure.Setup, measure.Span) {
	if c.took == 0 {
		c.took = 1500 * time.Millisecond
	}
	if c.intended == 0 {
		c.intended = 10 * kpps
	}
	if c.planned == 0 {
		c.planned = 1500 * time.Millisecond
	}
	setup := measure.Setup{Directions: []measure.Direction{{From: "west", To: "east", Mix: units.Traffic{Packets: 1, Bytes: 64},
		LineRate: 10 * units.Gbps, Background: c.background, Strays: c.strays, Pairs: []measure.Pair{{Generator: 0, Send: 0, Receive: 1}}}}}
	readings := []engine.Reading{c.reading(0), c.reading(0.5), c.reading(1)}
	if c.change != nil {
		c.change(readings)
	}
	return setup, measure.Span{Readings: [][]engine.Reading{readings}, Planned: c.planned, Intended: []units.PacketRate{c.intended}}
}

// reading is the counters after a part of the window. They start anywhere.
func (c counted) reading(part float64) engine.Reading {
	after := func(start, n int64) units.Traffic {
		packets := start + int64(part*float64(n))
		return units.Traffic{Packets: packets, Bytes: packets * 64}
	}
	return engine.Reading{Instant: time.Hour + time.Duration(part*float64(c.took)), Uncertainty: c.uncertainty, CPUPercent: 40 * part, Ports: map[int]engine.PortCounters{
		0: {Sent: after(1_000_000, c.sent), LinkUp: true, PauseFrames: -1},
		1: {Received: after(5_000_000, c.returned), ReceiveErrors: 70 + int64(part*float64(c.drops)), LinkUp: true, PauseFrames: 3},
	}}
}

func TestQuality(t *testing.T) {
	tests := map[string]struct {
		counted
		want report.Quality
		says string
	}{
		"all came back":                                  {counted{sent: 15000, returned: 15000}, report.Good, "all 15000 frames came back"},
		"loss at the limit is within it":                 {counted{sent: 15000, returned: 14985}, report.Good, "15 of 15000 frames did not come back: 0.1 % lost, limit 0.1 %"},
		"one frame over the limit may be cut by an edge": {counted{sent: 15000, returned: 14984}, report.Invalid, "the window's edges alone may account for 2"},
		"loss above the limit and what edges explain":    {counted{sent: 15000, returned: 14982}, report.Lossy, "18 of 15000"},
		"all lost":                                            {counted{sent: 15000, returned: 0}, report.Lossy, "100 % lost"},
		"a little more came back than was sent":               {counted{sent: 15000, returned: 15002}, report.Good, "all 15000"},
		"much more came back than was sent":                   {counted{sent: 15000, returned: 15100}, report.Invalid, "100 frames more came back than the 15000 sent"},
		"one of few frames lost is no proof of anything":      {counted{sent: 150, returned: 149, intended: units.PacketPerSecond * 100}, report.Good, "edges alone may account for them: at most 3 may be lost"},
		"none of few frames lost":                             {counted{sent: 150, returned: 150, intended: units.PacketPerSecond * 100}, report.Good, "all 150"},
		"many of few frames lost":                             {counted{sent: 150, returned: 140, intended: units.PacketPerSecond * 100}, report.Lossy, "10 of 150"},
		"a late reading explains loss":                        {counted{sent: 15000, returned: 14950, uncertainty: 5 * time.Millisecond}, report.Good, "account for them: at most 252 may be lost"},
		"a late reading leaves open what it does not explain": {counted{sent: 15000, returned: 14790, uncertainty: 5 * time.Millisecond}, report.Invalid, "account for 202"},
		"a late reading doesn't explain more than its time":   {counted{sent: 15000, returned: 14750, uncertainty: 5 * time.Millisecond}, report.Lossy, "1.6667 % lost"},
		"a late reading explains that more came back":         {counted{sent: 15000, returned: 15050, uncertainty: 5 * time.Millisecond}, report.Good, ""},
		"the generator dropped all that is missing":           {counted{sent: 15000, returned: 14000, drops: 1000}, report.Invalid, "the generator itself dropped 1000"},
		"the generator dropped part of what is missing":       {counted{sent: 15000, returned: 14000, drops: 500}, report.Lossy, "1000 of 15000"},
		"the generator dropped more than what is missing":     {counted{sent: 15000, returned: 14900, drops: 500}, report.Invalid, "the generator itself dropped 500"},
		"the generator's drops are within the limit":          {counted{sent: 15000, returned: 14990, drops: 10}, report.Good, ""},
		"frames that came back damaged are the device's loss": {counted{sent: 15000, returned: 14000, change: func(r []engine.Reading) {
			edit(r[2:], 1, func(p *engine.PortCounters) { p.Damaged = 900 })
		}}, report.Lossy, "1000 of 15000 frames did not come back: 6.6667 % lost (900 came back damaged), limit 0.1 %"},
		"damaged frames don't make room for the generator's drops": {counted{sent: 15000, returned: 14000, drops: 500, change: func(r []engine.Reading) {
			edit(r[2:], 1, func(p *engine.PortCounters) { p.Damaged = 500 })
		}}, report.Lossy, "(500 came back damaged)"},
		"frames that never left are not the device's loss": {counted{sent: 15000, returned: 14000, change: func(r []engine.Reading) {
			edit(r[2:], 0, func(p *engine.PortCounters) { p.SendDrops = 1000 })
		}}, report.Invalid, "up to 1000 of those that its port counted as sent never left the generator, and the window's edges alone may account for 2"},
		"within the edges, frames that never left are no clean window": {counted{sent: 15000, returned: 14998, limit: 1, change: func(r []engine.Reading) {
			edit(r[2:], 0, func(p *engine.PortCounters) { p.SendDrops = 1 })
		}}, report.Invalid, "up to 1 of those that its port counted as sent never left the generator, and the window's edges alone may account for 2"},
		"more than never left is the device's": {counted{sent: 15000, returned: 14000, change: func(r []engine.Reading) {
			edit(r[2:], 0, func(p *engine.PortCounters) { p.SendDrops = 500 })
		}}, report.Lossy, "1000 of 15000"},
		"pause frames that the generator sent": {counted{sent: 15000, returned: 14000, change: func(r []engine.Reading) {
			edit(r[2:], 1, func(p *engine.PortCounters) { p.PauseFramesSent = 4 })
		}}, report.Invalid, "east: the generator's port sent 4 pause frames, as it had no room for what came, and held the device up"},
		"offered one percent less is still enough":           {counted{sent: 14850, returned: 14850}, report.Good, ""},
		"offered less than that is short":                    {counted{sent: 14800, returned: 14800}, report.Short, "the generator offered 9.87 kpps of 10.00 kpps asked for"},
		"short by less than the readings' times are sure of": {counted{sent: 14800, returned: 14800, uncertainty: 5 * time.Millisecond}, report.Good, ""},
		"short and lossy is the device's loss":               {counted{sent: 13000, returned: 12000}, report.Lossy, "the generator offered 8.67 kpps"},
		"nothing sent":                                       {counted{}, report.Invalid, "sent nothing of the 10.00 kpps"},
		"no loss is allowed and there is none":               {counted{sent: 15000, returned: 15000, limit: 1}, report.Good, ""},
		"background traffic that may hide loss":              {counted{sent: 15000, returned: 15000, background: 100 * units.PacketPerSecond}, report.Invalid, "background traffic of 100.00 pps on east"},
		"background traffic that hides next to nothing":      {counted{sent: 15000, returned: 15000, background: units.PacketPerSecond}, report.Good, ""},
		"strays may come back besides":                       {counted{sent: 15000, returned: 15020, strays: 2 * units.PacketPerSecond}, report.Good, ""},
		"more than strays came back besides":                 {counted{sent: 15000, returned: 15021, strays: 2 * units.PacketPerSecond}, report.Invalid, "21 frames more"},
		"counters that are read late while all was offered":  {counted{sent: 24000, returned: 24000, took: 2400 * time.Millisecond}, report.Good, ""},
		"counters that are read late while less was offered": {counted{sent: 20000, returned: 20000, took: 2400 * time.Millisecond}, report.Invalid,
			"lasted 2.4s instead of 1.5s: generator or runner was held up"},
		"counters that are read so late that a generator may have stopped": {counted{sent: 170000, returned: 170000, took: 17 * time.Second}, report.Invalid, "nothing was read for 8.5s"},
		"a window that was shorter than planned":                           {counted{sent: 12000, returned: 12000, took: 1200 * time.Millisecond}, report.Invalid, "lasted 1.2s instead of 1.5s"},
		"a link went down and came back": {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { edit(r[2:], 1, func(p *engine.PortCounters) { p.LinkFlaps = 2 }) }},
			report.Invalid, "east: the link changed its state 2 times"},
		"a link is down in between": {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { edit(r[1:2], 0, func(p *engine.PortCounters) { p.LinkUp = false }) }},
			report.Invalid, "west: the link was down"},
		"counters that go backwards": {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { edit(r[1:2], 0, func(p *engine.PortCounters) { p.Sent.Packets = 5 }) }},
			report.Invalid, "went backwards"},
		"what came damaged goes backwards": {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { edit(r[:1], 1, func(p *engine.PortCounters) { p.Damaged = 5 }) }},
			report.Invalid, "went backwards"},
		"what never left goes backwards": {counted{sent: 15000, returned: 14983, uncertainty: time.Millisecond, change: func(r []engine.Reading) { edit(r[:1], 0, func(p *engine.PortCounters) { p.SendDrops = 500 }) }},
			report.Invalid, "went backwards"},
		"pause frames": {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { edit(r[2:], 1, func(p *engine.PortCounters) { p.PauseFrames = 9 }) }},
			report.Invalid, "6 pause frames came"},
		"a clock that stands still": {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { r[2].Instant = r[0].Instant }}, report.Invalid, "clock"},
		"a port is missing":         {counted{sent: 15000, returned: 15000, change: func(r []engine.Reading) { delete(r[1].Ports, 1) }}, report.Invalid, "port 1 is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := test.window()
			if w.Quality != test.want || !strings.Contains(w.Reason, test.says) {
				t.Errorf("%s: %s; want %s: …%s…", w.Quality, w.Reason, test.want, test.says)
			}
		})
	}
}

func edit(readings []engine.Reading, port int, change func(*engine.PortCounters)) {
	for _, r := range readings {
		p := r.Ports[port]
		change(&p)
		r.Ports[port] = p
	}
}

func TestAWindowsFigures(t *testing.T) {
	w := counted{sent: 15000, returned: 14970, drops: 5, intended: 10 * kpps}.window()
	d := w.Directions[0]
	want := report.Direction{From: "west", To: "east",
		Intended:  report.Flow{PacketsPerSecond: 10000, Layer1BitsPerSecond: 6_720_000, Layer2BitsPerSecond: 5_120_000},
		Offered:   report.Flow{PacketsPerSecond: 10000, Layer1BitsPerSecond: 6_720_000, Layer2BitsPerSecond: 5_120_000},
		Received:  report.Flow{PacketsPerSecond: 9980, Layer1BitsPerSecond: 6_706_560, Layer2BitsPerSecond: 5_109_760},
		Sent:      units.Traffic{Packets: 15000, Bytes: 960_000},
		Returned:  units.Traffic{Packets: 14970, Bytes: 958_080},
		LossRatio: 2_000_000, LossRatioMin: 1_533_333, LossRatioMax: 2_133_334, ReceiveErrors: 5, EdgeFrames: 2, LineRatePercent: 670_656, Quality: report.Lossy, Reason: d.Reason}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	if w.Duration != plan.Duration(1500*time.Millisecond) || w.GeneratorCPUPercent != 40 {
		t.Errorf("duration %s, CPU %v", w.Duration.Std(), w.GeneratorCPUPercent)
	}
}

func TestEachReplicaIsMeasuredOverItsOwnTime(t *testing.T) {
	setup, span := counted{sent: 15000, returned: 15000, intended: 20 * kpps}.prepare()
	_, slow := counted{sent: 16000, returned: 16000, took: 1600 * time.Millisecond}.prepare()
	setup.Directions[0].Pairs = append(setup.Directions[0].Pairs, measure.Pair{Generator: 1, Send: 0, Receiver: 1, Receive: 1})
	span.Readings = append(span.Readings, slow.Readings[0])
	w := judged(setup, span)
	if got := w.Directions[0]; got.Offered.PacketsPerSecond != 20000 || got.Sent.Packets != 31000 || w.Quality != report.Good {
		t.Errorf("%s %s: offered %d, sent %d; want the sum of the rates, 20000, and of the counters, 31000", w.Quality, w.Reason, got.Offered.PacketsPerSecond, got.Sent.Packets)
	}
}

func TestTheWorstDirectionIsTheWindows(t *testing.T) {
	setup, span := counted{sent: 15000, returned: 15000}.prepare()
	back := setup.Directions[0]
	back.From, back.To, back.Pairs = "east", "west", []measure.Pair{{Generator: 0, Send: 2, Receive: 3}}
	setup.Directions = append(setup.Directions, back)
	span.Intended = append(span.Intended, 10*kpps)
	_, lossy := counted{sent: 15000, returned: 10000}.prepare()
	for i, r := range span.Readings[0] {
		r.Ports[2], r.Ports[3] = lossy.Readings[0][i].Ports[0], lossy.Readings[0][i].Ports[1]
	}
	w := judged(setup, span)
	if w.Quality != report.Lossy || w.Directions[0].Quality != report.Good || !strings.HasPrefix(w.Reason, "east→west: 5000 of 15000") {
		t.Errorf("%s: %s", w.Quality, w.Reason)
	}
}

func TestUnreadableEdgesAreInvalidAndKeepWhatWasIntended(t *testing.T) {
	setup, span := counted{sent: 15000, returned: 15000}.prepare()
	for name, readings := range map[string][][]engine.Reading{"none": nil, "one": {span.Readings[0][:1]}} {
		span.Readings = readings
		w := judged(setup, span)
		if w.Quality != report.Invalid || w.Directions[0].Intended.PacketsPerSecond != 10000 || !strings.Contains(w.Reason, "could not be read") {
			t.Errorf("%s readings: %s: %s", name, w.Quality, w.Reason)
		}
	}
}

func TestTheSumOfDirections(t *testing.T) {
	a := counted{sent: 15000, returned: 15000}.window().Directions[0]
	b := counted{sent: 15000, returned: 12000}.window().Directions[0]
	b.From, b.To = "east", "west"
	s := measure.Sum([]report.Direction{a, b}, map[string]units.BitRate{"east": units.Gbps, "west": units.Gbps})
	if most := units.Ratio(3004) * units.One / 30000; s.LossRatioMax < most || s.LossRatioMax > most+1 || s.MostLost() != s.LossRatioMax {
		t.Errorf("up to %s may be lost of all, want %s: 3000 frames, and 2 at the edges of each direction", s.LossRatioMax, most)
	}
	if s.Received.PacketsPerSecond != 18000 || s.LossRatio != units.One/10 || s.LineRatePercent.String() != "0.6048" {
		t.Errorf("%+v", s)
	}
	if s := measure.Sum([]report.Direction{a, b}, map[string]units.BitRate{"east": units.Gbps}); s.LineRatePercent != 0 {
		t.Errorf("a share of an unknown line rate: %s", s.LineRatePercent)
	}
	if s := measure.Sum([]report.Direction{a}, map[string]units.BitRate{"east": 10 * units.Gbps, "west": units.Gbps}); s.LineRatePercent != a.LineRatePercent {
		t.Errorf("a direction's share of the line that it comes out of: %s, want %s", s.LineRatePercent, a.LineRatePercent)
	}
}

func TestTheLeastLossIsSurelyTheDevices(t *testing.T) {
	for name, test := range map[string]struct {
		counted
		want units.Ratio
	}{
		"without drops and edges": {counted{sent: 15000, returned: 14498, drops: 200}, 300 * units.One / 15000},
		"without what never left": {counted{sent: 15000, returned: 14498, change: func(r []engine.Reading) {
			edit(r[2:], 0, func(p *engine.PortCounters) { p.SendDrops = 200 })
		}}, 300 * units.One / 15000},
		"nothing is left of the edges":     {counted{sent: 15000, returned: 14998}, 0},
		"nothing is left of drops":         {counted{sent: 15000, returned: 14900, drops: 500}, 0},
		"never more than all that is lost": {counted{sent: 15000, returned: 15015}, -15 * units.One / 15000},
	} {
		t.Run(name, func(t *testing.T) {
			d := test.window().Directions[0]
			if d.LossRatioMin != test.want {
				t.Errorf("at least %s, want %s", d.LossRatioMin, test.want)
			}
			other := counted{sent: 15000, returned: 15000}.window().Directions[0]
			if s := measure.Sum([]report.Direction{d, other}, nil); s.LossRatioMin != test.want/2 {
				t.Errorf("of both directions at least %s, want %s", s.LossRatioMin, test.want/2)
			}
		})
	}
}

// Of 1000 frames 200 are missing, of which the generator itself dropped 100, and frames of others may have taken
// the place of more.
func TestWhatTheGeneratorDroppedIsNoPartOfTheMostLoss(t *testing.T) {
	w := report.Window{Directions: []report.Direction{{Quality: report.Lossy, Sent: units.Traffic{Packets: 1000}, Returned: units.Traffic{Packets: 800}, SendDrops: 10, ReceiveErrors: 90}}}
	for hidden, want := range map[int64]int64{0: 100, 300: 400, 2000: 900} {
		w.Evidence = &report.Evidence{Directions: []report.DirectionEvidence{{Hidden: hidden}}}
		if surely, most := measure.LossBetween(w, 0, units.One/1000); surely != 100 || most != want {
			t.Errorf("%d hidden: %d to %d, want 100 to %d", hidden, surely, most, want)
		}
	}
}

func TestFramesAreAsLongAsEthernetHasThem(t *testing.T) {
	short, long := stream.Stream{Enabled: true}, stream.Stream{Enabled: true}
	short.Packet.Binary, long.Packet.Binary = make([]byte, 42), make([]byte, 1514)
	if got, want := measure.SizesOf([]stream.Stream{short, long}, measure.Sizes{}), (measure.Sizes{Shortest: 64, Longest: 1518}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// FuzzQuality: whatever the counters say, Good never has more loss than the limit but where the window's edges
// alone may account for all of it, and Lossy never less than the device's own.
func FuzzQuality(f *testing.F) {
	f.Add(int64(15000), int64(14980), int64(3), int64(1000), int64(5))
	f.Add(int64(15004), int64(15002), int64(0), int64(1154), int64(71)) // two frames that the edges may have cut
	f.Fuzz(func(t *testing.T, sent, returned, drops, limit, micros int64) {
		bound := func(v, most int64) int64 { return max(v, -v, 0) % most }
		c := counted{sent: bound(sent, 1<<33), returned: bound(returned, 1<<33), drops: bound(drops, 1<<30), limit: units.Ratio(1 + bound(limit, int64(units.One))),
			uncertainty: time.Duration(bound(micros, 1e5)) * time.Microsecond, intended: units.PacketRate(1)}
		w := c.window()
		lost := float64(c.sent - c.returned)
		allowed := c.limit.Float() * float64(c.sent)
		switch w.Quality {
		case report.Good, report.Short:
			if lost > allowed+1e-6*allowed && (lost > float64(w.Directions[0].EdgeFrames) || c.drops > 0) {
				t.Errorf("%s with %v lost, %v allowed: %s", w.Quality, lost, allowed, w.Reason)
			}
		case report.Lossy:
			if lost-float64(c.drops) <= allowed {
				t.Errorf("Lossy with %v lost, %d dropped by the generator, %v allowed: %s", lost, c.drops, allowed, w.Reason)
			}
		case report.Invalid, report.Unjudged:
		}
		if w.Reason == "" {
			t.Error("no reason")
		}
	})
}

// twoReplicas is one direction through two replicas: each sent 15000 frames, and got back so many.
func twoReplicas(back0, back1 int64) (measure.Setup, measure.Span) {
	setup, span := counted{sent: 15000, returned: back0}.prepare()
	_, other := counted{sent: 15000, returned: back1}.prepare()
	setup.Generators = []string{"generator-0", "generator-1"}
	setup.Directions[0].Pairs = append(setup.Directions[0].Pairs, measure.Pair{Generator: 1, Send: 0, Receiver: 1, Receive: 1})
	span.Readings, span.Intended = append(span.Readings, other.Readings[0]), []units.PacketRate{20 * kpps}
	return setup, span
}

func TestFramesThatCameBackToAnotherReplica(t *testing.T) {
	tests := map[string]struct {
		back0, back1 int64
		want         report.Quality
		says         string
	}{
		"each got its own":                           {15000, 15000, report.Good, "all 30000 frames"},
		"a few cut by the edges say nothing":         {14990, 15010, report.Good, "all 30000 frames"},
		"many are misdelivered, though none is lost": {14000, 16000, report.Invalid, "1000 frames more came back to generator generator-1 than the 15000 it sent"},
		"loss is the device's also then":             {10000, 16000, report.Lossy, "4000 of 30000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			setup, span := twoReplicas(tt.back0, tt.back1)
			w := judged(setup, span)
			if w.Quality != tt.want || !strings.Contains(w.Reason, tt.says) {
				t.Errorf("%s: %s", w.Quality, w.Reason)
			}
		})
	}
}

func TestAReplicaOnTwoMachines(t *testing.T) {
	// apart is how much longer the receiver's window is: frames of that time may be on either side of the edge.
	window := func(returned int64, apart time.Duration) report.Window {
		setup, span := counted{sent: 15000, returned: 0}.prepare()
		_, back := counted{sent: 0, returned: returned, took: 1500*time.Millisecond + apart}.prepare()
		setup.Generators = []string{"generator-0-west", "generator-0-east"}
		setup.Directions[0].Pairs = []measure.Pair{{Generator: 0, Send: 0, Receiver: 1, Receive: 1}}
		span.Readings = append(span.Readings, back.Readings[0])
		return judged(setup, span)
	}
	t.Run("each end is counted over its own time", func(t *testing.T) {
		w := window(15100, 10*time.Millisecond)
		d := w.Directions[0]
		if w.Quality != report.Good || d.Offered.PacketsPerSecond != 10000 || d.Received.PacketsPerSecond != 10000 {
			t.Errorf("%s: %s, offered %d, received %d", w.Quality, w.Reason, d.Offered.PacketsPerSecond, d.Received.PacketsPerSecond)
		}
	})
	t.Run("the difference of the two times is not called loss", func(t *testing.T) {
		if w := window(14900, -10*time.Millisecond); w.Quality != report.Good || !strings.Contains(w.Reason, "edges alone may account for them: at most 202 may be lost") {
			t.Errorf("%s: %s", w.Quality, w.Reason)
		}
	})
	t.Run("more missing than that is loss", func(t *testing.T) {
		if w := window(14000, -10*time.Millisecond); w.Quality != report.Lossy {
			t.Errorf("%s: %s", w.Quality, w.Reason)
		}
	})
	t.Run("a receiver that was restarted voids the window", func(t *testing.T) {
		if w := window(14000, -1600*time.Millisecond); w.Quality != report.Invalid || !strings.Contains(w.Reason, "clock went from") {
			t.Errorf("%s: %s", w.Quality, w.Reason)
		}
	})
}
