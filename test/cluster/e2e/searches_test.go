//go:build full

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// searched is a search of any of the routers here: it doesn't depend on how many packets/s they forward.
const searched = "procedure: {type: Search, %ssearch: {minRate: 500pps, maxRate: 100kpps, warmupDuration: 1s, classification: %s}}"

// forgets has the router's own program run beside it before each trial, which does nothing there and ends well.
const forgets = "reset: {command: [/router, -ready], timeout: 10s}, "

// bothGoals is a demand that all of them meet.
const bothGoals = `criteria: [{name: ndr, metric: PacketsPerSecond, direction: Total, goal: NDR, min: "5000"}, {name: pdr, metric: PacketsPerSecond, direction: Total, goal: PDR, min: "5000"}]`

var pages = flag.String("pages", "", "TestSearches: keep the pages of what was measured in this directory, to be looked at")

// TestSearches: NDR and PDR as the operator reports them are true of routers whose limit only the test knows, in tests, in a suite and in a gate.
func TestSearches(t *testing.T) {
	claims, shown := 0, 0
	for _, r := range []routerSearched{
		{3_000, "", plan.ClassifyRFC9971},
		{20_000, "", plan.ClassifySequential},
		{20_000, "directions: Each, ", plan.ClassifySequential},
		{60_000, "", plan.ClassifyRFC9971},
		{3_000, forgets, plan.ClassifySequential},
	} {
		t.Run(fmt.Sprintf("a router of about %d has its NDR and PDR, %sclassified by %s", r.about, r.vary, r.classification), func(t *testing.T) {
			claims += 4 // two goals of two directions each
			shown += r.play(begin(t))
		})
	}
	if 2*shown < claims {
		t.Errorf("of %d limits, %d were shown, and the others said to be disturbed: this machine is too busy to prove anything here", claims, shown)
	}
	t.Run("a suite has NDR and PDR of each frame size", func(t *testing.T) { begin(t).searchedSuite() })
	t.Run("a gate passes the same device, and fails one that is 5 % slower, by either goal", func(t *testing.T) { searchedGate(t) })
}

// routerSearched is a router that forwards about so many packets/s each way, and how it is searched.
type routerSearched struct {
	about                int64
	vary, classification string
}

// play makes the operator search a router with a random limit, and returns how many of its limits were found.
func (r routerSearched) play(s *scene) (shown int) {
	s.Helper()
	limit := r.about*9/10 + rand.Int64N(r.about/5)
	s.apply("searched", links, router(limit), fmt.Sprintf(searched, r.vary, r.classification), bothGoals)
	test := s.complete("searched", 2*patience)
	s.want(test, "Accepted=", "Complete=True Measured", "Passed=True CriteriaMet")
	s.page(fmt.Sprintf("search-%d-%s.json", limit, r.classification), s.types("report", "searched", "-o", "json").wants(0, "{", "").out)
	if r.vary == forgets {
		s.resetBeforeEachTrial(test)
	}
	return s.goals(test, float64(limit), strings.Contains(r.vary, "Each"))
}

// resetBeforeEachTrial: every window says that the device was reset before it, by which command, and that it forwarded again.
func (s *scene) resetBeforeEachTrial(test *lineratev1alpha1.LoadTest) {
	s.Helper()
	for _, w := range s.report(test).Windows {
		if w.Reset == nil || !strings.Contains(w.Reset.Action, "/router -ready") || w.Reset.Forwards <= 0 {
			s.Errorf("window %d doesn't say that the router was reset before it: %+v", w.Number, w.Reset)
		}
	}
}

// goalTruth is between what a router's goal lies: what it forwards for as long as anybody asks, and what passes in a trial of a second with the 20 ms that the router's limit saves up before. A
// trial in which more is lost than a goal allows lies above, by the loss that the goal allows.
type goalTruth struct{ forwards, passes, loss float64 }

func truthOfGoal(limit float64, name string) goalTruth {
	const saves = 0.02
	g := goalTruth{forwards: limit, passes: limit * (1 + saves)}
	if name == "PDR" {
		g.loss = 0.005
	}
	return g
}

// What a search may be off: its bounds are half a percent apart, and a trial half a percent beside what was asked for, either way.
const (
	width = 0.005
	blur  = 0.005
)

