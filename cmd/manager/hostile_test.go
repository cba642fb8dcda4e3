package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/sanitizetest"
)

// Names and messages of others are in the manager's log, which people read on terminals and runners of CI print.
func TestNoLineOfTheManagersLogDrivesATerminalOrARunner(t *testing.T) {
	var stdout bytes.Buffer
	log := slog.New(logTo(&stdout, slog.LevelInfo))
	for _, word := range sanitizetest.Words {
		stdout.Reset()
		log.Info(word, "why", word)
		sanitizetest.Check(t, "a line", "json", stdout.Bytes())
		var line struct{ Msg, Why string }
		if err := json.Unmarshal(stdout.Bytes(), &line); err != nil || line.Msg != word || line.Why != word {
			t.Errorf("%q is %+v in the log: %v", word, line, err)
		}
	}
}

func TestNoErrorOfTheManagerDrivesATerminalOrARunner(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--" + strings.Join(sanitizetest.Words, "\n")},
		func(string) (string, bool) { return "", false }, &stdout, &stderr); code == 0 || stderr.Len() == 0 {
		t.Fatalf("it ends with %d, and said nothing", code)
	}
	sanitizetest.Check(t, "an error", "", stderr.Bytes())
}
