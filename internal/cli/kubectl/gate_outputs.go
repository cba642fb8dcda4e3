package kubectl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/render"
)

// gateOutput is a format, and the file that the verdict goes to in it. An empty file is stdout.
type gateOutput struct{ format, file string }

// parseOutputs parses FORMAT[=FILE],…. No output is text on stdout.
func parseOutputs(texts []string) ([]gateOutput, error) {
	var outputs []gateOutput
	toStdout := 0
	for _, text := range strings.Split(strings.Join(texts, ","), ",") {
		if text == "" {
			continue
		}
		format, file, named := strings.Cut(text, "=")
		switch {
		case !slices.Contains(render.Formats(render.Gate), format):
			return nil, fmt.Errorf("--output %q: there is no format %q; use %s, each with =FILE where it goes to one",
				text, format, strings.Join(render.Formats(render.Gate), ", "))
		case named && file == "":
			return nil, fmt.Errorf("--output %q: name a file behind the =, or leave both out for stdout", text)
		case file == "-":
			file = ""
		}
		if file == "" {
			toStdout++
		}
		outputs = append(outputs, gateOutput{format, file})
	}
	if toStdout > 1 {
		return nil, errors.New("--output: one format can go to stdout; give the others files, such as " +
			"junit=results.xml,markdown=summary.md")
	}
	if len(outputs) == 0 {
		outputs = []gateOutput{{format: "text"}}
	}
	for _, out := range outputs {
		if err := out.check(); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// isForPerson reports whether a person reads this output on stdout.
func (g gateOutput) isForPerson() bool {
	return g.file == "" && render.ForPeople(g.format)
}

// check refuses a file that can't be written, before anything is measured.
func (g gateOutput) check() error {
	if g.file == "" {
		return nil
	}
	dir := filepath.Dir(g.file)
	if info, err := os.Stat(cmp.Or(dir, ".")); err != nil || !info.IsDir() {
		return fmt.Errorf("--output %s=%s: there is no folder %s", g.format, g.file, dir)
	}
	if info, err := os.Stat(g.file); err == nil && info.IsDir() {
		return fmt.Errorf("--output %s=%s: that is a folder; name a file in it", g.format, g.file)
	}
	return nil
}

// writeOutputs writes all outputs. One that fails doesn't prevent the others.
func writeOutputs(o Options, outputs []gateOutput, verdict *report.Gate, evidence bool) error {
	var errs []error
	for _, out := range outputs {
		var text bytes.Buffer
		var layout render.TextOptions
		if out.file == "" {
			layout = sidebyside.TextOptions(o.Stdout)
		}
		layout.Evidence = evidence
		err := render.Write(&text, out.format, render.OfGate(verdict), layout)
		switch {
		case err != nil:
		case out.file == "":
			_, err = o.Stdout.Write(text.Bytes())
		default:
			err = outfile.Write(out.file, text.Bytes(), outfile.ForAll) // other users may read results
		}
		if err != nil {
			errs = append(errs, exit.NotMeasured("write %s: %w", out.format, err))
		}
	}
	return exit.Worst(errs...)
}
