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

// listing is what a lab is doing: its suites and tests, and who holds which devices.
type listing struct {
	Version string       `json:"version"`
	Suites  []suiteRow   `json:"suites"`
	Tests   []testRow    `json:"tests"`
	Held    []deviceHeld `json:"held"`

	everywhere bool // of all namespaces
	everything bool // with each test of suites
}

// testRow is one test.
type testRow struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Suite is the name of the suite that it belongs to.
	Suite string `json:"suite,omitempty"`
	// State is the reason of the condition Complete: Waiting, Running, or how it ended; New before the operator's first look.
	State string `json:"state"`
	// WaitsFor is the reason of what is being waited for.
	WaitsFor string `json:"waitsFor,omitempty"`
	Message  string `json:"message,omitempty"`
	Step     string `json:"step,omitempty"`
	Percent  *int32 `json:"percent,omitempty"`
	Summary  string `json:"summary,omitempty"`
	// Passed is the verdict: True, False or Unknown.
	Passed     string       `json:"passed,omitempty"`
	Attempt    int32        `json:"attempt,omitempty"`
	CreatedAt  time.Time    `json:"createdAt"`
	StartedAt  *metav1.Time `json:"startedAt,omitempty"`
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`

	words string
}

// deviceHeld is one device, and who holds it.
type deviceHeld struct {
	Node      string `json:"node"`
	Device    string `json:"device"`
	Namespace string `json:"namespace"`
	Test      string `json:"test"`
	Pod       string `json:"pod"`
	Link      string `json:"link"`
}

// listOf is pure: what runs first, then what waits, oldest first, then what has ended, newest first.
func listOf(suites []v1alpha1.LoadTestSuite, tests []v1alpha1.LoadTest) listing {
	l := listing{Version: listVersion, Suites: []suiteRow{}, Tests: []testRow{}, Held: []deviceHeld{}}
	for i := range suites {
		l.Suites = append(l.Suites, suiteRowOf(&suites[i]))
	}
	slices.SortStableFunc(l.Suites, suitesInOrder)
	for i := range tests {
		l.Tests = append(l.Tests, rowOf(&tests[i]))
		l.Held = append(l.Held, heldBy(&tests[i])...)
	}
	slices.SortStableFunc(l.Tests, inOrder)
	slices.SortStableFunc(l.Held, func(a, b deviceHeld) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Pod, b.Pod))
	})
	return l
}

func inOrder(a, b testRow) int {
	age := a.CreatedAt.Compare(b.CreatedAt)
	if a.rank() == 2 {
		age = -age
	}
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), age, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func (r testRow) rank() int {
	switch {
	case r.FinishedAt != nil:
		return 2
	case r.State == v1alpha1.ReasonWaiting || r.State == stateNew:
		return 1
	}
	return 0
}

const (
	stateNew = "New"
	newWords = "the operator hasn't looked at it yet"
)

func rowOf(test *v1alpha1.LoadTest) testRow {
	st := test.Status
	r := testRow{
		Namespace: test.Namespace, Name: test.Name, Suite: suiteOf(test), State: stateWord(test), Summary: st.Summary, Attempt: st.Attempt,
		CreatedAt: test.CreationTimestamp.UTC(), StartedAt: st.StartedAt, FinishedAt: st.FinishedAt,
	}
	if c := completeOf(test); c != nil {
		r.Message = c.Message
		if c.Status == metav1.ConditionTrue && r.FinishedAt == nil {
			r.FinishedAt = &c.LastTransitionTime
		}
	}
	if c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionPassed); c != nil {
		r.Passed = string(c.Status)
	}
	if r.State == v1alpha1.ReasonWaiting {
		r.WaitsFor = waitReason(test)
	}
	if p := st.Progress; p != nil && r.State == v1alpha1.ReasonRunning {
		r.Step, r.Percent = p.Step, p.Percent
	}
	r.words = rowWords(test, r)
	return r
}

// suiteOf is the name of the suite that a test belongs to; empty: none.
func suiteOf(test *v1alpha1.LoadTest) string {
	if owner := metav1.GetControllerOf(test); owner != nil && owner.Kind == v1alpha1.LoadTestSuiteKind {
		return owner.Name
	}
	return ""
}

// rowWords is what a person wants to know of a test in this state.
func rowWords(test *v1alpha1.LoadTest, r testRow) string {
	switch {
	case r.State == stateNew:
		return newWords
	case r.State == v1alpha1.ReasonWaiting && r.WaitsFor != "":
		return r.WaitsFor + ": " + r.Message
	case r.State == v1alpha1.ReasonRunning:
		return testMoment{test: test}.sentence()
	case r.State == v1alpha1.ReasonMeasured && r.Summary != "":
		return r.Summary
	}
	return r.Message
}

// heldBy are the devices that a test's pods hold. Those of pods that are over are given back.
func heldBy(test *v1alpha1.LoadTest) []deviceHeld {
	var held []deviceHeld
	for _, pod := range test.Status.Pods {
		if slices.Contains([]string{v1alpha1.ReasonReleased, "Gone", "Succeeded", "Failed"}, pod.State) {
			continue
		}
		for _, link := range pod.Links {
			if link.Device != "" {
				held = append(held, deviceHeld{Node: pod.Node, Device: link.Device, Namespace: test.Namespace, Test: test.Name, Pod: pod.Name, Link: link.Link})
			}
		}
	}
	return held
}
