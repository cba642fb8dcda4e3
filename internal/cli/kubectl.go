package cli

import (
	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/kubectl"
)

// newKubectl makes `linerate kubectl`, the verbs for LoadTests in a cluster.
func newKubectl(s Streams) *cobra.Command {
	return kubectl.NewCommand(kubectl.Options{Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr,
		Terminal: terminal(s.Stderr),
		Version:  version})
}

// newKubectlRoot is the same as `kubectl linerate`. Its shell completion is kubectl's, which asks
// kubectl_complete-linerate.
func newKubectlRoot(s Streams) *cobra.Command {
	root := newKubectl(s)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}
