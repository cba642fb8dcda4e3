package cli

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/exit"
)

// someFiles demands a file or more; what says which.
func someFiles(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) == 0 {
			return exit.BadInput("%s: name %s", cmd.CommandPath(), what)
		}
		return nil
	}
}
