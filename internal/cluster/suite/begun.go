package suite

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Whoever deletes a LoadTest of a suite while it measures has another one of this name made, and so may void a run that
// shows a fault. The status, which only the operator writes, has the tests whose runs have begun: a test among them
// that is gone, or has another UID, was deleted, and its runs count as void.
//
//	status   r1: uid a, 1 run     r1: no uid, 1 deleted     r1: uid b, 1 run, 1 deleted     –
//	         a measures           a is deleted              b measures                      b is over and stored: its run has 1 more that was void

// mostBegun is how many begun tests the status names, more than are under way at once.
const mostBegun = 1024

// begun are the tests of the new status whose runs have begun, those with deleted runs first.
func (v *view) begun() []v1alpha1.BegunTest {
	before := map[string]v1alpha1.BegunTest{}
	for _, b := range v.was.Begun {
		before[b.Test] = b
	}
	var all []v1alpha1.BegunTest
	for name, b := range before {
		if v.Tests[name] != nil || v.Stored.Has(name) {
			continue
		}
		if _, ran := v.Runs[name]; !ran {
			b = after(b, "")
		}
		all = append(all, b)
	}
	for name, t := range v.Tests {
		was, known := before[name]
		if _, ran := v.Runs[name]; ran && !known || v.Stored.Has(name) {
			continue
		}
		b := v1alpha1.BegunTest{Test: name, UID: string(t.UID)}
		if known {
			b = after(was, string(t.UID))
		}
		if b.Runs = max(b.Runs, runsBegun(t)); b.Runs+b.Deleted > 0 {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b v1alpha1.BegunTest) int {
		return cmp.Or(cmp.Compare(min(b.Deleted, 1), min(a.Deleted, 1)), cmp.Compare(a.Test, b.Test))
	})
	return all[:min(len(all), mostBegun)]
}

// after is a begun test as it is now that the LoadTest of its name has this UID.
func after(b v1alpha1.BegunTest, uid string) v1alpha1.BegunTest {
	if b.UID == uid {
		return b
	}
	return v1alpha1.BegunTest{Test: b.Test, UID: uid, Deleted: b.Deleted + b.Runs}
}

// runsBegun is how many runs a test has begun, the one that goes on included.
func runsBegun(t *v1alpha1.LoadTest) int32 {
	if _, done := over(t); done || measuring(t) {
		return t.Status.LostRuns + 1
	}
	return t.Status.LostRuns
}

// AfterDeleted adds to the run of a test that is over the runs of earlier LoadTests of its name, which were deleted.
func (r Run) AfterDeleted(status *v1alpha1.LoadTestSuiteStatus, t *v1alpha1.LoadTest) Run {
	for _, b := range status.Begun {
		if b.Test == t.Name {
			r.Voided += int(after(b, string(t.UID)).Deleted)
		}
	}
	return r
}
