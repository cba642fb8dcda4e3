package e2e

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// condition is a condition in short, such as "Complete=True Measured"; "Complete=" if it is missing.
func condition(t *lineratev1alpha1.LoadTest, kind string) string {
	c := meta.FindStatusCondition(t.Status.Conditions, kind)
	if c == nil {
		return kind + "="
	}
	return fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
}

// message is a condition's.
func message(t *lineratev1alpha1.LoadTest, kind string) string {
	if c := meta.FindStatusCondition(t.Status.Conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

// state is where a test is, in one line.
func state(t *lineratev1alpha1.LoadTest) string {
	if t == nil {
		return "(never seen)"
	}
	var out []string
	for _, c := range t.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s (%s)", c.Type, c.Status, c.Reason, c.Message))
	}
	if p := t.Status.Progress; p != nil {
		out = append(out, "step "+p.Phase)
	}
	return strings.Join(out, "; ")
}

// want fails unless the conditions are as said, such as "Complete=True Measured".
func (s *scene) want(t *lineratev1alpha1.LoadTest, conditions ...string) {
	s.Helper()
	for _, want := range conditions {
		kind, _, _ := strings.Cut(want, "=")
		if got := condition(t, kind); got != want {
			s.Errorf("%s: %s, want %s: %s", t.Name, got, want, message(t, kind))
		}
	}
}

// after fails unless one test had ended when the other began: then it also ends later.
func (s *scene) after(earlier, later *lineratev1alpha1.LoadTest) {
	s.Helper()
	if later.Status.StartTime.Before(earlier.Status.CompletionTime) || !later.Status.CompletionTime.After(earlier.Status.CompletionTime.Time) {
		s.Errorf("%s began at %v and ended at %v: both should be later than the end of %s, %v", later.Name, later.Status.StartTime, later.Status.CompletionTime, earlier.Name, earlier.Status.CompletionTime)
	}
}

// hasNoPods fails if a test has any.
func (s *scene) hasNoPods(name string) {
	s.Helper()
	var pods corev1.PodList
	if err := lab.Client.List(s.Context(), &pods, client.InNamespace(s.namespace), client.MatchingLabels{lineratev1alpha1.LabelTest: name}); err != nil {
		s.Fatal(err)
	}
	if len(pods.Items) > 0 {
		s.Errorf("%s waits, and has %q", name, names(&pods))
	}
}

// describe logs the namespace's objects, to explain a failure.
func (s *scene) describe(ctx context.Context) {
	var tests lineratev1alpha1.LoadTestList
	_ = lab.Client.List(ctx, &tests, client.InNamespace(s.namespace))
	for _, t := range tests.Items {
		text, _ := yaml.Marshal(t.Status)
		s.Logf("%s:\n%s", t.Name, text)
	}
	var pods corev1.PodList
	_ = lab.Client.List(ctx, &pods, client.InNamespace(s.namespace))
	for _, p := range pods.Items {
		text, _ := yaml.Marshal(p.Status)
		s.Logf("pod %s on %s:\n%s", p.Name, p.Spec.NodeName, text)
		if out, err := lab.Cluster.Run(ctx, "", "kubectl", "--", "logs", "-n", s.namespace, p.Name, "--all-containers", "--tail=20"); err == nil {
			s.Logf("logs of %s:\n%s", p.Name, out)
		}
	}
	var events corev1.EventList
	_ = lab.Client.List(ctx, &events, client.InNamespace(s.namespace))
	for _, e := range events.Items {
		s.Logf("%s %s %s: %s", e.LastTimestamp.Format(metav1.RFC3339Micro), e.InvolvedObject.Name, e.Reason, e.Message)
	}
}
