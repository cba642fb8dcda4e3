//go:build trex

package realtrex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// near is how far a figure may be from the truth, as a share of it.
const near = 0.01

// answer is what a Report says of a question, held against the device.
type answer struct {
	said    []string // by direction, goal or load
	worst   float64  // how far a figure is off
	faults  []string // claims that aren't so
	missing []string // figures that aren't there, or are bounds further off than near
	excused bool     // the Report says that generator or machine was too weak for a figure
}

func (a *answer) add(off float64, format string, values ...any) {
	a.said = append(a.said, fmt.Sprintf(format, values...))
	if math.Abs(off) > math.Abs(a.worst) {
		a.worst = off
	}
}

func (a *answer) miss(format string, values ...any) {
	a.missing = append(a.missing, fmt.Sprintf(format, values...))
}

// judge holds the Report against what only the bench knows.
func (q asked) judge(r *report.Report, saves bool) *answer {
	a := &answer{}
	device := truth.Device{Limits: map[string]int64{}, Burst: q.saves}
	for _, d := range r.Plan.Directions {
		device.Limits[truth.Direction(d.From, d.To)] = q.limit
	}
	if q.deep && saves {
		device.Holds = q.saves
	}
	a.faults = device.Faults(r)
	a.excused = r.Answer.Reason == report.GeneratorLimited || slices.ContainsFunc(r.Windows, func(w report.Window) bool { return w.Disturbance != nil })
	if r.Ending != report.Completed {
		a.said = []string{fmt.Sprintf("%s: %s", r.Ending, r.Message)}
		return a
	}
	switch {
	case q.delayed:
		q.latencies(r, a)
	case len(r.Answer.Goals) > 0:
		for _, g := range r.Answer.Goals {
			view, _ := r.ForGoal(g.Name)
			q.limits(view, a, g.Name+" ", g.Name)
		}
	case slices.Contains([]string{"", plan.TypeRamp}, r.Plan.Procedure.Type):
		q.limits(r, a, "", "")
	case q.deep:
		q.buffers(r, a, saves)
	case r.Plan.Procedure.Type == plan.TypeSoak:
		q.critical(r, a)
	default:
		q.loads(r, a)
	}
	return a
}

// limits are what a search says of each direction.
func (q asked) limits(r *report.Report, a *answer, prefix, goal string) {
	if !r.Answer.Measured {
		a.add(0, "%sno figure: %s", prefix, r.Answer.Reason)
		a.miss("%s%s", prefix, r.Answer.EvidenceText())
		return
	}
	for _, m := range r.Answer.Directions {
		i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
			return f.Metric == figures.PacketsPerSecond && f.Direction == m.Name() && f.Goal == goal && f.Load == 0
		})
		if i < 0 {
			a.miss("%s%s: no figure", prefix, m.Name())
			continue
		}
		f, off := r.Figures[i], q.offLimit(m.Received.PacketsPerSecond, r.Plan.Procedure)
		if f.High == "" {
			a.add(off, "%s≥ %.0f (%s)", prefix, f.Low.Float(), f.Reason)
		} else {
			a.add(off, "%s%.0f to %.0f", prefix, f.Low.Float(), f.High.Float())
		}
		if math.Abs(off) > near {
			a.miss("%s%s: %d is %+.2f %% off", prefix, m.Name(), m.Received.PacketsPerSecond, 100*off)
		}
	}
}

// loads are what came back of each load that was given.
func (q asked) loads(r *report.Report, a *answer) {
	all := r.Answer.Directions
	if r.Plan.Procedure.Type == plan.TypeFrameLoss {
		all = nil
		for _, w := range r.Windows {
			if w.Phase == report.Trial && w.Counts() {
				all = append(all, w.Directions...)
			}
		}
		if want := ports * (1 + int((r.Plan.Procedure.FrameLoss.MaxRate.Micros-r.Plan.Procedure.FrameLoss.MinRate.Micros-1)/r.Plan.Procedure.FrameLoss.Step.Micros) + 1); len(all) < want {
			a.miss("%d of %d loads and directions have a figure", len(all), want)
		}
	}
	if len(all) == 0 {
		a.miss("no figure: %s", r.Answer.EvidenceText())
	}
	for _, m := range all {
		back := min(float64(m.Offered.PacketsPerSecond), float64(q.limit))
		off := float64(m.Received.PacketsPerSecond)/back - 1
		if back == float64(q.limit) {
			off = q.offLimit(m.Received.PacketsPerSecond, r.Plan.Procedure)
		}
		a.add(off, "%d → %d", m.Offered.PacketsPerSecond, m.Received.PacketsPerSecond)
		if math.Abs(off) > near {
			a.miss("%s: of %d packets/s %d came back, and the device forwards %.0f", m.Name(), m.Offered.PacketsPerSecond, m.Received.PacketsPerSecond, back)
		}
		if m.UnderOffered() && r.Plan.Procedure.Type != plan.TypeMaximumOfferedLoad {
			a.miss("%s: %d packets/s were offered of %d", m.Name(), m.Offered.PacketsPerSecond, m.Intended.PacketsPerSecond)
		}
	}
}

// offLimit is how far what came back of a load above the limit is off what the device returns of it.
func (q asked) offLimit(packetsPerSecond int64, p plan.Procedure) float64 {
	came, limit := float64(packetsPerSecond), float64(q.limit)
	return min(0, came/limit-1) + max(0, came/(limit+q.savedUp(p))-1)
}

