//go:build full

package e2e

import (
	"context"
	"testing"

	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

func TestATestThatOneOperatorBeganIsFinishedByTheNext(t *testing.T) {
	s := begin(t)
	const next = "e2e-next"
	if err := lab.LoadProject(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	s.apply("between", links, limited, quick)
	s.running("between")
	t.Cleanup(func() {
		if err := lab.Upgrade(context.WithoutCancel(t.Context()), lab.Images.Tag); err != nil {
			t.Error(err)
		}
	})
	if err := lab.Upgrade(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if image := s.operator(t.Context()).Spec.Template.Spec.Containers[0].Image; image != rig.Repository+":"+next {
		t.Errorf("the operator's image is %s", image)
	}
	test := s.complete("between", patience)
	s.answers(test, 10_000)
	if test.Status.Attempt != 1 || test.Status.Operator.LostRuns != 0 {
		t.Errorf("attempt %d, %d lost runs: the run didn't go on undisturbed", test.Status.Attempt, test.Status.Operator.LostRuns)
	}
}
