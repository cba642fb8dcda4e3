package kubectl

import (
	"slices"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func newRun(o Options, to *connection) *cobra.Command {
	var f followOptions
	var fresh bool
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run the LoadTests in the files in a cluster, and follow them to their end",
		Example: "  kubectl linerate run test.yaml -n lab\n  kubectl linerate run test.yaml -o json | jq .result\n" +
			"  kubectl linerate run --new --on-interrupt delete nightly/*.yaml -o junit > results.xml",
		Long: "Judges the LoadTests in the files (- is stdin) as the cluster would, creates them, follows them to their end, and prints one table, as\n" +
			"linerate run does on one machine. A test that is there already with the same spec is followed, not begun anew; metadata.generateName\n" +
			"makes a new one each time.\n\n" +
			"On a terminal Ctrl-C asks what shall become of the tests. Elsewhere a signal leaves them running; --on-interrupt says otherwise.\n\n" + exitHelp,
		Args: some("at least one file with LoadTests, or - for stdin"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			tests, err := c.readTests(o.In, files)
			if err != nil {
				return err
			}
			if err := checkFormat(f.format, len(tests), 0); err != nil {
				return err
			}
			if tests, err = c.start(cmd.Context(), o.Err, tests, fresh); err != nil {
				return err
			}
			return f.see(cmd.Context(), o, c, objectsOf(tests))
		},
	}
	f.bind(cmd)
	cmd.Flags().BoolVar(&fresh, "new", false, "refuse a test that is there already, instead of following it: for pipelines")
	cmd.Flags().StringVar(&f.onInterrupt, "on-interrupt", interruptAsk, "what becomes of the tests at a signal: ask, leave, stop or delete; ask leaves them where nobody can be asked")
	_ = cmd.RegisterFlagCompletionFunc("on-interrupt", cobra.FixedCompletions(interruptWords(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func interruptWords() []string {
	return []string{interruptAsk, interruptLeave, interruptStop, interruptDelete}
}

// check refuses flags before anything is done.
func (f followOptions) check() error {
	if !slices.Contains(interruptWords(), f.onInterrupt) {
		return badInput("--on-interrupt %q: write ask, leave, stop or delete", f.onInterrupt)
	}
	return checkFormat(f.format, 1, 0)
}

func objectsOf(tests []*v1alpha1.LoadTest) []client.Object {
	objects := make([]client.Object, len(tests))
	for i, test := range tests {
		objects[i] = test
	}
	return objects
}
