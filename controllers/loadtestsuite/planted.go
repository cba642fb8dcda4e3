package loadtestsuite

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// isOf says that a LoadTest has the suite as its controller, by kind and UID. The kind counts since a user may
// give an owner of another kind any UID.
func isOf(test client.Object, s *v1alpha1.LoadTestSuite) bool {
	owner := suiteOf(test)
	return owner != nil && owner.UID == s.UID
}

// plantedRun is the run of a test that another person made in place of the suite's own. The run doesn't count,
// and an event records it. planted is false if the test is the suite's own.
func (r *Reconciler) plantedRun(
	observed *observation, test *v1alpha1.LoadTest, w suite.Wanted,
) (run suite.Run, planted bool, err error) {
	field, err := observed.Matrix.DiffersIn(r.definitions, w, test)
	if err != nil || field == "" {
		return suite.Run{}, false, err
	}
	run = suite.PlantedRun(test, w, field)
	r.events.Eventf(observed.Suite, nil, corev1.EventTypeWarning, suite.ReasonSpecDiffers, "readRuns",
		"LoadTest %s: %s", test.Name, run.Message)
	return run, true, nil
}
