package suite

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// A user who deletes a LoadTest of a suite while it measures has another LoadTest of this name made, and so may
// void a run that shows a fault. The status, which only the operator writes, names the tests whose runs have
// begun. If such a test is gone, or has another UID, it was deleted, and its runs count as void.
//
//	status   r1: uid a, 1 run     r1: no uid, 1 deleted     r1: uid b, 1 run, 1 deleted     –
//	         a measures           a is deleted              b measures                      b is stored (1 void)

// maxBegun is how many begun tests the status names, which is more than are under way at once.
const maxBegun = 1024

// begunTests are the tests of the new status whose runs have begun. Tests with deleted runs come first.
func (v *situation) begunTests() []v1alpha1.StartedTest {
	previous := map[string]v1alpha1.StartedTest{}
	for _, b := range v.lastStatus.Operator.StartedTests {
		previous[b.Test] = b
	}
	var tests []v1alpha1.StartedTest
	for name, b := range previous {
		if v.Tests[name] != nil || v.Stored.Contains(name) {
			continue
		}
		if _, ran := v.Runs[name]; !ran {
			b = underUID(b, "")
		}
		tests = append(tests, b)
	}
	for name, t := range v.Tests {
		earlier, ok := previous[name]
		if _, ran := v.Runs[name]; ran && !ok || v.Stored.Contains(name) {
			continue
		}
		b := v1alpha1.StartedTest{Test: name, UID: string(t.UID)}
		if ok {
			b = underUID(earlier, string(t.UID))
		}
		if b.Runs = max(b.Runs, runsBegun(t)); b.Runs+b.Deleted > 0 {
			tests = append(tests, b)
		}
	}
	slices.SortFunc(tests, func(a, b v1alpha1.StartedTest) int {
		return cmp.Or(cmp.Compare(min(b.Deleted, 1), min(a.Deleted, 1)), cmp.Compare(a.Test, b.Test))
	})
	return tests[:min(len(tests), maxBegun)]
}

// underUID is a begun test whose LoadTest now has this UID.
func underUID(b v1alpha1.StartedTest, uid string) v1alpha1.StartedTest {
	if b.UID == uid {
		return b
	}
	return v1alpha1.StartedTest{Test: b.Test, UID: uid, Deleted: b.Deleted + b.Runs}
}

// runsBegun is how many runs a test has begun, including an ongoing run.
func runsBegun(t *v1alpha1.LoadTest) int32 {
	if _, ended := completion(t); ended || measuring(t) {
		return t.Status.Operator.LostRuns + 1
	}
	return t.Status.Operator.LostRuns
}

// AfterDeleted adds the runs of earlier, deleted LoadTests of the same name to the run of a test that is
// complete.
func (r Run) AfterDeleted(status *v1alpha1.LoadTestSuiteStatus, t *v1alpha1.LoadTest) Run {
	for _, b := range status.Operator.StartedTests {
		if b.Test == t.Name {
			r.Voided += int(underUID(b, string(t.UID)).Deleted)
		}
	}
	return r
}
