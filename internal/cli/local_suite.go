package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// localSuite measures a LoadTestSuite on this machine, one test after the other. Each test has a lab of its
// own, which is removed before the next one is built. Of a finished test's Report only what the suite needs
// stays in memory.
type localSuite struct {
	matrix *suite.Matrix
	server *admission.Server
	// parallelism is spec.parallelism, which has no effect on a single machine.
	parallelism int32
	// measureOne replaces the function of this name in tests. It is nil otherwise.
	measureOne func(context.Context, Streams, runOptions, *plan.Plan, site, string, *report.Baseline) (*report.Report,
		error)

	state *suite.Local
	// measured is how many tests this run has measured, and duration is the sum of their durations.
	measured int
	duration time.Duration
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

// check compiles a test of each cell, and refuses cells that can't run on this machine before any traffic.
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

// measure runs the suite's tests, and resumes an earlier run that was cut short. It returns the suite's report
// also with an error.
func (f *localSuite) measure(ctx context.Context, s Streams, o runOptions, folder reportFolder) (*report.Suite, error) {
	s.Stderr = &firstOnly{stderr: s.Stderr}
	if err := f.begin(s, o, folder); err != nil {
		return f.state.Document(time.Now()), err
	}
	for _, sentence := range f.state.Foresee(f.prospect()) {
		fmt.Fprintf(s.Stderr, "%s: known before the first run: %s\n", f.name(), sentence)
	}
	for {
		w, ok := f.state.Next(time.Now())
		if !ok {
			return f.keep(folder, nil)
		}
		if o.calibrate && !f.matrix.Calibrates(w.Cell) {
			fmt.Fprintf(s.Stderr, "%s: what the generators reach by themselves is measured: cable the device, and run the "+
				"same command without --calibrate\n", f.name())
			return f.keep(folder, nil)
		}
		if ctx.Err() != nil {
			return f.keep(folder, f.interrupted(folder))
		}
		if f.matrix.Calibrates(w.Cell) && !o.calibrate {
			ports, err := f.cabledPorts(o, w)
			if ports != "" {
				err = exit.NotMeasured("%s: the calibration %s is measured over a cable in the device's place: "+
					"cable the ports %s to each other, in the links' pairs, and run the same command with --calibrate; "+
					"then cable the device, and run this one again", f.name(), f.matrix.Cells[w.Cell].Name, ports)
			}
			if err != nil {
				return f.keep(folder, err)
			}
		}
		if err := f.measureTest(ctx, s, o, folder, w); err != nil {
			return f.keep(folder, err)
		}
	}
}

// cabledPorts names the ports that people cable for a calibration: those of --ports, or of generators that run
// already. It is empty where linerate makes the ports and the cable.
func (f *localSuite) cabledPorts(o runOptions, w suite.Wanted) (string, error) {
	if len(o.ports) > 0 {
		return strings.Join(o.ports, ","), nil
	}
	p, err := f.plan(w)
	if err != nil {
		return "", err
	}
	var servers []string
	for _, g := range p.Generators {
		if g.Server != "" {
			servers = append(servers, g.Server)
		}
	}
	if len(servers) == 0 {
		return "", nil
	}
	return "of " + strings.Join(servers, ", "), nil
}

// prospect is what is known before the first test: the tests' Plans and, if their generators run here, this machine, as
// far as it must be the baseline's.
func (f *localSuite) prospect() suite.Prospect {
	planOf := func(cell int) *plan.Plan {
		p, err := f.plan(suite.Wanted{Cell: cell, Repetition: 1, Try: 1})
		if err != nil { // the check reports it
			return nil
		}
		return p
	}
	return suite.Prospect{PlanOf: planOf, LocalMachine: sync.OnceValue(func() *report.Machine {
		for i := range f.matrix.Cells {
			if p := planOf(i); p != nil && p.GeneratorsRunAlready() {
				return nil
			}
		}
		local := machine.Local()
		name, _ := os.Hostname()
		return &report.Machine{Node: name, CPUModel: local.CPUModel, Processors: local.Processors}
	})}
}

// begin loads the measurements of earlier runs, and prints which calibrations are reused.
func (f *localSuite) begin(s Streams, o runOptions, folder reportFolder) error {
	if err := f.resume(s, o, folder); err != nil || f.matrix.MaxAge() == 0 {
		return err
	}
	earlier, err := reportFolder{cmp.Or(o.calibrations, folder.dir)}.suites(s.Stderr)
	if err != nil {
		return err
	}
	for _, calibration := range f.state.ReuseCalibrations(earlier, time.Now()) {
		fmt.Fprintf(s.Stderr, "%s: not measured again: %s\n", f.name(), calibration)
	}
	return nil
}

// resume loads the measurements of an earlier run of the same suite, and prints which tests it measures again, and why.
func (f *localSuite) resume(s Streams, o runOptions, folder reportFolder) error {
	f.state = suite.NewLocal(f.matrix, version, time.Now())
	f.state.SetReference(o.baseline)
	if f.parallelism > 1 {
		fmt.Fprintf(s.Stderr, "%s: spec.parallelism is %d; here tests run one at a time, as they would share the "+
			"processors\n", f.name(), f.parallelism)
	}
	earlier, err := folder.unfinished(f.name())
	if earlier == nil || err != nil {
		return err
	}
	f.state = suite.NewLocal(f.matrix, version, earlier.Started)
	f.state.SetReference(o.baseline)
	reused, repeated := f.state.Resume(earlier, func(w suite.Wanted, run report.SuiteRun) string {
		return f.repetitionReason(folder, o, w, run)
	})
	for _, test := range repeated[:min(len(repeated), maxNamed)] {
		fmt.Fprintf(s.Stderr, "%s: measured again: %s\n", f.name(), test)
	}
	if unnamed := len(repeated) - maxNamed; unnamed > 0 {
		fmt.Fprintf(s.Stderr, "%s: and %d more tests\n", f.name(), unnamed)
	}
	if reused > 0 {
		subject := "measurements are"
		if reused == 1 {
			subject = "measurement is"
		}
		end := "which was cut short"
		if !earlier.Finished.IsZero() {
			end = "which didn't measure all"
		}
		note := fmt.Sprintf("%d %s of an earlier run, begun %s, %s", reused, subject,
			earlier.Started.Local().Format(time.DateTime), end)
		fmt.Fprintf(s.Stderr, "%s: %s; it goes on from there (to begin anew, remove %s)\n", f.name(), note,
			folder.path(suiteFile(f.name())))
		f.state.Note(note)
	}
	return nil
}

// maxNamed is how many of the tests that are measured again are named.
const maxNamed = 5

// measureTest measures one test, and keeps its Report. A test that fails doesn't end the suite. Bad input, an
// interrupt and a Report that can't be written end it.
func (f *localSuite) measureTest(ctx context.Context, s Streams, o runOptions, folder reportFolder,
	w suite.Wanted) error {
	start := time.Now()
	p, err := f.plan(w)
	if err != nil {
		return exit.BadInput("%s: %w", w.Name, err)
	}
	site, err := siteOf(p, o)
	if err != nil {
		return exit.BadInput("%s: %w", w.Name, err)
	}
	measure := f.measureOne
	if measure == nil {
		measure = measureOne
	}
	title := f.title(w)
	if reason := f.state.WhyRepeated(w); reason != "" && !o.quiet {
		fmt.Fprintf(s.Stderr, "%s: measured again: %s\n", title, reason)
	}
	if terminal(s.Stderr) != nil { // a line of a terminal is short
		title = strings.TrimPrefix(title, f.name()+": ")
	}
	r, err := measure(ctx, s, o, p, site, title, nil)
	switch {
	case ctx.Err() != nil && (r == nil || r.Ending != report.Completed):
		if r != nil {
			_, err = folder.keepTest(r)
		}
		return exit.Worst(f.interrupted(folder), err)
	case err != nil && exit.Code(err) == report.ExitBadInput:
		return fmt.Errorf("%s: %w", w.Name, err)
	case err != nil:
		f.end(s, o, w, suite.FailedLocalRun(w, err.Error(), start), start)
	default:
		digest, err := folder.keepTest(r)
		if err != nil {
			return err
		}
		f.end(s, o, w, suite.LocalRun(w, r, digest), start)
	}
	return folder.keepSuite(f.state.Document(time.Now()), false)
}

// end records a finished test, and prints its figures, or the reason why it has none.
func (f *localSuite) end(s Streams, o runOptions, w suite.Wanted, run suite.Run, start time.Time) {
	title := f.title(w)
	f.state.Record(run)
	f.measured++
	f.duration += time.Since(start)
	switch {
	case o.quiet:
	case run.Figures == nil:
		fmt.Fprintf(s.Stderr, "%s: not measured: %s: %s\n", title, run.Reason, run.Message)
	case terminal(s.Stderr) == nil:
		fmt.Fprintf(s.Stderr, "%s: measured %s%s\n", title, figuresLine(run.Figures), f.remaining())
	}
}

// figuresLine is a test's throughput in one line.
func figuresLine(f *report.Figures) string {
	if f.OfTrains() {
		return figures.TimeText(f.Headline())
	}
	if f.OfSessions() {
		return wording.BitRate(*f.GoodputBitsPerSecond) + " goodput"
	}
	return wording.PacketRate(f.PacketsPerSecond) + ", " + f.LineRatePercent.FormatFixed() + " % of line rate"
}

// remaining estimates how long the remaining tests take.
func (f *localSuite) remaining() string {
	c := f.state.Counts()
	n := c.Tests - c.Measured - c.NotMeasured
	if n <= 0 || f.measured == 0 {
		return ""
	}
	mean := f.duration.Seconds() / float64(f.measured)
	return fmt.Sprintf("; about %v left in all", time.Duration(mean*float64(n))*time.Second)
}

// title names a test and its place in the suite, such as "3 of 40, cell apu6-64b run 2".
func (f *localSuite) title(w suite.Wanted) string {
	c := f.state.Counts()
	text := fmt.Sprintf("%s: %d of %d, cell %s run %d", f.name(), c.Measured+c.NotMeasured+1, c.Tests,
		f.state.Cell(w.Cell).Name, w.Repetition)
	if w.Try > 1 {
		text += fmt.Sprintf(", try %d", w.Try)
	}
	return text
}

// interrupted is the error of an interrupted suite. It says where the measurements are kept.
func (f *localSuite) interrupted(folder reportFolder) error {
	c := f.state.Counts()
	words := fmt.Sprintf("%s: interrupted: %d of %d tests are measured", f.name(), c.Measured, c.Tests)
	if folder.dir == "" {
		return exit.Interrupted("%s, and not kept, as --save is empty", words)
	}
	return exit.Interrupted("%s, and kept in %s: the same command goes on from there", words, folder.dir)
}

// checkCalibrate refuses --calibrate where there is nothing to calibrate, or where what is measured isn't kept.
func (i inputs) checkCalibrate(o runOptions) error {
	switch {
	case o.save == "":
		return exit.BadInput("--calibrate: what it measures is for the next command, so keep it: name a directory with " +
			"--save")
	case len(i.plans) > 0:
		return exit.BadInput("--calibrate: LoadTest %s has no calibration: give files with LoadTestSuites alone",
			i.plans[0].Test.Name)
	}
	for _, f := range i.suites {
		if len(f.matrix.Cells) == 0 || !f.matrix.Calibrates(0) {
			return exit.BadInput("--calibrate: %s has nothing to calibrate: add spec.calibration: {}, and cells with "+
				"traffic of frames through a device", f.name())
		}
	}
	return nil
}

// checkCalibrated is an error where a calibration of a suite has no figures.
func checkCalibrated(suites []*report.Suite) error {
	for _, s := range suites {
		for _, c := range s.Cells {
			if c.Calibration && c.Figures == nil {
				return exit.NotMeasured("%s: the calibration %s was not measured: %s", s.Name, c.Name, c.Message)
			}
		}
	}
	return nil
}

// keep writes the suite's report and its page. A run that measured nothing doesn't overwrite an earlier run's files.
func (f *localSuite) keep(folder reportFolder, err error) (*report.Suite, error) {
	document := f.state.Document(time.Now())
	if f.measured == 0 && document.Finished.IsZero() {
		return document, err
	}
	return document, exit.Worst(err, folder.keepSuite(document, true))
}

// repetitionReason says why a run of an earlier document has to be measured again. Its Report may be gone or
// another one, or the test would now be measured in another way. It is empty for a run that is reused.
func (f *localSuite) repetitionReason(folder reportFolder, o runOptions, w suite.Wanted, run report.SuiteRun) string {
	r, fault := folder.keptTest(w.Name, run.Report)
	if fault != "" {
		return fault
	}
	p, err := f.plan(w)
	if err != nil {
		return err.Error()
	}
	if differences := plan.Differences(p, r.Plan, 2); len(differences) > 0 {
		return "its Plan was another (the one is now, the other was then): " + strings.Join(differences, ", ")
	}
	for i, name := range o.ports {
		if p := r.Generators[0].Ports; i < len(p) && p[i].Name != "" && p[i].Name != name {
			return fmt.Sprintf("it was measured on interface %s, and --ports has %s", p[i].Name, name)
		}
	}
	earlier, cores := coresOf(r), max(o.cores, 1)
	if earlier != 0 && earlier != cores && (r.Plan.Sending == nil || r.Plan.Sending.Cores == 0) {
		return fmt.Sprintf("it was measured with --cores %[1]d, and --cores is %[2]d now: give --cores %[1]d to go "+
			"on with what there is", earlier, cores)
	}
	return ""
}

// coresOf is the --cores of a Report's run. 0 means that the flag had no effect, or the Report doesn't have it.
func coresOf(r *report.Report) int {
	g := r.Generators[0]
	if r.Plan.GeneratorsRunAlready() || len(g.Ports) == 0 {
		return 0
	}
	return g.Cores / len(g.Ports)
}
