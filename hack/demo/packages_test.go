package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMissingPackages(t *testing.T) {
	find := func(program string) (string, error) {
		if program == "runc" || program == "/usr/lib/cni/host-device" {
			return "", errors.New("not found")
		}
		return program, nil
	}
	if got, want := missingPackages(find), []string{"runc", "containernetworking-plugins"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTheGateHasTheSamePackages(t *testing.T) {
	script, err := os.ReadFile("../ci-packages")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages() {
		if !slices.ContainsFunc(strings.Split(string(script), "\n"), func(line string) bool {
			return strings.Contains(line, p.program+" ") && strings.HasSuffix(line, "missing+=("+p.debian+")")
		}) {
			t.Errorf("hack/ci-packages doesn't install %s where %s is missing", p.debian, p.program)
		}
	}
}
