package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/progress"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/suite"
	"github.com/linerate-dev/linerate/internal/wording"
)

// fleet is a LoadTestSuite that is measured on this machine: its tests one after the other, each in a lab of its own, which is gone before the next
// one's comes. Of a test that is over only what the suite needs of its Report stays in memory.
type fleet struct {
	matrix *suite.Matrix
	server *admission.Server
	// asked is the spec's parallelism.
	asked int32
	// test measures one test; nil: measureOne.
	test func(context.Context, Streams, runOptions, *plan.Plan, site, string, *report.Baseline) (*report.Report, error)

	alone *suite.Local
	began time.Time
	// here is how many tests were measured in this run, and took how long that was.
	here int
	took time.Duration
}

func (f *fleet) name() string { return f.matrix.Suite().Name }

// plan is what a test of the suite is to be measured by.
func (f *fleet) plan(w suite.Wanted) (*plan.Plan, error) {
	content, err := f.matrix.Content(w.Cell, w.Repetition, w.Try)
	if err != nil {
		return nil, err
	}
	object, faults := f.server.Admit(content)
	if len(faults) > 0 {
		return nil, faults
	}
	p, errs := compile.Compile(object.LoadTest)
	return p, object.Faults(errs)
}

// check says what of the suite can't be run here, before anything is sent.
func (f *fleet) check(o runOptions) error {
	for i := range f.matrix.Cells {
		p, err := f.plan(suite.Wanted{Cell: i, Repetition: 1, Try: 1})
		if err == nil {
			_, err = siteOf(p, o)
		}
		if err != nil {
			return exit.BadInput("%s: cell %s: %w", f.name(), f.matrix.Cells[i].Name, err)
		}
	}
	return nil
}

// measure carries the suite through, and goes on where an earlier run of it was cut short. It always returns the suite's report as far as it is.
func (f *fleet) measure(ctx context.Context, s Streams, o runOptions, shelf shelf) (*report.Suite, error) {
	s.Err = &onceOnly{out: s.Err}
	if err := f.begin(s, o, shelf); err != nil {
		return f.alone.Document(time.Now()), err
	}
	for {
		w, more := f.alone.Next(time.Now())
		if !more {
			return f.keep(shelf, nil)
		}
		if ctx.Err() != nil {
			return f.keep(shelf, f.interrupted(shelf))
		}
		if err := f.measureTest(ctx, s, o, shelf, w); err != nil {
			return f.keep(shelf, err)
		}
	}
}

// begin takes up what earlier runs measured, and says what there is to say before the first test.
func (f *fleet) begin(s Streams, o runOptions, shelf shelf) error {
	if err := f.goOn(s, o, shelf); err != nil || f.matrix.MaxAge() == 0 {
		return err
	}
	from := shelf
	if o.calibrations != "" {
		from.dir = o.calibrations
	}
	earlier, err := from.suites(s.Err)
	if err != nil {
		return err
	}
	for _, words := range f.alone.TakeCalibrations(earlier, time.Now()) {
		fmt.Fprintf(s.Err, "%s: not measured again: %s\n", f.name(), words)
	}
	return nil
}

// goOn takes up what an earlier run measured of the same suite.
func (f *fleet) goOn(s Streams, o runOptions, shelf shelf) error {
	f.began = time.Now()
	f.alone = suite.NewLocal(f.matrix, version, f.began)
	f.alone.SetReference(o.baseline)
	if f.asked > 1 {
		fmt.Fprintf(s.Err, "%s: spec.parallelism is %d; here tests run one at a time, as they would share the processors\n", f.name(), f.asked)
	}
	earlier, err := shelf.unfinished(f.name())
	if earlier == nil || err != nil {
		return err
	}
	f.alone = suite.NewLocal(f.matrix, version, earlier.Started)
	f.alone.SetReference(o.baseline)
	taken, left := f.alone.Resume(earlier, func(w suite.Wanted, run report.SuiteRun) string { return f.otherwise(shelf, o, w, run) })
	for _, words := range left[:min(len(left), mostLeft)] {
		fmt.Fprintf(s.Err, "%s: it is measured anew: %s\n", f.name(), words)
	}
	if more := len(left) - mostLeft; more > 0 {
		fmt.Fprintf(s.Err, "%s: and %d more are\n", f.name(), more)
	}
	if taken > 0 {
		are := "measurements are"
		if taken == 1 {
			are = "measurement is"
		}
		why := "which was cut short"
		if !earlier.Finished.IsZero() {
			why = "which didn't measure all"
		}
		words := fmt.Sprintf("%d %s of an earlier run, begun %s, %s", taken, are, earlier.Started.Local().Format(time.DateTime), why)
		fmt.Fprintf(s.Err, "%s: %s; it goes on from there (to begin anew, remove %s)\n", f.name(), words, shelf.path(suiteFile(f.name())))
		f.alone.Note(words)
	}
	return nil
}

// mostLeft is how many tests are named that aren't taken up.
const mostLeft = 5

