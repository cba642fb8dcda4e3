package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/render/routes"
)

func newRoutes(s Streams) *cobra.Command {
	o := routes.Options{System: routes.Systems()[0]}
	cmd := &cobra.Command{
		Use:   "routes FILE",
		Short: "Print the addresses and routes that a test's device, and the hosts at its links, need",
		Example: "  linerate routes box.yaml --for openbsd\n" +
			"  linerate routes box.yaml --role device --interfaces eth0,eth1 | ssh root@box sh",
		Long: "Prints commands, and runs none. What begins with # (or ! for FRR) is a comment.\n\n" +
			"Exit codes: 0 printed, 2 bad input, 3 could not be printed.",
		Args: sidebyside.AtLeast(1, "a file with LoadTests, such as examples/linux-forwarder.yaml, or - for stdin"),
		RunE: func(_ *cobra.Command, files []string) error {
			loaded, err := readInputs(s.Stdin, files)
			if err != nil {
				return err
			}
			text, err := routesOf(loaded.plans, o)
			if err != nil {
				return exit.BadInput("%w", err)
			}
			if _, err := io.WriteString(s.Stdout, text); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.System, "for", o.System, "in whose words: "+strings.Join(routes.Systems(), ", "))
	f.StringVar(&o.Role, "role", "", "print one host alone: device, or the link at whose end the host is")
	f.StringSliceVar(&o.Interfaces, "interfaces", nil, "the device's interfaces, in the links' order (default: the "+
		"links' names)")
	_ = cmd.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(routes.Systems(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func routesOf(plans []*plan.Plan, o routes.Options) (string, error) {
	if len(plans) == 0 {
		return "", fmt.Errorf("linerate routes: the files have no LoadTest: name one, as a suite's cells may each " +
			"have " +
			"addresses of their own")
	}
	var texts []string
	for _, p := range plans {
		text, err := routes.Write(p, o)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}
