package kubectl

import (
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Options has the streams of the process.
type Options struct {
	Stdin  io.Reader
	Stdout io.Writer // data
	Stderr io.Writer // talk
	// Terminal is the terminal that Err writes to, perhaps through a wrapper. Nil means that there is none.
	Terminal *os.File
	Version  string
}

// asks reports whether a person can be asked.
func (o Options) asks() bool {
	stdin, isFile := o.Stdin.(*os.File)
	return o.Terminal != nil && isFile && term.IsTerminal(int(stdin.Fd()))
}

// NewCommand makes `kubectl linerate`, which is a root command, or a subcommand of linerate.
func NewCommand(o Options) *cobra.Command {
	conn := newConnection(o)
	cmd := &cobra.Command{
		Use:   "kubectl",
		Short: "Run and look at LoadTests in a cluster (also: kubectl linerate)",
		Example: "  kubectl linerate doctor -n lab\n  kubectl linerate run test.yaml -n lab\n" +
			"  kubectl linerate list -A\n" +
			"  kubectl linerate gate -f router.yaml --image router=registry.lab/router:1.5 --baseline-image " +
			"router=registry.lab/router:1.4 --max-regression 2%\n" +
			"  kubectl linerate report vpp-imix -o html > vpp-imix.html",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl linerate"},
		Version:       o.Version,
		Args:          requireVerb,
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
	cmd.SetOut(o.Stdout)
	cmd.SetErr(o.Stderr)
	cmd.SetIn(o.Stdin)
	conn.bind(cmd.PersistentFlags())
	cmd.AddCommand(newRun(o, conn), newGate(o, conn), newWatch(o, conn), newReport(o, conn), newCompare(o, conn),
		newTrend(o, conn), newList(o, conn), newStop(o, conn), newDoctor(o, conn))
	completeConnection(cmd, conn)
	return cmd
}
