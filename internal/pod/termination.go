package pod

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// TerminationLog is the file in which Kubernetes looks for a container's termination message
// (container.terminationMessagePath).
const TerminationLog = "/dev/termination-log"

// MaxTerminationMessage is how many bytes of it Kubernetes keeps.
const MaxTerminationMessage = 4096

// ExplainExit writes the error's message into the file of the termination message, and returns the error, which
// stands on stderr as well.
func ExplainExit(file string, err error) error {
	if err == nil || err.Error() == "" {
		return err
	}
	words := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\n", "; "), "")
	_ = WriteTerminationMessage(file, []byte(words[:min(len(words), MaxTerminationMessage)]))
	return err
}

// WriteTerminationMessage writes into the file that the kubelet mounted, which can't be replaced. Outside of a
// pod there is no such file, and none is made.
func WriteTerminationMessage(file string, message []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(message)
	return errors.Join(err, f.Close())
}
