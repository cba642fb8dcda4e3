package history_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units"
)

// inLab is a run on a node, through a driver, under a kernel; empty: it isn't known.
func inLab(node, driver, kernel string) option {
	return func(r *report.Report) {
		r.Environment = &report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0", Product: "TRex", Version: "v3.06",
			Machine: report.Machine{Node: node, Kernel: kernel}, Ports: []report.PortEnvironment{{Link: "west", Driver: driver}, {Link: "east", Driver: driver}}}}}
	}
}

func TestNoChangeIsClaimedAcrossEnvironments(t *testing.T) {
	two := &comparison.Allowance{MaxRegression: units.One / 50}
	home := inLab("node-1", "ice", "6.1.0-18")
	for name, c := range map[string]struct {
		is        []history.Record
		allowed   []report.EnvironmentPart
		judgement report.Judgement
		verdict   report.Outcome
		says      string
	}{
		"the same":                   {runs(5, 950_000, home), nil, report.Less, report.DidFail, "at most 2 % less allowed"},
		"another driver":             {runs(5, 950_000, inLab("node-1", "iavf", "6.1.0-18")), nil, report.NotComparable, report.Undecided, "NIC driver of west and east: ice, then iavf; measure both sides in the same one, or allow it: allowedDifferences: [Driver]"},
		"another driver, allowed":    {runs(5, 950_000, inLab("node-1", "iavf", "6.1.0-18")), []report.EnvironmentPart{report.PartDriver}, report.Less, report.DidFail, "; of the environment, NIC driver of west and east: ice, then iavf"},
		"another is allowed":         {runs(5, 950_000, inLab("node-1", "iavf", "6.1.0-18")), []report.EnvironmentPart{report.PartNode}, report.NotComparable, report.Undecided, "NIC driver"},
		"one run on another node":    {append(runs(4, 950_000, home), record(7, 950_000, inLab("node-2", "ice", "6.1.0-18"))), nil, report.NotComparable, report.Undecided, "node of generator-0: node-1, then node-1 or node-2"},
		"a patch of the kernel":      {runs(5, 950_000, inLab("node-1", "ice", "6.1.0-20")), nil, report.Less, report.DidFail, "; of the environment, kernel of generator-0: 6.1.0-18, then 6.1.0-20"},
		"a driver that nobody knows": {runs(5, 950_000, inLab("node-1", "", "6.1.0-18")), nil, report.Less, report.DidFail, "; of the environment of these runs unknown: NIC driver of west and east"},
		"nothing known":              {runs(5, 950_000), nil, report.Less, report.DidFail, "; of the environment of these runs unknown: generator, NIC driver of west and east, node of generator-0, kernel of generator-0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := history.Compare([]history.Side{{"before", runs(5, 1_000_000, home)}, {"after", anew(c.is)}}, two, c.allowed).Rows[0].Sides[1]
			if got.Judgement != c.judgement || got.Verdict != c.verdict || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s, %s: %s\nwant %s, %s: … %s", got.Judgement, got.Verdict, got.Message, c.judgement, c.verdict, c.says)
			}
			if len(got.Environment) == 0 != (name == "the same") {
				t.Errorf("the document has %+v", got.Environment)
			}
			if got.Figures == nil {
				t.Error("it has no figures")
			}
		})
	}
}

func TestATrendHasNoCommonFigureOfTwoEnvironments(t *testing.T) {
	nights := func() []history.Record {
		return append(append(runs(3, 1_000_000, inLab("node-1", "ice", "6.1.0-18")), record(4, 1_000_500, inLab("node-1", "ice", "6.1.0-20")), record(5, 1_000_400)),
			record(6, 900_000, inLab("node-2", "ice", "6.1.0-20")), record(7, 901_000, inLab("node-2", "ice", "6.1.0-20")))
	}
	s := history.Trend("nightly", nights(), nil).Series[0]
	if len(s.Stretches) != 2 || s.Stretches[1].First != 5 || s.Stretches[1].Figures.Runs != 2 {
		t.Errorf("%+v", s.Stretches)
	}
	said := map[int]string{}
	for i, p := range s.Points {
		for _, d := range p.EnvironmentChange {
			said[i] += d.String() + ";"
		}
	}
	if want := map[int]string{3: "kernel of generator-0: 6.1.0-18, then 6.1.0-20;", 5: "node of generator-0: node-1, then node-2;"}; len(said) != 2 || said[3] != want[3] || said[5] != want[5] {
		t.Errorf("%v, want %v", said, want)
	}
	s = history.Trend("nightly", nights(), []report.EnvironmentPart{report.PartNode}).Series[0]
	if len(s.Stretches) != 1 || s.Stretches[0].Figures.Runs != 7 {
		t.Errorf("what may differ begins a stretch: %+v", s.Stretches)
	}
}
