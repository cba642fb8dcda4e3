package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/host/sanitize"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// version is set by the linker.
var version = "dev" // the linker's -X needs a variable

// Streams are the process's standard streams. Tests pass their own.
type Streams struct {
	Stdin  io.Reader
	Stdout io.Writer // data
	Stderr io.Writer // messages for people
}

// Main runs the command line of a process with this name, and returns the exit code. kubectl finds plugins, and
// their shell completion, by the program's name. SIGINT, SIGTERM and the loss of the terminal stop a run's
// traffic before its Report is written. The same happens where stdout's reader is gone, though writing to
// stdout fails.
func Main(name string, args []string, s Streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), sidebyside.Signals()...)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stderr := newLossyStderr(s.Stderr)
	defer stderr.Close()
	s.Stderr = sanitize.NewWriter(stderr, terminal(stderr) != nil)
	s.Stdout = sanitize.NewWriter(s.Stdout, terminal(s.Stdout) != nil)
	root, args := rootOf(name, args, s)
	return execute(ctx, root, args, s)
}

// execute executes a command line, prints its error, and returns the exit code.
func execute(ctx context.Context, root *cobra.Command, args []string, s Streams) int {
	root.SetFlagErrorFunc(explainFlagError)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintf(s.Stderr, "linerate: %s\n", wording.Printable(err.Error(), '\n', '\t'))
	}
	return exit.Code(err)
}

// rootOf is the root command for a process of this name, and its arguments.
func rootOf(name string, args []string, s Streams) (*cobra.Command, []string) {
	switch strings.TrimSuffix(filepath.Base(name), ".exe") {
	case "kubectl-linerate":
		return newKubectlRoot(s), args
	case "kubectl_complete-linerate": // what kubectl starts when Tab is pressed behind "kubectl linerate"
		return newKubectlRoot(s), append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return newRoot(s), publishedFlags(args)
}

// The groups in which --help shows the commands. The operator's pods run those of podVerbs.
const (
	measuringVerbs = "measuring"
	readingVerbs   = "reading"
	clusterVerbs   = "cluster"
	podVerbs       = "pods"
)

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "linerate",
		Short: "Measure where network software saturates, from real packets",
		Example: "  linerate run examples/linux-forwarder.yaml\n" +
			"  linerate run test.yaml -o json | jq .result\n  linerate ramp -s trex1 -p imix.py -o imix.json",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	root.SetIn(s.Stdin)
	addGroup(root, measuringVerbs, "Measure on this machine:", newRun(s), newRamp(s), newGenerator(s), newSessions(s),
		newIperf3(s), newReplay(s), newMix(s), newDoctor(s), newQualify(s), newRoutes(s))
	addGroup(root, readingVerbs, "Read what was measured:", newReport(s), newVerify(s), newTable(s), newCompare(s),
		newTrend(s), newBundle(s))
	addGroup(root, clusterVerbs, "Measure in a cluster:", newKubectl(s))
	addGroup(root, podVerbs, "Commands that pods run:", newRunner(s), newForwarder(s), newVitals(s), newCollect(s),
		newReset(s),
		newLinks(s), newPorts(s), newTRexLaunch(s))
	root.AddCommand(newVersion(s), newLabHost(s), newLabTunnel(), newGuard(s))
	return root
}

func addGroup(root *cobra.Command, id, title string, verbs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, verb := range verbs {
		verb.GroupID = id
	}
	root.AddCommand(verbs...)
}
