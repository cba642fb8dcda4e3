package render

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
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
		used map[[2]string]bool // class names and names of the cases so far
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
		Skipped   *junitTrouble `xml:"skipped,omitempty"` // of what decides nothing
	}
	junitTrouble struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junitFormat is for CI systems. It has a testsuite per test and per suite's cell, with a testcase "measured" and
// one per criterion. A criterion that failed is a failure. An undecided criterion is an error, and so is a run that
// did not complete or has no figure. Systems show an error as not green, while most take a skipped case for a good
// one, and nothing is skipped but what decides nothing of a gate. So only documents that are judged have this
// format, which reads the documents themselves, because the words of a view have no testcases.
func junitFormat() format {
	return format{name: "junit", kinds: []Kind{Tests, Gate}, write: func(w io.Writer, d Document, _ TextOptions) error {
		doc := &junitSuites{Name: "linerate"}
		switch s := d.source.(type) {
		case *report.Gate:
			doc.gate(s)
		case report.Documents:
			if err := doc.tests(s); err != nil {
				return err
			}
		}
		return doc.write(w)
	}}
}

func (d *junitSuites) tests(documents report.Documents) error {
	for _, r := range documents.Reports {
		s, err := junitSuiteOf(r)
		if err != nil {
			return err
		}
		d.add(s, r.Finished.Sub(r.Started))
	}
	for _, s := range documents.Suites {
		d.suite(s)
	}
	return nil
}

func (d *junitSuites) suite(s *report.Suite) {
	for i := range s.Cells {
		d.add(junitCellOf(s, &s.Cells[i]))
	}
}

// gate adds a testsuite for each cell, and one testcase for the gate as a whole, so that no gate without a
// measurement looks like one without a fault.
func (d *junitSuites) gate(g *report.Gate) {
	whole := junitSuite{Name: "gate", Time: seconds(0), Properties: lineProperties(g.Answer),
		Cases: []junitCase{criterionCase("gate", report.CriterionResult{Name: "verdict", Outcome: g.Outcome,
			Message: g.Answer.Summary + " " + g.Answer.Message})}, Output: linesText(g.Answer)}
	if len(g.Suites) > 0 {
		whole.Timestamp = g.Suites[0].Started.UTC().Format("2006-01-02T15:04:05")
	}
	whole.count()
	d.add(whole, 0)
	for _, s := range g.Suites {
		named := *s
		named.Name = gateTestOf(g, s.Name) // the same for each commit, so that systems know a case again
		for i := range named.Cells {
			cell := named.Cells[i]
			row := gateRowOf(g, s.Name, cell.Name)
			if row.AnchorName != "" && cell.Verdict != nil { // the row has the anchor's criteria beside the suite's own
				cell.Verdict = &report.Verdict{Outcome: row.Outcome, Criteria: row.Criteria}
			}
			judged, took := junitCellOf(&named, &cell)
			if row.Silent {
				judged.silence()
			}
			d.add(judged, took)
		}
	}
}

// lineProperties are the two lines that a test, a cell or a gate begins with.
func lineProperties(l report.Lines) []junitProperty {
	return []junitProperty{{"summary", l.Summary}, {"message", l.Message}}
}

// linesText is the two lines as the beginning of an output.
func linesText(l report.Lines) string { return l.Summary + "\n" + l.Message + "\n" }

// gateRowOf is what the gate says of a suite's cell, or empty for nothing.
func gateRowOf(g *report.Gate, suite, cell string) report.GateRow {
	for _, r := range g.Rows {
		if r.Suite == suite && r.Cell == cell {
			return r
		}
	}
	return report.GateRow{}
}

// silence makes skipped cases of what is undecided, for it decides nothing of a gate, which may have passed.
func (s *junitSuite) silence() {
	for i := range s.Cases {
		if c := &s.Cases[i]; c.Error != nil {
			c.Skipped, c.Error = c.Error, nil
			s.Errors--
			s.Skipped++
		}
	}
}

// gateTestOf is what the file calls a suite. A witness isn't the search that it stands beside.
func gateTestOf(g *report.Gate, suite string) string {
	for _, r := range g.Rows {
		switch {
		case r.Suite != suite || r.Test == "":
		case r.Witness != "":
			return r.Test + "-" + strings.ToLower(r.Witness)
		default:
			return r.Test
		}
	}
	return suite
}

// add adds a testsuite, and how long it took.
func (d *junitSuites) add(s junitSuite, took time.Duration) {
	d.tellApart(s.Cases)
	d.Tests, d.Failures, d.Errors = d.Tests+s.Tests, d.Failures+s.Failures, d.Errors+s.Errors
	d.took += took
	d.Suites = append(d.Suites, s)
}

