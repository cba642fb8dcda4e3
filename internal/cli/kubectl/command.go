package kubectl

import (
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Options are what the verbs need of their process.
type Options struct {
	In  io.Reader
	Out io.Writer // data
	Err io.Writer // talk
	// Terminal is the terminal behind Err; nil where a person isn't watching. Err may wrap it.
	Terminal *os.File
	Version  string
}

// asks says whether there is a person who can be asked.
func (o Options) asks() bool {
	in, isFile := o.In.(*os.File)
	return o.Terminal != nil && isFile && term.IsTerminal(int(in.Fd()))
}

// width is that of the terminal in characters, which may change at any time.
func (o Options) width() int {
	if o.Terminal != nil {
		if w, _, err := term.GetSize(int(o.Terminal.Fd())); err == nil && w > 20 {
			return w
		}
	}
	return 100
}

// NewCommand is `kubectl linerate`: the same commands as a root, or under one.
func NewCommand(o Options) *cobra.Command {
	to := newConnection(o)
	cmd := &cobra.Command{
		Use:   "kubectl",
		Short: "Run and look at LoadTests in a cluster (also: kubectl linerate)",
		Example: "  kubectl linerate doctor -n lab\n  kubectl linerate run test.yaml -n lab\n  kubectl linerate list -A\n" +
			"  kubectl linerate gate -f router.yaml --image router=registry.lab/router:1.5 --baseline-image router=registry.lab/router:1.4 --max-regression 2%\n" +
			"  kubectl linerate report vpp-imix -o html > vpp-imix.html",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl linerate"},
		Version:       o.Version,
		Args:          aVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			ctrllog.SetLogger(logr.Discard()) // errors come back as values
			cmd.SetContext(logr.NewContext(cmd.Context(), logr.Discard()))
		},
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.SetVersionTemplate("linerate {{.Version}}\n")
	cmd.SetOut(o.Out)
	cmd.SetErr(o.Err)
	cmd.SetIn(o.In)
	to.bind(cmd.PersistentFlags())
	cmd.AddCommand(newRun(o, to), newGate(o, to), newWatch(o, to), newReport(o, to), newCompare(o, to), newTrend(o, to), newList(o, to), newStop(o, to), newDoctor(o, to))
	completeConnection(cmd, to)
	return cmd
}
