package tenants

import (
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// needThePrivilege are the samples whose software under test needs more than a plain pod.
func needThePrivilege() []string {
	return []string{"loadtest_dut_networks.yaml", "loadtest_external_pod.yaml", "loadtest_reset_pod.yaml", "loadtest_software_pod.yaml", "loadtest_trex_intel_pod.yaml"}
}

func TestOrdinaryTestsPass(t *testing.T) {
	l := newLab(t)
	files, err := filepath.Glob("../../../config/samples/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d samples (%v)", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "suite.yaml" {
			continue // several LoadTests; none has pods of its own
		}
		t.Run(name, func(t *testing.T) {
			test := l.sample(name)
			for i := range test.Spec.Links { // in the samples, lab is the test's own namespace
				test.Spec.Links[i].Network = v1alpha1.NetworkName(filepath.Base(string(test.Spec.Links[i].Network)))
				if test.Spec.Links[i].Network == "." {
					test.Spec.Links[i].Network = ""
				}
			}
			allowed(t, l.try("engineer", test))
			if err := l.try("author", test); slices.Contains(needThePrivilege(), name) {
				refused(t, err, "more than a plain pod has")
			} else {
				allowed(t, err)
			}
		})
	}
	t.Run("with linerate's own programs only, the right to create LoadTests is enough", func(t *testing.T) {
		allowed(t, l.try("tester", written(t, "plain", links)))
		allowed(t, l.try("tester", written(t, "plain", links+"dut: {type: Device}")))
	})
}

func TestWhoMayChangeATest(t *testing.T) {
	l := newLab(t)
	test := privileged(l)
	test.Namespace = l.namespace
	l.must(as(t, "engineer").Create(t.Context(), test))
	change := func(who string, f func(*v1alpha1.LoadTest)) error {
		changed := &v1alpha1.LoadTest{}
		l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(test), changed))
		f(changed)
		return as(t, who).Update(t.Context(), changed)
	}
	t.Run("may label and suspend what others were allowed", func(t *testing.T) {
		allowed(t, change("tester", func(c *v1alpha1.LoadTest) { c.Labels = map[string]string{"seen": "yes"}; c.Spec.Suspend = true }))
	})
	t.Run("may not make more of a test than they may create", func(t *testing.T) {
		plain := written(t, "grows", links)
		plain.Namespace = l.namespace
		l.must(as(t, "tester").Create(t.Context(), plain))
		test = plain
		grow := func(c *v1alpha1.LoadTest) { c.Spec.DUT = privileged(l).Spec.DUT }
		if err := change("tester", grow); err == nil {
			t.Error("tester has a privileged pod now")
		}
		if err := change("author", grow); err == nil {
			t.Error("author has a privileged pod now")
		}
	})
}
