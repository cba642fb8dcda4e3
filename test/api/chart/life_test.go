package chart

import (
	"strings"
	"testing"
)

const (
	definition = "loadtests.linerate.dev"
	aTest      = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: kept, namespace: default}
spec:
  dut: {type: Reference}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
`
)

func TestTheServerAcceptsTheInstalledObjects(t *testing.T) {
	makeNamespace(t, releaseNamespace)
	makeNamespace(t, "a")
	everything := `{replicas: 2, watchNamespaces: [a], networkPolicy: {manager: {create: true, metricsFrom: {team: monitoring}}, generators: {create: false}},
		image: {pullSecrets: [s]}, metrics: {annotations: {prometheus.io/scrape: "true"}}, extraEnv: [{name: A, value: b}],
		topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}]}`
	for name, manifest := range map[string]string{
		"the chart's defaults":     render(t, "").manifest,
		"the chart with all of it": render(t, everything).manifest,
		"config/default":           kustomize(t, "config/default"),
	} {
		t.Run(name, func(t *testing.T) {
			wanted := len(documents(t, manifest))
			out := kubectl(t, manifest, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-")
			if got := strings.Count(out, "serverside-applied (server dry run)"); got != wanted {
				t.Errorf("%d of %d objects:\n%s", got, wanted, out)
			}
			if there(t, "crd", "", definition) {
				t.Error("the dry run left something behind")
			}
		})
	}
	t.Run("an object with an unknown field is refused", func(t *testing.T) {
		wrong := strings.Replace(render(t, "").manifest, "terminationGracePeriodSeconds:", "terminationGraceSeconds:", 1)
		if _, err := tryKubectl(t, wrong, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"); err == nil {
			t.Error("it was taken")
		}
	})
}

// The definitions are applied once for all that needs no more than that they are there: an API server prepares itself for seconds.
func TestTheDefinitionCanBeAppliedFromTheClientsSide(t *testing.T) {
	makeNamespace(t, "lab")
	t.Cleanup(func() {
		removeDefinition(t)
		kubectl(t, "", "delete", "crd", networkDefinitionName, "--ignore-not-found")
	})
	if out := applyDefinitions(t); !strings.Contains(out, definition+" created") {
		t.Error(out)
	}
	if out := kubectl(t, "", "apply", "-f", root+"config/crd/bases"); !strings.Contains(out, definition+" unchanged") {
		t.Errorf("applied again: %s", out)
	}
	t.Run("what the documents show is taken", theDocumentsAreTaken)
	t.Run("the first test of the notes is taken", theFirstTestOfTheNotesIsTaken)
	t.Run("the status of a test is described on a screen", describesWithin)
}

// removeDefinition removes the kinds that a release leaves, with all objects of them. How long the API server takes for that is its own affair: 1 s, and on a busy
// machine more than half a minute.
func removeDefinition(t *testing.T) {
	t.Helper()
	if out, err := tryKubectl(t, "", "delete", "crd", definition, "loadtestsuites.linerate.dev", "--ignore-not-found", "--timeout=180s"); err != nil {
		t.Error(out, err)
	}
}

// The life of a release, on the real server: what people made must outlive everything but their own decision.
func TestALoadTestOutlivesTheRelease(t *testing.T) {
	makeNamespace(t, releaseNamespace)
	t.Cleanup(func() { removeDefinition(t) })
	must(t, install(t, releaseNamespace, ""))
	kubectl(t, "", "wait", "crd/"+definition, "--for=condition=Established", "--timeout=30s")
	kubectl(t, aTest, "apply", "-f", "-")
	uid := kubectl(t, "", "get", "loadtest", "kept", "-o", "jsonpath={.metadata.uid}")
	same := func(t *testing.T) {
		t.Helper()
		if got := kubectl(t, "", "get", "loadtest", "kept", "-o", "jsonpath={.metadata.uid}"); got != uid {
			t.Errorf("uid %s, was %s", got, uid)
		}
	}
	t.Run("an upgrade changes what is asked for, and keeps it", func(t *testing.T) {
		must(t, upgrade(t, releaseNamespace, "{replicas: 2, logLevel: debug}"))
		same(t)
		if got := kubectl(t, "", "-n", releaseNamespace, "get", "deployment", "linerate", "-o", "jsonpath={.spec.replicas}"); got != "2" {
			t.Errorf("%s replicas", got)
		}
		if !there(t, "pdb", releaseNamespace, "linerate") {
			t.Error("no disruption budget")
		}
	})
	t.Run("an upgrade brings the definition back to what it should be", func(t *testing.T) {
		kubectl(t, "", "label", "crd", definition, "app.kubernetes.io/managed-by-")
		must(t, upgrade(t, releaseNamespace, ""))
		if got := kubectl(t, "", "get", "crd", definition, "-o", "jsonpath={.metadata.labels}"); !strings.Contains(got, "Helm") {
			t.Errorf("labels %s", got)
		}
		same(t)
	})
	t.Run("the end of the release leaves it", func(t *testing.T) {
		must(t, uninstall(t, releaseNamespace))
		same(t)
		if there(t, "deployment", releaseNamespace, "linerate") || there(t, "clusterrole", "", "linerate-linerate-system") {
			t.Error("the release is still there")
		}
	})
	t.Run("it is found again when the release comes back", func(t *testing.T) {
		must(t, install(t, releaseNamespace, ""))
		same(t)
		must(t, uninstall(t, releaseNamespace))
	})
	t.Run("it goes where that was asked for", func(t *testing.T) {
		must(t, install(t, releaseNamespace, "crds: {keep: false}"), uninstall(t, releaseNamespace))
		kubectl(t, "", "wait", "crd/"+definition, "--for=delete", "--timeout=30s")
	})
}

// applyDefinitions makes LoadTests and networks known. Right after it was made a definition has no conditions at all, and kubectl's wait for
// one of them ends with an error then: so first for any.
func applyDefinitions(t *testing.T) (said string) {
	t.Helper()
	kubectl(t, networkDefinition, "apply", "-f", "-")
	said = kubectl(t, "", "apply", "-f", root+"config/crd/bases")
	kubectl(t, "", "wait", "crd", "--all", "--for=jsonpath={.status.conditions}", "--timeout=30s")
	kubectl(t, "", "wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
	return said
}

// The commands in the notes are run.
func theFirstTestOfTheNotesIsTaken(t *testing.T) {
	_, after, found := strings.Cut(render(t, "").notes, "apply -n lab -f - <<'YAML'\n")
	typed, _, ended := strings.Cut(after, "\nYAML\n")
	if !found || !ended {
		t.Fatalf("the notes hold no file:\n%s", render(t, "").notes)
	}
	out := kubectl(t, typed, "apply", "-n", "lab", "--validate=strict", "-f", "-")
	if got := strings.Count(out, " created"); got != 3 {
		t.Errorf("%d objects:\n%s", got, out)
	}
	if out := kubectl(t, "", "-n", "lab", "get", "loadtest", "first"); !strings.Contains(out, "first") {
		t.Error(out)
	}
}

const (
	networkDefinitionName = "network-attachment-definitions.k8s.cni.cncf.io"
	networkDefinition     = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: network-attachment-definitions.k8s.cni.cncf.io}
spec:
  group: k8s.cni.cncf.io
  scope: Namespaced
  names: {plural: network-attachment-definitions, singular: network-attachment-definition, kind: NetworkAttachmentDefinition, shortNames: [net-attach-def]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {config: {type: string}}}}
`
)
