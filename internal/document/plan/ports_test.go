package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestPortsTravelInATerminationMessage(t *testing.T) {
	// Eight links are the most that a test may have, and Kubernetes keeps 4096 bytes of a message.
	p := Ports{Version: PortsVersion}
	for range 8 {
		p.Links = append(p.Links, LinkPort{Link: strings.Repeat("w", 13), Device: "0000:3b:02.0", Port: strings.Repeat("a", 64) + "/pf0", Shared: true})
	}
	message, err := json.Marshal(p)
	if err != nil || len(message) > 4096 {
		t.Fatalf("%d bytes, %v", len(message), err)
	}
	if got, err := ReadPorts(string(message)); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, message := range map[string]string{"nothing": "", "a fault in words": "linerate: no such file", "another version": `{"version":"linerate.dev/ports.v9"}`} {
		if _, err := ReadPorts(message); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func FuzzReadPorts(f *testing.F) {
	f.Add(`{"version":"linerate.dev/ports.v1alpha1","links":[{"link":"west","port":"0000:3b:00.0","shared":true}]}`)
	f.Add("container failed")
	f.Fuzz(func(t *testing.T, message string) {
		if p, err := ReadPorts(message); err == nil && p.Version != PortsVersion {
			t.Errorf("%+v was read", p)
		}
	})
}
