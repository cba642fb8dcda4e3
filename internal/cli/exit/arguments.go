package exit

// This file refuses command lines that name too little.

import (
	"github.com/spf13/cobra"
)

// AtLeast demands n arguments or more; what says which, how many, and where they come from.
func AtLeast(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) < n {
			return BadInput("%s: name %s", cmd.CommandPath(), what)
		}
		return nil
	}
}
