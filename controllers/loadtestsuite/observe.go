package loadtestsuite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// observation is what a decision is made from, and the notes for the next one.
type observation struct {
	suite.Observed
	notes *notes
}

// observe reads the caches and, the first time, the suite's stored runs. It returns nil without an error where
// the suite doesn't exist.
func (r *Reconciler) observe(ctx context.Context, name types.NamespacedName) (*observation, error) {
	s := &v1alpha1.LoadTestSuite{}
	if !r.options.Namespaces.Contains(name.Namespace) { // another operator's runs may share this one's namespace
		return nil, nil
	}
	if err := r.client.Get(ctx, name, s); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.memory.forget(name)
			return nil, r.clearSheets(ctx, name) // a deleted suite is no error
		}
		return nil, fmt.Errorf("get the LoadTestSuite: %w", err)
	}
	notes, err := r.notesOn(ctx, s)
	if err != nil {
		return nil, err
	}
	if notes.behind(s) {
		return nil, pass.Wait("the caches lack what was written last", caches.MaxBehind)
	}
	tests, err := r.testsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	clock := r.options.Clock()
	now := pass.AsStored(clock)
	notes.catchUp(tests, now)
	_, createFrom := notes.mayTry(clock)
	observed := &observation{notes: notes, Observed: suite.Observed{
		Suite: s, Matrix: notes.matrix, Now: now, Tests: tests, Pending: notes.pendingNames(), Runs: notes.runs,
		Stored: notes.stored, StoredAt: notes.storedAt, Sheets: notes.sheets,
		Unreported: notes.unreported, ReportAt: notes.reportAt, Obstacles: notes.inTheWay(now), CreateFrom: createFrom,
		TakenNames: notes.takenNames(now),
		Unstored:   notes.whyUnstored(now), Version: r.options.Version, EarlierRead: notes.earlierRead,
	}}
	if c := notes.checking; c != nil && c.Finished() {
		observed.Checked, observed.Faults = true, c.Faults
	}
	return observed, nil
}

// notesOn are the notes on the suite, from this process' memory, or from what an earlier process stored.
func (r *Reconciler) notesOn(ctx context.Context, s *v1alpha1.LoadTestSuite) (*notes, error) {
	complete := meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete)
	if notes := r.memory.notesOn(s); notes != nil && (complete || !notes.light) {
		if complete {
			notes.lighten()
		}
		return notes, nil
	}
	if r.memory.reading(s) == nil {
		if err := r.clearSheets(ctx, client.ObjectKeyFromObject(s)); err != nil {
			return nil, err
		}
	}
	notes := newNotes(s)
	if s.Status.StartTime != nil { // before its start a suite has stored nothing
		var err error
		if notes, err = r.readSheets(ctx, s); err != nil {
			return nil, err
		}
	}
	if complete {
		notes.lighten()
	}
	r.memory.keep(s, notes)
	return notes, nil
}

// ownSheetsAtOnce is how many sheets of a suite's own runs one pass reads.
const ownSheetsAtOnce = 16

// readSheets reads the suite's stored runs. It returns no error once all have been read.
func (r *Reconciler) readSheets(ctx context.Context, cached *v1alpha1.LoadTestSuite) (*notes, error) {
	state := r.memory.reading(cached)
	if state == nil {
		var err error
		if state, err = r.beginReading(ctx, cached); err != nil {
			return nil, err
		}
	}
	notes, reading := state.notes, state.reading
	for n := 0; !reading.Complete; n++ {
		if n == ownSheetsAtOnce {
			return nil, errMore
		}
		name := reading.Name()
		version, err := r.readSheet(ctx, reading)
		if err != nil {
			return nil, err
		}
		notes.versions[name] = version
	}
	notes.version = state.suite.ResourceVersion // no decision is made from an older version
	notes.runs, notes.stored, notes.sheets = reading.Runs, reading.Stored, reading.Sheets
	notes.unreported = len(notes.runs) > 0
	return notes, nil
}

// beginReading begins to read a suite's own runs, by the status read past the cache, since the cache's may be
// older than the sheets.
func (r *Reconciler) beginReading(ctx context.Context, cached *v1alpha1.LoadTestSuite) (*sheetReading, error) {
	s := &v1alpha1.LoadTestSuite{}
	switch err := r.live.Get(ctx, client.ObjectKeyFromObject(cached), s); {
	case apierrors.IsNotFound(err) || err == nil && s.UID != cached.UID:
		return nil, pass.Wait("the caches have a suite that is gone", caches.MaxBehind)
	case err != nil:
		return nil, fmt.Errorf("get the LoadTestSuite: %w", err)
	}
	notes := newNotes(s)
	state := &sheetReading{suite: s, notes: notes, reading: notes.matrix.NewReading()}
	r.memory.begin(state)
	return state, nil
}

// errBusy means that there is no memory for a sheet of runs while other documents are read.
var errBusy = pass.Wait("other documents are read first", time.Second)

// unreadable is why a sheet has no runs that can be read.
type unreadable struct{ error }

