package chart

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/test/rigs/built"
)

func TestBadValuesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"replica: 2":        "additional properties 'replica' not allowed",
		"image: {tags: v1}": "additional properties 'tags' not allowed",
		"replicas: 0":       "at '/replicas': minimum: got 0, want 1",
		"podLabels: {app.kubernetes.io/name: other}":               "invalid propertyName 'app.kubernetes.io/name'",
		"testPods: {labels: {a: 1}}":                               "at '/testPods/labels/a': got number, want string",
		"openshift: {testNamespaces: [Lab]}":                       "at '/openshift/testNamespaces/0': 'Lab' does not match pattern",
		"metrics: {readers: [{name: prometheus}]}":                 "at '/metrics/readers/0': missing property 'namespace'",
		"replicas: two":                                            "at '/replicas': got string, want integer",
		"image: {digest: abc}":                                     "at '/image/digest': 'abc' does not match pattern",
		"image: {repository: 'a@sha256:b'}":                        "at '/image/repository'",
		"image: {pullPolicy: Sometimes}":                           "at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
		"image: {pullSecrets: [{name: a}]}":                        "at '/image/pullSecrets/0': got object, want string",
		"watchNamespaces: lab":                                     "at '/watchNamespaces': got string, want array",
		"watchNamespaces: [Lab]":                                   "at '/watchNamespaces/0': 'Lab' does not match pattern",
		"watchNamespaces: [a, a]":                                  "at '/watchNamespaces': items at 0 and 1 are equal",
		"allowedServers: [trex.lab]":                               "at '/allowedServers/0': 'trex.lab' does not match",
		"allowedServers: [\"10.0.0.1'\"]":                          "at '/allowedServers/0'",
		"allowedTrafficPrefixes: [10.0.0.1]":                       "at '/allowedTrafficPrefixes/0': '10.0.0.1' does not match pattern",
		"allowedNetworkNamespaces: [Lab]":                          "at '/allowedNetworkNamespaces/0': 'Lab' does not match pattern",
		"physicalPorts: {namespace: Lab}":                          "at '/physicalPorts/namespace'",
		"logLevel: loud":                                           "at '/logLevel': value must be one of",
		"extraArgs: [log-level=debug]":                             "at '/extraArgs/0'",
		"keptReports: {count: -1}":                                 "at '/keptReports/count': minimum: got -1, want 0",
		"keptReports: {age: 1y}":                                   "at '/keptReports/age'",
		"keptReports: {namespaces: {Lab: {count: 1}}}":             "Lab",
		"metrics: {tests: -1}":                                     "at '/metrics/tests': minimum: got -1, want 0",
		"metrics: {create: false, rules: {create: true}}":          "metrics.rules.create: there is nothing to watch without metrics.create",
		"metrics: {create: false, serviceMonitor: {create: true}}": "metrics.serviceMonitor.create: there is nothing to scrape without metrics.create",
		"metrics: {serviceMonitor: {interval: often}}":             "at '/metrics/serviceMonitor/interval'",
		"metrics: {port: 70000}":                                   "at '/metrics/port': maximum: got 70,000, want 65,535",
		"serviceAccount: {create: false}":                          "serviceAccount.name: without serviceAccount.create, say which ServiceAccount the manager has",
		"networkPolicy: {generators: {namespaces: [lab]}}":         "at '/networkPolicy/generators'",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := tryRender(t, text)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// The schema refuses values that it doesn't have; a value that only the schema has would be undocumented.
func TestTheSchemaKnowsEveryValueAndNoOther(t *testing.T) {
	type schema struct {
		Properties           map[string]json.RawMessage
		AdditionalProperties json.RawMessage
	}
	var compare func(path string, raw json.RawMessage, value any)
	compare = func(path string, raw json.RawMessage, value any) {
		var s schema
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Properties) == 0 || path == ".resources" {
			return // free, or Kubernetes' own
		}
		if string(s.AdditionalProperties) != "false" {
			t.Errorf("%s accepts unknown values", path)
		}
		delete(s.Properties, "global") // Helm's own
		got := value.(map[string]any)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(s.Properties)), slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%s: schema (-), values.yaml (+):\n%s", path, diff)
			return
		}
		for name, below := range s.Properties {
			compare(path+"."+name, below, got[name])
		}
	}
	var all map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "charts/linerate/values.yaml")), &all); err != nil {
		t.Fatal(err)
	}
	compare("", json.RawMessage(read(t, "charts/linerate/values.schema.json")), all)
}

