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
	var out bytes.Buffer
	log := slog.New(logTo(&out, slog.LevelInfo))
	for _, word := range sanitizetest.Words {
		out.Reset()
		log.Info(word, "why", word)
		sanitizetest.Check(t, "a line", "json", out.Bytes())
		var line struct{ Msg, Why string }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Msg != word || line.Why != word {
			t.Errorf("%q is %+v in the log: %v", word, line, err)
		}
	}
}

func TestNoErrorOfTheManagerDrivesATerminalOrARunner(t *testing.T) {
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"--" + strings.Join(sanitizetest.Words, "\n")}, func(string) (string, bool) { return "", false }, &out, &said); code == 0 || said.Len() == 0 {
		t.Fatalf("it ends with %d, and said nothing", code)
	}
	sanitizetest.Check(t, "an error", "", said.Bytes())
}
