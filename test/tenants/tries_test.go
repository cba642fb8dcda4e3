package tenants

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// container is a container that has more to it.
func container(more string) string { return "{containers: [{name: c, image: i, " + more + "}]}" }

// beyondAPlainPod is what a template may not have without the verb privileged, each with what the refusal says of it.
func beyondAPlainPod() map[string]struct{ spec, says string } {
	const plain = "containers: [{name: c, image: i}]"
	return map[string]struct{ spec, says string }{
		"a privileged container":           {container("securityContext: {privileged: true}"), "securityContext.privileged"},
		"a privileged init container":      {"{" + plain + ", initContainers: [{name: d, image: i, securityContext: {privileged: true}}]}", "securityContext.privileged"},
		"a privileged ephemeral container": {"{" + plain + ", ephemeralContainers: [{name: d, image: i, securityContext: {privileged: true}}]}", "securityContext.privileged"},
		"privileged as a text":             {container(`securityContext: {privileged: "true"}`), "securityContext.privileged"},
		"the node's network":               {"{" + plain + ", hostNetwork: true}", "hostNetwork"},
		"the node's processes":             {"{" + plain + ", hostPID: true}", "hostPID"},
		"the node's memory":                {"{" + plain + ", hostIPC: true}", "hostIPC"},
		"a path of the node's":             {"{" + plain + ", volumes: [{name: v, hostPath: {path: /}}]}", "a hostPath volume"},
		"a file system of its own":         {"{" + plain + ", volumes: [{name: v, nfs: {server: s, path: /}}]}", "use a PersistentVolumeClaim"},
		"a raw device":                     {container("volumeDevices: [{name: v, devicePath: /dev/sda}]"), "volumeDevices"},
		"an added capability":              {container("securityContext: {capabilities: {add: [SYS_ADMIN]}}"), "capabilities.add"},
		"all capabilities":                 {container("securityContext: {capabilities: {add: [ALL]}}"), "capabilities.add"},
		"a port of the node's":             {container("ports: [{containerPort: 80, hostPort: 80}]"), "hostPort"},
		"an unmasked /proc":                {container("securityContext: {procMount: Unmasked}"), "procMount"},
		"no seccomp":                       {"{" + plain + ", securityContext: {seccompProfile: {type: Unconfined}}}", "seccompProfile"},
		"no AppArmor":                      {container("securityContext: {appArmorProfile: {type: Unconfined}}"), "appArmorProfile"},
		"another SELinux type":             {container("securityContext: {seLinuxOptions: {type: spc_t}}"), "seLinuxOptions"},
		"a Windows host process":           {container("securityContext: {windowsOptions: {hostProcess: true}}"), "windowsOptions.hostProcess"},
		"an unsafe sysctl":                 {"{" + plain + ", securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}}", "sysctls"},
		"a node past the scheduler":        {"{" + plain + ", nodeName: master}", "nodeName"},
		"the system's priority":            {"{" + plain + ", priorityClassName: system-node-critical}", "priorityClassName"},
		"a probe of the node's own":        {container("livenessProbe: {httpGet: {host: 127.0.0.1, port: 10250}}"), "a probe or hook"},
		"a token by the back door":         {"{" + plain + ", volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}", "a projected token"},
	}
}

