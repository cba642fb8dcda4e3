package main

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func podOf(test, uid string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Labels: map[string]string{v1alpha1.LabelTest: test}}}
}

func queuedTest(name string, age time.Duration) *v1alpha1.LoadTest {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-age))}}
	test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionScheduled, Reason: v1alpha1.ReasonQueued}}
	return test
}

func TestNoDeviceIsGivenAwayTwice(t *testing.T) {
	s := newScarcity(1)
	for _, uid := range []string{"1", "2"} {
		if _, err := s.node(t.Context(), podOf("a", uid)); err != nil {
			t.Fatal(err)
		}
	}
	full, cancel := context.WithCancel(t.Context())
	cancel()
	if node, err := s.node(full, podOf("b", "3")); err == nil {
		t.Fatalf("a third pod got a device of node %d", node)
	}
	s.giveBack(podOf("a", "1"))
	if _, err := s.node(t.Context(), podOf("b", "3")); err != nil {
		t.Errorf("a device was given back: %v", err)
	}
}

func TestOvertakenTestsAreCounted(t *testing.T) {
	s := newScarcity(2)
	for name, age := range map[string]time.Duration{"old": time.Hour, "young": time.Minute, "youngest": time.Second} {
		s.see(queuedTest(name, age))
	}
	for i, name := range []string{"young", "old", "youngest"} {
		if _, err := s.node(t.Context(), podOf(name, name)); err != nil {
			t.Fatal(i, err)
		}
	}
	if got := s.mostOvertaken(); got != 1 || len(s.overtaken) != 1 {
		t.Errorf("passed: %v", s.overtaken)
	}
}

func TestIdleDevicesAreFreeOnesThatATestWaitsFor(t *testing.T) {
	s := newScarcity(1)
	s.updatedAt = time.Now().Add(-time.Hour) // no test waits: it doesn't count
	s.see(queuedTest("a", 0))
	if _, err := s.node(t.Context(), podOf("a", "1")); err != nil {
		t.Fatal(err)
	}
	s.updatedAt = time.Now().Add(-10 * time.Second)
	s.sum()
	if got := s.share(); got < 0.49 || got > 0.51 {
		t.Errorf("one of two devices was held, and the share is %g", got)
	}
}
