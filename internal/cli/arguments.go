package cli

import "github.com/spf13/cobra"

// someFiles demands a file or more; what says which.
func someFiles(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) == 0 {
			return badInput("%s: name %s", cmd.CommandPath(), what)
		}
		return nil
	}
}
