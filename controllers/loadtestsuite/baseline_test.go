package loadtestsuite

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestWhichSuitesServeAsBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		"measured":                        {metav1.ConditionTrue, v1alpha1.ReasonMeasured, ""},
		"measured in part: what there is": {metav1.ConditionTrue, v1alpha1.ReasonPartlyMeasured, ""},
		"stopped: what there is":          {metav1.ConditionTrue, v1alpha1.ReasonStopped, ""},
		"going on": {metav1.ConditionFalse, v1alpha1.ReasonRunning,
			"it was not complete (Running) when this suite was over"},
		"refused":         {metav1.ConditionTrue, v1alpha1.ReasonInvalid, "it was refused"},
		"never looked at": {"", "", "it had not begun"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.LoadTestSuite{}
			if c.status != "" {
				s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: c.status,
					Reason: c.reason}}
			}
			if got := whyNoBaseline(s); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

// countingReader counts the ConfigMaps that are read.
type countingReader struct {
	client.Reader
	maps int
}

func (r *countingReader) Get(ctx context.Context, key client.ObjectKey, object client.Object,
	options ...client.GetOption) error {
	if _, ok := object.(*corev1.ConfigMap); ok {
		r.maps++
	}
	return r.Reader.Get(ctx, key, object, options...)
}

// stores puts a sheet of runs into the operator's own namespace.
func (w *suiteWorld) stores(s *v1alpha1.LoadTestSuite, runs suite.Runs, stored suite.Stored) {
	w.t.Helper()
	sheet, err := suite.Expand(s).NextSheet(runs, stored)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range sheet.Added {
		stored[name] = sheet.Number
	}
	object := suite.SheetMap(s, ownNamespace, sheet)
	if err := w.client.Create(w.t.Context(), object); err != nil {
		w.t.Fatal(err)
	}
}

// earlier makes a measured suite of 40 cells, of which 5 have a run, each so long that it fills a sheet.
func (w *suiteWorld) earlier(uid types.UID) *v1alpha1.LoadTestSuite {
	w.t.Helper()
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "before", UID: uid}}
	if err := yaml.UnmarshalStrict([]byte(cells(20)), &s.Spec); err != nil {
		w.t.Fatal(err)
	}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonMeasured}}
	s.Status.Operator.StoredRuns = &v1alpha1.StoredRuns{ConfigMaps: 5}
	if err := w.client.Create(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
	matrix, runs, stored, random := suite.Expand(s), suite.Runs{}, suite.Stored{}, rand.NewChaCha8([32]byte{1})
	for i := range 5 {
		words := make([]byte, 250<<10)
		if _, err := random.Read(words); err != nil {
			w.t.Fatal(err)
		}
		name := matrix.TestName(i*len(matrix.Cells)/5, 1, 1)
		evidence := &report.Report{Version: report.Version, Ending: report.GeneratorLost, Plan: &plan.Plan{},
			Message: hex.EncodeToString(words)}
		runs[name] = suite.Run{Ended: "Measured", SuiteRun: report.SuiteRun{Test: name, Repetition: 1,
			Evidence: evidence}}
		w.stores(s, runs, stored)
	}
	return s
}

// reads lets some passes read the earlier suite, and returns the last observation and the greatest number of
// ConfigMaps that a pass read.
func (w *suiteWorld) reads(passes int) (observed *observation, largest int) {
	w.t.Helper()
	for range passes {
		counting := &countingReader{Reader: w.client}
		w.r.live = counting
		var err error
		if observed, err = w.r.observe(w.t.Context(), client.ObjectKey{Namespace: "lab", Name: "night"}); err != nil {
			w.t.Fatal(err)
		}
		observed.Reference, err = w.r.readReference(w.t.Context(), observed)
		if largest = max(largest, counting.maps); err == nil {
			return observed, largest
		}
		if !errors.Is(err, errMore) {
			w.t.Fatal(err)
		}
	}
	return observed, largest
}

