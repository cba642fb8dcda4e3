package rig

import (
	"os"
	"strings"
	"testing"
)

func TestOneRigOfAName(t *testing.T) {
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("rigs are root's")
		}
		t.Skip("rigs are root's")
	}
	first, second, other := &Rig{Options: Options{Name: "claimed"}}, &Rig{Options: Options{Name: "claimed"}}, &Rig{Options: Options{Name: "other"}}
	if err := first.claimName(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.claimName(t.Context()); err == nil || !strings.Contains(err.Error(), "choose another name") {
		t.Errorf("a second rig of the name: %v", err)
	}
	if err := second.TearDown(t.Context()); err != nil {
		t.Errorf("one that has begun nothing is taken down: %v", err)
	}
	if err := other.claimName(t.Context()); err != nil {
		t.Errorf("a rig of another name: %v", err)
	}
	if err := first.claim.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.claimName(t.Context()); err != nil {
		t.Errorf("a rig of the name when the first is gone: %v", err)
	}
}
