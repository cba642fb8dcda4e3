package frames_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// each procedure against the device of 10 kpps, with a load that it carries where the load is given.
var eachProcedure = map[string]option{
	"Ramp":                     func(*scenario) {},
	"Ramp of each direction":   eachDirection(0),
	"Search":                   searching("Sequential", 1, 5),
	"Soak":                     soaked(func(p *plan.Soak) { p.Duration = seconds(20) }),
	"ConstantLoad":             constantLoad("8kpps"),
	"ConstantLoad, a high one": constantLoad("12500pps"),
	"FrameLoss":                frameLoss,
	"MaximumOfferedLoad":       maximumOfferedLoad(3),
	"BackToBack":               backToBack(),
}

// forever is longer than any of these runs.
const forever = time.Hour

// cut takes links down.
func cut(start, end time.Duration, links ...int) option {
	return func(s *scenario) {
		for _, i := range links {
			s.world.Links[i].Cuts = append(s.world.Links[i].Cuts, sim.Cut{Begin: start, End: end})
		}
	}
}

// mute lets the device lose all frames of these directions, with its links up.
func mute(start, end time.Duration, directions ...int) option {
	return func(s *scenario) {
		for _, i := range directions {
			s.world.Directions[i].Device.Trouble = sim.Trouble{Begin: start, End: end, Loss: units.One}
		}
	}
}

// modest are criteria that the device meets easily as long as it is there, and that figures of a part of the
// run would meet, too.
func modest(s *scenario) {
	criterion(plan.Criterion{Name: "some", Metric: "PacketsPerSecond", Direction: "Each", Min: "1"})(s)
	criterion(plan.Criterion{Name: "few lost", Metric: "LossRatio", Direction: "Each", Max: "0.6"})(s)
}

// healthy is how long traffic of a procedure flows if nothing happens, since the world's beginning.
func healthy(t *testing.T, procedure option) (start, end time.Duration) {
	t.Helper()
	r := scene(procedure, modest).run(t)
	if r.Ending != report.Completed || r.Answer.NotHeld != "" || len(r.Interruptions) > 0 {
		t.Fatalf("with a device that stays: %s, %q, %+v", r.Ending, r.Answer.NotHeld, r.Interruptions)
	}
	first, latest := r.Windows[0], r.Windows[len(r.Windows)-1]
	return (first.Start + first.Duration).Std(), (latest.Start + latest.Duration).Std()
}

func TestADeviceThatDiesPassesInNoProcedure(t *testing.T) {
	tier.Plain(t)
	ways := map[string]func(moment time.Duration) option{
		"its ports go down for good": func(moment time.Duration) option {
			return cut(moment, forever, 0, 1)
		},
		"its ports go down for three seconds": func(moment time.Duration) option {
			return cut(moment, moment+
				3*time.Second, 0, 1)
		},
		"it loses one end": func(moment time.Duration) option {
			return cut(moment, forever, 1)
		},
		"it loses one end for four seconds": func(moment time.Duration) option {
			return cut(moment, moment+
				4*time.Second, 0)
		},
		"it renegotiates a link": func(moment time.Duration) option {
			return cut(moment, moment+
				1200*time.Millisecond, 1)
		},
		"a link blinks between two readings": func(moment time.Duration) option {
			return cut(moment, moment+
				100*time.Microsecond, 0)
		},
		"it forwards nothing more, with its links up": func(moment time.Duration) option {
			return mute(moment, forever, 0, 1)
		},
		"it restarts behind a switch, in four seconds": func(moment time.Duration) option {
			return mute(moment, moment+
				4*time.Second, 0, 1)
		},
		"it forwards nothing more in one direction": func(moment time.Duration) option {
			return mute(moment, forever, 0)
		},
	}
	moments := []int64{50, 15, 85} // in percent of the traffic's time
	for name, procedure := range eachProcedure {
		t.Run(name, func(t *testing.T) {
			start, end := healthy(t, procedure)
			for name, dies := range ways {
				for _, share := range moments[:tier.Times(1, len(moments))] {
					moment := start + time.Duration(int64(end-start)*share/100)
					r := scene(procedure, modest, dies(moment)).run(t)
					if r.Ending != report.Completed {
						t.Errorf("%s after %s: %s: %s", name, moment, r.Ending, r.Message)
					}
					if r.Verdict.Outcome == report.Passed {
						t.Errorf("%s after %s: Passed: %s\n%+v\n%s", name, moment, r.Answer.EvidenceText(), r.Verdict,
							trace(r))
					}
					if i := slices.IndexFunc(r.Answer.Figures,
						func(f report.Figure) bool { return f.Confirmed }); i >= 0 {
						t.Errorf("%s after %s: a load's figure is confirmed: %+v", name, moment, r.Answer.Figures[i])
					}
					if i := slices.IndexFunc(r.Figures, func(f report.Figure) bool { return f.Confirmed }); i >= 0 {
						t.Errorf("%s after %s: a figure is confirmed: %+v", name, moment, r.Figures[i])
					}
					if res := r.Answer; r.Ending == report.Completed && (res.NotHeld == "" || res.Saturated) {
						t.Errorf("%s after %s: %s, %q, saturated %v: %s\n%s", name, moment, res.Reason, res.NotHeld,
							res.Saturated, res.Message, trace(r))
					}
					if shown := slices.ContainsFunc(r.Figures,
						func(f report.Figure) bool { return f.ShownFor > 0 }); r.Answer.NotHeld != "" &&
						(shown || r.Answer.ShownFor > 0 || strings.Contains(r.Answer.EvidenceText(), "is shown for")) {
						t.Errorf("%s after %s: what was not held is shown for %s: %s", name, moment,
							r.Answer.ShownFor.Std(), r.Answer.EvidenceText())
					}
				}
			}
		})
	}
}

