package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli/kubectl"
	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/card"
)

// newDoctor makes `linerate doctor`, which checks this machine's cards. `linerate kubectl doctor` checks a cluster.
func newDoctor(s Streams) *cobra.Command {
	need, engine, format := doctor.CardNeed{}, string(v1alpha1.EngineSoftware), "text"
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "doctor [PORT...]",
		Short: "Check whether this machine's cards and virtual functions can carry a test",
		Example: "  linerate doctor\n" +
			"  linerate doctor ens1f0 ens1f1 --engine TRex\n" +
			"  linerate doctor ens1f0 --bridge --frame-size 9018",
		Long: "Reads what the kernel says of the cards, and changes nothing. Run it on a node, outside of pods: a pod doesn't " +
			"see what a\nport sets for its functions. `linerate kubectl doctor` checks the cluster.\n\n" +
			"Exit codes: 0 nothing failed, 1 something did, 2 bad input, 3 the cards can't be read.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, ports []string) error {
			need.Ports, need.TRex = ports, engine == string(v1alpha1.EngineTRex)
			if !need.TRex && engine != string(v1alpha1.EngineSoftware) {
				return exit.BadInput("--engine %s: it is TRex or Software", engine)
			}
			if err := sidebyside.CheckFormat(format, formats); err != nil {
				return exit.BadInput("%w", err)
			}
			asked, err := card.Ask()
			if err != nil {
				return exit.NotMeasured("%w", err)
			}
			findings := doctor.DiagnoseCards(card.Read(os.DirFS("/"), asked), need)
			if err := kubectl.WriteFindings(s.Stdout, format, sidebyside.TextOptions(s.Stdout), findings); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			if doctor.Failed(findings) {
				return exit.WithCode(report.ExitFailed, nil)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&engine, "engine", engine, "the generator that gets the functions, TRex or Software")
	cmd.Flags().BoolVar(&need.Bridge, "bridge", false, "the device under test is a bridge (dut.forwarding: L2)")
	cmd.Flags().IntVar(&need.FrameBytes, "frame-size", 1518, "length of the longest frame in bytes, FCS included")
	sidebyside.FormatFlag(cmd, &format, formats)
	return cmd
}
