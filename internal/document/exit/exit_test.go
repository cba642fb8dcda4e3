package exit_test

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestTheExitCodeOfAnError(t *testing.T) {
	child := exec.Command("sh", "-c", "exit 1").Run() // its code would say that a criterion failed
	plain := errors.New("unknown flag")
	for name, c := range map[string]struct {
		err  error
		code int
		says string
	}{
		"none":                                {nil, 0, ""},
		"one of the command line":             {plain, 2, "unknown flag"},
		"bad input":                           {exit.BadInput("--rate %s", "x"), 2, "--rate x"},
		"not measured, further up":            {fmt.Errorf("night: %w", exit.NotMeasured("no port")), 3, "night: no port"},
		"interrupted":                         {exit.Interrupted("after %d of 4", 2), 130, "after 2 of 4"},
		"only a code":                         {exit.WithCode(report.ExitFailed, nil), 1, ""},
		"no code and nothing to say":          {exit.WithCode(report.ExitOK, nil), 0, ""},
		"the outer code counts":               {exit.WithCode(report.ExitInterrupted, exit.BadInput("x")), 130, "x"},
		"a child's own code isn't ours":       {fmt.Errorf("start: %w", child), 2, "start: exit status 1"},
		"the most serious of several":         {exit.Worst(nil, exit.NotMeasured("a"), exit.WithCode(report.ExitFailed, nil), plain), 3, "a\nunknown flag"},
		"several of which none has a code":    {exit.Worst(plain, plain), 2, "unknown flag\nunknown flag"},
		"several that are none":               {exit.Worst(nil, nil), 0, ""},
		"several that only bring their codes": {exit.Worst(exit.WithCode(1, nil), exit.WithCode(3, nil)), 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := exit.Code(c.err); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			if c.err == nil {
				return
			}
			if got := c.err.Error(); got != c.says {
				t.Errorf("%q, want %q", got, c.says)
			}
		})
	}
}