func TestATemplateAsksForNoMoreThanItsAuthorHas(t *testing.T) {
	l := newLab(t)
	for what, try := range beyondAPlainPod() {
		t.Run(what, func(t *testing.T) {
			test := withPod(t, try.spec)
			refused(t, l.try("author", test), try.says, "more than a plain pod has: remove it, or have an administrator give author the verb privileged")
			refused(t, l.try("tester", test), "dut.pod", "tester may not create pods in namespace "+l.namespace, "ask for the role edit")
			allowed(t, l.try("engineer", test))
		})
	}
	t.Run("nor do setup and teardown", func(t *testing.T) {
		for _, hook := range []string{"setup", "teardown"} {
			for what, try := range beyondAPlainPod() {
				test := written(t, "attempt", links+"dut: {type: Reference, "+hook+": {template: {spec: "+try.spec+"}}}\n")
				t.Log(hook, what)
				refused(t, l.try("author", test), try.says)
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
	for _, field := range []string{"serviceAccountName: deployer", "serviceAccount: deployer", "serviceAccountName: '', serviceAccount: deployer", "serviceAccountName: deployer, serviceAccount: default"} {
		test := withPod(t, "{containers: [{name: c, image: i}], "+field+"}")
		refused(t, l.try("author", test), "serviceAccountName deployer", "leave it out", "the verb use on that ServiceAccount")
		refused(t, l.try("tester", test), "may not create pods")
		allowed(t, l.try("engineer", test))
	}
	t.Run("the namespace's default, which has a token where it is named", func(t *testing.T) {
		refused(t, l.try("author", withPod(t, "{containers: [{name: c, image: i}], serviceAccountName: default}")), "serviceAccountName default")
	})
	t.Run("the runner's", func(t *testing.T) {
		refused(t, l.try("author", withPod(t, "{containers: [{name: c, image: i}], serviceAccountName: attempt-runner}")), "serviceAccountName attempt-runner")
	})
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
	for _, who := range []string{"tester", "author", "engineer"} {
		test := written(t, "attempt", fmt.Sprintf(spec, "other/west", ""))
		refused(t, l.try(who, test), "network other/west is in another namespace", "allowedNetworkNamespaces")
		test = written(t, "attempt", fmt.Sprintf(spec, "west", ", dut: {network: other/east}"))
		refused(t, l.try(who, test), "network other/east is in another namespace")
	}
	t.Run("their own, by name, and those that all share are fine", func(t *testing.T) {
		for _, network := range []string{"west", l.namespace + "/west", "default/west"} {
			allowed(t, l.try("tester", written(t, "attempt", fmt.Sprintf(spec, network, ""))))
		}
	})
}

// Settings and software of the author's own, other than templates.
func TestWhatNeedsTheRightToCreatePods(t *testing.T) {
	l := newLab(t)
	for what, spec := range map[string]string{
		"generator.trex":     "generator: {engine: TRex, trex: {image: attacker/shell}}",
		"generator.pod":      "generator: {engine: Software, pod: {priorityClassName: urgent, nodeSelector: {kubernetes.io/hostname: master}, labels: {app: shop}}}",
		"generator.external": "generator: {engine: External, external: {servers: ['kubernetes.default:443']}}\ndut: {type: Device}",
		"dut.pod":            "dut: {type: Pod, pod: {template: {spec: {containers: [{name: c, image: i, env: [{name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}]}], volumes: [{name: v, secret: {secretName: s}}]}}}}",
		"dut.setup":          "dut: {type: Reference, setup: {template: {spec: {containers: [{name: c, image: i}]}}}}",
		"dut.teardown":       "dut: {type: Reference, teardown: {template: {spec: {containers: [{name: c, image: i}]}}}}",
	} {
		t.Run(what, func(t *testing.T) {
			test := written(t, "attempt", links+spec)
			refused(t, l.try("tester", test), what+": these become pods, and tester may not create pods in namespace "+l.namespace)
			allowed(t, l.try("author", test))
		})
	}
	t.Run("the system's priority for generators takes the verb", func(t *testing.T) {
		test := written(t, "attempt", links+"generator: {engine: Software, pod: {priorityClassName: system-cluster-critical}}")
		refused(t, l.try("author", test), "priorityClassName of the system")
	})
	t.Run("so does another pod network", func(t *testing.T) {
		refused(t, l.try("author", written(t, "attempt", links+"generator: {engine: Software, pod: {annotations: {v1.multus-cni.io/default-network: other/net}}}")), "default-network")
		refused(t, l.try("author", withTemplate(t, "{metadata: {annotations: {v1.multus-cni.io/default-network: other/net}}, spec: {containers: [{name: c, image: i}]}}")), "default-network")
		refused(t, l.try("author", withTemplate(t, "{metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: unconfined}}, spec: {containers: [{name: c, image: i}]}}")), "appArmorProfile")
	})
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
		test := withPod(t, container("ports: []"))
		test.Spec.DUT.Pod.Template["spec"] = apiextensionsv1.JSON{Raw: []byte(`{"containers":[` + strings.TrimSuffix(strings.Repeat(one+",", 32), ",") + `]}`)}
		refused(t, l.try("author", test), "capabilities.add")
	})
	t.Run("what can't be judged is refused", func(t *testing.T) {
		refused(t, l.try("author", withPod(t, "{containers: everything}")))
	})
}