func TestEveryValueIsUsed(t *testing.T) {
	var templates strings.Builder
	files, err := filepath.Glob(chartDir + "/templates/*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d templates: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		templates.Write(text)
	}
	var all map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "charts/linerate/values.yaml")), &all); err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if !strings.Contains(templates.String(), ".Values."+name) {
			t.Errorf("no template uses %s", name)
		}
	}
}

func managerOf(t *testing.T, text string) corev1.PodSpec {
	t.Helper()
	return onlyDeployment(t, objects(t, render(t, text).manifest)).Spec.Template.Spec
}

func TestSwitches(t *testing.T) {
	t.Run("a digest wins over the tag, for the manager and for the pods of tests", func(t *testing.T) {
		digest := "sha256:" + strings.Repeat("0a", 32)
		c := managerOf(t, "image: {repository: mirror.lab/linerate, tag: v9, digest: "+digest+"}").Containers[0]
		if want := "mirror.lab/linerate@" + digest; c.Image != want || c.Env[0].Value != want {
			t.Errorf("image %s, environment %v", c.Image, c.Env)
		}
	})
	t.Run("a tag wins over the chart's version", func(t *testing.T) {
		if c := managerOf(t, "image: {tag: v9}").Containers[0]; c.Image != "ghcr.io/linerate-dev/linerate:v9" || c.Env[0].Value != c.Image {
			t.Errorf("image %s, environment %v", c.Image, c.Env)
		}
	})
	t.Run("how images are pulled holds for the pods of tests, too", func(t *testing.T) {
		pod := managerOf(t, "image: {pullPolicy: Never, pullSecrets: [one, two]}")
		want := []corev1.LocalObjectReference{{Name: "one"}, {Name: "two"}}
		if diff := cmp.Diff(want, pod.ImagePullSecrets); diff != "" {
			t.Error(diff)
		}
		c := pod.Containers[0]
		if c.ImagePullPolicy != corev1.PullNever || !slices.Contains(c.Args, "--pull-policy=Never") || !slices.Contains(c.Args, "--pull-secrets=one,two") {
			t.Errorf("%s %v", c.ImagePullPolicy, c.Args)
		}
	})
	t.Run("the manager gets the namespaces, and each has its roles", func(t *testing.T) {
		const text = "watchNamespaces: [a, b]"
		if args := managerOf(t, text).Containers[0].Args; !slices.Contains(args, "--namespaces=a,b") {
			t.Errorf("arguments %v", args)
		}
		// One in each, leader election's, the runners', and the manager's for runs.
		if n := count[*rbacv1.RoleBinding](objects(t, render(t, text).manifest)); n != 5 {
			t.Errorf("%d RoleBindings", n)
		}
	})
	t.Run("the manager gets the namespace of physical ports' Leases, and may write there", func(t *testing.T) {
		for text, roles := range map[string]int{"physicalPorts: {namespace: other}": 1, "physicalPorts: {namespace: " + releaseNamespace + "}": 0} {
			namespace := strings.TrimSuffix(strings.TrimPrefix(text, "physicalPorts: {namespace: "), "}")
			if args := managerOf(t, text).Containers[0].Args; !slices.Contains(args, "--port-leases-namespace="+namespace) {
				t.Errorf("%s: arguments %v", text, args)
			}
			there := 0
			for _, r := range objects(t, render(t, text).manifest) {
				if role, is := r.(*rbacv1.Role); is && role.Namespace == "other" {
					there++
					if len(role.Rules) != 1 || !slices.Equal(role.Rules[0].Resources, []string{"leases"}) || slices.Contains(role.Rules[0].Verbs, "update") {
						t.Errorf("%s: it may do more there than keep Leases: %v", text, role.Rules)
					}
				}
			}
			if there != roles {
				t.Errorf("%s: %d Roles there, want %d", text, there, roles)
			}
		}
		if args := managerOf(t, "").Containers[0].Args; slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--port-leases-namespace") }) {
			t.Errorf("without a value, the arguments are %v", args)
		}
	})
	t.Run("the manager gets the bounds of kept Reports", func(t *testing.T) {
		args := managerOf(t, "keptReports: {age: 90h, namespaces: {lab-b: {count: 1000, age: 17520h}, lab-a: {count: 50}}}").Containers[0].Args
		for _, want := range []string{"--keep-reports=200/90h", "--keep-reports-in=lab-a=50/0,lab-b=1000/17520h"} {
			if !slices.Contains(args, want) {
				t.Errorf("no %s among %v", want, args)
			}
		}
	})
	t.Run("several replicas keep apart, and are not all disrupted", func(t *testing.T) {
		all := objects(t, render(t, "replicas: 3").manifest)
		d := onlyDeployment(t, all)
		if *d.Spec.Replicas != 3 || d.Spec.Template.Spec.Affinity.PodAntiAffinity == nil {
			t.Errorf("%d replicas, affinity %v", *d.Spec.Replicas, d.Spec.Template.Spec.Affinity)
		}
		budget := find[*policyv1.PodDisruptionBudget](t, all, releaseNamespace, "linerate")
		if budget.Spec.MaxUnavailable.IntValue() != 1 || !subset(budget.Spec.Selector.MatchLabels, d.Spec.Template.Labels) {
			t.Errorf("%+v", budget.Spec)
		}
	})
	t.Run("one replica has no budget, which would block its node's drain", func(t *testing.T) {
		if n := count[*policyv1.PodDisruptionBudget](objects(t, render(t, "").manifest)); n != 0 {
			t.Errorf("%d budgets", n)
		}
	})
	t.Run("where pods run is Kubernetes' to say", func(t *testing.T) {
		pod := managerOf(t, `
replicas: 2
nodeSelector: {disk: ssd}
tolerations: [{key: infra, operator: Exists}]
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]
priorityClassName: high
runners: {priorityClassName: lab-runners, queueName: lab-queue}
extraEnv: [{name: GOGC, value: "50"}]
extraArgs: [--log-level=debug]
resources: {limits: {memory: 1Gi}}
`)
		c := pod.Containers[0]
		if pod.NodeSelector["disk"] != "ssd" || pod.Tolerations[0].Key != "infra" || pod.Affinity.PodAntiAffinity != nil || pod.Affinity.NodeAffinity == nil ||
			pod.TopologySpreadConstraints[0].TopologyKey != "zone" || pod.PriorityClassName != "high" || c.Env[2].Value != "50" ||
			c.Args[len(c.Args)-1] != "--log-level=debug" || !slices.Contains(c.Args, "--runner-priority=lab-runners") || !slices.Contains(c.Args, "--runner-queue=lab-queue") || c.Resources.Limits.Memory().String() != "1Gi" {
			t.Errorf("%+v", pod)
		}
	})
	t.Run("GOMEMLIMIT is nine tenths of the memory limit", func(t *testing.T) {
		for values, want := range map[string]string{
			"": "460MiB", "resources: {limits: {memory: 1Gi}}": "921MiB", "resources: {limits: {memory: 1048576Ki}}": "943718KiB", "resources: {limits: {memory: 1000000000}}": "900000000B",
			"resources: {limits: {memory: 1G}}": "", "resources: {limits: {memory: null}}": "", "resources: null": "",
			"extraEnv: [{name: GOMEMLIMIT, value: 300MiB}]": "300MiB",
		} {
			said := ""
			for _, variable := range managerOf(t, values).Containers[0].Env {
				if variable.Name == "GOMEMLIMIT" {
					said += variable.Value
				}
			}
			if said != want {
				t.Errorf("%q: GOMEMLIMIT is %q, want %q", values, said, want)
			}
		}
	})
	t.Run("what isn't to be made isn't", func(t *testing.T) {
		all := objects(t, render(t, `
rbac: {create: false, aggregate: false}
serviceAccount: {create: false, name: mine}
metrics: {create: false}
admissionPolicy: {create: false}
crds: {install: false}
`).manifest)
		if len(all) != 1 {
			t.Errorf("%d objects, not the Deployment alone", len(all))
		}
		pod := onlyDeployment(t, all).Spec.Template.Spec
		if pod.ServiceAccountName != "mine" || !slices.Contains(pod.Containers[0].Args, "--metrics-address=0") || len(pod.Containers[0].Ports) != 1 {
			t.Errorf("%+v", pod)
		}
	})
	t.Run("only readers of metrics reach the manager", func(t *testing.T) {
		all := objects(t, render(t, "networkPolicy: {manager: {create: true, metricsFrom: {team: monitoring}}}").manifest)
		policy := find[*networkingv1.NetworkPolicy](t, all, releaseNamespace, "linerate").Spec
		if !subset(policy.PodSelector.MatchLabels, onlyDeployment(t, all).Spec.Template.Labels) || len(policy.Ingress) != 1 ||
			policy.Ingress[0].From[0].NamespaceSelector.MatchLabels["team"] != "monitoring" || policy.Ingress[0].Ports[0].Port.IntValue() != 8443 {
			t.Errorf("%+v", policy)
		}
	})
	t.Run("metrics are served over HTTP only where that is asked for", func(t *testing.T) {
		for values, want := range map[string][]string{
			"":                                      {"--metrics-address=:8443", "--metrics-secure=true"},
			"metrics: {secure: false}":              {"--metrics-address=:8080", "--metrics-secure=false"},
			"metrics: {certificateSecret: its-tls}": {"--metrics-address=:8443", "--metrics-certificates=/etc/linerate/metrics"},
		} {
			pod := managerOf(t, values)
			for _, argument := range want {
				if !slices.Contains(pod.Containers[0].Args, argument) {
					t.Errorf("with %q the manager has no %s: %q", values, argument, pod.Containers[0].Args)
				}
			}
			if named := strings.Contains(values, "its-tls"); len(pod.Volumes) > 0 != named || named && (pod.Volumes[0].Secret.SecretName != "its-tls" || pod.Containers[0].VolumeMounts[0].MountPath != "/etc/linerate/metrics") {
				t.Errorf("with %q: %+v", values, pod.Volumes)
			}
		}
	})
	t.Run("named accounts may read metrics", func(t *testing.T) {
		all := objects(t, render(t, "metrics: {readers: [{namespace: monitoring, name: prometheus-k8s}]}").manifest)
		binding := find[*rbacv1.ClusterRoleBinding](t, all, "", "linerate-linerate-system-metrics-reader")
		find[*rbacv1.ClusterRole](t, all, "", binding.RoleRef.Name)
		binds(t, binding.Subjects, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "prometheus-k8s"}})
	})
	t.Run("without named readers the manager can't be reached", func(t *testing.T) {
		all := objects(t, render(t, "networkPolicy: {manager: {create: true}}").manifest)
		if policy := find[*networkingv1.NetworkPolicy](t, all, releaseNamespace, "linerate").Spec; len(policy.Ingress) != 0 || len(policy.PolicyTypes) != 1 {
			t.Errorf("%+v", policy)
		}
	})
	t.Run("objects in namespaces of tests can be left to others", func(t *testing.T) {
		for values, want := range map[string][]string{
			"": {"--network-policies=true", "--disruption-budgets=true"},
			"{networkPolicy: {generators: {create: false}}, podDisruptionBudget: {tests: false}}": {"--network-policies=false", "--disruption-budgets=false"},
		} {
			for _, argument := range want {
				if got := managerOf(t, values).Containers[0].Args; !slices.Contains(got, argument) {
					t.Errorf("with %q the manager has no %s: %q", values, argument, got)
				}
			}
		}
	})
	t.Run("names follow the release", func(t *testing.T) {
		find[*corev1.Service](t, objects(t, render(t, "nameOverride: lr").manifest), releaseNamespace, "linerate-lr-metrics")
		find[*corev1.Service](t, objects(t, render(t, "fullnameOverride: other").manifest), releaseNamespace, "other-metrics")
	})
}

