package kubectl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

func newStop(o Options, conn *connection) *cobra.Command {
	var wait bool
	f := followOptions{onInterrupt: interruptLeave, patience: defaultPatience, format: "text"}
	cmd := &cobra.Command{
		Use:   "stop NAME...",
		Short: "End tests and suites now, and keep what they measured",
		Example: "  kubectl linerate stop vpp-imix -n lab\n  kubectl linerate stop suite/four-systems -n lab\n" +
			"  kubectl linerate stop vpp-imix --wait -n lab",
		Long: "Sets spec.stop: traffic ends, pods and devices are given back, and what was measured until then is " +
			"kept, without a verdict. Of a\n" +
			"suite the tests under way are stopped, and no further ones are made. What was stopped can't be " +
			"continued.\n\nExit codes: 0 asked for, or ended already, 2 bad input, 3 it can't be asked for; with " +
			"--wait those of watch.",
		Args:              sidebyside.AtLeast(1, someTests),
		ValidArgsFunction: completeTests(conn),
		RunE: func(cmd *cobra.Command, names []string) error {
			c, err := conn.connect()
			if err != nil {
				return err
			}
			objects, err := c.getAll(cmd.Context(), names)
			if err != nil {
				return err
			}
			var errs []error
			for _, object := range objects {
				if end := endOf(object); end != nil {
					fmt.Fprintf(o.Stderr, "%s has ended already, as %s\n", object.GetName(), end.Reason)
					continue
				}
				err := c.stop(cmd.Context(), object)
				if errs = append(errs, err); err == nil {
					fmt.Fprintf(o.Stderr, "%s: stopping\n", object.GetName())
				}
			}
			if wait && exit.Worst(errs...) == nil {
				return f.follow(cmd.Context(), o, c, objects)
			}
			return exit.Worst(errs...)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "follow them until they have ended, and print their table")
	return cmd
}
