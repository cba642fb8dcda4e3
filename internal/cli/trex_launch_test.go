package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// signalled is a TRex that asks the launcher to stop as soon as it runs, and ends as TRex does.
const signalled = `#!/bin/sh
trap 'echo All cores stopped; exit 255' TERM
echo "arguments $*"
kill -TERM $PPID
while :; do sleep 0.05; done
`

// crashing is one whose driver gives up.
const crashing = `#!/bin/sh
echo "EAL: Cannot get hugepage information."
exit 1
`

// needsRoot skips where nobody promised that the test could run.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("TRex runs as user 0 with the capabilities IPC_LOCK, NET_ADMIN and NET_RAW: run this test so")
	}
	t.Skip("needs user 0")
}

// launchOn starts a scripted TRex on the loopback interface, and returns its folder.
func launchOn(t *testing.T, script string) (code int, data, messages, dir string) {
	t.Helper()
	needsRoot(t)
	dir = t.TempDir()
	for name, text := range map[string]string{"_t-rex-64": script, "termination": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	t.Setenv("NODE_NAME", "node-1")
	code = cli.Main("linerate", []string{
		"trex-launch", "--link", "lo", "--directory", dir, "--config-file", filepath.Join(dir, "cfg.yaml"),
		"--heartbeat-listen", "127.0.0.1:0",
		"--termination-log", filepath.Join(dir, "termination"), "--", "-v", "7",
	}, cli.Streams{Stdout: &stdout, Stderr: &stderr})
	return code, stdout.String(), stderr.String(), dir
}

func TestLauncherPassesTheSignalOnAndCallsItSuccess(t *testing.T) {
	code, stdout, stderr, dir := launchOn(t, signalled)
	if code != report.ExitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		`"node":"node-1"`, `"link":"lo"`, `"kind":"kernel"`, "All cores stopped",
		"arguments -i --cfg " + dir + "/cfg.yaml -c 1 --iom 0 --no-key --no-termio --software -v 7",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, stdout)
		}
	}
	config, err := os.ReadFile(filepath.Join(dir, "cfg.yaml"))
	if err != nil || !strings.Contains(string(config), "- lo\n  - dummy\n") {
		t.Errorf("configuration:\n%s%v", config, err)
	}
}

func TestLauncherExplainsACrashInTheTerminationMessage(t *testing.T) {
	code, _, stderr, dir := launchOn(t, crashing)
	message, err := os.ReadFile(filepath.Join(dir, "termination"))
	if code != report.ExitNotMeasured || err != nil {
		t.Errorf("exit code %d, %v: %s", code, err, stderr)
	}
	if want := "NoHugepages: DPDK found no hugepages"; !strings.HasPrefix(string(message), want) {
		t.Errorf("termination message %q, want %q", message, want)
	}
}
