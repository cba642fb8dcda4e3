package sidebyside

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// FormatFlag adds -o to a verb that writes these formats. The default is text. Tab offers the formats.
func FormatFlag(cmd *cobra.Command, format *string, formats []string) {
	cmd.Flags().StringVarP(format, "output", "o", "text", "what to print on stdout: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// EvidenceFlag adds -v to a verb that writes answers as text.
func EvidenceFlag(cmd *cobra.Command, evidence *bool) {
	cmd.Flags().BoolVarP(evidence, "verbose", "v", false, "add the evidence behind each answer, in text")
}

// WriteJSON writes a document of its own version as indented JSON.
func WriteJSON(stdout io.Writer, document any) error {
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// CheckFormat refuses a format that a verb doesn't write.
func CheckFormat(format string, formats []string) error {
	if slices.Contains(formats, format) {
		return nil
	}
	return fmt.Errorf("--output %q: there is no such format; use one of %s", format, strings.Join(formats, ", "))
}
