package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// junitCell is a cell as a testsuite: a testcase "measured", and one for each criterion.
func (s *Suite) junitCell(c *SuiteCell) (out junitSuite, took time.Duration) {
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
	class := s.Name + "." + c.Name
	out = junitSuite{Name: s.Name + ": " + headline{Product: c.Product, Loadtest: c.Loadtest}.title(), Time: seconds(took),
		Timestamp: began.UTC().Format("2006-01-02T15:04:05"), Properties: c.junitProperties(), Output: c.runLines()}
	out.Cases = append(out.Cases, junitCase{ClassName: class, Name: "measured", Time: seconds(took), Error: c.unmeasured()})
	if c.Verdict != nil {
		for _, criterion := range c.Verdict.Criteria {
			out.Cases = append(out.Cases, criterionCase(class, criterion))
		}
	}
	out.count()
	return out, took
}

// junitProperties are the cell's figures as whole numbers, as those of a test; a figure that isn't there has no property.
func (c *SuiteCell) junitProperties() []junitProperty {
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
func (c *SuiteCell) runLines() string {
	var b strings.Builder
	_, repeated := c.Gaps()
	for _, r := range c.Runs {
		if !r.Counts() {
			became, gap := "not measured", Missing{Test: r.Test, Reason: r.Reason, Message: r.Message}
			if i := slices.IndexFunc(repeated, func(m Missing) bool { return m.Test == r.Test }); i >= 0 {
				became, gap = repeated[i].again(), repeated[i]
			}
			fmt.Fprintf(&b, "%s: %s: %s\n", r.Test, became, gap.words())
			continue
		}
		h := r.Figures.headline()
		fmt.Fprintf(&b, "%s: %s  %s  %s of line rate (%s)\n", r.Test, h.bound(pps(r.Figures.PacketsPerSecond)), h.bound(bps(r.Figures.Layer1BitsPerSecond)),
			h.bound(percentOf(together(r.Figures))), r.Reason)
	}
	if c.Message != "" {
		b.WriteString("! " + c.Message + "\n")
	}
	for _, o := range c.Outliers {
		b.WriteString("! " + outlierWords(o) + "\n")
	}
	return b.String()
}
