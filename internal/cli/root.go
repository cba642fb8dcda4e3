// Package cli is the command line: one file per verb. Verbs read flags, wire packages together and print; what they print to stdout is
// data, what they print to stderr is talk.
package cli

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev" //nolint:gochecknoglobals // the linker's -X needs a variable

// Streams are the process's own, so that tests can look at them.
type Streams struct {
	In  io.Reader
	Out io.Writer // data
	Err io.Writer // talk
}

// Main runs the command line and returns the process's exit code. SIGINT and SIGTERM end a run in order: traffic stopped, what was measured
// reported.
func Main(args []string, s Streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(s)
	root.SetArgs(publishedFlags(args))
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(s.Err, "linerate: %v\n", err)
	}
	return codeOf(err)
}

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "linerate",
		Short:         "Measure where network software saturates, from real packets",
		Example:       "  linerate run examples/linux-forwarder.yaml\n  linerate run test.yaml -o json | jq .result\n  linerate ramp -s trex1 -p imix.py -o imix.json",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetIn(s.In)
	root.AddCommand(newRun(s), newRamp(s), newReport(s), newVersion(s), newGenerator(s), newTRexLaunch(s), newLabHost(s))
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}
