// Command published plays the suites of examples/published, in their published form or in a short one, by
// linerate run or by the operator of a cluster, and writes what they measured into the pages of
// docs/measured/published. docs/development.md says how they are played in pieces.
//
//	published -form short                                        # a smoke test: fewer cells, short trials (short.yaml)
//	published -form published -pages docs/measured/published
//	published -form published -pages … -suite flood -for 25m     # a part of it; the same command goes on
//	published -form published -pages … -operator -namespace lab  # in a cluster that KUBECONFIG names
//	published -pages docs/measured/published                     # only the pages, from what is kept
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	form, suites, save, pages, source string
	program, kubectl, namespace       string
	images                            map[string]string // by the suite whose device they have
	operator, anew, missing           bool
	limit                             time.Duration
}

func parse(args []string) (options, error) {
	o := options{images: map[string]string{}}
	flags := flag.NewFlagSet("published", flag.ContinueOnError)
	flags.StringVar(&o.form, "form", "", "short or published: play the suites in this form; empty: play nothing")
	flags.StringVar(&o.suites, "suite", "", "names of suites to play, with commas between them; empty: all")
	flags.DurationVar(&o.limit, "for", 0, "stop after this time; the same command goes on. 0: play to the end")
	flags.BoolVar(&o.anew, "anew", false, "forget what is kept of the suites, and measure them from their beginning")
	flags.BoolVar(&o.missing, "missing", false,
		"play also suites that are over without a figure in each cell: what they lack, or all of them if they ended more than 12 hours ago")
	flags.BoolVar(&o.operator, "operator", false,
		"play the suites by the operator of the cluster that KUBECONFIG names, instead of by linerate run")
	flags.Func("image", "SUITE=IMAGE: the image that has the suite's device, with -operator; once for each suite whose device linerate's image hasn't", o.nameImage)
	flags.StringVar(&o.namespace, "namespace", "lab", "namespace that the suites are created in, with -operator")
	flags.StringVar(&o.save, "save", "linerate-reports", "directory that the suites' documents are kept below")
	flags.StringVar(&o.pages, "pages", "", "directory of the pages to write; empty: none")
	flags.StringVar(&o.source, "from", "examples/published", "directory of the suites")
	flags.StringVar(&o.program, "linerate", "bin/linerate", "the command line that plays")
	flags.StringVar(&o.kubectl, "kubectl", "kubectl", "kubectl, which -operator suspends and deletes suites with")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	case o.form != "" && o.form != formShort && o.form != formPublished:
		return o, fmt.Errorf("-form %q: there is no such form; use %s or %s", o.form, formShort, formPublished)
	case o.missing && o.operator:
		return o, errors.New("-missing: a suite that is over in a cluster is over for good: -anew measures it again")
	case len(o.images) > 0 && !o.operator:
		return o, errors.New("-image: linerate run takes the programs of this machine: add -operator")
	case o.form == "" && (o.anew || o.missing || o.operator || o.limit != 0 || o.suites != ""):
		return o, fmt.Errorf("without -form nothing is played: add -form %s or -form %s", formShort, formPublished)
	}
	return o, nil
}

// nameImage takes a value of -image.
func (o options) nameImage(text string) error {
	suite, image, _ := strings.Cut(text, "=")
	if image == "" || byImage()[suite] == "" {
		return fmt.Errorf("name a suite and its device's image, as routers-testpmd=registry.lab/testpmd:22.11; suites that take one are %s", strings.Join(slices.Sorted(maps.Keys(byImage())), ", "))
	}
	o.images[suite] = image
	return nil
}

// run plays the suites where a form is asked for. It writes the pages, where their directory is given, after
// each suite in its published form.
func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	pages := func() error { return nil }
	if o.pages != "" {
		reckonings, err := reckonAll(o.source)
		if err != nil {
			return err
		}
		pages = func() error { return errors.Join(write(o.pages, o.save), writeMinutes(o.pages, reckonings)) }
	}
	if o.form == "" {
		return pages()
	}
	suites, err := readSuites(o.source)
	if err == nil {
		suites, err = named(suites, o.suites)
	}
	if err != nil {
		return err
	}
	p := player{method: localMachine{program: o.program}, suites: suites, form: o.form, dir: dirOf(o.save, onMachine,
		o.form), anew: o.anew, missing: o.missing, cleanup: pages}
	programs := []string{"./cmd/linerate"}
	if o.operator {
		if p.suites, err = withImages(suites, o.images); err != nil {
			return err
		}
		p.method, p.dir, programs = operator{program: o.program, kubectl: o.kubectl, namespace: o.namespace,
			images: o.images}, dirOf(o.save, byOperator, o.form), append(programs, "./cmd/manager")
	}
	if p.code, err = codeOf(ctx, programs...); err != nil {
		return err
	}
	if p.version, err = versionOf(ctx, o.program); err != nil {
		return err
	}
	if o.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.limit, errTimeIsUp)
		defer cancel()
	}
	return p.play(ctx)
}

// The forms.
const (
	formShort     = "short"
	formPublished = "published"
)

// The ways in which suites are measured.
const (
	onMachine  = "machine"
	byOperator = "operator"
)

// dirOf is where the documents are that a way measured in a form.
func dirOf(save, method, form string) string {
	if form == formShort {
		method += "-" + formShort
	}
	return filepath.Join(save, "published", method)
}

// named are the suites of these names.
func named(all []suiteFile, names string) (chosen []suiteFile, err error) {
	if names == "" {
		return all, nil
	}
	var known []string
	by := map[string]suiteFile{}
	for _, s := range all {
		known, by[s.name] = append(known, s.name), s
	}
	for name := range strings.SplitSeq(names, ",") {
		s, ok := by[name]
		if !ok {
			return nil, fmt.Errorf("-suite %s: there is no such suite; there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}
