package compatibility

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// compared is what comparisons of old Reports say now, and said. Medians are compared by bounds of their own since then, and runs by the middles of their brackets, as ranks were wrong more often
// than was told where one side spreads more than the other (docs/statistics.md). Outcomes are what they were; how much a change is, and what encloses it, is reckoned anew.
var compared = []struct{ is, was string }{
	{"difference is claimed only where the runs show it, by medians and their bounds, with 95 %\nconfidence.", "difference is told only where the runs show it, by ranks alone, with 95 % confidence at least."},
	{"is claimed only where the runs show it, by medians and their bounds, with 95 % confidence.", "is told only where the runs show it, by ranks alone, with 95 % confidence at least."},
	{"more runs won't\n  help: the generator was the limit", "more runs won't\n  tell: the generator was the limit"},
	{"so no difference can be shown: the generator", "so that no difference can be told: the generator"},
	{"(95.0 % interval: 3.17 to 4.43 % less)", "(96.8 % interval: 2.89 to 4.70 % less)"},
	{"(95.0 %\n  interval: 3.17 to 4.43 % less)", "(96.8 %\n  interval: 2.89 to 4.70 % less)"},
	{`"percent": "-3.8642508"`, `"percent": "-3.8642507"`},
	{`"lowPercent": "-4.4259387"`, `"lowPercent": "-4.7014397"`},
	{`"highPercent": "-3.1685944"`, `"highPercent": "-2.8934692"`},
	{`"confidencePercent": "95"`, `"confidencePercent": "96.8253968"`},
	{"30.08 % less,", "30.00 % less,"},
	{"0.11 % less, at\n  most 2 % less allowed: too few", "0.00 % more, at\n  most 2 % less allowed: too few"},
	{"0.14 % less (95.0 % interval: 1.34 % less to 0.81 % more)", "0.27 % less (95.0 % interval: 1.38 % less to 0.85 % more)"},
	{"0.14 % less (95.0 % interval: 1.33 % less to 0.81 % more)", "0.27 % less (95.0 % interval: 1.38 % less to 0.85 % more)"},
	{"4.03 % less (95.0 % interval: 3.12 to 5.18 % less)", "4.16 % less (95.0 % interval: 3.08 to 5.23 % less)"},
	{"4.04 % less (95.0 % interval: 3.13 to 5.18 % less)", "4.16 % less (95.0 % interval: 3.08 to 5.23 % less)"},
}

// asComparedBefore is a text with comparisons in the words that they had.
func asComparedBefore(text string) string {
	for _, c := range compared {
		text = strings.ReplaceAll(text, c.is, c.was)
	}
	return text
}

// asJudgedBefore is a criterion's result in the words that it had, and without what is told of it since: the chance by which several are judged together.
func asJudgedBefore(c report.CriterionResult) report.CriterionResult {
	c.Message, c.Chance = asComparedBefore(c.Message), 0
	return c
}

// Each of these sentences must appear, or the list would hide an unintended change.
func TestChangedSentencesOfComparisonsAreListed(t *testing.T) {
	said := ""
	for _, r := range append(reports(t, "slower-than-its-baseline"), reports(t, "as-fast-as-its-baseline")...) {
		for _, c := range r.Verdict.Criteria {
			said += c.Message
		}
	}
	said += string(read(t, "answers.txtar"))
	for _, c := range compared {
		if !strings.Contains(said, c.was) {
			t.Errorf("no old release said %q", c.was)
		}
	}
}
