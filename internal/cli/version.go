package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.Stdout, "linerate %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
}
