package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// junitCellOf is a cell as a testsuite, with a testcase "measured", and one for each criterion.
func junitCellOf(s *report.Suite, c *report.SuiteCell) (suite junitSuite, took time.Duration) {
	var began time.Time
	for _, r := range c.Runs {
		if began.IsZero() || !r.Started.IsZero() && r.Started.Before(began) {
			began = r.Started
		}
		if !r.Started.IsZero() {
			took += max(0, r.Finished.Sub(r.Started))
		}
	}
	if began.IsZero() {
		began = s.Started
	}
	class, lines := s.Name+"."+c.Name, answer.OfTable(&report.Table{Cells: c.Rows()})
	suite = junitSuite{Name: s.Name + ": " + titleOf(c.Product, c.Loadtest), Time: seconds(took),
		Timestamp: began.UTC().Format("2006-01-02T15:04:05"), Properties: append(lineProperties(lines), cellProperties(c)...),
		Output: linesText(lines) + runLines(c)}
	suite.Cases = append(suite.Cases, junitCase{ClassName: class, Name: "measured", Time: seconds(took),
		Error: unmeasuredCell(c)})
	if c.Verdict != nil {
		for _, criterion := range c.Verdict.Criteria {
			suite.Cases = append(suite.Cases, criterionCase(class, criterion))
		}
	}
	suite.count()
	return suite, took
}

// cellProperties are the cell's figures as whole numbers, as those of a test. A missing figure has no property.
func cellProperties(c *report.SuiteCell) []junitProperty {
	props := []junitProperty{{"cell", c.Name}}
	for _, v := range c.Values {
		props = append(props, junitProperty{v.Axis, v.Value})
	}
	for _, image := range c.Images {
		props = append(props, junitProperty{"image." + image.Name, image.Short()})
	}
	f := c.Figures
	if f == nil {
		return props
	}
	if f.OfTrains() {
		return append(props, junitProperty{"runs", strconv.Itoa(f.Runs)}, junitProperty{"picosecondsPerFrame",
			strconv.FormatInt(*f.PicosecondsPerFrame, 10)})
	}
	if f.OfSessions() {
		return append(props, junitProperty{"runs", strconv.Itoa(f.Runs)}, junitProperty{"goodputBitsPerSecond",
			strconv.FormatInt(*f.GoodputBitsPerSecond, 10)},
			junitProperty{"lowerBound", strconv.FormatBool(f.LowerBound)})
	}
	props = append(props,
		junitProperty{"runs", strconv.Itoa(f.Runs)},
		junitProperty{"receivedPacketsPerSecond", strconv.FormatInt(f.PacketsPerSecond, 10)},
		junitProperty{"receivedLayer1BitsPerSecond", strconv.FormatInt(f.Layer1BitsPerSecond, 10)},
		junitProperty{"lineRatePercent", f.LineRatePercent.String()},
		junitProperty{"lowerBound", strconv.FormatBool(f.LowerBound)})
	if f.Unconfirmed > 0 {
		props = append(props, junitProperty{"unconfirmed", strconv.Itoa(f.Unconfirmed)})
	}
	if f.Spread != nil {
		props = append(props, junitProperty{"spreadPercent", f.Spread.Percent.FormatFixed()})
	}
	return props
}

// runLines are the cell's runs, a line each, and what else is to be said of the cell, as in its table.
func runLines(c *report.SuiteCell) string {
	var b strings.Builder
	_, repeated := c.Gaps()
	for _, r := range c.Runs {
		if !r.Counts() {
			became, gap := "not measured", report.Missing{Test: r.Test, Reason: r.Reason, Message: r.Message}
			if i := slices.IndexFunc(repeated, func(m report.Missing) bool { return m.Test == r.Test }); i >= 0 {
				became, gap = againWords(repeated[i]), repeated[i]
			}
			fmt.Fprintf(&b, "%s: %s: %s\n", r.Test, became, missingWords(gap))
			continue
		}
		h := r.Figures.Headline()
		if h.OfSessions {
			fmt.Fprintf(&b, "%s: %s (%s)\n", r.Test, goodputText(h), r.Reason)
			continue
		}
		fmt.Fprintf(&b, "%s: %s  %s  %s of line rate (%s)\n", r.Test,
			h.Signed(wording.PacketRate(r.Figures.PacketsPerSecond)),
			h.Signed(wording.BitRate(r.Figures.Layer1BitsPerSecond)),
			h.Signed(wording.Percent(r.Figures.LineRatePercent)), r.Reason)
	}
	if c.Message != "" {
		b.WriteString("! " + c.Message + "\n")
	}
	for _, o := range c.Outliers {
		b.WriteString("! " + report.OutlierWords(o) + "\n")
	}
	return b.String()
}

// unmeasuredCell is what is wrong with the cell's measurement. It is nil where each of its repetitions gave a
// figure.
func unmeasuredCell(c *report.SuiteCell) *junitTrouble {
	missing, _ := c.Gaps()
	switch {
	case len(missing) == 0 && c.Figures != nil:
		return nil
	case len(missing) == 0:
		return &junitTrouble{Type: string(report.NotMeasured), Message: "Not measured: no test of it has ended."}
	}
	var words []string
	for _, r := range missing {
		words = append(words, r.Test+": "+missingWords(r))
	}
	message := "Not measured: "
	if c.Figures != nil {
		message = fmt.Sprintf("Measured in part, without %s: ", wording.Counted(len(missing), "run"))
	}
	return &junitTrouble{Type: missing[0].Reason, Message: message + strings.Join(words, "; ")}
}
