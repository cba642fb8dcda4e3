package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// terminationLog is the file in which Kubernetes looks for a container's termination message (container.terminationMessagePath).
const terminationLog = "/dev/termination-log"

// mostTerminationMessage is how many bytes of it Kubernetes keeps.
const mostTerminationMessage = 4096

// terminationFlag adds --termination-log; words says what the message holds.
func terminationFlag(cmd *cobra.Command, into *string, words string) {
	cmd.Flags().StringVar(into, "termination-log", terminationLog, "file "+words)
}

// withTermination writes the error's message to the file, and returns the error. Outside of a pod there is no such file, and the message is on stderr
// anyway.
func withTermination(file string, err error) error {
	if err == nil || err.Error() == "" {
		return err
	}
	if _, missing := os.Stat(file); missing != nil {
		return err
	}
	words := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", "; "), "")
	_ = os.WriteFile(file, []byte(words[:min(len(words), mostTerminationMessage)]), 0o600)
	return err
}
