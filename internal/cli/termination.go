package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// terminationLog is where Kubernetes looks for a container's last words (container.terminationMessagePath).
const terminationLog = "/dev/termination-log"

// mostLastWords is how much of it Kubernetes keeps.
const mostLastWords = 4096

// terminationFlag adds --termination-log, for what the words tell.
func terminationFlag(cmd *cobra.Command, into *string, words string) {
	cmd.Flags().StringVar(into, "termination-log", terminationLog, "file "+words)
}

// withTermination leaves an error's words in the file, where there is one: outside of a pod there is none, and the words are on stderr
// anyway. It returns the error.
func withTermination(file string, err error) error {
	if err == nil || err.Error() == "" {
		return err
	}
	if _, missing := os.Stat(file); missing != nil {
		return err
	}
	words := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", "; "), "")
	_ = os.WriteFile(file, []byte(words[:min(len(words), mostLastWords)]), 0o600)
	return err
}
