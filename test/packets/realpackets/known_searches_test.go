//go:build full

package realpackets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// searchedDevice is a device whose limits the search doesn't know, and how it is searched.
type searchedDevice struct {
	name     string
	ports    [2]impaired.Impairment
	each     bool
	oneWay   bool
	inKernel bool
	min, max string // minRate (100pps where it is empty) and maxRate
	noNDR    bool   // the device loses frames of every load, more than the first goal allows
	// finds are the directions whose limit has to be found on a calm machine, of both goals; others may be lower bounds.
	finds []string
}

func searchedDevices() []searchedDevice {
	both := func(limit int64) [2]impaired.Impairment {
		return [2]impaired.Impairment{{Limit: limit, Saves: savesUp}, {Limit: limit, Saves: savesUp}}
	}
	leaky := both(10_000)
	leaky[0].LoseOneIn, leaky[1].LoseOneIn = 500, 500
	asymmetric := both(12_000)
	asymmetric[1].Limit = 5_000
	all := []string{there, back}
	return []searchedDevice{
		{name: "3 000", ports: both(3_000), max: "10kpps", finds: all},
		{name: "20 000", ports: both(20_000), max: "60kpps", finds: all},
		{name: "60 000", ports: both(60_000), max: "100kpps", inKernel: true, finds: all},
		{name: "300 000, one way", ports: both(300_000), max: "400kpps", inKernel: true, oneWay: true, finds: []string{there}},
		{name: "loses 1 in 500 of any load", ports: leaky, min: "2kpps", max: "30kpps", noNDR: true, finds: all},
		{name: "12 000 there, 5 000 back", ports: asymmetric, max: "30kpps", finds: []string{back}},
		{name: "12 000 there, 5 000 back, each by itself", ports: asymmetric, max: "30kpps", each: true, finds: all},
	}
}

func (d searchedDevice) yaml(classification string) string {
	directions, vary := "", ""
	if d.oneWay {
		directions = ", directions: [{from: west, to: east}]"
	}
	if d.each {
		vary = "directions: Each, "
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: searched}
spec:
  dut: {type: Device, forwarding: L2}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64%s}
  procedure: {%stype: Search, search: {classification: %s, minRate: %s, maxRate: %s, warmupDuration: 1s}}
`, directions, vary, classification, cmp.Or(d.min, "100pps"), d.max)
}

// TestKnownAnswersOfSearches: what a search says of each goal is true of a device whose limit it doesn't know: bounds that enclose it, a bound that is true, or why there is none. A row that isn't
// so is in the table, too, with how calm the machine was.
func TestKnownAnswersOfSearches(t *testing.T) {
	type search struct {
		searchedDevice
		classification string
	}
	var searches []search
	for _, d := range searchedDevices() {
		for _, classification := range []string{plan.ClassifyRFC9971, plan.ClassifySequential} {
			searches = append(searches, search{d, classification})
		}
	}
	knownAnswers{section: "searches", right: "as they should be",
		columns: []string{"it forwards", "classified by", "what is said of it", "outcome", "took", "machine"},
	}.run(t, namesOf(searches, func(s search) string { return s.name + ", " + s.classification }), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		s, begun := searches[i], time.Now()
		rep, said := s.measure(t, s.classification)
		faults, missing := s.held(rep, said)
		if rep != nil {
			said = rep.Answer.EvidenceText()
		}
		return knownAnswer{report: rep, faults: faults, missing: missing, took: time.Since(begun),
			cells: []string{s.name, s.classification, strings.ReplaceAll(said, "|", "\\|")}}
	})
}

// measure searches the device; without a Report it says why there is none.
func (d searchedDevice) measure(t *testing.T, classification string) (rep *report.Report, why string) {
	t.Helper()
	r := newRig(t, 2)
	r.impair(t, impaired.Spec{Ports: d.ports, InKernel: d.inKernel})
	got := r.call(t, "run", writeFile(t, "test.yaml", d.yaml(classification)), "-o", "json", "--save", "", "--ports", r.portList())
	rep = new(report.Report)
	if err := json.Unmarshal([]byte(got.stdout), rep); err != nil {
		return nil, fmt.Sprintf("exit code %d, and no Report: %s", got.code, strings.TrimSpace(got.stderr))
	}
	t.Logf("%s %s", rep.Message, rep.Answer.EvidenceText())
	for _, w := range rep.Windows {
		if w.Quality == report.Invalid {
			t.Logf("window %d says nothing: %s", w.Number, w.Reason)
		}
	}
	return rep, ""
}

// held holds each goal's claims to what the device forwards: faults are claims that aren't so, missing what had to be found and wasn't.
//
//	R × (1 − 0.5 %) / (1 − goal's loss) ≤ bounds ≤ R × (1 + what it saves up in a trial of 1 s) / (1 − goal's loss)
func (d searchedDevice) held(r *report.Report, why string) (faults, missing []string) {
	if r == nil || r.Ending != report.Completed || len(r.Answer.Goals) != 2 {
		return []string{"there is no whole answer: " + why}, nil
	}
	for i, loss := range []float64{0, 0.005} {
		g := r.Answer.Goals[i]
		if d.noNDR && i == 0 {
			if lower, _, irregular := reporttest.Bounds(r, g.Name); g.Answer.Measured || lower != 0 || !irregular {
				faults = append(faults, fmt.Sprintf("%s: the device loses frames of any load, and it is met at %.0f, measured %t", g.Name, lower, g.Answer.Measured))
			}
			continue
		}
		for name, limit := range d.limits() {
			at := slices.IndexFunc(g.Answer.Directions, func(m report.Direction) bool { return truth.Direction(m.From, m.To) == name })
			if at < 0 {
				missing = append(missing, fmt.Sprintf("%s, %s: no answer", g.Name, name))
				continue
			}
			m := g.Answer.Directions[at]
			least, most := limit*0.995/(1-loss)*0.995, limit*(1+savesUp.Seconds())/(1-loss)*1.001
			if met := float64(m.Intended.PacketsPerSecond); met > most {
				faults = append(faults, fmt.Sprintf("%s, %s: met at %.0f, and the device forwards %.0f", g.Name, name, met, limit))
			}
			switch {
			case m.Limit != nil && m.Limit.Saturated && float64(m.Intended.PacketsPerSecond) < least:
				faults = append(faults, fmt.Sprintf("%s, %s: a limit at %d, and the device forwards %.0f", g.Name, name, m.Intended.PacketsPerSecond, limit))
			case m.Limit != nil && m.Limit.Reason == report.OtherDirection && d.alike() && float64(m.Intended.PacketsPerSecond) >= least:
				// Directions of one limit climb together, and chance decides whether both are seen to lose more than the goal allows near the bound.
			case (m.Limit == nil || !m.Limit.Saturated) && slices.Contains(d.finds, name):
				missing = append(missing, fmt.Sprintf("%s, %s: the limit isn't found", g.Name, name))
			}
		}
	}
	return faults, missing
}

// alike says that directions of the same limit are given the same loads.
func (d searchedDevice) alike() bool { return !d.each && d.ports[0].Limit == d.ports[1].Limit }

// limits are what the device forwards in each direction.
func (d searchedDevice) limits() map[string]float64 {
	limits := map[string]float64{there: float64(d.ports[0].Limit)}
	if !d.oneWay {
		limits[back] = float64(d.ports[1].Limit)
	}
	return limits
}