// Readings once a second may have frames before and after such a silence on both sides of it.
func TestADeviceThatForwardsNothingForLittleMoreThanASecond(t *testing.T) {
	tier.Plain(t)
	paced := onGenerator(func(g *sim.Generator) { g.Paced = true })
	for _, name := range []string{"ConstantLoad", "Ramp", "FrameLoss"} {
		for kind, configure := range map[string]option{"generators whose pace is watched": func(*scenario) {},
			"generators that keep their pace": paced} {
			start, end := healthy(t, eachProcedure[name])
			for tenths := range 10 {
				moment := (start+end)/2 + time.Duration(tenths)*100*time.Millisecond
				r := scene(eachProcedure[name], modest, configure, mute(moment, moment+1300*time.Millisecond, 0,
					1)).run(t)
				if lossy := slices.ContainsFunc(r.Windows, func(w report.Window) bool {
					return w.Start.Std() < moment && w.Start.Std()+w.Duration.Std() > moment+1300*time.Millisecond
				}); !lossy {
					continue // it was silent where nothing was sent, or no window was
				}
				if r.Verdict.Outcome == report.Passed || r.Answer.NotHeld == "" {
					t.Errorf("%s, %s, after %s: %s, %q: %s", name, kind, moment, r.Verdict.Outcome, r.Answer.NotHeld,
						r.Answer.EvidenceText())
				}
			}
		}
	}
}

// Whether the device is away in the middle of a load or a trial, at its end, over a pause, or for a few whole bursts,
// the run was not held, unless next to nothing was sent meanwhile.
func TestADeviceThatIsAwayForAWhileIsSeenInEachProcedure(t *testing.T) {
	tier.Plain(t)
	paced := onGenerator(func(g *sim.Generator) { g.Paced = true })
	for name, procedure := range eachProcedure {
		t.Run(name, func(t *testing.T) {
			start, end := healthy(t, procedure)
			outages, moments := 0, tier.Times(6, 40)
			for n := range moments {
				moment := start + (end-start)*time.Duration(moments+8*n)/time.Duration(10*moments)
				long := 1500*time.Millisecond + time.Duration(n%3)*300*time.Millisecond
				kind := []option{func(*scenario) {}, paced}[n%2]
				r := scene(procedure, modest, kind, mute(moment, moment+long, 0, 1)).run(t)
				if sentMeanwhile(r, moment, moment+long) < 700*time.Millisecond && !wholeTrial(r, moment, moment+long) {
					continue
				}
				outages++
				confirmed := slices.ContainsFunc(r.Figures, func(f report.Figure) bool { return f.Confirmed })
				if r.Verdict.Outcome == report.Passed || r.Ending == report.Completed && (r.Answer.NotHeld == "" ||
					r.Answer.Saturated) || confirmed {
					t.Errorf("away for %s after %s: %s, %s, %q, saturated %v, a figure is confirmed: %v: %s", long,
						moment, r.Verdict.Outcome, r.Answer.Reason, r.Answer.NotHeld, r.Answer.Saturated, confirmed,
						r.Answer.EvidenceText())
				}
			}
			if outages == 0 {
				t.Error("the device was away only while nothing was sent")
			}
		})
	}
}

