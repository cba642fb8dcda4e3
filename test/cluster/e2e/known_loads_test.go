//go:build full

package e2e

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

// Loads that are given, to a router of 6 000 to 15 000 packets/s: they don't depend on it.
const (
	curve    = "procedure: {type: FrameLoss, frameLoss: {maxRate: 30kpps, minRate: 4kpps, step: 13kpps, warmupDuration: 1s, trialDuration: 5s}}"
	above    = "procedure: {type: ConstantLoad, constantLoad: {rate: 20kpps, warmupDuration: 1s, duration: 10s, window: 2s}}"
	below    = "procedure: {type: ConstantLoad, constantLoad: {rate: 4kpps, warmupDuration: 1s, duration: 10s, window: 2s}}"
	overload = "procedure: {type: MaximumOfferedLoad, maximumOfferedLoad: {warmupDuration: 1s, trialDuration: 5s, trials: 2}}"

	// slowLinks carry some 32 700 packets/s of IMIX.
	slowLinks = `
links:
- {name: west, network: default/west, lineRate: 100mbps}
- {name: east, network: default/east, lineRate: 100mbps}
`
	// metAndMissed are a demand that any router meets which is given more than it forwards, and one that none does.
	metAndMissed = `criteria: [{name: some, metric: PacketsPerSecond, min: "5000"}, {name: all, metric: LossRatio, max: 5%}]`
)

// TestKnownAnswersOfGivenLoads: what a router forwards of loads that are given is in the status, judged, and never called its limit.
func TestKnownAnswersOfGivenLoads(t *testing.T) {
	t.Run("a curve loses what the router doesn't forward", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("curve", links, router(limit), curve, metAndMissed)
		test := s.complete("curve", patience)
		s.ofGivenLoad(test, limit, "CurveMeasured", "Passed=False CriteriaNotMet", report.Passed, report.DidFail)
		s.directions(test, limit)
		s.losses(test, limit)
	})
	t.Run("a load above the limit that is held shows it", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("above", links, router(limit), above, metAndMissed)
		test := s.complete("above", patience)
		s.ofGivenLoad(test, limit, "LoadHeld", "Passed=False CriteriaNotMet", report.Passed, report.DidFail)
		s.directions(test, limit)
	})
	t.Run("a load below the limit that is held comes back, and the router may do more", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("below", links, router(limit), below, `criteria: [{name: all, metric: LossRatio, max: 0.1%}, {name: some, metric: PacketsPerSecond, min: "3900"}]`)
		test := s.complete("below", patience)
		s.ofGivenLoad(test, limit, "TargetReached", "Passed=True CriteriaMet", report.Passed, report.Passed)
		s.directions(test, 4_000)
	})
	t.Run("of all that the links carry the router forwards as much as it can", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("overload", slowLinks, router(limit), overload, metAndMissed)
		test := s.complete("overload", patience)
		s.ofGivenLoad(test, limit, "MaximumOffered", "Passed=False CriteriaNotMet", report.Passed, report.DidFail)
		s.directions(test, limit)
	})
}

// ofGivenLoad: the status has a result for this reason that claims no limit, and the criteria are judged as said, in their order.
func (s *scene) ofGivenLoad(t *lineratev1alpha1.LoadTest, limit int64, reason, passed string, criteria ...report.Outcome) {
	s.Helper()
	s.truth(t, limit)
	s.want(t, passed)
	if r := t.Status.Result; r == nil || r.Claim.Saturated || !r.Claim.Confirmed || r.Reason != reason || statustest.Total(r, lineratev1alpha1.MetricPacketsPerSecond) == nil {
		s.Fatalf("%s: want figures for the reason %s, and no limit, got %+v", t.Name, reason, r)
	}
	verdict := s.report(t).Verdict
	var got []report.Outcome
	for _, c := range verdict.Criteria {
		got = append(got, c.Outcome)
	}
	if !slices.Equal(got, criteria) {
		s.Errorf("%s: the criteria are judged %q, want %q: %+v", t.Name, got, criteria, verdict.Criteria)
	}
}

// percent is a share as a status has it, and share the number behind.
func percent(share report.Number) string {
	v := share.Rat()
	if v == nil {
		return ""
	}
	return string(report.NumberOf(v.Mul(v, big.NewRat(100, 1)))) + "%"
}

func share(percent string) float64 {
	return report.Number(strings.TrimSuffix(percent, "%")).Float() / 100
}

// losses: the status has the curve, as the Report has it, and at each load the share is lost that the limit takes of what was offered, within a point.
func (s *scene) losses(t *lineratev1alpha1.LoadTest, limit int64) {
	s.Helper()
	var told, measured []string
	for _, f := range t.Status.Result.Figures {
		if f.Load == "" {
			continue
		}
		told = append(told, fmt.Sprint(f.Metric, " at ", f.Load, " from ", f.Low, " to ", statustest.High(&f)))
	}
	offered := map[string]float64{}
	r := s.report(t)
	for _, f := range r.Answer.Figures {
		if f.Direction != report.AllDirections {
			continue
		}
		if f.Metric == figures.OfferedPacketsPerSecond {
			offered[wording.Ratio(f.Load)] = f.Low.Float()
		}
		low, high := string(f.Low), string(f.High)
		if f.Metric == figures.LossRatio {
			low, high = percent(f.Low), percent(f.High)
		}
		measured = append(measured, fmt.Sprint(f.Metric, " at ", wording.Ratio(f.Load), " from ", low, " to ", high))
	}
	if len(told) != 9 || !slices.Equal(told, measured) {
		s.Errorf("%s: the status' curve is %q, the Report's %q; want three figures of each of three loads", t.Name, told, measured)
	}
	for _, f := range t.Status.Result.Figures {
		if f.Metric != string(figures.LossRatio) {
			continue
		}
		known, got := max(0, 1-float64(len(r.Answer.Directions))*float64(limit)/offered[f.Load]), share(statustest.High(&f))
		said := fmt.Sprintf("%s: of %.0f packets/s, load %s, %.2f %% are lost, %+.2f points off %.2f %%", t.Name, offered[f.Load], f.Load, 100*got, 100*(got-known), 100*known)
		s.Log(said)
		// Below the limit none is lost for it, but a node that others keep busy for a moment lets a queue overflow: no more than the limit of a clean window.
		if math.Abs(got-known) > 0.01 || known == 0 && share(f.Low) > r.Plan.Procedure.MaxLossRatio.Float() {
			s.Errorf("%s; the router forwards %d each way", said, limit)
		}
	}
}
