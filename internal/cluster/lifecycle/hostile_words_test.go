package lifecycle_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
	"github.com/linerate-dev/linerate/test/rigs/sanitizetest"
)

// A runner that was taken over writes any text into Progress and Report. No word of the status or of an event drives
// the terminal of who looks with kubectl.
func TestNoStatusSaysWhatAHostileRunnerWantsItTo(t *testing.T) {
	for from := range sanitizetest.Words {
		w := newWorld(t, reference)
		r := w.toRun()
		w.progress(r, "Ramping", 30)
		sanitizetest.Make(reflect.ValueOf(w.Progress))
		sanitizetest.Fill(reflect.ValueOf(w.Progress), from, "Version", "Runner", "RunnerUID", "LossRatio")
		w.settle()
		checkTexts(t, w)
		w.progress(r, "Ramping", 60)
		w.finish(r, report.Completed)
		for i := range w.Report.Verdict.Criteria {
			sanitizetest.Fill(reflect.ValueOf(&w.Report.Verdict.Criteria[i]), from, "Outcome")
		}
		w.Report.Answer.Message, w.Report.Message = sanitizetest.Words[from], sanitizetest.Words[from]
		w.settle()
		checkTexts(t, w)
	}
}

func checkTexts(t *testing.T, w *world) {
	t.Helper()
	_, d := w.decide()
	for name, v := range map[string]any{"the status": w.test.Status, "the decision's status": d.Status,
		"an event": d.Events} {
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		for _, escaped := range []string{`\u00`, `\u20`, `\r`, `\n`} {
			if index := strings.Index(text.String(), escaped); index >= 0 {
				t.Errorf("%s has a character that drives a terminal: %.80s", name, text.String()[index:])
			}
		}
		if index := strings.IndexFunc(strings.TrimSuffix(text.String(), "\n"), wording.Hidden); index >= 0 {
			t.Errorf("%s has a character that isn't seen: %.80q", name, text.String()[index:])
		}
	}
}
