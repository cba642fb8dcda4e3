package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/bundle"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

func newBundle(s Streams) *cobra.Command {
	var target string
	cmd := &cobra.Command{
		Use:   "bundle PATH... -o FILE" + bundle.Suffix,
		Short: "Pack saved Reports, and all that is needed to check and repeat them, into one file",
		Example: "  linerate bundle linerate-reports -o lab.tar.gz\n" +
			"  linerate verify lab.tar.gz\n  sudo linerate replay lab.tar.gz",
		Long: "Packs the Reports of files and directories, their Plans, the environments in which they were measured, " +
			"suites' documents, and what was collected from the device.\n" +
			"The bundle's manifest has the SHA-256 of each member. The same files always give the same bundle. Any tar " +
			"unpacks it.\n\n" +
			"Keys, passwords, tokens and communities are left out of what was collected; the manifest and stderr say " +
			"where. A Report that has one in its Plan is refused.\n\n" +
			"Exit codes: 0 packed, 2 bad input, 3 it could not be written.",
		Args: sidebyside.AtLeast(1, "at least one Report or directory of Reports, such as linerate-reports"),
		RunE: func(_ *cobra.Command, paths []string) error {
			if !strings.HasSuffix(target, bundle.Suffix) {
				return exit.BadInput("--output %q: name the bundle's file, which ends with %s, such as lab%s", target,
					bundle.Suffix, bundle.Suffix)
			}
			return packBundle(s, paths, target)
		},
	}
	cmd.Flags().StringVarP(&target, "output", "o", "", "the bundle's file, such as lab"+bundle.Suffix)
	return cmd
}

func packBundle(s Streams, paths []string, target string) error {
	p := bundlePacker{manifest: bundle.Manifest{Producer: producer()}, sources: map[string]string{}}
	for _, name := range paths {
		if err := p.addPath(name); err != nil {
			return exit.BadInput("%w", err)
		}
	}
	(&reportFiles{skipped: p.skipped}).printSkipped(s.Stderr)
	if len(p.manifest.Tests) == 0 {
		return exit.BadInput("%s: no Report to pack: linerate run --save keeps them", strings.Join(paths, ", "))
	}
	var packed bytes.Buffer
	if err := bundle.Write(&packed, &p.manifest, p.files); err != nil {
		return exit.BadInput("%w", err)
	}
	file, err := openOutput(nil, target)
	if err == nil {
		err = file.finish(func(w io.Writer) error { _, err := w.Write(packed.Bytes()); return err })
	}
	if err != nil {
		return exit.NotMeasured("%s: %w", target, err)
	}
	writeLeftOut(s.Stderr, p.manifest.LeftOut)
	_, err = fmt.Fprintf(s.Stdout, "%s: %s, %s, %s\n", target, wording.Counted(len(p.manifest.Tests), "Report"),
		wording.Counted(len(p.manifest.Members), "member"), report.Digest(packed.Bytes()))
	return err
}

// writeLeftOut names on stderr what a bundle doesn't have, and why.
func writeLeftOut(stderr io.Writer, leftOut []bundle.LeftOut) {
	for _, l := range leftOut {
		places := "the whole file"
		if !l.Whole {
			places = wording.Counted(l.Places, "place")
		}
		fmt.Fprintf(stderr, "left out of %s: %s: %s (%s)\n", wording.Printable(l.Member), places, l.Reason, l.Rule)
	}
}

// bundlePacker gathers a bundle's members.
type bundlePacker struct {
	manifest bundle.Manifest
	files    []bundle.File
	// sources are the files that members come from, by the member's name.
	sources map[string]string
	skipped []string
}

// The folders of a bundle. Below reports it has the paths of the directory of --save.
const (
	bundledReports      = "reports/"
	bundledPlans        = "plans/"
	bundledEnvironments = "environments/"
	bundledCollected    = "collected/"
)

// addPath adds a Report's file, or all Reports and suites' documents below a directory.
func (p *bundlePacker) addPath(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return p.addFile(name, filepath.Base(name))
	}
	return filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
		isDocument := sidebyside.HoldsReports(file) || strings.HasSuffix(file, sidebyside.SuiteSuffix)
		if err != nil || !entry.Type().IsRegular() || !isDocument {
			return err
		}
		relative, err := filepath.Rel(name, file)
		if err != nil {
			return err
		}
		if err := p.addFile(file, filepath.ToSlash(relative)); errors.Is(err, errNotBundled) {
			p.skipped = append(p.skipped, err.Error())
		} else if err != nil {
			return err
		}
		return nil
	})
}

// errNotBundled is the error of a file that holds no document of linerate's.
var errNotBundled = errors.New("it holds no Report")

