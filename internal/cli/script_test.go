package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/linerate-dev/linerate/internal/cli"
)

// TestMain lets this test binary be linerate: scripts run it as a process of its own, as a person would.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"linerate": func() {
			os.Exit(cli.Main("linerate", os.Args[1:], cli.Streams{Stdin: os.Stdin, Stdout: os.Stdout,
				Stderr: os.Stderr}))
		},
	})
}

// TestScripts runs the transcripts of testdata/script: what is typed, what is printed, and the exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"trex":  trexServers(t),
		},
	})
}
