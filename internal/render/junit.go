package render

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
)

// The JUnit document's elements, as CI systems read them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`

		took time.Duration
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Output     string          `xml:"system-out"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		ClassName string        `xml:"classname,attr"`
		Name      string        `xml:"name,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitTrouble `xml:"failure,omitempty"`
		Error     *junitTrouble `xml:"error,omitempty"`
	}
	junitTrouble struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// testsJUnit writes tests and suites for a CI system: a testsuite per report and per cell, a testcase "measured" and one per criterion. A criterion that
// failed is a failure. What could not be decided is an error, and so is a run that did not complete or has no figure: systems show
// an error as not green, while most take a skipped case for a good one.
func testsJUnit(d report.Documents, w io.Writer) error {
	doc := newJUnit()
	for _, r := range d.Reports {
		s, err := junitSuiteOf(r)
		if err != nil {
			return err
		}
		doc.add(s, r.Finished.Sub(r.Started))
	}
	for _, s := range d.Suites {
		for i := range s.Cells {
			cell, took := junitCellOf(s, &s.Cells[i])
			doc.add(cell, took)
		}
	}
	return doc.write(w)
}

func newJUnit() *junitSuites { return &junitSuites{Name: "linerate"} }

// add adds a testsuite, and how long it took.
func (d *junitSuites) add(s junitSuite, took time.Duration) {
	d.Tests, d.Failures, d.Errors = d.Tests+s.Tests, d.Failures+s.Failures, d.Errors+s.Errors
	d.took += took
	d.Suites = append(d.Suites, s)
}

func (d *junitSuites) write(w io.Writer) error {
	d.Time = seconds(d.took)
	out, err := xml.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", xml.Header, out); err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return nil
}

func junitSuiteOf(r *report.Report) (junitSuite, error) {
	var evidence bytes.Buffer
	if err := Text(&evidence, r); err != nil {
		return junitSuite{}, err
	}
	h, took := report.HeadlineOf(r), seconds(r.Finished.Sub(r.Started))
	s := junitSuite{Name: h.Title(), Time: took, Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"), Properties: junitProperties(r, h), Output: evidence.String()}
	s.Cases = append(s.Cases, junitCase{ClassName: h.Name, Name: "measured", Time: took, Error: unmeasured(r)})
	for _, c := range judged(r) {
		s.Cases = append(s.Cases, criterionCase(h.Name, c))
	}
	s.count()
	return s, nil
}

// count counts the testcases.
func (s *junitSuite) count() {
	for _, c := range s.Cases {
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
}

// unmeasured is what is wrong with the measurement as a whole; nil nothing.
func unmeasured(r *report.Report) *junitTrouble {
	switch {
	case !report.HasFigure(r):
		return &junitTrouble{Type: string(cmp.Or(r.Result.Reason, report.NotMeasured)), Message: answer(r)}
	case r.Ending != report.Completed:
		return &junitTrouble{Type: string(r.Ending), Message: endingWarnings(r)[0]}
	}
	return nil
}

// judged are the criteria's results, those included that the plan demands and nobody came to judge.
func judged(r *report.Report) []report.CriterionResult {
	out, seen := r.Verdict.Criteria, map[string]bool{}
	for _, c := range out {
		seen[c.Name] = true
	}
	for _, c := range report.PlanOf(r).Criteria {
		if !seen[c.Name] {
			out = append(out[:len(out):len(out)], report.CriterionResult{Name: c.Name, Outcome: report.Undecided, Message: "the run ended before it could be judged"})
		}
	}
	return out
}

func criterionCase(class string, c report.CriterionResult) junitCase {
	out := junitCase{ClassName: class, Name: c.Name, Time: "0"}
	trouble := &junitTrouble{Type: string(c.Outcome), Message: c.Message, Text: c.Message}
	switch c.Outcome {
	case report.Passed:
	case report.DidFail:
		out.Failure = trouble
	case report.Undecided:
		out.Error = trouble
	default:
		out.Error = trouble
	}
	return out
}

// junitProperties are the figures as whole numbers, for who collects trends from CI; a figure that isn't there has no property.
func junitProperties(r *report.Report, h report.Headline) []junitProperty {
	props := []junitProperty{{"ending", string(r.Ending)}, {"standing", standing(r)}, {"reason", string(r.Result.Reason)}, {"summary", report.Summary(r)}}
	if !h.Measured {
		return props
	}
	add := func(name, value string) { props = append(props, junitProperty{name, value}) }
	add("lowerBound", strconv.FormatBool(h.Bound))
	add("confirmed", strconv.FormatBool(r.Result.Confirmed))
	for _, d := range r.Result.Directions {
		name := d.From + "-" + d.To + "."
		add(name+"receivedPacketsPerSecond", strconv.FormatInt(d.Received.PacketsPerSecond, 10))
		add(name+"receivedLayer1BitsPerSecond", strconv.FormatInt(d.Received.Layer1BitsPerSecond, 10))
		add(name+"lossRatio", d.LossRatio.String())
		add(name+"lineRatePercent", d.LineRatePercent.String())
	}
	return props
}

// seconds writes a time as JUnit has it; a clock that was set back counts as none.
func seconds(d time.Duration) string { return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 3, 64) }
