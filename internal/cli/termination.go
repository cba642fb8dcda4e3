package cli

import (
	"errors"
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
	_ = writeInPlace(file, []byte(words[:min(len(words), mostTerminationMessage)]))
	return err
}

// writeInPlace writes into the file that the kubelet mounted, which can't be replaced, and makes none.
func writeInPlace(file string, message []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(message)
	return errors.Join(err, f.Close())
}
