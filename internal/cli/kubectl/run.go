package kubectl

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

func newRun(o Options, conn *connection) *cobra.Command {
	var f followOptions
	var fresh bool
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run the LoadTests and suites in the files in a cluster, and follow them to their end",
		Example: "  kubectl linerate run test.yaml -n lab\n  kubectl linerate run test.yaml -o json | jq .result\n" +
			"  kubectl linerate run --new --on-interrupt delete nightly/*.yaml -o junit > results.xml",
		Long: "Judges the LoadTests and LoadTestSuites in the files (- is stdin) as the cluster would, of a suite " +
			"each cell; creates them, follows them to\n" +
			"their end, and prints their table, as linerate run does on one machine. What is there already with the " +
			"same spec is followed, not begun anew; metadata.generateName\n" +
			"makes a new one each time.\n\n" +
			"On a terminal Ctrl-C asks what shall become of them. Elsewhere a signal leaves them running; " +
			"--on-interrupt says otherwise.\n\n" + exitHelp,
		Args: sidebyside.AtLeast(1, "at least one file with LoadTests or LoadTestSuites, or - for stdin"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			objects, err := c.readObjects(o.Stdin, o.Stderr, files)
			if err == nil {
				err = checkFormatOf(f.format, objects)
			}
			if err != nil {
				return err
			}
			if objects, err = c.start(cmd.Context(), o.Stderr, objects, fresh); err != nil {
				return err
			}
			return f.follow(cmd.Context(), o, c, objects)
		},
	}
	f.bind(cmd)
	cmd.Flags().BoolVar(&fresh, "new", false, "refuse what is there already, instead of following it: for pipelines")
	cmd.Flags().StringVar(&f.onInterrupt, "on-interrupt", interruptAsk,
		"what becomes of tests and suites at a signal: ask, leave, stop or delete; ask leaves them where nobody can "+
			"be asked")
	_ = cmd.RegisterFlagCompletionFunc("on-interrupt", cobra.FixedCompletions(interruptWords(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func interruptWords() []string {
	return []string{interruptAsk, interruptLeave, interruptStop, interruptDelete}
}

// check refuses wrong flags.
func (f followOptions) check() error {
	if !slices.Contains(interruptWords(), f.onInterrupt) {
		return exit.BadInput("--on-interrupt %q: write ask, leave, stop or delete", f.onInterrupt)
	}
	return checkFormat(f.format, 1, 0)
}
