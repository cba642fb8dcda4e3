package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/fabrictest"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func TestRun(t *testing.T) {
	t.Run("lays a fabric into a process's node, and removes it", func(t *testing.T) {
		fabrictest.Root(t)
		name, pid := fabrictest.Name("shell"), node(t)
		t.Cleanup(func() { _ = fabric.Remove(name) })
		if err := run([]string{"lay", "-name", name, "-wires", "west", "-functions", "3", fmt.Sprintf("a=%d", pid)},
			io.Discard); err != nil {
			t.Fatal(err)
		}
		i, err := vf.Load(filepath.Join(fmt.Sprintf("/proc/%d/root", pid), vf.StateDir, vf.InventoryFile))
		if err != nil {
			t.Fatal(err)
		}
		if len(i.Resources) != 1 || len(i.Resources[0].Devices) != 3 {
			t.Errorf("inventory %+v", i)
		}
		if err := run([]string{"remove", "-name", name}, io.Discard); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("prints a network per wire", func(t *testing.T) {
		var output strings.Builder
		if err := run([]string{"networks", "-namespace", "lab", "-wires", "west,east"}, &output); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"name": "west"`, `"name": "east"`, `"namespace": "lab"`,
			"linerate.dev/sriov-east"} {
			if !strings.Contains(output.String(), want) {
				t.Errorf("no %s in\n%s", want, output.String())
			}
		}
	})
	for name, args := range map[string][]string{
		"no verb": nil, "an unknown verb": {"knit"}, "no node": {"lay"}, "a node without a process": {"lay", "a"},
		"a process that can't be": {"lay", "a=b"},
	} {
		t.Run(name, func(t *testing.T) {
			if run(args, io.Discard) == nil {
				t.Error("no error")
			}
		})
	}
}

// node starts a process in network and mount namespaces of its own, with a /var/lib of its own.
func node(t *testing.T) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "mount -t tmpfs node /var/lib && echo ready && exec cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		Unshareflags: syscall.CLONE_NEWNS}
	hold, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = hold.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, len("ready"))
	if _, err := io.ReadFull(stdout, line); err != nil || string(line) != "ready" {
		t.Fatalf("the node said %q: %v", line, err)
	}
	return cmd.Process.Pid
}
