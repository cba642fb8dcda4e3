package main

import (
	"context"
	"errors"
	"log/slog"
)

// noLeaderAnyMore is controller-runtime's error for a manager that has lost the lead. A manager that was asked
// to end sometimes returns the error, depending on which of its goroutines ends first.
const noLeaderAnyMore = "leader election lost"

// quietEnd is a log handler that demotes the errors that an ordinary end of the manager causes. Such an end
// cuts short calls, such as the renewal of the leader's lease, or loses the lead. In a log, or in a count of
// errors, that would look like a fault.
type quietEnd struct {
	slog.Handler
	stopping context.Context //nolint:containedctx // ends when the manager is asked to end; it isn't a record's context
}

// Handle implements slog.Handler.
func (e quietEnd) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelError && e.stopping.Err() != nil && causedByEnd(record) {
		record.Level = slog.LevelDebug
		if !e.Enabled(ctx, record.Level) {
			return nil
		}
	}
	return e.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (e quietEnd) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietEnd{e.Handler.WithAttrs(attrs), e.stopping}
}

// WithGroup implements slog.Handler.
func (e quietEnd) WithGroup(name string) slog.Handler {
	return quietEnd{e.Handler.WithGroup(name), e.stopping}
}

// causedByEnd reports whether a record has the error of a cancelled context, or of a lost lead.
func causedByEnd(record slog.Record) (caused bool) {
	record.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		caused = ok && (errors.Is(err, context.Canceled) || err.Error() == noLeaderAnyMore)
		return !caused
	})
	return caused
}
