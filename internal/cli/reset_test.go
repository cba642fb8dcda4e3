package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// The programs that a file names run in their order, and each trial's window tells what reset the device.
func TestTheProgramsOfAFileRunInOrder(t *testing.T) {
	folder := t.TempDir()
	log := filepath.Join(folder, "log")
	message := func(word string) string { return `[sh, -c, "echo ` + word + ` $LINERATE_TEST >> ` + log + `"]` }
	file := filepath.Join(folder, "test.yaml")
	for name, c := range map[string]struct {
		setup, reset string
		code         int
		log          string
		message      string // on stderr
	}{
		"all succeed": {message("set up"), message("reset"), report.ExitOK,
			"set up lab\nreset lab\nreset lab\ntorn down lab\n", "lab: dut.setup: sh -c "},
		"the setup fails, and nothing is sent": {`[sh, -c, "echo no such router >&2; exit 7"]`, message("reset"),
			report.ExitNotMeasured, "torn down lab\n",
			`dut.setup: sh -c "echo no such router >&2; exit 7": exit status 7; its last words: no such router`},
		"a reset fails, and the run ends": {message("set up"), `["false"]`, report.ExitNotMeasured,
			"set up lab\ntorn down lab\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(log)
			text := `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: lab}
spec:
  dut:
    type: Device
    setup: {command: ` + c.setup + `}
    teardown: {command: ` + message("torn down") + `}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  procedure:
    type: MaximumOfferedLoad
    reset: {command: ` + c.reset + `}
    maximumOfferedLoad: {rate: 100pps, warmupDuration: 0s, trialDuration: 1s, trials: 2}
`
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			s := Streams{Stdout: &stdout, Stderr: &stderr}
			code := 0
			synctest.Test(t, func(t *testing.T) {
				code = execute(t.Context(), simulatedRoot(t, s), []string{"run", file, "--save", "", "-o", "json",
					"-q"}, s)
			})
			got, _ := os.ReadFile(log)
			if code != c.code || string(got) != c.log || !strings.Contains(stderr.String(), c.message) {
				t.Errorf("exit code %d, want %d; log\n%swant\n%s%s", code, c.code, got, c.log, stderr.String())
			}
			var r report.Report
			if stdout.Len() == 0 {
				return
			}
			if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			for _, w := range r.Windows {
				if w.Reset == nil || !strings.HasPrefix(w.Reset.Action, "sh -c ") {
					t.Errorf("window %d: %+v", w.Number, w.Reset)
				}
			}
			if c.code == report.ExitNotMeasured &&
				!strings.Contains(r.Message, "reset the device before window 1: false: exit status 1") {
				t.Errorf("%s: %s", r.Ending, r.Message)
			}
		})
	}
}

func TestAFailedTeardownIsPrinted(t *testing.T) {
	var stderr bytes.Buffer
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	tearDownDevice(interrupted, &stderr, &plan.Plan{Test: plan.Test{Name: "lab"},
		DUT: plan.DUT{Teardown: &plan.Program{Command: []string{"sh", "-c", "echo gone; exit 1"},
			Deadline: plan.Duration(time.Minute)}}})
	if want := "lab: dut.teardown: sh -c \"echo gone; exit 1\", for 1m0s at most\n" +
		"lab: dut.teardown: sh -c \"echo gone; exit 1\": exit status 1; its last words: gone: look after the device " +
		"under test\n"; stderr.String() != want {
		t.Errorf("%q, want %q", stderr.String(), want)
	}
}

// A pod whose container can't reset the device ends at once, with the reason as its last words.
func TestAPodThatCannotResetSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		message string
	}{
		"without a program": {[]string{"no-such-program"},
			`executable file not found in $PATH; name a program that its image has (procedure.reset.image)`},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(log, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s := Streams{Stdout: io.Discard, Stderr: io.Discard}
			args := append([]string{"reset", "--at", "127.0.0.1:0", "--verifier", credential.New().Verifier().String(),
				"--termination-log", log, "--"}, c.command...)
			if code := execute(t.Context(), newRoot(s), args, s); code != report.ExitBadInput {
				t.Errorf("exit code %d", code)
			}
			if words, _ := os.ReadFile(log); !strings.Contains(string(words), c.message) {
				t.Errorf("its last words: %s", words)
			}
		})
	}
}

func TestAnInterruptedSetupIsAnInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, interrupt)
	err := setUpDevice(ctx, io.Discard, &plan.Plan{DUT: plan.DUT{Setup: &plan.Program{Command: []string{"sleep", "600"},
		Deadline: plan.Duration(time.Hour)}}})
	if err == nil || exit.Code(err) != report.ExitInterrupted || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
