package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// explainFlagError says what is wrong with a flag, without the words of Go's parsers, and how to list all flags.
func explainFlagError(cmd *cobra.Command, err error) error {
	message := err.Error()
	if before, cause, ok := strings.Cut(message, " flag: "); ok {
		kind := ""
		switch {
		case strings.Contains(cause, "ParseFloat"):
			kind = "write a number"
		case strings.Contains(cause, "ParseInt"), strings.Contains(cause, "ParseUint"):
			kind = "write a whole number"
		case strings.Contains(cause, "duration"):
			kind = "write a duration with its unit, such as 30s or 10m"
		}
		if kind != "" {
			message = before + ": " + kind
		}
	}
	return exit.BadInput("%s; %s --help shows all flags", message, cmd.CommandPath())
}
