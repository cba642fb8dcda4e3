package lifecycle_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// world is a small cluster in memory. It applies decisions, and plays kubelet, scheduler, Job controller, garbage
// collector and runner by script. Its clock moves only when a script moves it.
//
//	script ──acts──▶ world ◀──applies── Decision ◀── Decide ◀── Observed ◀── world, or what is seen of it by now
type world struct {
	t         *testing.T
	start     time.Time
	clock     time.Time
	test      *v1alpha1.LoadTest // nil: deleted
	inventory lifecycle.Inventory

	things
	// observed is what the operator sees of the things that others change. Nil means that it sees everything at once.
	observed *things

	// portClaims are the claims of all tests, and olderWaiters the older tests that wait for ports.
	portClaims   []lifecycle.PortClaim
	olderWaiters []lifecycle.Waiter
	// meddled: somebody deletes Leases of tests that run.
	meddled bool
	// otherClaims are the claims of other tests. None means that nobody else is there.
	otherClaims []queue.Claim

	foreign  []string
	refusals []lifecycle.Refusal // what a dry run is answered
	unkept   *lifecycle.Refusal  // what a Report that is to be kept is answered
	unmade   *lifecycle.Refusal  // what a pod that is to be made is answered
	unread   string              // why the Report can't be read
	baseline lifecycle.Baseline  // what is found of spec.baseline

	// forges makes Jobs that an editor of the test's namespace has there while the runner's is there. Nil means that
	// none does.
	forges func() []batchv1.Job
	// mischief decides, before each write of the operator's, whether it dies there. Nil means that it doesn't.
	mischief func() bool
	// chance makes the operator see late, and look twice. Nil means that it doesn't.
	chance *rand.Rand
	// stubborn pods don't end when they are told to.
	stubborn map[string]bool
	// clockOffsets is by how much those of nodes are ahead, or behind where negative.
	clockOffsets map[string]time.Duration

	// refuses says which statuses the API server doesn't take. Nil means none.
	refuses func(*v1alpha1.LoadTestStatus) bool

	// onStatus is called with each status that is written. Nil means that nobody listens.
	onStatus func(*v1alpha1.LoadTestStatus)

	writes, creates, deletes, tries, reads, compared, events int
	finalizes                                                int
	uid                                                      int
	trace                                                    []string
	lastRule                                                 string
	asked                                                    string // what kstatus was asked of last
	woken                                                    time.Time
}

// things are what the operator observes of its children.
type things struct {
	Pods      []corev1.Pod
	Jobs      []batchv1.Job
	Present   map[string]bool
	Documents map[string]map[string]string // those of runs, with their annotations
	Published string
	Progress  *delivery.Progress
	Envelope  *delivery.Envelope
	Report    *report.Report
}

func (th *things) copy() *things {
	copied := &things{Present: maps.Clone(th.Present), Documents: maps.Clone(th.Documents), Published: th.Published,
		Report: th.Report}
	for i := range th.Pods {
		copied.Pods = append(copied.Pods, *th.Pods[i].DeepCopy())
	}
	for i := range th.Jobs {
		copied.Jobs = append(copied.Jobs, *th.Jobs[i].DeepCopy())
	}
	if th.Progress != nil {
		p := *th.Progress
		copied.Progress = &p
	}
	if th.Envelope != nil {
		e := *th.Envelope
		copied.Envelope = &e
	}
	return copied
}

// plans are the attempts whose Plans are there.
func (th *things) plans() (attempts []int32) {
	for _, name := range slices.Sorted(maps.Keys(th.Documents)) {
		if run, ok := strings.CutSuffix(name, "-plan"); ok {
			var attempt int32
			_, _ = fmt.Sscan(run[strings.LastIndex(run, "-")+1:], &attempt)
			attempts = append(attempts, attempt)
		}
	}
	return attempts
}

// collect is the garbage collector in the operator's own namespace. Objects that a Plan's ConfigMap owned are deleted
// with it.
func (th *things) collect(plan string) {
	run := strings.TrimSuffix(plan, "plan")
	maps.DeleteFunc(th.Documents, func(name string, _ map[string]string) bool { return strings.HasPrefix(name, run) })
	th.Jobs = slices.DeleteFunc(th.Jobs, func(j batchv1.Job) bool {
		return j.Namespace == settings().Namespace &&
			strings.HasPrefix(j.Name, run)
	})
}

