package lifecycle

import (
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// cleanup answers what is deleted at the end of a test.
type cleanup struct {
	test   *v1alpha1.LoadTest
	report *arrival
	// pods, jobs and plans are those of all attempts, existing the other objects of the test's namespace.
	pods       []corev1.Pod
	jobs       []batchv1.Job
	plans      []int32
	existing   map[string]bool
	observedAt time.Time
}

// addRunDocuments adds to the deletions everything that the test's runs left in the operator's own namespace,
// which nobody reads any more, since the status has the result, and the digest of its Report. Jobs are deleted
// with the Plans that own them, and one by one where no Plan is left.
func (cl *cleanup) addRunDocuments(del []Deletion) []Deletion {
	if len(cl.plans) == 0 {
		return del
	}
	del = slices.DeleteFunc(del, func(d Deletion) bool { return d.Kind == "Job" })
	return append(del, Deletion{Kind: KindDocuments,
		Reason: "the test is over: " +
			"what counted of its runs is in its status, and in the copy"})
}

// release gives the attempt's pods and their devices back, unless podRetention keeps them for inspection.
func (cl *cleanup) release(e *ending) []Deletion {
	if cl.keepsPods(e.reason) && cl.report.isFinal() {
		return nil // the runner ends by itself, and its log is kept with it
	}
	del := cl.endJobs()
	if cl.keepsPods(e.reason) || !cl.hasLivePod() {
		return del
	}
	return append(del, Deletion{Kind: "Pod", Reason: "the test is over: its pods and devices are given back"})
}

// endJobs deletes the Jobs that would make another pod.
func (cl *cleanup) endJobs() []Deletion {
	var del []Deletion
	for i := range cl.jobs {
		if j := &cl.jobs[i]; makesPods(j) {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Reason: "no runner may follow this one"})
		}
	}
	return del
}

// hasLivePod says whether a pod is left that isn't going yet.
func (cl *cleanup) hasLivePod() bool {
	for i := range cl.pods {
		if cl.pods[i].DeletionTimestamp == nil {
			return true
		}
	}
	return false
}

// keepsPods says whether the pods stay after this end.
func (cl *cleanup) keepsPods(reason string) bool {
	return cl.test.Spec.PodRetention == v1alpha1.PodRetentionOnFailure && isFailure(reason) &&
		cl.test.DeletionTimestamp == nil
}

// allChildren deletes everything that belongs to a test that is over, pods kept for inspection included.
func (cl *cleanup) allChildren() (del []Deletion) {
	const reason = "the LoadTest stays without it, as its time to live is over"
	for i := range cl.jobs {
		if j := &cl.jobs[i]; j.DeletionTimestamp == nil {
			del = append(del, Deletion{Kind: "Job", Name: j.Name, Reason: reason})
		}
	}
	if cl.hasLivePod() {
		del = append(del, Deletion{Kind: "Pod", Reason: reason})
	}
	for _, child := range slices.Sorted(maps.Keys(cl.existing)) {
		if name, isConfigMap := strings.CutPrefix(child, "ConfigMap/"); isConfigMap {
			del = append(del, Deletion{Kind: "ConfigMap", Name: name, Reason: reason})
		}
	}
	return del
}

// deletePods deletes all pods but the teardown's, and waits until they are gone, or until that wait is over. Nil means
// that there is nothing to wait for.
func (cl *cleanup) deletePods(e *ending) *step {
	if cl.keepsPods(e.reason) {
		return nil
	}
	s := stepToEnd(e, "Releasing")
	var going bool
	for i := range cl.pods {
		p := &cl.pods[i]
		switch {
		case roleOf(p) == v1alpha1.RoleTeardown:
		case p.DeletionTimestamp == nil:
			s.del = append(s.del, Deletion{Kind: "Pod", Name: p.Name,
				Reason: "its device is to be given back before the teardown"})
			going = true
		case !isOverdue(p, cl.observedAt):
			s.waitUntil(overdueAt(p))
			going = true
		}
	}
	if !going {
		return nil
	}
	s.del = append(cl.endJobs(), s.del...)
	return s
}