// However large an earlier suite is, no pass reads more than its share. The result is kept until the suite that
// compares is complete.
func TestAnEarlierSuiteIsReadInPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("it packs megabytes again and again, which the race detector makes 50 times as slow")
	}
	compared := cells(20) + "baseline: {suite: before}\ncriteria: [{name: no-slower, metric: PacketsPerSecond, " +
		"maxRegression: 2%}]\n"
	runs := func(observed *observation) (n int) {
		if observed.Reference == nil {
			return -1
		}
		for _, c := range observed.Reference.Cells {
			n += len(c.Runs)
		}
		return n
	}
	t.Run("all of it, and once", func(t *testing.T) {
		w := newSuiteWorld(t, compared, func(client.Object) bool { return false })
		w.earlier("before-uid")
		if observed, largest := w.reads(20); runs(observed) != 5 || largest > sheetsAtOnce ||
			len(observed.Reference.Cells) != 40 {
			t.Errorf("%d runs are found, and a pass read %d ConfigMaps", runs(observed), largest)
		}
		if observed, largest := w.reads(1); runs(observed) != 5 || largest != 0 {
			t.Errorf("the next pass reads %d ConfigMaps again and has %d runs", largest, runs(observed))
		}
	})
	t.Run("one that is made anew meanwhile is another", func(t *testing.T) {
		w := newSuiteWorld(t, compared, func(client.Object) bool { return false })
		earlier := w.earlier("before-uid")
		if observed, _ := w.reads(2); observed.Reference != nil {
			t.Fatal("two passes read all: this test would prove nothing")
		}
		if err := w.client.Delete(t.Context(), earlier); err != nil {
			t.Fatal(err)
		}
		w.earlier("another-uid")
		if observed, _ := w.reads(20); runs(observed) != 5 || observed.Reference.Fault != "" {
			t.Errorf("%d runs are found of one that was made anew; fault %q", runs(observed), observed.Reference.Fault)
		}
	})
	for name, c := range map[string]struct {
		spoil func(*suiteWorld, *corev1.ConfigMap) error
		fault string
	}{
		"one whose last runs are gone is no baseline": {func(w *suiteWorld,
			sheet *corev1.ConfigMap) error {
			return w.client.Delete(w.t.Context(), sheet)
		}, "1 of the 5 ConfigMaps of its runs are gone"},
		"one whose runs can't be read is no baseline": {func(w *suiteWorld, sheet *corev1.ConfigMap) error {
			sheet.BinaryData = nil
			return w.client.Update(w.t.Context(), sheet)
		}, "in namespace linerate-system can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSuiteWorld(t, compared, func(client.Object) bool { return false })
			var sheet corev1.ConfigMap
			if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: ownNamespace,
				Name: suite.SheetName(w.earlier("before-uid"), 4)}, &sheet); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(w, &sheet); err != nil {
				t.Fatal(err)
			}
			if observed, _ := w.reads(20); observed.Reference == nil || !strings.Contains(observed.Reference.Fault,
				c.fault) || runs(observed) != 0 {
				t.Errorf("it is compared with %+v", observed.Reference)
			}
		})
	}
	t.Run("one that goes meanwhile is gone", func(t *testing.T) {
		w := newSuiteWorld(t, compared, func(client.Object) bool { return false })
		earlier := w.earlier("before-uid")
		w.reads(2)
		if err := w.client.Delete(t.Context(), earlier); err != nil {
			t.Fatal(err)
		}
		if observed, _ := w.reads(1); observed.Reference == nil ||
			!strings.Contains(fmt.Sprint(observed.Reference.Fault), "there is no such LoadTestSuite") {
			t.Errorf("it is compared with %+v", observed.Reference)
		}
	})
}

// A sheet is read when there is memory for it, and no worker waits for that.
func TestASheetWaitsForRoomWithoutAWorker(t *testing.T) {
	w := newSuiteWorld(t, cells(1), func(client.Object) bool { return false })
	reading := suite.Expand(w.earlier("before-uid")).NewReading()
	giveBack, ok := w.r.options.Decoded.TryTake(caches.MaxDecoded)
	if !ok {
		t.Fatal("somebody has some of the room already")
	}
	if _, err := w.r.readSheet(t.Context(), reading); !errors.Is(err, errBusy) || len(reading.Sheets)+
		len(reading.Runs) > 0 {
		t.Errorf("%v, and %d runs are read", err, len(reading.Runs))
	}
	giveBack()
	if _, err := w.r.readSheet(t.Context(), reading); err != nil || len(reading.Runs) != 1 {
		t.Errorf("%v, and %d runs are read", err, len(reading.Runs))
	}
	giveBack, ok = w.r.options.Decoded.TryTake(caches.MaxDecoded)
	if !ok {
		t.Fatal("a sheet that was read gives its room back")
	}
	giveBack()
}
