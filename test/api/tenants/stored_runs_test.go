package tenants

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtestsuite"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// night is a suite of three runs whose operator ends and begins anew, with the manager's own rights.
type night struct {
	l     *lab
	r     *loadtestsuite.Reconciler
	now   time.Time
	suite *v1alpha1.LoadTestSuite
}

// newNight has an author make the suite. It asks for more than the device carries, and keeps one LoadTest that is over.
func newNight(l *lab) *night {
	l.t.Helper()
	n := &night{l: l, now: time.Now(), suite: suiteOf(l.t, "template: {spec: "+flow(l.t, external)+"}\nrepetitions: 3\nhistoryLimit: 1\ninvalidRetries: 0\n"+
		"criteria: [{name: enough, metric: PacketsPerSecond, direction: Total, min: \"900000\"}]\n")}
	n.suite.Namespace, n.suite.Name = l.namespace, "night"
	l.must(as(l.t, "author").Create(l.t.Context(), n.suite))
	n.start()
	return n
}

// start begins an operator that remembers nothing.
func (n *night) start() {
	n.l.t.Helper()
	var err error
	n.r, err = loadtestsuite.NewReconciler(asAccount(n.l.t, managerNamespace, managerAccount), events.NewFakeRecorder(100), loadtestsuite.Options{Namespace: managerNamespace, Bounds: bounds(n.l.t), Clock: func() time.Time { return n.now }})
	n.l.must(err)
}

// look lets the operator look at the suite until it has said and done what is to be, half a minute later.
func (n *night) look() {
	n.l.t.Helper()
	for _, later := range []time.Duration{0, 31 * time.Second} {
		n.now = n.now.Add(later)
		for range 10 {
			_, err := n.r.Reconcile(n.l.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(n.suite)})
			n.l.must(err)
		}
	}
	n.l.must(admin.Get(n.l.t.Context(), client.ObjectKeyFromObject(n.suite), n.suite))
}

// measure carries one of the suite's LoadTests to its end.
func (n *night) measure(name string) {
	n.l.t.Helper()
	r := n.l.runOf(n.l.operate(name))
	r.write(r.measured())
	if test := n.l.operate(name); !meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		n.l.t.Fatalf("%s should be over: %+v", name, test.Status.Conditions)
	}
}

// told is the suite's status as a person would read it.
func (n *night) told() string {
	n.l.t.Helper()
	text, err := yaml.Marshal(n.suite.Status)
	n.l.must(err)
	return string(text)
}

// published is what anybody may read of the suite's runs.
func (n *night) published(as client.Client) (suite.Runs, error) {
	return suite.Expand(n.suite).ReadCopies(func(name string) (map[string][]byte, error) {
		var sheet corev1.ConfigMap
		err := as.Get(n.l.t.Context(), client.ObjectKey{Namespace: n.l.namespace, Name: name}, &sheet)
		return sheet.BinaryData, client.IgnoreNotFound(err)
	})
}

// Whoever edits the namespace of a suite changes, while the operator is down, the copies of what it stored of the runs that are over: better figures, and one of a run that goes on. The suite
// would have passed before that run was over. It has the figures that were measured, and nobody believes the others.
func TestForgedRunsMakeNoVerdictOfASuite(t *testing.T) {
	for name, forge := range map[string]func(n *night, f *forger){
		"better figures": func(n *night, f *forger) {
			runs, err := n.published(f.client)
			n.l.must(err)
			for name, run := range runs {
				run.Figures.PacketsPerSecond *= 3
				run.Evidence.Answer.Total.Received.PacketsPerSecond *= 3
				for i := range run.Evidence.Answer.Directions {
					run.Evidence.Answer.Directions[i].Received.PacketsPerSecond *= 3
				}
				runs[name] = run
			}
			another := runs["night-test-r2"]
			another.Test, another.Repetition = "night-test-r3", 3
			runs[another.Test] = another
			sheet, err := suite.Expand(n.suite).NextSheet(runs, nil)
			n.l.must(err)
			var there corev1.ConfigMap
			n.l.must(f.client.Get(n.l.t.Context(), client.ObjectKey{Namespace: n.l.namespace, Name: suite.CopyName("night", 0)}, &there))
			there.BinaryData = sheet.Data
			n.l.must(f.client.Update(n.l.t.Context(), &there))
		},
		"no runs": func(n *night, f *forger) {
			n.l.must(f.client.DeleteAllOf(n.l.t.Context(), &corev1.ConfigMap{}, client.InNamespace(n.l.namespace), client.MatchingLabels{v1alpha1.LabelSuite: "night"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			editor := l.forgers()[0]
			n := newNight(l)
			n.look()
			for _, name := range []string{"night-test-r1", "night-test-r2"} {
				n.measure(name)
				n.look()
			}
			var tests v1alpha1.LoadTestList
			l.must(admin.List(t.Context(), &tests, client.InNamespace(l.namespace), client.MatchingLabels{v1alpha1.LabelSuite: "night"}))
			if runs, err := n.published(editor.client); len(tests.Items) != 2 || len(runs) != 2 || err != nil {
				t.Fatalf("%d LoadTests are there, and %d runs are published (%v): the first is to be gone, and two are to be published;\n%s", len(tests.Items), len(runs), err, n.told())
			}
			n.refused(editor)
			forge(n, editor)
			if runs, err := n.published(editor.client); !errors.Is(err, suite.ErrOtherCopies) {
				t.Errorf("%d forged runs are believed: %v", len(runs), err)
			}
			n.start()
			n.look()
			passed := func() bool { return meta.IsStatusConditionTrue(n.suite.Status.Conditions, v1alpha1.ConditionPassed) }
			if passed() || meta.IsStatusConditionTrue(n.suite.Status.Conditions, v1alpha1.ConditionComplete) {
				t.Fatalf("its third run goes on, and its status says\n%s", n.told())
			}
			n.measure("night-test-r3")
			n.look()
			row := v1alpha1.SuiteRow{}
			if len(n.suite.Status.Table) == 1 {
				row = n.suite.Status.Table[0]
			}
			if c := n.suite.Status.Counts; passed() || c.Measured != 3 || c.NotMeasured != 0 || row.Runs != 3 || row.PacketsPerSecond != 654_400 || row.Verdict == v1alpha1.VerdictPassed {
				t.Errorf("three runs of 654400 packets/s were to count, and the status says\n%s", n.told())
			}
			if runs, err := n.published(editor.client); len(runs) != 3 || err != nil {
				t.Errorf("in the end %d runs are published: %v", len(runs), err)
			}
		})
	}
}

// refused has the editor try the runs that the operator stored themselves, in its own namespace.
func (n *night) refused(f *forger) {
	n.l.t.Helper()
	sheet := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: suite.SheetName(n.suite, 0)}}
	n.l.must(admin.Get(n.l.t.Context(), client.ObjectKeyFromObject(sheet), &corev1.ConfigMap{}))
	next := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: suite.SheetName(n.suite, 1)}}
	for what, err := range map[string]error{
		"read":   f.client.Get(n.l.t.Context(), client.ObjectKeyFromObject(sheet), &corev1.ConfigMap{}),
		"change": f.client.Patch(n.l.t.Context(), sheet.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"data":{"a":"b"}}`))),
		"delete": f.client.Delete(n.l.t.Context(), sheet.DeepCopy()),
		"add to": f.client.Create(n.l.t.Context(), next),
	} {
		if !apierrors.IsForbidden(err) {
			n.l.t.Errorf("an editor of the suite's namespace may %s what the operator stored: %v", what, err)
		}
	}
}
