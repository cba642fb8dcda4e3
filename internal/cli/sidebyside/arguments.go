package sidebyside

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// AtLeast demands at least n arguments. The text wanted describes them.
func AtLeast(n int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return exit.BadInput("%s: name %s", cmd.CommandPath(), wanted)
		}
		return nil
	}
}

// Signals are the signals by which a person or a pipeline ends a program. The loss of the terminal is one,
// except under nohup.
func Signals() []os.Signal {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
