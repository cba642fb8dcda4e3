package kubectl

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/sidebyside"
)

// diagnosisVersion is the kind and version of the document that doctor prints as JSON.
const diagnosisVersion = "linerate.dev/doctor.v1alpha1"

func newDoctor(o Options, to *connection) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check whether a cluster has all that a LoadTest needs",
		Example: "  kubectl linerate doctor -n lab\n  kubectl linerate doctor -n lab -o json | jq '.findings[] | select(.level == \"fail\")'",
		Long: "Asks the API server, with your rights, and changes nothing. Each line is ok, warn (may be as it should), fail (tests can't run), or\n" +
			"unknown (you may not see it, or the API doesn't say), with what to do or where to look.\n\n" +
			"Exit codes: 0 nothing failed, 1 something did, 2 bad input, 3 the cluster can't be asked.",
		Args:              none("it looks at the whole namespace (-n)"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := sidebyside.CheckFormat(format, textOrJSON()); err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := to.connect()
			if err != nil {
				return err
			}
			lab := doctor.Look(cmd.Context(), c.config, c.client, c.namespace, o.Version)
			findings := doctor.Diagnose(lab)
			if err := writeFindings(o.Out, format, findings); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			switch {
			case lab.Server.Err != nil:
				return exit.With(report.ExitNotMeasured, nil)
			case doctor.Failed(findings):
				return exit.With(report.ExitFailed, nil)
			}
			return nil
		},
	}
	sidebyside.FormatFlag(cmd, &format, textOrJSON())
	return cmd
}

func writeFindings(w io.Writer, format string, findings []doctor.Finding) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Version  string           `json:"version"`
			Findings []doctor.Finding `json:"findings"`
		}{diagnosisVersion, findings})
	}
	var text strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&text, "%-8s%s: %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(&text, "%-8s→ %s\n", "", f.Fix)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
