package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// localSuite is a LoadTestSuite that is measured on this machine: its tests one after the other, each in a lab of its own, which is removed before the next
// one is built. Of a finished test's Report only what the suite needs stays in memory.
type localSuite struct {
	matrix *suite.Matrix
	server *admission.Server
	// parallelism is spec.parallelism, which a single machine can't have.
	parallelism int32
	// test measures one test; nil: measureOne.
	test func(context.Context, Streams, runOptions, *plan.Plan, site, string, *report.Baseline) (*report.Report, error)

	alone *suite.Local
	began time.Time
	// measuredNow is how many tests this run has measured, and took is how long they took.
	measuredNow int
	took        time.Duration
}

func (f *localSuite) name() string { return f.matrix.Suite().Name }

// plan compiles one of the suite's tests.
func (f *localSuite) plan(w suite.Wanted) (*plan.Plan, error) {
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

// check compiles a test of each cell, and says what can't be run on this machine before anything is sent.
func (f *localSuite) check(o runOptions) error {
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

// measure runs the suite's tests, and resumes an earlier run that was cut short. It returns the suite's report also with an error, with what was measured by then.
func (f *localSuite) measure(ctx context.Context, s Streams, o runOptions, folder reportFolder) (*report.Suite, error) {
	s.Err = &firstOnly{out: s.Err}
	if err := f.begin(s, o, folder); err != nil {
		return f.alone.Document(time.Now()), err
	}
	for {
		w, more := f.alone.Next(time.Now())
		if !more {
			return f.keep(folder, nil)
		}
		if ctx.Err() != nil {
			return f.keep(folder, f.interrupted(folder))
		}
		if err := f.measureTest(ctx, s, o, folder, w); err != nil {
			return f.keep(folder, err)
		}
	}
}

// begin loads what earlier runs measured, and prints which calibrations are reused.
func (f *localSuite) begin(s Streams, o runOptions, folder reportFolder) error {
	if err := f.resume(s, o, folder); err != nil || f.matrix.MaxAge() == 0 {
		return err
	}
	from := folder
	if o.calibrations != "" {
		from.dir = o.calibrations
	}
	earlier, err := from.suites(s.Err)
	if err != nil {
		return err
	}
	for _, words := range f.alone.ReuseCalibrations(earlier, time.Now()) {
		fmt.Fprintf(s.Err, "%s: not measured again: %s\n", f.name(), words)
	}
	return nil
}

// resume loads what an earlier run of the same suite measured, and prints which of its tests have to be measured again, and why.
func (f *localSuite) resume(s Streams, o runOptions, folder reportFolder) error {
	f.began = time.Now()
	f.alone = suite.NewLocal(f.matrix, version, f.began)
	f.alone.SetReference(o.baseline)
	if f.parallelism > 1 {
		fmt.Fprintf(s.Err, "%s: spec.parallelism is %d; here tests run one at a time, as they would share the processors\n", f.name(), f.parallelism)
	}
	earlier, err := folder.unfinished(f.name())
	if earlier == nil || err != nil {
		return err
	}
	f.alone = suite.NewLocal(f.matrix, version, earlier.Started)
	f.alone.SetReference(o.baseline)
	taken, left := f.alone.Resume(earlier, func(w suite.Wanted, run report.SuiteRun) string { return f.notReusable(folder, o, w, run) })
	for _, words := range left[:min(len(left), mostNamed)] {
		fmt.Fprintf(s.Err, "%s: measured again: %s\n", f.name(), words)
	}
	if more := len(left) - mostNamed; more > 0 {
		fmt.Fprintf(s.Err, "%s: and %d more tests\n", f.name(), more)
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
		fmt.Fprintf(s.Err, "%s: %s; it goes on from there (to begin anew, remove %s)\n", f.name(), words, folder.path(suiteFile(f.name())))
		f.alone.Note(words)
	}
	return nil
}

// mostNamed is how many of the tests that are measured again are named.
const mostNamed = 5

// measureTest measures one test, and keeps its Report. A test that fails doesn't end the suite; bad input, an
// interrupt and a Report that can't be written do.
func (f *localSuite) measureTest(ctx context.Context, s Streams, o runOptions, folder reportFolder, w suite.Wanted) error {
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
	if why := f.alone.WhyRepeated(w); why != "" && !o.quiet {
		fmt.Fprintf(s.Err, "%s: measured again: %s\n", title, why)
	}
	if terminal(s.Err) != nil { // one line has room for little
		title = strings.TrimPrefix(title, f.name()+": ")
	}
	r, err := test(ctx, s, o, p, site, title, nil)
	switch {
	case ctx.Err() != nil && (r == nil || r.Ending != report.Completed):
		if r != nil {
			_, err = folder.keepTest(r)
		}
		return exit.Worst(f.interrupted(folder), err)
	case err != nil && exit.Code(err) == report.ExitBadInput:
		return fmt.Errorf("%s: %w", w.Name, err)
	case err != nil:
		f.end(s, o, w, suite.FailedLocalRun(w, err.Error(), since), since)
	default:
		digest, err := folder.keepTest(r)
		if err != nil {
			return err
		}
		f.end(s, o, w, suite.LocalRun(w, r, digest), since)
	}
	return folder.keepSuite(f.alone.Document(time.Now()), false)
}

// end records a finished test, and prints its figures or why it has none.
func (f *localSuite) end(s Streams, o runOptions, w suite.Wanted, run suite.Run, since time.Time) {
	title := f.title(w)
	f.alone.Record(run)
	f.measuredNow++
	f.took += time.Since(since)
	switch {
	case o.quiet:
	case run.Figures == nil:
		fmt.Fprintf(s.Err, "%s: not measured: %s: %s\n", title, run.Reason, run.Message)
	case terminal(s.Err) == nil:
		fmt.Fprintf(s.Err, "%s: measured %s%s\n", title, figuresLine(run.Figures), f.remaining())
	}
}

// figuresLine is a test's throughput in one line.
func figuresLine(f *report.Figures) string {
	if f.OfSessions() {
		return wording.BitRate(*f.GoodputBitsPerSecond) + " goodput"
	}
	return wording.PacketRate(f.PacketsPerSecond) + ", " + f.LineRatePercent.FormatFixed() + " % of line rate"
}

// remaining estimates how long the tests that are still to come will take.
func (f *localSuite) remaining() string {
	c := f.alone.Counts()
	n := c.Tests - c.Measured - c.NotMeasured
	if n <= 0 || f.measuredNow == 0 {
		return ""
	}
	each := f.took.Seconds() / float64(f.measuredNow)
	return fmt.Sprintf("; about %v left in all", time.Duration(each*float64(n))*time.Second)
}

// title names a test and its place in the suite: "3 of 40, cell apu6-64b run 2".
func (f *localSuite) title(w suite.Wanted) string {
	c := f.alone.Counts()
	text := fmt.Sprintf("%s: %d of %d, cell %s run %d", f.name(), c.Measured+c.NotMeasured+1, c.Tests, f.alone.Cell(w.Cell).Name, w.Repetition)
	if w.Try > 1 {
		text += fmt.Sprintf(", try %d", w.Try)
	}
	return text
}

// interrupted is the error of an interrupted suite; it says where the measurements so far are kept.
func (f *localSuite) interrupted(folder reportFolder) error {
	c := f.alone.Counts()
	words := fmt.Sprintf("%s: interrupted: %d of %d tests are measured", f.name(), c.Measured, c.Tests)
	if folder.dir == "" {
		return exit.Interrupted("%s, and not kept, as --save is empty", words)
	}
	return exit.Interrupted("%s, and kept in %s: the same command goes on from there", words, folder.dir)
}

// keep writes the suite's report and its page. A run that measured nothing leaves the files of an earlier run as they are.
func (f *localSuite) keep(folder reportFolder, err error) (*report.Suite, error) {
	document := f.alone.Document(time.Now())
	if f.measuredNow == 0 && document.Finished.IsZero() {
		return document, err
	}
	return document, exit.Worst(err, folder.keepSuite(document, true))
}

// notReusable says why a run of an earlier document can't count as a test of this suite: its Report is gone or another one, or the test would be measured
// in another way now. It is empty where the run counts.
func (f *localSuite) notReusable(folder reportFolder, o runOptions, w suite.Wanted, run report.SuiteRun) string {
	r, why := folder.keptTest(w.Name, run.Report)
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
	if was, now := coresOf(r), max(o.cores, 1); was != 0 && was != now && (r.Plan.Sending == nil || r.Plan.Sending.Cores == 0) {
		return fmt.Sprintf("it was measured with --cores %d, and --cores is %d now: give --cores %d to go on with what there is", was, now, was)
	}
	return ""
}

// coresOf is the --cores that a Report was measured with; 0 where the flag had no effect, or the Report doesn't say.
func coresOf(r *report.Report) int {
	g := r.Generators[0]
	if r.Plan.GeneratorsRunAlready() || len(g.Ports) == 0 {
		return 0
	}
	return g.Cores / len(g.Ports)
}
