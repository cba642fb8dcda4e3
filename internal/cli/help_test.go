package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// What help says of exit codes are codes that there are, in their order.
func TestHelpListsExistingExitCodes(t *testing.T) {
	codes := []string{"0", "1", "2", "3", "130"}
	if want := []int{report.ExitOK, report.ExitFailed, report.ExitBadInput, report.ExitNotMeasured,
		report.ExitInterrupted}; !slices.Equal(want, []int{0, 1, 2, 3, 130}) {
		t.Fatalf("the exit codes are %v", want)
	}
	documented := 0
	code := regexp.MustCompile(`(?:^|[,;]\s)(\d+) [a-z]`)
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			look(sub)
		}
		_, help, found := strings.Cut(cmd.Long, "Exit codes: ")
		if !found {
			return
		}
		documented++
		index := -1
		for _, m := range code.FindAllStringSubmatch(help, -1) {
			next := slices.Index(codes, m[1])
			if next <= index {
				t.Errorf("%s: exit code %s is none, or out of its order, in %q", cmd.CommandPath(), m[1], help)
			}
			index = next
		}
		if index < 1 {
			t.Errorf("%s tells of hardly an exit code: %q", cmd.CommandPath(), help)
		}
	}
	look(newRoot(Streams{}))
	if documented < 8 {
		t.Errorf("%d commands document their exit codes", documented)
	}
}
