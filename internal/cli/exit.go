package cli

import (
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/report"
)

// The exit codes are part of the contract: scripts decide on them.
const (
	ExitOK          = report.ExitOK
	ExitFailed      = report.ExitFailed
	ExitBadInput    = report.ExitBadInput
	ExitNotMeasured = report.ExitNotMeasured
	ExitInterrupted = report.ExitInterrupted
)

// exitError is an error that knows its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *exitError) Unwrap() error { return e.err }

// ExitCode is the exit code that the error asks for.
func (e *exitError) ExitCode() int { return e.code }

func badInput(format string, args ...any) error {
	return &exitError{ExitBadInput, fmt.Errorf(format, args...)}
}

func notMeasured(format string, args ...any) error {
	return &exitError{ExitNotMeasured, fmt.Errorf(format, args...)}
}

// codeOf is the exit code that an error asks for; an error without one is a wrong use of the command line.
func codeOf(err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok {
		return e.ExitCode()
	}
	return ExitBadInput
}

// worst is all errors as one, with the most serious exit code of them; nil without any. An error without words only brings its code.
func worst(errs ...error) error {
	code := ExitOK
	var said []error
	for _, err := range errs {
		code = max(code, codeOf(err))
		if err != nil && err.Error() != "" {
			said = append(said, err)
		}
	}
	if code == ExitOK {
		return nil
	}
	return &exitError{code, errors.Join(said...)}
}