// measureTest measures one test, and keeps what came of it. What goes wrong with one doesn't keep the next from being measured; bad input, an
// interrupt and a Report that can't be kept do.
func (f *fleet) measureTest(ctx context.Context, s Streams, o runOptions, shelf shelf, w suite.Wanted) error {
	since := time.Now()
	p, err := f.plan(w)
	if err != nil {
		return exit.BadInput("%s: %w", w.Name, err)
	}
	site, err := siteOf(p, o)
	if err != nil {
		return exit.BadInput("%s: %w", w.Name, err)
	}
	test := f.test
	if test == nil {
		test = measureOne
	}
	title := f.title(w)
	if why := f.alone.Again(w); why != "" && !o.quiet {
		fmt.Fprintf(s.Err, "%s: measured again: %s\n", title, why)
	}
	if terminal(s.Err) != nil { // one line has room for little
		title = strings.TrimPrefix(title, f.name()+": ")
	}
	r, err := test(ctx, s, o, p, site, title, nil)
	switch {
	case ctx.Err() != nil && (r == nil || r.Ending != report.Completed):
		if r != nil {
			_, err = shelf.keepTest(r)
		}
		return exit.Worst(f.interrupted(shelf), err)
	case err != nil && exit.Code(err) == report.ExitBadInput:
		return fmt.Errorf("%s: %w", w.Name, err)
	case err != nil:
		f.end(s, o, w, suite.FailedLocalRun(w, err.Error(), since), since)
	default:
		digest, err := shelf.keepTest(r)
		if err != nil {
			return err
		}
		f.end(s, o, w, suite.LocalRun(w, r, digest), since)
	}
	return shelf.keepSuite(f.alone.Document(time.Now()), false)
}

// end tells what came of a test.
func (f *fleet) end(s Streams, o runOptions, w suite.Wanted, run suite.Run, since time.Time) {
	title := f.title(w)
	f.alone.Record(run)
	f.here++
	f.took += time.Since(since)
	switch {
	case o.quiet:
	case run.Figures == nil:
		fmt.Fprintf(s.Err, "%s: not measured: %s: %s\n", title, run.Reason, run.Message)
	case terminal(s.Err) == nil:
		fmt.Fprintf(s.Err, "%s: measured %s%s\n", title, measuredWords(run.Figures), f.left())
	}
}

// measuredWords are a test's figures in a line.
func measuredWords(f *report.Figures) string {
	if f.OfSessions() {
		return wording.BitRate(*f.GoodputBitsPerSecond) + " goodput"
	}
	return progress.Rate(f.PacketsPerSecond) + ", " + f.LineRatePercent.FormatFixed() + " % of line rate"
}

// left is about how long the tests take that are still to come.
func (f *fleet) left() string {
	c := f.alone.Counts()
	n := c.Tests - c.Measured - c.NotMeasured
	if n <= 0 || f.here == 0 {
		return ""
	}
	each := f.took.Seconds() / float64(f.here)
	return fmt.Sprintf("; about %v left in all", time.Duration(each*float64(n))*time.Second)
}

// title says which test it is: "3 of 40, cell apu6-64b run 2".
func (f *fleet) title(w suite.Wanted) string {
	c := f.alone.Counts()
	text := fmt.Sprintf("%s: %d of %d, cell %s run %d", f.name(), c.Measured+c.NotMeasured+1, c.Tests, f.alone.Cell(w.Cell).Name, w.Repetition)
	if w.Try > 1 {
		text += fmt.Sprintf(", try %d", w.Try)
	}
	return text
}

// interrupted says what became of the measurements so far.
func (f *fleet) interrupted(shelf shelf) error {
	c := f.alone.Counts()
	words := fmt.Sprintf("%s: interrupted: %d of %d tests are measured", f.name(), c.Measured, c.Tests)
	if shelf.dir == "" {
		return exit.Interrupted("%s, and not kept, as --save is empty", words)
	}
	return exit.Interrupted("%s, and kept in %s: the same command goes on from there", words, shelf.dir)
}

// keep keeps the suite's report and its page. One that was ended before anything was measured leaves what an earlier run kept.
func (f *fleet) keep(shelf shelf, err error) (*report.Suite, error) {
	document := f.alone.Document(time.Now())
	if f.here == 0 && document.Finished.IsZero() {
		return document, err
	}
	return document, exit.Worst(err, shelf.keepSuite(document, true))
}

// otherwise says why a run of an earlier document can't stand for a test of this suite: its Report is gone or another, or it was measured in another
// way than the test would be now. Empty: it can.
func (f *fleet) otherwise(shelf shelf, o runOptions, w suite.Wanted, run report.SuiteRun) string {
	r, why := shelf.keptTest(w.Name, run.Report)
	if why != "" {
		return why
	}
	now, err := f.plan(w)
	if err != nil {
		return err.Error()
	}
	if apart := plan.Differences(now, r.Plan, 2); len(apart) > 0 {
		return "its Plan was another (the one is now, the other was then): " + strings.Join(apart, ", ")
	}
	for i, name := range o.ports {
		if p := r.Generators[0].Ports; i < len(p) && p[i].Name != "" && p[i].Name != name {
			return fmt.Sprintf("it was measured on interface %s, and --ports has %s", p[i].Name, name)
		}
	}
	if was := coresOf(r); was != 0 && was != o.cores && (r.Plan.Sending == nil || r.Plan.Sending.Cores == 0) {
		return fmt.Sprintf("it was measured with --cores %d, and --cores is %d now: give --cores %d to go on with what there is", was, o.cores, was)
	}
	return ""
}

// coresOf is the --cores that a Report was measured with; 0: it had no part in it, or isn't known.
func coresOf(r *report.Report) int {
	g := r.Generators[0]
	if r.Plan.GeneratorsRunAlready() || len(g.Ports) == 0 {
		return 0
	}
	return g.Cores / len(g.Ports)
}
