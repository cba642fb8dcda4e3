package loadtestsuite

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/suite"
)

// isOf says whether a LoadTest has the suite as its controller, by kind and UID: an owner of another kind may be given any UID.
func isOf(test client.Object, s *v1alpha1.LoadTestSuite) bool {
	owner := suiteOf(test)
	return owner != nil && owner.UID == s.UID
}

// plantedRun is what a test leaves that isn't what the suite makes at its place, and an event says so; false: it is.
func (r *Reconciler) plantedRun(seen *observation, test *v1alpha1.LoadTest, w suite.Wanted) (run suite.Run, planted bool, err error) {
	field, err := seen.Matrix.DiffersIn(r.definitions, w, test)
	if err != nil || field == "" {
		return suite.Run{}, false, err
	}
	run = suite.RunPlanted(test, w, field)
	r.events.Eventf(seen.Suite, nil, corev1.EventTypeWarning, suite.ReasonSpecDiffers, "readRuns", "LoadTest %s: %s", test.Name, run.Message)
	return run, true, nil
}
