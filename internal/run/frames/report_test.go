package frames_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

func TestAReportHoldsTheWholeRun(t *testing.T) {
	s := scene(replicas(2), hold(5))
	s.options.Producer = "linerate test"
	rep := s.run(t)
	if rep.Version != report.Version || rep.Producer != "linerate test" || rep.Plan != &s.plan ||
		!rep.Finished.After(rep.Started) {
		t.Errorf("%s by %s, plan %p, %s to %s", rep.Version, rep.Producer, rep.Plan, rep.Started, rep.Finished)
	}
	g := rep.Generators[1]
	want := report.GeneratorPort{Link: "east", Index: 1, Name: "east", Driver: "sim", MAC: "02:00:00:00:01:01",
		NextHopMAC: "02:00:00:00:dd:01", FlowControl: "off"}
	if len(rep.Generators) != 2 || g.Name != "g1" || g.Product != "simulated generator" || g.Ports[1] != want {
		t.Errorf("generators %+v", rep.Generators)
	}
	if len(rep.LineRates) != 2 || rep.LineRates[0] != (report.LineRate{Link: "west", BitsPerSecond: 10 * units.Gbps,
		Source: "port"}) {
		t.Errorf("line rates %+v", rep.LineRates)
	}
	if len(rep.Silence) != 4 || rep.Silence[0].Duration != plan.Duration(time.Second) {
		t.Errorf("silence %+v", rep.Silence)
	}
}

// pausing has flow control on until it is claimed.
type pausing struct {
	*sim.Engine
}

func (p pausing) Describe(ctx context.Context) (engine.Description, error) {
	d, err := p.Engine.Describe(ctx)
	for i := range d.Ports {
		if !p.Claimed() {
			d.Ports[i].FlowControl = "on"
		}
	}
	return d, err
}

func TestFlowControlIsReportedAsItIsWhileTrafficFlows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scene(hold(5))
		g := frames.Generator{Name: "g0", Engine: pausing{sim.New(s.world).Generator(0)},
			PortOfLink: map[string]int{"west": 0, "east": 1}}
		rep := runner.Run(t.Context(), &s.plan, frames.New([]frames.Generator{g}, s.frames), s.options)
		for _, port := range rep.Generators[0].Ports {
			if port.FlowControl != "off" {
				t.Errorf("flow control of %s is said to be %s", port.Link, port.FlowControl)
			}
		}
	})
}

func TestSamplesAreRawAndAboutOneASecond(t *testing.T) {
	rep := scene(interrupted(20)).run(t)
	for i, s := range rep.Samples {
		if i == 0 {
			continue
		}
		previous := rep.Samples[i-1]
		if gap := s.Time - previous.Time; gap > plan.Duration(1300*time.Millisecond) {
			t.Errorf("sample %d comes %s after the one before: generators stop without a heartbeat", i, gap.Std())
		}
		if s.Directions[0].Sent.Packets < previous.Directions[0].Sent.Packets ||
			s.Directions[0].Returned.Packets > s.Directions[0].Sent.Packets {
			t.Errorf("sample %d: %+v after %+v", i, s, previous)
		}
	}
	if latest := rep.Samples[len(rep.Samples)-1]; rep.Totals[0].Sent.Packets < latest.Directions[0].Sent.Packets ||
		len(rep.Samples) < 18 {
		t.Errorf("%d samples, the last %+v, totals %+v", len(rep.Samples), latest, rep.Totals)
	}
}

func TestStraysAreReportedAndHideNothing(t *testing.T) {
	rep := scene(background(2 * units.PacketPerSecond)).run(t)
	if rep.Silence[1].PacketsPerSecond != 2 {
		t.Errorf("silence %+v", rep.Silence)
	}
	for _, w := range rep.Windows {
		if w.Quality == report.Invalid {
			t.Errorf("window %d is Invalid: %s", w.Number, w.Reason)
		}
	}
}

func TestAWindowThatIsCutShortIsKeptAsInvalid(t *testing.T) {
	rep := scene(interrupted(55), onRamp(func(r *plan.Ramp) { r.ConfirmDuration = seconds(60) })).run(t)
	latest := rep.Windows[len(rep.Windows)-1]
	if latest.Phase != report.Confirm || latest.Quality != report.Invalid ||
		latest.Directions[0].Quality != report.Invalid || latest.Directions[0].Sent.Packets == 0 {
		t.Errorf("the last window: %+v", latest)
	}
	if rep.Answer.Window == latest.Number || rep.Answer.Confirmed {
		t.Errorf("result %+v", rep.Answer)
	}
}

