package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// most is how long verifying a document may take that somebody made to hold us up. An ordinary one takes milliseconds.
const most = 5 * time.Second

// Whatever number a document has where one stands, verifying it ends, and says something.
func TestAnyNumberAnywhere(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			r := s.run(t)
			r.Samples, r.Notes = r.Samples[:1], nil
			r.Windows = r.Windows[:min(4, len(r.Windows))]
			var document map[string]any
			dec := json.NewDecoder(bytes.NewReader(marshal(t, r)))
			dec.UseNumber()
			if err := dec.Decode(&document); err != nil {
				t.Fatal(err)
			}
			tried, seen := 0, 0
			eachLeaf("", document, func(path string, leaf any, set func(any)) {
				for _, other := range hostile(leaf) {
					// another value of each leaf in turn; primes, so that each kind of value has its turn
					if seen++; seen%tier.Times(37, 13) != 0 {
						continue
					}
					set(other)
					tried++
					began := time.Now()
					found(t, document)
					if took := time.Since(began); took > most {
						t.Errorf("%s: %v takes %s", path, other, took)
					}
				}
				set(leaf)
			})
			t.Logf("%d documents", tried)
		})
	}
}

// hostile are values that nobody measures.
func hostile(leaf any) []any {
	switch v := leaf.(type) {
	case json.Number:
		return []any{json.Number("0"), json.Number("-1"), json.Number("9223372036854775807"), json.Number("-9223372036854775808")}
	case string:
		if _, err := time.ParseDuration(v); err == nil {
			return []any{"0s", "1ns", "2562047h47m16s", "-2562047h47m16s"}
		}
		var n json.Number
		if json.Unmarshal([]byte(v), &n) == nil {
			return []any{"0", "-9223372036", "9223372036", "0.000000001"}
		}
		return []any{"", "\x1b[2J"}
	case bool:
		return []any{!v}
	}
	return nil
}

// What no run wrote is refused or differs, and never verifies.
func TestDocumentsThatNoRunWrote(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"nothing":       {},
		"no plan":       {Version: report.Version, Windows: make([]report.Window, 3)},
		"unknown type":  {Plan: &plan.Plan{Procedure: plan.Procedure{Type: "Guess"}}},
		"no directions": {Plan: &plan.Plan{}, Windows: []report.Window{{Number: 1, Directions: []report.Direction{{From: "west", To: "east"}}}}},
		"too many":      {Plan: &plan.Plan{}, Windows: make([]report.Window, 20_000)},
		"finished only": {Plan: &plan.Plan{}, Ending: report.Completed},
		"another each":  {Plan: &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}}, Procedure: plan.Procedure{EachDirection: &plan.EachDirection{Directions: []string{"a", "b"}}}}},
	} {
		if v := verify.Report(r, by); v.Outcome != verify.Differs || len(v.Findings()) == 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Reports that were made up for tests of pages, and not measured, don't verify.
func TestMadeUpReportsDiffer(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		if v := verify.Report(stored(t, s.Report), by); v.Outcome != verify.Differs || v.Remark == "" {
			t.Errorf("%s: %s", s.Name, v)
		}
	}
}

// 300 windows take some 50 ms. A busy machine may take longer, and nobody waits for what takes time by the cube of
// their number.
func TestALongReportIsVerifiedAtOnce(t *testing.T) {
	s := scenes()["constant load"]
	s.plan.Procedure.ConstantLoad.Duration = seconds(600)
	r := s.run(t)
	began := time.Now()
	v := verify.Report(r, by)
	if took := time.Since(began); v.Outcome != verify.Verified || v.Windows < 300 || took > most {
		t.Errorf("%s in %s: %v", v, took, v.Findings())
	}
}

func FuzzReport(f *testing.F) {
	for _, s := range reporttest.Scenarios() {
		s.Report.Windows = s.Report.Windows[:min(2, len(s.Report.Windows))]
		text, err := json.Marshal(s.Report)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, kind := range []string{plan.TypeConstantLoad, plan.TypeFrameLoss, plan.TypeMaximumOfferedLoad} {
		f.Add(fmt.Appendf(nil, `{"version":%q,"ending":"Completed","plan":{"version":%q,"directions":[{"from":"w","to":"e"}],"procedure":{"type":%q}},
			"windows":[{"number":1,"start":"0s","duration":"1s","directions":[{"from":"w","to":"e","sent":{"packets":9223372036854775807,"bytes":-1}}],"evidence":{"directions":[{}]}}]}`,
			report.Version, plan.Version, kind))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		r, err := report.Decode(document)
		if err != nil {
			return
		}
		began := time.Now()
		v := verify.Report(r, by)
		if took := time.Since(began); took > most {
			t.Errorf("it takes %s", took)
		}
		if v.Outcome == verify.Verified && len(v.Findings()) > 0 || v.String() == "" {
			t.Errorf("%+v", v)
		}
	})
}
