package measure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// early is a trial of 60 s at 10 kpps each way, west to east and back, that was read each 100 ms, until after it
// was stopped. What was returned lags by 10 ms.
type early struct {
	lostEast, lostWest float64       // shares of what was sent from west to east, and back
	sentFor            time.Duration // from 50 ms after the first reading on
	pace               float64       // of the rate asked for; 0: 1
	above              units.Ratio
	varied             string
	uncertainty        time.Duration
	drops              int64 // of the generator, on east
}

const lag = 10 * time.Millisecond

func (e early) setup() measure.Setup {
	mix := units.Traffic{Packets: 1, Bytes: 64}
	return measure.Setup{Generators: []string{"g0"}, Directions: []measure.Direction{
		{From: "west", To: "east", Mix: mix, Pairs: []measure.Pair{{Generator: 0, Send: 0, Receive: 1}}},
		{From: "east", To: "west", Mix: mix, Pairs: []measure.Pair{{Generator: 0, Send: 1, Receive: 0}}},
	}}
}

// span is the trial: until a moment after the first reading while it runs, or to its end where that is 0.
func (e early) span(until time.Duration) measure.Span {
	if e.pace == 0 {
		e.pace = 1
	}
	s := measure.Span{Sending: e.sentFor, Intended: []units.PacketRate{10 * kpps, 10 * kpps}, Varied: e.varied, Readings: make([][]engine.Reading, 1),
		Stopped: &measure.Stop{Planned: time.Minute, Limit: e.above}}
	end := until
	if until == 0 {
		end = 50*time.Millisecond + e.sentFor + 500*time.Millisecond
	} else {
		s.Sending = until - 50*time.Millisecond
	}
	for at := time.Duration(0); at <= end; at += 100 * time.Millisecond {
		sent := func(at time.Duration) float64 {
			return e.pace * 10_000 * min(max(0, at-50*time.Millisecond), e.sentFor).Seconds()
		}
		port := func(lost float64) engine.PortCounters {
			out, back := int64(sent(at)), int64(sent(at-lag)*(1-lost)+1e-6)
			return engine.PortCounters{Sent: units.Traffic{Packets: out, Bytes: 64 * out}, Received: units.Traffic{Packets: back, Bytes: 64 * back}, LinkUp: true, PauseFrames: -1}
		}
		r := engine.Reading{Instant: time.Hour + at, Uncertainty: e.uncertainty, CPUPercent: -1, Ports: map[int]engine.PortCounters{0: port(e.lostWest), 1: port(e.lostEast)}}
		if e.drops > 0 && at > 0 {
			east := r.Ports[1]
			east.ReceiveErrors = e.drops
			r.Ports[1] = east
		}
		s.Readings[0] = append(s.Readings[0], r)
	}
	return s
}

func TestWhenATrialIsDecided(t *testing.T) {
	const never = time.Duration(0)
	for name, c := range map[string]struct {
		early
		flight time.Duration
		at     time.Duration // since the first reading
	}{
		"nothing is lost":                                  {early{}, 50 * time.Millisecond, never},
		"all that is missing may be on its way":            {early{lostEast: 0.01}, 2 * time.Second, never},
		"half is lost":                                     {early{lostEast: 0.5}, 50 * time.Millisecond, 200 * time.Millisecond},
		"a hundredth is lost, and more may be on its way":  {early{lostEast: 0.01}, 20 * time.Millisecond, 1100 * time.Millisecond},
		"a hundredth of all that is planned may be lost":   {early{lostEast: 0.5, above: units.One / 100}, 20 * time.Millisecond, 1300 * time.Millisecond},
		"the way back loses it":                            {early{lostWest: 0.5}, 50 * time.Millisecond, 200 * time.Millisecond},
		"the direction that loses isn't judged":            {early{lostWest: 0.5, varied: "west→east"}, 50 * time.Millisecond, never},
		"the generator dropped as many":                    {early{lostEast: 0.01, drops: 500}, 50 * time.Millisecond, never},
		"the generator is too slow":                        {early{lostEast: 0.5, pace: 0.9}, 50 * time.Millisecond, never},
		"nothing comes back":                               {early{lostEast: 1, lostWest: 1}, 50 * time.Millisecond, never},
		"one direction is silent, and the other one loses": {early{lostEast: 1, lostWest: 0.5}, 50 * time.Millisecond, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			c.sentFor = time.Minute
			at := never
			for until := 100 * time.Millisecond; until <= 4*time.Second && at == never; until += 100 * time.Millisecond {
				if c.setup().Decided(c.span(until), c.flight) {
					at = until
				}
			}
			if at != c.at {
				t.Errorf("decided after %s, want %s", at, c.at)
			}
		})
	}
}

func TestATrialThatWasEndedBeforeItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		early
		limit    units.Ratio
		want     [2]report.Quality
		worst    report.Quality
		says     string
		least    string // lost of what was planned from west to east
		offered  int64
		duration time.Duration
	}{
		"for what one direction lost": {early{sentFor: 930 * time.Millisecond, lostEast: 0.5}, 0, [2]report.Quality{report.Lossy, report.Unjudged}, report.Lossy,
			"4650 of 9300 frames did not come back: 50 % lost; ended after 930ms of 1m0s, as that is more of the 600000 frames planned than the limit of 0 %", "0.00775", 10_000, 930 * time.Millisecond},
		"for what both lost": {early{sentFor: 930 * time.Millisecond, lostEast: 0.5, lostWest: 0.5}, 0, [2]report.Quality{report.Lossy, report.Lossy}, report.Lossy, "", "0.00775", 10_000, 930 * time.Millisecond},
		"and is judged by a goal that allows as much in all": {early{sentFor: 930 * time.Millisecond, lostEast: 0.5}, units.One / 100, [2]report.Quality{report.Invalid, report.Invalid}, report.Invalid,
			"when more than 0 % of its frames seemed lost, which shows nothing for a limit of 1 %: 4650 of 9300", "0.00775", 10_000, 930 * time.Millisecond},
		"for frames that came back": {early{sentFor: 930 * time.Millisecond}, 0, [2]report.Quality{report.Invalid, report.Invalid}, report.Invalid,
			"seemed lost, which shows nothing for a limit of 0 %: all 9300 frames came back", "0", 10_000, 930 * time.Millisecond},
		"beside one that was held": {early{sentFor: 930 * time.Millisecond, lostEast: 0.5, varied: "west→east"}, 0, [2]report.Quality{report.Lossy, report.Unjudged}, report.Lossy, "", "0.00775", 10_000, 930 * time.Millisecond},
		"of readings whose times are unsure": {early{sentFor: 930 * time.Millisecond, lostEast: 0.5, uncertainty: 5 * time.Millisecond, pace: 0.995}, 0, [2]report.Quality{report.Lossy, report.Unjudged},
			report.Lossy, "", "0.007711666", 10_000, 925300 * time.Microsecond},
		"of a generator that surely was too slow": {early{sentFor: 930 * time.Millisecond, lostEast: 0.5, uncertainty: 5 * time.Millisecond, pace: 0.9}, 0, [2]report.Quality{report.Lossy, report.Unjudged},
			report.Lossy, "", "0.006975", 9112, 918500 * time.Microsecond},
		"after so short a time that readings don't show its rate": {early{sentFor: 120 * time.Millisecond, lostEast: 0.5}, 0, [2]report.Quality{report.Lossy, report.Unjudged}, report.Lossy, "", "0.001", 10_000,
			120 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			w := measure.Judge(c.setup().Window(c.span(0)), measure.Goal{MaxLossRatio: c.limit})
			if w.Quality != c.worst || w.Directions[0].Quality != c.want[0] || w.Directions[1].Quality != c.want[1] || !strings.Contains(w.Reason, c.says) {
				t.Errorf("%s (%s and %s): %s", w.Quality, w.Directions[0].Quality, w.Directions[1].Quality, w.Reason)
			}
			if d := w.Decided; d == nil || d.Planned.Std() != time.Minute || d.Duration != w.Duration || (w.Duration.Std()-c.duration).Abs() > time.Millisecond {
				t.Errorf("%+v, %s; want %s", w.Decided, w.Duration.Std(), c.duration)
			}
			m := w.Directions[0]
			if least := measure.LeastLossOfPlanned(w, 0); least.String() != c.least || measure.SurelyAbove(w, 0, c.limit) != (m.Quality == report.Lossy) {
				t.Errorf("%s of what was planned is lost at least, want %s", least, c.least)
			}
			if m.Offered.PacketsPerSecond/20 != c.offered/20 || m.EdgeFrames != 0 {
				t.Errorf("offered %d, want %d; edges %d", m.Offered.PacketsPerSecond, c.offered, m.EdgeFrames)
			}
		})
	}
}

// A trial that was ended is judged anew by any goal, from what is kept of it: a stricter one may find the second
// direction's loss, too.
func TestADecidedTrialIsJudgedByOtherGoals(t *testing.T) {
	e := early{sentFor: 930 * time.Millisecond, lostEast: 0.5, lostWest: 0.01, above: units.One / 200}
	w := measure.Judge(e.setup().Window(e.span(0)), measure.Goal{MaxLossRatio: e.above})
	if w.Directions[0].Quality != report.Lossy || w.Directions[1].Quality != report.Unjudged || !strings.Contains(w.Directions[1].Reason, "not judged, as the trial was ended after 930ms of 1m0s for what another direction lost") {
		t.Fatalf("%s, %s: %s", w.Quality, w.Directions[1].Quality, w.Directions[1].Reason)
	}
	for limit, want := range map[units.Ratio]report.Quality{0: report.Lossy, e.above: report.Unjudged, units.One / 100: report.Invalid} {
		counted, err := measure.Recall(w)
		if err != nil {
			t.Fatal(err)
		}
		if again := measure.Judge(counted, measure.Goal{MaxLossRatio: limit}); again.Directions[1].Quality != want {
			t.Errorf("by a limit of %s east→west is %s, want %s: %s", limit, again.Directions[1].Quality, want, again.Directions[1].Reason)
		}
	}
}

func TestHowLongFramesAreOnTheirWay(t *testing.T) {
	for name, c := range map[string]struct {
		early
		want  time.Duration
		known bool
	}{
		"all came back":     {early{sentFor: 2 * time.Second}, lag, true},
		"some were lost":    {early{sentFor: 2 * time.Second, lostEast: 0.1}, lag, true},
		"nothing came back": {early{sentFor: 2 * time.Second, lostEast: 1}, 0, false},
		"nothing was sent":  {early{}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, known := c.setup().Flight(c.span(0)); (got-c.want).Abs() > time.Millisecond || known != c.known {
				t.Errorf("%s, %v; want %s, %v", got, known, c.want, c.known)
			}
		})
	}
}