// savedUp is how many packets/s come back of a trial besides the limit: the device saved them up before it, and the limit's rate is known to a whole packet.
func (q asked) savedUp(p plan.Procedure) float64 {
	lasts := time.Duration(0)
	switch p.Type {
	case plan.TypeFrameLoss:
		lasts = p.FrameLoss.TrialDuration.Std()
	case plan.TypeMaximumOfferedLoad:
		lasts = p.MaximumOfferedLoad.TrialDuration.Std()
	case plan.TypeSearch:
		lasts = p.Search.Goals[0].FinalTrialDuration.Std()
	}
	if lasts == 0 {
		return 0
	}
	return 1 + float64(bucket(q.limit, q.saves))/lasts.Seconds()
}

// buffers are the frames that bursts show the device to hold.
func (q asked) buffers(r *report.Report, a *answer, known bool) {
	for _, m := range r.Answer.Directions {
		buffer, found := m.OwnFigure(procedure.BufferFrames)
		if !found || buffer.Low == "" {
			a.miss("%s: bursts show nothing: %s", m.Name(), r.Answer.EvidenceText())
			continue
		}
		if buffer.High == "" {
			a.miss("%s: no burst lost frames", m.Name())
			continue
		}
		if !known {
			a.add(0, "holds %.0f to %.0f", buffer.Low.Float(), buffer.High.Float())
			continue
		}
		holds := float64(bucket(q.limit, q.saves))
		off := (buffer.Low.Float()+buffer.High.Float())/2/holds - 1
		a.add(off, "holds %.0f to %.0f (%.0f)", buffer.Low.Float(), buffer.High.Float(), holds)
		if math.Abs(off)*holds > near*holds+2 {
			a.miss("%s: the device holds %.0f frames", m.Name(), holds)
		}
	}
}

func (q asked) critical(r *report.Report, a *answer) {
	for _, m := range r.Answer.Directions {
		c := m.Estimate
		switch {
		case c == nil:
			a.miss("%s: no critical load: %s", m.Name(), r.Answer.EvidenceText())
		case c.PacketsPerSecond == "":
			a.add(0, "from %s to %s", c.Low, c.High)
			a.miss("%s: an end of the critical load's interval is unknown", m.Name())
		default:
			off := c.PacketsPerSecond.Float()/float64(q.limit) - 1
			a.add(off, "%.0f (%.0f to %.0f)", c.PacketsPerSecond.Float(), c.Low.Float(), c.High.Float())
			if math.Abs(off) > near {
				a.miss("%s: the critical load is %+.2f %% off", m.Name(), 100*off)
			}
		}
	}
	if len(r.Answer.Directions) == 0 {
		a.miss("no figure: %s", r.Answer.EvidenceText())
	}
}

// latencies are the medians of how long frames were under way, where the device holds each for a known time.
func (q asked) latencies(r *report.Report, a *answer) {
	medians := figures.Latencies(r, figures.LatencyMetrics[0])
	if len(medians) == 0 {
		a.miss("no latency: %s", r.Answer.EvidenceText())
	}
	for _, f := range medians {
		if f.Missing != "" {
			a.miss("%s at %v: %s", f.Direction, *f.LatencyLoad, f.Missing)
			continue
		}
		took := time.Duration(cmp.Or(f.High, f.Low).Float())
		if q.delay == 0 {
			a.add(0, "%v at %.0f %%", took, 100*f.LatencyLoad.Float())
			continue
		}
		off := float64(took)/float64(q.delay) - 1
		a.add(off, "%v at %.0f %% (%v)", took, 100*f.LatencyLoad.Float(), q.delay)
		switch {
		case took < q.delay:
			a.faults = append(a.faults, fmt.Sprintf("%s: half of the frames are said to come within %v, and the device holds each for %v", f.Direction, took, q.delay))
		case off > near:
			a.miss("%s: the median is %+.2f %% off", f.Direction, 100*off)
		}
	}
}

// beyondLoad is how many frames besides the counted ones may cross the device in a run: ARP, and marked frames of the path's proof that are counted nowhere.
const beyondLoad = 300

// counted holds the Report's totals against the device's own counters.
func counted(r *report.Report, before, after [ports]counters) (said string, faults []string) {
	var texts []string
	for _, total := range r.Totals {
		from := slices.IndexFunc(r.Plan.Links, func(l plan.Link) bool { return l.Name == total.From })
		if from < 0 {
			continue
		}
		proof := report.Repeats{}
		for _, p := range r.Path {
			if p.From == total.From && p.To == total.To {
				proof.Sent, proof.Received = p.Sent, p.Received
				if p.Repeats != nil {
					proof.Sent, proof.Received = proof.Sent+p.Repeats.Sent, proof.Received+p.Repeats.Received
				}
			}
		}
		came, left := after[from].received-before[from].received-int64(proof.Sent), after[1-from].sent-before[1-from].sent-int64(proof.Received)
		sent, back := total.Sent.Packets, total.Returned.Packets+total.ReceiveErrors
		texts = append(texts, fmt.Sprintf("%d came (%d), %d left (%d)", came, sent, left, back))
		if more := came - sent; more < 0 || more > beyondLoad {
			faults = append(faults, fmt.Sprintf("%s→%s: %d frames were sent by the Report, and %d came by the device", total.From, total.To, sent, came))
		}
		if more := left - back; more < 0 || more > beyondLoad {
			faults = append(faults, fmt.Sprintf("%s→%s: %d frames came back by the Report, and %d left by the device", total.From, total.To, back, left))
		}
	}
	return strings.Join(texts, "<br>"), faults
}
