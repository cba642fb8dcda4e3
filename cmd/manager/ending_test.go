package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestWhatTheManagersEndCutsShortIsNoError(t *testing.T) {
	cancelled := fmt.Errorf("renew the lease: %w", context.Canceled)
	for name, c := range map[string]struct {
		ends  bool
		err   error
		level slog.Level // from which it is logged
		said  string     // "" is nothing
	}{
		"cut short by its end":                      {true, cancelled, slog.LevelInfo, ""},
		"cut short by its end, and all is told":     {true, cancelled, slog.LevelDebug, "level=DEBUG"},
		"a fault while it ends":                     {true, errors.New("refused"), slog.LevelInfo, "level=ERROR"},
		"something cancelled while nobody asks for": {false, cancelled, slog.LevelInfo, "level=ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if c.ends {
				end()
			}
			var talk strings.Builder
			log := slog.New(ending{slog.NewTextHandler(&talk, &slog.HandlerOptions{Level: c.level}), ctx})
			log.With("lock", "linerate-manager").WithGroup("g").Error("retrieving the lease", "err", c.err)
			if said := talk.String(); (said == "") != (c.said == "") || !strings.Contains(said, c.said) {
				t.Errorf("it says %q", said)
			}
		})
	}
}
