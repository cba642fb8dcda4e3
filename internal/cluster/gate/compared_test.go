package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// disturb has a run whose generator could send only so much.
func disturb(m MeasuredSuite, name string, packets int64) {
	run := m.Runs[name]
	evidence, total := *run.Evidence, *run.Evidence.Answer.Total
	total.Received.PacketsPerSecond = packets
	evidence.Answer.Saturated, evidence.Answer.Reason, evidence.Answer.Total = false, report.GeneratorLimited, &total
	evidence.Answer.Directions = slices.Clone(evidence.Answer.Directions)
	for i := range evidence.Answer.Directions {
		evidence.Answer.Directions[i].Received.PacketsPerSecond = packets
	}
	run.Evidence, run.Figures, run.Reason = &evidence, figures.TableFigures(&evidence), string(report.GeneratorLimited)
	m.Runs[name] = run
}

// moved says that the runs of a cell were measured on another node than the others.
func moved(m MeasuredSuite, cell string) MeasuredSuite {
	for name, run := range m.Runs {
		node := "node-1"
		if strings.Contains(name, cell) {
			node = "node-2"
		}
		run.Evidence.Environment = &report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0",
			Machine: report.Machine{Node: node}}}}
	}
	return m
}

func TestAGateClaimsNothingAcrossEnvironments(t *testing.T) {
	for name, c := range map[string]struct {
		allowed []string
		code    int
		message string
		change  bool
	}{
		"another node": {nil, 3, "node of generator-0: node-1, then node-2; measure both sides in the same one, or " +
			"allow it: allowedDifferences: [Node]", false},
		"another node, allowed": {[]string{"Node"}, 0, "of the environment, node of generator-0: node-1, then node-2",
			true},
	} {
		t.Run(name, func(t *testing.T) {
			s := onlySubject(t, router, Options{MaxRegression: "2%",
				BaselineImages: []Image{{"registry.lab/router", "registry.lab/router:1.4"}}, AllowDifferent: c.allowed})
			m := moved(measured(t, s, steady(100_000)), s.Matrix.Cells[1].Name)
			g := Judge([]MeasuredSuite{m}, "test")
			row := g.Rows[0]
			if g.ExitCode != c.code || !strings.Contains(row.Words(), c.message) ||
				len(row.Candidate.Environment) != 1 || row.Candidate.Change != nil != c.change {
				t.Errorf("exit code %d, want %d: %s\nwant … %s; %+v", g.ExitCode, c.code, row.Words(), c.message,
					row.Candidate)
			}
		})
	}
	t.Run("with a baseline from elsewhere", func(t *testing.T) {
		earlier := moved(measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true,
			Suffix: "earlier"}), steady(100_000)), "router")
		reference := &suite.Reference{Kind: suite.KindFile, Name: "earlier.json"}
		for _, run := range earlier.Runs {
			reference.Reports = append(reference.Reports, analysis.KeptReport{Report: run.Evidence, Method: run.Plan})
		}
		m := moved(measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true}), steady(100_000)),
			"no cell")
		m.Baseline = reference
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 3 || !strings.Contains(g.Rows[0].Words(),
			"node of generator-0: node-2, then node-1") {
			t.Errorf("exit code %d: %s", g.ExitCode, g.Rows[0].Words())
		}
		reference.AllowDifferent = []report.EnvironmentPart{report.PartNode}
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 0 || g.Rows[0].Candidate.Change == nil {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows[0])
		}
	})
}

func TestABaselineFromElsewhere(t *testing.T) {
	earlier := measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true, Suffix: "earlier"}),
		steady(100_000))
	var reports []analysis.KeptReport
	for _, run := range earlier.Runs {
		reports = append(reports, analysis.KeptReport{Report: run.Evidence, Method: run.Plan})
	}
	for name, c := range map[string]struct {
		candidate int64
		code      int
	}{"as good": {100_000, 0}, "worse": {95_000, 1}} {
		t.Run(name, func(t *testing.T) {
			m := measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true}), steady(c.candidate))
			m.Baseline = &suite.Reference{Kind: suite.KindFile, Name: "earlier.json", Reports: reports}
			g := Judge([]MeasuredSuite{m}, "test")
			if g.ExitCode != c.code || g.Rows[0].Baseline == nil || g.Rows[0].BaselineName != "earlier.json" ||
				g.Suites[0].Verdict.Outcome != g.Outcome {
				t.Errorf("exit code %d, want %d: %+v", g.ExitCode, c.code, g.Rows)
			}
		})
	}
	t.Run("one that has nothing leaves it undecided, and says so", func(t *testing.T) {
		m := measured(t, onlySubject(t, router, Options{MaxRegression: "2%", Baseline: true}), steady(100_000))
		m.Baseline = &suite.Reference{Kind: suite.KindFile, Name: "earlier.json"}
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 3 || !strings.Contains(g.Rows[0].Criteria[0].Message,
			"it has no cell without axes") {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
	})
}

// TestTheAllowanceIsOfThroughput holds the allowance to criteria of throughput, and not to those of bursts.
func TestTheAllowanceIsOfThroughput(t *testing.T) {
	shallower := v1alpha1.Criterion{Name: "buffer", Metric: v1alpha1.MetricBufferFrames, MaxRegression: "20%"}
	slower := v1alpha1.Criterion{Name: "rate", Metric: v1alpha1.MetricPacketsPerSecond, MaxRegression: "2%"}
	if allowed, compares := allowanceOf([]v1alpha1.Criterion{shallower, slower}); allowed != units.One/50 || !compares {
		t.Errorf("%s, %v, want 2 %%", allowed, compares)
	}
	if allowed, compares := allowanceOf([]v1alpha1.Criterion{shallower}); compares {
		t.Errorf("%s of bursts alone", allowed)
	}
}
