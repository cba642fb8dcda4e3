package kubectl

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// listVersion is the kind and version of the document that list prints as JSON.
const listVersion = "linerate.dev/list.v1alpha1"

// listing has suites and tests, and the devices that tests hold.
type listing struct {
	Version string       `json:"version"`
	Suites  []suiteRow   `json:"suites"`
	Tests   []testRow    `json:"tests"`
	Devices []heldDevice `json:"held"`

	namespaces bool // text shows namespaces
	allTests   bool // text shows each test of suites
}

// testRow is one test.
type testRow struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Suite is the name of the suite that it belongs to.
	Suite string `json:"suite,omitempty"`
	// State is the test's phase. It is New before the operator's first look.
	State string `json:"state"`
	// Reason is what the test waits for, what limited its result, or why it failed.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Step    string `json:"step,omitempty"`
	Percent *int32 `json:"percent,omitempty"`
	Summary string `json:"summary,omitempty"`
	// Passed is the verdict: True, False or Unknown.
	Passed         string       `json:"passed,omitempty"`
	Attempt        int32        `json:"attempt,omitempty"`
	CreationTime   time.Time    `json:"creationTime"`
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	words string
}

// heldDevice is one device, and the test that holds it.
type heldDevice struct {
	Node      string `json:"node"`
	Device    string `json:"device"`
	Namespace string `json:"namespace"`
	Test      string `json:"test"`
	Pod       string `json:"pod"`
	Link      string `json:"link"`
}

// newListing sorts suites and tests. Running ones come first, then waiting ones, the oldest first, then ended
// ones, the newest first.
func newListing(suites []v1alpha1.LoadTestSuite, tests []v1alpha1.LoadTest) listing {
	l := listing{Version: listVersion, Suites: []suiteRow{}, Tests: []testRow{}, Devices: []heldDevice{}}
	for i := range suites {
		l.Suites = append(l.Suites, suiteRowOf(&suites[i]))
	}
	slices.SortStableFunc(l.Suites, func(a, b suiteRow) int { return a.order().compare(b.order()) })
	for i := range tests {
		l.Tests = append(l.Tests, rowOf(&tests[i]))
		l.Devices = append(l.Devices, heldBy(&tests[i])...)
	}
	slices.SortStableFunc(l.Tests, func(a, b testRow) int { return a.order().compare(b.order()) })
	slices.SortStableFunc(l.Devices, func(a, b heldDevice) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Pod, b.Pod))
	})
	return l
}

// The ranks of rows, in the order in which they are listed.
const (
	rankRunning = iota
	rankWaiting
	rankEnded
)

// rowOrder is what rows are sorted by.
type rowOrder struct {
	rank            int
	created         time.Time
	namespace, name string
}

func (a rowOrder) compare(b rowOrder) int {
	age := a.created.Compare(b.created)
	if a.rank == rankEnded {
		age = -age
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), age, cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
}

func (r testRow) order() rowOrder { return rowOrder{r.rank(), r.CreationTime, r.Namespace, r.Name} }

func (r testRow) rank() int {
	return rankOf(r.State)
}

func rankOf(state string) int {
	switch state {
	case stateNew, string(v1alpha1.PhaseWaiting), string(v1alpha1.PhaseStarting), string(v1alpha1.PhaseSuspended):
		return rankWaiting
	case string(v1alpha1.PhaseRunning), string(v1alpha1.PhaseEnding):
		return rankRunning
	}
	return rankEnded
}

const (
	stateNew = "New"
	newWords = "the operator hasn't looked at it yet"
)

func rowOf(test *v1alpha1.LoadTest) testRow {
	st := test.Status
	r := testRow{
		Namespace: test.Namespace, Name: test.Name, Suite: suiteOf(test), Summary: st.Summary, Attempt: st.Attempt,
		CreationTime: test.CreationTimestamp.UTC(), StartTime: st.StartTime, CompletionTime: st.CompletionTime,
	}
	r.State, r.Reason = stateOf(test)
	if c := completeOf(test); c != nil {
		r.Message = c.Message
		if c.Status == metav1.ConditionTrue && r.CompletionTime == nil {
			r.CompletionTime = &c.LastTransitionTime
		}
	}
	if c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionPassed); c != nil {
		r.Passed = string(c.Status)
	}
	if p := st.Progress; p != nil && r.State == string(v1alpha1.PhaseRunning) {
		r.Step, r.Percent = p.Phase, p.Percent
	}
	r.words = rowWords(test, r)
	return r
}

// suiteOf is the name of the suite that a test belongs to. Empty means that it belongs to none.
func suiteOf(test *v1alpha1.LoadTest) string {
	if owner := metav1.GetControllerOf(test); owner != nil && owner.Kind == v1alpha1.LoadTestSuiteKind {
		return owner.Name
	}
	return ""
}

// rowWords are the last column of a test's row, which explains its state.
func rowWords(test *v1alpha1.LoadTest, r testRow) string {
	switch r.State {
	case stateNew:
		return newWords
	case string(v1alpha1.PhaseRunning):
		return testMoment{test: test}.sentence()
	case string(v1alpha1.PhaseMeasured):
		return cmp.Or(r.Summary, r.Message)
	}
	return r.Message
}

// heldBy are the devices that a test's pods hold. A pod that has ended holds none.
func heldBy(test *v1alpha1.LoadTest) []heldDevice {
	var devices []heldDevice
	for _, pod := range test.Status.Pods {
		if slices.Contains([]string{"Gone", "Succeeded", "Failed"}, pod.State) {
			continue
		}
		for _, link := range pod.Links {
			if link.Device != "" {
				devices = append(devices, heldDevice{
					Node: pod.Node, Device: link.Device, Namespace: test.Namespace, Test: test.Name, Pod: pod.Name,
					Link: link.Link,
				})
			}
		}
	}
	return devices
}
