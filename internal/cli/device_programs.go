package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// resetCommand is the function that runs the file's reset command. It is nil where the file has none.
func resetCommand(p *plan.Plan) func(context.Context) (string, error) {
	if p.Procedure.Reset == nil || len(p.DUT.ResetCommand) == 0 {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		command := p.DUT.ResetCommand
		return bounded.ProgramName(command), bounded.Run(ctx, command, testVariables(p),
			p.Procedure.Reset.Timeout.Std())
	}
}

// testVariables are the environment variables that describe the test to a program that the file names.
func testVariables(p *plan.Plan) []string {
	links := make([]string, len(p.Links))
	for i, l := range p.Links {
		links[i] = l.Name
	}
	return []string{
		"LINERATE_TEST=" + p.Test.Name, "LINERATE_FORWARDING=" + string(p.DUT.Forwarding), "LINERATE_LINKS=" +
			strings.Join(links, " "),
	}
}

// setUpDevice announces and runs the file's dut.setup, if it has one.
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

// tearDownDevice runs the file's dut.teardown, if it has one, also when ctx has ended. It prints a failure,
// which changes no figure.
func tearDownDevice(ctx context.Context, stderr io.Writer, p *plan.Plan) {
	if p.DUT.Teardown == nil {
		return
	}
	announceProgram(stderr, p, "dut.teardown", p.DUT.Teardown)
	if err := bounded.Run(context.WithoutCancel(ctx), p.DUT.Teardown.Command, testVariables(p),
		p.DUT.Teardown.Deadline.Std()); err != nil {
		fmt.Fprintf(stderr, "%s: dut.teardown: %v: look after the device under test\n", p.Test.Name, err)
	}
}

// announceProgram prints which program of the file runs, and its time limit, since the program's output isn't
// shown, and an interrupt doesn't end a teardown.
func announceProgram(stderr io.Writer, p *plan.Plan, field string, run *plan.Program) {
	fmt.Fprintf(stderr, "%s: %s: %s, for %s at most\n", p.Test.Name, field, bounded.ProgramName(run.Command),
		run.Deadline.Std())
}
