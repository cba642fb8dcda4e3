package kubectl

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// requireVerb refuses arguments, which are misspelt verbs. Cobra itself would print its help and succeed, so
// that a misspelt gate would pass.
func requireVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if suggestions := cmd.SuggestionsFor(args[0]); len(suggestions) > 0 {
		return exit.BadInput("unknown command %q for %q: did you mean %s?", args[0], cmd.CommandPath(), suggestions[0])
	}
	return exit.BadInput("unknown command %q for %q; %s --help lists all", args[0], cmd.CommandPath(),
		cmd.CommandPath())
}

// noNames refuses arguments. The error ends with advice.
func noNames(advice string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return exit.BadInput("%s takes no names, and %q is one: %s", cmd.CommandPath(), args[0], advice)
		}
		return nil
	}
}

const someTests = "at least one LoadTest or LoadTestSuite of the namespace: kubectl linerate list shows them"
