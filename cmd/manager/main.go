// Command manager is the operator, which runs LoadTests in a cluster, from creation to result.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/linerate-dev/linerate/internal/host/sanitize"
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}

// run returns the exit code. It is 0 after an orderly end, 2 for wrong flags, and 1 for any other error.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdout, stderr io.Writer) int {
	words := sanitize.NewWriter(stderr, false)
	options, err := parse(args, env, words)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(words, "manager:", err) //nolint:errcheck // there is no other place to report it
		return 2
	case options.version:
		_, err = fmt.Fprintln(stdout, versionLine())
	default:
		log := slog.New(quietEnd{logTo(stderr, options.LogLevel), ctx})
		err = manage(ctx, options, log)
	}
	if err != nil {
		fmt.Fprintln(stderr, "manager:", err) //nolint:errcheck // there is no other place to report it
		return 1
	}
	return 0
}

// logTo is a log handler that writes a JSON document on each line.
func logTo(stderr io.Writer, level slog.Leveler) slog.Handler {
	return slog.NewJSONHandler(sanitize.JSONLines{Target: stderr}, &slog.HandlerOptions{Level: level})
}

// manage runs the manager until the context ends, and then until running reconciles have finished.
func manage(ctx context.Context, options Options, log *slog.Logger) error {
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	klog.SetSlogLogger(log)
	log.Info("starting", "version", versionLine(), "options", options)
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	mgr, err := newManager(ctx, config, options)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