// readSheet reads the next sheet of a suite's runs, once there is memory for it, and returns its resource
// version. If there is no further sheet, the reading is complete.
func (r *Reconciler) readSheet(ctx context.Context, reading *suite.Reading) (version string, err error) {
	var sheet corev1.ConfigMap
	switch err := r.live.Get(ctx, client.ObjectKey{Namespace: r.options.Namespace, Name: reading.Name()}, &sheet); {
	case apierrors.IsNotFound(err):
		reading.Complete = true
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read ConfigMap %s of the runs: %w", reading.Name(), err)
	}
	// a sheet without a size can't be decoded either, and that error says why
	if memory, err := delivery.RunsMemory(sheet.BinaryData); err == nil {
		giveBack, ok := r.options.Decoded.TryTake(memory)
		if !ok {
			return "", errBusy
		}
		defer giveBack()
	}
	if err := reading.Add(sheet.BinaryData); err != nil {
		return "", unreadable{fmt.Errorf("ConfigMap %s in namespace %s can't be read: %w; delete it if it can't be "+
			"restored: LoadTests that are still there are read again, and the others are "+
			"measured anew", sheet.Name, sheet.Namespace, err)}
	}
	return sheet.ResourceVersion, nil
}

// testsOf lists the suite's own LoadTests. They are the cache's, and must not be changed.
func (r *Reconciler) testsOf(ctx context.Context, s *v1alpha1.LoadTestSuite) (map[string]*v1alpha1.LoadTest, error) {
	var list v1alpha1.LoadTestList
	if err := r.client.List(ctx, &list, append(r.ofSuite(s.UID), client.InNamespace(s.Namespace))...); err != nil {
		return nil, fmt.Errorf("list the suite's LoadTests: %w", err)
	}
	tests := make(map[string]*v1alpha1.LoadTest, len(list.Items))
	for i := range list.Items {
		if t := &list.Items[i]; isOf(t, s) {
			tests[t.Name] = t
		}
	}
	return tests, nil
}

// readRuns reads the runs of complete tests, several at a time. A missing or unreadable Report is no error.
// Runs that were read are kept even if another read fails.
func (r *Reconciler) readRuns(ctx context.Context, observed *observation, wanted []suite.Wanted) error {
	runs, failed := make([]suite.Run, len(wanted)), make([]error, len(wanted))
	pass.SideBySide(len(wanted), func(i int) {
		runs[i], failed[i] = r.readRun(ctx, observed, observed.Tests[wanted[i].Name], wanted[i])
	})
	for i, w := range wanted {
		if failed[i] == nil {
			observed.Runs[w.Name] = runs[i]
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if len(wanted) > fewReads {
		return errMore
	}
	return nil
}

// fewReads is how many Reports a pass reads and still goes on to decide.
const fewReads = 4

// maxRun is how many bytes of memory a run may take for as long as its suite exists, since a suite may have
// thousands of runs.
const maxRun = 4 << 20

// readRun is the run of a complete test. It returns the memory of the Report.
func (r *Reconciler) readRun(ctx context.Context, observed *observation, test *v1alpha1.LoadTest,
	w suite.Wanted) (suite.Run, error) {
	if run, planted, err := r.plantedRun(observed, test, w); planted || err != nil {
		return run, err
	}
	document, fault, giveBack, err := r.reportOf(ctx, test)
	if err != nil {
		return suite.Run{}, err
	}
	defer giveBack()
	run := suite.RunOf(test, w.Repetition, w.Try, document, fault).AfterDeleted(&observed.Suite.Status, test)
	text, err := json.Marshal(run.SuiteRun)
	if err != nil {
		return suite.Run{}, err
	}
	if size, err := delivery.Measure(text); err != nil || size.Memory() > maxRun {
		return suite.RunOf(test, w.Repetition, w.Try, nil, "what it claims is more than a suite keeps of a run"), nil
	}
	return run, nil
}

// reportOf is a test's Report, or why it can't be read, or neither if the test has none. The caller calls
// giveBack to return the Report's memory.
func (r *Reconciler) reportOf(ctx context.Context, test *v1alpha1.LoadTest) (document *report.Report, fault string,
	giveBack func(), err error) {
	giveBack = func() {}
	if test.Status.Report == nil {
		return nil, "", giveBack, nil
	}
	if document := r.options.Reports.take(test.Status.Report.Digest); document != nil {
		return document, "", giveBack, nil
	}
	var configMap corev1.ConfigMap
	name := client.ObjectKey{Namespace: test.Namespace, Name: test.Status.Report.ConfigMap}
	if err := r.live.Get(ctx, name, &configMap); apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("ConfigMap %s is gone", name.Name), giveBack, nil
	} else if err != nil {
		return nil, "", giveBack, fmt.Errorf("read the report of %s: %w", test.Name, err)
	}
	size, err := delivery.SizeOf(configMap.BinaryData[delivery.KeyReport])
	if err != nil {
		return nil, fmt.Sprintf("ConfigMap %s: %s: %v", configMap.Name, delivery.KeyReport, err), giveBack, nil
	}
	if giveBack, err = r.options.Decoded.Take(ctx, size.Memory()); err != nil {
		return nil, "", func() {}, err
	}
	document, envelope, err := delivery.DecodeReport(configMap.BinaryData, configMap.Annotations)
	switch {
	case err != nil:
		return nil, fmt.Sprintf("ConfigMap %s: %v", configMap.Name, err), giveBack, nil
	case envelope.Digest != test.Status.Report.Digest:
		return nil, fmt.Sprintf("ConfigMap %s holds another Report than the one that the test was judged by",
			configMap.Name), giveBack, nil
	}
	return document, "", giveBack, nil
}