// A generator begins 0.2 s after it is asked to, as the software engine does. The first reading then had nothing
// sent, and the second was a second later. Frames seemed to be under way for that long, and a device that was away
// for 1.5 s from the end of a trial on was given a limit. So was one that was away for a second, as the lost frames
// of the trial before the pause did not count.
func TestADeviceThatIsAwayIsSeenThoughItsGeneratorBeginsLater(t *testing.T) {
	tier.Plain(t)
	late := onGenerator(func(g *sim.Generator) { g.Paced, g.StartTakes = true, 200*time.Millisecond })
	search := searching(plan.ClassifySequential, 1, 5)
	start, _ := healthy(t, search)
	outages := 0
	for n := range tier.Times(6, 100) {
		for _, away := range []time.Duration{time.Second, 1500 * time.Millisecond} {
			// the highest load is over, of which nothing may come back
			moment := start + 2600*time.Millisecond + time.Duration(n)*30*time.Millisecond
			r := scene(search, late, mute(moment, moment+away, 0, 1)).run(t)
			if sentMeanwhile(r, moment, moment+away) < 50*time.Millisecond {
				continue
			}
			outages++
			if r.Answer.NotHeld == "" || r.Answer.Saturated {
				t.Errorf("away for %s after %s: %s, %q: %s", away, moment, r.Answer.Reason, r.Answer.NotHeld,
					r.Answer.EvidenceText())
			}
		}
	}
	if outages == 0 {
		t.Error("the device was away only while nothing was sent")
	}
}

// sentMeanwhile is for how long frames were sent between two moments.
func sentMeanwhile(r *report.Report, start, end time.Duration) (total time.Duration) {
	for _, w := range r.Windows {
		total += max(0, min(end, (w.Start+w.Duration).Std())-max(start, w.Start.Std()))
	}
	return total
}

// wholeTrial says that a trial began and ended between two moments.
func wholeTrial(r *report.Report, start, end time.Duration) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool {
		return w.Took > 0 && w.Start.Std() > start && (w.Start+w.Duration).Std() < end
	})
}

// A hold counts all that was lost of its load, so a demand for less loss fails, and isn't left open.
func TestALoadThatAMuteDeviceLostFailsItsDemand(t *testing.T) {
	nothingLost := criterion(plan.Criterion{Name: "nothing is lost", Metric: "LossRatio", Direction: "Each",
		Max: "0.001"})
	start, end := healthy(t, constantLoad("8kpps"))
	for name, recovery := range map[string]time.Duration{"for good": forever, "for three seconds": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			away := (start + end) / 2
			r := scene(constantLoad("8kpps"), nothingLost, mute(away, away+recovery, 0, 1)).run(t)
			if r.Verdict.Outcome != report.DidFail || r.Answer.NotHeld == "" || r.Answer.Confirmed {
				t.Errorf("%s, %q, confirmed %v\n%s", r.Verdict.Outcome, r.Answer.NotHeld, r.Answer.Confirmed, trace(r))
			}
		})
	}
}

// The frames that came back meanwhile show no limit from which to step up by widths. A search took 1,129 trials that
// way.
func TestASearchGoesOnInLargeStepsAfterADeviceWasAway(t *testing.T) {
	search := searching(plan.ClassifySequential, 1, 5)
	start, end := healthy(t, search)
	moment := start + (end-start)*15/100
	calm := scene(search).run(t)
	if r := scene(search, mute(moment, moment+2*time.Second, 0, 1)).run(t); len(r.Windows) > 4*len(calm.Windows) {
		t.Errorf("%d trials, and %d of a device that stays", len(r.Windows), len(calm.Windows))
	}
}
