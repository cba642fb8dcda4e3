package compatibility

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
)

// judgedOtherwise are criteria of old Reports whose outcome is another one now, and why.
var judgedOtherwise = map[string]struct {
	outcome report.Outcome
	says    string
	why     string
}{
	"unresolved/rate": {
		report.Undecided, "west→east: 10.00 Kpps, at least 10500 demanded, and the figure is a lower bound only",
		"lost frames at some load bound the device only where the search narrowed it down: comparisons took a result of resolution 1 for a lower bound already, and absolute criteria took it for exact",
	},
	"coarse/bits": {
		report.Undecided, "all directions: 61.09 Mbps, at least 50000000 demanded, at most 70000000 demanded, and the true value may be up to 91.64 Mbps",
		"a maximum is judged by the upper end of the interval, too, and says so in the words that any interval has",
	},
}

func TestOldRunsAreJudgedAsTheyWere(t *testing.T) {
	for _, name := range named(t, "reports", ".json.gz") {
		for _, r := range reports(t, name) {
			v := analysis.Verdict(r)
			if len(v.Criteria) != len(r.Verdict.Criteria) {
				t.Fatalf("%s: %d criteria are judged, and %d were", name, len(v.Criteria), len(r.Verdict.Criteria))
			}
			for i, was := range r.Verdict.Criteria {
				now := asJudgedBefore(v.Criteria[i])
				if other, differs := judgedOtherwise[name+"/"+was.Name]; differs {
					if now == was || now.Outcome != other.outcome || !strings.HasPrefix(now.Message, other.says) {
						t.Errorf("%s: %s is %s: %s; want %s: %s (%s)", name, now.Name, now.Outcome, now.Message, other.outcome, other.says, other.why)
					}
					continue
				}
				if now != was {
					t.Errorf("%s: %s was %s: %s; it is %s: %s", name, was.Name, was.Outcome, was.Message, now.Outcome, now.Message)
				}
			}
		}
	}
}

func TestABaselineThatAnOldOperatorPackedJudgesANewRunAsBefore(t *testing.T) {
	b, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: read(t, "configmaps/baseline.json.gz")}})
	if err != nil || len(b.Runs) != 5 {
		t.Fatalf("%+v, %v", b, err)
	}
	for name, outcome := range map[string]report.Outcome{"slower-than-its-baseline": report.DidFail, "as-fast-as-its-baseline": report.Passed} {
		run := reports(t, name)[0]
		was := run.Verdict
		run.Baseline, run.Verdict = b, report.Verdict{}
		now := analysis.Verdict(run)
		for i, c := range now.Criteria {
			now.Criteria[i] = asJudgedBefore(c)
		}
		if now.Outcome != outcome || !reflect.DeepEqual(now, was) {
			t.Errorf("%s is\n%+v\nand was\n%+v", name, now, was)
		}
	}
}

func TestOldReportsAreTheSameBaseline(t *testing.T) {
	var kept []analysis.KeptReport
	for document := json.NewDecoder(bytes.NewReader(unpacked(t, read(t, "reports/v1.4.json.gz")))); document.More(); {
		var text json.RawMessage
		if err := document.Decode(&text); err != nil {
			t.Fatal(err)
		}
		all, err := report.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, analysis.KeptReport{Report: all[0], Digest: report.Digest(compact.Bytes())}) // of what was stored, which the old version stands in
	}
	candidate := reports(t, "slower-than-its-baseline")[0]
	b := analysis.BaselineOf("LoadTest", "router-v1.4", analysis.Candidate{Plan: candidate.Plan}, kept)
	for i := range b.Runs { // what a run was measured in is told since: an old Report's other members tell some of it
		if e := b.Runs[i].Environment; e == nil || len(e.Generators) != 1 || e.Generators[0].Product == "" {
			t.Errorf("run %d was measured in %+v", i, e)
		}
		b.Runs[i].Environment = nil
	}
	if !reflect.DeepEqual(b, candidate.Baseline) {
		t.Errorf("the baseline was\n%+v\nand is\n%+v", candidate.Baseline, b)
	}
}
