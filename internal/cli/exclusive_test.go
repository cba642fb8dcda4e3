package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestClaims(t *testing.T) {
	port := fmt.Sprintf("test%d", os.Getpid())
	var first, second claims
	defer first.release()
	if err := first.claimPorts([]string{port}); err != nil {
		t.Fatal(err)
	}
	if err := second.claimPorts([]string{port}); err == nil || !strings.Contains(err.Error(), "another linerate run sends on this interface") {
		t.Errorf("two runs on one interface: %v", err)
	}
	first.release()
	defer second.release()
	if err := second.claimPorts([]string{port}); err != nil {
		t.Errorf("after the first run's end: %v", err)
	}
}

func TestTheMachineIsSharedWithAWord(t *testing.T) {
	var first, second claims
	defer first.release()
	defer second.release()
	var said bytes.Buffer
	first.claimMachine(&said)
	said.Reset()
	second.claimMachine(&said)
	if !strings.Contains(said.String(), "share its processors") {
		t.Errorf("said %q", said.String())
	}
}
