package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/pod/launch"
)

func TestVirtualFunctionsOfOnePortAreClaimedWithIt(t *testing.T) {
	port := fmt.Sprintf("0000:3b:00.0-%d", os.Getpid())
	behind := func(name string) launch.Port {
		return map[string]launch.Port{
			"vf0": {Name: port, Shared: true}, "vf1": {Name: port, Shared: true}, "other": {Name: port + "9",
				Shared: true}, "whole": {Name: port},
		}[name]
	}
	var first, second claims
	defer first.release()
	defer second.release()
	if _, err := first.claimWires([]string{"vf0", "vf1"}, behind, false); err == nil ||
		!strings.Contains(err.Error(), "spec.sharedPort: Allowed") {
		t.Errorf("both ends on one port: %v", err)
	}
	first.release()
	if shared, err := first.claimWires([]string{"vf0", "vf1", "veth"}, behind, true); err != nil || len(shared) != 1 ||
		!strings.Contains(shared[0], "vf0 and vf1") {
		t.Errorf("%v, %v", shared, err)
	}
	if _, err := second.claimWires([]string{"vf1", "other"}, behind, false); err == nil ||
		!strings.Contains(err.Error(), "another linerate run sends on physical port "+port) {
		t.Errorf("another run's port: %v", err)
	}
	if shared, err := second.claimWires([]string{"whole", "other", "veth"}, behind, false); err != nil ||
		len(shared) > 0 {
		t.Errorf("%v, %v", shared, err)
	}
}

func TestAClaimedNameIsRefusedToOthers(t *testing.T) {
	port := fmt.Sprintf("test%d", os.Getpid())
	var first, second claims
	defer first.release()
	if err := first.claimPorts([]string{port}); err != nil {
		t.Fatal(err)
	}
	if err := second.claimPorts([]string{port}); err == nil ||
		!strings.Contains(err.Error(), "another linerate run sends on this interface") {
		t.Errorf("two runs on one interface: %v", err)
	}
	first.release()
	defer second.release()
	if err := second.claimPorts([]string{port}); err != nil {
		t.Errorf("after the first run's end: %v", err)
	}
}

func TestASecondRunOnTheMachineIsNoted(t *testing.T) {
	var first, second claims
	defer first.release()
	defer second.release()
	var stderr bytes.Buffer
	first.claimMachine(&stderr)
	stderr.Reset()
	second.claimMachine(&stderr)
	if !strings.Contains(stderr.String(), "share its processors") {
		t.Errorf("said %q", stderr.String())
	}
}
