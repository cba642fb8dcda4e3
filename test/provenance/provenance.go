// Package provenance says of what a published table is: figures without a day and a tree can't be held against later ones.
package provenance

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// Of is a sentence for a table that is measured now, in the working tree of the current directory: the day, and what git calls the commit (with "-dirty" where there are
// changes beside it). Ask before the first page is written: that is a change, too.
func Of(ctx context.Context) string {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return sentence(time.Now(), "")
	}
	return sentence(time.Now(), strings.TrimSpace(string(commit)))
}

func sentence(at time.Time, commit string) string {
	day := "Measured on " + at.UTC().Format("2 January 2006")
	if commit == "" {
		return day + ", at a commit that git didn't tell."
	}
	return day + ", at commit `" + commit + "`."
}