// goals holds what the status says of each goal, and the Report's bounds, to the router's limit each way. Where directions were searched one after another, the loads of the first goal alone
// were tried at once, so that nothing is known of the sum of the others'. It returns how many of them are limits: what a disturbed machine cost its answer is a lower bound, and says so.
func (s *scene) goals(test *lineratev1alpha1.LoadTest, limit float64, each bool) (limits int) {
	s.Helper()
	if test.Status.Result == nil {
		s.Fatalf("there is no result: %s", test.Status.Summary)
	}
	s.Logf("%s\n%s", test.Status.Summary, message(test, "Complete"))
	r := s.report(test)
	if len(r.Answer.Goals) != 2 {
		s.Fatalf("the Report has %d goals, want two", len(r.Answer.Goals))
	}
	for number, g := range r.Answer.Goals {
		truth := truthOfGoal(limit, g.Name)
		summed := !each || number == 0
		if _, _, irregular := reporttest.Bounds(r, g.Name); irregular || len(g.Answer.Directions) != 2 {
			s.Errorf("%s has no two bounds: %s", g.Name, g.Answer.EvidenceText())
			continue
		}
		shown := 0
		for i, m := range g.Answer.Directions {
			if m.Limit == nil || !m.Limit.Saturated && !slices.Contains([]report.Reason{report.OtherDirection, report.GeneratorLimited, report.MachineLimited}, m.Limit.Reason) {
				s.Errorf("%s, %s: it is neither shown to be the router's limit, nor said what disturbed it: %+v", g.Name, m.Name(), m.Limit)
				continue
			}
			lower := float64(m.Intended.PacketsPerSecond)
			s.Logf("%s, %s, of a router of %.0f: met at %.0f", g.Name, m.Name(), limit, lower)
			if most := truth.passes / (1 - truth.loss) * (1 + blur); lower > most+1 {
				s.Errorf("%s, %s: met at %.0f, want %.0f at most", g.Name, m.Name(), lower, most)
			}
			if !m.Limit.Saturated {
				s.Logf("disturbed: %s, %s is a lower bound, %s", g.Name, m.Name(), m.Limit.Reason)
				continue
			}
			shown++
			if least := truth.forwards / (1 - truth.loss) * (1 - width - blur); lower < least {
				s.Errorf("%s, %s: met at %.0f, want %.0f at least", g.Name, m.Name(), lower, least)
			}
			upper := float64(r.Windows[m.Limit.Lossy-1].Directions[i].Intended.PacketsPerSecond)
			if least := truth.forwards / (1 - truth.loss) * (1 - blur); upper < least {
				s.Errorf("%s, %s: not met at %.0f, want %.0f at least", g.Name, m.Name(), upper, least)
			}
		}
		limits += shown
		if summed && shown == 2 {
			s.goalInStatus(test, g.Name, truth)
		}
	}
	return limits
}

// goalInStatus: the status has the rate of the goal, of both directions together, as what the router forwards, and its high end is no less than that.
func (s *scene) goalInStatus(test *lineratev1alpha1.LoadTest, name string, truth goalTruth) {
	s.Helper()
	i := slices.IndexFunc(test.Status.Result.Figures, func(f lineratev1alpha1.Figure) bool {
		return f.Goal == name && f.Metric == string(figures.PacketsPerSecond)
	})
	if i < 0 {
		s.Errorf("the status has no packets/s of %s: %+v", name, test.Status.Result.Figures)
		return
	}
	f := test.Status.Result.Figures[i]
	low, high := report.Number(f.Low).Float()/2, report.Number(f.High).Float()/2
	if low < truth.forwards*(1-width-blur) || low > truth.passes*(1+blur)+1 || f.High != "" && high < max(low, truth.forwards*(1-blur)) {
		s.Errorf("the status has %.0f to %.0f packets/s each way of %s, and the router forwards %.0f", low, high, name, truth.forwards)
	}
}

