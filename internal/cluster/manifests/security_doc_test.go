package manifests

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// asked are the capabilities that our pods ask for, as the documents name the pods.
func asked() map[string][]string {
	capabilities := map[string][]string{}
	for pod, c := range map[string]*corev1.SecurityContext{"generator, Software": softwareRights(),
		"generator, TRex": trexRights(), "DUT, Reference": forwarderRights(nil),
		"DUT, Reference, mode xdp":       forwarderRights(&plan.Mode{XDP: &plan.XDPMode{}}),
		"DUT, Reference, mode tunnel":    forwarderRights(&plan.Mode{Tunnel: &plan.TunnelMode{}}),
		"DUT, Reference, mode userspace": forwarderRights(&plan.Mode{Userspace: &plan.UserspaceMode{}}),
		"runner":                         restricted()} {
		for _, name := range c.Capabilities.Add {
			capabilities[pod] = append(capabilities[pod], string(name))
		}
		slices.Sort(capabilities[pod])
	}
	return capabilities
}

// docs/security.md lists what pods may do, for who has to allow it: no more than the pods ask for, and no less.
func TestTheDocumentHasEachCapability(t *testing.T) {
	capability := regexp.MustCompile(`\b[A-Z]+(?:_[A-Z]+)+\b|\b(?:BPF|MKNOD)\b`)
	page, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	documented, pod := map[string][]string{}, ""
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|") // "", pod, user, capabilities, why
		if len(cells) < 4 {
			continue
		}
		if first := strings.TrimSpace(cells[1]); first != "" {
			pod = first
		}
		documented[pod] = append(documented[pod], capability.FindAllString(cells[3], -1)...)
	}
	for pod, want := range asked() {
		if got := documented[pod]; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("docs/security.md: %s: %v, and the pod asks for %v", pod, got, want)
		}
	}
}
