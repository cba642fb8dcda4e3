package compile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// ndrAndPDR are the default goals of a search, as CSIT publishes them.
var ndrAndPDR = []v1alpha1.SearchGoal{{Name: "NDR", LossRatio: "0"}, {Name: "PDR", LossRatio: "0.005"}}

// presets are standards' goals, as in draft-ietf-bmwg-mlrsearch (section Compliance), but for TST009's
// durationSum, which is 120 s there: one bad trial with its drain is more than half of that, and would decide a
// load alone that two or three trials are to decide. Of 130 s it is less than half, unless drains take 5 s or
// more.
var presets = map[v1alpha1.SearchPreset]v1alpha1.SearchGoal{
	v1alpha1.PresetRFC2544: {Name: "RFC2544", LossRatio: "0", FinalTrialDuration: "60s", DurationSum: "60s",
		ExceedRatio: "0%"},
	v1alpha1.PresetTST009: {Name: "TST009", LossRatio: "0", FinalTrialDuration: "60s", DurationSum: "130s",
		ExceedRatio: "50%"},
}

// rateRange is the ratio of the highest load to the default lowest load of a search.
const rateRange = 1000

// searchWithDefaults fills in a search's goals, from its preset where it has one, and the defaults that a spec
// lacks which no API server has seen.
func searchWithDefaults(spec v1alpha1.SearchSpec) v1alpha1.SearchSpec {
	spec.Classification = cmp.Or(spec.Classification, v1alpha1.ClassifyRFC9971)
	spec.MaxRate = cmp.Or(spec.MaxRate, "100%")
	spec.WarmupDuration = cmp.Or(spec.WarmupDuration, "5s")
	if preset, known := presets[spec.Preset]; known {
		spec.Goals = []v1alpha1.SearchGoal{preset}
	}
	if len(spec.Goals) == 0 {
		spec.Goals = ndrAndPDR
	}
	spec.Goals = slices.Clone(spec.Goals)
	for i := range spec.Goals {
		g := &spec.Goals[i]
		g.LossRatio, g.ExceedRatio, g.Width = cmp.Or(g.LossRatio, "0"), cmp.Or(g.ExceedRatio, "50%"), cmp.Or(g.Width, "0.5%")
		g.FinalTrialDuration, g.DurationSum = cmp.Or(g.FinalTrialDuration, "1s"), cmp.Or(g.DurationSum, "21s")
	}
	return spec
}

// leastMicros is the default lowest load of a search, in millionths of its unit; in packets it is at least one
// per second, unless the highest load is less.
func leastMicros(most units.Rate) int64 {
	const packet = 1_000_000
	least := max(1, most.Micros/rateRange)
	if most.Kind == units.Packets && most.Micros > packet {
		return max(least, packet)
	}
	return least
}

func (m member) search(spec v1alpha1.SearchSpec) *plan.Search {
	s := &plan.Search{
		Classification: string(spec.Classification),
		Preset:         string(spec.Preset),
		MaxRate:        m.rate("maxRate", spec.MaxRate),
		WarmupDuration: m.duration("warmupDuration", v1alpha1.Duration(spec.WarmupDuration)),
	}
	if s.MinRate = (units.Rate{Kind: s.MaxRate.Kind, Micros: leastMicros(s.MaxRate)}); spec.MinRate != "" {
		s.MinRate = m.rate("minRate", spec.MinRate)
	}
	for i, g := range spec.Goals {
		goal := member{m.refusals, fmt.Sprintf("search.goals[%d]", i)}
		s.Goals = append(s.Goals, plan.Goal{
			Name:               g.Name,
			LossRatio:          m.ratio(goal.path("lossRatio"), string(g.LossRatio)),
			FinalTrialDuration: goal.duration("finalTrialDuration", v1alpha1.Duration(g.FinalTrialDuration)),
			DurationSum:        goal.duration("durationSum", v1alpha1.Duration(g.DurationSum)),
			ExceedRatio:        m.ratio(goal.path("exceedRatio"), string(g.ExceedRatio)),
			Width:              m.ratio(goal.path("width"), string(g.Width)),
		})
	}
	m.checkSearch(spec, s)
	return s
}

// checkSearch refuses what the schema can't: bounds that leave nothing to search, and goals that are the same.
func (m member) checkSearch(spec v1alpha1.SearchSpec, s *plan.Search) {
	// in one unit: the schema has a rule for that
	if !s.MinRate.IsZero() && !s.MaxRate.IsZero() && s.MinRate.Micros >= s.MaxRate.Micros {
		m.refuse(m.path("minRate"), spec.MinRate, fmt.Sprintf("the search is between minRate and maxRate: make minRate "+
			"less than %s, or maxRate more than %s", s.MaxRate, s.MinRate))
	}
	for i, g := range s.Goals {
		if g.LossRatio >= units.One {
			m.refuse(m.path("goals").Index(i).Child("lossRatio"), spec.Goals[i].LossRatio,
				"a trial that may lose all its frames meets the goal at any load: make lossRatio less than 1")
		}
		for _, before := range s.Goals[:i] {
			if before.LossRatio == g.LossRatio && before.ExceedRatio == g.ExceedRatio &&
				before.FinalTrialDuration == g.FinalTrialDuration && before.DurationSum == g.DurationSum &&
				before.Width == g.Width {
				m.refuse(m.path("goals").Index(i), g.Name, fmt.Sprintf("the goal asks for the same as %s: remove it, or give it "+
					"another lossRatio, exceedRatio, width or duration", before.Name))
			}
		}
	}
}
