package sidebyside

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// AllowDifferent is the value of --allow-different, the parts of an environment that may differ in a comparison.
type AllowDifferent []string

// Flag adds the flag to a verb that compares. Tab offers the parts.
func (a *AllowDifferent) Flag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar((*[]string)(a), "allow-different", nil,
		"what may differ between the environments of what is compared, else no change is claimed: "+partNames())
	_ = cmd.RegisterFlagCompletionFunc("allow-different", cobra.FixedCompletions(strings.Split(partNames(), ", "),
		cobra.ShellCompDirectiveNoFileComp))
}

// Parts are the named parts.
func (a AllowDifferent) Parts() []report.EnvironmentPart { return report.EnvironmentParts(a) }

// Check refuses unknown parts.
func (a AllowDifferent) Check() error {
	for _, part := range a.Parts() {
		if !slices.Contains(report.PartsToAllow(), part) {
			return fmt.Errorf("--allow-different %q: there is no such part of an environment; name some of %s", part,
				partNames())
		}
	}
	return nil
}

func partNames() string {
	var names []string
	for _, part := range report.PartsToAllow() {
		names = append(names, string(part))
	}
	return strings.Join(names, ", ")
}
