//go:build full

package chart

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// A release is upgraded, removed and installed again while a LoadTest is in the middle of its run: the run goes on, and its result is in the status.
func TestAReleaseChangesInTheMiddleOfARun(t *testing.T) {
	m := newMidway(t)
	makeNamespace(t, releaseNamespace)
	kubectl(t, networkDefinition, "apply", "-f", "-")
	must(t, install(t, releaseNamespace, ""))
	kubectl(t, "", "wait", "crd", "--all", "--for=jsonpath={.status.conditions}", "--timeout=30s")
	kubectl(t, "", "wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
	end := m.manager()
	kubectl(t, inTheMiddle, "apply", "-f", "-")
	m.run()
	m.reportProgress("Ramping", 10)
	m.uids = m.children()

	// An upgrade replaces the manager, and the next one goes on where it was.
	must(t, upgrade(t, releaseNamespace, "{logLevel: debug, maxConcurrent: 4}"))
	end()
	end = m.manager()
	m.reportProgress("Refining", 60)
	m.unchanged()

	// The end of the release leaves the run, and what its runner may do.
	must(t, uninstall(t, releaseNamespace))
	end()
	m.unchanged()
	m.endsByItself()
	m.report()

	// The release that is installed again writes the result.
	must(t, install(t, releaseNamespace, ""))
	end = m.manager()
	m.await("the result", func() bool { return m.says(v1alpha1.ConditionComplete) == v1alpha1.ReasonMeasured })
	if got := m.test().Status; got.Result == nil || got.Operator.LostRuns != 0 || got.Attempt != 1 {
		t.Errorf("the status is %+v", got)
	}

	// A LoadTest that is deleted while there is no manager goes.
	must(t, uninstall(t, releaseNamespace))
	end()
	must(t, m.client.Delete(t.Context(), m.test()))
	m.await("the LoadTest to go", func() bool {
		return apierrors.IsNotFound(m.client.Get(t.Context(), client.ObjectKey{Namespace: "midway", Name: "mid"}, &v1alpha1.LoadTest{}))
	})
}
