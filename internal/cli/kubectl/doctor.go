package kubectl

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/answer"
)

// diagnosisVersion is the kind and version of the document that doctor prints as JSON.
const diagnosisVersion = "linerate.dev/doctor.v1alpha1"

// diagnosis is the document that doctor prints as JSON.
type diagnosis struct {
	Version  string           `json:"version"`
	Findings []doctor.Finding `json:"findings"`
}

func newDoctor(o Options, conn *connection) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether a cluster has all that a LoadTest needs",
		Example: "  kubectl linerate doctor -n lab\n" +
			"  kubectl linerate doctor -n lab -o json | jq '.findings[] | select(.level == \"fail\")'",
		Long: "Asks the API server, with your rights, and changes nothing. After the answer, each line is ok, warn (may be as it " +
			"should), fail (tests can't run), or\n" +
			"unknown (you may not see it, or the API doesn't say), with what to do or where to look.\n\n" +
			"Exit codes: 0 nothing failed, 1 something did, 2 bad input, 3 the cluster can't be asked.",
		Args:              noNames("it looks at the whole namespace (-n)"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := sidebyside.CheckFormat(format, textOrJSON()); err != nil {
				return exit.BadInput("%w", err)
			}
			c, err := conn.connect()
			if err != nil {
				return err
			}
			lab := doctor.Look(cmd.Context(), c.config, c.client, c.namespace, o.Version)
			findings := doctor.Diagnose(lab)
			if err := WriteFindings(o.Stdout, format, sidebyside.TextOptions(o.Stdout), findings); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			switch {
			case lab.Server.Err != nil:
				return exit.WithCode(report.ExitNotMeasured, nil)
			case doctor.Failed(findings):
				return exit.WithCode(report.ExitFailed, nil)
			}
			return nil
		},
	}
	sidebyside.FormatFlag(cmd, &format, textOrJSON())
	return cmd
}

// WriteFindings prints findings in a format of textOrJSON.
func WriteFindings(stdout io.Writer, format string, layout render.TextOptions, findings []doctor.Finding) error {
	if format == "json" {
		return sidebyside.WriteJSON(stdout, diagnosis{diagnosisVersion, findings})
	}
	var text strings.Builder
	answered := answer.OfChecks(checksOf(findings))
	fmt.Fprintln(&text, answered.Summary)
	for _, l := range fold(answered.Message, 2, layout.Width) {
		fmt.Fprintln(&text, l)
	}
	fmt.Fprintln(&text)
	for _, f := range findings {
		writeFinding(&text, layout, f)
	}
	_, err := io.WriteString(stdout, text.String())
	return err
}

// checksOf counts findings by their levels.
func checksOf(findings []doctor.Finding) answer.Checks {
	rank := map[doctor.Level]int{doctor.OK: 0, doctor.Warn: 1, doctor.Unknown: 2, doctor.Fail: 3}
	checks := answer.Checks{}
	gravest := doctor.OK
	for _, f := range findings {
		count := map[doctor.Level]*int{doctor.OK: &checks.Passed, doctor.Warn: &checks.Warned,
			doctor.Unknown: &checks.Unknown, doctor.Fail: &checks.Failed}[f.Level]
		*count++
		if rank[f.Level] > rank[gravest] {
			gravest, checks.First = f.Level, f.Check
		}
	}
	return checks
}

// writeFinding folds the message at the terminal's width. The fix stays one line, so that it can be copied.
func writeFinding(text *strings.Builder, layout render.TextOptions, f doctor.Finding) {
	const column = 8
	lines := fold(fmt.Sprintf("%-*s%s: %s", column, f.Level, f.Check, oneLine(f.Message)), column, layout.Width)
	if layout.Color {
		lines[0] = "\x1b[" + levelColor(f.Level) + "m" + string(f.Level) + "\x1b[0m" + strings.TrimPrefix(lines[0],
			string(f.Level))
	}
	for _, l := range lines {
		fmt.Fprintln(text, l)
	}
	if f.Fix != "" {
		fmt.Fprintf(text, "%-*s→ %s\n", column, "", oneLine(f.Fix))
	}
}

// levelColor is the parameter of the terminal's colour sequence (SGR) for a level.
func levelColor(level doctor.Level) string {
	switch level {
	case doctor.OK:
		return "32"
	case doctor.Fail:
		return "1;31"
	case doctor.Warn, doctor.Unknown:
	}
	return "1;33"
}
