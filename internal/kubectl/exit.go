package kubectl

import (
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/report"
)

// The exit codes, as of linerate run on one machine.
const (
	exitOK          = report.ExitOK
	exitFailed      = report.ExitFailed // doctor: a check failed
	exitBadInput    = report.ExitBadInput
	exitNotMeasured = report.ExitNotMeasured // also: the cluster can't be asked
	exitInterrupted = report.ExitInterrupted // also by spec.stop
)

// codeError is an error that knows its exit code.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// ExitCode is the exit code that the error asks for.
func (e *codeError) ExitCode() int { return e.code }

func badInput(format string, args ...any) error {
	return &codeError{exitBadInput, fmt.Errorf(format, args...)}
}

// absent says that there is no object of a name.
type absent string

func (a absent) Error() string { return string(a) }

// notThere is bad input that names what isn't there.
func notThere(format string, args ...any) error {
	return &codeError{exitBadInput, absent(fmt.Sprintf(format, args...))}
}

func isAbsent(err error) bool {
	_, is := errors.AsType[absent](err)
	return is
}

func notMeasured(format string, args ...any) error {
	return &codeError{exitNotMeasured, fmt.Errorf(format, args...)}
}

// onlyCode is an error without words: all was said already.
func onlyCode(code int) error {
	if code == exitOK {
		return nil
	}
	return &codeError{code: code}
}

// codeOf is the exit code that an error asks for. One without a code comes from reading the command line.
func codeOf(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*codeError](err); ok {
		return e.code
	}
	return exitBadInput
}

// worst is all errors as one, with the most serious exit code of them; nil without any.
func worst(errs ...error) error {
	code := exitOK
	var said []error
	for _, err := range errs {
		code = max(code, codeOf(err))
		if err != nil && err.Error() != "" {
			said = append(said, err)
		}
	}
	if code == exitOK {
		return nil
	}
	return &codeError{code, errors.Join(said...)}
}
