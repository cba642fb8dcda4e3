package lifecycle_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// Whatever is observed, what is written must not be reason enough to write again, and what is waited for must be to
// come. Either would make the operator look again and again, as fast as it can.
func TestAnyObservationComesToRest(t *testing.T) {
	chance := rand.New(rand.NewPCG(11, 7))
	specs := []string{reference, hooks, devices, external, withLines(reference, "podRetention: OnFailure",
		"schedulingDeadline: 1m", "ttlAfterFinished: 1m")}
	for range tier.Times(750, 3000) {
		w := newWorld(t, specs[chance.IntN(len(specs))])
		o := anyObservation(w, chance)
		o.ObservedAt = o.ObservedAt.Add(time.Duration(chance.IntN(7200)) * time.Second)
		if rules, rests := rest(t, o); !rests {
			t.Fatalf("it doesn't come to rest: %v", rules)
		}
	}
}

// rest decides upon the same children until the status stays the same, and returns the rules that decided.
func rest(t *testing.T, o lifecycle.Observed) (rules []string, rests bool) {
	t.Helper()
	for range 8 {
		d := lifecycle.Decide(o)
		rules = append(rules, d.Rule)
		switch {
		case d.ReadReport:
			o.Children.ReportFault = "there is none"
			continue
		case d.Try != nil:
			o.Refusals = []lifecycle.Refusal{}
			continue
		case d.Protect || d.Unprotect:
			o.Test = o.Test.DeepCopy()
			o.Test.Finalizers = nil
			if d.Protect {
				o.Test.Finalizers = []string{v1alpha1.FinalizerTeardown}
			}
			continue
		case !d.RequeueAt.IsZero() && !d.RequeueAt.After(o.ObservedAt):
			t.Fatalf("%v: again %s from now: %s", rules, d.RequeueAt.Sub(o.ObservedAt), d.Message)
		case sameJSON(o.Test.Status, d.Status):
			return rules, true
		}
		o.Test = o.Test.DeepCopy()
		o.Test.Status = d.Status
		o.Children.ReportFault, o.Refusals = "", nil
	}
	return rules, false
}
