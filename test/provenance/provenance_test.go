package provenance

import (
	"strings"
	"testing"
	"time"
)

func TestSentence(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for commit, want := range map[string]string{
		"v0.1.0-3-g838ead8": "Measured on 21 November 2026, at commit `v0.1.0-3-g838ead8`.",
		"":                  "Measured on 21 November 2026, at a commit that git didn't tell.",
	} {
		if got := sentence(noon, commit); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A directory that is in no working tree has no commit.
func TestOfNoTree(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := Of(t.Context()); !strings.HasSuffix(got, ", at a commit that git didn't tell.") {
		t.Error(got)
	}
}
