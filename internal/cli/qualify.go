package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/cli/qualify"
	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// qualifyOptions are the flags of qualify.
type qualifyOptions struct {
	ports        []string
	format, save string
	window       time.Duration
	quiet        bool
}

func newQualify(s Streams) *cobra.Command {
	var o qualifyOptions
	formats := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:     "qualify --ports PORT,PORT",
		Short:   "Find out what two ports of this machine can do as a generator's, and what they hide",
		Example: "  sudo linerate qualify --ports eth1,eth2",
		Long: "The ports are wired to each other, by a cable or through a switch. Sends over them alone, for about a " +
			"minute and a half: the highest rate of\neach way to send, an overload of known size (which drops are " +
			"hidden?), and limits drawn at random (are they read within 1 %?).\nWrites one file to send in " +
			"(docs/tried.md), without names or addresses of the machine.\n\n" +
			"Exit codes: 0 no fault, 1 a fault that spoils figures, 2 bad input, 3 not measured, 130 interrupted.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(o.format, formats); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.ports, "ports", nil, "two interfaces that are wired to each other")
	f.StringVar(&o.save, "save", "linerate-qualification.json", "the file to send in; \"\" writes none")
	f.DurationVar(&o.window, "window", 2*time.Second, "how long each load at full speed is measured, 100ms to 10s")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	sidebyside.FormatFlag(cmd, &o.format, formats)
	return cmd
}

func (o qualifyOptions) run(ctx context.Context, s Streams) error {
	if len(o.ports) != 2 || o.ports[0] == o.ports[1] {
		return exit.BadInput("--ports: name two interfaces that are wired to each other, such as --ports eth1,eth2")
	}
	if o.window < 100*time.Millisecond || o.window > 10*time.Second {
		return exit.BadInput("--window %v: 100ms to 10s", o.window)
	}
	file, err := o.openFile()
	if err != nil {
		return exit.BadInput("--save %s: %w", o.save, err)
	}
	document, err := o.measure(ctx, s.Stderr)
	if document == nil {
		return errors.Join(notQualified(ctx, err), file.discard())
	}
	if errSave := file.finish(func(w io.Writer) error { return sidebyside.WriteJSON(w, document) }); errSave != nil {
		return exit.NotMeasured("--save %s: %w", o.save, errSave)
	}
	write := qualify.WriteText
	if o.format == "json" {
		write = func(w io.Writer, d *qualify.Document) error { return sidebyside.WriteJSON(w, d) }
	}
	if errWrite := write(s.Stdout, document); errWrite != nil {
		return exit.NotMeasured("print: %w", errWrite)
	}
	if o.save != "" {
		fmt.Fprintf(s.Stderr, "to send in: %s\n", o.save)
	}
	switch {
	case err != nil:
		return notQualified(ctx, err)
	case doctor.Failed(document.Findings):
		return exit.WithCode(report.ExitFailed, nil)
	}
	return nil
}

// openFile opens the file before anything is measured. Without a file the document goes nowhere.
func (o qualifyOptions) openFile() (*output, error) {
	if o.save == "" {
		return &output{target: io.Discard}, nil
	}
	return openOutput(nil, o.save)
}

func notQualified(ctx context.Context, err error) error {
	switch _, missing := errors.AsType[netlink.LinkNotFoundError](err); {
	case ctx.Err() != nil:
		return exit.Interrupted("%w", err)
	case missing:
		return exit.BadInput("--ports: %w", err)
	case errors.Is(err, os.ErrPermission):
		return exit.NotMeasured("%w: run it as root, as it sends on the ports and puts programs there", err)
	}
	return exit.NotMeasured("%w", err)
}

func (o qualifyOptions) measure(ctx context.Context, stderr io.Writer) (*qualify.Document, error) {
	var claimed claims
	defer claimed.release()
	behind := func(name string) launch.Port { return launch.FindPort(os.DirFS("/"), launch.Network{}, name) }
	if err := claimed.claimPorts(o.ports); err != nil {
		return nil, err
	}
	if _, err := claimed.claimWires(o.ports, behind, true); err != nil {
		return nil, err
	}
	claimed.claimMachine(stderr)
	progress := func(format string, args ...any) {
		if !o.quiet {
			fmt.Fprintf(stderr, format+"\n", args...)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return qualify.Run(ctx, qualify.Options{Ports: [2]string(slices.Clone(o.ports)), Window: o.window,
		Producer: producer(),
		Progress: progress})
}
