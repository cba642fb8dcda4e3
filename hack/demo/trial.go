package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// examples are measured one after the other: the second is created as soon as the first has its places, and has
// to wait for them.
func examples() []string { return []string{"known-answer", "router"} }

// trial is one LoadTest of the demo.
type trial struct {
	manifest map[string]any
	name     string
	// loadTest the LoadTest as it was seen last; nil before it is created.
	loadTest *v1alpha1.LoadTest
}

func (t *trial) complete() bool {
	return t.loadTest != nil && meta.IsStatusConditionTrue(t.loadTest.Status.Conditions, v1alpha1.ConditionComplete)
}

func (t *trial) condition(kind string) *metav1.Condition {
	if t.loadTest == nil {
		return nil
	}
	return meta.FindStatusCondition(t.loadTest.Status.Conditions, kind)
}

// placed says whether its pods have their places, or never will.
func (t *trial) placed() bool {
	scheduled := t.condition(v1alpha1.ConditionScheduled)
	return t.complete() || scheduled != nil && scheduled.Status == metav1.ConditionTrue
}

// trials are the examples, under names that aren't taken: a LoadTest's spec can't be changed, so each run is a
// LoadTest of its own.
func (l *demoCluster) trials(ctx context.Context) ([]*trial, error) {
	list, err := l.kubectl(ctx, "", "get", "loadtests", "--namespace", namespace, "--output",
		"jsonpath={.items[*].metadata.name}")
	if err != nil {
		return nil, err
	}
	var trials []*trial
	for _, example := range examples() {
		text, err := os.ReadFile(l.example(example))
		if err != nil {
			return nil, err
		}
		var manifest map[string]any
		if err := yaml.Unmarshal(text, &manifest); err != nil {
			return nil, fmt.Errorf("%s: %w", l.example(example), err)
		}
		trials = append(trials, &trial{manifest: manifest, name: freeName(example, strings.Fields(list))})
	}
	return trials, nil
}

// freeName is the name, or the name with the lowest number from 2 that is above those of all that are taken.
func freeName(name string, existing []string) string {
	highest := 0
	for _, sibling := range existing {
		number := 1
		if sibling != name {
			suffix, ok := strings.CutPrefix(sibling, name+"-")
			if !ok || !isNumber(suffix, &number) {
				continue
			}
		}
		highest = max(highest, number)
	}
	if highest == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, highest+1)
}

func isNumber(text string, number *int) bool {
	_, err := fmt.Sscanf(text, "%d", number)
	return err == nil && fmt.Sprint(*number) == text
}

// create gives the LoadTest to the cluster.
func (l *demoCluster) create(ctx context.Context, t *trial) error {
	if err := setName(t.manifest, t.name); err != nil {
		return err
	}
	text, err := json.Marshal(t.manifest)
	if err != nil {
		return err
	}
	path, err := l.kubectl(ctx, string(text), "create", "--namespace", namespace, "--output", "json", "--filename", "-")
	if err != nil {
		return err
	}
	t.loadTest = &v1alpha1.LoadTest{}
	return json.Unmarshal([]byte(path), t.loadTest)
}

func setName(manifest map[string]any, name string) error {
	metadata, ok := manifest["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("the example for %s has no metadata", name)
	}
	metadata["name"] = name
	return nil
}
