package kubectl

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/gate"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestAGateInTrouble(t *testing.T) {
	t.Run("it doesn't wait for ever, and says for what", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		p.types(inTurns+" --timeout 3s -o json=gate.json").wants(t, 3, "", "Undecided: ")
		var doc report.Gate
		p.must(json.Unmarshal(p.read("gate.json"), &doc))
		if len(doc.Rows) == 0 || !strings.Contains(doc.Rows[0].Message, "not over after 3s, which --timeout may lengthen: waiting for the operator") {
			t.Errorf("it says %+v", doc.Rows)
		}
		if !p.gated().Spec.Stop {
			t.Error("a test that is no longer needed isn't stopped")
		}
	})
	t.Run("what is to go on when time is over isn't cleaned away", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		p.types(inTurns+" --timeout 1s --on-interrupt leave --cleanup Always").wants(t, 3, "Undecided: ", "goes on by itself")
		if s := p.gated(); s.Spec.Stop || s.DeletionTimestamp != nil {
			t.Errorf("it is %+v", s)
		}
	})
	t.Run("a connection that is lost is made again", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		w := p.connects()
		gate := p.starts(inTurns)
		s := p.gated()
		gate.talk.await(t, "waiting for the operator")
		w.set(true)
		gate.talk.await(t, "the API server doesn't answer (")
		p.saysMeasuredSuite(s, v1alpha1.ReasonMeasured, slower(5))
		w.set(false)
		gate.ends().wants(t, 1, "Failed", "the API server answers again")
	})
	t.Run("an API server that stays away leaves it undecided, and the results are written", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		w := p.connects()
		gate := p.starts(inTurns + " --patience 3s -o text,json=gate.json")
		p.gated()
		gate.talk.await(t, "waiting for the operator")
		w.set(true)
		gate.ends().wants(t, 3, "can't be reached", "")
		if doc := p.verdict("gate.json"); doc.ExitCode != 3 || doc.Outcome != report.Undecided {
			t.Errorf("it says %+v", doc)
		}
	})
	t.Run("a suite that is deleted under it leaves it undecided", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		gate := p.starts(inTurns)
		s := p.gated()
		gate.talk.await(t, "waiting for the operator")
		p.must(admin.Delete(t.Context(), s))
		gate.ends().wants(t, 3, "was deleted", "")
	})
	for policy, c := range map[string]struct {
		percent int64
		stays   bool
	}{"Passed": {0, false}, "passed but failed": {5, true}, "Always": {5, false}, "Never": {0, true}} {
		t.Run("cleanup "+policy, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.write("router.yaml", aRelease)
			word, _, _ := strings.Cut(policy, " ")
			gate := p.starts(inTurns + " --cleanup " + strings.ToUpper(word[:1]) + word[1:])
			s := p.gated()
			p.saysMeasuredSuite(s, v1alpha1.ReasonMeasured, slower(c.percent))
			gate.ends()
			err := admin.Get(t.Context(), client.ObjectKeyFromObject(s), &v1alpha1.LoadTestSuite{})
			if (err == nil) != c.stays {
				t.Errorf("the suite is there: %v, want %v (%v)", err == nil, c.stays, err)
			}
		})
	}
}

func TestAGateAtASignal(t *testing.T) {
	t.Run("it stops what it measures, waits for the end, and writes what there is", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		gate := p.starts(inTurns + " -o text,json=gate.json,junit=gate.xml")
		s := p.gated()
		gate.talk.await(t, "waiting for the operator")
		p.must(gate.cmd.Process.Signal(syscall.SIGTERM))
		gate.talk.await(t, "stopping")
		p.until("the stop", func() bool { return p.suite(s.Name).Spec.Stop })
		p.saysMeasuredSuite(p.suite(s.Name), v1alpha1.ReasonStopped, slower(0))
		gate.ends().wants(t, 130, "interrupted: ", "")
		if doc := p.verdict("gate.json"); doc.ExitCode != 130 || doc.Outcome != report.Undecided || len(doc.Rows) != 1 || !strings.Contains(string(p.read("gate.xml")), "<testsuite") {
			t.Errorf("it says %+v", doc)
		}
	})
	t.Run("it lets it go on where that is asked for, and the same command finds back", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		first := p.starts(inTurns + " --on-interrupt leave")
		s := p.gated()
		first.talk.await(t, "waiting for the operator")
		p.must(first.cmd.Process.Signal(syscall.SIGTERM))
		first.ends().wants(t, 130, "interrupted: ", s.Name+" goes on by itself")
		again := p.starts(inTurns)
		again.talk.await(t, s.Name+" is under way")
		if p.suite(s.Name).Spec.Stop {
			t.Error("it was stopped")
		}
		p.saysMeasuredSuite(s, v1alpha1.ReasonMeasured, slower(0))
		again.ends().wants(t, 0, "Passed", "")
	})
	t.Run("it deletes it where that is asked for", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.write("router.yaml", aRelease)
		gate := p.starts(inTurns + " --on-interrupt delete")
		s := p.gated()
		gate.talk.await(t, "waiting for the operator")
		p.must(gate.cmd.Process.Signal(syscall.SIGTERM))
		gate.ends().wants(t, 130, "interrupted: ", s.Name+": deleted")
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(s), &v1alpha1.LoadTestSuite{}); !apierrors.IsNotFound(err) {
			t.Errorf("it is still there: %v", err)
		}
	})
}

func TestAGateOfASuiteThatMeasuredNothing(t *testing.T) {
	p := newPerson(t)
	p.write("router.yaml", aRelease)
	first := p.starts(inTurns)
	s := p.gated()
	first.talk.await(t, "created in namespace")
	p.saysMeasuredSuite(s, v1alpha1.ReasonPartlyMeasured, slower(0))
	first.ends()
	t.Run("what was measured in part is measured again", func(t *testing.T) {
		again := p.starts(inTurns)
		again.talk.await(t, s.Name+"-2 created")
		p.saysMeasuredSuite(p.suite(s.Name+"-2"), v1alpha1.ReasonStopped, slower(0))
		again.ends().wants(t, 3, "Undecided", "")
	})
	t.Run("but not for ever", func(t *testing.T) {
		for n := 3; n <= gate.MaxTries; n++ {
			other := s.DeepCopy()
			other.ObjectMeta = metav1.ObjectMeta{Name: gate.Try(s.Name, n), Namespace: s.Namespace, Annotations: s.Annotations}
			p.must(admin.Create(t.Context(), other))
			p.saysSuite(other.Name, metav1.ConditionTrue, v1alpha1.ReasonNotMeasured, 0, 0, 4)
		}
		p.types(inTurns).wants(t, 2, "", "9 suites of this content came to nothing: kubectl linerate report suite/"+s.Name+"-9 -n "+p.namespace+" says why of the last")
	})
}

// verdict is the document that a gate wrote.
func (p *person) verdict(name string) (doc report.Gate) {
	p.Helper()
	p.must(json.Unmarshal(p.read(name), &doc))
	return doc
}
