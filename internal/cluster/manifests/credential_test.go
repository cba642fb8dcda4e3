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
func servers(objects []manifests.Object) (all []corev1.Container) {
	verbs := []string{"generator", "sessions", "vitals", "collect", "reset", "trex-launch"}
	for _, o := range objects {
		pod, is := o.(*corev1.Pod)
		if !is {
			continue
		}
		for _, c := range pod.Spec.Containers {
			if len(c.Command) > 1 && (slices.Contains(verbs, c.Command[1]) || c.Command[1] == "forwarder" && slices.Contains(c.Command, "--vitals")) {
				all = append(all, c)
			}
		}
	}
	return all
}

// verifierOf is what a server was given; empty: it lets everybody in.
func verifierOf(c corev1.Container) string {
	for _, a := range c.Command {
		if text, is := strings.CutPrefix(a, "--verifier="); is {
			return text
		}
	}
	return ""
}

// Whoever reads all that is in the test's namespace can prove nothing to its pods.
func TestPodsHaveTheVerifierAndOnlyTheRunnerHasTheKey(t *testing.T) {
	found := map[string]bool{}
	ofEverySample(t, func(t *testing.T, in manifests.Input) {
		sites, err := manifests.SitesOf(in, running(in))
		if err != nil {
			t.Fatal(err)
		}
		objects := everything(t, in)
		for _, c := range servers(objects) {
			found[c.Command[1]] = true
			if got := verifierOf(c); got == "" || got != sites.Key.Verifier().String() {
				t.Errorf("container %s verifies %q, and the runner has the key of %s", c.Name, got, sites.Key.Verifier())
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
			if m, is := o.(*corev1.ConfigMap); is {
				for _, data := range m.BinaryData { // which JSON has in base64
					text = append(text, data...)
				}
			}
			if bytes.Contains(text, key) {
				holders = append(holders, o.GetNamespace()+"/"+o.GetName())
			}
		}
		if want := []string{in.Settings.Namespace + "/" + manifests.PlanName(in.Test, in.Attempt)}; !slices.Equal(holders, want) {
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
	in := sample(t, "loadtest_software_reference")
	keyOf := func(change func(*manifests.Input)) credential.Key {
		changed := in
		change(&changed)
		sites, err := manifests.SitesOf(changed, running(changed))
		if err != nil {
			t.Fatal(err)
		}
		return sites.Key
	}
	first := keyOf(func(*manifests.Input) {})
	if again := keyOf(func(*manifests.Input) {}); again != first {
		t.Error("an operator that was started again makes another key")
	}
	for name, change := range map[string]func(*manifests.Input){
		"another attempt":  func(in *manifests.Input) { in.Attempt++ },
		"another test":     func(in *manifests.Input) { in.Test = in.Test.DeepCopy(); in.Test.UID += "x" },
		"another operator": func(in *manifests.Input) { in.Settings.Key = credential.Key{4} },
	} {
		if keyOf(change) == first {
			t.Errorf("%s has the same key", name)
		}
	}
}
