package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/forwarder"
	"github.com/linerate-dev/linerate/internal/lab"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/program"
	"github.com/linerate-dev/linerate/internal/reset"
	"github.com/linerate-dev/linerate/internal/vitals"
)

// resetToken is the variable that the token stands in, by which a pod knows who may have its device reset.
const resetToken = plan.ResetTokenVariable

// resetOptions are the flags of reset.
type resetOptions struct {
	at, terminationLog string
	links              []string
	timeout            time.Duration
}

func newReset(s Streams) *cobra.Command {
	var o resetOptions
	cmd := &cobra.Command{
		Use:     "reset [flags] -- COMMAND [ARGUMENT...]",
		Short:   "Run a command that resets the device in this pod, each time that a test's runner asks for it",
		Example: "  " + resetToken + "=secret linerate reset --at 192.0.2.7 --links west,east -- ip neigh flush all\n  curl -X POST -H 'Authorization: Bearer secret' http://192.0.2.7:4504/reset",
		Long: "Answers POST /reset when the command has ended well, with JSON that says what ran and how long it took, and with its last words if it failed.\n" +
			"Who asks shows the token of the variable " + resetToken + ", and says nothing else: the command is this one. Nothing that comes by the\n" +
			"links is heard.",
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
	f.StringVar(&o.at, "at", "", "this pod's address that a reset is asked for at, with or without a port (default port 4504)")
	f.StringSliceVar(&o.links, "links", nil, "interfaces under test: who is on them is not heard")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long the command may take")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("at")
	cmd.AddCommand(newProbe(s, "Ask whether the device of this network namespace can be reset: for startup probes", "linerate reset probe", resetReady, "it can be reset",
		"the device can't be reset yet, or not from here"))
	return cmd
}

func runReset(ctx context.Context, s Streams, o resetOptions, command []string) error {
	token := os.Getenv(resetToken)
	if token == "" {
		return exit.BadInput("%s is not set: without a token anybody on the pods' network could reset the device", resetToken)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return exit.BadInput("the reset's command: %w; name a program that its image has (procedure.reset.image)", err)
	}
	l, err := listenVitals(ctx, o.at, o.links)
	if err != nil {
		return err
	}
	ready, err := net.Listen("unix", resetReady)
	if err != nil {
		return exit.NotMeasured("say that it is ready: %w; another one is in this network namespace", err)
	}
	defer func() { _ = ready.Close() }()
	fmt.Fprintf(s.Err, "the device is reset by %s, for who asks at %s\n", program.Name(command), l.Addr())
	handler := &reset.Handler{Token: token, Reset: func(ctx context.Context) (string, error) { return runCommand(ctx, command, nil, o.timeout) }}
	return serveVitals(ctx, l, &vitals.Server{Mute: true, Reset: handler})
}

// resetReady is an abstract socket of the network namespace: who can connect to it knows that the device can be reset.
const resetReady = "@linerate/reset"

// runCommand runs a command to its end, and says what ran.
func runCommand(ctx context.Context, command, variables []string, within time.Duration) (did string, err error) {
	return program.Name(command), program.Run(ctx, command, variables, within)
}

// resetReference has a Reference of the calling process' namespace reset for who shows the pod's token; nil: the pod was given none.
func resetReference(spec forwarderFile) *reset.Handler {
	token := os.Getenv(resetToken)
	if token == "" {
		return nil
	}
	return &reset.Handler{Token: token, Reset: func(context.Context) (string, error) {
		if spec.Tunnel != nil {
			return lab.NothingLearned, nil
		}
		return forwarder.Reset(nil, spec.Spec)
	}}
}

// reset asks beside the device for its reset; nil: nobody is there.
func (j runnerJob) reset() func(context.Context) (string, error) {
	at := j.sites.Reset
	if at == nil {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		done, err := reset.Ask(ctx, at.Address, at.Token)
		return done.Did, err
	}
}

// resetHere runs what the file names as the device's reset; nil: it names nothing.
func resetHere(p *plan.Plan) func(context.Context) (string, error) {
	if p.Procedure.Reset == nil || len(p.DUT.ResetCommand) == 0 {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		return runCommand(ctx, p.DUT.ResetCommand, variablesOf(p), p.Procedure.Reset.Timeout.Std())
	}
}

// variablesOf tell a program that a file names of its test.
func variablesOf(p *plan.Plan) []string {
	links := make([]string, len(p.Links))
	for i, l := range p.Links {
		links[i] = l.Name
	}
	return []string{"LINERATE_TEST=" + p.Test.Name, "LINERATE_FORWARDING=" + string(p.DUT.Forwarding), "LINERATE_LINKS=" + strings.Join(links, " ")}
}

// setUpDevice runs the program that the file names to set the device up, and says so; nothing where it names none.
func setUpDevice(ctx context.Context, talk io.Writer, p *plan.Plan) error {
	if p.DUT.Setup == nil {
		return nil
	}
	announce(talk, p, "dut.setup", p.DUT.Setup)
	err := program.Run(ctx, p.DUT.Setup.Command, variablesOf(p), p.DUT.Setup.Deadline.Std())
	if err != nil && ctx.Err() != nil {
		return exit.Interrupted("interrupted while the device was set up")
	}
	if err != nil {
		return exit.NotMeasured("dut.setup: %w", err)
	}
	return nil
}

// tearDownDevice runs the program that the file names to tear the device down, also when ctx has ended, and says so. Its failure is told, and changes no figure.
func tearDownDevice(ctx context.Context, talk io.Writer, p *plan.Plan) {
	if p.DUT.Teardown == nil {
		return
	}
	announce(talk, p, "dut.teardown", p.DUT.Teardown)
	if err := program.Run(context.WithoutCancel(ctx), p.DUT.Teardown.Command, variablesOf(p), p.DUT.Teardown.Deadline.Std()); err != nil {
		fmt.Fprintf(talk, "%s: dut.teardown: %v: look after the device under test\n", p.Test.Name, err)
	}
}

// announce says which program of a file is run, and for how long at most: what it says isn't shown meanwhile, and an interrupt doesn't end a teardown.
func announce(talk io.Writer, p *plan.Plan, field string, run *plan.Program) {
	fmt.Fprintf(talk, "%s: %s: %s, for %s at most\n", p.Test.Name, field, program.Name(run.Command), run.Deadline.Std())
}
