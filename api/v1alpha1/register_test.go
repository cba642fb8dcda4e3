package v1alpha1_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestASchemeLearnsTheTypes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1alpha1.LoadTestKind, v1alpha1.LoadTestKind + "List", v1alpha1.LoadTestSuiteKind, v1alpha1.LoadTestSuiteKind + "List"} {
		if !scheme.Recognizes(v1alpha1.GroupVersion.WithKind(kind)) {
			t.Errorf("%s is not known", kind)
		}
	}
	if got := v1alpha1.GroupVersion.String(); got != "linerate.dev/v1alpha1" {
		t.Errorf("group and version are %s", got)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[v1alpha1.Duration]time.Duration{"": 0, "500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute} {
		if got, err := text.Std(); err != nil || got != want {
			t.Errorf("%q is %s, want %s (%v)", text, got, want, err)
		}
	}
	if _, err := v1alpha1.Duration("ten minutes").Std(); err == nil {
		t.Error("ten minutes were understood")
	}
}
