// Command linerate measures where network software saturates, on this machine (run), or against a TRex that
// already runs (ramp). It also has the commands that its own pods run.
package main

import (
	"os"

	"github.com/linerate-dev/linerate/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[0], os.Args[1:], cli.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