func TestProgressNeverGoesBack(t *testing.T) {
	var updates []runner.Progress
	s := scene(hold(10))
	s.options.Progress = func(p runner.Progress) { updates = append(updates, p) }
	s.run(t)
	phases := map[report.Phase]bool{}
	for i, p := range updates {
		phases[p.Phase] = true
		if i > 0 && (p.Percent < updates[i-1].Percent || p.Elapsed < updates[i-1].Elapsed) {
			t.Errorf("from %d %% to %d %%", updates[i-1].Percent, p.Percent)
		}
	}
	for _, phase := range []report.Phase{runner.Preparing, runner.Proving, runner.Listening, report.WarmUp,
		report.Ramping, report.Hold, report.Refine, report.Confirm, runner.Draining, runner.Ended} {
		if !phases[phase] {
			t.Errorf("%s is not told", phase)
		}
	}
	if latest := updates[len(updates)-1]; latest.Percent != 100 || latest.Window == nil {
		t.Errorf("at the end %+v", latest)
	}
	middle := updates[len(updates)/3]
	if middle.IntendedPacketsPerSecond == 0 || middle.OfferedPacketsPerSecond == 0 ||
		middle.ReceivedPacketsPerSecond == 0 || middle.Steps != 20 {
		t.Errorf("in the middle %+v", middle)
	}
}

func TestTheEstimateIsFair(t *testing.T) {
	var updates []runner.Progress
	s := scene(hold(10), toTheTop)
	s.options.Progress = func(p runner.Progress) { updates = append(updates, p) }
	rep := s.run(t)
	whole := rep.Finished.Sub(rep.Started)
	for _, p := range updates {
		if p.Phase == report.Ramping && p.Step == 10 {
			real := int(100 * p.Elapsed / whole)
			if p.Percent < real-15 || p.Percent > real+15 {
				t.Errorf("%d %% told at %d %% of the time", p.Percent, real)
			}
		}
	}
}

func TestReplicasSendTheirSharesAndStartTogether(t *testing.T) {
	s := scene(replicas(2), deviceLimit(0), target("10kpps"))
	s.world.Generators[1].ReadTakes = time.Millisecond
	s.plan.Generators[0].Ports[0].Share, s.plan.Generators[0].Ports[1].Share = 3, 3 // of four
	rep := s.run(t)
	if rep.Answer.Reason != report.TargetReached {
		t.Fatalf("%+v", rep.Answer)
	}
	for _, d := range rep.Answer.Directions {
		if d.Offered.PacketsPerSecond < 9990 || d.Offered.PacketsPerSecond > 10010 {
			t.Errorf("%s→%s offers %d", d.From, d.To, d.Offered.PacketsPerSecond)
		}
	}
	if rep.Generators[0].StartSkew != 0 || rep.Generators[1].StartSkew != 0 {
		t.Errorf("skew %s and %s", rep.Generators[0].StartSkew.Std(), rep.Generators[1].StartSkew.Std())
	}
}

func TestCriteriaMakeTheVerdict(t *testing.T) {
	rep := scene(criterion(plan.Criterion{Name: "enough", Metric: "PacketsPerSecond", Direction: "Each", Min: "9900"}),
		criterion(plan.Criterion{Name: "too much", Metric: "PacketsPerSecond", Direction: "Total",
			Min: "30000"})).run(t)
	if rep.Verdict.Outcome != report.DidFail || rep.Verdict.Criteria[0].Outcome != report.Passed {
		t.Errorf("%+v", rep.Verdict)
	}
}

func TestAPlanThatDoesNotFitItsGeneratorsIsRefused(t *testing.T) {
	for message, change := range map[string]func(*scenario){
		"the plan's generator g9 is missing":       func(s *scenario) { s.plan.Generators[0].Name = "g9" },
		"generator g0 has no port on link north":   func(s *scenario) { s.plan.Generators[0].Ports[0].Link = "north" },
		"there is nothing to measure":              func(s *scenario) { s.plan.Directions = nil },
		"neither address nor MAC of the device is": func(s *scenario) { s.plan.Links[0].DUT.Addresses = nil },
	} {
		s := scene()
		change(s)
		p := s.plan
		rep := runner.Run(t.Context(), &p, frames.New([]frames.Generator{{Name: "g0",
			Engine: sim.New(s.world).Generator(0), PortOfLink: map[string]int{"west": 0, "east": 1}}},
			frames.Options{}), runner.Options{})
		if rep.Ending != report.Failed || !strings.Contains(rep.Message, message) || rep.Answer.EvidenceText() == "" {
			t.Errorf("%s: %q; want …%s…", rep.Ending, rep.Message, message)
		}
	}
}

func TestFramesThatCameTwiceAreInTheReport(t *testing.T) {
	s := scene(replicas(2), hold(5))
	s.world.Generators[1].Numbered = map[uint32]engine.LatencyStats{9: {Sent: 500, Received: 500, Duplicate: 5,
		Dropped: 5, OutOfOrder: 1}, 3: {Sent: 10, Received: 10}}
	want := []report.Numbered{{Generator: "g1", FlowID: 3, Sent: 10, Received: 10}, {Generator: "g1", FlowID: 9,
		Sent: 500, Received: 500, Missing: 5, Twice: 5, OutOfOrder: 1}}
	if got := s.run(t).Numbered; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
