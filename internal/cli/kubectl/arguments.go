package kubectl

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// aVerb refuses what isn't one: cobra itself would print its help and succeed, and a gate that is misspelt would pass.
func aVerb(cmd *cobra.Command, given []string) error {
	if len(given) == 0 {
		return nil
	}
	if like := cmd.SuggestionsFor(given[0]); len(like) > 0 {
		return exit.BadInput("unknown command %q for %q: did you mean %s?", given[0], cmd.CommandPath(), like[0])
	}
	return exit.BadInput("unknown command %q for %q; %s --help lists all", given[0], cmd.CommandPath(), cmd.CommandPath())
}

// none refuses arguments; instead says what is meant for those.
func none(instead string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if len(given) > 0 {
			return exit.BadInput("%s takes no names, and %q is one: %s", cmd.CommandPath(), given[0], instead)
		}
		return nil
	}
}

const someTests = "at least one LoadTest or LoadTestSuite of the namespace: kubectl linerate list shows them"
