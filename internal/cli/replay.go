package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/bundle"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	runOptions
	tests []string
	runs  int
	trust bool
}

func newReplay(s Streams) *cobra.Command { return newReplayIn(s, nil) }

// newReplayIn is newReplay with sites other than this machine's, for tests.
func newReplayIn(s Streams, sites func(*plan.Plan) (site, error)) *cobra.Command {
	o := replayOptions{runOptions: runOptions{sites: sites, path: "auto"}}
	cmd := &cobra.Command{
		Use:   "replay BUNDLE",
		Short: "Check a bundle, repeat its tests on this machine, and compare",
		Example: "  sudo linerate replay lab.tar.gz\n" +
			"  sudo linerate replay lab.tar.gz --ports eth1,eth2 --test router-64b --runs 5",
		Long: "Checks each byte of what linerate bundle packed, recomputes its Reports as linerate verify does, runs " +
			"their Plans on this machine as they are, and compares: the bundle's\n" +
			"Reports on the one side, this machine's on the other. Another machine is another environment, of which no " +
			"difference is claimed unless --allow-different names it.\n\n" +
			"A bundle may come from anybody. What in it reaches beyond a lab of linerate's own is started with --trust " +
			"only: the programs of its Plans, observers that ask over the network, and servers.\n\n" +
			"Exit codes: 0 repeated and compared, 2 bad input, such as a bundle that was changed, 3 not measured, or " +
			"nothing could be compared, 130 interrupted.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return replay(cmd.Context(), s, o, args[0]) },
	}
	f := cmd.Flags()
	sidebyside.FormatFlag(cmd, &o.format, render.Formats(render.Comparison))
	f.StringSliceVar(&o.tests, "test", nil, "names of the tests to repeat (default: all)")
	f.IntVar(&o.runs, "runs", 1, "how often each Plan is repeated, 1 to 100; five runs of each side show a difference")
	f.StringVar(&o.save, "save", "linerate-replays",
		"directory to keep the Reports of this machine in; \"\" keeps nothing")
	f.StringSliceVar(&o.ports, "ports", nil, "interfaces for dut.type Device, one for each link in the links' order")
	f.BoolVar(&o.trust, "trust", false, "start the programs of the bundle's Plans, ask their observers' sources, and "+
		"use their servers")
	o.allowDifferent.Flag(cmd)
	credentialsFlag(cmd, &o.credentials)
	secretFlag(f, &o.secretFile, secretOfServers)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&o.verbose, "verbose", "v", false,
		"log every decision to stderr, and print the evidence of the comparison")
	return cmd
}

func replay(ctx context.Context, s Streams, o replayOptions, name string) error {
	err := errors.Join(checkFormat(o.format, render.Formats(render.Comparison)), o.allowDifferent.Check())
	if err != nil {
		return exit.BadInput("%w", err)
	}
	if o.runs < 1 || o.runs > 100 {
		return exit.BadInput("--runs %d: from 1 to 100", o.runs)
	}
	bundled, err := readBundle(name)
	if err != nil {
		return exit.BadInput("%s: %w", name, err)
	}
	measured, selected, err := bundled.selectTests(o.tests)
	if err != nil {
		return exit.BadInput("%s: %w", name, err)
	}
	folder := reportFolder{o.save}
	if err := folder.prepare(); err != nil {
		return err
	}
	sites := make([]site, len(selected))
	for i, r := range selected {
		if sites[i], err = o.siteOf(r); err != nil {
			return exit.BadInput("%s: %s: %w", name, wording.Printable(r.Plan.Test.Name), err)
		}
	}
	var plans []*plan.Plan
	var planSites []site
	for range o.runs { // in turns, so that what drifts with time meets all tests alike
		for i, r := range selected {
			plans, planSites = append(plans, r.Plan), append(planSites, sites[i])
		}
	}
	repeated, err := measureAll(ctx, s, o.runOptions, plans, planSites)
	_, keepErr := folder.keep(repeated)
	if len(repeated) == 0 {
		return exit.Worst(err, keepErr)
	}
	for _, p := range plans[:len(selected)] {
		fmt.Fprintf(s.Stderr, "%s: measured again by the Plan %s\n", p.Test.Name, p.Digest())
	}
	c := history.Compare([]history.Side{{Name: "bundle", Records: recordsOf("bundle", measured)},
		{Name: "replay", Records: recordsOf("replay", repeated)}}, nil, o.allowDifferent.Parts())
	if printed := sidebyside.Write(s.Stdout, o.format, render.OfComparison(c), o.verbose); printed != nil {
		err = exit.Worst(err, exit.NotMeasured("print: %w", printed))
	}
	return exit.Worst(err, keepErr, exit.WithCode(c.ExitCode(), nil))
}

func recordsOf(side string, reports []*report.Report) (records []history.Record) {
	for _, r := range reports {
		records = append(records, history.Record{Name: side + ": " + r.Plan.Test.Name, Report: r})
	}
	return records
}

// bundledTests are a bundle's Reports, in the order of its manifest's tests.
type bundledTests struct {
	manifest bundle.Manifest
	reports  []*report.Report
}

