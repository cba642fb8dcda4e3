package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/bundle"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

func newVerify(s Streams) *cobra.Command {
	var format string
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "verify REPORT|BUNDLE...",
		Short: "Recompute saved Reports from their raw counters, and name what differs",
		Example: "  linerate verify linerate-reports/imix.json\n" +
			"  linerate verify *.json -o json | jq '.reports[].checks[].findings'\n" +
			"  zcat kept.json.gz | linerate verify -",
		Long: "Makes each figure of a saved Report anew from the counters in it, by the code that made it when the " +
			"run was measured: rates and loss of each window, its quality, the\n" +
			"procedure's next step after it, result, figures and verdict. Each difference is printed: which member, " +
			"its value, and the value that the counters give.\n\n" +
			"It shows that a document agrees with itself, not who measured it: a forger who changes the counters, " +
			"and everything that follows from them, isn't found.\n\n" +
			"A file holds Reports, packed with gzip where its name ends with .gz, or is a bundle (" + bundle.Suffix +
			"), each byte of which is checked; - is stdin. Suites' documents hold no counters, and are refused.\n\n" +
			"Exit codes: 0 all Reports are verified, 1 something differs, 2 bad input, 3 it could not be printed.",
		Args: sidebyside.AtLeast(1, "at least one Report that linerate run --save kept, or - for stdin"),
		RunE: func(_ *cobra.Command, files []string) error {
			if err := checkFormat(format, formats); err != nil {
				return err
			}
			found, unread := verifyFiles(s.Stdin, files)
			if err := found.write(s.Stdout, format); err != nil {
				return exit.NotMeasured("print: %w", err)
			}
			return exit.Worst(unread, exit.WithCode(found.exitCode(), nil))
		},
	}
	sidebyside.FormatFlag(cmd, &format, formats)
	return cmd
}

// verifyFiles verifies the Reports of all files. The error unread names the files that hold none.
func verifyFiles(stdin io.Reader, files []string) (found verifications, unread error) {
	found = verifications{Version: verificationsVersion, Producer: producer(), Reports: []verify.Verification{}}
	var errs []error
	for _, name := range files {
		if strings.HasSuffix(name, bundle.Suffix) {
			bundled, err := readBundle(name)
			if err != nil {
				errs = append(errs, exit.WithCode(report.ExitFailed, fmt.Errorf("%s: %w", name, err)))
				continue
			}
			for _, r := range bundled.reports {
				found.verify(name, r)
			}
			continue
		}
		documents, err := sidebyside.ReadDocuments(stdin, name)
		if err == nil && len(documents.Suites) > 0 {
			err = fmt.Errorf("it is a suite's document, which holds its runs' results without their counters: verify " +
				"the Reports of its runs, beside it or with kubectl linerate report NAME -o json")
		}
		if err != nil {
			errs = append(errs, exit.BadInput("%s: %w", name, err))
		}
		for _, r := range documents.Reports {
			found.verify(name, r)
		}
	}
	return found, exit.Worst(errs...)
}

// verificationsVersion is the kind and version of the document that -o json writes.
const verificationsVersion = "linerate.dev/verification.v1alpha1"

// verifications is the document with the results.
type verifications struct {
	Version  string                `json:"version"`
	Producer string                `json:"producer"` // the linerate that verified
	Reports  []verify.Verification `json:"reports"`
}

// verify adds what is found of a file's Report.
func (v *verifications) verify(file string, r *report.Report) {
	verification := verify.Report(r, producer())
	verification.Name = file + ": " + verification.Name
	v.Reports = append(v.Reports, verification)
}

func (v verifications) exitCode() int {
	for _, r := range v.Reports {
		if r.Outcome != verify.Verified {
			return report.ExitFailed
		}
	}
	return report.ExitOK
}

func (v verifications) write(stdout io.Writer, format string) error {
	if format == "json" {
		return sidebyside.WriteJSON(stdout, v)
	}
	for _, r := range v.Reports {
		if err := writeVerification(stdout, r); err != nil {
			return err
		}
	}
	return nil
}

// writeVerification writes a line for the Report, one for each finding, and one for each part that was not
// verified. A document may come from anybody, so its control characters aren't sent to the terminal.
func writeVerification(stdout io.Writer, v verify.Verification) error {
	lines := []string{v.String()}
	for _, f := range v.Findings() {
		lines = append(lines, "  "+f.Message)
	}
	for _, part := range v.NotVerified() {
		lines = append(lines, "  not verified: "+part)
	}
	if v.Remark != "" {
		lines = append(lines, "  "+v.Remark)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(stdout, wording.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}
