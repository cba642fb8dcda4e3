package bounded

// This file runs a program that a person named, to its end and within a bound. Such a program sets a device up,
// resets it between trials, or tears it down.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// afterEnd is how long what a program left running may still speak on its standard output.
const afterEnd = time.Second

// errLate is the cause of a program's end that took too long.
var errLate = errors.New("too late")

// Run runs the command, whose first word is the program, as the calling user, in the working directory, with these
// variables beside our own, and with nothing to read. After the timeout the command is killed with all processes
// that it started. Exit code 0 is success. An error names the command and has the command's last words.
func Run(ctx context.Context, command, variables []string, timeout time.Duration) error {
	words := &Words{}
	return runProgram(ctx, command, variables, timeout, words, words)
}

// Output is Run that returns the beginning of what the command prints on its standard output, of up to so many bytes,
// also with an error. cut says that there was more.
func Output(ctx context.Context, command, variables []string, timeout time.Duration, limit int) (
	printed []byte, cut bool, err error) {
	stdout := &beginning{limit: limit}
	err = runProgram(ctx, command, variables, timeout, stdout, &Words{})
	return stdout.text, stdout.cut, err
}

// beginning keeps the beginning of what is written to it.
type beginning struct {
	text  []byte
	limit int
	cut   bool
}

// Write never fails, as a program ends if nobody takes what it prints.
func (b *beginning) Write(p []byte) (int, error) {
	n := min(len(p), b.limit-len(b.text))
	b.text, b.cut = append(b.text, p[:n]...), b.cut || n < len(p)
	return len(p), nil
}

// runProgram runs a command with these outputs. stderr has its last words.
func runProgram(ctx context.Context, command, variables []string, timeout time.Duration, stdout io.Writer,
	stderr *Words) error {
	bounded, cancel := context.WithTimeoutCause(ctx, timeout, errLate)
	defer cancel()
	cmd := exec.CommandContext(bounded, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), variables...)
	// a terminal's interrupt is ours to handle, and what it started goes with it
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = afterEnd
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it ended well, and left something running
		return nil
	case errors.Is(context.Cause(bounded), errLate):
		return fmt.Errorf("%s did not end within %s%s", ProgramName(command), timeout, lastWords(stderr))
	case bounded.Err() != nil:
		return fmt.Errorf("%s: %w", ProgramName(command), context.Cause(bounded))
	case cmd.ProcessState == nil:
		return fmt.Errorf("start %s: %w", ProgramName(command), err)
	}
	return fmt.Errorf("%s: %w%s", ProgramName(command), err, lastWords(stderr))
}

// ProgramName is a command in a sentence, each word in quotes that needs them.
func ProgramName(command []string) string {
	const limit = 200
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\") {
			quoted[i] = fmt.Sprintf("%q", word)
		}
	}
	name := []rune(strings.Join(quoted, " "))
	if len(name) > limit {
		return string(name[:limit]) + "…"
	}
	return string(name)
}

// mostSaid bounds a program's last words in bytes. The words and the program's name have to fit into an answer of
// 512 bytes.
const mostSaid = 256

// lastWords is a program's last words, without what would drive a terminal.
func lastWords(words *Words) string {
	text := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, words.String())
	if len(text) > mostSaid {
		text = strings.ToValidUTF8(text[:mostSaid-len("…")], "") + "…"
	}
	if text == "" {
		return ""
	}
	return "; its last words: " + text
}
