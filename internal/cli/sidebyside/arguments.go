package sidebyside

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// AtLeast demands n arguments or more; wanted says which, how many, and where they come from.
func AtLeast(n int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return exit.BadInput("%s: name %s", cmd.CommandPath(), wanted)
		}
		return nil
	}
}

// Signals are those by which a person, or who runs a pipeline, ends a program. The loss of the terminal is one but under nohup.
func Signals() []os.Signal {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
