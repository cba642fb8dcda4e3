package main

import (
	"context"
	"errors"
	"log/slog"
)

// noLeaderAnyMore is what controller-runtime says where its manager leads no longer, be it that it was asked to end; then it says so now and then only, as
// its end races with who reads what it says.
const noLeaderAnyMore = "leader election lost"

// ending is a handler for which it is no error that the manager's own end cut something short, such as a leader's asking for more time, or that it leads
// no longer. What does so tells it as an error all the same, and who reads the log, or counts errors in it, would look for a fault at each ordinary end.
type ending struct {
	slog.Handler
	asked context.Context //nolint:containedctx // what ends the manager, and not what a record is of
}

// Handle implements slog.Handler.
func (e ending) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelError && e.asked.Err() != nil && tellsOfEnd(record) {
		record.Level = slog.LevelDebug
		if !e.Enabled(ctx, record.Level) {
			return nil
		}
	}
	return e.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (e ending) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ending{e.Handler.WithAttrs(attrs), e.asked}
}

// WithGroup implements slog.Handler.
func (e ending) WithGroup(name string) slog.Handler {
	return ending{e.Handler.WithGroup(name), e.asked}
}

// tellsOfEnd says that a record has an error that is a cancelled context's, or that of a leader no more.
func tellsOfEnd(record slog.Record) (tells bool) {
	record.Attrs(func(a slog.Attr) bool {
		err, is := a.Value.Any().(error)
		tells = is && (errors.Is(err, context.Canceled) || err.Error() == noLeaderAnyMore)
		return !tells
	})
	return tells
}
