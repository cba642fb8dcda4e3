package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/report"
)

func formatUsage() string { return "what to print on stdout: " + joined(report.Formats()) }

// completeFormats offers the formats behind -o when Tab is pressed.
func completeFormats(cmd *cobra.Command, formats []string) {
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

func joined(words []string) string { return strings.Join(words, ", ") }