// readBundle reads a bundle's file, and checks all digests in it.
func readBundle(name string) (*bundledTests, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := bundle.Read(f)
	if err != nil {
		return nil, err
	}
	tests := &bundledTests{manifest: b.Manifest}
	unread := map[string][]*report.Report{} // of members with several Reports
	for _, t := range b.Tests {
		if _, ok := unread[t.Report]; !ok {
			text, err := b.Content(t.Report)
			if err == nil {
				unread[t.Report], err = report.Read(bytes.NewReader(text))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", wording.Printable(t.Report), err)
			}
		}
		if len(unread[t.Report]) == 0 {
			return nil, fmt.Errorf("%s has fewer Reports than the manifest says", wording.Printable(t.Report))
		}
		r := unread[t.Report][0]
		unread[t.Report] = unread[t.Report][1:]
		if digest := r.Plan.Digest(); digest != t.PlanDigest {
			return nil, fmt.Errorf("%s: its Plan's digest is %s, and the manifest says %s", wording.Printable(t.Report),
				digest, wording.Printable(t.PlanDigest))
		}
		tests.reports = append(tests.reports, r)
	}
	return tests, nil
}

// selectTests are the Reports of these names (all where there are none), and of them one for each Plan, to repeat. A
// Report whose figures don't follow from its counters is refused, as there is nothing to compare with.
func (b *bundledTests) selectTests(names []string) (measured, selected []*report.Report, err error) {
	seen := map[string]bool{}
	for _, r := range b.reports {
		if len(names) > 0 && !slices.Contains(names, r.Plan.Test.Name) {
			continue
		}
		if v := verify.Report(r, producer()); v.Outcome != verify.Verified {
			return nil, nil, fmt.Errorf("%s: linerate verify names where", wording.Printable(v.String()))
		}
		measured = append(measured, r)
		if digest := r.Plan.Digest(); !seen[digest] {
			seen[digest] = true
			selected = append(selected, r)
		}
	}
	if len(selected) == 0 {
		return nil, nil, fmt.Errorf("it has no test of the name %s", strings.Join(names, " or "))
	}
	return measured, selected, nil
}

// siteOf is where the Plan of a bundle's Report is repeated. A bundle may come from anybody, so it refuses Plans that
// no linerate made, and without --trust those that reach beyond a lab of linerate's own.
func (o *replayOptions) siteOf(r *report.Report) (site, error) {
	if err := checkForeignPlan(r.Plan); err != nil {
		return nil, err
	}
	if reaches := reachesOut(r.Plan); len(reaches) > 0 && !o.trust {
		return nil, fmt.Errorf("its Plan asks for what reaches beyond a lab of linerate's own: %s; read it, and give "+
			"--trust if you would have typed that yourself", wording.Printable(strings.Join(reaches, "; ")))
	}
	options := o.runOptions
	if len(r.Generators) > 0 {
		options.cores = min(coresOf(r), 64)
	}
	return siteOf(r.Plan, options)
}

// reachesOut lists what of a Plan starts programs, or talks to other machines.
func reachesOut(p *plan.Plan) (reaches []string) {
	program := func(field string, command []string) {
		if len(command) > 0 {
			reaches = append(reaches, field+" runs "+bounded.ProgramName(command))
		}
	}
	if p.DUT.Setup != nil {
		program("dut.setup", p.DUT.Setup.Command)
	}
	if p.DUT.Teardown != nil {
		program("dut.teardown", p.DUT.Teardown.Command)
	}
	program("procedure.reset", p.DUT.ResetCommand)
	for _, c := range p.DUT.Collect {
		program("dut.collect "+c.Name, c.Command)
		for _, path := range c.Paths {
			reaches = append(reaches, "dut.collect "+c.Name+" reads "+path)
		}
	}
	for _, o := range p.Asking() {
		reaches = append(reaches, fmt.Sprintf("observer %s asks %s", o.Name, o.Source()))
	}
	for _, g := range p.Generators {
		if g.Server != "" {
			reaches = append(reaches, "generator "+g.Name+" is the server "+g.Server)
		}
	}
	return reaches
}

// checkForeignPlan refuses a Plan that compiling a LoadTest can't have given.
func checkForeignPlan(p *plan.Plan) error {
	names := map[string]bool{} // of links
	if len(validation.IsDNS1123Subdomain(p.Test.Name)) > 0 {
		return fmt.Errorf("its Plan isn't linerate's: the test's name is %.80q", p.Test.Name)
	}
	for _, l := range p.Links {
		if err := checkForeignLabel("a link's name", l.Name); err != nil {
			return err
		}
		names[l.Name] = true
	}
	if len(names) == 0 || len(names) < len(p.Links) || len(p.Generators) == 0 {
		return errors.New("its Plan isn't linerate's: it has no links of different names, or no generator")
	}
	for _, g := range p.Generators {
		if err := checkForeignGenerator(g, names); err != nil {
			return err
		}
	}
	for _, d := range p.Directions {
		for _, end := range []string{d.From, d.To} {
			if !names[end] && end != plan.DeviceEnd {
				return fmt.Errorf("its Plan isn't linerate's: direction %.80q is between other links", d.Name())
			}
		}
	}
	return compile.CheckProcedure(p)
}

// checkForeignLabel refuses a name that is no label of DNS.
func checkForeignLabel(field, name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("its Plan isn't linerate's: %s is %.80q", field, name)
	}
	return nil
}

// checkForeignGenerator refuses a generator whose ports aren't all on the Plan's links.
func checkForeignGenerator(g plan.Generator, links map[string]bool) error {
	if err := checkForeignLabel("a generator's name", g.Name); err != nil {
		return err
	}
	if len(g.Ports) == 0 || slices.ContainsFunc(g.Ports, func(port plan.GeneratorPort) bool {
		return !links[port.Link] || port.ShareOf < 0 || port.Share < 0
	}) {
		return fmt.Errorf("its Plan isn't linerate's: generator %s has a port on no link", g.Name)
	}
	return nil
}
