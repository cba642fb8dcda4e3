package collect

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// Run asks for the observers, which are a JSON list of the Plan's, and serves the answers at the address until
// ctx ends. Credentials are in files of a folder.
func Run(ctx context.Context, stderr io.Writer, address, observers, credentials string,
	verifier credential.Verifier) error {
	var list []plan.Observer
	if err := intake.JSON([]byte(observers), &list, intake.Small); err != nil {
		return exit.BadInput("--observers: %w", err)
	}
	if i := slices.IndexFunc(list, func(o plan.Observer) bool { return !o.Asks() || o.Interval <= 0 }); i >= 0 {
		return exit.BadInput("--observers: %s doesn't read from the network, or has no period: leave it out",
			list[i].Name)
	}
	l, err := vitals.Listen(ctx, address, nil)
	if err != nil {
		return err
	}
	collector := Start(ctx, list, Folder(credentials))
	defer collector.Close()
	fmt.Fprintf(stderr, "serving the answers of %d observers at %s\n", len(list), l.Addr())
	return (&vitals.Server{Collect: collector.Answers, Verifier: verifier}).ServeAside(ctx, l)
}
