package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// explainFlagError replaces the words of Go's parsers by advice, and says how to list all flags.
func explainFlagError(cmd *cobra.Command, err error) error {
	message := err.Error()
	if flag, cause, ok := strings.Cut(message, " flag: "); ok {
		advice := ""
		switch {
		case strings.Contains(cause, "ParseFloat"):
			advice = "write a number"
		case strings.Contains(cause, "ParseInt"), strings.Contains(cause, "ParseUint"):
			advice = "write a whole number"
		case strings.Contains(cause, "duration"):
			advice = "write a duration with its unit, such as 30s or 10m"
		}
		if advice != "" {
			message = flag + ": " + advice
		}
	}
	return exit.BadInput("%s; %s --help shows all flags", message, cmd.CommandPath())
}
