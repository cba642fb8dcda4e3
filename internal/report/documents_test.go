package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"
)

func written(t *testing.T, format string, d Documents) string {
	t.Helper()
	var out bytes.Buffer
	if err := d.Render(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestASuiteInEachFormat(t *testing.T) {
	for format, name := range map[string]string{"text": "suite-alone.txt", "markdown": "suite.md", "junit": "suite.xml", "html": "suite.html"} {
		t.Run(format, func(t *testing.T) {
			golden(t, name, []byte(written(t, format, Documents{Suites: []*Suite{night()}})))
		})
	}
	t.Run("as JSON it reads back", func(t *testing.T) {
		s, err := ReadSuite([]byte(written(t, "json", Documents{Suites: []*Suite{night()}})))
		if err != nil || len(s.Cells) != 2 {
			t.Errorf("%v: %+v", err, s)
		}
	})
	t.Run("one that isn't over says so", func(t *testing.T) {
		s := night()
		s.Finished = time.Time{}
		for _, format := range []string{"text", "markdown", "html"} {
			if got := written(t, format, Documents{Suites: []*Suite{s}}); !strings.Contains(strings.ReplaceAll(got, "&#39;", "'"), "the suite isn't over") {
				t.Errorf("%s doesn't say that it isn't over:\n%s", format, got)
			}
		}
	})
}

func TestTestsAndSuitesTogether(t *testing.T) {
	tests := Documents{Reports: []*Report{pathNotProven(), doubtful()}, Suites: []*Suite{night(), night()}}
	t.Run("text has one after the other", func(t *testing.T) {
		if got := written(t, "text", tests); strings.Count(got, "night\n") != 2 || !strings.HasPrefix(got, "product") {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("junit is one document", func(t *testing.T) {
		var doc junitSuites
		if err := xml.Unmarshal([]byte(written(t, "junit", tests)), &doc); err != nil {
			t.Fatal(err)
		}
		if want := len(tests.Reports) + 4; len(doc.Suites) != want || doc.Failures < 2 || doc.Errors < 2 {
			t.Errorf("%d testsuites, want %d; %d failures, %d errors", len(doc.Suites), want, doc.Failures, doc.Errors)
		}
	})
	for format, says := range map[string]string{"html": "holds one suite", "viz": "a suite has several", "pdf": "no such format as pdf"} {
		t.Run(format+" is refused", func(t *testing.T) {
			if err := tests.Render(&bytes.Buffer{}, format); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want an error that says %q", err, says)
			}
		})
	}
}

func TestASuitesExitCode(t *testing.T) {
	whole := func(change func(*Suite)) *Suite {
		s := night()
		s.Cells = s.Cells[:1]
		s.Cells[0].Verdict = nil
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		suite *Suite
		want  int
	}{
		"all is measured":                    {whole(func(*Suite) {}), ExitOK},
		"a cell isn't":                       {night(), ExitNotMeasured},
		"a cell failed":                      {whole(func(s *Suite) { s.Cells[0].Verdict = &Verdict{Outcome: DidFail} }), ExitFailed},
		"a cell is undecided":                {whole(func(s *Suite) { s.Cells[0].Verdict = &Verdict{Outcome: Undecided} }), ExitNotMeasured},
		"it isn't over":                      {whole(func(s *Suite) { s.Finished = time.Time{} }), ExitNotMeasured},
		"what was repeated counts":           {whole(func(s *Suite) { s.Cells[0].again(1) }), ExitOK},
		"a repetition that gave nothing":     {whole(func(s *Suite) { s.Cells[0].again(3) }), ExitNotMeasured},
		"runs that were left out are no end": {whole(func(s *Suite) { s.Cells[0].Runs = nil }), ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.suite.ExitCode(); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// again adds a run of a repetition that gave no figure; of one that is there it was the first try.
func (c *SuiteCell) again(repetition int) {
	c.Runs = append([]SuiteRun{{Test: "lost", Repetition: repetition, Reason: "GeneratorLost", Message: "its node went away"}}, c.Runs...)
}