// The manager is asked itself whether it takes what it is started with.
func TestTheManagerAcceptsItsArguments(t *testing.T) {
	binary, err := built.Program("manager")
	must(t, err)
	full := `{image: {pullSecrets: [a]}, watchNamespaces: [a, b], testPods: {labels: {cost-centre: "4711"}, annotations: {a.example/b: '{"c": "d, $(e)"}'}}, extraArgs: [--leader-election-namespace=x]}`
	for name, c := range map[string]corev1.Container{
		"chart":                  managerOf(t, "").Containers[0],
		"chart, with all":        managerOf(t, full).Containers[0],
		"chart, without metrics": managerOf(t, "metrics: {create: false}").Containers[0],
		"kustomize":              onlyDeployment(t, objects(t, kustomize(t, "config/default"))).Spec.Template.Spec.Containers[0],
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := started(t, binary, c, "--version"); err != nil {
				t.Errorf("%v: %v\n%s", c.Args, err, out)
			}
			if out, err := started(t, binary, c, "--no-such-flag"); err == nil {
				t.Errorf("an unknown flag is taken: %s", out)
			}
		})
	}
}

func started(t *testing.T, binary string, c corev1.Container, more string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append(slices.Clone(c.Args), more)...)
	for _, variable := range c.Env {
		cmd.Env = append(cmd.Env, variable.Name+"="+variable.Value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