// tellApart numbers the classes of a suite that has a case of one of their names before it, as of a second run of
// one test, and a case of a name that its own suite has twice. CI systems drop all but one of the cases that have
// the same classname and name.
func (d *junitSuites) tellApart(cases []junitCase) {
	if d.used == nil {
		d.used = map[[2]string]bool{}
	}
	class := func(c junitCase, n int) string {
		if n == 1 {
			return c.ClassName
		}
		return fmt.Sprintf("%s (%d)", c.ClassName, n)
	}
	n := 1
	for slices.ContainsFunc(cases, func(c junitCase) bool { return d.used[[2]string{class(c, n), c.Name}] }) {
		n++
	}
	for i := range cases {
		c, name := &cases[i], cases[i].Name
		c.ClassName = class(*c, n)
		for copies := 2; d.used[[2]string{c.ClassName, c.Name}]; copies++ {
			c.Name = fmt.Sprintf("%s (%d)", name, copies)
		}
		d.used[[2]string{c.ClassName, c.Name}] = true
	}
}

func (d *junitSuites) write(w io.Writer) error {
	d.Time = seconds(d.took)
	b, err := xml.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return writeAll(w, "junit", bytes.NewBufferString(xml.Header+string(b)+"\n"))
}

func junitSuiteOf(r *report.Report) (junitSuite, error) {
	var evidence bytes.Buffer
	if err := Write(&evidence, "text", OfReports(r), TextOptions{Evidence: true}); err != nil {
		return junitSuite{}, err
	}
	h, took := figures.HeadlineOf(r), seconds(r.Finished.Sub(r.Started))
	s := junitSuite{Name: h.Title(), Time: took, Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: junitProperties(r, h), Output: evidence.String()}
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

// unmeasured is what is wrong with the measurement as a whole, or nil for nothing.
func unmeasured(r *report.Report) *junitTrouble {
	switch {
	case !report.HasFigure(r):
		return &junitTrouble{Type: string(cmp.Or(r.Answer.Reason, report.NotMeasured)), Message: answer.Sentence(r)}
	case r.Ending != report.Completed:
		return &junitTrouble{Type: string(r.Ending), Message: endingWarnings(r)[0]}
	}
	return nil
}

// judged are the criteria's results, those included that the plan demands and nobody came to judge.
func judged(r *report.Report) []report.CriterionResult {
	criteria, listed := r.Verdict.Criteria, map[string]bool{}
	for _, c := range criteria {
		listed[c.Name] = true
	}
	for _, c := range report.PlanOf(r).Criteria {
		if !listed[c.Name] {
			criteria = append(criteria[:len(criteria):len(criteria)], report.CriterionResult{Name: c.Name,
				Outcome: report.Undecided, Message: "the run ended before it could be judged"})
		}
	}
	return criteria
}

func criterionCase(class string, c report.CriterionResult) junitCase {
	testcase := junitCase{ClassName: class, Name: c.Name, Time: "0"}
	trouble := &junitTrouble{Type: cmp.Or(string(c.Reason), string(c.Outcome)), Message: c.Message, Text: c.Message}
	switch c.Outcome {
	case report.Passed:
	case report.DidFail:
		testcase.Failure = trouble
	case report.Undecided:
		testcase.Error = trouble
	default:
		testcase.Error = trouble
	}
	return testcase
}

// junitProperties are the figures as whole numbers, for trends from CI. A missing figure has no property.
func junitProperties(r *report.Report, h report.Headline) []junitProperty {
	props := []junitProperty{{"ending", string(r.Ending)}, {"standing", answer.Standing(r)},
		{"reason", string(r.Answer.Reason)}}
	props = append(props, lineProperties(report.Lines{Summary: answer.Figure(r) + ".", Message: answer.Sentence(r)})...)
	if !h.Measured {
		return props
	}
	add := func(name, value string) { props = append(props, junitProperty{name, value}) }
	add("lowerBound", strconv.FormatBool(h.Bound))
	add("confirmed", strconv.FormatBool(r.Answer.Confirmed))
	for _, d := range r.Answer.Directions {
		name := d.From + "-" + d.To + "."
		if s := d.Sessions; s != nil {
			add(name+"goodputBitsPerSecond", strconv.FormatInt(s.GoodputBitsPerSecond, 10))
			if u := s.Datagrams; u != nil {
				add(name+"datagramsSent", strconv.FormatInt(u.Sent, 10))
				add(name+"datagramsReceived", strconv.FormatInt(u.Received, 10))
				add(name+"datagramsLost", strconv.FormatInt(u.Lost, 10))
				continue
			}
			add(name+"retransmittedSegments", strconv.FormatInt(s.RetransmittedSegments, 10))
			if s.RoundTrip != nil && figures.PathDoubt(d) == "" {
				add(name+"roundTripMicroseconds", strconv.FormatInt(s.RoundTrip.MeanMicroseconds, 10))
			}
			continue
		}
		add(name+"receivedPacketsPerSecond", strconv.FormatInt(d.Received.PacketsPerSecond, 10))
		add(name+"receivedLayer1BitsPerSecond", strconv.FormatInt(d.Received.Layer1BitsPerSecond, 10))
		add(name+"lossRatio", d.LossRatio.String())
		add(name+"lineRatePercent", d.LineRatePercent.String())
		if d.Limit != nil {
			add(name+"lowerBound", strconv.FormatBool(figures.HeadlineIn(h, r, d).Bound))
			add(name+"reason", string(d.Limit.Reason))
		}
	}
	return props
}

// seconds writes a time as JUnit has it. A clock that was set back counts as none.
func seconds(d time.Duration) string { return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 3, 64) }
