package tenants

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/linerate-dev/linerate/test/api/tenants/tries"
)

// Each attempt that test/cluster/e2e plays in a whole cluster is refused here, too.
func TestEachAttemptIsRefused(t *testing.T) {
	l := newLab(t)
	all := tries.Attempts(l.namespace, "other")
	if len(all) < 60 {
		t.Fatalf("there are %d attempts", len(all))
	}
	for _, try := range all {
		t.Run(try.User+" asks for "+try.Name, func(t *testing.T) {
			refused(t, l.try(try.User, written(t, "attempt", try.Spec)), try.Refusals...)
		})
	}
}

func TestATemplateAsksForNoMoreThanItsAuthorHas(t *testing.T) {
	l := newLab(t)
	t.Run("an engineer has the verb privileged", func(t *testing.T) {
		for _, try := range slices.Concat(tries.BeyondAPlainPod(), tries.ForeignAccounts()) {
			t.Log(try.Name)
			allowed(t, l.try("engineer", withPod(t, try.Spec)))
		}
	})
	t.Run("nor do setup and teardown", func(t *testing.T) {
		for _, hook := range []string{"setup", "teardown"} {
			for _, try := range tries.BeyondAPlainPod() {
				test := written(t, "attempt", links+"dut: {type: Reference, "+hook+": {template: {spec: "+try.Spec+"}}}\n")
				t.Log(hook, try.Name)
				refused(t, l.try("author", test), try.Refusal)
				refused(t, l.try("tester", test), "dut."+hook)
			}
		}
	})
	t.Run("a refusal names all that is too much", func(t *testing.T) {
		test := withPod(t, "{hostNetwork: true, hostPID: true, containers: [{name: c, image: i, securityContext: {privileged: true}}]}")
		refused(t, l.try("author", test), "hostNetwork", "hostPID", "securityContext.privileged")
	})
}

// refused fails unless a try was refused by the policy in these words.
func refused(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Error("it is taken")
		return
	}
	for _, words := range says {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("it should say %q, and says: %v", words, err)
		}
	}
	if !strings.Contains(err.Error(), "ValidatingAdmissionPolicy 'loadtests'") || !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		t.Errorf("it isn't the policy that refuses: %v", err)
	}
}

func allowed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestAnotherServiceAccount(t *testing.T) {
	l := newLab(t)
	for _, try := range tries.ForeignAccounts() {
		refused(t, l.try("tester", withPod(t, try.Spec)), "may not create pods")
	}
	t.Run("one that the author may use, in each of the three templates", func(t *testing.T) {
		l.allowUse("author", "mine", "yours", "ours")
		test := written(t, "attempt", links+`
dut:
  type: Pod
  pod: {template: {spec: {serviceAccountName: mine, containers: [{name: c, image: i}]}}}
  setup: {template: {spec: {serviceAccountName: yours, containers: [{name: c, image: i}]}}}
  teardown: {template: {spec: {serviceAccountName: ours, containers: [{name: c, image: i}]}}}
`)
		l.await("the right to use them", func() bool { return l.try("author", test) == nil })
		test.Spec.DUT.Teardown.Template["spec"] = apiextensionsv1.JSON{Raw: []byte(`{"serviceAccountName": "deployer", "containers": [{"name": "c", "image": "i"}]}`)}
		refused(t, l.try("author", test), "deployer")
	})
}

func TestNetworksOfOtherNamespaces(t *testing.T) {
	l := newLab(t)
	const spec = "links: [{name: west, network: %s, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps%s}]\n"
	for _, try := range tries.ForeignNetworks("other") {
		refused(t, l.try("engineer", written(t, "attempt", try.Spec)), try.Refusal)
	}
	t.Run("their own, by name, and those that all share are fine", func(t *testing.T) {
		for _, network := range []string{"west", l.namespace + "/west", "default/west"} {
			allowed(t, l.try("tester", written(t, "attempt", fmt.Sprintf(spec, network, ""))))
		}
	})
}

// Settings and software of the author's own, other than templates.
func TestWhichTemplatesNeedTheRightToCreatePods(t *testing.T) {
	l := newLab(t)
	for _, try := range tries.NeedingPods() {
		t.Run(try.Name, func(t *testing.T) {
			allowed(t, l.try("author", written(t, "attempt", links+try.Spec)))
		})
	}
}

func TestHugeTemplates(t *testing.T) {
	l := newLab(t)
	many := func(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+", ", n), ", ") }
	for what, spec := range map[string]string{
		"containers":      "{containers: [" + many(1000, "{name: c, image: i}") + "]}",
		"init containers": "{containers: [{name: c, image: i}], initContainers: [" + many(1000, "{name: c, image: i}") + "]}",
		"volumes":         "{containers: [{name: c, image: i}], volumes: [" + many(1000, "{name: v, emptyDir: {}}") + "]}",
	} {
		t.Run(what, func(t *testing.T) {
			refused(t, l.try("author", withPod(t, spec)), "at most 32 containers of each kind and 128 volumes")
		})
	}
	t.Run("as much as may be is judged, and what hides behind it is found", func(t *testing.T) {
		full := many(32, "{name: c, image: i, securityContext: {capabilities: {add: ["+many(13, "CHOWN")+"]}}, ports: ["+many(20, "{containerPort: 80}")+"]}")
		spec := "{containers: [" + full + "], initContainers: [" + full + "], volumes: [" + many(127, "{name: v, emptyDir: {}}") + "%s]}"
		test := written(t, "attempt", links+"dut: {type: Pod, pod: {template: {spec: "+fmt.Sprintf(spec, "")+"}}, setup: {template: {spec: "+fmt.Sprintf(spec, "")+"}}, teardown: {template: {spec: "+fmt.Sprintf(spec, "")+"}}}")
		allowed(t, l.try("author", test))
		refused(t, l.try("author", withPod(t, fmt.Sprintf(spec, ", {name: w, hostPath: {path: /}}"))), "a hostPath volume")
	})
	t.Run("the last of a hundred thousand names is found", func(t *testing.T) {
		one := `{"name":"c","image":"i","securityContext":{"capabilities":{"add":[` + strings.Repeat(`"KILL",`, 4000) + `"SYS_ADMIN"]}}}`
		test := withPod(t, "{containers: [{name: c, image: i}]}")
		test.Spec.DUT.Pod.Template["spec"] = apiextensionsv1.JSON{Raw: []byte(`{"containers":[` + strings.TrimSuffix(strings.Repeat(one+",", 32), ",") + `]}`)}
		refused(t, l.try("author", test), "capabilities.add")
	})
	t.Run("what can't be judged is refused", func(t *testing.T) {
		refused(t, l.try("author", withPod(t, "{containers: everything}")))
	})
}
