package exit

import (
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// Error is an error with an exit code. One without words only sets the code: the message was already printed.
type Error struct {
	code int
	err  error
}

func (e *Error) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *Error) Unwrap() error { return e.err }

// WithCode gives an error, or the lack of one, an exit code. With report.ExitOK the error is unchanged.
func WithCode(code int, err error) error {
	if code == report.ExitOK {
		return err
	}
	return &Error{code, err}
}

// BadInput is an error in what the person gave: a file, a flag, a value or a name is wrong.
func BadInput(format string, args ...any) error {
	return &Error{report.ExitBadInput, fmt.Errorf(format, args...)}
}

// NotMeasured says why there is no whole measurement, or why it could not be kept or read.
func NotMeasured(format string, args ...any) error {
	return &Error{report.ExitNotMeasured, fmt.Errorf(format, args...)}
}

// Interrupted says what was cut off.
func Interrupted(format string, args ...any) error {
	return &Error{report.ExitInterrupted, fmt.Errorf(format, args...)}
}

// Code is the exit code that an error carries; one without a code comes from reading the command line.
func Code(err error) int {
	if err == nil {
		return report.ExitOK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.code
	}
	return report.ExitBadInput
}

// Worst combines all errors, with the most serious of their exit codes; nil: there are none.
func Worst(errs ...error) error {
	code := report.ExitOK
	var reported []error
	for _, err := range errs {
		code = max(code, Code(err))
		if err != nil && err.Error() != "" {
			reported = append(reported, err)
		}
	}
	return WithCode(code, errors.Join(reported...))
}
