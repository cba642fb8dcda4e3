package e2e

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// links are the wires that every test uses unless it says others.
const links = `
links:
- {name: west, network: default/west, lineRate: 1gbps}
- {name: east, network: default/east, lineRate: 1gbps}
`

// quick finds a limit of 10 000 packets/s in about 20 s.
const quick = `
procedure:
  ramp: {warmupDuration: 2s, targetRate: 50kpps, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`

// trexLinks are cables between the nodes: networks without devices, so that TRex drives kernel interfaces.
const trexLinks = `
links:
- {name: west, network: default/trexwest, lineRate: 1gbps}
- {name: east, network: default/trexeast, lineRate: 1gbps}
`

const trexGenerator = `
generator:
  engine: TRex
  memory: 1Gi
  placement: {separateNodes: true}
  trex: {image: "` + rig.TRex + `"`

// make is a LoadTest of these parts of a spec, which don't overlap.
func (s *scene) make(name string, parts ...string) *lineratev1alpha1.LoadTest {
	s.Helper()
	text := ""
	for _, p := range parts {
		text += p + "\n"
	}
	test := &lineratev1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	if err := yaml.UnmarshalStrict([]byte(s.lay(text)), &test.Spec); err != nil {
		s.Fatalf("%v in\n%s", err, text)
	}
	return test
}

// apply creates a LoadTest of these parts of a spec.
func (s *scene) apply(name string, parts ...string) {
	s.Helper()
	if err := lab.Client.Create(s.Context(), s.make(name, parts...)); err != nil {
		s.Fatal(err)
	}
}

// patch merges a patch such as {"stop": true} into the spec.
func (s *scene) patch(name, spec string) error {
	test := &lineratev1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}
	return lab.Client.Patch(s.Context(), test, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": %s}`, spec)))
}

// change is a patch that must be taken.
func (s *scene) change(name, spec string) {
	s.Helper()
	if err := s.patch(name, spec); err != nil {
		s.Fatal(err)
	}
}

// delete deletes a LoadTest, and doesn't wait.
func (s *scene) delete(name string) {
	s.Helper()
	if err := lab.Client.Delete(s.Context(), &lineratev1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}}); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) get(name string) *lineratev1alpha1.LoadTest {
	s.Helper()
	var test lineratev1alpha1.LoadTest
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &test); err != nil {
		s.Fatal(err)
	}
	return &test
}

// await follows a LoadTest until it is so, and fails after the bound.
func (s *scene) await(name, what string, bound time.Duration, so func(*lineratev1alpha1.LoadTest) bool) *lineratev1alpha1.LoadTest {
	s.Helper()
	return await(s, &lineratev1alpha1.LoadTestList{}, name, what, bound, so, state)
}

// complete waits until the test is over.
func (s *scene) complete(name string, bound time.Duration) *lineratev1alpha1.LoadTest {
	s.Helper()
	return s.await(name, "Complete", bound, func(t *lineratev1alpha1.LoadTest) bool {
		return meta.IsStatusConditionTrue(t.Status.Conditions, lineratev1alpha1.ConditionComplete)
	})
}

// step waits until the runner is at this part of the procedure.
func (s *scene) step(name, step string) *lineratev1alpha1.LoadTest {
	s.Helper()
	return s.await(name, step, 90*time.Second, func(t *lineratev1alpha1.LoadTest) bool {
		return t.Status.Progress != nil && t.Status.Progress.Phase == step
	})
}

// running waits until the runner measures. A step that is over in two seconds may never be seen in the status.
func (s *scene) running(name string) {
	s.Helper()
	s.condition(name, "Complete=False Running")
	s.loud()
}

// condition waits until a condition is as said, such as "Scheduled=False Suspended".
func (s *scene) condition(name, want string) *lineratev1alpha1.LoadTest {
	s.Helper()
	kind, _, _ := strings.Cut(want, "=")
	return s.await(name, want, patience, func(t *lineratev1alpha1.LoadTest) bool { return condition(t, kind) == want })
}

// report reads the Report that the status names.
func (s *scene) report(test *lineratev1alpha1.LoadTest) *report.Report {
	s.Helper()
	if test.Status.Report == nil {
		s.Fatalf("%s: the status names no Report; it is at %s", test.Name, state(test))
	}
	var in corev1.ConfigMap
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: test.Status.Report.ConfigMap}, &in); err != nil {
		s.Fatal(err)
	}
	r, envelope, err := delivery.DecodeReport(in.BinaryData, in.Annotations)
	if err != nil {
		s.Fatal(err)
	}
	if envelope.Digest != test.Status.Report.Digest {
		s.Errorf("%s: the status names the Report %s, and there is %s", test.Name, test.Status.Report.Digest, envelope.Digest)
	}
	return r
}