// addFile adds a file with Reports, or a suite's document, unpacked.
func (p *bundlePacker) addFile(name, member string) error {
	var text []byte
	var documents report.Documents
	err := sidebyside.ReadFile(name, func(r io.Reader) (err error) {
		if text, err = intake.Text(r, bundle.MaxMember); err == nil {
			documents, err = report.ReadDocuments(bytes.NewReader(text))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w: %w", name, errNotBundled, err)
	}
	member = bundledReports + strings.TrimSuffix(member, ".gz")
	if err := p.add(name, member, text); err != nil {
		return err
	}
	for i, r := range documents.Reports {
		if secret := secretIn(r); secret != "" {
			return fmt.Errorf("%s: %s, and a Report is packed as it is or not at all: let the program read it from a "+
				"file, and measure again", name, secret)
		}
		base := strings.TrimSuffix(strings.TrimPrefix(member, bundledReports), ".json")
		if len(documents.Reports) > 1 {
			base = fmt.Sprintf("%s-%d", base, i+1)
		}
		if err := p.addReport(name, member, base, r); err != nil {
			return err
		}
	}
	return nil
}

// addReport adds a Report's Plan and environment, and lists it as a test.
func (p *bundlePacker) addReport(source, member, base string, r *report.Report) error {
	document, err := r.Plan.Document()
	if err != nil {
		return err
	}
	machines := bundledEnvironment{r.Environment, r.Generators, r.Device, r.LineRates}
	environment, err := json.MarshalIndent(machines, "", "  ")
	if err != nil {
		return err
	}
	p.manifest.Tests = append(p.manifest.Tests, bundle.Test{Name: r.Plan.Test.Name, Report: member,
		Plan: bundledPlans + base + ".json", PlanDigest: r.Plan.Digest(), Method: r.Plan.Method(),
		Producer: r.Producer})
	return errors.Join(p.add(source, bundledPlans+base+".json", document),
		p.add(source, bundledEnvironments+base+".json", append(environment, '\n')), p.addCollected(source, base, r))
}

// addCollected adds what was collected for a Report, from beside the Report's file, without secrets.
func (p *bundlePacker) addCollected(source, base string, r *report.Report) error {
	counts := map[string]int{}
	for _, c := range r.Collected {
		if c.SHA256 == "" {
			continue
		}
		file := filepath.Join(filepath.Dir(source), collectedFolder, filepath.Base(collectedName(c.SHA256)))
		content, err := intake.TextFile(file, maxCollectedItem)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.skipped = append(p.skipped, fmt.Sprintf("%s: what %s collected isn't beside it", source, c.Name))
			continue
		case err != nil:
			return err
		case report.Digest(content) != c.SHA256:
			return fmt.Errorf("%s isn't what was collected: its SHA-256 is another", file)
		}
		name := path.Join(base, strings.ToLower(c.When)+"-"+c.Name)
		if counts[name]++; c.Path != "" {
			name = fmt.Sprintf("%s-%d", name, counts[name])
		}
		name = bundledCollected + name + ".txt"
		redacted, leftOut := bundle.Redact(name, c.Path, content)
		p.manifest.LeftOut = append(p.manifest.LeftOut, leftOut...)
		if redacted == nil && len(content) > 0 {
			continue
		}
		if err := p.add(source, name, redacted); err != nil {
			return err
		}
	}
	return nil
}

// bundledEnvironment is what a Report says of the machines that it was measured on, for who looks for that alone.
type bundledEnvironment struct {
	Environment *report.Environment `json:"environment,omitempty"`
	Generators  []report.Generator  `json:"generators,omitempty"`
	Device      *plan.Device        `json:"device,omitempty"`
	LineRates   []report.LineRate   `json:"lineRates,omitempty"`
}

// add adds a member. A second one of the same name is refused.
func (p *bundlePacker) add(source, member string, content []byte) error {
	if earlier, ok := p.sources[member]; ok {
		return fmt.Errorf("%s and %s would both be %s in the bundle: rename one, or give the directory above both",
			earlier, source, path.Base(member))
	}
	p.sources[member] = source
	p.files = append(p.files, bundle.File{Name: member, Content: content})
	return nil
}

// secretIn says where a Report has a secret: in a program's arguments or the last words of one. It is empty for none.
func secretIn(r *report.Report) string {
	type text struct{ field, words string }
	dut := r.Plan.DUT
	texts := []text{{"message", r.Message}, {"plan.dut.notes", dut.Notes},
		{"plan.dut.resetCommand", strings.Join(dut.ResetCommand, " ")}}
	if dut.Setup != nil {
		texts = append(texts, text{"plan.dut.setup", strings.Join(dut.Setup.Command, " ")})
	}
	if dut.Teardown != nil {
		texts = append(texts, text{"plan.dut.teardown", strings.Join(dut.Teardown.Command, " ")})
	}
	for _, c := range dut.Collect {
		texts = append(texts, text{"plan.dut.collect " + c.Name, strings.Join(c.Command, " ")})
	}
	for _, t := range texts {
		if reason := bundle.SecretIn(t.words); reason != "" {
			return t.field + " has " + reason
		}
	}
	return ""
}
