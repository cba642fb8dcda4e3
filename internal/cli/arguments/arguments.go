// Package arguments refuses command lines that name too little.
package arguments

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
)

// AtLeast demands n arguments or more; what says which, how many, and where they come from.
func AtLeast(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) < n {
			return exit.BadInput("%s: name %s", cmd.CommandPath(), what)
		}
		return nil
	}
}