// newWorld is a cluster with two nodes that have what the test needs, and a LoadTest that a person applied.
func newWorld(t *testing.T, spec string) *world {
	t.Helper()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &world{t: t, start: start, clock: start, test: loadTest(t, spec), stubborn: map[string]bool{}}
	w.Present, w.Documents = map[string]bool{}, map[string]map[string]string{}
	w.inventory = inventory(w.test.Namespace)
	return w
}

// loadTest is a LoadTest as an API server stores it. Thousands of worlds begin with a few of them, so each is
// admitted once.
func loadTest(t *testing.T, text string) *v1alpha1.LoadTest {
	t.Helper()
	stored, ok := admitted.Load(text)
	if !ok {
		stored, _ = admitted.LoadOrStore(text, admit(t, text))
	}
	return stored.(*v1alpha1.LoadTest).DeepCopy()
}

// admitted are LoadTests by their text.
var admitted sync.Map

// theUID is each world's LoadTest's.
const theUID = "0f6b1f7e-6a0e-4d0c-9a55-2f3f6a1c9b10"

func admit(t *testing.T, text string) *v1alpha1.LoadTest {
	t.Helper()
	objects, err := apiServer(t).Load("test.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	test := objects[0].LoadTest
	test.Namespace, test.UID, test.Generation = "bench", theUID, 1
	test.CreationTimestamp = metav1.Time{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	return test
}

// apiServer is what admits LoadTests. It is made once, as it reads the whole schema.
func apiServer(t *testing.T) *admission.Server {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// observe is what the operator sees now.
func (w *world) observe() lifecycle.Observed {
	th := w.observed
	if th == nil {
		th = &w.things
	}
	th = th.copy()
	o := lifecycle.Observed{
		Test: w.test.DeepCopy(), ObservedAt: w.clock, Settings: settings(), Inventory: w.inventory,
		Children: lifecycle.Children{
			Pods: th.Pods, Jobs: th.Jobs, Present: th.Present, Documents: slices.Sorted(maps.Keys(th.Documents)),
			Plans: th.plans(), Published: th.Published,
			Foreign: slices.Clone(w.foreign), Progress: th.Progress,
		},
		Ports: lifecycle.ObservedPorts{Claims: slices.Clone(w.portClaims), Older: w.olderWaiters},
	}
	if w.forges != nil && len(w.Jobs) > 0 {
		o.Children.Jobs = append(o.Children.Jobs, w.forges()...)
	}
	attempt := lifecycle.Attempt(o)
	if order, ok := delivery.ReadOrder(th.Documents[manifests.PlanName(w.test, attempt)]); ok {
		o.Children.Order = &order
	}
	if _, ok := th.Documents[manifests.OriginalName(w.test, attempt)]; ok && th.Envelope != nil &&
		th.Envelope.Attempt == int(attempt) {
		o.Children.Envelope = th.Envelope
	}
	o.Turn = w.turn(o)
	return o
}

// turn is what the line of this test and the others says to it.
func (w *world) turn(o lifecycle.Observed) queue.Turn {
	if len(w.otherClaims) == 0 && w.test.Status.Operator.GivenBack == nil {
		return queue.Turn{}
	}
	claim, holdings, claims := lifecycle.Claim(o, lifecycle.Wants(o))
	if !claims {
		return queue.Turn{}
	}
	line := queue.Arrange(queue.Snapshot{Nodes: lifecycle.QueueNodes(w.inventory.Nodes),
		Claims: append(slices.Clone(w.otherClaims), claim), Holdings: holdings, Time: w.clock})
	return line.Turns[claim.ID]
}

// newUID is the next object's.
func (w *world) newUID() types.UID {
	w.uid++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", w.uid))
}

// elapsed is the time since the start, for the trace.
func (w *world) elapsed(moment time.Time) string {
	d := moment.Sub(w.start).Truncate(time.Second)
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
