package manifests_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// servers are the containers of linerate's programs that answer over the pods' network.
func servers(objects []manifests.Object) (containers []corev1.Container) {
	verbs := []string{"generator", "sessions", "vitals", "collect", "reset", "trex-launch"}
	for _, o := range objects {
		pod, ok := o.(*corev1.Pod)
		if !ok {
			continue
		}
		for _, c := range pod.Spec.Containers {
			if len(c.Command) > 1 && (slices.Contains(verbs, c.Command[1]) || c.Command[1] == "forwarder" &&
				slices.Contains(c.Command, "--vitals")) {
				containers = append(containers, c)
			}
		}
	}
	return containers
}

// verifierOf is what a server was given. Empty means that it lets everybody in.
func verifierOf(c corev1.Container) string {
	for _, a := range c.Command {
		if text, ok := strings.CutPrefix(a, "--verifier="); ok {
			return text
		}
	}
	return ""
}

// Whoever reads all that is in the test's namespace can prove nothing to its pods.
func TestPodsHaveTheVerifierAndOnlyTheRunnerHasTheKey(t *testing.T) {
	found := map[string]bool{}
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		sites, err := manifests.SitesOf(input, running(input))
		if err != nil {
			t.Fatal(err)
		}
		objects := everything(t, input)
		for _, c := range servers(objects) {
			found[c.Command[1]] = true
			if got := verifierOf(c); got == "" || got != sites.Key.Verifier().String() {
				t.Errorf("container %s verifies %q, and the runner has the key of %s", c.Name, got,
					sites.Key.Verifier())
			}
		}
		key, err := sites.Key.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var holders []string
		for _, o := range objects {
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := o.(*corev1.ConfigMap); ok {
				for _, data := range m.BinaryData { // which JSON has in base64
					text = append(text, data...)
				}
			}
			if bytes.Contains(text, key) {
				holders = append(holders, o.GetNamespace()+"/"+o.GetName())
			}
		}
		if want := []string{input.Settings.Namespace + "/" + manifests.PlanName(input.Test,
			input.Attempt)}; !slices.Equal(holders, want) {
			t.Errorf("the key is in %v, and belongs in %v alone", holders, want)
		}
	})
	for _, verb := range []string{"generator", "sessions", "vitals", "collect", "reset", "trex-launch", "forwarder"} {
		if !found[verb] && verb != "collect" {
			t.Errorf("no sample has linerate %s", verb)
		}
	}
	for _, c := range servers([]manifests.Object{manifests.Collector(powered(t))}) {
		if found["collect"] = true; verifierOf(c) == "" {
			t.Error("a collector answers whoever calls")
		}
	}
	if !found["collect"] {
		t.Error("there is no collector")
	}
}

func TestEachAttemptHasAKeyOfItsOwn(t *testing.T) {
	input := sample(t, "loadtest_software_reference")
	keyOf := func(change func(*manifests.Input)) credential.Key {
		changed := input
		change(&changed)
		sites, err := manifests.SitesOf(changed, running(changed))
		if err != nil {
			t.Fatal(err)
		}
		return sites.Key
	}
	first := keyOf(func(*manifests.Input) {})
	if repeated := keyOf(func(*manifests.Input) {}); repeated != first {
		t.Error("an operator that was started again makes another key")
	}
	for name, change := range map[string]func(*manifests.Input){
		"another attempt":  func(input *manifests.Input) { input.Attempt++ },
		"another test":     func(input *manifests.Input) { input.Test = input.Test.DeepCopy(); input.Test.UID += "x" },
		"another operator": func(input *manifests.Input) { input.Settings.Key = credential.Key{4} },
	} {
		if keyOf(change) == first {
			t.Errorf("%s has the same key", name)
		}
	}
}