// searchedSuite plays examples/suites/ndr-pdr.yaml, as a person does.
func (s *scene) searchedSuite() {
	s.Helper()
	s.network("west", s.resource("west"))
	s.network("east", s.resource("east"))
	said := s.types("run", "../../../examples/suites/ndr-pdr.yaml").wants(0, "1518b", "all measured")
	s.Logf("\n%s", said.out)
	var suite report.Suite
	if err := json.Unmarshal([]byte(s.types("report", "ndr-pdr", "-o", "json").wants(0, "{", "").out), &suite); err != nil {
		s.Fatal(err)
	}
	if len(suite.Cells) != 3 {
		s.Fatalf("the suite's report has %d cells, want 3", len(suite.Cells))
	}
	for _, cell := range suite.Cells {
		if cell.Verdict == nil {
			s.Errorf("cell %s has no verdict: %s", cell.Name, cell.Message)
			continue
		}
		var judged []string
		for _, c := range cell.Verdict.Criteria {
			judged = append(judged, fmt.Sprint(c.Name, " ", c.Outcome))
			if !strings.HasPrefix(c.Message, strings.ToUpper(c.Name)+": ") {
				s.Errorf("cell %s: criterion %s says %q", cell.Name, c.Name, c.Message)
			}
		}
		if want := []string{"ndr Passed", "pdr Passed"}; !slices.Equal(judged, want) {
			s.Errorf("cell %s is judged %q, want %q", cell.Name, judged, want)
		}
		if f := cell.Figures; f == nil || float64(f.PacketsPerSecond) < 2*10_000*(1-width-blur) || float64(f.PacketsPerSecond) > 2*10_000*1.01 {
			s.Errorf("cell %s has %+v, want the NDR of twice 10 000 packets/s", cell.Name, f)
		}
	}
	s.page("suite.html", s.types("report", "ndr-pdr", "-o", "html").wants(0, "</html>", "").out)
	s.page("run.html", s.types("report", "ndr-pdr-reference-64b-r1", "-o", "html").wants(0, "</html>", "").out)
}

// searchedGate judges two releases by examples/ci/router-ndr-pdr.yaml. One run of each side decides: its spread is vouched for.
func searchedGate(t *testing.T) {
	const was, same, slower = "example.com/linerate/router:searched-1", "example.com/linerate/router:searched-2", "example.com/linerate/router:searched-3"
	s, limit := begin(t), unknown()
	s.loadRelease(was, fmt.Sprint(limit))
	s.loadRelease(same, fmt.Sprint(limit))
	s.loadRelease(slower, fmt.Sprint(limit*95/100))
	p := s.pipeline()
	p.write("ndr-pdr.yaml", strings.ReplaceAll(p.changed("router-ndr-pdr.yaml", "network: west,", "network: default/west,", "network: east,", "network: default/east,",
		"search: {", "search: {warmupDuration: 1s, "), "maxRegression: 2%}", "maxRegression: 2%, assumedSpread: 0.2%}"))
	for _, candidate := range []struct {
		image, name string
		code        int
		outcome     report.Outcome
	}{
		{same, "same", report.ExitOK, report.Passed},
		{slower, "slower", report.ExitFailed, report.DidFail},
	} {
		code := p.script(t, fmt.Sprintf("kubectl linerate gate -f ndr-pdr.yaml -n %s --image example.com/router=%s --baseline-image example.com/router=%s --runs 1 --allow-different Node -o text,html=%s.html,json=%s.json",
			p.namespace, candidate.image, was, candidate.name, candidate.name), "export KUBECONFIG="+p.kubeconfig)
		gate := p.gate(t, candidate.name+".json")
		p.page("gate-"+candidate.name+".html", string(p.file(t, candidate.name+".html")))
		if code != candidate.code || gate.Outcome != candidate.outcome || len(gate.Rows) != 1 {
			t.Errorf("the gate of the release that is %s ended with %d, %s, want %d, %s: %+v", candidate.name, code, gate.Outcome, candidate.code, candidate.outcome, gate.Rows)
			continue
		}
		for _, c := range gate.Rows[0].Criteria {
			t.Logf("%s, %s: %s: %s", candidate.name, c.Name, c.Outcome, c.Message)
			if c.Outcome != candidate.outcome {
				t.Errorf("%s of the release that is %s is %s: %s", c.Name, candidate.name, c.Outcome, c.Message)
			}
		}
	}
}

// page writes a page, if a flag asks for it.
func (s *scene) page(name, text string) {
	s.Helper()
	if *pages == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pages, name), []byte(text), 0o600); err != nil {
		s.Error(err)
	}
}
