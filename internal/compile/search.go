package compile

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// ndrAndPDR are the default goals of a search, as CSIT publishes them.
var ndrAndPDR = []v1alpha1.SearchGoal{
	{Name: "NDR", LossRatio: "0%", FinalTrialDuration: "1s", DurationSum: "21s", ExceedRatio: "50%", Width: "0.5%"},
	{Name: "PDR", LossRatio: "0.5%", FinalTrialDuration: "1s", DurationSum: "21s", ExceedRatio: "50%", Width: "0.5%"},
}

// presets are standards' goals, as in draft-ietf-bmwg-mlrsearch (section Compliance), but for TST009's durationSum,
// which is 120 s there. One bad trial with its drain is more than half of that, and would decide a load alone that two
// or three trials are to decide. Of 130 s it is less than half, unless drains take 5 s or more.
var presets = map[v1alpha1.SearchPreset]v1alpha1.SearchGoal{
	v1alpha1.PresetRFC2544: {Name: "RFC2544", LossRatio: "0%", FinalTrialDuration: "60s", DurationSum: "60s",
		ExceedRatio: "0%", Width: "0.5%"},
	v1alpha1.PresetTST009: {Name: "TST009", LossRatio: "0%", FinalTrialDuration: "60s", DurationSum: "130s",
		ExceedRatio: "50%", Width: "0.5%"},
}

// rateRange is the ratio of the highest load to the default lowest load of a search. A device of 50 packets/s on a link
// of 10 Gb/s lies within the range.
const rateRange = 1_000_000

// searchWithDefaults fills in the defaults of a missing member, and a search's goals, from its preset where it has one.
func searchWithDefaults(spec v1alpha1.SearchSpec) v1alpha1.SearchSpec {
	if spec.MaxRate == "" {
		spec.Classification, spec.MaxRate, spec.WarmupDuration = v1alpha1.ClassifyRFC9971, "100%", "5s"
	}
	if preset, found := presets[spec.Preset]; found {
		spec.Goals = []v1alpha1.SearchGoal{preset}
	}
	if len(spec.Goals) == 0 {
		spec.Goals = ndrAndPDR
	}
	return spec
}

// leastMicros is the default lowest load of a search, in millionths of its unit. In packets it is at least one per
// second, unless the highest load is less.
func leastMicros(highest units.Rate) int64 {
	const packet = 1_000_000
	lowest := max(1, highest.Micros/rateRange)
	if highest.Kind == units.Packets && highest.Micros > packet {
		return max(lowest, packet)
	}
	return lowest
}

func (m member) search(spec v1alpha1.SearchSpec) *plan.Search {
	m.refuseIf(spec.Preset != "" && len(spec.Goals) > 0, m.path("preset"), spec.Preset,
		"a preset is a set of goals: remove preset, or goals")
	spec = searchWithDefaults(spec)
	s := &plan.Search{
		Classification: string(spec.Classification),
		Preset:         string(spec.Preset),
		MaxRate:        m.rate("maxRate", spec.MaxRate),
		WarmupDuration: m.duration("warmupDuration", spec.WarmupDuration),
	}
	if s.MinRate = (units.Rate{Kind: s.MaxRate.Kind, Micros: leastMicros(s.MaxRate)}); spec.MinRate != "" {
		s.MinRate = m.rate("minRate", spec.MinRate)
	}
	for i, g := range spec.Goals {
		goal := member{m.refusals, fmt.Sprintf("search.goals[%d]", i)}
		s.Goals = append(s.Goals, plan.Goal{
			Name:               g.Name,
			LossRatio:          m.share(goal.path("lossRatio"), g.LossRatio),
			FinalTrialDuration: goal.duration("finalTrialDuration", g.FinalTrialDuration),
			DurationSum: goal.duration("durationSum",
				unlessGiven(g.DurationSum, max(21*time.Second, spanOf(g.FinalTrialDuration)))),
			ExceedRatio: m.share(goal.path("exceedRatio"), g.ExceedRatio),
			Width:       m.share(goal.path("width"), g.Width),
		})
	}
	m.checkSearch(spec, s)
	return s
}

// checkRange refuses a range of rates that has two units, or nothing between its ends. A rate that can't be read was
// refused. what lies in the range begins the sentence.
func (m member) checkRange(written v1alpha1.Rate, lowest, highest units.Rate, subject string) {
	switch {
	case lowest.IsZero() || highest.IsZero():
	case lowest.Kind != highest.Kind:
		m.refuse(m.path("minRate"), written, "minRate and maxRate must be in one unit, such as 1kpps and 2mpps")
	case lowest.Micros >= highest.Micros:
		m.refusef(m.path("minRate"), written,
			"%s between minRate and maxRate: make minRate less than %s, or maxRate more than %s", subject, highest, lowest)
	}
}

// checkSearch refuses what the schema can't, which is bounds that leave nothing to search, and goals that are the same.
func (m member) checkSearch(spec v1alpha1.SearchSpec, s *plan.Search) {
	m.checkRange(spec.MinRate, s.MinRate, s.MaxRate, "the search is")
	for i, g := range s.Goals {
		if g.DurationSum < g.FinalTrialDuration {
			m.refuse(m.path("goals").Index(i).Child("durationSum"), spec.Goals[i].DurationSum,
				"durationSum must be at least finalTrialDuration: one trial, or more")
		}
		if g.LossRatio >= units.One {
			m.refuse(m.path("goals").Index(i).Child("lossRatio"), spec.Goals[i].LossRatio,
				"a trial that may lose all its frames meets the goal at any load: make lossRatio less than 100%")
		}
		for _, earlier := range s.Goals[:i] {
			if earlier.LossRatio == g.LossRatio && earlier.ExceedRatio == g.ExceedRatio &&
				earlier.FinalTrialDuration == g.FinalTrialDuration && earlier.DurationSum == g.DurationSum &&
				earlier.Width == g.Width {
				m.refusef(m.path("goals").Index(i), g.Name,
					"the goal asks for the same as %s: remove it, or give it another lossRatio, exceedRatio, width "+
						"or duration", earlier.Name)
			}
		}
	}
}
