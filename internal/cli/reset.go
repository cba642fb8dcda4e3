package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod/reset"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// resetOptions are the flags of reset.
type resetOptions struct {
	at, terminationLog string
	links              []string
	timeout            time.Duration
	verifier           credential.Verifier
}

func newReset(s Streams) *cobra.Command {
	var o resetOptions
	cmd := &cobra.Command{
		Use:     "reset [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Serve resets of the device in this pod: run a command each time that a test's runner asks",
		Example: "  linerate reset --at 192.0.2.7 --verifier VERIFIER --links west,east -- ip neigh flush all",
		Long: "Runs the command on POST /reset, and answers when it has ended: with JSON that says what ran and how long it took, or with its last words if it failed.\n" +
			"Whoever asks must prove the key of --verifier, and can't choose the command. Requests that come in by the\n" +
			"links aren't answered.",
		Args: func(_ *cobra.Command, command []string) error {
			if len(command) == 0 {
				return exit.BadInput("name the command that resets the device behind --, such as -- ip neigh flush all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, command []string) error {
			return withTermination(o.terminationLog, runReset(cmd.Context(), s, o, command))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.at, "at", "", "this pod's address to listen at, with or without a port (default port 4504)")
	f.StringSliceVar(&o.links, "links", nil, "interfaces under test: requests that come in by them aren't answered")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long the command may take")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	verifierFlag(f, &o.verifier)
	_ = cmd.MarkFlagRequired("at")
	_ = cmd.MarkFlagRequired("verifier") // else anybody on the pods' network could reset the device
	cmd.AddCommand(newProbe(s, "Ask whether the device of this network namespace can be reset: for startup probes", "linerate reset probe", resetReady, "it can be reset",
		"the device can't be reset yet, or not from here"))
	return cmd
}

func runReset(ctx context.Context, s Streams, o resetOptions, command []string) error {
	if _, err := exec.LookPath(command[0]); err != nil {
		return exit.BadInput("the reset's command: %w; name a program that its image has (procedure.reset.image)", err)
	}
	l, err := listenVitals(ctx, o.at, o.links)
	if err != nil {
		return err
	}
	ready, err := net.Listen("unix", resetReady)
	if err != nil {
		return exit.NotMeasured("announce that it is ready: %w; another reset server runs in this network namespace", err)
	}
	defer func() { _ = ready.Close() }()
	fmt.Fprintf(s.Err, "resets the device by %s on requests at %s\n", bounded.ProgramName(command), l.Addr())
	handler := &reset.Handler{Reset: func(ctx context.Context) (string, error) { return runCommand(ctx, command, nil, o.timeout) }}
	return serveVitals(ctx, l, &vitals.Server{Mute: true, Reset: handler, Verifier: o.verifier})
}

// resetReady is an abstract socket in the network namespace: a probe that can connect to it knows that the device can be reset.
const resetReady = "@linerate/reset"

// runCommand runs a command to its end; did names what ran.
func runCommand(ctx context.Context, command, variables []string, within time.Duration) (did string, err error) {
	return bounded.ProgramName(command), bounded.Run(ctx, command, variables, within)
}

// referenceResetHandler serves resets of the Reference in this process's namespace.
func referenceResetHandler(spec forwarderFile) *reset.Handler {
	return &reset.Handler{Reset: func(context.Context) (string, error) {
		if spec.Tunnel != nil {
			return lab.NothingLearned, nil
		}
		return forwarder.Reset(nil, spec.Spec)
	}}
}

// reset is the function by which the runner has the device reset; nil where no server in the cluster can do it.
func (j runnerJob) reset() func(context.Context) (string, error) {
	at := j.sites.Reset
	if at == "" {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		done, err := reset.Ask(ctx, at, j.sites.Key)
		return done.Did, err
	}
}

// resetCommand is the function that runs the file's reset command; nil where the file has none.
func resetCommand(p *plan.Plan) func(context.Context) (string, error) {
	if p.Procedure.Reset == nil || len(p.DUT.ResetCommand) == 0 {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		return runCommand(ctx, p.DUT.ResetCommand, testVariables(p), p.Procedure.Reset.Timeout.Std())
	}
}

// testVariables are the environment variables that describe the test to a program that the file names.
func testVariables(p *plan.Plan) []string {
	links := make([]string, len(p.Links))
	for i, l := range p.Links {
		links[i] = l.Name
	}
	return []string{"LINERATE_TEST=" + p.Test.Name, "LINERATE_FORWARDING=" + string(p.DUT.Forwarding), "LINERATE_LINKS=" + strings.Join(links, " ")}
}

// setUpDevice runs the file's dut.setup, if it has one, and announces it.
func setUpDevice(ctx context.Context, stderr io.Writer, p *plan.Plan) error {
	if p.DUT.Setup == nil {
		return nil
	}
	announceProgram(stderr, p, "dut.setup", p.DUT.Setup)
	err := bounded.Run(ctx, p.DUT.Setup.Command, testVariables(p), p.DUT.Setup.Deadline.Std())
	if err != nil && ctx.Err() != nil {
		return exit.Interrupted("interrupted while the device was set up")
	}
	if err != nil {
		return exit.NotMeasured("dut.setup: %w", err)
	}
	return nil
}

// tearDownDevice runs the file's dut.teardown, if it has one, also when ctx has ended. Its failure is printed, and changes no figure.
func tearDownDevice(ctx context.Context, stderr io.Writer, p *plan.Plan) {
	if p.DUT.Teardown == nil {
		return
	}
	announceProgram(stderr, p, "dut.teardown", p.DUT.Teardown)
	if err := bounded.Run(context.WithoutCancel(ctx), p.DUT.Teardown.Command, testVariables(p), p.DUT.Teardown.Deadline.Std()); err != nil {
		fmt.Fprintf(stderr, "%s: dut.teardown: %v: look after the device under test\n", p.Test.Name, err)
	}
}

// announceProgram prints which program of the file runs, and its time limit: the program's output isn't shown meanwhile, and an interrupt doesn't end a teardown.
func announceProgram(stderr io.Writer, p *plan.Plan, field string, run *plan.Program) {
	fmt.Fprintf(stderr, "%s: %s: %s, for %s at most\n", p.Test.Name, field, bounded.ProgramName(run.Command), run.Deadline.Std())
}
