package sidebyside

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/linerate-dev/linerate/internal/host/sanitize"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units"
)

// ExitCodes is the help text about compare's exit codes.
const ExitCodes = "Exit codes: 0 compared (with --max-regression: none is less than allowed, which the runs show), 1 " +
	"one is less than --max-regression allows, which the runs show,\n" +
	"2 bad input, 3 nothing could be compared, or with --max-regression: the runs don't show whether it is met."

// Options are compare's.
type Options struct {
	Format            string
	MaxRegression     string
	MaxWorkRegression string
	Tries             int
	Evidence          bool
	AllowDifferent    AllowDifferent
}

// Flags adds compare's flags.
func (o *Options) Flags(cmd *cobra.Command) {
	FormatFlag(cmd, &o.Format, render.Formats(render.Comparison))
	EvidenceFlag(cmd, &o.Evidence)
	cmd.Flags().StringVar(&o.MaxRegression, "max-regression", "",
		"by how much less than the first others may be, such as 2%; the exit code says whether they are")
	cmd.Flags().StringVar(&o.MaxWorkRegression, "max-work-regression", "",
		"with --max-regression, where the rates decide nothing: by how much longer a frame may take, such as 3%; "+
			"needs procedure.trains")
	cmd.Flags().IntVar(&o.Tries, "tries", 1, "with --max-regression: how often you ask at most, adding runs until "+
		"they tell; each try claims less, so that all together are wrong as seldom as one")
	o.AllowDifferent.Flag(cmd)
}

// Check parses the options. A nil Allowance demands nothing.
func (o *Options) Check() (*comparison.Allowance, error) {
	if err := CheckFormat(o.Format, render.Formats(render.Comparison)); err != nil {
		return nil, err
	}
	if err := o.AllowDifferent.Check(); err != nil {
		return nil, err
	}
	if o.Tries < 1 || o.Tries > maxTries {
		return nil, fmt.Errorf("--tries %d: from 1 to %d", o.Tries, maxTries)
	}
	if o.MaxRegression == "" && o.Tries > 1 {
		return nil, fmt.Errorf("--tries %d: nothing is demanded that could be tried again: give --max-regression, "+
			"such as 2%%, or leave --tries out", o.Tries)
	}
	if o.MaxRegression == "" && o.MaxWorkRegression != "" {
		return nil, errors.New("--max-work-regression is asked where --max-regression decides nothing: give both")
	}
	if o.MaxRegression == "" {
		return nil, nil // there is no demand, and that is no error
	}
	share, err := units.ParseShare(o.MaxRegression)
	if err != nil {
		return nil, fmt.Errorf("--max-regression %q: %w", o.MaxRegression, err)
	}
	if share >= units.One {
		return nil, fmt.Errorf("--max-regression %s allows anything: write a percentage below 100%%, such as 2%%",
			o.MaxRegression)
	}
	allowance := &comparison.Allowance{MaxRegression: share, Tries: o.Tries}
	if o.MaxWorkRegression == "" {
		return allowance, nil
	}
	work, err := units.ParseShare(o.MaxWorkRegression)
	if err != nil {
		return nil, fmt.Errorf("--max-work-regression %q: %w", o.MaxWorkRegression, err)
	}
	allowance.MaxWorkRegression = &work
	return allowance, nil
}

// maxTries is how many tries may share the error probability of one claim.
const maxTries = 10

// Write writes a document in a format that was checked. Text is as wide as a terminal that it goes to, and has the
// evidence behind answers where that is asked for.
func Write(stdout io.Writer, format string, d render.Document, evidence bool) error {
	options := TextOptions(stdout)
	options.Evidence = evidence
	return render.Write(stdout, format, d, options)
}

// TextOptions are the layout of text for this output. On a terminal, text has its width, and colours unless
// NO_COLOR is set.
func TextOptions(stdout io.Writer) render.TextOptions {
	if sanitizes, ok := stdout.(*sanitize.Writer); ok {
		stdout = sanitizes.Unwrap()
	}
	f, isFile := stdout.(*os.File)
	if !isFile {
		return render.TextOptions{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return render.TextOptions{}
	}
	return render.TextOptions{Width: width, Color: os.Getenv("NO_COLOR") == ""}
}

// TerminalWidth is a terminal's present width in characters. It is 100 where the terminal doesn't report a
// usable width, or is nil.
func TerminalWidth(terminal *os.File) int {
	if terminal != nil {
		if width, _, err := term.GetSize(int(terminal.Fd())); err == nil && width > 20 {
			return width
		}
	}
	return 100
}
